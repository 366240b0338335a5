"""All that is remembered from one run to the next, in one form for the state, for ``--state`` and for ``out/``."""

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
    """A member that a placement has picked, or is about to leave.

    Attributes:
        state: Scheduled (picked, not yet rolled out), Bound, or Unscheduled (to be removed).
        snapshot: the index of the policy snapshot that it was picked under.
        rank: its place in the order of picking; fixed when picked.
        affinity_score: its affinity score when picked; None under PickFixed.
        topology_spread_score: its spread score when picked; None under PickFixed.
        former_state: the state before Unscheduled; restored when the member is picked again.
    """

    state: str = attrs.field(metadata=one_of(SCHEDULED, BOUND, UNSCHEDULED))
    snapshot: int
    rank: int = 0
    affinity_score: int | None = None
    topology_spread_score: int | None = None
    former_state: str = attrs.field(default="", metadata=one_of("", SCHEDULED, BOUND, UNSCHEDULED))


@attrs.frozen
class PlacementMemory:
    """What the scheduler remembers of a KubeFleet placement.

    Attributes:
        snapshot: the index of the current policy snapshot; -1 before the first run.
        policy: the last accepted policy; None stands for a missing one.
        bindings: the bindings by member name.
    """

    snapshot: int = -1
    policy: PlacementPolicy | None = None
    bindings: Mapping[str, Binding] = attrs.field(factory=dict)

    def settled(self, held: Collection[str] = ()) -> PlacementMemory:
        """The memory after a successful update: what was scheduled is bound, what was unscheduled is gone.

        Args:
            held: members whose removal the rollout holds; they stay unscheduled.
        """
        kept = {
            name: attrs.evolve(binding, state=BOUND) if binding.state != UNSCHEDULED else binding
            for name, binding in self.bindings.items()
            if binding.state != UNSCHEDULED or name in held
        }
        return attrs.evolve(self, bindings=kept)

    def renamed(self, cluster: Callable[[str], str]) -> PlacementMemory:
        """The memory with the members under other names."""
        return attrs.evolve(self, bindings={cluster(name): binding for name, binding in self.bindings.items()})

    def delivered(self, standing: Collection[str]) -> PlacementMemory:
        """The memory with what never came to a member as scheduled: when fewer are wanted it is the first to go.

        Args:
            standing: the members on which something stands.
        """
        bindings = {
            name: attrs.evolve(binding, state=SCHEDULED) if binding.state == BOUND and name not in standing else binding
            for name, binding in self.bindings.items()
        }
        return attrs.evolve(self, bindings=bindings)

    @property
    def selected(self) -> tuple[str, ...]:
        """The members that have or are to get the objects, by rank and name."""
        live = [(b.rank, name) for name, b in self.bindings.items() if b.state != UNSCHEDULED]
        return tuple(name for _, name in sorted(live))

    def to_wire(self) -> dict[str, object]:
        """Its form in the state: plain maps and lists."""
        wire: dict[str, object] = encode(self)
        return wire

    @classmethod
    def from_wire(cls, wire: Mapping[str, object] | None) -> PlacementMemory:
        """Read it back; None and the empty map stand for a placement that never ran."""
        return decode(cls, wire) if wire else cls()


def _no_time(text: str) -> str:
    """What is wrong with a time; the empty text is none."""
    try:
        known = not text or ((time := datetime.fromisoformat(text)).tzinfo is not None and in_reach(time))
    except ValueError:
        known = False
    return "" if known else f"is {shown(text)}, not a time with a zone"


@attrs.frozen
class EvictionTask:
    """A member that a template leaves; until the task is gone the member cannot be chosen (Karmada).

    Attributes:
        purge_mode: Gracefully, Directly or Never.
        replicas: how many it held; None for none.
        reason: TaintUntolerated or ApplicationFailure.
        producer: who evicted it.
        message: what is to be known about it.
        grace_period_seconds: how long it may take; None for the default of ten minutes.
        suppress_deletion: True keeps the task for ever, False ends it at once.
        created: when it was made, as an RFC 3339 time; empty when not recorded.
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
    """What is remembered of an object template that Karmada places.

    Attributes:
        uid: the template's stable uid; ties between members depend on it.
        claim: the policy that has claimed it.
        placement: the placement that was last applied; None before.
        clusters: the replicas by member, 0 for what has none, in the order of choosing.
        observed_group: the affinity group in use.
        scheduled: it was scheduled with success at least once.
        rebalances: the names of the rebalances that were carried out.
        evictions: the members that it is leaving.
        required_by: the members of the objects that need it, by their binding.
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
        """Take the member from the targets and note the task, unless there is one. Nothing happens to others."""
        if cluster not in self.clusters:
            return self
        task = attrs.evolve(task, replicas=self.clusters[cluster] or None)
        return attrs.evolve(
            self,
            clusters={name: replicas for name, replicas in self.clusters.items() if name != cluster},
            evictions={cluster: task, **self.evictions},
        )

    def renamed(self, cluster: Callable[[str], str]) -> TemplateMemory:
        """The memory with the members under other names."""
        required = {by: {cluster(name): n for name, n in members.items()} for by, members in self.required_by.items()}
        return attrs.evolve(
            self,
            clusters={cluster(name): replicas for name, replicas in self.clusters.items()},
            evictions={cluster(name): task for name, task in self.evictions.items()},
            required_by=required,
        )

    def to_wire(self) -> dict[str, object]:
        """Its form in the state: plain maps and lists. ``order`` is there where it is not that of the names."""
        wire: dict[str, object] = encode(self)
        names = list(self.clusters)
        if any(self.clusters.values()) and names != sorted(names):
            wire["order"] = {name: place for place, name in enumerate(names)}
        return wire

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any] | None) -> TemplateMemory:
        """Read it back; None and the empty map stand for a template that was never scheduled."""
        memory = decode(cls, wire or {})
        with below("order"):
            order: Mapping[str, int] = decode(Mapping[str, int], (wire or {}).get("order") or {})  # type: ignore[type-abstract]
        names = sorted(memory.clusters, key=lambda name: (order.get(name, 0), name))
        return attrs.evolve(memory, clusters={name: memory.clusters[name] for name in names})
