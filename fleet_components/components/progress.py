"""How far an update has come, to tell where it broke when the engine ends the program because something failed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress

import pulumi

from fleet_components.components.delivery import SubjectDelivery
from fleet_components.model.text import few, visible
from fleet_components.rollout.rollout import Change

_MOVES = (Change.ADD, Change.UPDATE)


class Progress:
    """Which resources of an update stand already.

    Args:
        deliveries: the placements and templates of a fleet.
    """

    def __init__(self, deliveries: Sequence[SubjectDelivery]) -> None:
        self._deliveries = deliveries
        self._urns: dict[pulumi.Resource, str] = {}
        self._following = [asyncio.ensure_future(self._follow(resource)) for resource in self._resources()]

    def broken(self) -> Iterator[tuple[str, str]]:
        """Yield the URN of each placement or template whose update was under way, and the line that says where."""
        for delivery in self._deliveries:
            moving = [cluster for cluster in delivery.targets if _moves(delivery, cluster)]
            begun = [cluster for cluster in moving if delivery.targets[cluster] in self._urns]
            if broken := [cluster for cluster in begun if delivery.targets[cluster].binding not in self._urns]:
                untouched = [cluster for cluster in moving if cluster not in begun]
                yield self._urns.get(delivery, ""), visible(self._line(delivery, broken, untouched))

    def _resources(self) -> Iterator[pulumi.Resource]:
        for delivery in self._deliveries:
            targets = [target for cluster, target in delivery.targets.items() if _moves(delivery, cluster)]
            objects = [one for target in targets for one in target.objects.values()]
            yield from (delivery, *targets, *objects, *(target.binding for target in targets))

    async def _follow(self, resource: pulumi.Resource) -> None:
        # The error is told by who waits for the resource.
        with suppress(Exception):
            self._urns[resource] = await resource.urn.future() or ""

    def _line(self, delivery: SubjectDelivery, broken: Sequence[str], untouched: Sequence[str]) -> str:
        waves = {cluster: delivery.decided.record.decisions[cluster].wave for cluster in (*broken, *untouched)}
        under_way = [key for cluster in broken for key in self._under_way(delivery, cluster)]
        what = f" ({few(sorted(set(under_way)))})" if under_way else ""
        parts = [f"{_numbered([waves[cluster] for cluster in broken])} broke on {few(broken)}{what}"]
        if untouched:
            later = sorted({waves[cluster] for cluster in untouched})
            verb = "is" if len(later) == 1 else "are"
            parts.append(f"{_numbered(later)} {verb} not touched ({few(untouched)})")
        if delivery.decided.outcome.rollout.removals:
            parts.append("nothing is removed")
        return f"{delivery.decided.subject.key}: {'; '.join(parts)}; the next pulumi up begins with {few(broken)}"

    def _under_way(self, delivery: SubjectDelivery, cluster: str) -> Iterator[str]:
        """Yield the objects of a member that do not stand, in the first phase that has any."""
        objects = delivery.targets[cluster].objects
        missing = [one for one, resource in objects.items() if resource not in self._urns]
        first = min((phase for phase, _ in missing), default=0)
        yield from (str(key) for phase, key in missing if phase == first)


def _moves(delivery: SubjectDelivery, cluster: str) -> bool:
    return delivery.decided.entries[cluster].change in _MOVES


def _numbered(waves: Sequence[int]) -> str:
    first, last = min(waves), max(waves)
    return f"wave {first}" if first == last else f"waves {first}..{last}"
