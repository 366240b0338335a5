"""Scheduler profile of Karmada (about 1.19): PropagationPolicy and ClusterPropagationPolicy."""

from fleet_components.scheduler.karmada.explain import explain
from fleet_components.scheduler.karmada.schedule import schedule

__all__ = ["explain", "schedule"]
