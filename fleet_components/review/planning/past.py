"""State files for ``--state``: the output of ``pulumi stack export``, or the ``state.json`` of a
render.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.observed import is_observed
from fleet_components.content.paths import read_regular
from fleet_components.hub.folder.reading import Remembered, read_observation
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan import names
from fleet_components.plan.past import Past
from fleet_components.plan.state import MEND, StackState, StoredResource, stored
from fleet_components.plan.state_reader import fleets_of
from fleet_components.plan.stored import Keeper

DEFAULT_STACK, DEFAULT_FLEET = "local", "fleet"
"""Names that a directory of YAML is planned under."""
FORMAT = "fleet-components/render"
VERSION = 2
MADE_UP = "madeUp"
"""Field of a state in the form of an export that a plan has saved."""
RENDER_ANEW = "render anew with --fresh"
"""Hint for a damaged state of a render."""
_HINT = (
    "give the output of: pulumi stack export --file FILE, the state.json of a fleet render, or an"
    " observed directory"
)


@attrs.frozen
class StateFile:
    """A state from either kind of file; both hold the same resources.

    Attributes:
        file: the file that it was read from; empty for a new fleet.
        state: the resources.
        export: the whole export; None for a render or a new fleet.
        problems: why it could not be read. It is then the state of a new fleet, so that all other
            problems can be reported as well.
        observed: what an observed directory remembers of its hub, where the state is that.
    """

    file: str = ""
    state: StackState = StackState()
    export: Mapping[str, Any] | None = None
    problems: tuple[Problem, ...] = ()
    observed: Remembered | None = None

    def unread(self, problems: Iterable[Problem]) -> StateFile:
        """Return the state of a new fleet instead, with the problems added."""
        return StateFile(self.file, problems=(*self.problems, *problems))

    @property
    def stack(self) -> tuple[str, str]:
        """Project and stack of the resources; empty for a new fleet."""
        # All resources of a state are of one stack.
        urn = next(iter(self.state.resources), "")
        return (names.Urn.parse(urn).project, names.Urn.parse(urn).stack) if urn else ("", "")

    @property
    def fleets(self) -> tuple[str, ...]:
        """Names of its fleets."""
        return fleets_of(self.state.resources.values())

    @property
    def fleet(self) -> str:
        """Name of its only fleet; empty for a new fleet.

        Raises:
            FleetError: it holds several fleets.
        """
        fleets = self.fleets
        if len(fleets) > 1:
            what = Message(
                "holds-several-fleets", "holds several fleets: {fleets}", fleets=", ".join(fleets)
            )
            hint = "plan the Pulumi project, whose program says which is which"
            # A forged name may look like another fleet.
            raise FleetError(self.sound().problems or [Problem(what, hint=hint, file=self.file)])
        return fleets[0] if fleets else ""

    def sound(self) -> StateFile:
        """Return the state itself, or that of a new fleet with the problems if one of its fleets
        cannot be read.
        """
        problems: list[Problem] = []
        # Without a fleet the resources are read all the same: they may be damaged.
        for fleet in self.fleets or ("",):
            try:
                # Called for its errors alone.
                self.past(fleet)
            except FleetError as error:
                problems += error.problems
        # Damage that all fleets of the state meet is reported once.
        return self.unread(dict.fromkeys(problems)) if problems else self

    def only(self, default: str) -> tuple[str, Past, tuple[Problem, ...]]:
        """Return the name and the past of its only fleet; if that cannot be read, an empty past and
        the problems.

        Args:
            default: the name of a new fleet.
        """
        try:
            fleet = self.fleet or default
            return fleet, self.past(fleet), ()
        except FleetError as error:
            return default, Past(file=self.file), error.problems

    def past(self, fleet: str) -> Past:
        """Return the past of a fleet.

        Raises:
            FleetError: the state is damaged, or was written by a later version.
        """
        if self.observed:
            return self.observed.past(fleet)
        mend = MEND if self.export else RENDER_ANEW
        return Past.of(self.state.resources.values(), fleet, file=self.file, mend=mend)

    def shown(self) -> StateFile:
        """Return the state for a plan that shows the data of Secrets: data that was hidden counts
        as changed.
        """

        def show(stored_resource: StoredResource) -> StoredResource:
            roster = stored_resource.type == names.ROSTER
            return (
                attrs.evolve(
                    stored_resource, outputs={**stored_resource.outputs, "redacted": False}
                )
                if roster
                else stored_resource
            )

        return attrs.evolve(self, state=StackState.of(map(show, self.state.resources.values())))


def read_state(file: Path) -> StateFile:
    """Read a state from either kind of file, or from an observed directory.

    Raises:
        FleetError: the file cannot be read, or is of neither kind.
    """
    if file.is_dir() and not is_observed(file):
        raise _refused(str(file), Message("not-observed-directory", "is not an observed directory"))
    if file.is_dir():
        return observed_state(file)
    try:
        text = read_regular(file)
    except OSError as error:
        raise _refused(
            str(file), Message("cannot-read", "cannot be read: {strerror}", strerror=error.strerror)
        ) from error
    except UnreadableError as error:
        raise _refused(str(file), error.message) from None
    return parse_state(text, str(file))


def observed_state(folder: Path) -> StateFile:
    """Read the state that an observed directory remembers of its hub.

    Raises:
        FleetError: it is not an observed directory, or its memory is damaged.
    """
    found = read_observation(folder, Keeper(DEFAULT_STACK, DEFAULT_FLEET))
    return StateFile(str(folder), StackState.of(found.resources), observed=found)


def parse_state(text: bytes, file: str) -> StateFile:
    """Parse the content of either kind of file; ``file`` is its name in messages.

    Raises:
        FleetError: the content is of neither kind.
    """
    try:
        data = read_json(text, unique=True)
    except UnreadableError as error:
        raise _refused(file, error.message, error.line) from error
    if not isinstance(data, dict):
        raise _refused(file, Message("not-state-fleet", "is not a state of a fleet"))
    if data.get("format") == FORMAT:
        return render_state(file, data)
    if "deployment" in data and data["deployment"] is None:
        return StateFile(file, export=data)  # of a stack that was never updated
    if isinstance(data.get("deployment"), dict):
        return StateFile(file, StackState.from_export(data, file), data)
    raise _refused(
        file,
        Message(
            "neither-deployment-nor-format", 'has neither a "deployment" nor the format of a render'
        ),
    )


def is_render(file: Path) -> bool:
    """Return whether a file is the state of a render."""
    return _head(file).get("format") == FORMAT


def is_made_up(file: Path) -> bool:
    """Return whether a file is a state that no engine has written: of a render, or saved by a
    plan.
    """
    return is_render(file) or MADE_UP in _head(file)


def _head(file: Path) -> Mapping[str, Any]:
    """Return the content of a file; empty if that is no state."""
    try:
        data = read_json(read_regular(file))
    except (OSError, UnreadableError):
        return {}
    return data if isinstance(data, dict) else {}


def to_render(stack: str, resources: list[StoredResource]) -> dict[str, Any]:
    """Return the state file of a render: the resources of the stack after the update, as a render
    always succeeds.
    """
    held = {
        resource.urn: {"type": resource.type, "outputs": _whole(resource.outputs)}
        for resource in resources
    }
    return {"format": FORMAT, "version": VERSION, "stack": stack, "resources": held}


def _whole(value: Any) -> Any:
    """Return a value with whole floats as integers: numbers come back from an engine as floats."""
    if isinstance(value, Mapping):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def render_state(file: str, data: Mapping[str, Any]) -> StateFile:
    """Read the state of a render from its content; ``file`` is its name in messages.

    Raises:
        FleetError: it is damaged, or of another version.
    """
    if data.get("version") != VERSION:
        what = Message(
            "not-version-fleet-render",
            "is not of version {version}, which this fleet render writes",
            version=VERSION,
        )
        raise FleetError([Problem(what, ("version",), RENDER_ANEW, file=file)])
    resources = data.get("resources")
    if not isinstance(resources, dict):
        raise FleetError(
            [
                Problem(
                    Message("not-map-resources", "is not a map of resources"),
                    ("resources",),
                    RENDER_ANEW,
                    file=file,
                )
            ]
        )
    raw = (
        (urn, {**resource, "urn": urn} if isinstance(resource, dict) else resource)
        for urn, resource in resources.items()
    )
    found = stored(raw, ("resources",), file, RENDER_ANEW)
    problems = [*_pending(file, resources), *_undecided(file, found)]
    if problems:
        raise FleetError(problems)
    # A render stores outputs alone; they are also the old inputs with which the next plan starts.
    alike = (
        item if item.inputs == item.outputs else attrs.evolve(item, inputs=item.outputs)
        for item in found
    )
    return StateFile(file, StackState.of(alike))


def _pending(file: str, resources: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a problem for each resource of a render that is to be deleted, which only an engine
    knows of.
    """
    for urn, resource in resources.items():
        if "delete" in resource:
            yield Problem(
                Message("not-render", "is not in a render"), ("delete",), RENDER_ANEW, urn, file
            )


def _undecided(file: str, resources: Iterable[StoredResource]) -> Iterator[Problem]:
    """Yield a problem for each binding of a render without the decision that led to it.

    On an engine, an interrupted update that renames a placement may leave such a binding.
    """
    urns = [names.Urn.parse(resource.urn) for resource in resources]
    decided = {urn.name for urn in urns if urn.type in (names.PLACEMENT, names.TEMPLATE)}
    for urn in urns:
        # The name of a binding is that of its subject, "@" and the member.
        if urn.type == names.BINDING and urn.name.rpartition("@")[0] not in decided:
            yield Problem(
                Message("no-decision-state", "has no decision in the state"),
                (),
                RENDER_ANEW,
                urn.text,
                file,
            )


def _refused(file: str, what: Message, line: int | None = None) -> FleetError:
    return FleetError([Problem(what, hint=_HINT, file=file, line=line)])
