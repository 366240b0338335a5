"""Bindings of a placement: which members it has, what was sent to each, and what became of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

import attrs

from fleet_components.model.cluster import read_time
from fleet_components.model.manifest import Manifest
from fleet_components.model.release import Release
from fleet_components.systems.kubefleet.hub.kinds import (
    PLACEMENTS,
    PREVIOUS_STATE,
    Kept,
    conditions_of,
)
from fleet_components.systems.kubefleet.hub.snapshots import (
    index_of_content,
    index_of_policy,
    listed_overrides,
)
from fleet_components.systems.kubefleet.model.memory import BOUND, SCHEDULED, UNSCHEDULED, Binding
from fleet_components.systems.kubefleet.model.placement import PICK_FIXED, PICK_N, PlacementPolicy
from fleet_components.systems.kubefleet.model.release import RELEASE, Rule

_FAILS = ("Overridden", "WorkSynchronized", "Applied", "Available")
"""Conditions of which one that is False makes a binding fail (``HasBindingFailed`` of
KubeFleet).
"""
_PENDING = (
    "OverriddenPending",
    "WorkNotSynchronizedYet",
    "ApplyPending",
    "ResourceNotAvailableYet",
)
"""Reasons of such a condition with which a binding is on its way, in releases that look at the
reason.
"""
_NOT_SENT = ("Overridden", "WorkSynchronized")
"""Conditions of which one that is False keeps the objects of a binding from its member."""
_UNTRACKABLE = ("NotAllWorkAreAvailabilityTrackable", "NotAllWorksAreAvailabilityTrackable")


@attrs.frozen
class BoundMember:
    """A member that a placement has, as its binding says.

    Attributes:
        cluster: the member.
        state: ``Scheduled``, ``Bound`` or ``Unscheduled``.
        previous: the state before ``Unscheduled``.
        policy: index of the policy snapshot under which it was picked.
        affinity: the affinity score; None under PickFixed.
        spread: the topology spread score; None under PickFixed.
        revision: the revision that was sent to it, whether it stands or not; None if none was.
        awaited: whether what was sent is not ready, or what is to be sent cannot be.
        overrides: kind, namespace and name of the override snapshots that apply to what was sent;
            none where what applied before is not known.
    """

    cluster: str
    state: str
    previous: str
    policy: int
    affinity: int | None
    spread: int | None
    revision: int | None
    awaited: bool
    overrides: tuple[tuple[str, str, str], ...]

    def remembered(self, rank: int) -> Binding | None:
        """Return what the scheduler remembers of it; None if that is no more than a wish to leave.

        As after a successful update: what was not sent is seen from what runs.
        """
        if self.state != UNSCHEDULED:
            return Binding(BOUND, self.policy, rank, self.affinity, self.spread)
        if self.revision is None:
            return None
        return Binding(UNSCHEDULED, self.policy, rank, self.affinity, self.spread, self.previous)


def bindings_of(
    kept: Kept,
    placement: Manifest,
    members: Collection[str],
    as_of: datetime,
    period: timedelta,
    release: Release = RELEASE,
) -> tuple[dict[str, BoundMember], list[str]]:
    """Return the members of a placement by name, and those that it is being removed from.

    A cluster that is no longer a member keeps what it has, and nothing updates it.

    Args:
        kept: what the hub keeps.
        placement: the placement.
        members: names of the members.
        as_of: the time of the observation.
        period: how long objects have to stand whose readiness cannot be determined.
        release: the release of KubeFleet.
    """
    waits = _PENDING if release.has(Rule.PENDING_NOT_FAILED) else ()
    found, going = dict[str, BoundMember](), []
    for binding in kept.all(PLACEMENTS[placement.kind].binding, placement):
        cluster = binding.data["spec"]["targetCluster"]
        if "deletionTimestamp" in binding.metadata:
            going.append(cluster)
        elif cluster in members:
            found[cluster] = _bound(binding, kept, as_of - period, waits)
    # A member may be picked again while its old binding is still being deleted.
    return found, sorted({*going} - found.keys())


def ranks_of(
    bindings: Mapping[str, BoundMember], policy: PlacementPolicy | None
) -> Mapping[str, int]:
    """Return the rank of each member: its place in the order in which a scheduler picks them at
    once.
    """
    kind = policy.placement_type if policy else ""
    fixed = (
        {name: place for place, name in enumerate(policy.cluster_names)}
        if policy and kind == PICK_FIXED
        else {}
    )
    if kind == PICK_N:
        # Names descending first: the stable sort keeps this order where scores are equal.
        names = sorted(bindings, reverse=True)
        names.sort(
            key=lambda name: (-(bindings[name].spread or 0), -(bindings[name].affinity or 0))
        )
    else:
        names = sorted(bindings, key=lambda name: (fixed.get(name, len(fixed)), name))
    return {name: rank for rank, name in enumerate(names)}


def _bound(
    binding: Manifest, kept: Kept, ready_by: datetime, pending: Collection[str]
) -> BoundMember:
    spec, status = binding.data["spec"], binding.data.get("status")
    generation = binding.metadata.get("generation")
    conditions = {
        kind: data
        for kind, data in conditions_of(status).items()
        # What was reported about an earlier form of the binding says nothing about this one.
        if data.get("observedGeneration") == generation
    }
    cluster, state = spec["targetCluster"], spec.get("state") or SCHEDULED
    score = (spec.get("clusterDecision") or {}).get("clusterScore") or {}
    sent = not any(_is(conditions.get(kind), "False") for kind in _NOT_SENT)
    asked = index_of_content(spec.get("resourceSnapshotName") or "")
    standing = kept.sent.get((cluster, binding.name), ())
    # Works of several revisions mean an unfinished update: the oldest revision counts.
    revision = asked if sent else min(standing, default=None)
    failing = (conditions.get(kind) for kind in _FAILS)
    stuck = any(
        data is not None and _is(data, "False") and data.get("reason") not in pending
        for data in failing
    )
    return BoundMember(
        cluster,
        state,
        (binding.metadata.get("annotations") or {}).get(PREVIOUS_STATE)
        or (SCHEDULED if revision is None else BOUND),
        index_of_policy(spec.get("schedulingPolicySnapshotName") or ""),
        score.get("affinityScore"),
        # The API has the topology spread score under this name.
        score.get("priorityScore"),
        revision,
        stuck or (revision is not None and not _ready(conditions, ready_by)),
        tuple(listed_overrides(spec)) if sent else (),
    )


def _ready(conditions: Mapping[str, Any], ready_by: datetime) -> bool:
    """Return whether what was sent counts as ready for a rollout (``isBindingReady`` of KubeFleet
    v0.3.1).
    """
    if _is(conditions.get("DiffReported"), "True"):
        return True
    available = conditions.get("Available")
    if not _is(available, "True"):
        return False
    since = read_time(available.get("lastTransitionTime")) if available else None
    return (
        available is None
        or available.get("reason") not in _UNTRACKABLE
        or since is None
        or since < ready_by
    )


def _is(condition: Mapping[str, Any] | None, status: str) -> bool:
    return condition is not None and condition.get("status") == status
