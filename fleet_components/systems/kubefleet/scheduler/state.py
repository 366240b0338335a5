"""Input of the KubeFleet plug-ins during one scheduling cycle."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import count
from typing import Any, NamedTuple, TypeVar

import attrs

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import Mask
from fleet_components.scheduler.edit import (
    MEMBER,
    SET,
    Edits,
    FieldEdit,
    Ladder,
    add_taint,
    drop_taint,
    tolerate,
)
from fleet_components.scheduler.framework import Filter, Score
from fleet_components.systems.kubefleet.model.memory import SCHEDULED, UNSCHEDULED, Binding
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy, Toleration

T = TypeVar("T")


@attrs.frozen
class KubeFleetState:
    """State of one scheduling cycle.

    Attributes:
        inventory: the fleet.
        policy: the policy to schedule.
        namespace: the namespace of a ResourcePlacement; empty for a cluster-scoped placement.
        present: members with a scheduled or bound binding under the current policy snapshot.
        obsolete: members with a binding under an older policy snapshot.
    """

    inventory: Inventory
    policy: PlacementPolicy
    namespace: str = ""
    present: Mask = 0
    obsolete: Mask = 0
    _shared: dict[Hashable, Any] = attrs.field(factory=dict, repr=False, eq=False)

    @property
    def placed(self) -> Mask:
        """Members with a binding, under the current or an older policy snapshot."""
        return self.present | self.obsolete

    def next(self, present: Mask, obsolete: Mask) -> KubeFleetState:
        """Return the state of the next cycle on the same fleet and policy."""
        # evolve hands the same cache on to the next cycle.
        return attrs.evolve(self, present=present, obsolete=obsolete)

    def once(self, key: Hashable, build: Callable[[], T]) -> T:
        """Return a cached value, built on first use and shared with all later cycles of the run.

        The key must contain everything that the value depends on besides fleet, policy and
        namespace.
        """
        if key not in self._shared:
            self._shared[key] = build()
        value: T = self._shared[key]
        return value


# Bindings of one placement while it is being scheduled: classified, created, reused, unscheduled.


@attrs.frozen
class Pick:
    """A member that a cycle picks, with its scores; None under PickFixed."""

    cluster: str
    affinity_score: int | None = None
    topology_spread_score: int | None = None


@attrs.frozen
class Taken:
    """Effect of the picks of a cycle: created bindings in pick order, then existing bindings that
    were reused.
    """

    created: tuple[str, ...]
    patched: tuple[str, ...]


class BoundNames(NamedTuple):
    """Names of members with a binding that is not unscheduled, each list sorted by name.

    Attributes:
        scheduled: picked under the current policy, not yet rolled out.
        bound: picked under the current policy and rolled out.
        obsolete: picked under an older policy.
    """

    scheduled: list[str]
    bound: list[str]
    obsolete: list[str]

    @property
    def present(self) -> list[str]:
        """Members picked under the current policy."""
        return self.scheduled + self.bound


class Bindings:
    """Bindings by member name. Listings are sorted by name, as the real scheduler sorts by binding
    name.

    Creating an instance unschedules the bindings whose member has left the fleet or is leaving it.
    """

    def __init__(
        self, bindings: Mapping[str, Binding], snapshot: int, inventory: Inventory
    ) -> None:
        self.by_name = dict(sorted(bindings.items()))
        self.snapshot = snapshot
        self.unschedule(
            [name for held in self.held() for name in held if _dangles(name, inventory)]
        )

    def held(self) -> BoundNames:
        """Return the bindings that are not unscheduled, classified."""
        held = BoundNames([], [], [])
        for name, binding in sorted(self.by_name.items()):
            # First of all: an unscheduled binding of an older policy earns no preference as an
            # obsolete one.
            if binding.state == UNSCHEDULED:
                continue
            if binding.snapshot != self.snapshot:
                held.obsolete.append(name)
            else:
                (held.scheduled if binding.state == SCHEDULED else held.bound).append(name)
        return held

    def take(self, picks: Iterable[Pick]) -> Taken:
        """Bind the picks: reuse obsolete and unscheduled bindings with their state, create the
        others.
        """
        picks = list(picks)
        existing = {
            name: binding.state for name, binding in self.by_name.items() if not binding.evicted
        }
        created = [pick.cluster for pick in picks if pick.cluster not in existing]
        known = sorted(pick.cluster for pick in picks if pick.cluster in existing)
        # KubeFleet reuses the obsolete bindings first, then the unscheduled ones, and the status
        # keeps that order (``crossReferencePickedClustersAndDeDupBindings`` in
        # pkg/scheduler/framework/frameworkutils.go, v0.3.1).
        patched = sorted(known, key=lambda name: existing[name] == UNSCHEDULED)
        # Above all ranks in use, so that nobody who stays is renumbered: reviewers are to see moves
        # only.
        ranks = count(1 + max((binding.rank for binding in self.by_name.values()), default=-1))
        for pick in picks:
            # An evicted binding is created again for the hub, and keeps its rank here.
            old = self.by_name.get(pick.cluster)
            self.by_name[pick.cluster] = (
                self._again(old, pick) if old else self._new(pick, next(ranks))
            )
        return Taken(tuple(created), tuple(patched))

    def unschedule(self, names: Iterable[str]) -> None:
        """Mark bindings for removal and keep their state, which is restored if they are picked
        again.
        """
        for name in names:
            binding = self.by_name[name]
            self.by_name[name] = attrs.evolve(
                binding, state=UNSCHEDULED, former_state=binding.state
            )

    def by_score(self, names: Iterable[str]) -> list[str]:
        """Return the names ordered by stored score (spread, then affinity), then by name."""

        def key(name: str) -> tuple[int, int, str]:
            binding = self.by_name[name]
            return (binding.topology_spread_score or 0, binding.affinity_score or 0, name)

        return sorted(names, key=key)

    def _new(self, pick: Pick, rank: int) -> Binding:
        return Binding(
            SCHEDULED, self.snapshot, rank, pick.affinity_score, pick.topology_spread_score
        )

    def _again(self, known: Binding, pick: Pick) -> Binding:
        return attrs.evolve(
            known,
            state=known.former_state or SCHEDULED if known.state == UNSCHEDULED else known.state,
            snapshot=self.snapshot,
            affinity_score=pick.affinity_score,
            topology_spread_score=pick.topology_spread_score,
            former_state="",
        )


def _dangles(name: str, inventory: Inventory) -> bool:
    """Return whether the binding's member has left the fleet or is leaving it."""
    position = inventory.position(name)
    return position is None or inventory.clusters[position].leaving


# NamespaceAffinity: a ResourcePlacement goes only to members that have its namespace.


class NamespaceAffinity(Filter[KubeFleetState]):
    """Filter by the namespaces that members report; members that do not report them always pass."""

    name = "NamespaceAffinity"

    def mask(self, state: KubeFleetState, candidates: Mask) -> Mask:
        """Return the candidates that have the placement's namespace, or do not report
        namespaces.
        """
        namespace, inventory = state.namespace, state.inventory
        if not namespace:
            return candidates
        key = ("namespace", namespace)
        passing = inventory.column(
            key, lambda: inventory.mask_of(lambda c: not _lack(c, namespace))
        )
        return candidates & passing

    def reason(self, state: KubeFleetState, position: int) -> str:
        """Return why the member is rejected."""
        return _lack(state.inventory.clusters[position], state.namespace)

    def remedy(self, state: KubeFleetState, position: int) -> str:
        """Return how to create the namespace on the member."""
        return (
            f'place the namespace "{state.namespace}" there first, with a ClusterResourcePlacement'
        )

    def admitting(self, state: KubeFleetState, position: int) -> Iterable[Edits]:
        """Yield that the member reports the namespace."""
        member, field = state.inventory.names[position], ("status", "namespaces", state.namespace)
        yield (
            FieldEdit(
                MEMBER, SET, field, "", f"with the namespace {state.namespace} there", member
            ),
        )


def _lack(cluster: Cluster, namespace: str) -> str:
    # Without the condition nothing is collected on the member, and KubeFleet does not filter, for
    # backward compatibility (pkg/scheduler/framework/plugins/namespaceaffinity/filtering.go,
    # v0.3.1).
    if not cluster.namespaces_collected:
        return ""
    if cluster.namespaces is None:
        return "cluster has no namespace information available"
    return "" if namespace in cluster.namespaces else "target namespace does not exist on cluster"


# SamePlacementAffinity: members that the placement has already are not picked again, or are
# preferred.


OBSOLETE = "obsolete"
"""The part of a score that prefers members with a binding of an older policy."""


class SamePlacementAffinity(Filter[KubeFleetState], Score[KubeFleetState]):
    """Filter out members picked under the current policy; prefer those that were picked under an
    older one.
    """

    name = "SamePlacementAffinity"
    part = OBSOLETE
    counts_picks = silent = True

    def mask(self, state: KubeFleetState, candidates: Mask) -> Mask:
        """Return the candidates that are not picked."""
        return candidates & ~state.present

    def reason(self, state: KubeFleetState, position: int) -> str:
        """Return KubeFleet's text, which it shows nowhere."""
        return "resource placement has already been scheduled or bound on the cluster"

    def scores(self, state: KubeFleetState, candidates: Mask) -> Mapping[int, Mask]:
        """Return 1 for members with a binding of an older policy."""
        return {1: candidates & state.obsolete}

    def words(self, state: KubeFleetState, position: int) -> str:
        """Return whether the member was picked under an older policy, in words."""
        return (
            "was picked before the policy changed"
            if state.obsolete >> position & 1
            else "was not picked before"
        )


# TaintToleration: every taint of the member must be tolerated.


_TOLERATIONS = ("spec", "policy", "tolerations")
_DRAINED = Taint("drained", "true")
"""A taint as somebody may set it to keep a member free."""


class TaintToleration(Filter[KubeFleetState]):
    """Filter that rejects members with a taint that the policy does not tolerate."""

    name = "TaintToleration"

    def mask(self, state: KubeFleetState, candidates: Mask) -> Mask:
        """Return the candidates whose taints are all tolerated."""
        for taint, tainted in state.inventory.taints.items():
            if not tolerated(taint, state.policy.tolerations):
                candidates &= ~tainted
        return candidates

    def reason(self, state: KubeFleetState, position: int) -> str:
        """Return the text for the first untolerated taint, in spec order."""
        # Only called for members that the filter stops, so there is such a taint.
        taint = self._untolerated(state, position)[0]
        return (
            f"taint &{{Key:{taint.key} Value:{taint.value} Effect:{taint.effect}}} cannot be"
            " tolerated"
        )

    def admitting(self, state: KubeFleetState, position: int) -> Iterable[Edits]:
        """Yield that the taints go, and that they are tolerated."""
        member, taints = state.inventory.names[position], self._untolerated(state, position)
        yield tuple(drop_taint(member, taint) for taint in taints)
        yield tuple(tolerate(_TOLERATIONS, taint) for taint in taints)

    def stopping(self, state: KubeFleetState, position: int) -> Iterable[Ladder]:
        """Yield that the member gets a taint that the policy does not tolerate."""
        if not tolerated(_DRAINED, state.policy.tolerations):
            yield ((add_taint(state.inventory.names[position], _DRAINED),),)

    def _untolerated(self, state: KubeFleetState, position: int) -> list[Taint]:
        taints = state.inventory.clusters[position].taints
        return [taint for taint in taints if not tolerated(taint, state.policy.tolerations)]


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Return whether any toleration covers the taint. Exists without a key covers every taint."""
    return any(_covers(toleration, taint) for toleration in tolerations)


def _covers(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect):
        return False
    if toleration.operator == "Exists":
        return toleration.key in ("", taint.key)
    # Unlike in Kubernetes, no operator does not mean Equal, and Equal without a key does not mean
    # every key (``canTolerationTolerateTaint`` in plugins/tainttoleration/filtering.go, v0.3.1).
    return toleration.operator == "Equal" and (toleration.key, toleration.value) == (
        taint.key,
        taint.value,
    )
