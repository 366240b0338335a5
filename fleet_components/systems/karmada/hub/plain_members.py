"""The status that Karmada's agent would give a cluster: its APIs, and what its nodes have and its
pods take.

Source: ``pkg/controllers/status/cluster_status_controller.go`` and ``pkg/modeling`` of Karmada.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.admission.decode import amount_text
from fleet_components.hub.cluster_facts import Amount, ClusterFacts, amounts_at, node_of
from fleet_components.hub.listing import Object
from fleet_components.model.cluster import ResourceModel
from fleet_components.model.labels import key_errors
from fleet_components.model.manifest import value_at
from fleet_components.model.quantity import parse_quantity
from fleet_components.systems.karmada.model.cluster import (
    DEFAULT_MODELS,
    grade_of,
    read_karmada_cluster,
)

API_VERSION, KIND = "cluster.karmada.io/v1alpha1", "Cluster"
_NANO, _MILLI = 10**9, 10**6
_CPU, _MEMORY, _PODS, _STORAGE = "cpu", "memory", "pods", "ephemeral-storage"
_REGION, _ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"


def karmada_cluster(name: str, facts: ClusterFacts | None, old: Object | None = None) -> Object:
    """Return the member that a cluster is.

    Args:
        name: its name.
        facts: what it reports; None if it does not answer, and the member is only declared.
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
    # None stands for the default grades; an empty list means that no grades are counted.
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
        facts: what the cluster reports.
        models: the grades of nodes; if empty, nodes are not counted by grade.
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
        "allocatableModelings": [
            {"grade": model.grade, "count": by_grade[model.grade]} for model in models
        ],
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
    grades = (
        grade_of({name: f"{nano}n" for name, nano in free.items()}, models)
        for free in _free(facts, taken)
    )
    return Counter(grade for grade in grades if grade is not None)


def _free(facts: ClusterFacts, taken: Mapping[str, Requests]) -> Iterator[Mapping[str, int]]:
    """Yield what is free on each node, in units of 1e-9.

    The agent stops at the first node on which no pod fits, and leaves all further ones out, in an
    order that it does not keep; here it is that of their names.
    """
    for node in facts.nodes:
        free = {
            name: parse_quantity(str(text)).nano
            for name, text in amounts_at(node, "status", "allocatable").items()
        }
        node_name = str(node["metadata"]["name"])
        used = taken[node_name].nano() if node_name in taken else {}
        if used:
            # Rounded up to whole pods, which are the unit of the sum in `used`.
            if -(-free.get(_PODS, 0) // _NANO) * _NANO <= used.get(_PODS, 0):
                return
            free = {name: amount - used.get(name, 0) for name, amount in free.items()}
        yield free


def _place(facts: ClusterFacts) -> Iterator[tuple[str, Any]]:
    labels = [amounts_at(node, "metadata", "labels") for node in facts.nodes]
    regions, zones = (
        {str(label[key]) for label in labels if label.get(key)} for key in (_REGION, _ZONE)
    )
    # A providerID begins with the name of the provider: aws:///eu-west-1a/i-1.
    providers = {
        str(value_at(node, ("spec", "providerID")) or "").partition(":")[0] for node in facts.nodes
    } - {""}
    # These fields have one value, so they are set only if all nodes agree; zones may be many.
    if len(providers) == 1:
        yield "provider", providers.pop()
    if len(regions) == 1:
        yield "region", regions.pop()
    if zones:
        yield "zones", sorted(zones)


def _is_ready(node: Object) -> bool:
    conditions = value_at(node, ("status", "conditions")) or ()
    return any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in conditions
    )


# Requests of pods, added up as Karmada's agent does.
#
# Source: ``pkg/util/resource.go`` and ``pkg/util/lifted/corev1helpers.go`` of Karmada.


_HUGE_PAGES, _VOLUMES, _NATIVE = "hugepages-", "attachable-volumes-", "kubernetes.io/"


@attrs.define
class Requests:
    """A growing sum; CPU in thousandths, all else in whole units, rounded up for each container."""

    _amounts: dict[str, int] = attrs.field(factory=dict)

    def add_pod(self, pod: Object) -> None:
        """Add a pod, and 1 to the number of pods.

        An init container raises the whole sum so far to its own request where that is larger, not
        that of its pod: so does the agent.
        """
        spec = pod.get("spec") or {}
        for container in spec.get("containers") or ():
            self._add(amounts_at(container, "resources", "requests"))
        for container in spec.get("initContainers") or ():
            for name, amount in _counted(amounts_at(container, "resources", "requests")):
                self._amounts[name] = max(self._amounts.get(name, 0), amount)
        self._add(value_at(spec, ("overhead",)) or {})
        self._add({_PODS: "1"})

    def _add(self, requests: Mapping[str, Any]) -> None:
        for name, amount in _counted(requests):
            self._amounts[name] = self._amounts.get(name, 0) + amount

    def texts(self) -> dict[str, str]:
        """Return the sum as quantities by resource, without those of 0."""
        return {
            name: amount_text(amount, _like(name))
            for name, amount in sorted(self.nano().items())
            if amount > 0
        }

    def nano(self) -> dict[str, int]:
        """Return the sum by resource in units of 1e-9."""
        return {
            name: amount * (_MILLI if name == _CPU else _NANO)
            for name, amount in self._amounts.items()
        }


def _counted(requests: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return the requests that count."""
    found = []
    for name, text in requests.items():
        if name in (_CPU, _MEMORY, _PODS, _STORAGE) or _is_scalar(name):
            found.append(
                (
                    name,
                    -(-parse_quantity(str(text)).nano // (_MILLI if name == _CPU else _NANO)),
                )
            )
    return found


def _is_scalar(name: str) -> bool:
    """Return whether a resource is one of those that are counted besides CPU, memory, storage and
    pods.
    """
    # "kubernetes.io/" anywhere in the name makes a resource native, as in Kubernetes.
    native = "/" not in name or _NATIVE in name
    # The name must be valid as that of a quota too.
    extended = (
        not native and not name.startswith("requests.") and not key_errors(f"requests.{name}")
    )
    return extended or _NATIVE in name or name.startswith((_HUGE_PAGES, _VOLUMES))


# A sample of the notation: sums of bytes get binary suffixes.
def _like(name: str) -> str:
    return "1Ki" if name in (_MEMORY, _STORAGE) or name.startswith(_HUGE_PAGES) else "1"
