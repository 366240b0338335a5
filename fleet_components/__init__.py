"""Decide, preview and deliver Kubernetes objects to a fleet of clusters.

The whole public API. Nothing is loaded before it is used, so that the parts without Pulumi work without it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fleet_components.components.fleet import Fleet
    from fleet_components.components.fleet_args import FleetArgs
    from fleet_components.components.made import objects_of
    from fleet_components.components.member import Member
    from fleet_components.model.cluster import Cluster, Taint
    from fleet_components.model.inventory import Inventory
    from fleet_components.model.memory import PlacementMemory
    from fleet_components.model.placement import PlacementPolicy
    from fleet_components.model.problem import FleetError, Problem
    from fleet_components.plan.fleet import plan_fleet
    from fleet_components.plan.fleet_plan import FleetPlan
    from fleet_components.plan.options import Options, Renamed
    from fleet_components.plan.past import Past
    from fleet_components.plan.source import Source, read_source, source_of
    from fleet_components.scheduler.kubefleet import schedule
    from fleet_components.scheduler.kubefleet.explain import explain

_HOMES = {
    "Cluster": "model.cluster",
    "Fleet": "components.fleet",
    "FleetArgs": "components.fleet_args",
    "FleetError": "model.problem",
    "FleetPlan": "plan.fleet_plan",
    "Inventory": "model.inventory",
    "Member": "components.member",
    "Options": "plan.options",
    "Past": "plan.past",
    "PlacementMemory": "model.memory",
    "PlacementPolicy": "model.placement",
    "Problem": "model.problem",
    "Renamed": "plan.options",
    "Source": "plan.source",
    "Taint": "model.cluster",
    "explain": "scheduler.kubefleet.explain",
    "objects_of": "components.made",
    "plan_fleet": "plan.fleet",
    "read_source": "plan.source",
    "schedule": "scheduler.kubefleet",
    "source_of": "plan.source",
}
__all__ = [
    "Cluster",
    "Fleet",
    "FleetArgs",
    "FleetError",
    "FleetPlan",
    "Inventory",
    "Member",
    "Options",
    "Past",
    "PlacementMemory",
    "PlacementPolicy",
    "Problem",
    "Renamed",
    "Source",
    "Taint",
    "explain",
    "objects_of",
    "plan_fleet",
    "read_source",
    "schedule",
    "source_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
