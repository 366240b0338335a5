"""Applies Karmada override policies to an object on its way to a member.

Source: ``pkg/util/overridemanager/overridemanager.go`` of Karmada 1.19. ClusterOverridePolicies
are applied first, then the OverridePolicies of the object's namespace; within each kind, less
precise selectors first, then by name, so that the last and most precise policy wins. Overrides
are applied after replicas are set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import attrs

from fleet_components.content.overridden import (
    AppliedRule,
    Forms,
    Object,
    Overridden,
    OverrideError,
)
from fleet_components.content.override_parts import Part, whole
from fleet_components.content.patch import pointer_steps
from fleet_components.content.secret import is_hidden, is_secret
from fleet_components.model.cluster import Cluster
from fleet_components.model.decision import Event
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.systems.karmada.content.overriders import OverriderBudget, apply_overriders
from fleet_components.systems.karmada.model.override import OverridePolicy
from fleet_components.systems.karmada.model.policy import (
    CLUSTER_OVERRIDE,
    OVERRIDE,
    PolicyKey,
    Rank,
)


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
    manifest: Manifest,
    cluster: Cluster,
    policies: Iterable[OverridePolicy],
    stored: Object | None = None,
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
    state, budget = PolicyOverridden(manifest.data), OverriderBudget()
    for kind in (CLUSTER_OVERRIDE, OVERRIDE):
        # The selectors of the second kind are evaluated on the object as changed by the first kind.
        for policy in applicable(Manifest(forms.stored), known, kind):
            state, forms = _apply(state, forms, cluster, policy, budget)
            if state.problem:
                return state
    return state


def applicable(
    manifest: Manifest, policies: Iterable[OverridePolicy], kind: str
) -> list[OverridePolicy]:
    """Return the policies of one kind that select the object, in the order in which they are
    applied.
    """
    namespace = "" if kind == CLUSTER_OVERRIDE else manifest.namespace
    ranked = [
        (policy.spec.rank(manifest), policy)
        for policy in policies
        if (policy.key.kind, policy.key.namespace) == (kind, namespace)
    ]
    chosen = [
        (rank, policy.key.name, policy) for rank, policy in ranked if rank is not Rank.NO_MATCH
    ]
    # The key leaves the policy out, since policies cannot be compared.
    return [policy for _, _, policy in sorted(chosen, key=lambda entry: entry[:2])]


def _apply(
    state: PolicyOverridden,
    forms: Forms,
    cluster: Cluster,
    policy: OverridePolicy,
    budget: OverriderBudget,
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
            problem = _problem(policy, index, cluster, error.message)
            return PolicyOverridden(None, problem, logged=str(error), events=events), forms
        events = (*state.events, _event("Normal", policy, cluster))
        steps = (
            *state.steps,
            AppliedRule(str(policy.manifest.key), index, forms.written, made.written),
        )
        applied = (*state.applied, policy.key)
        forms = made
        state = PolicyOverridden(forms.written, steps=steps, applied=applied, events=events)
    return state, forms


def _event(type_: str, policy: OverridePolicy, cluster: Cluster) -> Event:
    failed = type_ == "Warning"
    scope = "cluster override policy" if policy.key.kind == CLUSTER_OVERRIDE else "override policy"
    text = (
        f"Apply {scope}({policy.key}) for cluster({cluster.name})"
        f" {'failed' if failed else 'succeed'}."
    )
    return Event(type_, f"ApplyOverridePolicy{'Failed' if failed else 'Succeed'}", text)


def _problem(policy: OverridePolicy, index: int, cluster: Cluster, error: Message) -> Problem:
    path = (
        ("spec", "overrideRules", index, "overriders")
        if policy.spec.override_rules
        else ("spec", "overriders")
    )
    hint = f"change the rule, or exclude {cluster.name} from it with targetCluster"
    return policy.manifest.problem(error, path, hint)


# Override policies by the objects that they may select, so that no object is held against every
# policy.


@attrs.frozen(eq=False, slots=False)
class OverrideIndex:
    """Override policies of a hub.

    Attributes:
        policies: the policies.
    """

    policies: tuple[OverridePolicy, ...] = ()

    @cached_property
    def keys(self) -> frozenset[PolicyKey]:
        """The keys of all policies."""
        return frozenset(policy.key for policy in self.policies)

    def concerning(self, manifest: Manifest) -> list[OverridePolicy]:
        """Return the policies that may select an object, also once others have changed its labels
        or name; by key.
        """
        # The same object is asked for with the replicas of every member.
        sort = manifest.version, manifest.key
        if sort not in self._concerning:
            # Two rounds: a policy that selects the object may give it a name that another one
            # selects.
            renaming = self._selecting(manifest, [manifest.name])
            names = {
                manifest.name,
                *(name for policy in renaming for name in policy.spec.new_names),
            }
            self._concerning[sort] = self._selecting(manifest, names)
        return self._concerning[sort]

    def _selecting(self, manifest: Manifest, names: Collection[str]) -> list[OverridePolicy]:
        found = {
            position for key in _keys(manifest, names) for position in self._positions.get(key, ())
        }
        return sorted(
            (self.policies[position] for position in found), key=lambda policy: policy.key
        )

    @cached_property
    def _concerning(self) -> dict[tuple[str, ObjectKey], list[OverridePolicy]]:
        return {}

    @cached_property
    def _positions(self) -> Mapping[Hashable, list[int]]:
        found: dict[Hashable, list[int]] = defaultdict(list)
        for position, policy in enumerate(self.policies):
            # An OverridePolicy selects in its own namespace only.
            namespace = None if policy.key.kind == CLUSTER_OVERRIDE else policy.key.namespace
            for selector in policy.spec.resource_selectors:
                found[namespace, selector.api_version, selector.kind, selector.name].append(
                    position
                )
            if not policy.spec.resource_selectors:
                found[namespace].append(position)
        return found


def _keys(manifest: Manifest, names: Collection[str]) -> Iterator[Hashable]:
    for namespace in {manifest.namespace, None}:
        yield namespace
        # An empty name stands for selectors without one; None above for policies of all namespaces.
        for name in {"", *names}:
            yield namespace, manifest.api_version, manifest.kind, name


# The parts of an override policy that may be left out.


IMAGE, COMMAND, ARGS = "imageOverrider", "commandOverrider", "argsOverrider"
LABELS, ANNOTATIONS = "labelsOverrider", "annotationsOverrider"
FIELD, PLAINTEXT = "fieldOverrider", "plaintext"
OVERRIDERS = (IMAGE, COMMAND, ARGS, LABELS, ANNOTATIONS, FIELD, PLAINTEXT)
"""Fields of the overriders, in the order in which they are applied."""


def parts_of(policy: Manifest) -> tuple[Part, ...]:
    """Return the rules of an override policy, each with its parts. A rule without any has
    ``{}`` written.
    """
    spec, override = policy.data["spec"], str(policy.key)
    rules = spec.get("overrideRules")
    if not rules:
        return (_rule(override, 0, ("spec",), spec),)
    return tuple(
        _rule(override, index, ("spec", "overrideRules", index), rule)
        for index, rule in enumerate(rules)
    )


def unread(policy: Manifest) -> FieldPath:
    """Return the path of overriders that Karmada does not read, since the policy has rules; empty
    if there are none.

    The webhook refuses them, all but those of fields. Source: ``getOverridersFromOverridePolicies``
    in ``pkg/util/overridemanager/overridemanager.go`` of Karmada 1.19.
    """
    spec = policy.data["spec"]
    beside = spec.get("overrideRules") and any((spec.get("overriders") or {}).values())
    return ("spec", "overriders") if beside else ()


def _rule(override: str, index: int, path: FieldPath, rule: Mapping[str, Any]) -> Part:
    overriders, at = rule.get("overriders") or {}, (*path, "overriders")
    part = Part(override, index, path, at, overriders, neutral={})
    found = (
        _operation(part, (field, place), written)
        for field in OVERRIDERS
        for place, written in enumerate(overriders.get(field) or ())
    )
    return whole(part, tuple(found))


def _operation(rule: Part, below: FieldPath, written: Mapping[str, Any]) -> Part:
    overrider, pieces = below[0], list[tuple[FieldPath, Any, Iterable[str]]]()
    field = (
        []
        if written.get("predicate")
        # Images, commands and args have no path of their own, but are all below spec.
        else pointer_steps(written.get("path") or written.get("fieldPath") or "/spec")
    )
    if overrider in (LABELS, ANNOTATIONS):
        field = ["metadata", "labels" if overrider == LABELS else "annotations"]
        pieces = [
            (("value", key), value, (*field, key))
            for key, value in (written.get("value") or {}).items()
        ]
    elif overrider in (COMMAND, ARGS) and written["operator"] == "remove":
        pieces = [
            (("value", place), word, field) for place, word in enumerate(written.get("value") or ())
        ]
    elif overrider == FIELD:
        forms = ("json", "yaml")
        pieces = [
            ((form, place), item, field)
            for form in forms
            for place, item in enumerate(written.get(form) or ())
        ]
    part = rule.below(below, written, pieces[0][2] if len(pieces) == 1 else field)
    return attrs.evolve(
        part, parts=tuple(part.below(*piece) for piece in pieces) if len(pieces) > 1 else ()
    )
