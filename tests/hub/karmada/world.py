"""A small control plane, written by hand: members, policies, templates and their bindings, as its API has them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.delivery.karmada.world import WEB, deployment, member, on, policy, weights
from tests.delivery.recording import Data

__all__ = ["WEB", "deployment", "member", "on", "policy", "weights"]

SERVED = {
    "v1": "ConfigMap Namespace Secret Service",
    "apps/v1": "Deployment",
    "example.com/v1": "Widget",
}
_NAMESPACED = {
    "PropagationPolicy": "propagationpolicy",
    "ClusterPropagationPolicy": "clusterpropagationpolicy",
}


def joined(name: str, **spec: Any) -> dict[str, Any]:
    """A member that the control plane has collected."""
    status = {
        "apiEnablements": [
            {
                "groupVersion": version,
                "resources": [{"name": kind.lower(), "kind": kind} for kind in kinds.split()],
            }
            for version, kinds in SERVED.items()
        ],
        "conditions": [
            {
                "type": "Ready",
                "status": "True",
                "reason": "ClusterReady",
                "lastTransitionTime": "2026-11-23T10:00:00Z",
            }
        ],
        "resourceSummary": {"allocatable": {"cpu": "100", "pods": "100"}},
    }
    return stored({**member(name, **spec), "status": status})


def claimed(data: Data, owner: Data | None) -> dict[str, Any]:
    """A template with the marks of the policy that has claimed it."""
    return _marked(data, {}, _marks(owner)) if owner else stored(data)


def binding(
    template: Data,
    owner: Data | None,
    clusters: Mapping[str, int],
    *,
    placement: Data | None = None,
    reported: Mapping[str, Data] | None = None,
    spec: Data | None = None,
    status: Data | None = None,
) -> dict[str, Any]:
    """The binding of a template.

    Args:
        template: the template.
        owner: the policy that it belongs to; None after a release.
        clusters: replicas by member, in their order.
        placement: its placement, that of the policy by default.
        reported: items of the aggregated status; by default each member has applied it.
        spec: further fields of its spec.
        status: further fields of its status.
    """
    metadata, chosen = template["metadata"], placement
    if chosen is None and owner is not None:
        chosen = owner["spec"].get("placement", {})
    name = f"{metadata['name']}-{template['kind']}".lower()
    marks = _marks(owner)
    annotations = marks | (
        {} if chosen is None else {"policy.karmada.io/applied-placement": json.dumps(chosen)}
    )
    scope = "resourcebinding" if metadata.get("namespace") else "clusterresourcebinding"
    place = {"namespace": metadata["namespace"]} if metadata.get("namespace") else {}
    items = dict.fromkeys(clusters, APPLIED) if reported is None else reported
    resource = {
        "apiVersion": template["apiVersion"],
        "kind": template["kind"],
        "name": metadata["name"],
        **place,
    }
    head = {
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding" if place else "ClusterResourceBinding",
        "metadata": {
            **place,
            "name": name,
            "labels": {f"{scope}.karmada.io/permanent-id": f"id-of-{name}"},
            "annotations": annotations,
        },
    }
    replicas = template.get("spec", {}).get("replicas")
    own = {
        "resource": resource,
        "clusters": [
            {"name": member, **({"replicas": n} if n else {})} for member, n in clusters.items()
        ],
        **({} if chosen is None else {"placement": chosen}),
        **({} if replicas is None else {"replicas": replicas}),
    }
    told = {
        "lastScheduledTime": "2026-11-23T11:00:00Z",
        "aggregatedStatus": [{"clusterName": member, **item} for member, item in items.items()],
    }
    return stored({**head, "spec": {**own, **(spec or {})}, "status": {**told, **(status or {})}})


APPLIED: Data = {"applied": True, "health": "Healthy"}
REFUSED: Data = {"health": "Unknown", "appliedMessage": "the member refuses it"}


def work(member_name: str, bound: Data, manifest: Data) -> dict[str, Any]:
    """The Work of a binding on a member."""
    metadata = {"namespace": f"karmada-es-{member_name}", "name": bound["metadata"]["name"]}
    labels = bound["metadata"]["labels"]
    added = _marked(
        manifest, {"karmada.io/managed": "true"}, {"work.karmada.io/conflict-resolution": "abort"}
    )
    del added["metadata"]["uid"], added["metadata"]["managedFields"]
    head = {
        "apiVersion": "work.karmada.io/v1alpha1",
        "kind": "Work",
        "metadata": {**metadata, "labels": labels},
    }
    return stored({**head, "spec": {"workload": {"manifests": [added]}}})


def stored(data: Data) -> dict[str, Any]:
    """The object with what an API server adds."""
    added = {
        "uid": f"uid-of-{data['metadata']['name']}",
        "resourceVersion": "7",
        "generation": 1,
        "creationTimestamp": "2026-11-23T10:00:00Z",
        "managedFields": [
            {"manager": "user", "operation": "Apply", "time": "2026-11-23T10:00:00Z"}
        ],
    }
    return json.loads(json.dumps({**data, "metadata": {**added, **data["metadata"]}}))  # type: ignore[no-any-return]


def _marked(data: Data, labels: Data, annotations: Data) -> dict[str, Any]:
    found = stored(data)
    metadata = found["metadata"]
    metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
    metadata["annotations"] = {**(metadata.get("annotations") or {}), **annotations}
    return found


def _marks(owner: Data | None) -> dict[str, str]:
    """The annotations that name a policy."""
    if owner is None:
        return {}
    kind, metadata = _NAMESPACED[owner["kind"]], owner["metadata"]
    place = (
        {f"{kind}.karmada.io/namespace": metadata["namespace"]} if "namespace" in metadata else {}
    )
    return {f"{kind}.karmada.io/name": metadata["name"], **place}


def fleet(*names: str) -> Sequence[dict[str, Any]]:
    """Members of these names."""
    return [joined(name) for name in names]
