"""KubeFleet v0.3.1 (Azure Kubernetes Fleet Manager): ClusterResourcePlacement and ResourcePlacement."""

from fleet_components.scheduler.kubefleet.explain import explain
from fleet_components.scheduler.kubefleet.schedule import schedule

__all__ = ["explain", "schedule"]
