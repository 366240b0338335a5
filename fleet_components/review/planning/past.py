"""What ``--state`` holds: the output of ``pulumi stack export``, or the ``state.json`` of a render."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan import names
from fleet_components.plan.past import Past, fleets_of
from fleet_components.plan.state import MEND, StackState, StoredResource, stored

FORMAT = "fleet-components/render"
VERSION = 2
RENDER_ANEW = "render anew with --fresh"
"""What would do where the state of a render is damaged."""
_HINT = "give the output of: pulumi stack export --file FILE, or the state.json of a fleet render"


@attrs.frozen
class StateFile:
    """A state, wherever it comes from: both sorts hold the same resources.

    Attributes:
        file: where it was read; empty for a new fleet.
        state: the resources.
        export: the whole export, where it was one.
        problems: why it could not be read; it is as that of a new fleet then, so that what else is wrong can be told.
    """

    file: str = ""
    state: StackState = StackState()
    export: Mapping[str, Any] | None = None
    problems: tuple[Problem, ...] = ()

    def unread(self, problems: Iterable[Problem]) -> StateFile:
        """The state of a new fleet in its place, and why."""
        return StateFile(self.file, problems=(*self.problems, *problems))

    @property
    def stack(self) -> tuple[str, str]:
        """The project and the stack that it is of; empty for a new fleet."""
        urn = next(iter(self.state.resources), "")
        return (names.Urn.parse(urn).project, names.Urn.parse(urn).stack) if urn else ("", "")

    @property
    def fleet(self) -> str:
        """The name of its only fleet; empty for a new one.

        Raises:
            FleetError: it has several.
        """
        fleets = fleets_of(self.state.resources.values())
        if len(fleets) > 1:
            what = f"holds several fleets: {', '.join(fleets)}"
            hint = "plan the Pulumi project, whose program says which is which"
            raise FleetError([Problem(what, hint=hint, file=self.file)])
        return fleets[0] if fleets else ""

    def sound(self) -> StateFile:
        """Itself, or why one of its fleets cannot be read."""
        problems: list[Problem] = []
        for fleet in fleets_of(self.state.resources.values()) or ("",):
            try:
                self.past(fleet)
            except FleetError as error:
                problems += error.problems
        return self.unread(dict.fromkeys(problems)) if problems else self

    def only(self, default: str) -> tuple[str, Past, tuple[Problem, ...]]:
        """The name of its only fleet and what it says of that; as of a new one where it cannot be read, and why.

        Args:
            default: the name of a new fleet.
        """
        try:
            fleet = self.fleet or default
            return fleet, self.past(fleet), ()
        except FleetError as error:
            return default, Past(file=self.file), error.problems

    def past(self, fleet: str) -> Past:
        """What it says of a fleet.

        Raises:
            FleetError: it is damaged, or a later version has written it.
        """
        mend = MEND if self.export else RENDER_ANEW
        return Past.of(self.state.resources.values(), fleet, file=self.file, mend=mend)

    def shown(self) -> StateFile:
        """The same, compared with the data of Secrets: what was hidden and is shown now counts as changed."""

        def show(one: StoredResource) -> StoredResource:
            roster = one.type == names.ROSTER
            return attrs.evolve(one, outputs={**one.outputs, "redacted": False}) if roster else one

        return attrs.evolve(self, state=StackState.of(map(show, self.state.resources.values())))


def read_state(file: Path) -> StateFile:
    """Read either kind of file.

    Raises:
        FleetError: it cannot be read, or is neither.
    """
    try:
        text = file.read_bytes()
    except OSError as error:
        raise _refused(str(file), f"cannot be read: {error.strerror}") from error
    return parse_state(text, str(file))


def parse_state(text: bytes, file: str) -> StateFile:
    """What either kind of file holds; ``file`` is what it is called.

    Raises:
        FleetError: it is neither.
    """
    try:
        data = json.loads(text.decode())
    except RecursionError as error:
        raise _refused(file, "is nested too deeply") from error
    except ValueError as error:
        raise _refused(file, f"is no JSON: {error}", getattr(error, "lineno", None)) from error
    if not isinstance(data, dict):
        raise _refused(file, "is no state of a fleet")
    if data.get("format") == FORMAT:
        return _from_render(file, data)
    if isinstance(data.get("deployment"), dict):
        return StateFile(file, StackState.from_export(data, file), data)
    raise _refused(file, 'has neither a "deployment" nor the format of a render')


def to_render(stack: str, resources: list[StoredResource]) -> dict[str, Any]:
    """The state file of a render: what the stack would hold. A render always succeeds."""
    held = {one.urn: {"type": one.type, "outputs": _whole(one.outputs)} for one in resources}
    return {"format": FORMAT, "version": VERSION, "stack": stack, "resources": held}


def _whole(value: Any) -> Any:
    """A value with whole numbers as such: they come back from an engine as floats."""
    if isinstance(value, Mapping):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _from_render(file: str, data: Mapping[str, Any]) -> StateFile:
    if data.get("version") != VERSION:
        what = f"is of version {data.get('version')}, this is fleet render of version {VERSION}"
        raise FleetError([Problem(what, ("version",), RENDER_ANEW, file=file)])
    resources = data.get("resources")
    if not isinstance(resources, dict):
        raise FleetError([Problem("is no map of resources", ("resources",), RENDER_ANEW, file=file)])
    raw = ((urn, {**one, "urn": urn} if isinstance(one, dict) else one) for urn, one in resources.items())
    found = stored(raw, ("resources",), file, RENDER_ANEW)
    # What was decided is what comes back as the old inputs of a resource.
    return StateFile(file, StackState.of(attrs.evolve(one, inputs=one.outputs) for one in found))


def _refused(file: str, what: str, line: int | None = None) -> FleetError:
    return FleetError([Problem(what, hint=_HINT, file=file, line=line)])
