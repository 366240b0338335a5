"""Suppositions about a fleet: members lost or added, objects replaced, fields set. Each changes the
objects in memory, and says so.
"""

from __future__ import annotations

import copy
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import attrs

from fleet_components.content.document import documents
from fleet_components.content.secret import REDACTED, redacted
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest, Origin, value_at
from fleet_components.model.problem import FieldPath, FleetError, Problem, show_path
from fleet_components.model.text import few, nearest
from fleet_components.plan.source import Source
from fleet_components.review.planning.member_form import (
    FIELDS,
    FORMS,
    Data,
    MemberForm,
    form_of,
    is_step,
    moved_value,
)
from fleet_components.review.planning.selection import (
    REGION,
    Roster,
    is_pattern,
    selection_text,
)

SUPPOSED = Origin("as supposed", None, lambda _: None)
"""Origin of an object that is in no file, since it is supposed only."""
_DECLARED = "change what declares it: --set KIND/NAME:FIELD=VALUE, or its edited file with --policy"
_STEP = re.compile(r"\.?(?:([^.\[\]]+)|\[(\d+)\]|\[([^\[\]]+)\])")
_OVERRIDE = "Override"
_SHOWN = 60


@attrs.frozen
class Supposed:
    """A fleet as it is supposed to be.

    Attributes:
        manifests: its objects.
        others: the members that no ``MemberCluster`` or ``Cluster`` declares.
        lost: the members that are gone for good.
        words: what was supposed, one sentence each.
    """

    manifests: tuple[Manifest, ...]
    others: tuple[Cluster, ...] = ()
    lost: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: Source) -> Supposed:
        """Return a fleet as it is."""
        others = tuple(
            cluster for cluster in source.clusters if cluster.name not in source.declarations
        )
        return cls(source.given.manifests, others)

    @cached_property
    def members(self) -> Mapping[str, Manifest]:
        """The members that are declared by an object of their own, by name."""
        return {manifest.name: manifest for manifest in self.manifests if form_of(manifest)}

    @cached_property
    def roster(self) -> Roster:
        """All members, to be selected."""
        return Roster((*map(_as_member, self.members.values()), *self.others))

    def saying(self, words: str) -> Supposed:
        """Return the fleet with a sentence about what was supposed."""
        return attrs.evolve(self, words=(*self.words, words))


class Supposition(ABC):
    """A change that is supposed."""

    @abstractmethod
    def applied(self, fleet: Supposed) -> Supposed:
        """Return the fleet with the change.

        Raises:
            FleetError: it names something that is not there, or cannot be changed so.
        """


@attrs.frozen
class Loss(Supposition):
    """Members are gone for good, as ``--lost`` says it.

    Attributes:
        members: the members, as :meth:`Roster.selected` reads them.
    """

    members: str

    def applied(self, fleet: Supposed) -> Supposed:
        """Mark them as lost; they stay declared."""
        selected = fleet.roster.selected(self.members)
        return attrs.evolve(fleet, lost=fleet.lost.union(selected.names)).saying(
            f"{selected.words} lost"
        )


@attrs.frozen
class Addition(Supposition):
    """A new member.

    Attributes:
        name: its name.
        like: the member that it is like, but for its name; empty for none.
        labels: its labels besides; ``region`` stands for the label that the other members have
            their region in.
    """

    name: str
    like: str = ""
    labels: Mapping[str, str] = attrs.field(factory=dict)

    def applied(self, fleet: Supposed) -> Supposed:
        """Add it beside the others."""
        if self.name in fleet.roster.names:
            raise FleetError(
                [
                    Problem(
                        f'there is a member "{self.name}" already',
                        hint="give the new one another name",
                    )
                ]
            )
        model = self._model(fleet) if self.like else None
        form = form_of(model) if model else _only_form(fleet)
        assert form
        data = _like(model, form, self.name) if model else form.new(self.name)
        labels = {self._key(key, model, fleet): value for key, value in self.labels.items()}
        for key, value in labels.items():
            form.give(data, key, value)
        like = f" like {self.like}" if self.like else ""
        shown = (
            f" with {', '.join(f'{key}={value}' for key, value in labels.items())}"
            if labels
            else ""
        )
        added = attrs.evolve(fleet, manifests=(*fleet.manifests, Manifest(data, SUPPOSED)))
        return added.saying(f"{self.name} added{like}{shown}")

    def _model(self, fleet: Supposed) -> Manifest:
        name = fleet.roster.selected(self.like).words
        if name not in fleet.members:
            what = (
                f"{name} is not a MemberCluster or Cluster of its own, which another one could be"
                " like"
            )
            raise FleetError([Problem(what, hint="name another member")])
        return fleet.members[name]

    def _key(self, key: str, model: Manifest | None, fleet: Supposed) -> str:
        if key != REGION:
            return key
        return (Roster((_as_member(model),)) if model else fleet.roster).meant(REGION)


@attrs.frozen
class Replacement(Supposition):
    """Objects in the place of those with the same kind, namespace and name; others are added.

    Attributes:
        file: where they are from, to be named.
        manifests: the objects.
    """

    file: str
    manifests: tuple[Manifest, ...]

    def applied(self, fleet: Supposed) -> Supposed:
        """Replace them in their places, and add those that are new."""
        new = {_identity(manifest): manifest for manifest in reversed(self.manifests)}
        known = {_identity(manifest) for manifest in fleet.manifests}
        kept = [new.get(_identity(manifest), manifest) for manifest in fleet.manifests]
        # Not from ``new``, so that an object which the file has twice is refused as always.
        added = [
            manifest
            for manifest in self.manifests
            if _identity(manifest) not in known or new[_identity(manifest)] is not manifest
        ]
        named = [
            f"{item.key} {'as in' if key in known else 'added from'} {self.file}"
            for key, item in new.items()
        ]
        return attrs.evolve(fleet, manifests=(*kept, *added)).saying(few(named[::-1]))


@attrs.frozen
class Setting(Supposition):
    """A field of an object, of several, or of members.

    Attributes:
        target: members, as :meth:`Roster.selected` reads them, or objects: ``Kind/name`` or
            ``Kind/namespace/name``, of which the names may be patterns.
        path: the field; one of a member may be a :data:`FIELDS` as well.
        text: its new value in YAML, none to take it away, or a relative amount.
    """

    target: str
    path: FieldPath
    text: str

    def applied(self, fleet: Supposed) -> Supposed:
        """Set the field, with the maps above it where they are missing."""
        of_members = "=" in self.target or "/" not in self.target
        found, words = self._members(fleet) if of_members else self._objects(fleet.manifests)
        changed = {id(manifest): self._changed(manifest) for manifest in found}
        manifests = tuple(changed.get(id(item), item) for item in fleet.manifests)
        if of_members and self._value is None and manifests == fleet.manifests:
            what = f"{words} {'has' if len(found) == 1 else 'have'} no {show_path(self.path)}"
            hint = "nothing would change; see the members as they are written"
            raise FleetError([Problem(what, hint=hint)])
        sentence = (
            self._of_members([item for item in found if changed[id(item)] != item], words)
            if of_members
            else self._of_objects(found, changed[id(found[0])], words)
        )
        return attrs.evolve(fleet, manifests=manifests).saying(sentence)

    @cached_property
    def _value(self) -> Any:
        return read_value(self.text)

    def _members(self, fleet: Supposed) -> tuple[list[Manifest], str]:
        selected = fleet.roster.selected(self.target)
        missing = [name for name in selected.names if name not in fleet.members]
        if missing:
            what = f"member {missing[0]} is not a MemberCluster or Cluster of its own"
            raise FleetError([Problem(what, hint=_DECLARED)])
        return [fleet.members[name] for name in selected.names], selected.words

    def _objects(self, manifests: Sequence[Manifest]) -> tuple[list[Manifest], str]:
        named: dict[str, list[Manifest]] = {}
        for manifest in manifests:
            whole = "/".join(filter(None, (manifest.kind, manifest.namespace, manifest.name)))
            for name in {whole, f"{manifest.kind}/{manifest.name}"}:
                named.setdefault(name, []).append(manifest)
        found = named.get(self.target, [])
        if not found and is_pattern(self.target):
            by_id = {
                id(item): item
                for name, items in named.items()
                if fnmatchcase(name, self.target)
                for item in items
            }
            found = list(by_id.values())
        elif len(found) > 1:
            names = (
                f"{item.kind}/{item.namespace}/{item.name} of {item.api_version}" for item in found
            )
            hint = f"there is {few(list(names))}"
            raise FleetError(
                [Problem(f'"{self.target}" could be any of several objects', hint=hint)]
            )
        if found:
            return found, few([str(item.key) for item in found])
        meant = nearest(self.target, named)
        alike = sorted(
            name for name in named if name.startswith(f"{self.target.partition('/')[0]}/")
        )
        known = (
            f"there is: {few(alike)}"
            if alike
            else "write Kind/name or Kind/namespace/name, as in the YAML"
        )
        hint = f"did you mean {meant}?" if meant else known
        raise FleetError([Problem(f'there is no object "{self.target}"', hint=hint)])

    def _changed(self, manifest: Manifest) -> Manifest:
        data, form = copy.deepcopy(dict(manifest.data)), form_of(manifest)
        if form and self.path[0] in FIELDS:
            text = self._value if isinstance(self._value, str) else self.text
            form.set_field(manifest, data, self.path, None if self._value is None else text)
        else:
            known = value_at(data, self.path)
            value = moved_value(known, self.text) if is_step(self.text) else None
            self._put(manifest, data, self._value if value is None else value)
        return attrs.evolve(manifest, data=data)

    def _of_members(self, changed: Sequence[Manifest], words: str) -> str:
        path = show_path(self.path)
        if self._value is not None:
            return f"{path}={self.text} on {words}"
        names = [member.name for member in changed]
        return f"{path} taken from {words if len(names) == 1 else selection_text(words, names)}"

    def _of_objects(self, found: Sequence[Manifest], changed: Manifest, words: str) -> str:
        old, new = value_at(found[0].data, self.path), value_at(changed.data, self.path)
        after = "none" if self._value is None else self._shown(changed.data, new)
        before = "" if found[1:] else f" {self._shown(found[0].data, old)}"
        return f"{words}: {show_path(self.path)}{before} -> {after}"

    def _put(self, manifest: Manifest, data: Any, value: Any) -> None:
        *above, last = self.path
        for depth, step in enumerate(above):
            inner: Any = [] if isinstance(self.path[depth + 1], int) else {}
            data = self._within(manifest, data, step, depth, inner)
        self._within(manifest, data, last, len(above), value)
        if value is None:
            del data[last]
        else:
            data[last] = value

    def _within(
        self, manifest: Manifest, data: Any, step: str | int, depth: int, missing: Any
    ) -> Any:
        """Return the value at a step, which is made if it is missing; an item may follow the last
        one of a list.
        """
        here = self.path[: depth + 1]
        if isinstance(data, list) and isinstance(step, int):
            if step > len(data):
                hint = f"the list has {len(data)}; the next one is [{len(data)}]"
                raise FleetError([manifest.problem("there is no such item", here, hint)])
            if step == len(data):
                data.append(missing)
            return data[step]
        if not isinstance(data, dict) or isinstance(step, int):
            kind = (
                "a list"
                if isinstance(data, list)
                else "a map"
                if isinstance(data, dict)
                else "a single value"
            )
            hint = "items of a list are written [0], keys of a map .key or [a.key/with.dots]"
            raise FleetError([manifest.problem(f"the field above it is {kind}", here, hint)])
        if data.get(step) is None:
            data[step] = missing
        return data[step]

    def _shown(self, data: Any, value: Any) -> str:
        """Return a value in short; nothing of what may be secret, as what an override writes."""
        if _OVERRIDE in str(data.get("kind")) or value_at(redacted(data), self.path) != value:
            return REDACTED
        text = "none" if value is None else json.dumps(value, ensure_ascii=False)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def read_path(text: str) -> FieldPath:
    """Parse the path of a field: ``spec.policy.tolerations[0].key``,
    ``metadata.labels[example.com/tier]``.

    Raises:
        ValueError: it is no path.
    """
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        found = _STEP.match(text, at)
        if not found or (not at and text[0] in ".[") or (at and found[1] and text[at] != "."):
            break
        steps.append(int(found[2]) if found[2] else found[1] or found[3])
        at = found.end()
    if not steps or at < len(text):
        raise ValueError(
            "is not the path of a field, as spec.policy.tolerations[0] or"
            " metadata.labels[example.com/tier]"
        )
    return tuple(steps)


def read_value(text: str) -> Any:
    """Parse a value as YAML; empty or null for None.

    Raises:
        ValueError: it is not YAML, or several documents.
    """
    problems: list[Problem] = []
    found = list(documents(text, "", problems))
    if problems or len(found) > 1:
        raise ValueError("is not a value in YAML")
    return found[0].data if found else None


def _identity(manifest: Manifest) -> tuple[str, str, str, str]:
    """Return what is the same of an object in two files: a missing namespace is the default one."""
    key = manifest.key
    return key.group, key.kind, key.namespace or "default", key.name


def _as_member(manifest: Manifest) -> Cluster:
    """Return a member with what it is selected by."""
    spec = manifest.data.get("spec") or {}
    region, provider = spec.get("region") or "", spec.get("provider") or ""
    return Cluster(manifest.name, labels=manifest.labels, region=region, provider=provider)


def _only_form(fleet: Supposed) -> MemberForm:
    """Return the form that the members of a fleet have.

    Raises:
        FleetError: they have none, or both.
    """
    forms = {id(form): form for member in fleet.members.values() if (form := form_of(member))}
    if len(forms) == 1:
        return next(iter(forms.values()))
    kinds = " or ".join(kind for _, kind in FORMS)
    what = f"a new member could be a {kinds}: the fleet has {'both' if forms else 'neither'}"
    raise FleetError([Problem(what, hint="say which member it is like: NAME:like=MEMBER")])


def _like(model: Manifest, form: MemberForm, name: str) -> Data:
    """Return a member like another one; of the metadata, only the labels are the same."""
    data = copy.deepcopy(dict(model.data))
    data["metadata"] = {"name": name, "labels": dict(model.labels)}
    return data
