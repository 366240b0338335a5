"""Turns one case of KubeFleet's override vectors into inputs, and what came out into the form of the vector."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fleet_components.content.overridden import Overridden
from fleet_components.model.manifest import Manifest
from fleet_components.systems.kubefleet.content.override import (
    OverrideInForce,
    apply_overrides,
    in_force,
    targets_of,
)
from fleet_components.systems.kubefleet.model.member_cluster import read_member_cluster
from fleet_components.systems.kubefleet.model.override import (
    CLUSTER_OVERRIDE,
    OVERRIDE,
    ResourceOverride,
)
from fleet_components.systems.kubefleet.model.release import RELEASES, Rule

Case = Mapping[str, Any]


def run(case: Case) -> Iterator[tuple[Any, Any]]:
    """The overrides that apply, and what they make of each object."""
    yield case["expected"], outcome(case)


def outcome(case: Case) -> dict[str, Any]:
    """What came out, in the form of the vector."""
    overrides = [*_read(case, CLUSTER_OVERRIDE), *_read(case, OVERRIDE)]
    cluster, objects = read_member_cluster(case["cluster"]), case["resources"]
    applicable = in_force(objects, cluster, overrides, case["placement"])
    done = apply_overrides(objects, applicable, cluster.name)
    names = {
        kind: [_named(item) for item in applicable if item.kind == kind]
        for kind in (CLUSTER_OVERRIDE, OVERRIDE)
    }
    selected = {target for data in objects for target in targets_of(Manifest(data))}
    concerning = [
        override
        for override in overrides
        if override.is_for(case["placement"]) and selected.intersection(override.targets)
    ]
    # Where no override concerns the placement, whatever the member, the real lists are nil instead of empty.
    absent: list[str] | None = [] if concerning else None
    return {
        "applicableClusterResourceOverrides": names[CLUSTER_OVERRIDE] or absent,
        "applicableResourceOverrides": names[OVERRIDE] or absent,
        "resources": [
            _resource(data, item, case["release"]) for data, item in zip(objects, done, strict=True)
        ],
    }


def _read(case: Case, kind: str) -> list[ResourceOverride]:
    given = case["clusterResourceOverrides" if kind == CLUSTER_OVERRIDE else "resourceOverrides"]
    return [ResourceOverride.from_manifest(Manifest({"kind": kind, **data})) for data in given]


def _named(override: OverrideInForce) -> Any:
    snapshot = f"{override.name}-0"
    return {"name": snapshot, "namespace": override.namespace} if override.namespace else snapshot


def _resource(data: Mapping[str, Any], done: Overridden, release: str) -> dict[str, Any]:
    if done.problem is None:
        return {"deleted": True} if done.data is None else {"deleted": False, "object": done.data}
    kind, _, name = done.problem.subject.partition(" ")
    manifest = Manifest(data)
    place = f' in namespace "{manifest.namespace}"' if manifest.namespace else ""
    target = f'{manifest.kind} "{manifest.name}"{place}'
    named = f'{kind}Snapshot "{name.rpartition("/")[2]}-0" failed to apply on {target}: '
    failed = f"{named if RELEASES[release].has(Rule.OVERRIDE_FAILURES_NAMED) else ''}{done.logged}"
    return {
        "deleted": False,
        "error": f"failed to process the request due to a client error: {failed}",
    }
