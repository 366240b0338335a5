"""Finds properties in policies that declarations cannot provide: free capacity, and VM sizes that could be created."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FieldPath, Problem

_AVAILABLE = "resources.kubernetes-fleet.io/available-"
_CAPACITY = re.compile("kubernetes\\.azure\\.com/vm-sizes/[^/]+/capacity")
_MOST_NAMED = 3


def unobserved(policy: Manifest, clusters: Iterable[Cluster]) -> Iterator[Problem]:
    """Yield a problem for each property of a policy that some declared members lack because it was not observed.

    Observed members report all properties. Declared members have ``available-*`` and ``vm-sizes/*/capacity`` only if
    these are declared as observed. A policy treats a member without the property as one that does not match.
    """
    declared = [cluster for cluster in clusters if not cluster.observed]
    for path, name in _property_names(policy.data):
        lacking = [cluster.name for cluster in declared if not _has(cluster, name)]
        if lacking:
            named = ", ".join(lacking[:_MOST_NAMED]) + (" and others" if len(lacking) > _MOST_NAMED else "")
            hint = "declare it under observed, or leave it out of the policy"
            yield policy.problem(f'nobody has observed "{name}" of {named}', path, hint)


def _property_names(data: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, str]]:
    """Yield the properties that a policy selects or sorts by and that must be observed, with the path of each name."""
    if isinstance(data, Mapping):
        name = data.get("name")
        if isinstance(name, str) and (name.startswith(_AVAILABLE) or _CAPACITY.fullmatch(name)):
            yield (*path, "name"), name
        for key, value in data.items():
            yield from _property_names(value, (*path, key))
    elif isinstance(data, list):
        for position, item in enumerate(data):
            yield from _property_names(item, (*path, position))


def _has(cluster: Cluster, name: str) -> bool:
    if name.startswith(_AVAILABLE):
        return name.removeprefix(_AVAILABLE) in cluster.usage.available
    return name in cluster.properties
