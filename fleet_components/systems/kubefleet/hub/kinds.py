"""Names that KubeFleet gives to what it keeps on a hub.

Source: ``apis/placement/v1beta1`` of KubeFleet v0.3.1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import attrs

from fleet_components.content.strip import LAST_APPLIED
from fleet_components.hub.listing import Listing, Object
from fleet_components.model.manifest import Manifest
from fleet_components.systems.kubefleet.model.placement import GROUP as GROUP

MEMBERS = "cluster.kubernetes-fleet.io"
PREFIX = "kubernetes-fleet.io/"
PLACEMENT, INDEX, POLICY_INDEX = (
    f"{PREFIX}parent-CRP",
    f"{PREFIX}resource-index",
    f"{PREFIX}policy-index",
)
OVERRIDE, BINDING = f"{PREFIX}parent-resource-override", f"{PREFIX}parent-resource-binding"
PART, WORK_INDEX = (
    f"{PREFIX}subindex-of-resource-snapshot",
    f"{PREFIX}parent-resource-snapshot-index",
)
COUNT, PREVIOUS_STATE = f"{PREFIX}number-of-clusters", f"{PREFIX}previous-binding-state"


@attrs.frozen
class Scoped:
    """Kinds that belong to one kind of placement.

    Attributes:
        binding: the kind of its bindings.
        policy: the kind of its policy snapshots.
        content: the kind of its resource snapshots.
        run: the kind of its update runs.
        strategy: the kind of their strategies.
        approval: the kind of their requests for approvals.
    """

    binding: str
    policy: str
    content: str
    run: str
    strategy: str
    approval: str


PLACEMENTS: Mapping[str, Scoped] = {
    "ClusterResourcePlacement": Scoped(
        "ClusterResourceBinding",
        "ClusterSchedulingPolicySnapshot",
        "ClusterResourceSnapshot",
        "ClusterStagedUpdateRun",
        "ClusterStagedUpdateStrategy",
        "ClusterApprovalRequest",
    ),
    "ResourcePlacement": Scoped(
        "ResourceBinding",
        "SchedulingPolicySnapshot",
        "ResourceSnapshot",
        "StagedUpdateRun",
        "StagedUpdateStrategy",
        "ApprovalRequest",
    ),
}
"""The kinds that belong to each kind of placement."""
OVERRIDES = {
    "ClusterResourceOverride": "ClusterResourceOverrideSnapshot",
    "ResourceOverride": "ResourceOverrideSnapshot",
}
"""Kind of the snapshots of each kind of override."""
WORK = "Work"
EVICTION, BUDGET = "ClusterResourcePlacementEviction", "ClusterResourcePlacementDisruptionBudget"
ENVELOPES = ("ClusterResourceEnvelope", "ResourceEnvelope")
WRITTEN = (
    *PLACEMENTS,
    *OVERRIDES,
    *(kind for placement in PLACEMENTS.values() for kind in (placement.run, placement.strategy)),
    EVICTION,
    BUDGET,
)
"""Kinds of policies that users write."""
KEPT = (
    *(
        kind
        for placement in PLACEMENTS.values()
        for kind in (placement.binding, placement.policy, placement.content, placement.approval)
    ),
    *OVERRIDES.values(),
    WORK,
)
"""Kinds in which a hub remembers what it has decided."""


# Bindings and snapshots of placements, found by placement.


_MEMBER = "fleet-member-"
"""Prefix of the namespace on the hub in which the Works of a member are."""


@attrs.frozen
class Kept:
    """Bindings, snapshots and Works of all placements.

    Attributes:
        by_placement: bindings and snapshots, by kind, namespace and name of the placement.
        sent: the revisions of the Works of a binding, by member and name of the binding.
    """

    by_placement: Mapping[tuple[str, str, str], Sequence[Manifest]]
    sent: Mapping[tuple[str, str], Sequence[int]]

    @classmethod
    def of(cls, listing: Listing) -> Self:
        """Find it in the answers of a hub."""
        found = defaultdict[tuple[str, str, str], list[Manifest]](list)
        for kind in KEPT:
            for manifest in _all(listing, kind):
                name = manifest.labels.get(PLACEMENT)
                if name:
                    found[kind, manifest.namespace, name].append(manifest)
        sent = defaultdict[tuple[str, str], list[int]](list)
        for work in _all(listing, WORK):
            index = work.labels.get(WORK_INDEX, "")
            # A Work that is being deleted brings nothing to a member any more.
            if index.isdecimal() and "deletionTimestamp" not in work.metadata:
                sent[work.namespace.removeprefix(_MEMBER), work.labels.get(BINDING, "")].append(
                    int(index)
                )
        return cls(dict(found), dict(sent))

    def all(self, kind: str, placement: Manifest) -> Sequence[Manifest]:
        """Return what is kept of a placement in objects of one kind, by name."""
        return self.by_placement.get((kind, placement.namespace, placement.name), ())


def _all(listing: Listing, kind: str) -> Iterator[Manifest]:
    return (Manifest(data) for data in listing.all(kind, GROUP))


# Objects of a hub in the form in which users write them.


_HEADER = ("apiVersion", "kind", "metadata")


def as_written(data: Object) -> dict[str, Any]:
    """Return a policy or a member without what the hub adds: status, and all metadata but names and
    labels.

    Of annotations those stay that somebody may have written.
    """
    metadata = data["metadata"]
    annotations = {
        key: text
        for key, text in (metadata.get("annotations") or {}).items()
        if key != LAST_APPLIED
    }
    kept = {
        "name": metadata["name"],
        "namespace": metadata.get("namespace"),
        "labels": metadata.get("labels"),
        "annotations": annotations,
    }
    rest = {field: value for field, value in data.items() if field not in (*_HEADER, "status")}
    header = {"apiVersion": data["apiVersion"], "kind": data["kind"]}
    return {**header, "metadata": {field: value for field, value in kept.items() if value}, **rest}


def conditions_of(status: Mapping[str, Any] | None) -> dict[str, Object]:
    """Return the conditions of a status by type."""
    return {condition["type"]: condition for condition in (status or {}).get("conditions") or ()}
