"""Fleets as they are written, and changes of them as their authors would make them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from fleet_components.model.cluster import Agent, Cluster, Taint
from fleet_components.model.manifest import Manifest
from fleet_components.plan.delivered import delivered
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.flips import MemberFlips, Trials
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import source_of
from fleet_components.scheduler.edit import FieldEdit

Data = dict[str, Any]
KUBEFLEET = {"apiVersion": "cluster.kubernetes-fleet.io/v1", "kind": "MemberCluster"}
KARMADA = {"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster"}
OBJECT = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "app"}}


def member(
    name: str, labels: Mapping[str, str] | None = None, taints: Sequence[Data] = (), **status: Any
) -> Data:
    """A ``MemberCluster``; properties are given by their values."""
    if "properties" in status:
        status["properties"] = {
            key: {"value": value} for key, value in status["properties"].items()
        }
    identity = {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}
    spec = {"identity": identity, "taints": list(taints)}
    return {
        **KUBEFLEET,
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": spec,
        "status": status,
    }


def karmada_member(
    name: str, labels: Mapping[str, str] | None = None, status: Data | None = None, **spec: Any
) -> Data:
    """A Karmada ``Cluster``."""
    return {
        **KARMADA,
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": {"syncMode": "Push", **spec},
        **({} if status is None else {"status": status}),
    }


def placement(**policy: Any) -> list[Data]:
    """A ``ClusterResourcePlacement`` and what it places."""
    spec = {
        "resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": "app"}],
        "policy": policy,
    }
    kind = {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterResourcePlacement",
    }
    return [OBJECT, {**kind, "metadata": {"name": "app"}, "spec": spec}]


def propagation(
    replicas: int, requests: Mapping[str, str] | None = None, **where: Any
) -> list[Data]:
    """A ``PropagationPolicy`` and the Deployment that it places."""
    container: Data = {"name": "web", "image": "web"}
    if requests is not None:
        container["resources"] = {"requests": dict(requests)}
    labels = {"app": "web"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
    spec = {
        "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}],
        "placement": where,
    }
    kind = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy"}
    return [deployment, {**kind, "metadata": {"name": "web", "namespace": "default"}, "spec": spec}]


def planned(
    documents: Sequence[Data], past: Past | None = None, options: Options = Options()
) -> FleetPlan:
    """The plan of a fleet."""
    return plan_fleet(source_of(map(Manifest, documents)), past or Past(), options)


def after(plan: FleetPlan) -> Past:
    """The past once an update has succeeded."""
    return Past.of(delivered(plan, redacted=False), plan.options.fleet)


def chosen(plan: FleetPlan) -> set[str]:
    """The members that are chosen, as an explanation says it."""
    (decided,) = plan.subjects
    return {
        item.cluster for item in decided.subject.explain(decided.outcome).members if item.selected
    }


def flips(plan: FleetPlan, cluster: str) -> MemberFlips:
    """What would change the outcome for a member."""
    (decided,) = plan.subjects
    return Trials(decided).flips(cluster)


def words(plan: FleetPlan, cluster: str) -> list[str]:
    """The same as sentences."""
    found = flips(plan, cluster)
    return [*found.notes, *(flip.words for flip in found.flips)]


def written_with(documents: Sequence[Data], edits: Sequence[FieldEdit]) -> list[Data]:
    """The documents with edits made by hand: by the fields that they name, and nothing else of the package."""
    found = copy.deepcopy(list(documents))
    for edit in edits:
        _write(_owner(found, edit), edit)
    return found


def _owner(documents: Sequence[Data], edit: FieldEdit) -> Data:
    kinds = {
        "member": ("MemberCluster", "Cluster"),
        "policy": ("ClusterResourcePlacement", "ResourcePlacement", "PropagationPolicy"),
        "object": ("Deployment",),
    }[edit.of]
    found = [
        d for d in documents if d["kind"] in kinds and edit.member in ("", d["metadata"]["name"])
    ]
    assert len(found) == 1
    return found[0]


def _write(here: Any, edit: FieldEdit) -> None:
    *path, last = edit.field
    for step in path:
        here = here[step] if isinstance(step, int) else here.setdefault(step, {})
    if edit.operation == "set":
        here[last] = edit.value
    elif edit.operation == "unset":
        del here[last]
    elif edit.operation == "add":
        here[last] = [*(here.get(last) or ()), edit.value]
    else:
        left = [item for item in here[last] if _plain(item) != _plain(edit.value)]
        assert len(left) < len(here[last])
        here[last] = left


def _plain(element: Any) -> Any:
    """An element without what an author may leave out, or a hub adds."""
    if not isinstance(element, dict):
        return element
    return {key: value for key, value in element.items() if value != "" and key != "timeAdded"}


def written(cluster: Cluster) -> Data:
    """The ``MemberCluster`` of a member."""
    found = member(cluster.name, cluster.labels, [_taint(taint) for taint in cluster.taints])
    if cluster.leaving:
        found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    status: Data = {
        "properties": {name: {"value": value} for name, value in cluster.properties.items()},
        "resourceUsage": {"available": dict(cluster.usage.available)},
    }
    if cluster.namespaces is not None:
        status["namespaces"] = dict(cluster.namespaces)
    if cluster.observed:
        collected = (
            [{"type": "NamespaceCollectionSucceeded", "status": "True"}]
            if cluster.namespaces_collected
            else []
        )
        status |= {
            "conditions": collected,
            "agentStatus": [_agent(cluster.agent)] if cluster.agent else [],
        }
    return {**found, "status": status}


def _taint(taint: Taint) -> Data:
    return {"key": taint.key, "value": taint.value, "effect": taint.effect}


def _agent(agent: Agent) -> Data:
    joined = {"type": "Joined", "status": str(agent.joined)}
    since = agent.health_since.isoformat() if agent.health_since else None
    healthy = {"type": "Healthy", "status": str(agent.healthy), "lastTransitionTime": since}
    return {
        "type": "MemberAgent",
        "conditions": [joined, *([healthy] if agent.healthy is not None else [])],
        **({"lastReceivedHeartbeat": agent.heartbeat.isoformat()} if agent.heartbeat else {}),
    }
