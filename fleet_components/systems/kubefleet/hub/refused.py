"""Policies that a hub has, and cannot carry out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.problem import Problem
from fleet_components.plan.source import Source
from fleet_components.systems.kubefleet.hub.kept import Kept
from fleet_components.systems.kubefleet.hub.kinds import PLACEMENTS
from fleet_components.systems.kubefleet.hub.snapshots import Contents, Policies
from fleet_components.systems.kubefleet.scheduler import schedule


def refused_policies(
    source: Source, policies: Iterable[Manifest], kept: Kept, inventory: Inventory
) -> Mapping[ObjectKey, str]:
    """Return the policies that no plan can take as they are, each with the reason.

    They were stored before what they name was gone or changed, or name what the hub only refuses
    later: a selector of an unknown kind, an envelope that cannot be opened, a policy by which the
    scheduler fails.

    Args:
        source: policies and objects of the hub, as they are read.
        policies: the policies.
        kept: what the hub keeps.
        inventory: the members.
    """
    selections, failed = source.selections()
    why = {problem.subject: _words(problem) for problem in reversed((*source.problems, *failed))}
    taken = {
        (selection.placement.kind, selection.placement.namespace, selection.placement.name) for selection in selections
    }
    found = {}
    for policy in policies:
        if reason := why.get(str(policy.key)):
            found[policy.key] = reason
        elif policy.kind in PLACEMENTS and (policy.kind, policy.namespace, policy.name) not in taken:
            found[policy.key] = next(map(_words, failed), "what it selects cannot be read")
        elif policy.kind in PLACEMENTS:
            keys = (str(Manifest(data).key) for data in Contents.of(kept, policy).newest)
            if broken := next((key for key in keys if key in why), ""):
                found[policy.key] = f"{broken}: {why[broken]}"
            elif error := _unscheduled(policy, kept, inventory):
                found[policy.key] = error
    return found


def _unscheduled(placement: Manifest, kept: Kept, inventory: Inventory) -> str:
    """Return why the scheduler fails on a placement; empty if it does not."""
    policies = Policies.of(kept, placement)
    if policies.scheduled:
        return ""
    return schedule(inventory, policies.newest, namespace=placement.namespace).error


def _words(problem: Problem) -> str:
    where = str(Problem("", problem.path)).removesuffix(": ") if problem.path else ""
    return ": ".join(filter(None, (where, problem.what)))
