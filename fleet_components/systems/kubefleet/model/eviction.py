"""Evictions and disruption budgets of KubeFleet, and what came of an eviction.

Source: ``ClusterResourcePlacementEviction`` and ``ClusterResourcePlacementDisruptionBudget`` of
``placement.kubernetes-fleet.io`` v1beta1 and v1alpha1; there is no v1 of them.
"""

from __future__ import annotations

import attrs

from fleet_components.model.codec import choice_of, decode
from fleet_components.model.decision import Condition
from fleet_components.model.manifest import Manifest

EVICTION, BUDGET = "ClusterResourcePlacementEviction", "ClusterResourcePlacementDisruptionBudget"
INVALID, BLOCKED, EXECUTED = "Invalid", "NotExecuted", "Executed"


@attrs.frozen
class Eviction:
    """The wish that a placement leaves a cluster, once.

    Attributes:
        name: ``metadata.name``, under which it is remembered.
        placement: name of the ClusterResourcePlacement.
        cluster: name of the cluster.
    """

    name: str
    placement: str
    cluster: str

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> Eviction:
        """Read an eviction that has passed admission."""
        spec = manifest.data["spec"]
        return cls(manifest.name, spec["placementName"], spec["clusterName"])


@attrs.frozen
class DisruptionBudget:
    """Limit on the clusters of a placement that evictions take; one without fields lets no eviction
    through.

    Attributes:
        max_unavailable: how many may be unavailable.
        min_available: how many have to be available.
    """

    max_unavailable: int | str | None = None
    min_available: int | str | None = None

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> DisruptionBudget:
        """Read a budget that has passed admission."""
        return decode(cls, manifest.data["spec"])

    def __str__(self) -> str:
        if self.max_unavailable is not None:
            return f"maxUnavailable: {self.max_unavailable}"
        return (
            "neither field" if self.min_available is None else f"minAvailable: {self.min_available}"
        )


@attrs.frozen
class Handled:
    """An eviction that was checked: it is over, whatever came of it.

    Attributes:
        cluster: the cluster that it names.
        result: ``Executed``, ``NotExecuted`` if it was blocked, or ``Invalid``.
        message: the text of the condition that ended it.
    """

    cluster: str
    result: str = attrs.field(metadata=choice_of(INVALID, BLOCKED, EXECUTED))
    message: str

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that a hub writes."""
        if self.result == INVALID:
            return (Condition("Valid", "False", f"{EVICTION}Invalid", self.message),)
        executed = "True" if self.result == EXECUTED else "False"
        return (
            Condition("Valid", "True", f"{EVICTION}Valid", "Eviction is valid"),
            Condition("Executed", executed, f"{EVICTION}{self.result}", self.message),
        )
