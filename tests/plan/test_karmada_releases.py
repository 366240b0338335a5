"""What releases of Karmada check and decide of one source, where they differ."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.admission import Existing, admit
from fleet_components.model.cluster import Cluster
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.releases import Releases
from fleet_components.model.selector import Requirement
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import source_of
from fleet_components.systems.karmada.model.policy import (
    ClusterAffinity,
    FieldSelector,
    PropagationPolicy,
)
from fleet_components.systems.karmada.model.release import TABLE, Rule
from fleet_components.systems.karmada.scheduler.state import matching

Object = dict[str, Any]
CONFIG: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "c", "namespace": "shop"},
}
SELECTOR = {"apiVersion": "v1", "kind": "ConfigMap", "name": "c"}
ZONES = ("z1", "z2", "z3")


def policy(kind: str = "PropagationPolicy", **spec: Any) -> Object:
    metadata = {"name": "p", "namespace": "shop"}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": kind,
        "metadata": metadata,
        "spec": {"resourceSelectors": [SELECTOR], **spec},
    }


def member(name: str, *zones: str) -> Object:
    spec = {"syncMode": "Push", "region": "r", "zones": list(zones)}
    return {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": name},
        "spec": spec,
    }


def failing(mode: str, **failover: Any) -> Object:
    application = {"decisionConditions": {"tolerationSeconds": 60}, "purgeMode": mode, **failover}
    return policy(propagateDeps=True, failover={"application": application})


OVERFLOW = policy(
    placement={
        "clusterAffinities": [
            {
                "affinityName": "own",
                "clusterNames": ["a"],
                "overflowAffinities": [{"affinityName": "others", "clusterNames": ["b"]}],
            }
        ],
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Aggregated",
        },
    }
)
CASES = [
    (
        Rule.OVERFLOW,
        OVERFLOW,
        'unknown field "spec.placement.clusterAffinities[0].overflowAffinities"',
        "",
    ),
    (
        Rule.TOLERATIONS_STRICT,
        policy(placement={"clusterTolerations": [{"key": "k", "operator": "Lt", "value": "5"}]}),
        "",
        'Unsupported value: "Lt"',
    ),
    (
        Rule.FIELD_OVERRIDERS_STRICT,
        policy(
            "OverridePolicy",
            overrideRules=[{"overriders": {"fieldOverrider": [{"fieldPath": "/data/a"}]}}],
        ),
        "",
        "must have either JSON or YAML set",
    ),
    (Rule.PURGE_MODES_RENAMED, failing("Immediately"), "", 'Unsupported value: "Immediately"'),
    (Rule.PURGE_MODES_RENAMED, failing("Graciously"), "", 'Unsupported value: "Graciously"'),
    (
        Rule.PURGE_MODES_RENAMED,
        failing("Immediately", gracePeriodSeconds=5),
        "only takes effect when purgeMode is gracefully",
        'Unsupported value: "Immediately"',
    ),
    (
        Rule.PURGE_MODES_RENAMED,
        failing("Graciously", gracePeriodSeconds=5),
        "",
        'Unsupported value: "Graciously"',
    ),
]


@pytest.mark.parametrize("name", TABLE.names)
@pytest.mark.parametrize(("rule", "data", "before", "after"), CASES)
def test_a_release_answers_as_its_code_does(
    rule: Rule, data: Object, before: str, after: str, name: str
) -> None:
    wanted = after if TABLE.named(name).has(rule) else before
    refusals = admit(Manifest(data), context=Existing((), Releases.named(karmada=name))).refusals
    assert bool(refusals) == bool(wanted)
    assert not wanted or any(wanted in refusal.text for refusal in refusals)


@pytest.mark.parametrize(
    ("written", "meant", "grace"),
    [("Graciously", "Gracefully", 600), ("Immediately", "Directly", None)],
)
def test_a_former_purge_mode_means_the_present_one(
    written: str, meant: str, grace: int | None
) -> None:
    admitted = admit(
        Manifest(failing(written)), context=Existing((), Releases.named(karmada="1.18"))
    )
    assert admitted.defaulted.data["spec"]["failover"]["application"]["purgeMode"] == written
    application = PropagationPolicy.from_manifest(admitted.defaulted).spec.failover.application  # type: ignore[union-attr]
    assert application
    assert (application.purge_mode, application.grace_period_seconds) == (meant, grace)


def chosen(release: str, *operators: tuple[str, list[str]]) -> set[str]:
    """The members that get the ConfigMap, of one in z1, one in z1 and z2, and one without a zone."""
    expressions = [
        {"key": "zone", "operator": operator, "values": values} for operator, values in operators
    ]
    affinity = {"fieldSelector": {"matchExpressions": expressions}}
    documents = [member("a", "z1"), member("b", "z1", "z2"), member("c"), CONFIG]
    placed = policy(placement={"clusterAffinity": affinity})
    source = source_of(map(Manifest, [*documents, placed]), karmada=release)
    (template,) = plan_fleet(source, Past(), Options()).of("Template")
    return set(template.deliveries)


@pytest.mark.parametrize(
    ("release", "members"), [("1.17", {"a"}), ("1.18", {"a", "b"}), ("1.19", {"a", "b"})]
)
def test_a_zone_is_met_by_all_zones_of_a_member_before_1_18(
    release: str, members: set[str]
) -> None:
    assert chosen(release, ("In", ["z1"])) == members
    assert chosen(release, ("In", ["z1", "z2"])) == {"a", "b"}
    assert chosen(release, ("NotIn", ["z2"])) == {"a", "c"}


@given(
    members=st.lists(
        st.tuples(st.frozensets(st.sampled_from(ZONES)), st.booleans()), min_size=1, max_size=5
    ),
    asked=st.frozensets(st.sampled_from(ZONES), min_size=1),
    operator=st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
)
def test_masks_select_what_each_member_meets(
    members: list[tuple[frozenset[str], bool]], asked: frozenset[str], operator: str
) -> None:
    clusters = [
        Cluster(str(place), zones=tuple(zones), in_all_zones=strict)
        for place, (zones, strict) in enumerate(members)
    ]
    values = tuple(asked) if operator in ("In", "NotIn") else ()
    affinity = ClusterAffinity(
        field_selector=FieldSelector((Requirement("zone", operator, values),))
    )
    found = matching(Inventory(clusters), affinity)
    for place, cluster in enumerate(clusters):
        assert affinity.matches(cluster) == bool(found >> place & 1)
        zones = set(cluster.zones)
        wanted = {
            "In": bool(zones) and (zones <= asked if cluster.in_all_zones else bool(zones & asked)),
            "NotIn": not zones & asked,
            "Exists": bool(zones),
            "DoesNotExist": not zones,
        }
        assert affinity.matches(cluster) == wanted[operator]


def test_a_plan_remembers_the_release_and_the_next_starts_from_it() -> None:
    documents = [member("a", "z1"), CONFIG, policy()]
    plan = plan_fleet(source_of(map(Manifest, documents), karmada="1.17"), Past(), Options())
    assert plan.options.settings.karmada == "1.17"
    assert plan.options.settings.to_wire() == {"karmada": "1.17"}
    assert attrs.evolve(plan.options.settings, karmada="1.19").to_wire() == {}


def test_every_release_has_the_rules_of_those_before_it() -> None:
    had: set[Rule] = set()
    for name in TABLE.names:
        rules = {rule for rule in Rule if TABLE.named(name).has(rule)}
        assert had <= rules
        had = rules
    assert had == set(Rule)
