"""Bindings: what the control plane has decided for a template, as it is written in the API."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

import attrs

from fleet_components.content.guarded import read_json
from fleet_components.content.strip import as_sent
from fleet_components.hub.listing import Object
from fleet_components.model.cluster import read_time
from fleet_components.model.codec import decode
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.systems.karmada.content.prune import JOB_LABELS, without_address
from fleet_components.systems.karmada.model.memory import EvictionTask
from fleet_components.systems.karmada.model.policy import (
    CLUSTER_PROPAGATION,
    GRACEFULLY,
    PROPAGATION,
    Placement,
    PolicyKey,
    purge_mode_of,
)

NO_FIT = "NoClusterFit"


@attrs.frozen(slots=False)
class Binding:
    """A ``ResourceBinding`` or ``ClusterResourceBinding``.

    Attributes:
        data: the object.
    """

    data: Object = attrs.field(repr=False)

    @cached_property
    def spec(self) -> Mapping[str, Any]:
        """Its spec."""
        return self.data.get("spec") or {}

    @cached_property
    def status(self) -> Mapping[str, Any]:
        """Its status; empty if it has none yet."""
        return self.data.get("status") or {}

    @property
    def name(self) -> tuple[str, str]:
        """Its namespace and name."""
        metadata = self.data["metadata"]
        return metadata.get("namespace") or "", metadata["name"]

    @property
    def mark(self) -> str:
        """The label by which its Works are found, as ``key=value``; empty if it has none yet."""
        # A binding has one of the two labels: one is for namespaced templates, one for all others.
        return next(iter(marks_of(self.data)), "")

    @property
    def api_version(self) -> str:
        """The apiVersion of the template."""
        return str(self.spec["resource"]["apiVersion"])

    @property
    def template(self) -> ObjectKey:
        """The template's key."""
        named = self.spec["resource"]
        group = self.api_version.rpartition("/")[0]
        return ObjectKey(group, named["kind"], named.get("namespace") or "", named["name"])

    @property
    def policy(self) -> PolicyKey | None:
        """The policy that it belongs to; None after it was released, and where it only goes along
        with others.
        """
        return policy_of(self.data)

    @property
    def clusters(self) -> dict[str, int]:
        """Replicas by member, in the order in which members were chosen."""
        return {
            cluster["name"]: cluster.get("replicas") or 0
            for cluster in self.spec.get("clusters") or ()
        }

    @property
    def applied(self) -> Placement | None:
        """The placement that was applied last; None before the first one.

        Raises:
            UnreadableError: the annotation is not JSON.
            MisfitError: it is not a placement.
        """
        text = (self.data["metadata"].get("annotations") or {}).get(APPLIED_PLACEMENT)
        placement: Placement | None = decode(Placement, read_json(text)) if text else None
        return placement

    @property
    def tasks(self) -> dict[str, EvictionTask]:
        """Eviction tasks by the member that the template leaves."""
        return {
            item["fromCluster"]: _task(item)
            for item in self.spec.get("gracefulEvictionTasks") or ()
        }

    @property
    def required_by(self) -> Mapping[tuple[str, str], Mapping[str, int]]:
        """Replicas by member of each binding that needs the template, by namespace and name of that
        binding.
        """
        return {
            (item.get("namespace") or "", item["name"]): {
                member["name"]: member.get("replicas") or 0 for member in item.get("clusters") or ()
            }
            for item in self.spec.get("requiredBy") or ()
        }

    @cached_property
    def reported(self) -> Mapping[str, Mapping[str, Any]]:
        """The report on the copy on each member that has a Work."""
        return {
            status["clusterName"]: status for status in self.status.get("aggregatedStatus") or ()
        }

    @property
    def scheduled(self) -> datetime | None:
        """When scheduling has succeeded last; None for never."""
        return read_time(self.status.get("lastScheduledTime"))

    @property
    def triggered(self) -> datetime | None:
        """When a rebalance was asked for last; None for never."""
        return read_time(self.spec.get("rescheduleTriggeredAt"))

    @property
    def failing(self) -> bool:
        """True if the last scheduling has failed so that it is tried again."""
        condition = next(
            (
                status
                for status in self.status.get("conditions") or ()
                if status["type"] == "Scheduled"
            ),
            None,
        )
        return (
            condition is not None
            and condition["status"] != "True"
            # After NoClusterFit the scheduler waits for a change instead.
            and condition.get("reason") != NO_FIT
        )


def _task(data: Mapping[str, Any]) -> EvictionTask:
    return EvictionTask(
        purge_mode=purge_mode_of(data.get("purgeMode") or GRACEFULLY),
        replicas=data.get("replicas"),
        reason=data.get("reason") or "",
        producer=data.get("producer") or "",
        message=data.get("message") or "",
        grace_period_seconds=data.get("gracePeriodSeconds"),
        suppress_deletion=data.get("suppressDeletion"),
        created=data.get("creationTimestamp") or "",
    )


# Labels and annotations with which Karmada marks objects, and objects without them.


APPLIED_PLACEMENT = "policy.karmada.io/applied-placement"
"""Annotation of a binding: the placement that the scheduler has applied last, as JSON."""
MEMBER_NAMESPACE = "karmada-es-"
"""Prefix of the namespace in which the Works of a member are."""
_POLICY_NAMESPACE = "propagationpolicy.karmada.io/namespace"
_POLICY_NAME = "propagationpolicy.karmada.io/name"
_CLUSTER_POLICY_NAME = "clusterpropagationpolicy.karmada.io/name"
_PERMANENT_ID = "/permanent-id"
BINDING_MARKS = (
    "resourcebinding.karmada.io/permanent-id",
    "clusterresourcebinding.karmada.io/permanent-id",
)
"""Labels of all that is made from the bindings of namespaced templates, and of all others."""
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
    """Return the policy that has claimed a template or that a binding belongs to; None if none is
    written on it.
    """
    marks = data["metadata"].get("annotations") or {}
    name = marks.get(_POLICY_NAME)
    if name:
        return PolicyKey(
            PROPAGATION,
            # A PropagationPolicy claims in its own namespace only, so a missing annotation is no
            # loss.
            marks.get(_POLICY_NAMESPACE) or data["metadata"].get("namespace") or "",
            name,
        )
    name = marks.get(_CLUSTER_POLICY_NAME)
    if name:
        return PolicyKey(CLUSTER_PROPAGATION, "", name)
    return None


def as_written(data: Object) -> dict[str, Any]:
    """Return an object as its user has written it: without status, and without what API server and
    Karmada add.
    """
    stripped = _without_own_selector(without_address(as_sent(Manifest(data))))
    given = stripped["metadata"]
    labels = {key: value for key, value in (given.get("labels") or {}).items() if not _is_mark(key)}
    annotations = {
        key: value
        for key, value in (given.get("annotations") or {}).items()
        if key not in _ANNOTATIONS
    }
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
    """Return an object; a Job without the selector and the labels that the API server has made for
    it.
    """
    spec = data.get("spec") or {}
    # With manualSelector the user has written the selector, and the API server makes none.
    if (data["apiVersion"], data["kind"]) != ("batch/v1", "Job") or spec.get("manualSelector"):
        return data
    template = spec.get("template") or {}
    metadata = template.get("metadata") or {}
    labels = {
        key: value for key, value in (metadata.get("labels") or {}).items() if key not in JOB_LABELS
    }
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
