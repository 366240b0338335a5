"""Bindings and snapshots of placements, found by placement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Self

import attrs

from fleet_components.hub.listing import Listing
from fleet_components.model.manifest import Manifest
from fleet_components.systems.kubefleet.hub.kinds import BINDING, GROUP, KEPT, PLACEMENT, WORK, WORK_INDEX

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
                if name := manifest.labels.get(PLACEMENT):
                    found[kind, manifest.namespace, name].append(manifest)
        sent = defaultdict[tuple[str, str], list[int]](list)
        for work in _all(listing, WORK):
            index = work.labels.get(WORK_INDEX, "")
            if index.isdecimal() and "deletionTimestamp" not in work.metadata:
                sent[work.namespace.removeprefix(_MEMBER), work.labels.get(BINDING, "")].append(int(index))
        return cls(dict(found), dict(sent))

    def all(self, kind: str, placement: Manifest) -> Sequence[Manifest]:
        """Return what is kept of a placement in objects of one kind, by name."""
        return self.by_placement.get((kind, placement.namespace, placement.name), ())


def _all(listing: Listing, kind: str) -> Iterator[Manifest]:
    return (Manifest(data) for data in listing.all(kind, GROUP))
