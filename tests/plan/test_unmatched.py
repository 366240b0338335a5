"""Objects that nobody selects, namespaces that are forgotten, amounts that are none; and what holds for any selector."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components import Cluster, FleetError, Inventory
from fleet_components.content.catalogue import Catalogue
from fleet_components.model.cluster import Usage
from fleet_components.model.manifest import Manifest
from fleet_components.model.selector import LabelSelector, Requirement
from fleet_components.plan.asked_objects import AskedObjects
from fleet_components.plan.no_match import AskedMembers
from fleet_components.systems.karmada.model.policy import (
    ClusterAffinity,
    FieldSelector,
    ResourceSelector,
)
from fleet_components.systems.karmada.plan.asked_members import KarmadaMembers
from fleet_components.systems.karmada.plan.unmatched import _wanted
from fleet_components.systems.kubefleet.model.placement import (
    ClusterSelectorTerm,
    PropertyRequirement,
    PropertySelector,
)
from fleet_components.systems.kubefleet.plan.asked_members import KubeFleetMembers
from tests.plan.stack import Stack
from tests.plan.test_histories import alike, warning
from tests.plan.unmatched import Document, changed, deployment, object_of, planned, told

pytestmark = pytest.mark.long

PLACEMENT, POLICY = "placement.kubernetes-fleet.io/v1beta1", "policy.karmada.io/v1alpha1"
CRD = "apiextensions.k8s.io/v1"
LEFT, SELECT = "selected by no policy", "select them, or take them out"


def member(name: str, **status: Any) -> Document:
    identity = {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}
    kind = ("cluster.kubernetes-fleet.io/v1", "MemberCluster")
    return object_of(*kind, name, spec={"identity": identity}, status=status)


def crp(name: str, *selectors: Document, **policy: Any) -> Document:
    whole = {"resourceSelectors": list(selectors), **({"policy": policy} if policy else {})}
    return object_of(PLACEMENT, "ClusterResourcePlacement", name, spec=whole)


def rp(name: str, namespace: str, **policy: Any) -> Document:
    whole = {"resourceSelectors": [selector("ConfigMap")], **({"policy": policy} if policy else {})}
    return object_of(PLACEMENT, "ResourcePlacement", name, namespace, spec=whole)


def selector(kind: str, name: str = "", **more: Any) -> Document:
    return {"group": "", "version": "v1", "kind": kind, **({"name": name} if name else {}), **more}


def only(name: str) -> Document:
    return selector("Namespace", name, selectionScope="NamespaceOnly")


def on(*names: str) -> dict[str, Any]:
    return {"placementType": "PickFixed", "clusterNames": list(names)}


def propagation(namespace: str, *kinds: str, name: str = "p", **spec: Any) -> Document:
    versions = {"Deployment": "apps/v1"}
    selectors = [{"apiVersion": versions.get(kind, "v1"), "kind": kind} for kind in kinds]
    return object_of(
        POLICY, "PropagationPolicy", name, namespace, spec={"resourceSelectors": selectors, **spec}
    )


def config(name: str, namespace: str = "shop", **more: Any) -> Document:
    return object_of("v1", "ConfigMap", name, namespace, **more)


def space(name: str) -> Document:
    return object_of("v1", "Namespace", name)


MEMBERS = [member("a"), member("b"), member("c")]
SHOP = [space("shop"), config("settings"), crp("shop", selector("Namespace", "shop"))]


def left(*documents: Document) -> list[str]:
    """What is said of objects that nobody selects."""
    return [
        f"{what} ({hint})"
        for _, what, hint in told(planned([*MEMBERS, *documents]))
        if LEFT in what
    ]


def test_objects_that_nobody_selects_are_counted_in_one_warning() -> None:
    assert left(*SHOP) == []
    item = [object_of("rbac.authorization.k8s.io/v1", "ClusterRole", "reader")]
    assert left(*SHOP, *item) == [f"1 object is {LEFT}: ClusterRole reader ({SELECT})"]
    many = [space("pay"), *(config(f"c{number}", "pay") for number in range(7))]
    named = ", ".join(f"ConfigMap pay/c{number}" for number in range(5))
    assert left(*SHOP, *many) == [f"7 objects are {LEFT}: {named} and 2 more ({SELECT})"]


def test_they_are_told_at_the_first_of_them() -> None:
    documents = [*MEMBERS, *SHOP, config("z", "pay"), config("a", "pay")]
    (found,) = [item for item in planned(documents).warnings if LEFT in item.what]
    assert (found.file, found.line) == ("fleet.yaml", 1 + 2 * (len(MEMBERS) + len(SHOP)))


@pytest.mark.parametrize("of_karmada", [False, True])
def test_both_systems_count_alike(of_karmada: bool) -> None:
    extra = config("extra", "pay")
    taking = propagation("shop", "ConfigMap") if of_karmada else SHOP[-1]
    assert left(*SHOP[:-1], taking, extra) == [
        f"1 object is {LEFT}: ConfigMap pay/extra ({SELECT})"
    ]


@pytest.mark.parametrize(
    "document",
    [
        object_of("fleet-components/v1", "KarmadaSettings", "mine", spec={}),
        object_of(CRD, "CustomResourceDefinition", "widgets.example.com", spec={}),
        object_of("v1", "Namespace", "kube-system"),
        object_of("v1", "Namespace", "default"),
        config("coredns", "kube-system"),
        config("own", "fleet-system"),
        config("kube-root-ca.crt", "pay"),
        object_of("v1", "ServiceAccount", "default", "pay"),
        object_of("v1", "Pod", "by-hand", "pay", spec={}),
    ],
    ids=lambda document: f"{document['kind']} {document['metadata']['name']}",
)
def test_what_nobody_would_miss_does_not_count(document: Document) -> None:
    assert left(*SHOP, document) == []


def test_a_namespace_counts_where_nothing_is_in_it() -> None:
    assert left(*SHOP, space("pay")) == [f"1 object is {LEFT}: Namespace pay ({SELECT})"]
    assert left(*SHOP, space("pay"), config("x", "pay")) == [
        f"1 object is {LEFT}: ConfigMap pay/x ({SELECT})"
    ]


def test_what_goes_along_is_selected() -> None:
    web = deployment("web", "shop")
    web["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "configMap": {"name": "settings"}}]
    alone = propagation("shop", "Deployment")
    assert left(*SHOP[:-1], web, alone) == [
        f"1 object is {LEFT}: ConfigMap shop/settings ({SELECT})"
    ]
    assert left(*SHOP[:-1], web, propagation("shop", "Deployment", propagateDeps=True)) == []


def test_what_is_in_an_envelope_goes_with_it() -> None:
    envelope = object_of(
        PLACEMENT, "ResourceEnvelope", "e", "shop", data={"c.yaml": config("inner")}
    )
    assert left(*SHOP, envelope) == []
    assert left(*SHOP[:-1], envelope, crp("only", only("shop"))) == [
        f"2 objects are {LEFT}: ConfigMap shop/settings, ResourceEnvelope shop/e ({SELECT})"
    ]


def test_contents_of_a_namespace_that_nobody_wrote_down_are_said_there() -> None:
    assert left(config("settings"), SHOP[-1]) == []


def forgotten(*documents: Document) -> list[tuple[str, str, str]]:
    return [item for item in told(planned(list(documents))) if LEFT not in item[1]]


NEEDED = "select it with a ClusterResourcePlacement, selectionScope: NamespaceOnly, unless it is there already"
ADD = "add a Namespace pay to the manifests, unless it is there already"


def test_a_namespace_that_goes_nowhere_is_said() -> None:
    documents = [*MEMBERS, space("pay"), config("rates", "pay"), rp("rates", "pay")]
    what = "does not go to a, b, c, where ResourcePlacement pay/rates needs it"
    assert forgotten(*documents) == [("Namespace pay", what, NEEDED)]
    assert forgotten(*documents, crp("spaces", only("pay"))) == []


def test_a_namespace_that_goes_to_some_of_the_members_is_said_for_the_others() -> None:
    documents = [
        *MEMBERS,
        space("pay"),
        config("rates", "pay"),
        crp("spaces", only("pay"), **on("a")),
    ]
    what = "does not go to c, where ResourcePlacement pay/rates needs it"
    assert forgotten(*documents, rp("rates", "pay", **on("a", "c"))) == [
        ("Namespace pay", what, NEEDED)
    ]
    assert forgotten(*documents, rp("rates", "pay", **on("a"))) == []


def test_a_namespace_is_said_once_for_all_that_need_it() -> None:
    documents = [*MEMBERS, space("pay"), deployment("web", "pay"), config("rates", "pay")]
    policies = [propagation("pay", "ConfigMap", "Deployment")]
    both = forgotten(*documents, *policies, crp("spaces", only("pay"), **on("a")))
    what = "does not go to b, c, where ConfigMap pay/rates, Deployment pay/web need it"
    assert both == [("Namespace pay", what, NEEDED)]
    assert (
        forgotten(*documents, *policies) == []
    )  # a namespace of the source goes along with what is in it


def test_a_namespace_that_nobody_wrote_down_is_said_at_what_is_in_it() -> None:
    documents = [*MEMBERS, config("rates", "pay"), propagation("pay", "ConfigMap")]
    what = "nobody brings namespace pay to a, b, c, where ConfigMap pay/rates needs it"
    assert forgotten(*documents) == [("ConfigMap pay/rates: metadata.namespace", what, ADD)]
    ((_, _, hint),) = forgotten(*documents, space("pya"))
    assert hint == f'did you mean "pya"? else {ADD}'


def test_namespaces_that_are_there_are_not_missed() -> None:
    there = [
        member("a", namespaces={"pay": "", "default": ""}),
        member("b", namespaces={"default": ""}),
    ]
    documents = [*there, space("pay"), config("rates", "pay"), rp("rates", "pay")]
    assert [what for _, what, _ in forgotten(*documents)] == [
        "does not go to b, where ResourcePlacement pay/rates needs it"
    ]
    assert forgotten(*there, config("rates", "default"), rp("rates", "default")) == []


def test_what_goes_nowhere_needs_no_namespace() -> None:
    documents = [*MEMBERS, space("pay"), config("rates", "pay")]
    assert (
        forgotten(*documents, rp("rates", "pay", placementType="PickN", numberOfClusters=0)) == []
    )


COST, NODES = "kubernetes.azure.com/per-cpu-core-cost", "kubernetes-fleet.io/node-count"
WRITE = 'write a quantity, such as "0.05" or 16Gi: the first policy that asks for it fails on it'


def amounts(*statuses: dict[str, Any], **usage: Any) -> list[tuple[str, str, str]]:
    """What is said of members with these properties, or with this usage."""
    members = [
        member(f"m{n}", properties={k: {"value": v} for k, v in status.items()})
        for n, status in enumerate(statuses)
    ]
    members += [member("u", resourceUsage=usage)] if usage else []
    return told(planned([*members, *SHOP]))


@pytest.mark.parametrize(
    ("name", "text", "wrong"),
    [
        (COST, "0.05", False),
        (COST, "cheap", True),
        (NODES, "some", True),
        ("example.com/slots", "12 pcs", True),
        ("example.com/slots", "0,5", True),
        ("example.com/slots", "50%", True),
        ("example.com/slots", "16GB", True),
        ("example.com/slots", "1e3", False),
        ("k8s.io/k8s-version", "v1.30.2", False),
        ("k8s.io/k8s-version", "1.30.2", False),
        ("example.com/owner", "team a", False),
        ("example.com/since", "2026-11-20", False),
        ("example.com/empty", "", False),
    ],
)
def test_a_property_that_is_meant_as_an_amount_and_is_none(
    name: str, text: str, wrong: bool
) -> None:
    expected = [
        (f"MemberCluster m0: status.properties[{name}]", f'"{text}" is not a quantity', WRITE)
    ]
    assert amounts({name: text}) == (expected if wrong else [])


def test_a_property_that_is_an_amount_elsewhere_is_one_everywhere() -> None:
    (found,) = amounts(
        {"example.com/slots": "12"}, {"example.com/slots": "many"}, {"example.com/slots": "few"}
    )
    assert found[:2] == (
        "MemberCluster m1: status.properties[example.com/slots]",
        '"many" is not a quantity, nor is that of m2',
    )


@pytest.mark.parametrize("field", ["capacity", "allocatable", "available"])
def test_usage_is_nothing_but_amounts(field: str) -> None:
    (found,) = amounts(**{field: {"cpu": "8", "memory": "much"}})
    assert found == (
        f"MemberCluster u: status.resourceUsage.{field}.memory",
        '"much" is not a quantity',
        WRITE,
    )


@pytest.mark.parametrize("field", ["allocatable", "allocated", "allocating"])
def test_the_summary_of_a_member_of_karmada(field: str) -> None:
    summary = {"allocatable": {"cpu": "4"}, field: {"cpu": "4 cores"}}
    cluster = object_of("cluster.karmada.io/v1alpha1", "Cluster", "k", spec={"syncMode": "Push"})
    (found,) = told(planned([{**cluster, "status": {"resourceSummary": summary}}, *SHOP]))
    assert found == (
        f"Cluster k: status.resourceSummary.{field}.cpu",
        '"4 cores" is not a quantity',
        WRITE,
    )


def test_a_member_of_a_program_has_no_line() -> None:
    made = Cluster("made", usage=Usage(capacity={"cpu": "8 cores"}))
    assert told(planned([*MEMBERS, *SHOP], members=[made])) == [
        ("member made: resourceUsage.capacity.cpu", '"8 cores" is not a quantity', WRITE)
    ]


def test_of_a_lost_member_nobody_asks() -> None:
    documents = [*MEMBERS, member("lost", resourceUsage={"capacity": {"cpu": "lots"}}), *SHOP]
    assert len(told(planned(documents))) == 1
    assert told(planned(documents, lost=["lost"])) == []


@pytest.mark.parametrize("where", ["allocatable", "models", "requests"])
def test_an_amount_that_a_policy_of_karmada_asks_for_is_an_error_with_its_line(where: str) -> None:
    spec, summary = {"syncMode": "Push"}, {"allocatable": {"cpu": "4", "pods": "9"}}
    web = deployment("web", "shop")
    requests = {"cpu": "lots" if where == "requests" else "1"}
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": requests}
    if where == "allocatable":
        summary["allocatable"]["cpu"] = "lots"
    status = {
        "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"kind": "Deployment"}]}]
    }
    if where == "models":
        ranges = [{"name": "cpu", "min": "lots", "max": "9"}]
        spec["resourceModels"] = [{"grade": 0, "ranges": ranges}]  # type: ignore[assignment]
        summary["allocatableModelings"] = [{"grade": 0, "count": 3}]  # type: ignore[assignment]
    cluster = object_of("cluster.karmada.io/v1alpha1", "Cluster", "k", spec=spec)
    dynamic = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
    policy = propagation("shop", "Deployment", placement={"replicaScheduling": dynamic})
    with pytest.raises(FleetError) as error:
        planned(
            [
                {**cluster, "status": {**status, "resourceSummary": summary}},
                space("shop"),
                web,
                policy,
            ]
        )
    (problem,) = error.value.problems
    assert problem.line
    assert '"lots"' in problem.what
    assert "quantit" in problem.what + problem.hint


def test_both_doors_say_the_same() -> None:
    documents = [
        *(member(name, properties={COST: {"value": "0,5"}}) for name in "ab"),
        *SHOP,
        config("rates", "pay"),
        propagation(
            "pay", "ConfigMap", placement={"clusterAffinity": {"clusterNames": ["a", "zzz"]}}
        ),
        propagation("nowhere", "ConfigMap", name="q"),
    ]
    documents = changed(documents, "ClusterResourcePlacement/shop", "spec.policy", on("b", "zzz"))
    stack = Stack()
    seen, directory = (
        stack.program(documents, {"lost": "a"}),
        stack.directory(documents, lost=["a"]),
    )
    alike(directory, seen)
    assert seen.plan is not None
    assert len(seen.plan.warnings) == 4
    for here, there in zip(directory.subjects, seen.plan.subjects, strict=True):
        assert list(map(warning, here.subject.warnings)) == list(
            map(warning, there.subject.warnings)
        )
    logged = [text for level, text in seen.run.messages if level == "warning"]
    assert all(any(item.what in text for text in logged) for item in seen.plan.warnings)


keys, texts = st.sampled_from(["env", "region", "tier"]), st.sampled_from(["a", "b", "c"])
labels = st.dictionaries(keys, texts)
operators = st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"])
requirements = st.builds(
    lambda key, operator, values: Requirement(
        key, operator, tuple(values) if operator in ("In", "NotIn") else ()
    ),
    keys,
    operators,
    st.lists(texts, min_size=1, max_size=2, unique=True),
)
selectors = st.builds(LabelSelector, labels, st.lists(requirements, max_size=2).map(tuple))
names = st.sampled_from(["m0", "m1", "m2", "gone"])
amount = st.sampled_from(["1", "2", "3"])
clusters = st.lists(
    st.tuples(
        labels,
        st.dictionaries(st.sampled_from(["p", "q"]), amount),
        st.sampled_from(["", "north", "south"]),
    ),
    min_size=1,
    max_size=3,
).map(
    lambda found: [
        Cluster(f"m{n}", item[0], properties=item[1], region=item[2])
        for n, item in enumerate(found)
    ]
)
fields = st.builds(
    lambda requirement, key: FieldSelector(
        (Requirement(key, requirement.operator, requirement.values and ("north",)),)
    ),
    requirements,
    st.sampled_from(["region", "provider", "zone"]),
)
affinities = st.builds(
    lambda label, field, chosen, exclude: ClusterAffinity(
        label_selector=label,
        field_selector=field,
        cluster_names=tuple(chosen),
        exclude=tuple(exclude),
    ),
    st.none() | selectors,
    st.none() | fields,
    st.lists(names, max_size=2, unique=True),
    st.lists(names, max_size=1),
)
expressions = st.builds(
    PropertyRequirement,
    st.sampled_from(["p", "q"]),
    st.sampled_from(["Ge", "Lt", "Eq"]),
    amount.map(lambda text: (text,)),
)
terms = st.builds(
    ClusterSelectorTerm,
    st.none() | selectors,
    st.none() | st.lists(expressions, max_size=2).map(lambda found: PropertySelector(tuple(found))),
)


@given(clusters, selectors)
def test_a_label_selector_is_warned_of_exactly_where_no_member_matches(
    members: list[Cluster], asked: LabelSelector
) -> None:
    found = list(AskedMembers.of(members, Inventory(members)).labelled(("s",), asked))
    assert bool(found) == (not any(asked.matches(item.labels) for item in members))


@given(clusters, affinities)
def test_an_affinity_is_warned_of_exactly_where_it_is_in_vain(
    members: list[Cluster], asked: ClusterAffinity
) -> None:
    found = list(KarmadaMembers.of(members, Inventory(members)).affinity((), asked))
    known = {item.name for item in members}
    unknown = [name for name in (*asked.cluster_names, *asked.exclude) if name not in known]
    assert [str(item.message) for item in found if item.message.code == "no-member-declared"] == [
        f'there is no member "{name}"' for name in unknown
    ]
    others = [item for item in found if item.message.code != "no-member-declared"]
    vain = not any(asked.matches(item) for item in members)
    assert bool(others) == vain or (vain and set(asked.cluster_names) - known)


@given(clusters, terms)
def test_a_required_term_is_warned_of_exactly_where_no_member_meets_it(
    members: list[Cluster], asked: ClusterSelectorTerm
) -> None:
    compare = {"Ge": lambda a, b: a >= b, "Lt": lambda a, b: a < b, "Eq": lambda a, b: a == b}

    def meets(cluster: Cluster) -> bool:
        wanted = asked.property_selector.match_expressions if asked.property_selector else ()
        has = all(
            w.name in cluster.properties
            and compare[w.operator](cluster.properties[w.name], w.values[0])
            for w in wanted
        )
        return has and (
            asked.label_selector is None or asked.label_selector.matches(cluster.labels)
        )

    found = list(KubeFleetMembers.of(members, Inventory(members)).term((), asked))
    assert bool(found) == (not any(map(meets, members)))


objects = st.lists(
    st.builds(
        lambda version, kind, namespace, name, label: {
            "apiVersion": version,
            "kind": kind,
            "metadata": {"name": name, "namespace": namespace, "labels": label},
        },
        st.sampled_from(["apps/v1", "apps/v2"]),
        st.sampled_from(["Deployment", "StatefulSet"]),
        *(st.sampled_from(["one", "two"]), st.sampled_from(["x", "y"]), labels),
    ),
    max_size=4,
    unique_by=lambda build: (
        build["kind"],
        build["metadata"]["namespace"],
        build["metadata"]["name"],
    ),
)
wanted = st.builds(
    ResourceSelector,
    st.sampled_from(["apps/v1", "apps/v2", "v1"]),
    *(st.sampled_from(["Deployment", "StatefulSet"]), st.sampled_from(["", "one", "two"])),
    *(st.sampled_from(["", "x", "y", "z"]), st.none() | selectors),
)


@given(objects, wanted)
def test_a_selector_of_objects_finds_exactly_what_karmada_matches(
    found: list[dict[str, Any]], asked: ResourceSelector
) -> None:
    catalogue = Catalogue.of(map(Manifest, found))
    here = AskedObjects(catalogue)
    assert list(here.found(_wanted(asked))) == [
        manifest for manifest in catalogue.manifests if asked.rank(manifest)
    ]
    assert here.missing(_wanted(asked))[0]
