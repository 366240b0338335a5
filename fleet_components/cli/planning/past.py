"""What was decided and done before: from ``pulumi stack export``, or from the last ``fleet render``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs

from fleet_components.model.codec import decode
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.karmada.record import TemplateRecord
from fleet_components.plan.record import Kept, Objects, Record
from fleet_components.rollout.plan import Done

FORMAT = "fleet-components/render"
VERSION = 1
_HINT = "give the output of: pulumi stack export --file FILE, or the state.json of a fleet render"
_LACKS = "revision {} stays on some members, and the state does not show its content"
LACKS_HINT = "give a state that does: pulumi stack export --show-secrets --file FILE"
_DECIDED = "pulumi-python:dynamic/fleet:Placement"
TEMPLATE = "Template/"
"""How the keys of templates begin."""
_DONE = "pulumi-python:dynamic/fleet:Binding"

R = TypeVar("R", bound=Kept[Any, Any])


@attrs.frozen
class Past:
    """What a plan starts from.

    Attributes:
        file: where it was read; empty for a new fleet.
        records: what was decided, by ``Kind/namespace/name`` of the placement.
        done: what really runs, by placement key and cluster.
        redacted: the contents are without the data of Secrets, so these cannot be compared.
        export: the whole export, where it was one.
        templates: what was decided for the templates of Karmada's policies, by key.
    """

    file: str = ""
    records: Mapping[str, Record] = attrs.field(factory=dict)
    done: Mapping[str, Mapping[str, Done]] = attrs.field(factory=dict)
    redacted: bool = False
    export: Mapping[str, Any] | None = None
    templates: Mapping[str, TemplateRecord] = attrs.field(factory=dict)

    @property
    def decided(self) -> bool:
        """Whether anything was."""
        return bool(self.records or self.templates)

    def record(self, name: str) -> Record:
        """What was decided for a placement; the default record for a new one."""
        return self.records.get(name, Record())


def completed(record: R, objects: Objects) -> R:
    """A record with the content of its revision, where the state hides it and it is still the same."""
    if record.contents or not record.holds(record.revision, objects):
        return record
    return attrs.evolve(record, contents={record.revision: objects})


def missing_content(name: str, record: Kept[Any, Any]) -> list[Problem]:
    """The problem of what has to leave an old revision where it is without knowing what is in it."""
    missing = {placed.revision for placed in record.decisions.values()} - record.contents.keys()
    return [Problem(_LACKS.format(min(missing)), subject=name, hint=LACKS_HINT)] if missing else []


def read_past(file: Path) -> Past:
    """Read either kind of file.

    Raises:
        FleetError: it cannot be read, or is neither.
    """
    try:
        text = file.read_bytes()
    except OSError as error:
        raise _refused(str(file), f"cannot be read: {error.strerror}") from error
    return parse_past(text, str(file))


def parse_past(text: bytes, file: str) -> Past:
    """What either kind of file holds; ``file`` is what it is called.

    Raises:
        FleetError: it is neither.
    """
    try:
        data = json.loads(text.decode())
    except ValueError as error:
        raise _refused(file, f"is no JSON: {error}", getattr(error, "lineno", None)) from error
    if not isinstance(data, dict):
        raise _refused(file, "is no state of a fleet")
    try:
        if data.get("format") == FORMAT:
            return _from_render(file, data)
        if isinstance(data.get("deployment"), dict):
            return _from_export(file, data)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _refused(file, f"is damaged: {type(error).__name__} {error}") from error
    raise _refused(file, 'has neither a "deployment" nor the format of a render')


def done_of(record: Kept[Any, Any]) -> dict[str, Done]:
    """What runs on each member once what was decided is done."""
    return {
        cluster: Done(
            placed.revision,
            replicas=getattr(placed, "replicas", None),
            completions=getattr(placed, "completions", None),
        )
        for cluster, placed in record.decisions.items()
    }


def to_render(
    stack: str, records: Mapping[str, Record], templates: Mapping[str, TemplateRecord], *, redacted: bool
) -> dict[str, Any]:
    """The state file of a render. What was decided counts as done, because a render always succeeds."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "stack": stack,
        "redacted": redacted,
        "placements": {name: record.to_wire() for name, record in sorted(records.items())},
        "templates": {key: record.to_wire() for key, record in sorted(templates.items())},
    }


def _from_render(file: str, data: Mapping[str, Any]) -> Past:
    if data.get("version") != VERSION:
        what = f"is of version {data.get('version')}, this is fleet render of version {VERSION}"
        raise FleetError([Problem(what, ("version",), "render anew with --fresh", file=file)])
    records = {name: Record.from_wire(wire) for name, wire in data["placements"].items()}
    templates = {key: TemplateRecord.from_wire(wire) for key, wire in (data.get("templates") or {}).items()}
    done = {name.partition("/")[2]: done_of(record) for name, record in records.items()}
    done |= {key: done_of(record) for key, record in templates.items()}
    return Past(file, records, done, redacted=bool(data["redacted"]), templates=templates)


def _from_export(file: str, data: Mapping[str, Any]) -> Past:
    from fleet_components.testing.state import StackState

    stored = StackState.from_export(data).resources.values()
    decided = {str(r.inputs["key"]): r.inputs for r in stored if r.type == _DECIDED}
    records = {key: Record.from_wire(wire) for key, wire in decided.items() if not key.startswith(TEMPLATE)}
    templates = {
        key.removeprefix(TEMPLATE): TemplateRecord.from_wire(wire)
        for key, wire in decided.items()
        if key.startswith(TEMPLATE)
    }
    done: dict[str, dict[str, Done]] = {}
    for outputs in (r.outputs for r in stored if r.type == _DONE):
        done.setdefault(outputs["placement"], {})[outputs["cluster"]] = decode(Done, outputs)
    encrypted = any(record.digests and not record.contents for record in records.values())
    return Past(file, records, done, redacted=encrypted, export=data, templates=templates)


def _refused(file: str, what: str, line: int | None = None) -> FleetError:
    return FleetError([Problem(what, hint=_HINT, file=file, line=line)])
