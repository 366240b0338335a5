"""Scheduling state that is kept between runs, in one wire form for the Pulumi state, ``--state`` and ``out/``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

import attrs

from fleet_components.model.codec import below, checked, decode, encode, in_reach, one_of, shown
from fleet_components.model.karmada import DIRECTLY, GRACEFULLY, Placement, PolicyKey
from fleet_components.model.placement import PlacementPolicy

SCHEDULED, BOUND, UNSCHEDULED = "Scheduled", "Bound", "Unscheduled"


@attrs.frozen
class Binding:
    """A member that a placement has picked or is about to leave.

    Attributes:
        state: Scheduled (picked, not yet rolled out), Bound, or Unscheduled (to be removed).
        snapshot: index of the policy snapshot under which the member was picked.
        rank: position in the order of picking; fixed when picked.
        affinity_score: affinity score when picked; None under PickFixed.
        topology_spread_score: topology spread score when picked; None under PickFixed.
        former_state: the state before Unscheduled; restored if the member is picked again.
    """

    state: str = attrs.field(metadata=one_of(SCHEDULED, BOUND, UNSCHEDULED))
    snapshot: int
    rank: int = 0
    affinity_score: int | None = None
    topology_spread_score: int | None = None
    former_state: str = attrs.field(default="", metadata=one_of("", SCHEDULED, BOUND, UNSCHEDULED))


@attrs.frozen
class PlacementMemory:
    """Persisted scheduling state of a KubeFleet placement.

    Attributes:
        snapshot: index of the current policy snapshot; -1 before the first run.
        policy: the last accepted policy; None if the placement has no policy.
        bindings: bindings by member name.
    """

    snapshot: int = -1
    policy: PlacementPolicy | None = None
    bindings: Mapping[str, Binding] = attrs.field(factory=dict)

    def settled(self, held: Collection[str] = ()) -> PlacementMemory:
        """Return the state after a successful update: Scheduled bindings are Bound, Unscheduled ones are removed.

        Args:
            held: members whose removal the rollout delays; their bindings stay Unscheduled.
        """
        kept = {
            name: attrs.evolve(binding, state=BOUND) if binding.state != UNSCHEDULED else binding
            for name, binding in self.bindings.items()
            if binding.state != UNSCHEDULED or name in held
        }
        return attrs.evolve(self, bindings=kept)

    def renamed(self, cluster: Callable[[str], str]) -> PlacementMemory:
        """Return the state with the members renamed."""
        return attrs.evolve(self, bindings={cluster(name): binding for name, binding in self.bindings.items()})

    def delivered(self, standing: Collection[str]) -> PlacementMemory:
        """Return the state in which Bound bindings that were never delivered are Scheduled again.

        Scheduled bindings are removed first when fewer members are wanted.

        Args:
            standing: the members that have at least one of the objects.
        """
        bindings = {
            name: attrs.evolve(binding, state=SCHEDULED) if binding.state == BOUND and name not in standing else binding
            for name, binding in self.bindings.items()
        }
        return attrs.evolve(self, bindings=bindings)

    @property
    def selected(self) -> tuple[str, ...]:
        """The members that have the objects or are to get them, by rank and name."""
        live = [(b.rank, name) for name, b in self.bindings.items() if b.state != UNSCHEDULED]
        return tuple(name for _, name in sorted(live))

    def to_wire(self) -> dict[str, object]:
        """Return the wire form: plain maps and lists."""
        wire: dict[str, object] = encode(self)
        return wire

    @classmethod
    def from_wire(cls, wire: Mapping[str, object] | None) -> PlacementMemory:
        """Read the wire form; None and the empty map mean a placement that was never scheduled."""
        return decode(cls, wire) if wire else cls()


def _no_time(text: str) -> str:
    """Return what is wrong with a time; empty if it is valid. The empty text, for no time, is valid."""
    try:
        known = not text or ((time := datetime.fromisoformat(text)).tzinfo is not None and in_reach(time))
    except ValueError:
        known = False
    return "" if known else f"is {shown(text)}, not a time with a zone"


@attrs.frozen
class EvictionTask:
    """A Karmada eviction task: a template leaves a member, which cannot be chosen again until the task ends.

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

    purge_mode: str = attrs.field(default=GRACEFULLY, metadata=one_of(GRACEFULLY, DIRECTLY, "Never"))
    replicas: int | None = None
    reason: str = ""
    producer: str = ""
    message: str = ""
    grace_period_seconds: int | None = None
    suppress_deletion: bool | None = None
    created: str = attrs.field(default="", metadata=checked(_no_time))


@attrs.frozen(kw_only=True)
class TemplateMemory:
    """Persisted scheduling state of a Karmada template.

    Attributes:
        uid: stable uid of the template; ties between members are broken by it.
        claim: the policy that has claimed the template.
        placement: the placement that was last applied; None before the first one.
        clusters: replicas by member, 0 for templates without replicas, in the order in which members were chosen.
        observed_group: name of the active affinity group.
        scheduled: True if scheduling has succeeded at least once.
        rebalances: names of the rebalances that were carried out.
        evictions: eviction tasks by the member that the template leaves.
        required_by: for each binding that depends on this template, its replicas by member.
    """

    uid: str = ""
    claim: PolicyKey | None = None
    placement: Placement | None = None
    clusters: Mapping[str, int] = attrs.field(factory=dict)
    observed_group: str = ""
    scheduled: bool = False
    rebalances: tuple[str, ...] = ()
    evictions: Mapping[str, EvictionTask] = attrs.field(factory=dict)
    required_by: Mapping[str, Mapping[str, int]] = attrs.field(factory=dict)

    def evict(self, cluster: str, task: EvictionTask) -> TemplateMemory:
        """Return the state with the member removed from the targets and the eviction task added.

        An existing task for the member is kept. Without effect if the member is not a target.
        """
        if cluster not in self.clusters:
            return self
        task = attrs.evolve(task, replicas=self.clusters[cluster] or None)
        return attrs.evolve(
            self,
            clusters={name: replicas for name, replicas in self.clusters.items() if name != cluster},
            evictions={cluster: task, **self.evictions},
        )

    def renamed(self, cluster: Callable[[str], str]) -> TemplateMemory:
        """Return the state with the members renamed."""
        required = {by: {cluster(name): n for name, n in members.items()} for by, members in self.required_by.items()}
        return attrs.evolve(
            self,
            clusters={cluster(name): replicas for name, replicas in self.clusters.items()},
            evictions={cluster(name): task for name, task in self.evictions.items()},
            required_by=required,
        )

    def to_wire(self) -> dict[str, object]:
        """Return the wire form: plain maps and lists.

        ``order`` is written only if there are replicas and members were not chosen in the order of names.
        """
        wire: dict[str, object] = encode(self)
        names = list(self.clusters)
        if any(self.clusters.values()) and names != sorted(names):
            wire["order"] = {name: place for place, name in enumerate(names)}
        return wire

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any] | None) -> TemplateMemory:
        """Read the wire form; None and the empty map mean a template that was never scheduled."""
        memory = decode(cls, wire or {})
        with below("order"):
            order: Mapping[str, int] = decode(Mapping[str, int], (wire or {}).get("order") or {})  # type: ignore[type-abstract]
        names = sorted(memory.clusters, key=lambda name: (order.get(name, 0), name))
        return attrs.evolve(memory, clusters={name: memory.clusters[name] for name in names})
