"""What Karmada's objects ask for in vain is said, with what was probably meant."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.unmatched import (
    Case,
    Document,
    changed,
    deployment,
    object_of,
    planned,
    problems,
    said,
    told,
    without,
)

POLICY = "policy.karmada.io/v1alpha1"
WEB_IS, ALL_IS = "PropagationPolicy/web", "ClusterPropagationPolicy/all"
IMAGES_IS, LABELS_IS, FORMER_IS = (
    "OverridePolicy/images",
    "ClusterOverridePolicy/labels",
    "ClusterOverridePolicy/former",
)
AGAIN_IS, SEEN_IS = "WorkloadRebalancer/again", "ApplicationHealth/seen"


def member(name: str, region: str, zone: str, env: str) -> Document:
    spec = {"syncMode": "Push", "provider": "cloudy", "region": region, "zones": [zone]}
    return object_of("cluster.karmada.io/v1alpha1", "Cluster", name, labels={"env": env}, spec=spec)


def selector(kind: str, name: str = "", api_version: str = "v1", **more: Any) -> Document:
    return {"apiVersion": api_version, "kind": kind, **({"name": name} if name else {}), **more}


def fields(key: str, *values: str, operator: str = "In") -> Document:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def rule(label: str) -> Document:
    return {"overriders": {"labelsOverrider": [{"operator": "add", "value": {label: "b"}}]}}


NORTH = {
    "affinityName": "north",
    "clusterNames": ["oslo", "kiel"],
    "exclude": ["rome"],
    "labelSelector": {"matchLabels": {"env": "prod"}},
    "fieldSelector": fields("region", "north"),
}
WEB = {
    "resourceSelectors": [selector("Deployment", "web", "apps/v1")],
    "dependentOverrides": ["images"],
    "suspension": {"dispatchingOnClusters": {"clusterNames": ["rome"]}},
    "placement": {
        "clusterAffinities": [NORTH],
        "spreadConstraints": [
            {"spreadByField": "region", "minGroups": 1, "maxGroups": 2},
            {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2},
        ],
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted",
            "weightPreference": {
                "staticWeightList": [{"targetCluster": {"clusterNames": ["oslo"]}, "weight": 2}],
            },
        },
    },
}
ALL = {
    "resourceSelectors": [
        selector("ConfigMap", namespace="shop", labelSelector={"matchLabels": {"tier": "front"}}),
    ],
    "placement": {"clusterAffinity": {"labelSelector": {"matchLabels": {"env": "prod"}}}},
}
OVERFLOWING = {
    "affinityName": "full",
    "overflowAffinities": [{"affinityName": "more", "clusterNames": ["rome"]}],
}
ROLES = {
    "resourceSelectors": [selector("ClusterRole", api_version="rbac.authorization.k8s.io/v1")],
    "placement": {
        "clusterAffinities": [{**OVERFLOWING, "clusterNames": ["oslo"]}],
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Aggregated",
        },
    },
}
IMAGES = {
    "resourceSelectors": [selector("Deployment", "web", "apps/v1")],
    "overrideRules": [{"targetCluster": {"clusterNames": ["kiel"]}, **rule("images")}],
}
ANY = {"targetCluster": {"fieldSelector": fields("zone", "n1")}, **rule("labels")}
AGAIN = {"workloads": [{**selector("Deployment", "web", "apps/v1"), "namespace": "shop"}]}
SEEN = {
    "unhealthy": [
        {**selector("Deployment", "web", "apps/v1"), "namespace": "shop", "cluster": "oslo"}
    ]
}

FLEET: list[Document] = [
    member("kiel", "north", "n2", "prod"),
    member("oslo", "north", "n1", "prod"),
    member("rome", "south", "s1", "test"),
    object_of("v1", "Namespace", "shop"),
    deployment("web", "shop"),
    object_of("v1", "ConfigMap", "settings", "shop", labels={"tier": "front"}),
    object_of("rbac.authorization.k8s.io/v1", "ClusterRole", "reader"),
    object_of(POLICY, "PropagationPolicy", "web", "shop", spec=WEB),
    object_of(POLICY, "ClusterPropagationPolicy", "all", spec=ALL),
    object_of(POLICY, "ClusterPropagationPolicy", "roles", spec=ROLES),
    object_of(POLICY, "OverridePolicy", "images", "shop", spec=IMAGES),
    object_of(POLICY, "ClusterOverridePolicy", "labels", spec={"overrideRules": [ANY]}),
    object_of(
        POLICY,
        "ClusterOverridePolicy",
        "former",
        spec={"targetCluster": {"clusterNames": ["oslo"]}, **rule("former")},
    ),
    object_of("apps.karmada.io/v1alpha1", "WorkloadRebalancer", "again", spec=AGAIN),
    object_of("fleet-components/v1", "ApplicationHealth", "seen", spec=SEEN),
]
MEMBERS = "the members are: kiel, oslo, rome"
GROUP = "spec.placement.clusterAffinities[0]"
WEIGHTS = "spec.placement.replicaScheduling.weightPreference.staticWeightList[0].targetCluster"
RULES = "spec.overrideRules[0].targetCluster"
NAMED = {
    f"{GROUP}.clusterNames[1]": WEB_IS,
    f"{GROUP}.exclude[0]": WEB_IS,
    f"{GROUP}.overflowAffinities[0].clusterNames[0]": "ClusterPropagationPolicy/roles",
    f"{WEIGHTS}.clusterNames[0]": WEB_IS,
    "spec.suspension.dispatchingOnClusters.clusterNames[0]": WEB_IS,
    f"{RULES}.clusterNames[0]": IMAGES_IS,
    "spec.targetCluster.clusterNames[0]": FORMER_IS,
    "spec.unhealthy[0].cluster": SEEN_IS,
}
NO_REGION = "declare spec.region, or the label topology.kubernetes.io/region"

CASES = {
    "labels of members": Case(
        ALL_IS,
        *("spec.placement.clusterAffinity.labelSelector.matchLabels.env", "prd"),
        what="no member has env=prd",
        hint="for env the members have prod (2), test (1)",
    ),
    "labels of members in a group": Case(
        WEB_IS,
        *(f"{GROUP}.labelSelector.matchLabels.envi", "prod"),
        what="no member has envi=prod",
        hint="the label envi is on none of them; did you mean env? they have: env",
    ),
    "fields of members": Case(
        WEB_IS,
        *(f"{GROUP}.fieldSelector", fields("region", "nrth", "east")),
        at=f"{GROUP}.fieldSelector.matchExpressions[0]",
        what="no member has region in (nrth, east)",
        hint="for region the members have north (2), south (1)",
    ),
    "fields of the members of a rule": Case(
        LABELS_IS,
        *(f"{RULES}.fieldSelector", fields("zone", "n3")),
        at=f"{RULES}.fieldSelector.matchExpressions[0]",
        what="no member has zone=n3",
        hint="for zone the members have n1 (1), n2 (1), s1 (1)",
    ),
    "fields that nobody has together": Case(
        LABELS_IS,
        f"{RULES}.fieldSelector.matchExpressions",
        [*fields("zone", "n1")["matchExpressions"], *fields("region", "south")["matchExpressions"]],
        at=f"{RULES}.fieldSelector",
        what="no member has all of zone=n1, region=south",
        hint="zone=n1: oslo; region=south: rome",
    ),
    "a selector that is none": Case(
        ALL_IS,
        *(
            "spec.placement.clusterAffinity.labelSelector",
            {"matchExpressions": [{"key": "env", "operator": "In"}]},
        ),
        what="selects no member: values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        hint="",
    ),
    "names and labels of which none fits the other": Case(
        WEB_IS,
        *(f"{GROUP}.clusterNames", ["rome"]),
        at=GROUP,
        what="selects no member",
        hint="each part of it selects some, but not the same",
    ),
    "everything excluded": Case(
        WEB_IS,
        *(f"{GROUP}.exclude", ["oslo", "kiel"]),
        at=GROUP,
        what="selects no member",
        hint="each part of it selects some, but not the same",
    ),
    "the members of a weight": Case(
        WEB_IS,
        *(WEIGHTS, {"labelSelector": {"matchLabels": {"env": "tst"}}}),
        at=f"{WEIGHTS}.labelSelector.matchLabels.env",
        what="no member has env=tst",
        hint="for env the members have prod (2), test (1)",
    ),
    "an override policy that is waited for": Case(
        WEB_IS,
        *("spec.dependentOverrides[0]", "image"),
        what='there is no OverridePolicy "image"',
        hint='what it selects waits for it; did you mean "images"? there is: images',
    ),
    "an object near one that there is": Case(
        WEB_IS,
        *("spec.resourceSelectors[0].name", "wbe"),
        what="there is no Deployment shop/wbe",
        hint='did you mean "web"?',
    ),
    "an object in another version": Case(
        WEB_IS,
        *("spec.resourceSelectors[0].apiVersion", "apps/v1beta1"),
        at="spec.resourceSelectors[0].name",
        what="there is no Deployment shop/web in version v1beta1",
        hint="written in apps/v1",
    ),
    "a kind in another group": Case(
        WEB_IS,
        *("spec.resourceSelectors[0].apiVersion", "extensions/v1"),
        at="spec.resourceSelectors[0].name",
        what="there is no Deployment shop/web",
        hint="there is one of apps/v1",
    ),
    "a kind in another group, without a name": Case(
        WEB_IS,
        *("spec.resourceSelectors[0]", selector("Deployment", api_version="extensions/v1")),
        what="there is no Deployment in namespace shop",
        hint="Deployment is of apps/v1",
    ),
    "a kind misspelt": Case(
        WEB_IS,
        *("spec.resourceSelectors[0]", selector("Deploymnt", api_version="apps/v1")),
        what="there is no Deploymnt in namespace shop",
        hint="did you mean Deployment?",
    ),
    "an object that lives in no namespace": Case(
        WEB_IS,
        *(
            "spec.resourceSelectors[0]",
            selector("ClusterRole", "reader", "rbac.authorization.k8s.io/v1"),
        ),
        at="spec.resourceSelectors[0]",
        what="a PropagationPolicy never selects a cluster-scoped kind such as ClusterRole",
        hint="use a ClusterPropagationPolicy",
    ),
    "a kind that lives in no namespace": Case(
        WEB_IS,
        *(
            "spec.resourceSelectors[0]",
            selector("ClusterRole", api_version="rbac.authorization.k8s.io/v1"),
        ),
        what="a PropagationPolicy never selects a cluster-scoped kind such as ClusterRole",
        hint="use a ClusterPropagationPolicy",
    ),
    "labels of objects": Case(
        ALL_IS,
        *("spec.resourceSelectors[0].labelSelector.matchLabels.tier", "back"),
        at="spec.resourceSelectors[0]",
        what="no ConfigMap in namespace shop has tier=back",
        hint="for tier they have front (1)",
    ),
    "labels of objects that are none": Case(
        ALL_IS,
        *(
            "spec.resourceSelectors[0].labelSelector",
            {"matchExpressions": [{"key": "tier", "operator": "In"}]},
        ),
        at="spec.resourceSelectors[0]",
        what="selects nothing: values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        hint="",
    ),
    "a namespace with nothing in it": Case(
        ALL_IS,
        *("spec.resourceSelectors[0].namespace", "shp"),
        what='there is no object in namespace "shp"',
        hint="ConfigMap settings is in namespace shop",
    ),
    "an object to override": Case(
        IMAGES_IS,
        *("spec.resourceSelectors[0].name", "webs"),
        what="there is no Deployment shop/webs",
        hint='did you mean "web"?',
    ),
    "an object to place anew": Case(
        AGAIN_IS,
        *("spec.workloads[0].name", "wbe"),
        at="spec.workloads[0]",
        what="there is no Deployment shop/wbe",
        hint='did you mean "web"? else take it out',
    ),
    "an object to place anew that has gone": Case(
        AGAIN_IS,
        *("spec.workloads[0].name", "zzz"),
        at="spec.workloads[0]",
        what="there is no Deployment shop/zzz",
        hint="take it out",
    ),
    "an object that does not work": Case(
        SEEN_IS,
        *("spec.unhealthy[0].namespace", "pay"),
        at="spec.unhealthy[0].name",
        what="there is no Deployment pay/web",
        hint="there is one in namespace shop; else take it out",
    ),
}


def test_what_matches_is_not_warned_of() -> None:
    assert told(planned(FLEET)) == []


@pytest.mark.parametrize("path", NAMED)
def test_a_name_that_is_no_member_is_said_wherever_it_stands(path: str) -> None:
    name = NAMED[path]
    (found,) = said(planned(changed(FLEET, name, path, "olso")))
    hint = f'did you mean "oslo"? {MEMBERS}'
    assert found == (f"{name.partition('/')[2]}: {path}", 'there is no member "olso"', hint)


@pytest.mark.parametrize("path", NAMED)
def test_a_name_that_is_marked_lost_is_said_to_be(path: str) -> None:
    documents = [
        *changed(FLEET, NAMED[path], path, "paris"),
        member("paris", "south", "s2", "test"),
    ]
    (found,) = said(planned(documents, lost=["paris"]))
    assert found[1:] == ('member "paris" is marked lost', "nothing goes there until it is back")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_matches_nothing_is_said(case: Case) -> None:
    assert said(planned(case.in_(FLEET))) == [case.told]


@pytest.mark.parametrize("field", ["provider", "region", "zone"])
def test_a_field_to_spread_by_that_no_member_has(field: str) -> None:
    documents = changed(FLEET, WEB_IS, "spec.placement.spreadConstraints[0].spreadByField", field)
    assert told(planned(documents)) == []
    for name in ("kiel", "oslo", "rome"):
        documents = changed(
            documents, f"Cluster/{name}", f"spec.{'zones' if field == 'zone' else field}", None
        )
    at = "web: spec.placement.spreadConstraints[0].spreadByField"
    found = {where: (what, hint) for where, what, hint in said(planned(documents))}
    assert found[at][0] == f"no member has a {field}"
    assert found[at][1].startswith("declare spec.")


def test_a_field_selector_over_a_field_that_no_member_has() -> None:
    documents = FLEET
    for name in ("kiel", "oslo", "rome"):
        documents = changed(documents, f"Cluster/{name}", "spec.region", None)
    documents = changed(documents, WEB_IS, "spec.placement.spreadConstraints", None)
    assert said(planned(documents)) == [
        (f"web: {GROUP}.fieldSelector.matchExpressions[0]", "no member has region=north", NO_REGION)
    ]


@pytest.mark.parametrize("label", ["rack", "env"])
def test_a_label_to_spread_by(label: str) -> None:
    constraint = {"spreadByLabel": label, "minGroups": 1, "maxGroups": 2}
    documents = changed(FLEET, WEB_IS, "spec.placement.spreadConstraints[0]", constraint)
    at = "PropagationPolicy shop/web: spec.placement.spreadConstraints[0].spreadByLabel"
    missing = [(at, 'no member has the label "rack"', "they have: env")]
    assert [item for item in told(planned(documents)) if "label" in item[1]] == (
        missing if label == "rack" else []
    )


def test_nothing_is_asked_of_a_fleet_without_members() -> None:
    nobody = without(FLEET, "Cluster/kiel", "Cluster/oslo", "Cluster/rome")
    assert {problem.what.partition(' "')[0] for problem in problems(planned(nobody))} == {
        "there is no member"
    }


def test_of_many_values_the_most_frequent_are_told() -> None:
    many = [member(f"m{n:02}", "north", "n1", f"e{n // 2:02}") for n in range(30)]
    documents = changed(
        FLEET, ALL_IS, "spec.placement.clusterAffinity.labelSelector.matchLabels.env", "zzz"
    )
    ((_, _, hint),) = said(planned([*documents, *many]))
    first = ", ".join(f"e{n:02} (2)" for n in range(9))
    assert hint == f"for env the members have {first}, e09 (2) and 7 more values"


def test_labels_that_no_object_has_together() -> None:
    asked = {"matchLabels": {"tier": "front", "app": "web"}}
    documents = changed(FLEET, ALL_IS, "spec.resourceSelectors[0].labelSelector", asked)
    documents += [object_of("v1", "ConfigMap", "more", "shop", labels={"app": "web"})]
    ((_, what, hint),) = said(planned(documents))
    assert what == "no ConfigMap in namespace shop has tier=front, app=web"
    assert hint == "there is: ConfigMap shop/more, ConfigMap shop/settings"


def test_labels_of_lost_members_alone() -> None:
    documents = changed(
        FLEET, ALL_IS, "spec.placement.clusterAffinity.labelSelector.matchLabels.env", "test"
    )
    found = told(planned(documents, lost=["rome"]))
    assert [item[1:] for item in found if "env" in item[1]] == [
        ("no member has env=test", "but for rome, marked lost")
    ]


def test_a_policy_in_a_namespace_without_objects_is_said_once() -> None:
    selectors = [selector("Deployment", "web", "apps/v1"), selector("ConfigMap", "zzz")]
    documents = changed(FLEET, WEB_IS, "spec.resourceSelectors", selectors)
    documents = changed(documents, WEB_IS, "metadata.namespace", "shpo")
    documents = without(
        changed(documents, WEB_IS, "spec.dependentOverrides", None), AGAIN_IS, SEEN_IS
    )
    assert said(planned(documents)) == [
        (
            "web: metadata.namespace",
            'there is no object in namespace "shpo"',
            "Deployment web is in namespace shop",
        )
    ]


def test_an_override_policy_of_the_other_reach_is_not_the_one_that_is_waited_for() -> None:
    documents = changed(FLEET, WEB_IS, "spec.dependentOverrides", ["labels"])
    assert [item[1] for item in said(planned(documents))] == ['there is no OverridePolicy "labels"']
    documents = changed(FLEET, ALL_IS, "spec.dependentOverrides", ["labels", "images"])
    assert [item[1] for item in said(planned(documents))] == [
        'there is no ClusterOverridePolicy "images"'
    ]


@pytest.mark.parametrize("name", [AGAIN_IS, SEEN_IS])
def test_requests_do_not_reach_what_a_placement_has(name: str) -> None:
    group, pay = "placement.kubernetes-fleet.io/v1beta1", selector("Namespace", "pay")
    spec = {
        "resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": "pay"}]
    }
    placed = [object_of("v1", "Namespace", pay["name"]), deployment("lone", "pay")]
    documents = [*FLEET, *placed, object_of(group, "ClusterResourcePlacement", "pay", spec=spec)]
    path = "spec.workloads[0]" if name == AGAIN_IS else "spec.unhealthy[0]"
    for field, value in (("name", "lone"), ("namespace", "pay")):
        documents = changed(documents, name, f"{path}.{field}", value)
    (found,) = told(planned(documents))
    assert found[1:] == (
        "no policy of Karmada has Deployment pay/lone, a placement has it",
        "take it out",
    )


def test_of_what_nobody_has_only_that_is_said() -> None:
    documents = changed(FLEET, WEB_IS, "spec.resourceSelectors[0].name", "zzz")
    assert [item[1] for item in told(planned(documents))] == [
        "1 object is selected by no policy: Deployment shop/web",
        "there is no Deployment shop/zzz",
    ]


def test_an_override_policy_in_a_namespace_without_objects() -> None:
    documents = changed(FLEET, IMAGES_IS, "metadata.namespace", None)
    documents = changed(documents, WEB_IS, "spec.dependentOverrides", None)
    what = 'there is no object in namespace "default"'
    assert said(planned(documents)) == [
        ("images: metadata.namespace", what, "Deployment web is in namespace shop")
    ]


def test_warnings_come_by_line_each_once() -> None:
    documents = changed(FLEET, WEB_IS, f"{GROUP}.clusterNames", ["zzz", "oslo", "zzz"])
    documents = changed(documents, IMAGES_IS, f"{RULES}.clusterNames", ["zzz"])
    plan = planned([*documents, deployment("lone", "shop")])
    assert [problem.line for problem in plan.warnings] == sorted(
        problem.line or 0 for problem in plan.warnings
    )
    assert len(plan.warnings) == len(set(plan.warnings)) == 4
