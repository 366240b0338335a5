"""Bindings: what the control plane has decided for a template, as it is written in the API."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

import attrs

from fleet_components.content.guarded import read_json
from fleet_components.hub.listing import Object
from fleet_components.model.codec import decode
from fleet_components.model.manifest import ObjectKey
from fleet_components.model.wire import read_time
from fleet_components.systems.karmada.hub.marks import APPLIED_PLACEMENT, marks_of, policy_of
from fleet_components.systems.karmada.model.memory import EvictionTask
from fleet_components.systems.karmada.model.policy import GRACEFULLY, Placement, PolicyKey, purge_mode_of

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
        """The policy that it belongs to; None after it was released, and where it only goes along with others."""
        return policy_of(self.data)

    @property
    def clusters(self) -> dict[str, int]:
        """Replicas by member, in the order in which members were chosen."""
        return {cluster["name"]: cluster.get("replicas") or 0 for cluster in self.spec.get("clusters") or ()}

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
        return {item["fromCluster"]: _task(item) for item in self.spec.get("gracefulEvictionTasks") or ()}

    @property
    def required_by(self) -> Mapping[tuple[str, str], Mapping[str, int]]:
        """Replicas by member of each binding that needs the template, by namespace and name of that binding."""
        return {
            (item.get("namespace") or "", item["name"]): {
                member["name"]: member.get("replicas") or 0 for member in item.get("clusters") or ()
            }
            for item in self.spec.get("requiredBy") or ()
        }

    @cached_property
    def reported(self) -> Mapping[str, Mapping[str, Any]]:
        """The report on the copy on each member that has a Work."""
        return {status["clusterName"]: status for status in self.status.get("aggregatedStatus") or ()}

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
            (status for status in self.status.get("conditions") or () if status["type"] == "Scheduled"), None
        )
        return condition is not None and condition["status"] != "True" and condition.get("reason") != NO_FIT


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
