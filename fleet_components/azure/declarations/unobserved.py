"""Finds what policies ask for that no declaration tells: free capacity, and sizes that could be had."""

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
    """A problem for each property of a policy that some declared members lack for want of an observation.

    Observed members report what they have; of declared ones, ``available-*`` and ``vm-sizes/*/capacity`` are known only
    where they were declared as observed. A policy takes a member without the property for one that does not fit.
    """
    declared = [cluster for cluster in clusters if not cluster.observed]
    for path, name in _property_names(policy.data):
        lacking = [cluster.name for cluster in declared if not _has(cluster, name)]
        if lacking:
            named = ", ".join(lacking[:_MOST_NAMED]) + (" and others" if len(lacking) > _MOST_NAMED else "")
            hint = "declare it under observed, or leave it out of the policy"
            yield policy.problem(f'nobody has observed "{name}" of {named}', path, hint)


def _property_names(data: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, str]]:
    """The properties that a policy selects or sorts by and that must be observed, with the path of their name."""
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
