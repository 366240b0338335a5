"""What KubeFleet's objects ask for in vain is said, with what was probably meant."""

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

PLACEMENT = "placement.kubernetes-fleet.io/v1beta1"
NODES, CPU = "kubernetes-fleet.io/node-count", "resources.kubernetes-fleet.io/available-cpu"
IDENTITY = {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}


def member(name: str, region: str, ring: str, nodes: str) -> Document:
    status = {
        "properties": {NODES: {"value": nodes}},
        "resourceUsage": {"available": {"cpu": nodes}},
    }
    labels = {"region": region, "env": "prod", "ring": ring}
    kind = ("cluster.kubernetes-fleet.io/v1", "MemberCluster")
    return object_of(*kind, name, labels=labels, spec={"identity": IDENTITY}, status=status)


def selector(kind: str, name: str = "", group: str = "", **more: Any) -> Document:
    return {
        "group": group,
        "version": "v1",
        "kind": kind,
        **({"name": name} if name else {}),
        **more,
    }


TERM = {
    "labelSelector": {
        "matchLabels": {"env": "prod"},
        "matchExpressions": [{"key": "region", "operator": "Exists"}],
    },
    "propertySelector": {"matchExpressions": [{"name": NODES, "operator": "Ge", "values": ["3"]}]},
}
SORTER = {"name": CPU, "sortOrder": "Descending"}
PREFERENCE = {"labelSelector": {"matchLabels": {"region": "europe"}}, "propertySorter": SORTER}
POLICY = {
    "placementType": "PickN",
    "numberOfClusters": 3,
    "affinity": {
        "clusterAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [TERM]},
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 10, "preference": PREFERENCE}
            ],
        }
    },
    "topologySpreadConstraints": [{"topologyKey": "region", "maxSkew": 5}],
}
SHOP = {
    "resourceSelectors": [
        selector("Namespace", "shop"),
        selector("ClusterRole", "reader", "rbac.authorization.k8s.io"),
        selector(
            "ClusterRole",
            group="rbac.authorization.k8s.io",
            labelSelector={"matchLabels": {"team": "pay"}},
        ),
    ],
    "policy": POLICY,
}
FIXED = {
    "resourceSelectors": [selector("PriorityClass", group="scheduling.k8s.io")],
    "policy": {"placementType": "PickFixed", "clusterNames": ["aks-iowa", "aks-dublin"]},
    "strategy": {"type": "External"},
}
STAGES = [
    {"name": "canary", "labelSelector": {"matchLabels": {"ring": "1"}}, "sortingLabelKey": "ring"},
    {"name": "rest", "labelSelector": {"matchLabels": {"ring": "2"}}},
]
RATES = {"resourceSelectors": [selector("ConfigMap", "rates")]}
SPACES = {"resourceSelectors": [selector("Namespace", "pay", selectionScope="NamespaceOnly")]}
RUN = {"placementName": "fixed", "stagedRolloutStrategyName": "rings", "state": "Run"}
ROLE = ("rbac.authorization.k8s.io/v1", "ClusterRole")
VARIABLE = {
    "op": "add",
    "path": "/metadata/labels",
    "value": {"region": "${MEMBER-CLUSTER-LABEL-KEY-region}"},
}
RULE = {
    "clusterSelector": {
        "clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"ring": "1"}}}]
    },
    "jsonPatchOverrides": [VARIABLE],
}
READER = {
    "clusterResourceSelectors": [selector("ClusterRole", "reader", "rbac.authorization.k8s.io")]
}
SETTINGS = {"resourceSelectors": [selector("ConfigMap", "settings")], "placement": {"name": "shop"}}
RULES = {"policy": {"overrideRules": [RULE]}}

FLEET: list[Document] = [
    member("aks-dublin", "europe", "1", "3"),
    member("aks-iowa", "america", "2", "12"),
    member("aks-tokyo", "asia", "2", "5"),
    object_of("v1", "Namespace", "shop"),
    object_of("v1", "ConfigMap", "settings", "shop"),
    deployment("web", "shop"),
    object_of("v1", "Namespace", "pay"),
    object_of("v1", "ConfigMap", "rates", "pay", labels={"app": "rates"}),
    object_of(*ROLE, "reader"),
    object_of(*ROLE, "payer", labels={"team": "pay"}),
    object_of("scheduling.k8s.io/v1", "PriorityClass", "high", value=10),
    object_of(PLACEMENT, "ClusterResourcePlacement", "fixed", spec=FIXED),
    object_of(PLACEMENT, "ClusterResourcePlacement", "shop", spec=SHOP),
    object_of(PLACEMENT, "ClusterResourcePlacement", "spaces", spec=SPACES),
    object_of(PLACEMENT, "ResourcePlacement", "rates", "pay", spec=RATES),
    object_of(PLACEMENT, "ClusterStagedUpdateStrategy", "rings", spec={"stages": STAGES}),
    object_of(PLACEMENT, "ClusterStagedUpdateRun", "go", spec=RUN),
    object_of(PLACEMENT, "ClusterResourceOverride", "roles", spec={**READER, **RULES}),
    object_of(PLACEMENT, "ResourceOverride", "maps", "shop", spec={**SETTINGS, **RULES}),
]
SHOP_IS, FIXED_IS, SPACES_IS = (
    f"ClusterResourcePlacement/{name}" for name in ("shop", "fixed", "spaces")
)
RATES_IS, RINGS_IS, RUN_IS = (
    "ResourcePlacement/rates",
    "ClusterStagedUpdateStrategy/rings",
    "ClusterStagedUpdateRun/go",
)
ROLES_IS, MAPS_IS = "ClusterResourceOverride/roles", "ResourceOverride/maps"
ASKED = "spec.policy.overrideRules[0]"
MEMBERS = "the members are: aks-dublin, aks-iowa, aks-tokyo"
LABELS = "they have: env, kubernetes-fleet.io/member-name, region, ring"
PROPERTIES = f"they have: {NODES}, {CPU}"
AFFINITY = "spec.policy.affinity.clusterAffinity"
TERMS = f"{AFFINITY}.requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms[0]"
PREFERRED = f"{AFFINITY}.preferredDuringSchedulingIgnoredDuringExecution[0].preference"
EUROPE_AND_MORE = {
    "labelSelector": {"matchLabels": {"region": "europe"}},
    "propertySelector": {"matchExpressions": [{"name": NODES, "operator": "Gt", "values": ["3"]}]},
}

CASES = {
    "a name near that of a member": Case(
        FIXED_IS,
        *("spec.policy.clusterNames[0]", "aks-iwoa"),
        what='there is no member "aks-iwoa"',
        hint=f'did you mean "aks-iowa"? {MEMBERS}',
    ),
    "a part of a member's name": Case(
        FIXED_IS,
        *("spec.policy.clusterNames[1]", "kyo"),
        what='there is no member "kyo"',
        hint=f'did you mean "aks-tokyo"? {MEMBERS}',
    ),
    "a name like no other": Case(
        FIXED_IS,
        *("spec.policy.clusterNames[1]", "zzz"),
        what='there is no member "zzz"',
        hint=MEMBERS,
    ),
    "a required label of another value": Case(
        SHOP_IS,
        *(f"{TERMS}.labelSelector.matchLabels.env", "test"),
        what="no member has env=test",
        hint="for env the members have prod (3)",
    ),
    "a required label misspelt": Case(
        SHOP_IS,
        *(f"{TERMS}.labelSelector.matchLabels.rgion", "asia"),
        what="no member has rgion=asia",
        hint=f"the label rgion is on none of them; did you mean region? {LABELS}",
    ),
    "an expression that none meets": Case(
        SHOP_IS,
        *(f"{TERMS}.labelSelector.matchExpressions[0].key", "tier"),
        at=f"{TERMS}.labelSelector.matchExpressions[0]",
        what="no member has label tier",
        hint=f"the label tier is on none of them; {LABELS}",
    ),
    "labels that nobody has together": Case(
        SHOP_IS,
        *(f"{TERMS}.labelSelector", {"matchLabels": {"region": "europe", "ring": "2"}}),
        what="no member has all of region=europe, ring=2",
        hint="region=europe: aks-dublin; ring=2: aks-iowa, aks-tokyo",
    ),
    "a required property misspelt": Case(
        SHOP_IS,
        *(f"{TERMS}.propertySelector.matchExpressions[0].name", "kubernetes-fleet.io/nodes"),
        what='no member has the property "kubernetes-fleet.io/nodes"',
        hint=f'did you mean "{NODES}"? {PROPERTIES}',
    ),
    "more than any member has": Case(
        SHOP_IS,
        *(f"{TERMS}.propertySelector.matchExpressions[0].values", ["13"]),
        at=f"{TERMS}.propertySelector.matchExpressions[0]",
        what=f"no member has {NODES} Ge 13",
        hint="they have 3 to 12",
    ),
    "labels and properties that nobody has together": Case(
        SHOP_IS,
        *(TERMS, EUROPE_AND_MORE),
        what="no member matches",
        hint="each part of it some member meets, but none meets all",
    ),
    "a preferred label": Case(
        SHOP_IS,
        *(f"{PREFERRED}.labelSelector.matchLabels.region", "africa"),
        what="no member has region=africa",
        hint="for region the members have america (1), asia (1), europe (1)",
    ),
    "a property to sort by": Case(
        SHOP_IS,
        *(f"{PREFERRED}.propertySorter.name", "resources.kubernetes-fleet.io/available-gpu"),
        what='no member has the property "resources.kubernetes-fleet.io/available-gpu"',
        hint=f'did you mean "{CPU}"? {PROPERTIES}',
    ),
    "a topology key": Case(
        SHOP_IS,
        *("spec.policy.topologySpreadConstraints[0].topologyKey", "zone"),
        what='no member has the label "zone"',
        hint=LABELS,
    ),
    "a namespace near one that there is": Case(
        SPACES_IS,
        *("spec.resourceSelectors[0].name", "pya"),
        what="there is no Namespace pya",
        hint='did you mean "pay"?',
    ),
    "an object like no other": Case(
        SHOP_IS,
        *("spec.resourceSelectors[1].name", "zzz"),
        what="there is no ClusterRole zzz",
        hint="there is: ClusterRole payer, ClusterRole reader",
    ),
    "labels of objects": Case(
        SHOP_IS,
        *("spec.resourceSelectors[2].labelSelector.matchLabels.team", "shop"),
        at="spec.resourceSelectors[2]",
        what="no ClusterRole has team=shop",
        hint="for team they have pay (1)",
    ),
    "a kind of which there is nothing": Case(
        FIXED_IS,
        *("spec.resourceSelectors[0]", selector("StorageClass", group="storage.k8s.io")),
        what="there is no StorageClass",
        hint="add it to the manifests, or take the selector out",
    ),
    "an object of a namespace": Case(
        RATES_IS,
        *("spec.resourceSelectors[0].name", "zzz"),
        what="there is no ConfigMap pay/zzz",
        hint="there is: ConfigMap pay/rates",
    ),
    "an object of another namespace": Case(
        RATES_IS,
        *("spec.resourceSelectors[0].name", "settings"),
        what="there is no ConfigMap pay/settings",
        hint="there is one in namespace shop",
    ),
    "an object of another kind": Case(
        RATES_IS,
        *("spec.resourceSelectors[0]", selector("Secret", "rates")),
        at="spec.resourceSelectors[0].name",
        what="there is no Secret pay/rates",
        hint="there is: ConfigMap pay/rates",
    ),
    "labels of objects in a namespace": Case(
        RATES_IS,
        *(
            "spec.resourceSelectors[0]",
            selector("ConfigMap", labelSelector={"matchLabels": {"ap": "x"}}),
        ),
        what="no ConfigMap in namespace pay has ap=x",
        hint="the label ap is on none of them; did you mean app?",
    ),
    "the namespace of a placement": Case(
        RATES_IS,
        *("metadata.namespace", "pya"),
        what='there is no object in namespace "pya"',
        hint="ConfigMap rates is in namespace pay",
    ),
    "the default namespace, without anything in it": Case(
        SPACES_IS,
        *("spec.resourceSelectors[0].name", "default"),
        what='there is no object in namespace "default"',
        hint="there are objects in: pay, shop",
    ),
    "the placement of a run": Case(
        RUN_IS,
        *("spec.placementName", "fixt"),
        what='there is no ClusterResourcePlacement "fixt"',
        hint='did you mean "fixed"? there is: fixed, shop, spaces',
    ),
    "a placement that rolls out by itself": Case(
        RUN_IS,
        *("spec.placementName", "shop"),
        what="ClusterResourcePlacement shop does not leave its rollout to update runs, so this one does nothing",
        hint="write strategy: {type: External} there, or take the run out",
    ),
    "a stage of no member": Case(
        RINGS_IS,
        *("spec.stages[0].labelSelector.matchLabels.ring", "0"),
        what="no member has ring=0",
        hint="for ring the members have 2 (2), 1 (1)",
    ),
    "a stage without a selector": Case(
        RINGS_IS,
        *("spec.stages[1].labelSelector", None),
        at="spec.stages[1]",
        what="stage rest selects no member",
        hint="write labelSelector: {} for all of them",
    ),
    "a label to order a stage by": Case(
        RINGS_IS,
        *("spec.stages[0].sortingLabelKey", "rnig"),
        what='no member has the label "rnig"',
        hint=f'did you mean "ring"? {LABELS}',
    ),
    "an object of an override": Case(
        MAPS_IS,
        *("spec.resourceSelectors[0].name", "setings"),
        what="there is no ConfigMap shop/setings",
        hint='did you mean "settings"?',
    ),
    "an object of an override in another version": Case(
        ROLES_IS,
        *("spec.clusterResourceSelectors[0].version", "v1beta1"),
        at="spec.clusterResourceSelectors[0].name",
        what="there is no ClusterRole reader in version v1beta1",
        hint="written in rbac.authorization.k8s.io/v1",
    ),
    "the namespace of an override": Case(
        MAPS_IS,
        *("metadata.namespace", "shpo"),
        what='there is no object in namespace "shpo"',
        hint="ConfigMap settings is in namespace shop",
    ),
    "the placement of an override": Case(
        MAPS_IS,
        *("spec.placement.name", "sop"),
        what='there is no ClusterResourcePlacement "sop"',
        hint='did you mean "shop"? there is: fixed, shop, spaces',
    ),
    "the placement of an override, in the other scope": Case(
        MAPS_IS,
        *("spec.placement.scope", "Namespaced"),
        at="spec.placement.name",
        what='there is no ResourcePlacement "shop/shop"',
        hint="there is a ClusterResourcePlacement shop: write scope: Cluster",
    ),
    "a rule for a label of another value": Case(
        ROLES_IS,
        *(f"{ASKED}.clusterSelector.clusterSelectorTerms[0].labelSelector.matchLabels.ring", "0"),
        what="no member has ring=0",
        hint="for ring the members have 2 (2), 1 (1)",
    ),
    "a rule without a selector": Case(
        ROLES_IS,
        *(f"{ASKED}.clusterSelector", None),
        at=ASKED,
        what="selects no member",
        hint="write clusterSelector: {clusterSelectorTerms: []} for all of them",
    ),
    "a variable for a label that nobody has": Case(
        MAPS_IS,
        *(f"{ASKED}.jsonPatchOverrides[0].value", {"zone": "${MEMBER-CLUSTER-LABEL-KEY-regon}"}),
        what='no member has the label "regon"',
        hint=f'did you mean "region"? {LABELS}',
    ),
}


def test_what_matches_is_not_warned_of() -> None:
    assert told(planned(FLEET)) == []


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_matches_nothing_is_said(case: Case) -> None:
    assert said(planned(case.in_(FLEET))) == [case.told]


def test_a_stage_that_none_of_the_picked_members_is_in_is_said_to_be_skipped() -> None:
    documents = changed(FLEET, FIXED_IS, "spec.policy.clusterNames", ["aks-iowa"])
    assert told(planned(documents)) == [
        (
            "ClusterStagedUpdateStrategy rings: spec.stages[0].labelSelector",
            "stage canary is skipped, with its tasks: none of the members of ClusterResourcePlacement/fixed is in it",
            "they are: aks-iowa",
        )
    ]
    assert told(planned(without(documents, RUN_IS))) == []  # a strategy may wait for its run


def test_a_stage_without_a_selector_is_skipped_without_another_word() -> None:
    documents = changed(FLEET, RINGS_IS, "spec.stages", [*STAGES, {"name": "none"}])
    assert [item[1] for item in told(planned(documents))] == ["stage none selects no member"]


@pytest.mark.parametrize(
    ("name", "path", "value", "what", "hint"),
    [
        (
            *(FIXED_IS, "spec.policy.clusterNames[0]", "aks-tokyo"),
            *('member "aks-tokyo" is marked lost', "nothing goes there until it is back"),
        ),
        (
            *(SHOP_IS, f"{TERMS}.labelSelector.matchLabels", {"env": "prod", "region": "asia"}),
            *(
                "no member has env=prod, region=asia, label region",
                "but for aks-tokyo, marked lost",
            ),
        ),
        (
            *(SHOP_IS, f"{TERMS}.propertySelector.matchExpressions[0].name", "example.com/gpus"),
            *('no member has the property "example.com/gpus"', "but for aks-tokyo, marked lost"),
        ),
        (
            *(SHOP_IS, f"{TERMS}.propertySelector.matchExpressions[0].values", ["13"]),
            *(f"no member has {NODES} Ge 13", "but for aks-tokyo, marked lost"),
        ),
        (
            *(SHOP_IS, f"{TERMS}.labelSelector.matchLabels", {"ring": "2"}),
            *("no member matches", "but for aks-tokyo, marked lost"),
        ),
        (
            *(SHOP_IS, "spec.policy.topologySpreadConstraints[0].topologyKey", "rack"),
            *('no member has the label "rack"', "but for aks-tokyo, marked lost"),
        ),
    ],
)
def test_of_a_lost_member_that_is_what_is_said(
    name: str, path: str, value: Any, what: str, hint: str
) -> None:
    documents = changed(FLEET, "MemberCluster/aks-tokyo", "metadata.labels.rack", "r1")
    amounts = {"example.com/gpus": {"value": "4"}, NODES: {"value": "99"}}
    documents = changed(documents, "MemberCluster/aks-tokyo", "status.properties", amounts)
    documents = changed(
        documents, "MemberCluster/aks-iowa", "status.properties", {NODES: {"value": "1"}}
    )
    documents = changed(documents, name, path, value)
    assert [item[1:] for item in told(planned(documents, lost=["aks-tokyo"]))] == [(what, hint)]
    assert what not in [item[1] for item in told(planned(documents))]


def test_a_variable_for_a_label_that_only_other_members_have() -> None:
    documents = changed(FLEET, "MemberCluster/aks-iowa", "metadata.labels.zone", "z1")
    value = {"zone": "${MEMBER-CLUSTER-LABEL-KEY-zone}"}
    documents = changed(documents, ROLES_IS, f"{ASKED}.jsonPatchOverrides[0].value", value)
    (found,) = said(planned(documents))
    assert found[1:] == ('no member that it selects has the label "zone"', LABELS)


def test_an_object_that_nobody_places_is_overridden_in_vain() -> None:
    documents = changed(FLEET, SHOP_IS, "spec.resourceSelectors[1]", selector("Namespace", "pay"))
    (found,) = [
        item for item in told(planned(documents)) if item[0].startswith("ClusterResourceOverride")
    ]
    assert found[1] == "no placement brings ClusterRole reader"
    documents = changed(FLEET, ROLES_IS, "spec.placement", {"name": "fixed"})
    assert [item[1] for item in told(planned(documents))] == [
        "fixed does not bring ClusterRole reader"
    ]


def test_nothing_is_asked_of_a_fleet_without_members() -> None:
    """That there is none is one cause, and told once; names are names all the same."""
    nobody = without(FLEET, *(f"MemberCluster/aks-{name}" for name in ("dublin", "iowa", "tokyo")))
    missed = [f'there is no member "aks-{n}"' for n in ("iowa", "dublin")]
    assert [problem.what for problem in problems(planned(nobody))] == [
        "there is no member",
        *missed,
    ]


def test_what_the_selection_says_itself_is_not_said_again() -> None:
    documents = changed(FLEET, SPACES_IS, "spec.resourceSelectors[0].name", "tools")
    documents = changed(
        documents, SPACES_IS, "spec.resourceSelectors[0].selectionScope", "NamespaceWithResources"
    )
    documents += [object_of("v1", "ConfigMap", "hammer", "tools")]
    of_tools = [item for item in told(planned(documents)) if "tools" in "".join(item)]
    assert [what for _, what, _ in of_tools] == [
        "namespace tools is not in the catalogue, so nothing in it is selected"
    ]


def test_what_is_skipped_was_found() -> None:
    own = "kube-root-ca.crt"
    documents = changed(
        FLEET,
        RATES_IS,
        "spec.resourceSelectors",
        [*RATES["resourceSelectors"], selector("ConfigMap", own)],
    )
    assert told(planned([*documents, object_of("v1", "ConfigMap", own, "pay")])) == []


def test_beside_a_namespace_selected_in_part_selectors_look_into_it() -> None:
    part = selector("Namespace", "shop", selectionScope="NamespaceWithResourceSelectors")
    role = selector("ClusterRole", "raeder", "rbac.authorization.k8s.io")
    documents = changed(
        FLEET, SHOP_IS, "spec.resourceSelectors", [part, selector("ConfigMap", "rates"), role]
    )
    assert [item[1:] for item in said(planned(documents))] == [
        ("there is no ConfigMap shop/rates", "there is one in namespace pay"),
        ("there is no ClusterRole raeder", 'did you mean "reader"?'),
    ]


def test_warnings_of_a_placement_come_by_line() -> None:
    documents = changed(FLEET, SHOP_IS, f"{TERMS}.labelSelector.matchLabels.env", "test")
    documents = changed(documents, SHOP_IS, "spec.resourceSelectors[1].name", "zzz")
    (subject,) = [
        item.subject for item in planned(documents).subjects if item.subject.key == "shop"
    ]
    assert [warning.what for warning in subject.warnings] == [
        "there is no ClusterRole zzz",
        "no member has env=test",
    ]
