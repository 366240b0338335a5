"""All that is remembered from one run to the next, in one form for the state, for ``--state`` and for ``out/``."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import attrs

from fleet_components.model.codec import decode, encode
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

    state: str
    snapshot: int
    rank: int = 0
    affinity_score: int | None = None
    topology_spread_score: int | None = None
    former_state: str = ""


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
