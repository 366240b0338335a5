"""Scheduling state of a placement, kept between runs in one wire form for the state of a stack and
``out/``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import attrs

from fleet_components.model.codec import MOST_INT32, choice_of, decode, encode, ranged
from fleet_components.systems.kubefleet.model.eviction import Handled
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy

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
        former_state: the state before Unscheduled; restored if the member is picked again. An
            Unscheduled binding without one was evicted: on a hub it is deleted, and nothing of it
            is restored.
    """

    state: str = attrs.field(metadata=choice_of(SCHEDULED, BOUND, UNSCHEDULED))
    snapshot: int = attrs.field(metadata=ranged(-1))
    rank: int = attrs.field(default=0, metadata=ranged(0))
    affinity_score: int | None = attrs.field(default=None, metadata=ranged(-MOST_INT32))
    topology_spread_score: int | None = attrs.field(default=None, metadata=ranged(-MOST_INT32))
    former_state: str = attrs.field(
        default="", metadata=choice_of("", SCHEDULED, BOUND, UNSCHEDULED)
    )

    @property
    def evicted(self) -> bool:
        """True if an eviction has deleted it."""
        return self.state == UNSCHEDULED and not self.former_state


@attrs.frozen
class PlacementMemory:
    """Persisted scheduling state of a KubeFleet placement.

    Attributes:
        snapshot: index of the current policy snapshot; -1 before the first run.
        policy: the last accepted policy; None if the placement has no policy.
        bindings: bindings by member name.
        evictions: what came of the evictions in the source, by name: each is carried out once.
    """

    snapshot: int = attrs.field(default=-1, metadata=ranged(-1))
    policy: PlacementPolicy | None = None
    bindings: Mapping[str, Binding] = attrs.field(factory=dict)
    evictions: Mapping[str, Handled] = attrs.field(factory=dict)

    def settled(self, held: Collection[str] = ()) -> PlacementMemory:
        """Return the state after a successful update: Scheduled bindings are Bound, Unscheduled
        ones are removed.

        Args:
            held: members whose removal the rollout delays; their bindings stay Unscheduled.
        """
        kept = {
            name: attrs.evolve(binding, state=BOUND) if binding.state == SCHEDULED else binding
            for name, binding in self.bindings.items()
            if binding.state != UNSCHEDULED or name in held
        }
        return attrs.evolve(self, bindings=kept)

    def renamed(self, cluster: Callable[[str], str]) -> PlacementMemory:
        """Return the state with the members renamed; an eviction that is over names its member as
        it was written.
        """
        return attrs.evolve(
            self, bindings={cluster(name): binding for name, binding in self.bindings.items()}
        )

    def evict(self, cluster: str) -> PlacementMemory:
        """Return the state in which the placement has left a member; without a binding there it is
        the same.
        """
        binding = self.bindings.get(cluster)
        if binding is None:
            return self
        # No former state marks the binding as evicted.
        evicted = attrs.evolve(binding, state=UNSCHEDULED, former_state="")
        return attrs.evolve(self, bindings={**self.bindings, cluster: evicted})

    def delivered(self, standing: Collection[str]) -> PlacementMemory:
        """Return the state in which Bound bindings that were never delivered are Scheduled again.

        Scheduled bindings are removed first when fewer members are wanted.

        Args:
            standing: the members that have at least one of the objects.
        """
        bindings = {
            name: attrs.evolve(binding, state=SCHEDULED)
            if binding.state == BOUND and name not in standing
            else binding
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
