"""Progress of an update, which tells where it broke when the engine ends the program because
something failed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import pulumi

from fleet_components.components.delivery import SubjectDelivery
from fleet_components.components.target import Target
from fleet_components.components.trials import FormTrials
from fleet_components.model.manifest import ObjectKey
from fleet_components.model.text import few, visible
from fleet_components.plan.fleet_plan import grouped
from fleet_components.rollout.rollout import Change

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


class Progress:
    """Which resources of an update stand already.

    Args:
        deliveries: the placements and templates of a fleet.
        trials: the objects that are deleted and created anew, as they stood before the update.
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
            broken = [cluster for cluster, wave in waves.items() if wave == min(waves.values())]
            if any(missing[cluster] in self._stands for cluster in broken):
                untouched = {
                    cluster: wave for cluster, wave in waves.items() if cluster not in broken
                }
                line = self._line(delivery, waves[broken[0]], broken, untouched)
                yield self._stands.get(delivery, ""), visible(line)

    async def _follow(self, resource: pulumi.Resource) -> None:
        # With --continue-on-error what failed has a URN and no id. Any error is told by who waits
        # for the resource.
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
