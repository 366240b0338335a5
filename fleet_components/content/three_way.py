"""Merges two versions of an object, field by field, by what both had in common before.

A *leaf* is a value that is compared as a whole: anything but a map or a list, and what is empty.
Maps are merged by key. Lists are merged by ``name`` or ``key`` where each of their items is a map
with one that no other has, on all sides; by index where they are equally long on all sides; any
other list is one leaf.

The version before is not kept as it was, but as its :func:`shape`, from which no value can be read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import attrs

from fleet_components.content.difference import differences
from fleet_components.content.secret import REDACTED, is_hidden, redacted, redacted_policy
from fleet_components.model.problem import FieldPath

Shape = Any
"""Digests of the leaves of a value, in maps and lists as the value has them; None for no value."""
_DIGITS = 12
_NAMES = ("name", "key")


@attrs.frozen
class LostEdit:
    """Field that both sides have changed, each to another value.

    Attributes:
        path: the field; an index is that of the list that has the item.
        had: the value that does not count any more; None for none.
        has: the value that counts; None for none.
        sealed: True if the values differ in something secret, which neither of them shows.
    """

    path: FieldPath
    had: Any
    has: Any
    sealed: bool = False


@attrs.frozen
class Merge:
    """Result of a merge.

    Attributes:
        whole: the merged object.
        stated: the same without the fields that the file leaves out: those that only the hub has,
            now as before.
        base: shape of what the hub has of the fields that the file says or has said.
        edited: True if the file says something that the hub has not.
        lost: what the file said and the hub has changed to something else.
    """

    whole: Any
    stated: Any
    base: Shape
    edited: bool
    lost: tuple[LostEdit, ...] = ()


def public(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object with ``[secret]`` for the data of Secrets, and for what an override policy
    gives them.
    """
    return redacted(redacted_policy(data))


def shape(value: Any) -> Shape:
    """Return the digests of the leaves of a value. What is null in a map is no value, as for an API
    server.
    """
    match value:
        case Mapping():
            return {key: shape(item) for key, item in value.items() if item is not None}
        case list() | tuple():
            return [shape(item) for item in value]
    return _digest(type(value).__name__, value)


def shape_of(data: Mapping[str, Any]) -> Shape:
    """Return the shape of an object, without what is secret in it."""
    return shape(public(data))


def three_way(base: Shape, mine: Mapping[str, Any], hub: Mapping[str, Any]) -> Merge:
    """Return what becomes of an object that a file has and a hub has.

    What only the file has changed stays, and what only the hub has changed follows the hub. Where
    both have changed a field, the hub's value counts.

    Args:
        base: shape of the object as it was seen last; None if that is not known: then the file's
            values count.
        mine: the object as the file has it.
        hub: the object as the hub has it.
    """
    merger = _Merger(unknown=base is None)
    found = merger.value((), {} if base is None else base, _side(mine), _side(hub))
    return Merge(found.whole, found.stated, found.base, merger.edited, tuple(merger.lost))


def is_shape(value: Any) -> bool:
    """Return whether a value that was read is a shape."""
    if isinstance(value, dict):
        return all(map(is_shape, value.values()))
    return all(map(is_shape, value)) if isinstance(value, list) else isinstance(value, str)


def within(part: Shape, whole: Shape) -> bool:
    """Return whether a value has all that another one says; servers add fields with their defaults.

    Args:
        part: shape of what is said.
        whole: shape of the value.
    """
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and within(part[key], whole[key]) for key in part
        )
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) == len(whole) and all(map(within, part, whole))
    return bool(part == whole)


def extended(stated: Shape, full: Shape, now: Shape) -> Shape:
    """Return the shape of what a file has said, with what the hub had then of the fields that the
    file says only now.

    A file that says such a field has changed it, as the hub has not.

    Args:
        stated: shape of what the file has said; None for nothing.
        full: shape of what the hub had.
        now: shape of what the file says now.
    """
    if (
        isinstance(full, dict)
        and isinstance(now, dict)
        and (stated is None or isinstance(stated, dict))
    ):
        before = stated or {}
        return {
            **before,
            **{key: extended(before.get(key), full[key], now[key]) for key in now if key in full},
        }
    if (
        isinstance(full, list)
        and isinstance(now, list)
        and (stated is None or isinstance(stated, list))
    ):
        return _extended_list(stated, full, now)
    return stated if now == stated else full


def _extended_list(stated: list[Shape] | None, full: list[Shape], now: list[Shape]) -> list[Shape]:
    sides = [full, now, *([] if stated is None else [stated])]
    name = _common_name(sides)
    if name:
        had, here = ({item[name]: item for item in each} for each in (full, now))
        found = {item[name]: item for item in (full if stated is None else stated)}
        for item in here:
            if item in had:
                found[item] = extended(
                    None if stated is None else found.get(item), had[item], here[item]
                )
        return list(found.values())
    if len({len(side) for side in sides}) == 1:
        before = [None] * len(full) if stated is None else stated
        return [extended(*items) for items in zip(before, full, now, strict=True)]
    return stated if now == stated else full


@lru_cache(2**16)
def _digest(_type: str, value: Any) -> str:
    # The type is for the cache, to which 1, 1.0 and true are equal. A whole number is one, however
    # it is written.
    whole = isinstance(value, float) and value.is_integer()
    # The quote distinguishes the text 1 from the number.
    text = f'"{value}' if isinstance(value, str) else repr(int(value) if whole else value)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


@attrs.frozen
class _Version:
    """A value on one side: as it is, as it may be shown, and its shape, by which it is compared."""

    value: Any
    shown: Any
    shape: Shape

    def item(self, key: Any) -> _Version | None:
        if isinstance(self.shape, dict) and key not in self.shape:
            return None
        return _Version(self.value[key], self.shown[key], self.shape[key])


@attrs.frozen
class _Found:
    """Merged value: whole, as the file says it, and the base of the next merge; None for no
    value.
    """

    whole: Any
    stated: Any
    base: Shape


@attrs.define
class _Merger:
    unknown: bool
    edited: bool = False
    lost: list[LostEdit] = attrs.field(factory=list)

    def value(
        self, path: FieldPath, base: Shape, mine: _Version | None, hub: _Version | None
    ) -> _Found:
        """Return one value, which at least one side has."""
        # The file has never said the field, and goes on leaving it out.
        if mine is None and hub is not None and base is None:
            return _Found(hub.value, None, None)
        if hub is None and mine is not None and base is None:
            self.edited = True
            return _Found(mine.value, mine.value, None)
        # Shapes, because they leave out what is secret: that is compared separately.
        if mine and hub and mine.shape == hub.shape:
            return self._alike(path, mine, hub)
        if mine and hub and (both := self._inside(path, base, mine, hub)):
            return both
        return self._leaf(path, base, mine, hub)

    def _alike(self, path: FieldPath, mine: _Version, hub: _Version) -> _Found:
        if mine.value == hub.value:
            return _Found(hub.value, mine.value, hub.shape)
        # They differ in what is secret, or not at all: null and no value are alike.
        if is_hidden(hub.shown) and not is_hidden(mine.value) and not is_hidden(hub.value):
            if self.unknown:
                self.edited = True
                return _Found(mine.value, mine.value, hub.shape)
            differing = differences(mine.value, hub.value, path)
            self.lost += (
                LostEdit(difference.path, REDACTED, REDACTED, sealed=True)
                for difference in differing
            )
        return _Found(hub.value, hub.value, hub.shape)

    def _leaf(
        self, path: FieldPath, base: Shape, mine: _Version | None, hub: _Version | None
    ) -> _Found:
        here, there = mine.shape if mine else None, hub.shape if hub else None
        # The file has not changed the value, so that the hub's counts.
        if here == base and not self.unknown:
            value = hub.value if hub else None
            return _Found(value, value, there)
        # The hub has all that the file says; what it has besides are defaults.
        if mine and hub and within(here, there):
            return _Found(hub.value, mine.value, here)
        # The hub still has what it had, perhaps with more defaults: only the file has changed it.
        if self.unknown or (there is not None and within(base, there)):
            self.edited = True
            value = mine.value if mine else None
            # The base of a field that the file drops stays for as long as the hub has the field.
            return _Found(value, value, base if mine is None else there)
        self.lost.append(LostEdit(path, mine and mine.shown, hub and hub.shown))
        value = hub.value if hub else None
        return _Found(value, value, there)

    def _inside(self, path: FieldPath, base: Shape, mine: _Version, hub: _Version) -> _Found | None:
        """Return maps or lists merged item by item; None if they are one leaf."""
        if (
            isinstance(mine.shape, dict)
            and isinstance(hub.shape, dict)
            and (mine.shape or hub.shape)
        ):
            return self._maps(path, base if isinstance(base, dict) else {}, mine, hub)
        if not (isinstance(mine.shape, list) and isinstance(hub.shape, list)):
            return None
        sides = [mine.shape, hub.shape, *([base] if isinstance(base, list) else [])]
        name = _common_name(sides)
        if name:
            return self._named(path, base if isinstance(base, list) else [], mine, hub, name)
        # Without names, items are paired by position, which holds only while none come or go.
        if len(mine.shape) != len(hub.shape) or not (
            self.unknown or (isinstance(base, list) and len(base) == len(mine.shape))
        ):
            return None
        before = base if isinstance(base, list) else [None] * len(mine.shape)
        return _listed(
            [
                self.value((*path, at), item, mine.item(at), hub.item(at))
                for at, item in enumerate(before)
            ]
        )

    def _maps(
        self, path: FieldPath, base: Mapping[str, Shape], mine: _Version, hub: _Version
    ) -> _Found:
        found = {
            key: self.value((*path, key), base.get(key), mine.item(key), hub.item(key))
            # Each key once, in the order of the hub, and then those that only the file has.
            for key in dict.fromkeys((*hub.shape, *mine.shape))
        }
        return _Found(
            {key: item.whole for key, item in found.items() if item.whole is not None},
            {key: item.stated for key, item in found.items() if item.stated is not None},
            {key: item.base for key, item in found.items() if item.base is not None},
        )

    def _named(
        self, path: FieldPath, base: list[Shape], mine: _Version, hub: _Version, name: str
    ) -> _Found:
        was, here, there = (
            {item[name]: at for at, item in enumerate(each)}
            for each in (base, mine.shape, hub.shape)
        )
        order = self._order(path, list(was), list(here), list(there), (mine, hub))
        found = {}
        for item in order:
            sides = (
                side.item(at[item]) if item in at else None
                for side, at in ((mine, here), (hub, there))
            )
            if self.unknown and item not in here:  # which items a list has is said by the file, too
                self.edited = True
                found[item] = _Found(None, None, hub.shape[there[item]])
                continue
            index = here[item] if item in here else there[item]
            found[item] = self.value(
                (*path, index), base[was[item]] if item in was else None, *sides
            )
        # The base is a list of the hub, and so in its order, with which the next merge compares.
        listed = _listed(found.values())
        return attrs.evolve(
            listed, base=[found[item].base for item in there if found[item].base is not None]
        )

    def _order(
        self,
        path: FieldPath,
        was: list[str],
        here: list[str],
        there: list[str],
        sides: tuple[_Version, _Version],
    ) -> list[str]:
        """Return the items of both sides: in the order of the side that has changed it, the hub's
        if both have.
        """
        # Only items that both sides have can show which of them has changed the order.
        common = set(here) & set(there)
        mine, hub = ([text for text in side if text in common] for side in (here, there))
        if mine == hub:
            return _interleaved(there, here)
        before = [text for text in was if text in common]
        moved_here, moved_there = (
            [text for text in side if text in was] != before for side in (mine, hub)
        )
        if self.unknown or (moved_here and not moved_there):
            self.edited = True
            return _interleaved(here, there)
        if moved_here or len(before) < len(common):
            self.lost.append(LostEdit(path, sides[0].shown, sides[1].shown))
        return _interleaved(there, here)


def _interleaved(first: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return the items of the first list, each of the others after the one that stands before it in
    its own.
    """
    order = list(first)
    for at, item in enumerate(other):
        if item not in order:
            # The item before it is in the list by now.
            order.insert(order.index(other[at - 1]) + 1 if at else 0, item)
    return order


def _listed(items: Collection[_Found]) -> _Found:
    return _Found(
        [found.whole for found in items if found.whole is not None],
        [found.stated for found in items if found.stated is not None],
        [found.base for found in items if found.base is not None],
    )


def _common_name(sides: Collection[list[Shape]]) -> str:
    """Return the field that distinguishes the items of all lists; empty if no field does."""
    return next((name for name in _NAMES if all(_has_names(side, name) for side in sides)), "")


def _has_names(items: list[Shape], name: str) -> bool:
    named = [
        item[name] for item in items if isinstance(item, dict) and isinstance(item.get(name), str)
    ]
    return len(named) == len(items) == len(set(named))


def _side(data: Mapping[str, Any]) -> _Version:
    shown = public(data)
    return _Version(data, shown, shape(shown))
