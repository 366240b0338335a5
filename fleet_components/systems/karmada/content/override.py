"""Applies Karmada override policies to an object on its way to a member.

Source: ``pkg/util/overridemanager/overridemanager.go`` of Karmada 1.19. ClusterOverridePolicies
are applied first, then the OverridePolicies of the object's namespace; within each kind, less
precise selectors first, then by name, so that the last and most precise policy wins. Overrides
are applied after replicas are set.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from fleet_components.content.overridden import Forms, Object, Overridden, OverrideError, Step
from fleet_components.content.secret import is_hidden, is_secret
from fleet_components.model.cluster import Cluster
from fleet_components.model.decision import Event
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem
from fleet_components.systems.karmada.content.overriders import Budget, apply_overriders
from fleet_components.systems.karmada.model.override import OverridePolicy
from fleet_components.systems.karmada.model.policy import CLUSTER_OVERRIDE, OVERRIDE, PolicyKey, Rank


@attrs.frozen
class PolicyOverridden(Overridden):
    """Result of the override policies for an object on one member.

    Attributes:
        applied: the applied policies in order, once for each of their rules; empty if one failed.
        events: the events that Karmada records on the object.
    """

    applied: tuple[PolicyKey, ...] = ()
    events: tuple[Event, ...] = ()

    def applied_of(self, kind: str) -> tuple[str, ...]:
        """Return the names of the applied policies of a kind, in order."""
        return tuple(key.name for key in self.applied if key.kind == kind)


def override(
    manifest: Manifest, cluster: Cluster, policies: Iterable[OverridePolicy], stored: Object | None = None
) -> PolicyOverridden:
    """Apply all override policies to an object on its way to a member.

    A rule that fails on a Secret whose data has been left out does nothing: whether it fails on
    the data is not known.

    Args:
        manifest: the object as it was written, with the member's replicas set.
        cluster: the member.
        policies: override policies of both kinds, in any order.
        stored: the object as Karmada reads it; as it was written by default.
    """
    known = tuple(policies)
    forms = Forms.alike(manifest.data) if stored is None else Forms(manifest.data, stored)
    state, budget = PolicyOverridden(manifest.data), Budget()
    for kind in (CLUSTER_OVERRIDE, OVERRIDE):
        # The selectors of the second kind are evaluated on the object as changed by the first kind.
        for policy in applicable(Manifest(forms.stored), known, kind):
            state, forms = _apply(state, forms, cluster, policy, budget)
            if state.problem:
                return state
    return state


def applicable(manifest: Manifest, policies: Iterable[OverridePolicy], kind: str) -> list[OverridePolicy]:
    """Return the policies of one kind that select the object, in the order in which they are
    applied.
    """
    namespace = "" if kind == CLUSTER_OVERRIDE else manifest.namespace
    ranked = [
        (policy.spec.rank(manifest), policy)
        for policy in policies
        if (policy.key.kind, policy.key.namespace) == (kind, namespace)
    ]
    chosen = [(rank, policy.key.name, policy) for rank, policy in ranked if rank is not Rank.NO_MATCH]
    return [policy for _, _, policy in sorted(chosen, key=lambda entry: entry[:2])]


def _apply(
    state: PolicyOverridden, forms: Forms, cluster: Cluster, policy: OverridePolicy, budget: Budget
) -> tuple[PolicyOverridden, Forms]:
    for index, rule in enumerate(policy.spec.rules):
        if not rule.applies_to(cluster):
            continue
        try:
            made = apply_overriders(forms, rule.overriders, budget)
        except OverrideError as error:
            if is_secret(forms.written) and is_hidden(forms.written):
                # Where its data has been left out, nobody knows whether the rule fails.
                state = attrs.evolve(state, applied=(*state.applied, policy.key))
                continue
            events = (*state.events, _event("Warning", policy, cluster))
            problem = _problem(policy, index, cluster, error.shown)
            return PolicyOverridden(None, problem, logged=str(error), events=events), forms
        events = (*state.events, _event("Normal", policy, cluster))
        steps = (*state.steps, Step(str(policy.manifest.key), index, forms.written, made.written))
        applied = (*state.applied, policy.key)
        forms = made
        state = PolicyOverridden(forms.written, steps=steps, applied=applied, events=events)
    return state, forms


def _event(type_: str, policy: OverridePolicy, cluster: Cluster) -> Event:
    failed = type_ == "Warning"
    scope = "cluster override policy" if policy.key.kind == CLUSTER_OVERRIDE else "override policy"
    text = f"Apply {scope}({policy.key}) for cluster({cluster.name}) {'failed' if failed else 'succeed'}."
    return Event(type_, f"ApplyOverridePolicy{'Failed' if failed else 'Succeed'}", text)


def _problem(policy: OverridePolicy, index: int, cluster: Cluster, error: str) -> Problem:
    path = ("spec", "overrideRules", index, "overriders") if policy.spec.override_rules else ("spec", "overriders")
    hint = f"change the rule, or exclude {cluster.name} from it with targetCluster"
    return policy.manifest.problem(error, path, hint)
