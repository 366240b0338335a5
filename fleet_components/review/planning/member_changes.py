"""Members that a pull request changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fleet_components.model.cluster import Cluster
from fleet_components.model.text import few
from fleet_components.plan.fleet_plan import FleetPlan


def members_changed(base: Sequence[FleetPlan], head: Sequence[FleetPlan]) -> Iterator[str]:
    """Yield in words which members have other labels or taints on the two sides of a pull request.

    That need not move anything, since what is picked may stay; it is a change still.

    Args:
        base: the plans of what is compared with.
        head: the plans that are reviewed.
    """
    before = {(plan.options.fleet, cluster.name): cluster for plan in base for cluster in plan.inventory.clusters}
    changed = []
    for plan in head:
        for item in plan.inventory.clusters:
            other = before.get((plan.options.fleet, item.name))
            if other and (words := [*_labels_changed(other, item), *_taints_changed(other, item)]):
                changed.append(f"{item.name} ({', '.join(words)})")
    if changed:
        yield f"changed {'members are' if changed[1:] else 'is member'} {few(changed)}"


def _labels_changed(before: Cluster, now: Cluster) -> Iterator[str]:
    for key in sorted({*before.labels, *now.labels}):
        old, new = before.labels.get(key), now.labels.get(key)
        if old != new:
            yield f"{key}: {old if old is not None else '(none)'} -> {new if new is not None else '(none)'}"


def _taints_changed(before: Cluster, now: Cluster) -> Iterator[str]:
    old, new = ({f"{taint.key}={taint.value}:{taint.effect}" for taint in cluster.taints} for cluster in (before, now))
    yield from (f"taint {text} new" for text in sorted(new - old))
    yield from (f"taint {text} gone" for text in sorted(old - new))
