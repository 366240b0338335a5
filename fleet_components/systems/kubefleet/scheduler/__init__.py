"""Scheduler profile of KubeFleet v0.3.1 (Azure Kubernetes Fleet Manager): placements of both
scopes.
"""

from fleet_components.systems.kubefleet.scheduler.explain import explain
from fleet_components.systems.kubefleet.scheduler.schedule import schedule

__all__ = ["explain", "schedule"]
