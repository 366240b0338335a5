"""The start of a forecast: what a hub had decided, and what ran, when the directory of the source
was observed.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from fleet_components.components.fleet_args import FleetArgs
from fleet_components.content.observed import observed_in
from fleet_components.hub.folder.header import releases_in
from fleet_components.hub.folder.reading import Remembered, read_observation
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.releases import Releases, names_in
from fleet_components.model.text import few
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.past import Past
from fleet_components.plan.record import Record
from fleet_components.plan.stored import Keeper
from fleet_components.plan.subject import Decided
from fleet_components.plan.ways import NAMES, ways_of

_OBSERVE = "fleet observe --hub KUBECONFIG"
_SINGLE = "give one of them as the source: a fleet has one hub"


@attrs.frozen
class Start:
    """Starting point of a plan.

    Attributes:
        past: the past: of what goes through a hub as it was observed, if it was.
        as_of: when that was; None if nothing was observed.
        folder: the observed directory.
        sent: what the last update has recorded of each subject that goes through the hub, by
            ``Kind/key``.
    """

    past: Past
    as_of: datetime | None = None
    folder: Path | None = None
    sent: Mapping[str, Record[Any, Any]] = attrs.field(factory=dict)

    def untold(self, plan: FleetPlan) -> Problem | None:
        """Return a warning if a plan tells again what this stack has sent after the observation;
        None otherwise.
        """
        again = [
            subject.name for subject in plan.subjects if subject.changes and self._is_sent(subject)
        ]
        if not again:
            return None
        what = Message(
            "observed-before-last-update",
            "was observed before the last update sent {again} to the hub: this forecast tells that"
            " once more",
            again=few(again),
        )
        return Problem(
            what,
            hint=f"{_OBSERVE} --out {shlex.quote(str(self.folder))} --update",
            file=str(self.folder),
        )

    def _is_sent(self, decided: Decided) -> bool:
        """Return whether the last update has sent what a plan decides, or a revision that the hub
        did not have then.
        """
        last = self.sent.get(decided.name)
        return last is not None and (
            last == decided.record or last.revision > decided.before.revision
        )


def under_releases(args: FleetArgs) -> FleetArgs:
    """Return the arguments of a fleet with its source as the releases that count check it.

    They are those that the arguments name, else those of observed hubs in the source, else those of
    the source itself.
    """
    names = args.source.given.releases.names
    for folder in reversed(list(observed_in(map(Path, args.source.given.paths)))):
        names |= releases_in(folder)
    names |= {setting: name for setting, name in names_in(args).items() if name}
    return attrs.evolve(args, source=args.source.under(Releases.named(**names)))


def start_of(past: Past, fleet: str, stack: str, args: FleetArgs) -> Start:
    """Return the starting point of a fleet's plan.

    Args:
        past: what the state of the stack says.
        fleet: the fleet's name.
        stack: the stack, as ``organization/project/stack``.
        args: the fleet's arguments.

    Raises:
        FleetError: an observed directory among the source is damaged, or is of another system than
            the hub.
    """
    ways, _ = ways_of(args.source.policies, args.delivery)
    if not ways.hub:
        return Start(past)
    folders = list(observed_in(map(Path, args.source.given.paths)))
    if not folders:
        return Start(past)
    if len(folders) > 1:
        what = Message(
            "several-observed-hubs-in-program",
            "are {folders} observed directories, each of a hub of its own: {hubs}",
            folders=len(folders),
            hubs=few(list(map(str, folders))),
        )
        raise FleetError([Problem(what, hint=_SINGLE, file=str(folders[0]))])
    found = read_observation(folders[0], Keeper(stack, fleet))
    if ways.hub != found.system.NAME:
        what = Message(
            "observed-hub-of-other-system",
            "was observed of a hub of {names}, and this fleet goes through one of {other}",
            names=found.system.TITLE,
            other=NAMES[ways.hub],
        )
        raise FleetError([Problem(what, file=str(folders[0]))])
    # Where all goes through the hub, nothing is sent with the data of Secrets that the observation
    # leaves out.
    start = _together(past, found, fleet, hidden=ways.whole)
    sent = {name: past.records[name] for name in start.observed if name in past.records}
    return Start(start, found.as_of, folders[0], sent)


def _together(past: Past, found: Remembered, fleet: str, *, hidden: bool) -> Past:
    """Return the past of a stack with what its hub has made of the subjects that go through it."""
    observed = found.past(fleet)
    # What stands directly is known better from the state.
    names = frozenset(
        name for name in observed.records if name not in past.records or name in past.forecast
    )
    shown = {
        name: {
            **observed.shown.get(name, {}),
            **past.shown.get(name, {}),
            "delivery": found.system.NAME,
        }
        for name in names
    }
    return attrs.evolve(
        past,
        records={**past.records, **{name: observed.records[name] for name in names}},
        done={**past.done, **{name: observed.done.get(name, {}) for name in names}},
        standing=(
            *(standing for standing in past.standing if standing.subject not in names),
            *(
                attrs.evolve(standing, hub=True, urn="")
                for standing in observed.standing
                if standing.subject in names
            ),
        ),
        waiting={**past.waiting, **observed.waiting},
        shown={**past.shown, **shown},
        redacted=past.redacted or (observed.redacted and hidden),
        observed=names,
    )
