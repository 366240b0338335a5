"""Labels and annotations with which Karmada marks objects, and objects without them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet_components.content.strip import as_sent
from fleet_components.hub.listing import Object
from fleet_components.model.manifest import Manifest
from fleet_components.systems.karmada.content.prune import JOB_LABELS, without_address
from fleet_components.systems.karmada.model.policy import CLUSTER_PROPAGATION, PROPAGATION, PolicyKey

APPLIED_PLACEMENT = "policy.karmada.io/applied-placement"
"""Annotation of a binding: the placement that the scheduler has applied last, as JSON."""
MEMBER_NAMESPACE = "karmada-es-"
"""Prefix of the namespace in which the Works of a member are."""
_POLICY_NAMESPACE = "propagationpolicy.karmada.io/namespace"
_POLICY_NAME = "propagationpolicy.karmada.io/name"
_CLUSTER_POLICY_NAME = "clusterpropagationpolicy.karmada.io/name"
_PERMANENT_ID = "/permanent-id"
BINDING_MARKS = ("resourcebinding.karmada.io/permanent-id", "clusterresourcebinding.karmada.io/permanent-id")
"""Labels of what comes of the bindings of templates in namespaces, and of those of all others."""
_ANNOTATIONS = frozenset(
    {
        _POLICY_NAMESPACE,
        _POLICY_NAME,
        _CLUSTER_POLICY_NAME,
        "resourcebinding.karmada.io/name",
        "resourcebinding.karmada.io/namespace",
        "clusterresourcebinding.karmada.io/name",
        "work.karmada.io/name",
        "work.karmada.io/namespace",
        "resourcetemplate.karmada.io/generation",
        "resourcetemplate.karmada.io/uid",
        "resourcetemplate.karmada.io/managed-labels",
        "resourcetemplate.karmada.io/managed-annotations",
    }
)
_LABELS = frozenset({"karmada.io/managed"})
_FINALIZER = "karmada.io/"
_KEPT = ("name", "namespace", "labels", "annotations", "finalizers")


def policy_of(data: Object) -> PolicyKey | None:
    """Return the policy that has claimed a template or that a binding belongs to; None if none is written on it."""
    marks = data["metadata"].get("annotations") or {}
    if name := marks.get(_POLICY_NAME):
        return PolicyKey(PROPAGATION, marks.get(_POLICY_NAMESPACE) or data["metadata"].get("namespace") or "", name)
    if name := marks.get(_CLUSTER_POLICY_NAME):
        return PolicyKey(CLUSTER_PROPAGATION, "", name)
    return None


def as_written(data: Object) -> dict[str, Any]:
    """Return an object as its user has written it: without status, and without what API server and Karmada add."""
    stripped = _without_own_selector(without_address(as_sent(Manifest(data))))
    given = stripped["metadata"]
    labels = {key: value for key, value in (given.get("labels") or {}).items() if not _is_mark(key)}
    annotations = {key: value for key, value in (given.get("annotations") or {}).items() if key not in _ANNOTATIONS}
    finalizers = [item for item in given.get("finalizers") or () if not item.startswith(_FINALIZER)]
    parts = {**given, "labels": labels, "annotations": annotations, "finalizers": finalizers}
    metadata = {key: parts[key] for key in _KEPT if parts.get(key)}
    head = {"apiVersion": stripped["apiVersion"], "kind": stripped["kind"], "metadata": metadata}
    return {**head, **{key: value for key, value in stripped.items() if key not in head}}


def marks_of(data: Object) -> list[str]:
    """Return the labels, as ``key=value``, by which a binding and its Works are found."""
    labels = data["metadata"].get("labels") or {}
    return sorted(f"{key}={value}" for key, value in labels.items() if key in BINDING_MARKS)


def is_leaving(data: Object) -> bool:
    """Return whether an object is being deleted."""
    return data["metadata"].get("deletionTimestamp") is not None


def _without_own_selector(data: Object) -> Object:
    """Return an object; a Job without the selector and the labels that the API server has made for it."""
    spec = data.get("spec") or {}
    if (data["apiVersion"], data["kind"]) != ("batch/v1", "Job") or spec.get("manualSelector"):
        return data
    template = spec.get("template") or {}
    metadata = template.get("metadata") or {}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key not in JOB_LABELS}
    pod = {
        **{key: value for key, value in metadata.items() if key != "labels"},
        **({"labels": labels} if labels else {}),
    }
    kept = {key: value for key, value in spec.items() if key != "selector"}
    return {**data, "spec": {**kept, "template": {**template, "metadata": pod}}}


def _is_mark(label: str) -> bool:
    return label in _LABELS or label.endswith(_PERMANENT_ID)


def plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a map without what is absent or empty."""
    return {key: item for key, item in value.items() if item not in (None, "", [], {})}
