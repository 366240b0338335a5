"""Karmada templates as the scheduler sees them, and estimates of how many replicas the members can take."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from fleet_components.model.typed import Typed


@attrs.frozen
class Template(Typed):
    """An object to be placed, as the scheduler sees it.

    Attributes:
        api_version: ``group/version``, or the version alone for the core group.
        kind: its kind.
        name: its name.
        namespace: its namespace; empty for a cluster-scoped object.
        replicas: the number of replicas; 0 for an object without replicas.
        requests: the requests of one replica, by resource; None if it states no requirements.
    """

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    replicas: int = 0
    requests: Mapping[str, str] | None = None

    @property
    def workload(self) -> bool:
        """True if the object has replicas, or states requirements of a replica.

        Objects that are not workloads go to every selected member.
        """
        return self.replicas > 0 or self.requests is not None

    @property
    def binding(self) -> str:
        """The binding that Karmada makes for the object, as events name it."""
        name = binding_name(self.kind, self.name)
        return f"ResourceBinding({self.namespace}/{name})" if self.namespace else f"ClusterResourceBinding({name})"


def binding_name(kind: str, name: str) -> str:
    """Return the name of the binding that Karmada makes for an object.

    Source: karmada-io/karmada 1.19, pkg/util/names/names.go, GenerateBindingName.
    """
    return f"{name.replace(':', '.')}-{kind}".lower()


@attrs.frozen
class Estimates(Typed):
    """Number of replicas of a template that members can take; declared or recorded, never queried while scheduling.

    Without estimates, Karmada's general estimator reads the members' resource summaries.

    Attributes:
        available: how many more replicas a member can take; -1 or missing if unknown.
        capacity: how many replicas a member can take in total, including those that it already has.
    """

    available: Mapping[str, int] | None = None
    capacity: Mapping[str, int] | None = None
