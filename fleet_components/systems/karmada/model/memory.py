"""Scheduling state of a template, kept between runs in one wire form for the state of a stack and
``out/``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import attrs

from fleet_components.model.codec import (
    below,
    checked,
    choice_of,
    decode,
    encode,
    in_reach,
    out_of_range,
    ranged,
)
from fleet_components.model.labels import subdomain_errors
from fleet_components.systems.karmada.model.policy import DIRECTLY, GRACEFULLY, Placement


def _no_time(text: str) -> str:
    """Return what is wrong with a time; empty if it is valid. The empty text, for no time, is
    valid.
    """
    try:
        # A time without a zone cannot be compared with the others.
        known = not text or (
            (time := datetime.fromisoformat(text)).tzinfo is not None and in_reach(time)
        )
    except ValueError:
        known = False
    return "" if known else "is not a time with a zone"


def _no_replicas(clusters: Mapping[str, int]) -> str:
    """Return what is wrong with replicas by member; empty if they are valid."""
    for name, number in clusters.items():
        if subdomain_errors(name):
            return "has a key that is not the name of a member"
        wrong = out_of_range(number, 0)
        if wrong:
            return f"{wrong}, for {name}"
    return ""


@attrs.frozen
class EvictionTask:
    """A Karmada eviction task: a template leaves a member, which cannot be chosen again until the
    task ends.

    Attributes:
        purge_mode: Gracefully, Directly or Never.
        replicas: the number of replicas on the member; None for 0.
        reason: TaintUntolerated or ApplicationFailure.
        producer: the component that made the task.
        message: message of the task.
        grace_period_seconds: how long it may take, in seconds; None for the default of ten minutes.
        suppress_deletion: True keeps the task without limit, False ends it at once.
        created: creation time, as an RFC 3339 time; empty if not recorded.
    """

    purge_mode: str = attrs.field(
        default=GRACEFULLY, metadata=choice_of(GRACEFULLY, DIRECTLY, "Never")
    )
    replicas: int | None = attrs.field(default=None, metadata=ranged(0))
    reason: str = ""
    producer: str = ""
    message: str = ""
    grace_period_seconds: int | None = attrs.field(default=None, metadata=ranged(0))
    suppress_deletion: bool | None = None
    created: str = attrs.field(default="", metadata=checked(_no_time))


@attrs.frozen(kw_only=True)
class TemplateMemory:
    """Persisted scheduling state of a Karmada template.

    Attributes:
        uid: stable uid of the template; ties between members are broken by it.
        placement: the placement that was last applied; None before the first one.
        clusters: replicas by member, 0 for templates without replicas, in the order in which
            members were chosen.
        observed_group: name of the active affinity group.
        scheduled: True if scheduling has succeeded at least once.
        rebalances: names of the rebalances that were carried out.
        evictions: eviction tasks by the member that the template leaves.
        required_by: for each binding that depends on this template, its replicas by member.
        looked: digests of what the scheduler of a control plane had looked at when it was observed,
            and of the members alone: until that changes it does not look again. Only the members
            count for a template without a policy. Empty, the default, if every update looks.
        retries: True if that scheduler had failed, and so tries again by itself.
    """

    uid: str = ""
    placement: Placement | None = None
    clusters: Mapping[str, int] = attrs.field(factory=dict, metadata=checked(_no_replicas))
    observed_group: str = ""
    scheduled: bool = False
    rebalances: tuple[str, ...] = ()
    evictions: Mapping[str, EvictionTask] = attrs.field(factory=dict)
    required_by: Mapping[str, Mapping[str, int]] = attrs.field(
        factory=dict,
        metadata=checked(lambda needed: next(filter(None, map(_no_replicas, needed.values())), "")),
    )
    looked: str = ""
    retries: bool = False

    def evict(self, cluster: str, task: EvictionTask) -> TemplateMemory:
        """Return the state with the member removed from the targets and the eviction task added.

        An existing task for the member is kept. Without effect if the member is not a target.
        """
        if cluster not in self.clusters:
            return self
        task = attrs.evolve(task, replicas=self.clusters[cluster] or None)
        return attrs.evolve(
            self,
            clusters={
                name: replicas for name, replicas in self.clusters.items() if name != cluster
            },
            # The new task first, so that an existing one replaces it.
            evictions={cluster: task, **self.evictions},
        )

    def renamed(self, cluster: Callable[[str], str]) -> TemplateMemory:
        """Return the state with the members renamed."""
        required = {
            by: {cluster(name): n for name, n in members.items()}
            for by, members in self.required_by.items()
        }
        return attrs.evolve(
            self,
            clusters={cluster(name): replicas for name, replicas in self.clusters.items()},
            evictions={cluster(name): task for name, task in self.evictions.items()},
            required_by=required,
        )

    def to_wire(self) -> dict[str, object]:
        """Return the wire form: plain maps and lists.

        ``order`` is written only if there are replicas and members were not chosen in the order of
        names.
        """
        wire: dict[str, object] = encode(self)
        names = list(self.clusters)
        if any(self.clusters.values()) and names != sorted(names):
            # The engine returns maps in any order, while later divisions depend on the order of the
            # targets.
            wire["order"] = {name: place for place, name in enumerate(names)}
        return wire

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any] | None) -> TemplateMemory:
        """Read the wire form; None and the empty map mean a template that was never scheduled."""
        memory = decode(cls, wire or {})
        with below("order"):
            kind: Any = Mapping[str, int]
            order: Mapping[str, int] = decode(kind, (wire or {}).get("order") or {})
        # Without an order all places are 0, and the names decide.
        names = sorted(memory.clusters, key=lambda name: (order.get(name, 0), name))
        return attrs.evolve(memory, clusters={name: memory.clusters[name] for name in names})
