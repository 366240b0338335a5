"""A cluster as it stands in Azure, and the setbacks that a request would bring it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.azure.values.kubernetes_version import is_older


@attrs.frozen
class StandingPool:
    """A node pool as it stands.

    Attributes:
        nodes: its number of nodes now.
        version: the Kubernetes version of its nodes; empty if Azure does not say.
    """

    nodes: int | None
    version: str


@attrs.frozen
class StandingCluster:
    """A cluster as it stands.

    Attributes:
        declared: the version as it was last asked for, which may be a minor version alone.
        version: the version that the control plane runs.
        pools: its node pools by name.
    """

    declared: str
    version: str
    pools: Mapping[str, StandingPool]


def cluster_setbacks(request: Mapping[str, Any], standing: StandingCluster) -> Iterator[str]:
    """Yield what a request for a cluster, in wire form, would set back."""
    yield from _version_setback(
        "the control plane", request.get("kubernetesVersion"), standing.version
    )
    for profile in request.get("agentPoolProfiles") or ():
        what = f"node pool {profile['name']}"
        pool = standing.pools.get(profile["name"])
        if pool:
            yield from pool_setbacks(what, profile, pool)
        else:
            yield f"{what} stands no longer, and this update would create it again"


def pool_setbacks(what: str, request: Mapping[str, Any], standing: StandingPool) -> Iterator[str]:
    """Yield what a request for a node pool, in wire form, would set back; a fixed number of nodes
    may be any number.
    """
    yield from _version_setback(what, request.get("orchestratorVersion"), standing.version)
    asked = request.get("count")
    known = isinstance(asked, int | float) and standing.nodes is not None
    if request.get("enableAutoScaling") is True and known and asked != standing.nodes:
        yield (
            f"{what} has {standing.nodes} nodes by autoscaling, and this update would ask for"
            f" {asked:g}"
        )


def _version_setback(what: str, version: Any, standing: str) -> Iterator[str]:
    if isinstance(version, str) and is_older(version, standing):
        yield (
            f"{what} runs Kubernetes {standing}, and this update would ask for {version}, which is"
            " older"
        )
