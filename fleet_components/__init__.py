"""Decide, preview and deliver Kubernetes objects to a fleet of clusters.

The whole public API, but for Azure's, which is in :mod:`fleet_components.azure`, and for what tests
of your own need, which is in :mod:`fleet_components.testing`. The policies of the two systems have
types of their own, in :mod:`fleet_components.kubefleet` and :mod:`fleet_components.karmada`;
:func:`schedule` and :func:`explain` take either. Nothing is loaded before it is used, so that the
parts without Pulumi work without it.
"""

# ruff: noqa: I001  a name is exported to type checkers where it is imported as itself
from typing import TYPE_CHECKING

from fleet_components.lazy import exported, lazily

if TYPE_CHECKING:
    from fleet_components.components.delivery import SubjectDelivery as SubjectDelivery
    from fleet_components.components.fleet import Fleet as Fleet
    from fleet_components.components.fleet_args import FleetArgs as FleetArgs
    from fleet_components.components.program_objects import objects_of as objects_of
    from fleet_components.components.member import Member as Member
    from fleet_components.components.refusal import (
        RefusedError as RefusedError,
        RefusedPlanError as RefusedPlanError,
    )
    from fleet_components.components.stack_members import (
        member_exports as member_exports,
        members_of_stack as members_of_stack,
    )
    from fleet_components.content.load import load as load, load_text as load_text
    from fleet_components.live.kubeconfig import NO_CLUSTER as NO_CLUSTER
    from fleet_components.model.cluster import (
        Agent as Agent,
        Cluster as Cluster,
        ResourceModel as ResourceModel,
        ResourceSummary as ResourceSummary,
        Taint as Taint,
        Usage as Usage,
    )
    from fleet_components.model.decision import (
        ClusterDecision as ClusterDecision,
        Condition as Condition,
        Decision as Decision,
        Status as Status,
    )
    from fleet_components.model.inventory import Inventory as Inventory
    from fleet_components.model.manifest import Manifest as Manifest, ObjectKey as ObjectKey
    from fleet_components.systems.karmada.model.memory import TemplateMemory as TemplateMemory
    from fleet_components.systems.kubefleet.model.memory import PlacementMemory as PlacementMemory
    from fleet_components.systems.kubefleet.model.placement import (
        PlacementPolicy as PlacementPolicy,
    )
    from fleet_components.model.problem import FleetError as FleetError, Problem as Problem
    from fleet_components.systems.karmada.model.template import (
        Estimates as Estimates,
        Template as Template,
    )
    from fleet_components.option_values import Renamed as Renamed
    from fleet_components.plan.departures import (
        Departure as Departure,
        Fate as Fate,
        Replacement as Replacement,
    )
    from fleet_components.plan.fleet import plan_fleet as plan_fleet
    from fleet_components.plan.fleet_plan import FleetPlan as FleetPlan
    from fleet_components.plan.options import Options as Options, Settings as Settings
    from fleet_components.plan.past import Past as Past
    from fleet_components.plan.source import (
        Source as Source,
        read_source as read_source,
        source_of as source_of,
    )
    from fleet_components.plan.state import (
        StackState as StackState,
        StoredResource as StoredResource,
    )
    from fleet_components.plan.subject import Decided as Decided
    from fleet_components.rollout.rollout import (
        Change as Change,
        Done as Done,
        Entry as Entry,
        Wave as Wave,
    )
    from fleet_components.scheduler.explain import MemberExplanation as MemberExplanation
    from fleet_components.systems.karmada.scheduler.explain import (
        TemplateExplanation as TemplateExplanation,
    )
    from fleet_components.systems.karmada.scheduler.status import (
        TemplateDecision as TemplateDecision,
    )
    from fleet_components.scheduler.system import explain as explain, schedule as schedule

_HOMES = {
    "components.delivery": ("SubjectDelivery",),
    "components.fleet": ("Fleet",),
    "components.fleet_args": ("FleetArgs",),
    "components.program_objects": ("objects_of",),
    "components.member": ("Member",),
    "components.refusal": ("RefusedError", "RefusedPlanError"),
    "components.stack_members": ("member_exports", "members_of_stack"),
    "content.load": ("load", "load_text"),
    "live.kubeconfig": ("NO_CLUSTER",),
    "model.cluster": ("Agent", "Cluster", "ResourceModel", "ResourceSummary", "Taint", "Usage"),
    "model.decision": ("ClusterDecision", "Condition", "Decision", "Status"),
    "model.inventory": ("Inventory",),
    "model.manifest": ("Manifest", "ObjectKey"),
    "systems.karmada.model.memory": ("TemplateMemory",),
    "systems.kubefleet.model.memory": ("PlacementMemory",),
    "systems.kubefleet.model.placement": ("PlacementPolicy",),
    "model.problem": ("FleetError", "Problem"),
    "option_values": ("Renamed",),
    "systems.karmada.model.template": ("Estimates", "Template"),
    "plan.departures": ("Departure", "Fate", "Replacement"),
    "plan.fleet": ("plan_fleet",),
    "plan.fleet_plan": ("FleetPlan",),
    "plan.options": ("Options", "Settings"),
    "plan.past": ("Past",),
    "plan.source": ("Source", "read_source", "source_of"),
    "plan.state": ("StackState", "StoredResource"),
    "plan.subject": ("Decided",),
    "rollout.rollout": ("Change", "Done", "Entry", "Wave"),
    "scheduler.explain": ("MemberExplanation",),
    "systems.karmada.scheduler.explain": ("TemplateExplanation",),
    "systems.karmada.scheduler.status": ("TemplateDecision",),
    "scheduler.system": ("explain", "schedule"),
}
__all__ = exported(_HOMES)
__getattr__ = lazily(__name__, _HOMES)
