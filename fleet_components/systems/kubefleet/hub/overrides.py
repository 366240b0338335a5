"""Override rules that are in force on members, from the snapshots that bindings list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from fleet_components.content.revision import canonical
from fleet_components.content.secret import redacted_content
from fleet_components.hub.listing import Listing
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.plan.record import Objects
from fleet_components.systems.kubefleet.hub.kinds import GROUP, OVERRIDE, OVERRIDES
from fleet_components.systems.kubefleet.model.override import ResourceOverride
from fleet_components.systems.kubefleet.plan.overrides import PlacementOverrides

Snapshots = Mapping[tuple[str, str, str], ResourceOverride]
"""Overrides as they were, by kind, namespace and name of their snapshots."""
_KIND = {snapshot: kind for kind, snapshot in OVERRIDES.items()}


def override_snapshots(listing: Listing) -> Snapshots:
    """Return the overrides that a hub has kept."""
    found = {}
    for kind, name in _KIND.items():
        for snapshot in (Manifest(data) for data in listing.all(kind, GROUP)):
            metadata = {"name": snapshot.labels.get(OVERRIDE, snapshot.name), "namespace": snapshot.namespace}
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

    def number(self, listed: Iterable[tuple[str, str, str]], objects: Objects, member: Cluster) -> int | None:
        """Return the number of the rules that snapshots make for a member; None if there are none.

        Args:
            listed: kind, namespace and name of the snapshots.
            objects: the objects that they apply to.
            member: the member.
        """
        names = tuple(listed)
        self.absent |= {ObjectKey(GROUP, *name) for name in names if name not in self.snapshots}
        overrides = tuple(self.snapshots[name] for name in names if name in self.snapshots)
        # Also those that differ in what goes into a Secret have one number, since nobody is to see a difference.
        rules = redacted_content(
            PlacementOverrides(self.placement, overrides, opens=self.opens).in_force(objects, member)
        )
        if not rules:
            return None
        number = self._numbers.setdefault(canonical(rules), len(self._numbers))
        self.rules[number] = rules
        return number
