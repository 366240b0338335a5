"""Common entry point of both schedulers: the type of the subject selects KubeFleet or Karmada."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, overload

from fleet_components.model.decision import Decision
from fleet_components.model.inventory import Inventory
from fleet_components.model.typed import fitted
from fleet_components.scheduler.explain import MemberExplanation
from fleet_components.scheduler.framework import Plugin
from fleet_components.systems.karmada import scheduler as karmada
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.model.policy import Placement
from fleet_components.systems.karmada.model.template import Estimates, Template
from fleet_components.systems.karmada.scheduler.explain import TemplateExplanation
from fleet_components.systems.karmada.scheduler.status import TemplateDecision
from fleet_components.systems.kubefleet import scheduler as kubefleet
from fleet_components.systems.kubefleet.model.memory import PlacementMemory
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy


@overload
def schedule(
    inventory: Inventory,
    wanted: PlacementPolicy | None,
    memory: PlacementMemory = ...,
    *,
    namespace: str = ...,
    plugins: Iterable[Plugin] = ...,
) -> Decision[PlacementMemory]: ...


@overload
def schedule(
    inventory: Inventory,
    wanted: Template,
    placement: Placement,
    memory: TemplateMemory = ...,
    *,
    estimates: Estimates = ...,
    rebalances: Collection[str] = ...,
    suspended: bool = ...,
    empty_workloads: bool = ...,
    plugins: Iterable[Plugin] = ...,
) -> TemplateDecision: ...


def schedule(
    inventory: Inventory, wanted: PlacementPolicy | Template | None, *args: Any, **options: Any
) -> Any:
    """Decide which members get a subject, exactly as KubeFleet v0.3.1 or Karmada 1.19 does.

    Args:
        inventory: the fleet.
        wanted: the policy of a KubeFleet placement, where None means PickAll; or a template, for
            Karmada.
        args: the previous decision's memory, by default empty; for Karmada preceded by the
            placement of the policy that has claimed the template.
        options: keyword arguments of
            :func:`fleet_components.systems.kubefleet.scheduler.schedule.schedule` or
            :func:`fleet_components.systems.karmada.scheduler.schedule.schedule`.

    Returns:
        The decision: what to remember, and the status that the real system would show.

    Raises:
        FleetError: an argument has a wrong type; the error names it.
    """
    _check("schedule", inventory, wanted)
    return _system(wanted).schedule(inventory, wanted, *args, **options)


@overload
def explain(
    inventory: Inventory,
    wanted: PlacementPolicy | None,
    decision: Decision[PlacementMemory],
    *,
    namespace: str = ...,
    members: Collection[str] | None = ...,
    plugins: Iterable[Plugin] = ...,
) -> tuple[MemberExplanation, ...]: ...


@overload
def explain(
    inventory: Inventory,
    wanted: Template,
    placement: Placement,
    decision: TemplateDecision,
    *,
    estimates: Estimates = ...,
    plugins: Iterable[Plugin] = ...,
) -> TemplateExplanation: ...


def explain(
    inventory: Inventory, wanted: PlacementPolicy | Template | None, *args: Any, **options: Any
) -> Any:
    """Explain a decision of :func:`schedule`: the verdict of each plug-in on each member.

    Args:
        inventory: the fleet that was scheduled on.
        wanted: what was scheduled: a KubeFleet policy, or a template for Karmada.
        args: the decision; for Karmada preceded by the placement that was scheduled.
        options: keyword arguments of
            :func:`fleet_components.systems.kubefleet.scheduler.explain.explain` or
            :func:`fleet_components.systems.karmada.scheduler.explain.explain`.

    Raises:
        FleetError: an argument has a wrong type; the error names it.
    """
    _check("explain", inventory, wanted)
    return _system(wanted).explain(inventory, wanted, *args, **options)


def _check(function: str, inventory: Any, wanted: Any) -> None:
    """Check that the arguments have types that one of the two schedulers accepts.

    Raises:
        FleetError: an argument has a wrong type; the error names it.
    """
    fitted(Inventory, inventory, (function, "inventory"))
    fitted(PlacementPolicy | Template | None, wanted, (function, "wanted"))


def _system(wanted: PlacementPolicy | Template | None) -> Any:
    # None is a policy of KubeFleet too: PickAll.
    return karmada if isinstance(wanted, Template) else kubefleet
