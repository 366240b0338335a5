"""Contents and policies of a placement, as a hub has kept them in snapshots."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

import attrs

from fleet_components.content.order import in_snapshot_order
from fleet_components.content.revision import canonical
from fleet_components.content.secret import redacted_content
from fleet_components.content.strip import strip
from fleet_components.hub.listing import Listing
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import decode
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.plan.record import Objects
from fleet_components.systems.kubefleet.hub.kinds import (
    COUNT,
    GROUP,
    INDEX,
    OVERRIDE,
    OVERRIDES,
    PART,
    PLACEMENTS,
    POLICY_INDEX,
    Kept,
    conditions_of,
)
from fleet_components.systems.kubefleet.model.override import ResourceOverride
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy
from fleet_components.systems.kubefleet.plan.overrides import PlacementOverrides

_SNAPSHOT = re.compile(r"-(\d+)-snapshot$")
_POLICY = re.compile(r"-(\d+)$")


@attrs.frozen
class Contents:
    """Contents of the revisions of a placement that a hub has kept.

    Attributes:
        revisions: the objects of each revision, all parts together, without the data of Secrets.
    """

    revisions: Mapping[int, Objects]

    @classmethod
    def of(cls, kept: Kept, placement: Manifest) -> Self:
        """Read the resource snapshots of a placement."""
        found = defaultdict[int, list[tuple[int, Mapping[str, Any]]]](list)
        for snapshot in kept.all(PLACEMENTS[placement.kind].content, placement):
            annotations = snapshot.metadata.get("annotations") or {}
            part = int(annotations.get(PART, -1))  # the first part is not numbered
            objects = (snapshot.data.get("spec") or {}).get("selectedResources") or ()
            found[int(snapshot.labels[INDEX])] += ((part, data) for data in objects)
        return cls(
            {index: _content([data for _, data in parts]) for index, parts in sorted(found.items())}
        )

    @property
    def last(self) -> int:
        """Number of the newest revision; -1 if there is none."""
        return max(self.revisions, default=-1)

    @property
    def newest(self) -> Objects:
        """The objects of the newest revision."""
        return self.revisions.get(self.last, ())


def _content(objects: list[Mapping[str, Any]]) -> Objects:
    """Return objects in the form and order in which a placement's selection has them."""
    manifests = (strip(manifest) for manifest in in_snapshot_order(map(Manifest, objects)))
    return redacted_content(manifest.data for manifest in manifests)


@attrs.frozen
class PolicySnapshots:
    """Policies of a placement that a hub has kept.

    Attributes:
        last: index of the newest; -1 if there is none.
        newest: the newest; None if the placement has no policy.
        scheduled: True if the scheduler has decided by it, whether all was found or not.
    """

    last: int
    newest: PlacementPolicy | None
    scheduled: bool = False

    @classmethod
    def of(cls, kept: Kept, placement: Manifest) -> Self:
        """Read the policy snapshots of a placement."""
        snapshots = kept.all(PLACEMENTS[placement.kind].policy, placement)
        by_index = {int(snapshot.labels[POLICY_INDEX]): snapshot for snapshot in snapshots}
        last = max(by_index, default=-1)
        if last < 0:
            return cls(last, None)
        snapshot = by_index[last]
        policy, status = (
            (snapshot.data.get("spec") or {}).get("policy"),
            snapshot.data.get("status"),
        )
        # A condition of an older generation does not count: it is about another form of the policy.
        decided = conditions_of(status).get("Scheduled", {})
        scheduled = decided.get("observedGeneration", 0) == snapshot.metadata.get("generation")
        if policy is None:
            return cls(last, None, scheduled)
        count = (snapshot.metadata.get("annotations") or {}).get(COUNT)
        # A change of the number alone is written beside the policy.
        number = {"numberOfClusters": int(count)} if count is not None else {}
        return cls(last, decode(PlacementPolicy, {**policy, **number}), scheduled)


def index_of_content(name: str) -> int | None:
    """Return the index in the name of a resource snapshot; None if it has none, as before the first
    one is sent.
    """
    found = _SNAPSHOT.search(name)
    return int(found[1]) if found else None


def index_of_policy(name: str) -> int:
    """Return the index in the name of a policy snapshot; -1 if it has none."""
    found = _POLICY.search(name)
    return int(found[1]) if found else -1


# Override rules that are in force on members, from the snapshots that bindings list.


Snapshots = Mapping[tuple[str, str, str], ResourceOverride]
"""Overrides as they were, by kind, namespace and name of their snapshots."""
_KIND = {snapshot: kind for kind, snapshot in OVERRIDES.items()}


def override_snapshots(listing: Listing) -> Snapshots:
    """Return the overrides that a hub has kept."""
    found = {}
    for kind, name in _KIND.items():
        for snapshot in (Manifest(data) for data in listing.all(kind, GROUP)):
            metadata = {
                "name": snapshot.labels.get(OVERRIDE, snapshot.name),
                "namespace": snapshot.namespace,
            }
            data = {"apiVersion": snapshot.api_version, "kind": name, "metadata": metadata}
            spec = (snapshot.data.get("spec") or {}).get("overrideSpec") or {}
            read = ResourceOverride.from_manifest(Manifest({**data, "spec": spec}))
            found[kind, snapshot.namespace, snapshot.name] = read
    return found


def listed_overrides(data: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield kind, namespace and name of the override snapshots that a binding or a run lists."""
    for name in data.get("clusterResourceOverrideSnapshots") or ():
        yield "ClusterResourceOverrideSnapshot", "", name
    for item in data.get("resourceOverrideSnapshots") or ():
        yield "ResourceOverrideSnapshot", item["namespace"], item["name"]


@attrs.define
class Numbering:
    """Numbers of the override rules of one placement.

    Attributes:
        placement: the placement, as ``name`` or ``namespace/name``.
        snapshots: the overrides that the hub has kept.
        rules: the rules of each number, without what goes into Secrets.
        absent: snapshots that bindings list and that are gone.
        opens: True if overrides change what is in envelopes, False if they change envelopes.
    """

    placement: str
    snapshots: Snapshots
    rules: dict[int, Objects] = attrs.field(factory=dict)
    absent: set[ObjectKey] = attrs.field(factory=set)
    opens: bool = attrs.field(default=False, kw_only=True)
    _numbers: dict[str, int] = attrs.field(factory=dict)

    def number(
        self, listed: Iterable[tuple[str, str, str]], objects: Objects, member: Cluster
    ) -> int | None:
        """Return the number of the rules that snapshots make for a member; None if there are none.

        Args:
            listed: kind, namespace and name of the snapshots.
            objects: the objects that they apply to.
            member: the member.
        """
        names = tuple(listed)
        self.absent |= {ObjectKey(GROUP, *name) for name in names if name not in self.snapshots}
        overrides = tuple(self.snapshots[name] for name in names if name in self.snapshots)
        # Also those that differ in what goes into a Secret have one number, since nobody is to see
        # a difference.
        rules = redacted_content(
            PlacementOverrides(self.placement, overrides, opens=self.opens).in_force(
                objects, member
            )
        )
        if not rules:
            return None
        # Numbers count up in the order in which rules are first seen.
        number = self._numbers.setdefault(canonical(rules), len(self._numbers))
        self.rules[number] = rules
        return number
