"""Rules of overrides that have no effect are warned of, with the reason, and no others are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.model.problem import FieldPath, Problem, show_path
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.trial import without_effect
from fleet_components.review.documents.subject import subject_document
from fleet_components.review.documents.wire import as_data
from tests.plan.unmatched import Document, object_of, planned, problems

KARMADA, KUBEFLEET = "policy.karmada.io/v1alpha1", "placement.kubernetes-fleet.io/v1beta1"
MEMBERS = ("east", "north", "west")
IDENTITY = {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}
OVERRIDES = (
    "ClusterOverridePolicy",
    "OverridePolicy",
    "ResourceOverride",
    "ClusterResourceOverride",
)


def deployment(**spec: Any) -> Document:
    containers = [
        {"name": "web", "image": "nginx:1.27", "args": ["-a"]},
        {"name": "side", "image": "side"},
    ]
    pod = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": pod, **spec}
    return object_of(
        "apps/v1", "Deployment", "web", "shop", labels={"app": "web", "tier": "a"}, spec=spec
    )


SETTINGS = object_of("v1", "ConfigMap", "settings", "shop", data={"conf": '{"size":1}'})


def karmada(*overrides: Document, placement: Document | None = None) -> list[Document]:
    spec = {"syncMode": "Push"}
    kind = ("cluster.karmada.io/v1alpha1", "Cluster")
    selectors = [
        {"apiVersion": "apps/v1", "kind": "Deployment"},
        {"apiVersion": "v1", "kind": "ConfigMap"},
    ]
    placed = {"resourceSelectors": selectors, "placement": placement or {}}
    return [
        *(object_of(*kind, name, labels={"site": name}, spec=spec) for name in MEMBERS),
        object_of("v1", "Namespace", "shop"),
        deployment(),
        SETTINGS,
        object_of(KARMADA, "PropagationPolicy", "shop", "shop", spec=placed),
        *overrides,
    ]


def policy(name: str, *rules: Document, wide: bool = False, kind: str = "Deployment") -> Document:
    select = {"apiVersion": "apps/v1" if kind == "Deployment" else "v1", "kind": kind}
    spec = {"resourceSelectors": [select], "overrideRules": list(rules)}
    kinds = ("ClusterOverridePolicy", name, "") if wide else ("OverridePolicy", name, "shop")
    return object_of(KARMADA, *kinds, spec=spec)


def rule(*members: str, **overriders: Any) -> Document:
    target = {"targetCluster": {"clusterNames": list(members)}} if members else {}
    return {**target, "overriders": overriders}


def kubefleet(*overrides: Document, names: tuple[str, ...] = MEMBERS) -> list[Document]:
    kind = ("cluster.kubernetes-fleet.io/v1", "MemberCluster")
    selectors = [{"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}]
    fixed = {"placementType": "PickFixed", "clusterNames": list(names)}
    return [
        *(
            object_of(*kind, name, labels={"site": name}, spec={"identity": IDENTITY})
            for name in MEMBERS
        ),
        object_of("v1", "Namespace", "shop"),
        deployment(),
        SETTINGS,
        object_of(
            KUBEFLEET,
            "ClusterResourcePlacement",
            "shop",
            spec={"resourceSelectors": selectors, "policy": fixed},
        ),
        *overrides,
    ]


def override(name: str, *rules: Document, of: str = "Deployment") -> Document:
    if of == "Namespace":
        selectors = [{"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}]
        spec = {"clusterResourceSelectors": selectors, "policy": {"overrideRules": list(rules)}}
        return object_of(KUBEFLEET, "ClusterResourceOverride", name, spec=spec)
    group, called = ("apps", "web") if of == "Deployment" else ("", "settings")
    selectors = [{"group": group, "version": "v1", "kind": of, "name": called}]
    spec = {"resourceSelectors": selectors, "policy": {"overrideRules": list(rules)}}
    return object_of(KUBEFLEET, "ResourceOverride", name, "shop", spec=spec)


def patch(*operations: Document, on: tuple[str, ...] = ()) -> Document:
    return {**_selector(on), "jsonPatchOverrides": list(operations)}


def delete(*on: str) -> Document:
    return {**_selector(on), "overrideType": "Delete"}


def _selector(on: tuple[str, ...]) -> Document:
    terms = [{"labelSelector": {"matchLabels": {"site": name}}} for name in on]
    return {"clusterSelector": {"clusterSelectorTerms": terms}}


def replace(path: str, value: Any, verb: str = "replace", key: str = "operator") -> Document:
    return {key: verb, "path": path, "value": value}


def op(path: str, value: Any, verb: str = "replace") -> Document:
    return replace(path, value, verb, "op")


def idle(plan: FleetPlan) -> list[Problem]:
    """What is warned of the rules of overrides."""
    return [problem for problem in problems(plan) if problem.subject.partition(" ")[0] in OVERRIDES]


def told(*documents: Document) -> list[tuple[str, str, str]]:
    """The same by the field below its rule, to be compared."""
    found = idle(planned(documents))
    assert all(item.line for item in found)
    return [(show_path(item.path), item.what, item.hint) for item in found]


LABEL, SIDE = "metadata.labels", "/spec/template/spec/containers/1/image"
AT = "spec.overrideRules[0].overriders"
TAKE_OUT, OTHER = "take it out, or write another value", "take it out, or the other one"
CASES: dict[str, tuple[Document, str, str, str]] = {
    "a container that is not there": (
        rule(argsOverrider=[{"containerName": "webb", "operator": "add", "value": ["-x"]}]),
        "argsOverrider[0]",
        'Deployment shop/web has no container "webb"',
        'did you mean "web"? its containers are: side, web',
    ),
    "the command of a container that is not there": (
        rule(commandOverrider=[{"containerName": "init", "operator": "remove", "value": ["x"]}]),
        "commandOverrider[0]",
        'Deployment shop/web has no container "init"',
        "its containers are: side, web",
    ),
    "words that are not there": (
        rule(argsOverrider=[{"containerName": "web", "operator": "remove", "value": ["-b"]}]),
        "argsOverrider[0]",
        'container "web" of Deployment shop/web has no -b',
        "its args are: -a",
    ),
    "words of a container without any": (
        rule(argsOverrider=[{"containerName": "side", "operator": "remove", "value": ["-b"]}]),
        "argsOverrider[0]",
        'container "side" of Deployment shop/web has no -b',
        "its args are: none",
    ),
    "one of several words": (
        rule(argsOverrider=[{"containerName": "web", "operator": "remove", "value": ["-a", "-b"]}]),
        "argsOverrider[0].value[1]",
        'container "web" of Deployment shop/web has no -b',
        "its args are: -a",
    ),
    "no words": (
        rule(commandOverrider=[{"containerName": "web", "operator": "add", "value": []}]),
        "commandOverrider[0]",
        "it adds no words",
        "write them in value, or take it out",
    ),
    "an image that is so already": (
        rule(
            imageOverrider=[{"component": "Tag", "operator": "remove", "predicate": {"path": SIDE}}]
        ),
        "imageOverrider[0]",
        "Deployment shop/web has that value already",
        TAKE_OUT,
    ),
    "images that are so already": (
        rule(imageOverrider=[{"component": "Registry", "operator": "remove"}]),
        "imageOverrider[0]",
        "the images of Deployment shop/web are as it makes them already",
        "take it out",
    ),
    "a label that is not there": (
        rule(labelsOverrider=[{"operator": "remove", "value": {"teir": ""}}]),
        "labelsOverrider[0]",
        "Deployment shop/web has no label teir",
        'did you mean "tier"? its labels are: app, tier',
    ),
    "one of several labels": (
        rule(labelsOverrider=[{"operator": "replace", "value": {"tier": "b", "zone": "z"}}]),
        "labelsOverrider[0].value.zone",
        "Deployment shop/web has no label zone",
        "its labels are: app, tier; to set it write operator: add",
    ),
    "a label of that value": (
        rule(labelsOverrider=[{"operator": "add", "value": {"tier": "a"}}]),
        "labelsOverrider[0]",
        "Deployment shop/web has that label already: tier",
        TAKE_OUT,
    ),
    "an annotation that is not there": (
        rule(annotationsOverrider=[{"operator": "replace", "value": {"owner": "me"}}]),
        "annotationsOverrider[0]",
        "Deployment shop/web has no annotation owner",
        "its annotations are: none; to set it write operator: add",
    ),
    "a field of that value": (
        rule(plaintext=[replace("/spec/replicas", 2)]),
        "plaintext[0]",
        "Deployment shop/web has that value already",
        TAKE_OUT,
    ),
    "what the rule overwrites itself": (
        rule(plaintext=[replace("/spec/replicas", 3), replace("/spec/replicas", 4)]),
        "plaintext[0]",
        "another operation of the rule overwrites what it sets, or sets the same",
        "take one of them out",
    ),
    "what members do not get": (
        rule(plaintext=[replace("/metadata/finalizers", ["example.com/x"], "add")]),
        "plaintext[0]",
        "members do not get what it sets (metadata.finalizers)",
        "take it out",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_part_that_changes_nothing_is_told_with_the_reason(
    case: tuple[Document, str, str, str],
) -> None:
    written, below, what, hint = case
    assert told(*karmada(policy("p", written))) == [(f"{AT}.{below}", what, hint)]


def test_an_overrider_of_containers_for_an_object_without_any() -> None:
    written = rule(imageOverrider=[{"component": "Tag", "operator": "replace", "value": "2"}])
    ((_, what, hint),) = told(*karmada(policy("p", written, kind="ConfigMap")))
    assert what == "ConfigMap shop/settings has no containers that this overrider changes"
    assert hint.startswith("Karmada looks at those of Pods, ")


def test_a_document_in_a_field() -> None:
    same = {
        "fieldPath": "/data/conf",
        "json": [{"subPath": "/size", "operator": "replace", "value": 1}],
    }
    ((at, what, _),) = told(*karmada(policy("p", rule(fieldOverrider=[same]), kind="ConfigMap")))
    assert (at, what) == (
        f"{AT}.fieldOverrider[0]",
        "ConfigMap shop/settings has that value already",
    )
    more = {**same, "json": [*same["json"], {"subPath": "/more", "operator": "add", "value": 1}]}
    ((at, _, _),) = told(*karmada(policy("p", rule(fieldOverrider=[more]), kind="ConfigMap")))
    assert at == f"{AT}.fieldOverrider[0].json[0]"


def test_what_another_policy_wipes_names_that_policy() -> None:
    first = policy(
        "first", rule(labelsOverrider=[{"operator": "add", "value": {"zone": "z"}}]), wide=True
    )
    wiping = policy(
        "second", rule(plaintext=[replace(f"/{LABEL.replace('.', '/')}", {"app": "web"}, "add")])
    )
    (found,) = idle(planned(karmada(first, wiping)))
    line = idle(planned(karmada(first, wiping)))[0].line or 0
    assert found.what.startswith(
        f"what it sets ({LABEL}.zone) is overwritten by OverridePolicy shop/second, rule [0], fleet.yaml:"
    )
    assert int(found.what.rpartition(":")[2]) > line


def test_of_two_that_set_the_same_each_names_the_other() -> None:
    same = rule(plaintext=[replace("/spec/replicas", 5)])
    first, second = told(*karmada(policy("first", same), policy("second", same)))
    assert first[1].startswith(
        "what it sets (spec.replicas) is set again by OverridePolicy shop/second, rule [0], "
    )
    assert second[1].startswith("changes nothing: OverridePolicy shop/first, rule [0], fleet.yaml:")


def test_overriders_beside_rules_and_rules_without_overriders() -> None:
    written = policy(
        "p", rule(), rule(labelsOverrider=[{"operator": "add", "value": {"zone": "z"}}])
    )
    former = {
        "fieldOverrider": [{"fieldPath": "/x", "json": [{"subPath": "/y", "operator": "remove"}]}]
    }
    beside = {**written, "spec": {**written["spec"], "overriders": former}}
    assert [(at, what) for at, what, _ in told(*karmada(beside))] == [
        (
            "spec.overriders",
            "is not read: Karmada carries out the overrideRules beside it, and nothing else",
        ),
        (AT, "has no overriders, and changes nothing"),
    ]
    written["spec"]["overrideRules"], written["spec"]["overriders"] = [], {}
    assert [at for at, *_ in told(*karmada(written))] == ["spec.overriders"]


def test_empty_overriders_that_clients_write_beside_rules_are_no_mistake() -> None:
    written = policy("p", rule(labelsOverrider=[{"operator": "add", "value": {"zone": "z"}}]))
    assert told(*karmada({**written, "spec": {**written["spec"], "overriders": {}}})) == []


def test_a_rule_for_a_member_that_the_object_cannot_go_to() -> None:
    of_west = policy("p", rule("west", plaintext=[replace("/spec/replicas", 9)]))
    away = {"clusterAffinity": {"clusterNames": ["east", "north"]}}
    told_of = "has no effect: it is for west alone, and Deployment shop/web does not go there"
    assert [item[:2] for item in told(*karmada(of_west, placement=away))] == [
        ("spec.overrideRules[0]", told_of)
    ]
    of_west = override("o", patch(op("/spec/replicas", 9), on=("west",)))
    expected = [("spec.policy.overrideRules[0]", told_of)]
    assert [item[:2] for item in told(*kubefleet(of_west, names=("east",)))] == expected


def picking(number: int, *overrides: Document) -> list[Document]:
    documents = kubefleet(*overrides)
    placement = next(
        document for document in documents if document["kind"] == "ClusterResourcePlacement"
    )
    placement["spec"]["policy"] = {"placementType": "PickN", "numberOfClusters": number}
    return documents


def test_a_rule_for_a_member_that_may_be_picked_later_is_tried_there() -> None:
    every = [override("o", *(patch(op("/spec/replicas", 9), on=(name,)) for name in MEMBERS))]
    assert told(*picking(1, *every)) == []
    vain = [override("o", *(patch(op("/spec/replicas", 2), on=(name,)) for name in MEMBERS))]
    assert len(told(*picking(1, *vain))) == len(MEMBERS)


def test_a_number_of_replicas_that_a_division_gives_today_is_no_value_of_its_own() -> None:
    weights = {
        "staticWeightList": [{"targetCluster": {"clusterNames": ["east", "west"]}, "weight": 1}]
    }
    scheduling = {
        **dividing()["replicaScheduling"],
        "replicaDivisionPreference": "Weighted",
        "weightPreference": weights,
    }
    one_each = policy("p", rule(plaintext=[replace("/spec/replicas", 1)]))
    found = idle(planned(karmada(one_each, placement={"replicaScheduling": scheduling})))
    assert not [item for item in found if "already" in item.what]


def dividing() -> Document:
    return {"replicaScheduling": {"replicaSchedulingType": "Divided"}}


@pytest.mark.parametrize("form", ["overrideRules", "overriders"])
def test_an_override_that_changes_the_sum_of_divided_replicas(form: str) -> None:
    sets = rule("east", plaintext=[replace("/spec/replicas", 4)])
    written = policy("p", sets)
    if form == "overriders":
        written["spec"] = {"resourceSelectors": written["spec"]["resourceSelectors"], **sets}
    away = {**dividing(), "clusterAffinity": {"clusterNames": ["east", "west"]}}
    plan = planned(karmada(written, placement=away))
    at = "spec.overrideRules[0]" if form == "overrideRules" else "spec"
    assert [(show_path(item.path), item.what) for item in idle(plan)] == [
        (at, "5 of 2 divided replicas of Deployment shop/web run: east gets 4 instead of 1")
    ]
    rows = {
        data["name"]: (data["replicas"]["new"], data["why"])
        for each in plan.subjects
        if each.name.endswith("/web")
        for data in as_data(subject_document(plan, each))["clusters"]
    }
    assert rows == {
        "east": (4, "has 1 of 2 replicas; an override sets 4"),
        "west": (1, "has 1 of 2 replicas"),
    }


def test_an_override_that_leaves_the_sum_of_divided_replicas_is_no_mistake() -> None:
    moved = [
        rule(name, plaintext=[replace("/spec/replicas", number)])
        for name, number in (("east", 0), ("west", 2))
    ]
    away = {**dividing(), "clusterAffinity": {"clusterNames": ["east", "west"]}}
    assert told(*karmada(policy("p", *moved), placement=away)) == []


def test_rules_that_are_not_tried_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of these, nothing is known: no plan says that they have an effect, or that they have none."""
    first, second = (
        policy(name, rule(labelsOverrider=[{"operator": "replace", "value": {"tier": value}}]))
        for name, value in (("a", "b"), ("b", "c"))
    )
    (overwritten,) = idle(planned(karmada(first, second)))
    assert "overwritten by OverridePolicy shop/b" in overwritten.what
    limited = partial(without_effect, most=0)
    monkeypatch.setattr("fleet_components.plan.idle.without_effect", limited)
    (counted,) = idle(planned(karmada(first, second)))
    assert counted.what == "it is not known whether 1 rule of overrides has an effect"
    assert counted.subject == "OverridePolicy shop/a"


def test_what_comes_before_or_after_a_deletion() -> None:
    changed, deleted = patch(op("/spec/replicas", 9)), delete()
    first, second = told(
        *kubefleet(override("o", changed, deleted, patch(op("/spec/paused", True, "add"))))
    )
    assert first[:2] == ("spec.policy.overrideRules[0].jsonPatchOverrides[0]", first[1])
    assert first[1].startswith(
        "has no effect: the object is deleted by ResourceOverride shop/o, rule [1], "
    )
    assert second[:2] == (
        "spec.policy.overrideRules[2].jsonPatchOverrides[0]",
        "is not reached: what comes before it deletes the object, or changes what it is selected by",
    )


def test_nothing_is_told_where_a_rule_fails() -> None:
    vain = override("o", patch(op("/spec/replicas", 2)), patch(op("/spec/none/x", 1)))
    assert told(*kubefleet(vain)) == []


def test_operations_of_a_rule_with_one_reason_are_told_once() -> None:
    many = {"b": "1", "c": "1"}
    first = rule(
        labelsOverrider=[
            {"operator": "add", "value": many},
            {"operator": "add", "value": {"d": "1"}},
        ]
    )
    wiping = rule(plaintext=[replace("/metadata/labels", {"app": "web"}, "add")])
    ((at, what, _),) = told(*karmada(policy("p", first, wiping)))
    assert (at, what.partition(" is ")[0]) == (
        AT,
        f"what it sets ({LABEL}.b, {LABEL}.c, {LABEL}.d)",
    )
    apart = {"operator": "remove", "value": {"zone": ""}}
    first["overriders"]["labelsOverrider"].append(apart)
    assert [at for at, *_ in told(*karmada(policy("p", first, wiping)))] == [
        *(f"{AT}.labelsOverrider[{number}]" for number in range(3)),
    ]


# Few names and values, so that rules meet.
WORDS = st.sampled_from(["-a", "-b"])
TEXTS = st.dictionaries(
    st.sampled_from(["app", "tier", "zone"]), st.sampled_from(["a", "web"]), min_size=1
)
CONTAINERS = st.sampled_from(["web", "side", "none"])
VERBS = st.sampled_from(["add", "replace", "remove"])
CHANGES = st.one_of(
    st.builds(lambda value: ("/spec/replicas", value), st.integers(1, 3)),
    st.builds(lambda value: ("/metadata/labels", value), TEXTS),
    st.builds(lambda value: ("/metadata/labels/tier", value), st.sampled_from(["a", "b"])),
    st.builds(lambda value: ("/spec/paused", value), st.booleans()),
    st.builds(
        lambda value: ("/spec/template/spec/containers/0/image", value),
        st.sampled_from(["nginx:1.27", "x"]),
    ),
)


def _words(name: str, verb: str, words: list[str]) -> Document:
    return {"containerName": name, "operator": verb, "value": words}


WORDS_CHANGED = st.builds(
    _words, CONTAINERS, st.sampled_from(["add", "remove"]), st.lists(WORDS, min_size=1)
)
IMAGES_CHANGED = st.builds(
    lambda component, verb, value: {
        "component": component,
        "operator": verb,
        **({} if verb == "remove" else {"value": value}),
    },
    st.sampled_from(["Registry", "Repository", "Tag"]),
    VERBS,
    st.sampled_from(["nginx", "1.27"]),
)
TEXTS_CHANGED = st.builds(lambda verb, value: {"operator": verb, "value": value}, VERBS, TEXTS)


@st.composite
def rules_of_karmada(draw: st.DrawFn) -> Document:
    some = {
        "imageOverrider": IMAGES_CHANGED,
        "commandOverrider": WORDS_CHANGED,
        "argsOverrider": WORDS_CHANGED,
        "labelsOverrider": TEXTS_CHANGED,
        "annotationsOverrider": TEXTS_CHANGED,
        "plaintext": CHANGES.map(lambda change: replace(*change, "add")),
    }
    fields = draw(st.lists(st.sampled_from(sorted(some)), min_size=1, max_size=2, unique=True))
    overriders = {field: draw(st.lists(some[field], min_size=1, max_size=2)) for field in fields}
    return rule(*draw(st.lists(st.sampled_from(MEMBERS), max_size=2, unique=True)), **overriders)


@st.composite
def rules_of_kubefleet(draw: st.DrawFn) -> Document:
    on = tuple(draw(st.lists(st.sampled_from(MEMBERS), max_size=2, unique=True)))
    if draw(st.integers(0, 5)) == 0:
        return delete(*on)
    changes = draw(st.lists(CHANGES, min_size=1, max_size=3))
    return patch(*(op(*change, "add") for change in changes), on=on)


@st.composite
def fleets(draw: st.DrawFn) -> list[Document]:
    names = tuple(draw(st.lists(st.sampled_from(MEMBERS), min_size=1, unique=True)))
    if draw(st.booleans()):
        rules = st.lists(rules_of_karmada(), min_size=1, max_size=2)
        policies = [
            policy(f"p{number}", *draw(rules), wide=wide)
            for number, wide in enumerate((True, False, False))
        ]
        return karmada(*policies, placement={"clusterAffinity": {"clusterNames": list(names)}})
    rules = st.lists(rules_of_kubefleet(), min_size=1, max_size=3)
    return kubefleet(
        override("a", *draw(rules)), override("n", *draw(rules), of="Namespace"), names=names
    )


def parts(document: Document) -> Iterator[FieldPath]:
    """The paths of the rules of an override, and of their operations."""
    at: FieldPath = (
        ("spec", "policy", "overrideRules")
        if "policy" in document["spec"]
        else ("spec", "overrideRules")
    )
    for index, written in enumerate(_at(document, at)):
        yield (*at, index)
        yield from (
            (*at, index, "jsonPatchOverrides", n)
            for n, _ in enumerate(written.get("jsonPatchOverrides", []))
        )
        for field, operations in written.get("overriders", {}).items():
            yield from ((*at, index, "overriders", field, n) for n, _ in enumerate(operations))


def _at(value: Any, path: FieldPath) -> Any:
    for step in path:
        value = value[step]
    return value


NOTHING = op("/metadata/labels/app", "web", "add")


def left_out(documents: list[Document], override: Document, path: FieldPath) -> list[Document]:
    """The fleet without a part of an override; where a rule is taken out, one stays that does nothing."""
    copy = _copy(override)
    holder = _at(copy, path[:-1])
    if path[-1] == "overriders":
        holder["overriders"] = {}
    elif path[-2] == "jsonPatchOverrides" and len(holder) == 1:
        return left_out(documents, override, path[:-2])
    elif path[-2] != "overrideRules":
        del holder[path[-1]]
    elif "overriders" in holder[path[-1]]:
        holder[path[-1]]["overriders"] = {}
    else:
        holder[path[-1]] = patch(NOTHING, on=("nobody",))
    return [copy if document is override else document for document in documents]


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def delivered(plan: FleetPlan) -> dict[tuple[str, str], Any]:
    """What each member gets of each subject; commands and args without words count as none."""
    return {
        (item.name, member): [_without_empty(data) for data in delivery.objects]
        for item in plan.subjects
        for member, delivery in item.deliveries.items()
    }


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        items = ((key, _without_empty(item)) for key, item in value.items())
        return {key: item for key, item in items if key not in ("command", "args") or item}
    return [_without_empty(item) for item in value] if isinstance(value, list) else value


@settings(max_examples=settings().max_examples * 4 // 10)
@given(fleets(), st.data())
def test_what_is_told_has_no_effect_and_what_has_none_is_told(
    documents: list[Document], data: st.DataObject
) -> None:
    plan = planned(documents)
    if any(item.outcome.failing for item in plan.subjects):
        return
    item = data.draw(st.sampled_from([each for each in documents if each["kind"] in OVERRIDES]))
    found, now = [each for each in idle(plan) if each.subject == subject(item)], delivered(plan)
    for each in found[:2]:
        assert delivered(planned(left_out(documents, item, each.path))) == now, each
    path = data.draw(st.sampled_from(list(parts(item))))
    if delivered(planned(left_out(documents, item, path))) == now:
        assert [
            each
            for each in found
            if each.path[: len(path)] == path or path[: len(each.path)] == each.path
        ]


def subject(document: Document) -> str:
    """An object as problems name it."""
    metadata = document["metadata"]
    return f"{document['kind']} {'/'.join(filter(None, [metadata.get('namespace'), metadata['name']]))}"
