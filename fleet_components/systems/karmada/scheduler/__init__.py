"""Scheduler profile of Karmada (about 1.19): PropagationPolicy and ClusterPropagationPolicy."""

from fleet_components.systems.karmada.scheduler.explain import explain
from fleet_components.systems.karmada.scheduler.schedule import schedule

__all__ = ["explain", "schedule"]
