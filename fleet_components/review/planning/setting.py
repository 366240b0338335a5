"""Fields that are supposed to have another value: of an object, of several, or of members."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import attrs

from fleet_components.content.document import documents
from fleet_components.content.secret import REDACTED, redacted
from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem, show_path
from fleet_components.model.text import few, nearest
from fleet_components.review.planning.member_form import (
    FIELDS,
    form_of,
    is_step,
    moved_value,
)
from fleet_components.review.planning.selection import (
    is_pattern,
    selection_text,
)
from fleet_components.review.planning.supposition import Supposed, Supposition

_DECLARED = "change what declares it: --set KIND/NAME:FIELD=VALUE, or its edited file with --policy"
_STEP = re.compile(r"\.?(?:([^.\[\]]+)|\[(\d+)\]|\[([^\[\]]+)\])")
_OVERRIDE = "Override"
_SHOWN = 60


@attrs.frozen
class FieldSetting(Supposition):
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
        # A label may have a slash in its key, Kind/name has no "=".
        of_members = "=" in self.target or "/" not in self.target
        found, words = self._members(fleet) if of_members else self._objects(fleet.manifests)
        # By identity: two objects of a source may be equal.
        changed = {id(manifest): self._changed(manifest) for manifest in found}
        manifests = tuple(changed.get(id(item), item) for item in fleet.manifests)
        differing = [item for item in found if changed[id(item)] != item]
        # Taking away what no member has is most likely a typo.
        if of_members and self._value is None and not differing:
            what = Message(
                "no",
                "{words} {choice} no {path}",
                words=words,
                choice="has" if len(found) == 1 else "have",
                path=show_path(self.path),
            )
            hint = "nothing would change; see the members as they are written"
            raise FleetError([Problem(what, hint=hint)])
        sentence = (
            self._of_members(differing, words)
            if of_members
            else self._of_objects(found, [changed[id(item)] for item in found], words)
        )
        return attrs.evolve(fleet, manifests=manifests).saying(sentence)

    @cached_property
    def _value(self) -> Any:
        return read_value(self.text)

    def _members(self, fleet: Supposed) -> tuple[list[Manifest], str]:
        selected = fleet.roster.selected(self.target)
        missing = [name for name in selected.names if name not in fleet.members]
        if missing:
            what = Message(
                "member-not-membercluster-cluster",
                "member {missing} is not a MemberCluster or Cluster of its own",
                missing=missing[0],
            )
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
            # Each object is there under two names.
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
                [
                    Problem(
                        Message(
                            "could-any-several-objects-2",
                            '"{target}" could be any of several objects',
                            target=self.target,
                        ),
                        hint=hint,
                    )
                ]
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
        raise FleetError(
            [
                Problem(
                    Message("no-object-2", 'there is no object "{target}"', target=self.target),
                    hint=hint,
                )
            ]
        )

    def _changed(self, manifest: Manifest) -> Manifest:
        data, form = copy.deepcopy(dict(manifest.data)), form_of(manifest)
        if form and self.path[0] in FIELDS:
            # A quoted value without its quotes; anything else as it is written, so that 1.10 stays
            # 1.10.
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

    def _of_objects(
        self, found: Sequence[Manifest], changed: Sequence[Manifest], words: str
    ) -> str:
        path = show_path(self.path)
        values = [self._shown(item.data, value_at(item.data, self.path)) for item in changed]
        if self._value is None:
            after = "none"
        elif REDACTED in values:
            after = REDACTED
        else:
            # Several objects may have got several values by a relative change: show what was
            # written.
            after = self.text if values[1:] else values[0]
        if values[1:]:
            return f"{words}: {path} -> {after}"
        before = self._shown(found[0].data, value_at(found[0].data, self.path))
        return f"{words}: {path} {before} -> {after}"

    def _put(self, manifest: Manifest, data: Any, value: Any) -> None:
        *above, last = self.path
        for depth, step in enumerate(above):
            # What is missing is made by the next step: an index is one of a list.
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
                raise FleetError(
                    [manifest.problem(Message("no-such-item", "there is no such item"), here, hint)]
                )
            # The next item may be added; a gap in a list cannot be written.
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
            raise FleetError(
                [
                    manifest.problem(
                        Message("field-above-not-map", "the field above it is {kind}", kind=kind),
                        here,
                        hint,
                    )
                ]
            )
        # null in YAML counts as missing: a map may be put there.
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
        # Each field but the first one has a dot before it; brackets have none.
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
