"""Explains, as rows for people to read, why a template belongs to the policy that has claimed
it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property

import attrs

from fleet_components.model.manifest import Manifest
from fleet_components.model.text import count
from fleet_components.systems.karmada.model.policy import (
    CLUSTER_PROPAGATION,
    PROPAGATION,
    PolicyKey,
    PropagationPolicy,
    Rank,
    ResourceSelector,
    answers,
)
from fleet_components.systems.karmada.model.template import Claims, template_key
from fleet_components.systems.karmada.scheduler.matching import (
    best_policy,
    matches,
    missing_overrides,
    precedence,
    preference,
)

_MOST_SELECTORS = 20
"""The most selectors of a policy that are listed if none of them selects the template."""
_PRECISION = {Rank.NAME: "by name", Rank.LABEL: "by labels", Rank.ALL: "every object of its kind"}


@attrs.frozen
class PolicyVerdict:
    """Result of the matching of one policy and one template.

    Attributes:
        policy: the policy.
        wins: whether the policy has claimed the template.
        words: why it wins, or does not.
        matches: whether it selects the template.
    """

    policy: PolicyKey
    wins: bool
    words: str
    matches: bool = True


def explain_match(
    template: Manifest,
    policies: Iterable[PropagationPolicy],
    claims: Claims,
    overrides: frozenset[PolicyKey] = frozenset(),
) -> list[PolicyVerdict]:
    """Explain for every policy whether it has claimed the template; the winner comes first, then
    the next best.

    Args:
        template: the template.
        policies: the propagation policies.
        claims: the claims after
            :func:`~fleet_components.systems.karmada.scheduler.matching.match_policies`.
        overrides: the existing override policies, for ``dependentOverrides``.
    """
    explanation = _Explanation(
        template, tuple(policies), claims.of(template_key(template)).policy, overrides
    )
    return [explanation.verdict(policy) for policy in explanation.ordered()]


@attrs.frozen
class _Explanation:
    template: Manifest
    policies: tuple[PropagationPolicy, ...]
    owner: PolicyKey | None
    overrides: frozenset[PolicyKey]

    def ordered(self) -> list[PropagationPolicy]:
        return sorted(
            self.policies,
            # False sorts first: the owner, then policies that match.
            key=lambda p: (p.key != self.owner, not self.fits(p), preference(p, self.template)),
        )

    def fits(self, policy: PropagationPolicy) -> bool:
        return matches(policy, self.template)

    def verdict(self, policy: PropagationPolicy) -> PolicyVerdict:
        return PolicyVerdict(
            policy.key, policy.key == self.owner, self.words(policy), self.fits(policy)
        )

    def words(self, policy: PropagationPolicy) -> str:
        if policy.key == self.owner:
            return self.why_it_wins(policy)
        if not self.fits(policy):
            return _mismatch(policy, self.template)
        missing = missing_overrides(policy, self.overrides)
        if missing:
            return (
                f"waits for the override {'policies' if len(missing) > 1 else 'policy'}"
                f" {', '.join(missing)}"
            )
        if self.owner is None:
            return self.why_it_loses(policy, best_policy(self.template, self.policies))
        return self.why_it_does_not_take_over(policy)

    def why_it_wins(self, policy: PropagationPolicy) -> str:
        if not self.fits(policy):
            return (
                "has the claim but no longer matches: changes of the object wait until the policy"
                " changes"
            )
        if best_policy(self.template, self.policies) == policy:
            return f"{self.strength(policy)}, and no other policy is better"
        return f"{self.strength(policy)}; it claimed the object first, and a claim stays"

    def why_it_loses(self, policy: PropagationPolicy, best: PropagationPolicy | None) -> str:
        if best is None or best == policy:
            return f"{self.strength(policy)}, and is looked at next"
        return _comparison(policy, best, self.template)

    def why_it_does_not_take_over(self, policy: PropagationPolicy) -> str:
        owner = next((p for p in self.policies if p.key == self.owner), None)
        if owner is None:
            return f"{self.strength(policy)}, but {self.owner} has the claim"
        # A greater key is a worse policy.
        if preference(policy, self.template) > preference(owner, self.template):
            return _comparison(policy, owner, self.template)
        return (
            f"{self.strength(policy)} and would be better, but the claim of {owner.key.kind}"
            f" {owner.key} stays"
        )

    def strength(self, policy: PropagationPolicy) -> str:
        rank = policy.spec.rank(self.template)
        return (
            f"selects {'' if rank is Rank.ALL else 'it '}{_PRECISION[rank]} with priority"
            f" {policy.spec.priority}"
        )


def _comparison(loser: PropagationPolicy, winner: PropagationPolicy, template: Manifest) -> str:
    """Return what makes the winner better than the loser, in the order in which Karmada compares
    policies.
    """
    name = f"{winner.key.kind} {winner.key}"
    if (loser.key.kind, winner.key.kind) == (CLUSTER_PROPAGATION, PROPAGATION):
        return f"{name} of the object's own namespace comes before any ClusterPropagationPolicy"
    if loser.spec.priority != winner.spec.priority:
        return f"its priority {loser.spec.priority} is lower than {winner.spec.priority} of {name}"
    ranks = [policy.spec.rank(template) for policy in (loser, winner)]
    if ranks[0] != ranks[1]:
        return (
            f"selects {_PRECISION[ranks[0]]}; {name} has the same priority and selects"
            f" {_PRECISION[ranks[1]]}"
        )
    return f"as good as {name}, whose name comes first"


def _mismatch(policy: PropagationPolicy, template: Manifest) -> str:
    if policy.key.kind == PROPAGATION and policy.key.namespace != template.namespace:
        where = f"in namespace {template.namespace}" if template.namespace else "in no namespace"
        return f"selects only in its namespace {policy.key.namespace}; the object is {where}"
    selectors = policy.spec.resource_selectors
    # Several selectors may fail for one reason, which is printed once.
    reasons = dict.fromkeys(
        _selector_mismatch(selector, template) for selector in selectors[:_MOST_SELECTORS]
    )
    more = len(selectors) - _MOST_SELECTORS
    return "; ".join(
        (*reasons, *([f"and so on, with {count(more, 'more selector')}"] if more > 0 else []))
    )


def _selector_mismatch(selector: ResourceSelector, template: Manifest) -> str:
    if (selector.api_version, selector.kind) != (template.api_version, template.kind):
        return f"selects {selector.api_version} {selector.kind}"
    if selector.namespace and selector.namespace != template.namespace:
        return f"selects in namespace {selector.namespace}"
    if selector.name:
        return f"selects the name {selector.name}"
    return "its labelSelector does not match the object's labels"


# Propagation policies by the objects that they may match, so that no object is held against every
# policy.


@attrs.frozen(eq=False, slots=False)
class PolicyIndex:
    """Policies of a hub.

    Attributes:
        policies: the policies, in their order.
    """

    policies: tuple[PropagationPolicy, ...] = ()

    def candidates(self, manifest: Manifest) -> list[PropagationPolicy]:
        """Return the policies that may match an object, in their order; all others do not."""
        # A set, since a policy may be found under several keys.
        found = {position for key in _keys(manifest) for position in self._positions.get(key, ())}
        return [self.policies[position] for position in sorted(found)]

    def named(self, key: PolicyKey) -> PropagationPolicy | None:
        """Return the policy with this key; None if there is none."""
        return self._by_key.get(key)

    @cached_property
    def best_first(self) -> tuple[PropagationPolicy, ...]:
        """The policies in the order in which Karmada prefers them for an object that all match
        alike.
        """
        return tuple(sorted(self.policies, key=precedence))

    @cached_property
    def _by_key(self) -> Mapping[PolicyKey, PropagationPolicy]:
        return {policy.key: policy for policy in self.policies}

    @cached_property
    def _positions(self) -> Mapping[Hashable, list[int]]:
        found: dict[Hashable, list[int]] = defaultdict(list)
        for position, policy in enumerate(self.policies):
            # A PropagationPolicy matches in its own namespace only, another where its selectors
            # say, or everywhere.
            own = policy.key.namespace if policy.key.kind == PROPAGATION else None
            for selector in policy.spec.resource_selectors:
                namespace = own or selector.namespace or None
                found[selector.api_version, selector.kind, namespace, selector.asked].append(
                    position
                )
        return found


def _keys(manifest: Manifest) -> Iterator[Hashable]:
    # None stands for selectors that look in every namespace.
    for namespace in (manifest.namespace, None):
        for asked in answers(manifest):
            yield manifest.api_version, manifest.kind, namespace, asked
