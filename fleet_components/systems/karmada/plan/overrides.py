"""Override policies as the rules that are in force on members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.custom_kinds import CustomKind
from fleet_components.content.overridden import Overridden
from fleet_components.content.revision import canonical
from fleet_components.content.secret import INTO_SECRET, is_secret
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import below, decode
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.plan.overriding import Overrides, unseen_default
from fleet_components.plan.record import Objects
from fleet_components.systems.karmada.content.override import OverrideIndex, override
from fleet_components.systems.karmada.content.template import (
    CLAIMED_BY_ANY,
    as_read,
    in_preferred_version,
)
from fleet_components.systems.karmada.model.override import OverridePolicy, OverrideSpec

_PLACES = "rules"
"""Field of kept rules: the positions of the rules in their policy."""
_CUSTOM = "custom"
"""Field of kept rules: the custom kind of the object, if their effect depends on it."""
_BY_KIND = (
    "every rule counts for all kinds that its policy selects: write one override policy for each"
    " kind"
)


@attrs.frozen
class PolicyOverrides(Overrides):
    """The override policies of a fleet, as they concern one template.

    Attributes:
        index: the policies.
        custom: the kind of the template if that is custom; None if its definition is unknown.
        claimed_by: the kind of the policy that has claimed the template; empty for one that only
            goes along.
    """

    index: OverrideIndex
    custom: CustomKind | None = None
    claimed_by: tuple[str, ...] = ()
    _made: dict[tuple[str, str], Sequence[Overridden]] = attrs.field(
        factory=dict, init=False, eq=False, repr=False
    )

    def in_force(self, objects: Objects, member: Cluster) -> Objects:
        """Return the policies that may select the object, each with those of its rules that
        select the member.
        """
        if not self.index.policies:
            return ()
        # A template is one object.
        (data,) = objects
        read = Manifest(in_preferred_version(data, self.custom))
        reduced = (_reduced(policy, member) for policy in self.index.concerning(read))
        # Marked, so that `redacted_content` hides the values of these rules.
        marked = {INTO_SECRET: True} if is_secret(data) else {}
        return self._complete(
            objects, tuple({**item, **marked} for item in reduced if item[_PLACES]), member
        )

    def _complete(self, objects: Objects, rules: Objects, member: Cluster) -> Objects:
        """Return rules with the custom kind of the object, if their effect depends on it."""
        if self.custom is None or not rules:
            return rules
        # Tried with and without the kind, so that a change of its definition alone makes no new
        # rules.
        complete = tuple({**rule, _CUSTOM: self.custom.to_wire()} for rule in rules)
        outcomes = [
            apply_rules(objects, item, member, self.claimed_by) for item in (rules, complete)
        ]
        return rules if outcomes[0] == outcomes[1] else complete

    @property
    def written(self) -> Mapping[str, Manifest]:
        """The policies, by ``Kind namespace/name``."""
        return {str(policy.manifest.key): policy.manifest for policy in self.index.policies}

    def carry_out(self, objects: Objects, rules: Objects, member: Cluster) -> Sequence[Overridden]:
        """Return the object after the rules.

        Members with the same rules get the same: the rules are carried out once for all of them.
        """
        # As text, since objects are not hashable.
        alike = canonical(objects), canonical(rules)
        if alike not in self._made:
            made = apply_rules(objects, rules, member, self.claimed_by)
            if any(overridden.problem for overridden in made):
                return made  # it names the member
            self._made[alike] = made
        return self._made[alike]

    def explained(self, problem: Problem, data: Mapping[str, Any], rules: Objects) -> Problem:
        """Return a problem with its place, and with the hint that the control plane may know more
        about a custom kind.
        """
        kept = {str(Manifest(policy).key): policy[_PLACES] for policy in rules}
        found = _located(problem, self.written, kept)
        return unseen_default(found, Manifest(data), known=self.custom is not None)

    @staticmethod
    def rule_path(override: Manifest, position: int) -> FieldPath:
        """Return the path of a rule in its policy."""
        return rule_path(override, position)


def apply_rules(
    objects: Objects, rules: Objects, member: Cluster, claimed_by: tuple[str, ...] = CLAIMED_BY_ANY
) -> Sequence[Overridden]:
    """Return each object after kept rules.

    Args:
        objects: the objects.
        rules: the rules.
        member: the member.
        claimed_by: the kinds of the policies that have claimed the objects. By default of both,
            since rules that are kept did apply.
    """
    policies = [OverridePolicy.from_manifest(Manifest(policy)) for policy in rules]
    places = {str(policy.manifest.key): policy.manifest.data.get(_PLACES) for policy in policies}
    # `_complete` gives the kind to all rules of an object or to none.
    wire = next((policy[_CUSTOM] for policy in rules if _CUSTOM in policy), None)
    custom = CustomKind.from_wire(wire) if wire else None

    def overridden(data: Mapping[str, Any]) -> Overridden:
        written = in_preferred_version(data, custom)
        result = override(Manifest(written), member, policies, as_read(data, custom, claimed_by))
        untouched = result.data is written  # what no rule has changed stays in its own version
        return attrs.evolve(result, data=data) if untouched else _as_written(result, places)

    return [overridden(data) for data in objects]


def check_rules(data: Any) -> None:
    """Check the kept rules of one policy.

    Raises:
        MisfitError: they are not those of an override policy.
    """
    with below("spec"):
        decode(OverrideSpec, data.get("spec"))


def _reduced(policy: OverridePolicy, member: Cluster) -> Mapping[str, Any]:
    """Return a policy with those of its rules that select a member, and with nothing that has no
    effect there.
    """
    data, spec = policy.manifest.data, policy.manifest.data["spec"]
    places = [place for place, rule in enumerate(policy.spec.rules) if rule.applies_to(member)]
    # The same list as `policy.spec.rules`, in API form, so that positions agree.
    rules = spec.get("overrideRules") or [{"overriders": spec.get("overriders") or {}}]
    named = {
        "name": policy.key.name,
        **({"namespace": policy.key.namespace} if policy.key.namespace else {}),
    }
    selectors = (
        {"resourceSelectors": spec["resourceSelectors"]} if spec.get("resourceSelectors") else {}
    )
    kept = [{"overriders": rules[place].get("overriders") or {}} for place in places]
    return {
        "apiVersion": data["apiVersion"],
        "kind": data["kind"],
        "metadata": named,
        "spec": {**selectors, "overrideRules": kept},
        _PLACES: places,
    }


def _as_written(result: Overridden, places: Mapping[str, Sequence[int] | None]) -> Overridden:
    """Return the result with the positions that its rules have in their policies, not among those
    that are kept.
    """
    known = ((step, places[step.override]) for step in result.steps)
    steps = tuple(
        attrs.evolve(step, rule=kept[step.rule]) if kept else step for step, kept in known
    )
    return attrs.evolve(result, steps=steps)


def _located(
    problem: Problem, written: Mapping[str, Manifest], kept: Mapping[str, Sequence[int]]
) -> Problem:
    """Return the problem of a kept rule with the place where the rule is written now."""
    policy = written[problem.subject]
    # Kept rules always have the form with overrideRules, so the third step is a position.
    path = rule_path(policy, kept[problem.subject][int(problem.path[2])])
    selectors = policy.data["spec"].get("resourceSelectors") or ()
    if len({(selector["apiVersion"], selector["kind"]) for selector in selectors}) > 1:
        return policy.problem(problem.message, (*path, "overriders"), _BY_KIND)
    return policy.problem(problem.message, (*path, "overriders"), problem.advice)


def rule_path(policy: Manifest, position: int) -> FieldPath:
    """Return the path of a rule in its policy, which may have the deprecated form of a single
    rule.
    """
    return (
        ("spec", "overrideRules", position)
        if policy.data["spec"].get("overrideRules")
        else ("spec",)
    )
