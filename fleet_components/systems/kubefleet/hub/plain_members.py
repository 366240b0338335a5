"""The status that KubeFleet's member agent would give a cluster: its properties and what of its
resources is left.

Source: the built-in mechanism of
``pkg/controllers/internalmembercluster/v1beta1/member_controller.go`` and, for clusters on Azure,
``pkg/propertyprovider/azure`` of KubeFleet. Prices come from an API of Azure and are not computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from fleet_components.hub.cluster_facts import Amount, ClusterFacts, amounts_at, total
from fleet_components.hub.listing import Object
from fleet_components.model.manifest import value_at

API_VERSION, KIND = "cluster.kubernetes-fleet.io/v1", "MemberCluster"
_NODE_COUNT = "kubernetes-fleet.io/node-count"
_VERSION = "k8s.io/k8s-version"
_SIZE = "kubernetes.azure.com/vm-sizes/{}/count"
_SIZES = _SIZE.partition("{}")[0]
_SIZE_LABEL = "beta.kubernetes.io/instance-type"
_WITHOUT_SIZE = "undefined"
_RESOURCES = ("cpu", "memory")


def member_cluster(name: str, facts: ClusterFacts | None, old: Object | None = None) -> Object:
    """Return the member that a cluster is.

    Args:
        name: its name.
        facts: what it reports; None if it does not answer, and the member is only declared.
        old: the object that a hub has of it, whose labels, taints and agent's status stay.
    """
    identity = {"kind": "ServiceAccount", "name": name, "namespace": "fleet-system"}
    new = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name},
        "spec": {"identity": identity},
    }
    # A copy, since `old` belongs to the listing of the hub.
    member: dict[str, Any] = dict(old or new)
    if facts is None:
        return member
    status = dict(member.get("status") or {})
    known: Mapping[str, Any] = status.get("properties") or {}
    # Earlier counts by size show it too, even if the cluster has no nodes now.
    azure = any(key.startswith(_SIZES) for key in known) or any(map(_is_on_azure, facts.nodes))
    kept = {
        key: value
        for key, value in known.items()
        # Without earlier counts by size: a size that has no nodes any more has to disappear.
        if key != _NODE_COUNT and not key.startswith(_SIZES)
    }
    computed = {key: {"value": text} for key, text in properties(facts, azure=azure).items()}
    status |= {
        "properties": dict(sorted({**kept, **computed}.items())),
        "resourceUsage": usage(facts),
    }
    return {**member, "status": status}


def properties(facts: ClusterFacts, *, azure: bool) -> Mapping[str, str]:
    """Return the properties of a cluster by name.

    Args:
        facts: what it reports.
        azure: True for those of the property provider of Azure, which counts nodes by their size,
            too.
    """
    found = {_NODE_COUNT: str(len(facts.nodes))}
    if not azure:
        return found
    sizes = Counter(
        (amounts_at(node, "metadata", "labels").get(_SIZE_LABEL) or _WITHOUT_SIZE)
        for node in facts.nodes
    )
    version = {_VERSION: facts.version} if facts.version else {}
    return {
        **found,
        **version,
        **{_SIZE.format(size): str(number) for size, number in sorted(sizes.items())},
    }


def usage(facts: ClusterFacts) -> Mapping[str, Mapping[str, str]]:
    """Return the CPU and memory of a cluster: all, what pods may have of it, and what is left of
    that.

    Only what app containers request counts, as KubeFleet counts it. Nothing is left where more is
    requested than there is.
    """
    requested = [
        amounts_at(container, "resources", "requests")
        for pod in facts.running
        for container in value_at(pod, ("spec", "containers")) or ()
    ]
    capacity, allocatable = (
        {
            resource: total((amounts_at(node, "status", what) for node in facts.nodes), resource)
            for resource in _RESOURCES
        }
        for what in ("capacity", "allocatable")
    )
    left = {
        resource: allocatable[resource].minus(total(requested, resource)) for resource in _RESOURCES
    }
    available = {text: amount if amount.nano > 0 else Amount() for text, amount in left.items()}
    shown = {"capacity": capacity, "allocatable": allocatable, "available": available}
    return {
        what: {text: str(amount) for text, amount in amounts.items()}
        for what, amounts in shown.items()
    }


def _is_on_azure(node: Object) -> bool:
    return str(value_at(node, ("spec", "providerID")) or "").startswith("azure:")
