"""Finds what policies ask for and declarations do not say.

It is free capacity, VM sizes that could be created, and the subscription of a member.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FieldPath, Problem

_AVAILABLE = "resources.kubernetes-fleet.io/available-"
_CAPACITY = re.compile("kubernetes\\.azure\\.com/vm-sizes/[^/]+/capacity")
_SUBSCRIPTION, _OF_AZURE = "fleet.azure.com/subscription-id", "fleet.azure.com/cluster-name"
_MOST_NAMED = 3


def unobserved(policy: Manifest, clusters: Iterable[Cluster]) -> Iterator[Problem]:
    """Yield a problem for each property of a policy that some declared members lack because it was not observed, and
    for each place that asks for the subscription of members whose declaration does not name it.

    Observed members report all properties. Declared members have ``available-*`` and ``vm-sizes/*/capacity`` only if
    these are declared as observed. A policy treats a member without the property, or the label, as one that does not
    match.
    """
    declared = [cluster for cluster in clusters if not cluster.observed]
    unknown = [item.name for item in declared if _OF_AZURE in item.labels and _SUBSCRIPTION not in item.labels]
    for path in _asking_for_subscriptions(policy) if unknown else ():
        hint = "declare its subscription, or leave the label out of the policy"
        yield policy.problem(f'no declaration says "{_SUBSCRIPTION}" of {_few(unknown)}', path, hint)
    for path, name in _property_names(policy):
        lacking = [cluster.name for cluster in declared if not _has(cluster, name)]
        if lacking:
            hint = "declare it under observed, or leave it out of the policy"
            yield policy.problem(f'nobody has observed "{name}" of {_few(lacking)}', path, hint)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (" and others" if len(names) > _MOST_NAMED else "")


def _asking_for_subscriptions(policy: Manifest) -> Iterator[FieldPath]:
    """Yield the fields of a policy that name the label of the subscription, as variables in overrides may."""
    for path, value in _values(policy.data.get("spec"), ("spec",)):
        if path[-1] == _SUBSCRIPTION or (isinstance(value, str) and _SUBSCRIPTION in value):
            yield path


def _property_names(policy: Manifest) -> Iterator[tuple[FieldPath, str]]:
    """Yield the properties that a policy selects or sorts by and that must be observed, with the path of each name."""
    for path, value in _values(policy.data, ()):
        name = value.get("name") if isinstance(value, Mapping) else None
        if isinstance(name, str) and (name.startswith(_AVAILABLE) or _CAPACITY.fullmatch(name)):
            yield (*path, "name"), name


def _values(data: Any, path: FieldPath) -> Iterator[tuple[FieldPath, Any]]:
    """Yield a value and all below it, each with its path."""
    yield path, data
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from _values(value, (*path, key))
    elif isinstance(data, list):
        for position, item in enumerate(data):
            yield from _values(item, (*path, position))


def _has(cluster: Cluster, name: str) -> bool:
    if name.startswith(_AVAILABLE):
        return name.removeprefix(_AVAILABLE) in cluster.usage.available
    return name in cluster.properties
