"""The bindings of one placement while it is being scheduled: classified, picked again, given up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count

import attrs

from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import has
from fleet_components.model.memory import BOUND, SCHEDULED, UNSCHEDULED, Binding


@attrs.frozen
class Pick:
    """A member that a cycle picks, with its scores; None under PickFixed."""

    cluster: str
    affinity_score: int | None = None
    topology_spread_score: int | None = None


@attrs.frozen
class Taken:
    """What a cycle did with its picks: new bindings in pick order, then those that existed already."""

    created: tuple[str, ...]
    patched: tuple[str, ...]


class Bindings:
    """Bindings by member name. Every listing is by name, as the real scheduler sorts them by binding name."""

    def __init__(self, bindings: Mapping[str, Binding], snapshot: int, inventory: Inventory) -> None:
        self.by_name = dict(sorted(bindings.items()))
        self.snapshot = snapshot
        for name in self._live():
            position = inventory.position(name)
            if position is None or has(inventory.leaving, position):
                self.unschedule([name])  # dangling: its member is gone or leaving

    @property
    def scheduled(self) -> list[str]:
        """Picked under the current policy, not yet rolled out."""
        return [n for n in self._live() if self._current(n) and self.by_name[n].state == SCHEDULED]

    @property
    def bound(self) -> list[str]:
        """Picked under the current policy and rolled out."""
        return [n for n in self._live() if self._current(n) and self.by_name[n].state == BOUND]

    @property
    def obsolete(self) -> list[str]:
        """Picked under an older policy."""
        return [n for n in self._live() if not self._current(n)]

    def take(self, picks: Iterable[Pick]) -> Taken:
        """Bind the picks: reuse obsolete and unscheduled bindings with their state, create the rest."""
        picks = list(picks)
        existing = {name: binding.state for name, binding in self.by_name.items()}
        created = [pick.cluster for pick in picks if pick.cluster not in existing]
        known = sorted(pick.cluster for pick in picks if pick.cluster in existing)
        patched = sorted(known, key=lambda name: existing[name] == UNSCHEDULED)
        ranks = count(1 + max((binding.rank for binding in self.by_name.values()), default=-1))
        for pick in picks:
            old = self.by_name.get(pick.cluster)
            self.by_name[pick.cluster] = self._again(old, pick) if old else self._new(pick, next(ranks))
        return Taken(tuple(created), tuple(patched))

    def unschedule(self, names: Iterable[str]) -> None:
        """Mark bindings for removal, keeping their state for the case that they are picked again."""
        for name in names:
            binding = self.by_name[name]
            self.by_name[name] = attrs.evolve(binding, state=UNSCHEDULED, former_state=binding.state)

    def by_score(self, names: Iterable[str]) -> list[str]:
        """Names ordered by stored score (spread, then affinity), then by name; those without scores first."""

        def key(name: str) -> tuple[bool, int, int, str]:
            binding = self.by_name[name]
            spread, affinity = binding.topology_spread_score, binding.affinity_score
            return (spread is not None, spread or 0, affinity or 0, name)

        return sorted(names, key=key)

    def _new(self, pick: Pick, rank: int) -> Binding:
        return Binding(SCHEDULED, self.snapshot, rank, pick.affinity_score, pick.topology_spread_score)

    def _again(self, known: Binding, pick: Pick) -> Binding:
        return attrs.evolve(
            known,
            state=known.former_state if known.state == UNSCHEDULED else known.state,
            snapshot=self.snapshot,
            affinity_score=pick.affinity_score,
            topology_spread_score=pick.topology_spread_score,
            former_state="",
        )

    def _live(self) -> list[str]:
        return sorted(name for name, binding in self.by_name.items() if binding.state != UNSCHEDULED)

    def _current(self, name: str) -> bool:
        return self.by_name[name].snapshot == self.snapshot
