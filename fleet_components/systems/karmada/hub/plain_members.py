"""The status that Karmada's agent would give a cluster: its APIs, and what its nodes have and its
pods take.

Source: ``pkg/controllers/status/cluster_status_controller.go`` and ``pkg/modeling`` of Karmada.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fleet_components.hub.cluster_facts import Amount, ClusterFacts, amounts_at, node_of
from fleet_components.hub.listing import Object
from fleet_components.model.cluster import ResourceModel
from fleet_components.model.manifest import value_at
from fleet_components.model.quantity import parse_quantity
from fleet_components.systems.karmada.hub.pod_requests import Requests
from fleet_components.systems.karmada.model.cluster import read_karmada_cluster
from fleet_components.systems.karmada.model.resource_models import DEFAULT_MODELS, grade_of

API_VERSION, KIND = "cluster.karmada.io/v1alpha1", "Cluster"
_REGION, _ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"
_PODS = "pods"
_NANO = 10**9


def karmada_cluster(name: str, facts: ClusterFacts | None, old: Object | None = None) -> Object:
    """Return the member that a cluster is.

    Args:
        name: its name.
        facts: what it tells of itself; None if it told nothing, and the member is only declared.
        old: the object that a control plane has of it, whose labels, taints, spec and conditions
            stay. Without one, region, zones and provider are those that the nodes name: the agent
            has them from flags.
    """
    if old is None:
        header = {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}}
        place = {} if facts is None else dict(_place(facts))
        member: dict[str, Any] = {**header, "spec": {"syncMode": "Push", **place}}
    else:
        member = dict(old)
    if facts is None:
        return member
    models = read_karmada_cluster(member).resource_models
    grades = DEFAULT_MODELS if models is None else models
    status = {**(member.get("status") or {}), "resourceSummary": summary(facts, grades)}
    status["nodeSummary"] = {
        "totalNum": len(facts.nodes),
        "readyNum": sum(map(_is_ready, facts.nodes)),
    }
    status |= {"kubernetesVersion": facts.version} if facts.version else {}
    status |= {"apiEnablements": enablements(facts)} if facts.kinds else {}
    return {**member, "status": status}


def enablements(facts: ClusterFacts) -> Sequence[Mapping[str, Any]]:
    """Return the kinds that a cluster serves, by API version."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for kind in facts.kinds:
        found[kind.api_version][kind.plural] = kind.kind
    return [
        {
            "groupVersion": version,
            "resources": [{"name": name, "kind": kinds[name]} for name in sorted(kinds)],
        }
        for version, kinds in sorted(found.items())
    ]


def summary(facts: ClusterFacts, models: Sequence[ResourceModel]) -> Mapping[str, Any]:
    """Return the resources of a cluster: what its nodes have for pods, what these take, and its
    free nodes by grade.

    Args:
        facts: what the cluster tells of itself.
        models: the grades of nodes; none are counted without.
    """
    allocating, allocated = Requests(), Requests()
    for pod in facts.pods:
        if not node_of(pod):
            allocating.add_pod(pod)
    for pod in facts.running:
        allocated.add_pod(pod)
    by_grade = _by_grade(facts, models) if models else Counter[int]()
    found = {
        "allocatable": _allocatable(facts),
        "allocating": allocating.texts(),
        "allocated": allocated.texts(),
        "allocatableModelings": [{"grade": model.grade, "count": by_grade[model.grade]} for model in models],
    }
    return {name: value for name, value in found.items() if value}


def _allocatable(facts: ClusterFacts) -> Mapping[str, str]:
    sums: dict[str, Amount] = {}
    alone: dict[str, str] = {}
    for node in facts.nodes:
        for name, text in amounts_at(node, "status", "allocatable").items():
            if name in sums:
                alone.pop(name, None)
            else:
                alone[name] = str(text)  # the quantity of one node is kept as it is written
            sums[name] = sums.get(name, Amount()).plus(str(text))
    return {name: alone.get(name, str(amount)) for name, amount in sorted(sums.items())}


def _by_grade(facts: ClusterFacts, models: Sequence[ResourceModel]) -> Counter[int]:
    """Return the number of nodes by grade; a node below the lowest one is not counted."""
    taken: dict[str, Requests] = defaultdict(Requests)
    for pod in facts.running:
        taken[node_of(pod)].add_pod(pod)
    grades = (grade_of({name: f"{nano}n" for name, nano in free.items()}, models) for free in _free(facts, taken))
    return Counter(grade for grade in grades if grade is not None)


def _free(facts: ClusterFacts, taken: Mapping[str, Requests]) -> Iterator[Mapping[str, int]]:
    """Yield what is free on each node, in units of 1e-9.

    The agent stops at the first node on which no pod fits, and leaves all further ones out, in an
    order that it does not keep; here it is that of their names.
    """
    for node in facts.nodes:
        free = {
            name: parse_quantity(str(text)).nano for name, text in amounts_at(node, "status", "allocatable").items()
        }
        used = taken[node_name].nano() if (node_name := str(node["metadata"]["name"])) in taken else {}
        if used:
            if -(-free.get(_PODS, 0) // _NANO) * _NANO <= used.get(_PODS, 0):
                return
            free = {name: amount - used.get(name, 0) for name, amount in free.items()}
        yield free


def _place(facts: ClusterFacts) -> Iterator[tuple[str, Any]]:
    labels = [amounts_at(node, "metadata", "labels") for node in facts.nodes]
    regions, zones = ({str(label[key]) for label in labels if label.get(key)} for key in (_REGION, _ZONE))
    providers = {str(value_at(node, ("spec", "providerID")) or "").partition(":")[0] for node in facts.nodes} - {""}
    if len(providers) == 1:
        yield "provider", providers.pop()
    if len(regions) == 1:
        yield "region", regions.pop()
    if zones:
        yield "zones", sorted(zones)


def _is_ready(node: Object) -> bool:
    conditions = value_at(node, ("status", "conditions")) or ()
    return any(condition.get("type") == "Ready" and condition.get("status") == "True" for condition in conditions)
