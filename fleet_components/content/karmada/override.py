"""Applies Karmada override policies to an object on its way to a member.

Source: ``pkg/util/overridemanager/overridemanager.go`` of Karmada 1.19. ClusterOverridePolicies are applied first, then
the OverridePolicies of the object's namespace; within each kind, less precise selectors first, then by name, so that
the last and most precise policy wins. Overrides are applied after replicas are set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from fleet_components.content.karmada.overriders import Budget, OverrideError, apply_overriders
from fleet_components.content.secret import is_secret
from fleet_components.model.cluster import Cluster
from fleet_components.model.decision import Event
from fleet_components.model.karmada.override import OverridePolicy
from fleet_components.model.karmada.policy import CLUSTER_OVERRIDE, OVERRIDE, PolicyKey, Rank
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem


@attrs.frozen
class Overridden:
    """Result of the override policies for an object on one member.

    Attributes:
        data: the object; None if a policy failed, which keeps the object from this member only.
        applied: the applied policies in order, once for each of their rules; empty if one failed.
        events: the events that Karmada records on the object.
        problem: why a policy failed; None if none did.
        logged: the same as Karmada logs it, which may quote values of the object; never shown.
    """

    data: Mapping[str, Any] | None
    applied: tuple[PolicyKey, ...] = ()
    events: tuple[Event, ...] = ()
    problem: Problem | None = None
    logged: str = attrs.field(default="", repr=False)

    def applied_of(self, kind: str) -> tuple[str, ...]:
        """Return the names of the applied policies of a kind, in order."""
        return tuple(key.name for key in self.applied if key.kind == kind)


def override(manifest: Manifest, cluster: Cluster, policies: Iterable[OverridePolicy]) -> Overridden:
    """Apply all override policies to an object on its way to a member.

    Args:
        manifest: the object, with the member's replicas set.
        cluster: the member.
        policies: override policies of both kinds, in any order.
    """
    known = tuple(policies)
    state, budget = Overridden(manifest.data), Budget()
    for kind in (CLUSTER_OVERRIDE, OVERRIDE):
        # The selectors of the second kind are evaluated on the object as changed by the first kind.
        for policy in applicable(Manifest(state.data or {}), known, kind):
            state = _apply(state, cluster, policy, budget, secret=is_secret(manifest.data))
            if state.problem:
                return state
    return state


def applicable(manifest: Manifest, policies: Iterable[OverridePolicy], kind: str) -> list[OverridePolicy]:
    """Return the policies of one kind that select the object, in the order in which they are applied."""
    namespace = "" if kind == CLUSTER_OVERRIDE else manifest.namespace
    ranked = [
        (policy.spec.rank(manifest), policy)
        for policy in policies
        if (policy.key.kind, policy.key.namespace) == (kind, namespace)
    ]
    chosen = [(rank, policy.key.name, policy) for rank, policy in ranked if rank is not Rank.NO_MATCH]
    return [policy for _, _, policy in sorted(chosen, key=lambda entry: entry[:2])]


def _apply(state: Overridden, cluster: Cluster, policy: OverridePolicy, budget: Budget, *, secret: bool) -> Overridden:
    for index, rule in enumerate(policy.spec.rules):
        if not rule.applies_to(cluster):
            continue
        try:
            data = apply_overriders(state.data or {}, rule.overriders, budget)
            if secret and not is_secret(data):
                raise OverrideError("makes another kind of a Secret, and its data would be public")
        except OverrideError as error:
            events = (*state.events, _event("Warning", policy, cluster))
            return Overridden(None, (), events, _problem(policy, index, cluster, error.shown), str(error))
        events = (*state.events, _event("Normal", policy, cluster))
        state = Overridden(data, (*state.applied, policy.key), events)
    return state


def _event(type_: str, policy: OverridePolicy, cluster: Cluster) -> Event:
    failed = type_ == "Warning"
    scope = "cluster override policy" if policy.key.kind == CLUSTER_OVERRIDE else "override policy"
    text = f"Apply {scope}({policy.key}) for cluster({cluster.name}) {'failed' if failed else 'succeed'}."
    return Event(type_, f"ApplyOverridePolicy{'Failed' if failed else 'Succeed'}", text)


def _problem(policy: OverridePolicy, index: int, cluster: Cluster, error: str) -> Problem:
    path = ("spec", "overrideRules", index, "overriders") if policy.spec.override_rules else ("spec", "overriders")
    hint = f"change the rule, or exclude {cluster.name} from it with targetCluster"
    return policy.manifest.problem(error, path, hint)
