"""Where a plan starts: what a hub had decided and what ran when the directory of the source was
observed, and which resources of a broken update stand already.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs
import pulumi

from fleet_components.components.delivery import SubjectDelivery
from fleet_components.components.fleet_args import FleetArgs
from fleet_components.components.target import Target
from fleet_components.components.trials import FormTrials
from fleet_components.content.observed import observed_in
from fleet_components.hub.folder.header import releases_in
from fleet_components.hub.folder.reading import Remembered, read_observation
from fleet_components.model.manifest import ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.releases import Releases, names_in
from fleet_components.model.text import few, visible
from fleet_components.plan.fleet_plan import FleetPlan, grouped
from fleet_components.plan.past import Past
from fleet_components.plan.record import Record
from fleet_components.plan.stored import Keeper
from fleet_components.plan.subject import Decided
from fleet_components.plan.ways import NAMES, ways_of
from fleet_components.rollout.rollout import Change

_OBSERVE = "fleet observe --hub KUBECONFIG"
_SINGLE = "give one of them as the source: a fleet has one hub"


@attrs.frozen
class ObservedStart:
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
        """Return a warning if a plan repeats what this stack has sent after the observation; None
        otherwise.
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
    # Reversed, so that of several directories the first wins.
    for folder in reversed(list(observed_in(map(Path, args.source.given.paths)))):
        names |= releases_in(folder)
    names |= {setting: name for setting, name in names_in(args).items() if name}
    return attrs.evolve(args, source=args.source.under(Releases.named(**names)))


def start_of(past: Past, fleet: str, stack: str, args: FleetArgs) -> ObservedStart:
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
        return ObservedStart(past)
    folders = list(observed_in(map(Path, args.source.given.paths)))
    if not folders:
        return ObservedStart(past)
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
    return ObservedStart(start, found.as_of, folders[0], sent)


def _together(past: Past, found: Remembered, fleet: str, *, hidden: bool) -> Past:
    """Return the past of a stack with what its hub has made of the subjects that go through it."""
    observed = found.past(fleet)
    # What stands directly is known better from the state.
    names = frozenset(
        name for name in observed.records if name not in past.records or name in past.forecast
    )
    shown = {
        # What the stack has recorded goes before what was observed.
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
                # The state does not have these objects, so they have no URN.
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


# Progress of an update, which shows where it broke when the engine ends the program because
# something failed.


_MOVES = (Change.ADD, Change.UPDATE)
_FATES = (
    (True, True, "gone from {cluster}, where it was to be replaced: {objects}"),
    (True, False, "gone from {cluster}: {objects} (pulumi up --refresh creates it again)"),
    (False, True, "deleted on {cluster} and created anew: {objects}"),
    (False, False, "deleted on {cluster} and created anew: {objects}"),
    (None, True, "{cluster} does not say whether it still has {objects}, which was to be replaced"),
)
"""Lines of a failed update about objects, by whether each is gone and whether it was to be
replaced.
"""


class StandingResources:
    """Which resources of an update stand already.

    Args:
        deliveries: the placements and templates of a fleet.
        trials: the objects that are deleted and recreated, as they stood before the update.
    """

    def __init__(self, deliveries: Sequence[SubjectDelivery], trials: FormTrials) -> None:
        self._deliveries, self._trials = deliveries, trials
        self._stands: dict[pulumi.Resource, str] = {}
        self._following = [
            asyncio.ensure_future(self._follow(resource))
            for delivery in deliveries
            for resource in _parts(delivery)
        ]

    def broken(self) -> Iterator[tuple[str, str]]:
        """Yield the URN of each placement or template whose update was under way, and the line that
        says where.
        """
        for delivery in self._deliveries:
            missing = {
                c: target
                for c, target in _moving(delivery).items()
                if target.binding not in self._stands
            }
            waves = {
                cluster: delivery.decided.record.decisions[cluster].wave for cluster in missing
            }
            # Waves come one after the other, so only the first one that is not complete was under
            # way.
            broken = [cluster for cluster, wave in waves.items() if wave == min(waves.values())]
            # Nothing broke where no component of these members was registered yet.
            if any(missing[cluster] in self._stands for cluster in broken):
                untouched = {
                    cluster: wave for cluster, wave in waves.items() if cluster not in broken
                }
                line = self._line(delivery, waves[broken[0]], broken, untouched)
                yield self._stands.get(delivery, ""), visible(line)

    async def _follow(self, resource: pulumi.Resource) -> None:
        # With --continue-on-error what failed has a URN and no id. Any error is reported where the
        # resource is waited for.
        mark = resource.id if isinstance(resource, pulumi.CustomResource) else resource.urn
        with suppress(Exception):
            found = await mark.future()
            if found:
                self._stands[resource] = found

    def _line(
        self,
        delivery: SubjectDelivery,
        wave: int,
        broken: Sequence[str],
        untouched: Mapping[str, int],
    ) -> str:
        under_way = {
            str(key) for cluster in broken for key in self._under_way(delivery.targets[cluster])
        }
        parts = [
            f"wave {wave} broke on"
            f" {few(broken)}{f' ({few(sorted(under_way))})' if under_way else ''}"
        ]
        parts += self._gone(delivery, broken)
        if untouched:
            first, last = min(untouched.values()), max(untouched.values())
            later = f"wave {first} is" if first == last else f"waves {first}..{last} are"
            parts.append(f"{later} not touched ({few(list(untouched))})")
        if delivery.decided.outcome.rollout.removals:
            parts.append("nothing is removed")
        return (
            f"{delivery.decided.subject.key}: {'; '.join(parts)}; the next pulumi up begins with"
            f" {few(broken)}"
        )

    def _gone(self, delivery: SubjectDelivery, broken: Sequence[str]) -> Iterator[str]:
        """Yield what stood on members and is not there any more as it was."""
        keys = {cluster: delivery.decided.keys(cluster) for cluster in broken}
        fates = self._trials.gone((cluster, key) for cluster in broken for key in keys[cluster])
        replaced = self._trials.plan.replaced
        for gone, planned, words in _FATES:
            alike = [pair for pair in fates if (fates[pair], pair in replaced) == (gone, planned)]
            for cluster, pairs in sorted(grouped(alike, lambda pair: pair[0]).items()):
                objects = few(sorted(str(key) for _, key in pairs))
                yield words.format(cluster=cluster, objects=objects)

    def _under_way(self, target: Target) -> Iterator[ObjectKey]:
        """Yield the objects of a member that do not stand, in the first phase that has any."""
        missing = [
            pair for pair, resource in target.objects.items() if resource not in self._stands
        ]
        first = min((phase for phase, _ in missing), default=0)
        yield from (key for phase, key in missing if phase == first)


def _moving(delivery: SubjectDelivery) -> dict[str, Target]:
    entries = delivery.decided.entries
    return {
        cluster: target
        for cluster, target in delivery.targets.items()
        if entries[cluster].change in _MOVES
    }


def _parts(delivery: SubjectDelivery) -> Iterator[pulumi.Resource]:
    yield delivery
    for target in _moving(delivery).values():
        yield from (target, *target.objects.values(), target.binding)
