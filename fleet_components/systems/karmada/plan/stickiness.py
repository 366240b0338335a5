"""Changes that an earlier decision of a template may make to the next: Karmada keeps claims,
members and replicas.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.manifest import Manifest
from fleet_components.model.mask import Mask
from fleet_components.model.text import few
from fleet_components.scheduler.cycle import run_filters
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.model.policy import (
    PROPAGATION,
    Placement,
    PolicyKey,
    PropagationPolicy,
    ResourceSelector,
)
from fleet_components.systems.karmada.scheduler.profile import PROFILE
from fleet_components.systems.karmada.scheduler.spread import ignores_constraints
from fleet_components.systems.karmada.scheduler.state import KarmadaState

if TYPE_CHECKING:
    from fleet_components.systems.karmada.plan.place import TemplateOutcome
    from fleet_components.systems.karmada.plan.subject import TemplateSubject


def sticky(request: TemplateSubject, outcome: TemplateOutcome) -> str:
    """Return in words what an earlier decision could lead to; empty if it could lead to nothing
    else.

    The templates that need it say themselves what they could change.
    """
    return next(_reasons(request, outcome), "")


def _reasons(request: TemplateSubject, outcome: TemplateOutcome) -> Iterator[str]:
    state, decision = outcome.record.memory, outcome.decision
    bound, here = state.claim.bound, _shown(outcome)
    inventory = request.inventory
    if request.plugins:
        yield f"plug-ins may look at where it is: with --state others than {here} may have it"
    if bound is None or bound.policy is None or state.frozen or decision is None:
        yield (
            "no policy follows it, so it stays where an earlier one has placed it: with --state it"
            " may have members"
        )
        return
    if not inventory.everything & ~inventory.leaving:
        return  # nothing stays on a member that is leaving, or is none
    others = sorted(map(str, _rivals(request, bound.policy)))
    if others:
        yield (
            f"a policy keeps what it has claimed: with --state {few(others)} may have it instead of"
            f" {bound.policy}"
        )
    policy = request.policies.index.named(bound.policy)
    if policy and policy.lazy:
        yield (
            f"{bound.policy} is Lazy: with --state it may be placed as before the policy changed,"
            f" not on {here}"
        )
    placement, template = bound.placement, outcome.template
    if template.workload and placement.divided:
        yield (
            "replicas that are divided stay while their number and the policy do: with --state not"
            f" as {here}"
        )
    if len(placement.cluster_affinities) > 1:
        yield (
            "it stays in the affinity group that it has got to: with --state it may be on others"
            f" than {here}"
        )
    if decision.memory.evictions or request.settings.exact:
        yield f"evictions go on until they have ended: with --state it may be on others than {here}"
    free, kept = (_passing(request, outcome, placement, has_it=has_it) for has_it in (False, True))
    # Some filters let every current target pass, so members may stay that could not be chosen.
    staying = kept & ~free
    if staying:
        names = [inventory.names[position] for position in masks.positions(staying)]
        yield (
            "it stays on members that could not be chosen now: with --state it may be on"
            f" {few(names)}"
        )
    if not _takes_all(placement, free):
        yield f"members that have it are chosen first: with --state these may be others than {here}"


def _shown(outcome: TemplateOutcome) -> str:
    """Return the members that are chosen, with replicas that are divided."""
    clusters = sorted(outcome.record.memory.schedule.clusters.items())
    return (
        few([f"{name} {replicas}" if replicas else name for name, replicas in clusters]) or "none"
    )


def _rivals(request: TemplateSubject, owner: PolicyKey) -> Iterator[PolicyKey]:
    """Yield the other policies that could have claimed the object, now or when it had other
    labels.
    """
    for policy in request.policies.propagation:
        if policy.key != owner and _could_claim(policy, request.matched):
            yield policy.key


def _could_claim(policy: PropagationPolicy, manifest: Manifest) -> bool:
    if policy.key.kind == PROPAGATION and policy.key.namespace != manifest.namespace:
        return False
    return any(_could_select(selector, manifest) for selector in policy.spec.resource_selectors)


def _could_select(selector: ResourceSelector, manifest: Manifest) -> bool:
    return bool(attrs.evolve(selector, label_selector=None).rank(manifest))


def _passing(
    request: TemplateSubject, outcome: TemplateOutcome, placement: Placement, *, has_it: bool
) -> Mask:
    """Return the members that the filters let pass, if all of them have the object already or none
    has.
    """
    inventory = request.inventory
    state = KarmadaState(
        inventory,
        outcome.template,
        placement,
        # Filters read which members have the object, and no replicas.
        TemplateMemory(clusters=dict.fromkeys(inventory.names, 0) if has_it else {}),
        # Groups are tried in order, so a template that is nowhere begins with the first.
        group=next(iter(placement.cluster_affinities), None),
    )
    return run_filters(PROFILE, state, inventory.everything & ~inventory.leaving).passed


def _takes_all(placement: Placement, candidates: Mask) -> bool:
    """Return whether all candidates are chosen, whichever has the object."""
    if not placement.spread_constraints or ignores_constraints(placement):
        return True
    bounds = {constraint.spread_by_field: constraint for constraint in placement.spread_constraints}
    only = bounds.get("cluster")
    if only is None or len(bounds) > 1:
        return False
    return only.min_groups <= candidates.bit_count() <= only.max_groups
