"""Who claims what when several things change at once, what is remembered, and how it is explained."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fleet_components.model.manifest import Manifest
from fleet_components.systems.karmada.model.policy import PolicyKey, PropagationPolicy
from fleet_components.systems.karmada.model.template import (
    BoundPolicy,
    Claims,
    PolicyClaim,
    template_key,
)
from fleet_components.systems.karmada.scheduler.match_explanation import (
    PolicyVerdict,
    explain_match,
)
from fleet_components.systems.karmada.scheduler.matching import (
    CLAIMED_BY_LABEL,
    HubSnapshot,
    match_policies,
)

Data = dict[str, Any]
WEB = {"matchLabels": {"app": "web"}}


def _template(name: str = "web", namespace: str = "default", **labels: str) -> Manifest:
    metadata = {"name": name, "namespace": namespace, "labels": labels or {"app": "web"}}
    return Manifest({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata})


def _policy(
    name: str, selector: Data | None = None, cluster_wide: bool = False, **spec: Any
) -> PropagationPolicy:
    namespace = {} if cluster_wide else {"namespace": "default"}
    selected = {"apiVersion": "apps/v1", "kind": "Deployment", **namespace, **(selector or {})}
    placement = {"clusterAffinity": {"clusterNames": [name]}}
    kind = "ClusterPropagationPolicy" if cluster_wide else "PropagationPolicy"
    return PropagationPolicy.from_manifest(
        Manifest(
            {
                "apiVersion": "policy.karmada.io/v1alpha1",
                "kind": kind,
                "metadata": {"name": name, **namespace},
                "spec": {"resourceSelectors": [selected], "placement": placement, **spec},
            }
        )
    )


def _hub(
    *policies: PropagationPolicy, template: Manifest | None = None, revision: int = 0, **parts: Any
) -> HubSnapshot:
    template = template or _template()
    return HubSnapshot(
        {template_key(template): template},
        policies,
        revisions={template_key(template): revision},
        **parts,
    )


def _claim(claims: Claims) -> PolicyClaim:
    return claims.of("apps/Deployment/default/web")


def _owner(claims: Claims) -> str | None:
    policy = _claim(claims).policy
    return policy.name if policy else None


def test_of_all_that_comes_at_once_the_best_policy_wins() -> None:
    hub = _hub(
        _policy("a"),
        _policy("b", {"name": "web"}),
        _policy("c", priority=1),
        _policy("d", cluster_wide=True),
    )
    assert _owner(match_policies(hub).claims) == "c"


def test_a_second_look_changes_nothing_and_says_nothing() -> None:
    hub = _hub(_policy("a"), _policy("b", {"labelSelector": WEB}))
    first = match_policies(hub)
    second = match_policies(hub, first.claims)
    assert second.claims == first.claims
    assert (len(first.events), second.events, second.errors) == (1, (), ())


def test_a_renamed_policy_hands_over_to_its_new_name() -> None:
    claims = match_policies(_hub(_policy("old"))).claims
    done = match_policies(_hub(_policy("new")), claims)
    assert (_owner(done.claims), [str(event) for _, event in done.events]) == (
        "new",
        ["Normal ApplyPolicySucceed Apply policy(default/new) succeed"],
    )


def test_without_a_policy_the_binding_stays_as_it_was() -> None:
    claims = match_policies(_hub(_policy("a"))).claims
    claim = _claim(match_policies(_hub(), claims).claims)
    assert claim.policy is None
    assert claim.bound is not None
    assert (claim.bound.policy, claim.bound.placement.cluster_affinity) == (
        None,
        _policy("a").spec.placement.cluster_affinity,
    )


def test_an_object_that_its_policy_no_longer_matches_is_frozen_until_the_policy_changes() -> None:
    policy = _policy("a", {"labelSelector": WEB})
    claims = match_policies(_hub(policy)).claims
    relabelled = _template(app="other")
    frozen = match_policies(_hub(policy, template=relabelled, revision=1), claims).claims
    claim = _claim(frozen)
    assert (_owner(frozen), claim.revision) == ("a", 1)
    assert claim.bound is not None
    assert claim.bound.revision == 0
    changed = _policy("a", {"labelSelector": WEB}, priority=1)
    assert (
        _owner(match_policies(_hub(changed, template=relabelled, revision=1), frozen).claims)
        is None
    )


def test_a_lazy_policy_waits_for_the_object_to_change() -> None:
    claims = match_policies(_hub()).claims
    lazy = _policy("lazy", activationPreference="Lazy")
    claims = match_policies(_hub(lazy), claims).claims
    assert (_owner(claims), _claim(claims).bound) == ("lazy", None)
    claims = match_policies(_hub(lazy, revision=1), claims).claims
    bound = _claim(claims).bound
    assert bound is not None
    assert (bound.policy, bound.revision) == (lazy.key, 1)


@pytest.mark.parametrize(("gate", "owner"), [(True, "high"), (False, "low")])
def test_taking_over_needs_the_feature_gate(gate: bool, owner: str) -> None:
    low, high = _policy("low"), _policy("high", {"name": "web"}, priority=1, preemption="Always")
    claims = match_policies(_hub(low), preemption=gate).claims
    assert _owner(match_policies(_hub(low, high), claims, preemption=gate).claims) == owner


def test_missing_overrides_hold_the_object_until_they_are_there() -> None:
    policy = _policy("a", dependentOverrides=["tune"])
    held = match_policies(_hub(policy, _policy("b")))
    assert (_owner(held.claims), held.errors) == (None, ("waiting for dependent overrides",))
    tune = frozenset({PolicyKey("OverridePolicy", "default", "tune")})
    assert (
        _owner(match_policies(_hub(policy, _policy("b"), overrides=tune), held.claims).claims)
        == "a"
    )


@pytest.mark.parametrize(
    "namespace", ["karmada-system", "karmada-cluster", "karmada-es-member1", "kube-system"]
)
def test_some_namespaces_are_left_alone(namespace: str) -> None:
    everywhere = _policy("all", cluster_wide=True)
    template = _template(namespace=namespace)
    assert match_policies(_hub(everywhere, template=template)).claims.objects == {}


def test_what_another_controller_has_claimed_is_left_alone() -> None:
    template = _template(**{CLAIMED_BY_LABEL: "MultiClusterService"})
    assert match_policies(_hub(_policy("a"), template=template)).claims.objects == {}


def test_claims_can_be_written_down_and_read_back() -> None:
    claims = match_policies(_hub(_policy("a"), _policy("b", cluster_wide=True))).claims
    wire = json.loads(json.dumps(claims.to_wire()))
    assert Claims.from_wire(wire) == claims
    assert Claims.from_wire(None) == Claims()
    assert _claim(claims).bound == BoundPolicy(
        _policy("a").key, {"placement": {"clusterAffinity": {"clusterNames": ["a"]}}}
    )


def _explained(
    template: Manifest, claims: Claims, *policies: PropagationPolicy
) -> list[PolicyVerdict]:
    return explain_match(template, policies, claims)


def test_the_explanation_says_who_won_and_what_the_others_lacked() -> None:
    policies = [
        _policy("win", {"name": "web"}, priority=2),
        _policy("weak", {"name": "web"}, priority=1),
        _policy("broad", priority=2),
        _policy("win-b", {"name": "web"}, priority=2),
        _policy("fleet", cluster_wide=True, priority=9),
        _policy("other", {"name": "db"}),
        _policy("kind", {"kind": "StatefulSet"}),
    ]
    claims = match_policies(_hub(*policies)).claims
    rows = _explained(_template(), claims, *policies)
    assert [(row.policy.name, row.wins) for row in rows[:2]] == [("win", True), ("win-b", False)]
    assert {row.policy.name: row.words for row in rows} == {
        "win": "selects it by name with priority 2, and no other policy is better",
        "win-b": "as good as PropagationPolicy default/win, whose name comes first",
        "broad": "selects every object of its kind; PropagationPolicy default/win has the same priority and selects "
        "by name",
        "weak": "its priority 1 is lower than 2 of PropagationPolicy default/win",
        "fleet": "PropagationPolicy default/win of the object's own namespace comes before any "
        "ClusterPropagationPolicy",
        "other": "selects the name db",
        "kind": "selects apps/v1 StatefulSet",
    }


def test_the_explanation_tells_a_claim_that_stays() -> None:
    claims = match_policies(_hub(_policy("first"))).claims
    late = _policy("late", priority=5)
    claims = match_policies(_hub(_policy("first"), late), claims).claims
    rows = _explained(_template(), claims, _policy("first"), late)
    assert [row.words for row in rows] == [
        "selects every object of its kind with priority 0; it claimed the object first, and a claim stays",
        "selects every object of its kind with priority 5 and would be better, but the claim of PropagationPolicy "
        "default/first stays",
    ]


def test_the_explanation_tells_a_frozen_object_and_a_missing_override() -> None:
    policy, waiting = (
        _policy("a", {"labelSelector": WEB}),
        _policy("b", dependentOverrides=["tune"]),
    )
    claims = match_policies(_hub(policy)).claims
    template = _template(app="other")
    claims = match_policies(_hub(policy, waiting, template=template, revision=1), claims).claims
    assert [row.words for row in _explained(template, claims, policy, waiting)] == [
        "has the claim but no longer matches: changes of the object wait until the policy changes",
        "waits for the override policy tune",
    ]
