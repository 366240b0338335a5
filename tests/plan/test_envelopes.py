"""Envelopes from the source to the members: selected, opened, delivered, changed, guarded and taken away."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from fleet_components import FleetError, Options, Past, plan_fleet, source_of
from fleet_components.content.load import load_text
from fleet_components.content.secret import REDACTED, redacted_content
from fleet_components.model.codec import MisfitError
from fleet_components.model.manifest import Manifest
from fleet_components.plan.departures import Fate
from fleet_components.plan.describe import describe_subject
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.record import digest
from fleet_components.plan.source import Source
from fleet_components.plan.standing import Standing
from fleet_components.plan.subject import Decided
from fleet_components.review.documents.subject import subject_document
from fleet_components.review.documents.wire import as_data
from fleet_components.rollout.rollout import Done
from tests.delivery.karmada.world import on, policy
from tests.delivery.world import KubeFleetWorld
from tests.plan.stack import Stack
from tests.plan.test_doors import planned, updated
from tests.plan.unmatched import problems

pytestmark = pytest.mark.long

GROUP = "placement.kubernetes-fleet.io"
RBAC = "rbac.authorization.k8s.io"
Object = dict[str, Any]


def of(kind: str, name: str, namespace: str = "shop", version: str = "v1", **fields: Any) -> Object:
    metadata = {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        **fields.pop("metadata", {}),
    }
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def envelope(
    name: str, namespace: str = "shop", metadata: Mapping[str, Any] | None = None, **data: Object
) -> Object:
    kind = "ResourceEnvelope" if namespace else "ClusterResourceEnvelope"
    return of(kind, name, namespace, f"{GROUP}/v1beta1", data=data, metadata=metadata or {})


def selecting(name: str, namespace: str = "", **policy: Any) -> Object:
    """A placement of the envelope of that name."""
    kind = "ResourceEnvelope" if namespace else "ClusterResourceEnvelope"
    selector = {"group": GROUP, "version": "v1beta1", "kind": kind, "name": name}
    spec = {"resourceSelectors": [selector], **({"policy": policy} if policy else {})}
    return of(
        "ResourcePlacement" if namespace else "ClusterResourcePlacement",
        name,
        namespace,
        f"{GROUP}/v1",
        spec=spec,
    )


CONFIG, SECRET = (
    of("ConfigMap", "c", data={"a": "1"}),
    of("Secret", "s", stringData={"word": "tell-nobody"}),
)
ROLE = of("ClusterRole", "reader", "", f"{RBAC}/v1", rules=[])
GADGET = of("Gadget", "g", "", "gadgets.test/v1", spec={"size": 1}, status={"as": "written"})
PROTECTED = {"annotations": {"fleet-components/protected": "true"}}


def fleet(*extra: Object) -> list[Object]:
    """Two members, and a placement of the namespace shop with its contents."""
    return KubeFleetWorld(members={"a": {"env": "canary"}, "b": {}}, extra=list(extra)).documents()


def override(
    kind: str, name: str, *patches: tuple[Any, ...], version: str = "v1beta1", group: str = GROUP
) -> Object:
    """Rules for the canary, a patch each; without any, one that deletes."""
    labels = {"labelSelector": {"matchLabels": {"env": "canary"}}}
    rules: list[Object] = [
        {"jsonPatchOverrides": [{"op": op, "path": path, **({"value": value[0]} if value else {})}]}
        for op, path, *value in patches
    ]
    rules = [
        {"clusterSelector": {"clusterSelectorTerms": [labels]}, **rule}
        for rule in rules or [{"overrideType": "Delete"}]
    ]
    selector = {"group": group, "version": version, "kind": kind, "name": name}
    spec = {"resourceSelectors": [selector], "policy": {"overrideRules": rules}}
    return of("ResourceOverride", "canary", version=f"{GROUP}/v1beta1", spec=spec)


def configs(plan: FleetPlan) -> dict[str, list[Any]]:
    """What the ConfigMaps on each member hold."""
    deliveries = the(plan, "shop").deliveries
    return {
        name: [o["data"] for o in delivery.objects if o["kind"] == "ConfigMap"]
        for name, delivery in deliveries.items()
    }


def programmed(stack: Stack, documents: list[Object]) -> FleetPlan:
    """What the program alone plans, carried out: reasons of failing overrides name a file of its own."""
    seen = stack.program(documents, {})
    assert seen.plan is not None
    stack.carry_out(seen.run)
    return seen.plan


def given(*objects: Object) -> Source:
    return source_of(map(Manifest, objects))


def the(plan: FleetPlan, name: str) -> Decided:
    (found,) = [subject for subject in plan.subjects if subject.subject.key == name]
    return found


def test_contents_reach_the_members_as_they_are_and_the_envelope_does_not() -> None:
    gadgets = envelope("gadgets", "", gadget=GADGET, role=ROLE)
    plan = planned(
        Stack(), [*fleet(envelope("e", z=CONFIG, a=SECRET)), gadgets, selecting("gadgets")]
    )
    shop, cluster = (the(plan, name).deliveries["a"].objects for name in ("shop", "gadgets"))
    assert [data["kind"] for data in shop if data["metadata"]["name"] in "es"] == ["Secret"]
    assert CONFIG in shop
    assert cluster == (ROLE, GADGET)
    assert the(plan, "gadgets").subject.untrackable  # type: ignore[attr-defined]
    assert not the(plan, "shop").subject.untrackable  # type: ignore[attr-defined]


def test_a_resource_placement_opens_the_envelopes_of_its_namespace() -> None:
    plan = planned(
        Stack(),
        [
            *fleet(),
            envelope("e", "default", c=of("ConfigMap", "c", "default")),
            selecting("e", "default"),
        ],
    )
    assert the(plan, "default/e").keys("b") == (("", "ConfigMap", "default", "c"),)


def test_a_status_has_what_was_selected_and_a_change_its_place() -> None:
    stack = Stack()
    updated(stack, fleet(envelope("e", c=CONFIG, s=SECRET)))
    changed = {**SECRET, "stringData": {"word": "tell-no-one"}}
    plan = planned(stack, fleet(envelope("e", c={**CONFIG, "data": {"a": "2"}}, s=changed)))
    document = as_data(subject_document(plan, the(plan, "shop")))
    kinds = [item["kind"] for item in document["status"]["selectedResources"]]
    assert kinds == ["Namespace", "Deployment", "ResourceEnvelope"]
    config, secret = document["content"]
    assert config["object"] == "ConfigMap shop/c"
    assert config["envelope"].startswith("ResourceEnvelope shop/e, c (")
    assert secret["envelope"].startswith("ResourceEnvelope shop/e, s (")
    assert "ConfigMap shop/c, Secret shop/s change" in str(
        describe_subject(plan, the(plan, "shop"))
    )
    assert {field["new"] for field in secret["fields"]} == {REDACTED}


TWO = ("replace", "/data/c/data/a", "2")
ENVELOPES = "ResourceEnvelope"


def test_an_override_reaches_into_an_envelope_on_its_members_alone() -> None:
    stack, documents = Stack(), fleet(envelope("e", c=CONFIG))
    updated(stack, documents)
    plan = updated(stack, [*documents, override(ENVELOPES, "e", TWO)])
    assert configs(plan) == {"a": [{"a": "2"}], "b": [{"a": "1"}]}
    assert the(plan, "shop").record.revision == 0
    assert not the(planned(stack, [*documents, override(ENVELOPES, "e", TWO)]), "shop").changes
    assert configs(updated(stack, documents)) == {"a": [{"a": "1"}], "b": [{"a": "1"}]}


def test_what_is_in_an_envelope_is_selected_by_no_override() -> None:
    rule = override("ConfigMap", "c", ("replace", "/data/a", "2"), version="v1", group="")
    assert configs(planned(Stack(), fleet(envelope("e", c=CONFIG), rule))) == {
        "a": [{"a": "1"}],
        "b": [{"a": "1"}],
    }


def test_an_override_of_the_envelope_alone_sends_nothing_anew() -> None:
    stack, documents = Stack(), fleet(envelope("e", c=CONFIG))
    updated(stack, documents)
    labels = override(ENVELOPES, "e", ("add", "/metadata/labels", {"tier": "front"}))
    assert not the(planned(stack, [*documents, labels]), "shop").moves


@pytest.mark.parametrize("patches", [[], [("remove", "/data/c")], [("remove", "/data")]])
def test_what_an_override_takes_out_goes_from_its_members(patches: list[tuple[Any, ...]]) -> None:
    stack, documents = Stack(), fleet(envelope("e", c=CONFIG))
    updated(stack, documents)
    plan = updated(stack, [*documents, override(ENVELOPES, "e", *patches)])
    assert {
        (str(departure.key), departure.cluster, departure.fate) for departure in plan.departures
    } == {("ConfigMap shop/c", "a", Fate.DELETED)}


@pytest.mark.parametrize(
    ("patch", "told"),
    [
        (("replace", "/data/c/metadata/namespace", "other"),
         "data.c.metadata.namespace: a namespaced object c (other/c) in has been wrapped in a resource envelope from"
         " another namespace (shop/e)"),
        (("remove", "/data/c/kind"), "(manifestKey=c,envelopeObjRef=shop/e): Object 'Kind' is missing"),
        (("add", "/data/d", "text"), "data.d: must be an object, not str"),
        (("add", "/data/c/metadata/labels", {"n": 5}),
         "ConfigMap shop/c in ResourceEnvelope shop/e, c: metadata.labels.n: must be text, not 5"),
        (("replace", "/data", "text"), "data: must be a map of manifests"),
    ],
)  # fmt: skip
def test_an_override_that_breaks_an_envelope_holds_its_members(
    patch: tuple[Any, ...], told: str
) -> None:
    stack, documents = Stack(), fleet(envelope("e", c=CONFIG))
    updated(stack, documents)
    changed = fleet(
        envelope("e", c={**CONFIG, "data": {"a": "3"}}), override(ENVELOPES, "e", TWO, patch)
    )
    plan = programmed(stack, changed)
    assert configs(plan) == {"a": [{"a": "1"}], "b": [{"a": "3"}]}
    (problem,) = the(plan, "shop").outcome.failing.values()
    assert (problem.subject, problem.path[-1]) == ("ResourceOverride shop/canary", 1)
    start = "fails on a for ResourceEnvelope shop/e: makes an envelope that cannot be opened: "
    assert problem.what.startswith(start)
    assert problem.what.endswith(told)
    assert not the(programmed(stack, changed), "shop").changes


def test_a_later_rule_may_mend_an_envelope() -> None:
    mended = override(ENVELOPES, "e", ("add", "/data/d", "text"), ("remove", "/data/d"), TWO)
    assert configs(planned(Stack(), fleet(envelope("e", c=CONFIG), mended)))["a"] == [{"a": "2"}]


@pytest.mark.parametrize(
    "patches",
    [
        [("replace", "/data/s/stringData/word", "canary-word")],
        [
            ("add", "/data/c/stringData", {"word": "canary-word"}),
            ("replace", "/data/c/kind", "Secret"),
        ],
    ],
    ids=["a Secret", "what becomes one"],
)
def test_what_an_override_puts_into_a_secret_of_an_envelope_is_hidden(
    patches: list[tuple[Any, ...]],
) -> None:
    contents: dict[str, Any] = {"s": SECRET} if "/data/s" in patches[0][1] else {"c": CONFIG}
    plan = planned(Stack(), fleet(envelope("e", **contents), override(ENVELOPES, "e", *patches)))
    decided = the(plan, "shop")
    assert "canary-word" in str(decided.deliveries["a"].objects)
    (rules,) = decided.record.overrides.values()
    assert "canary-word" not in str(redacted_content(rules))
    assert "canary-word" not in str(subject_document(plan, decided))


def test_no_override_makes_public_what_is_secret_in_an_envelope() -> None:
    public = override(ENVELOPES, "e", ("replace", "/data/s/kind", "ConfigMap"))
    plan = programmed(Stack(), fleet(envelope("e", s=SECRET), public))
    (problem,) = the(plan, "shop").outcome.failing.values()
    assert problem.what.endswith("makes public what was secret")


def test_a_record_with_opened_objects_brings_one_revision_and_no_change() -> None:
    documents = fleet(envelope("e", c=CONFIG, s=SECRET))
    decided = the(plan_fleet(given(*documents), Past(), Options()), "shop")
    opened = decided.record.content(0)
    assert opened
    old = attrs.evolve(decided.record, contents={0: opened}, digests={0: digest(opened)})
    record = type(old).from_wire(json.loads(json.dumps(old.to_wire())))
    standing = tuple(
        Standing(decided.name, name, key) for name in "ab" for key in decided.keys(name)
    )
    done = {decided.name: {"a": Done(0), "b": Done(0)}}
    past = Past(records={decided.name: record}, done=done, standing=standing)
    plan = plan_fleet(given(*documents), past, Options())
    after = the(plan, "shop")
    assert after.record.revision == 1
    assert subject_document(plan, after).content == []
    assert after.deliveries["a"].objects == opened
    assert plan.replacements == ()


def test_a_damaged_envelope_of_a_record_is_told() -> None:
    record = the(planned(Stack(), fleet(envelope("e", c=CONFIG))), "shop").record
    broken = attrs.evolve(record, contents={0: (envelope("e", c=of("ConfigMap", "c", "other")),)})
    with pytest.raises(MisfitError, match="is an envelope that cannot be opened: data"):
        type(record).from_wire(broken.to_wire())


def test_what_leaves_an_envelope_or_leaves_with_it_is_deleted() -> None:
    stack = Stack()
    updated(stack, fleet(envelope("e", c=CONFIG, s=SECRET)))
    plan = updated(stack, fleet(envelope("e", c=CONFIG)))
    assert {
        (departure.key.kind, departure.cluster, departure.fate) for departure in plan.departures
    } == {
        ("Secret", "a", Fate.DELETED),
        ("Secret", "b", Fate.DELETED),
    }
    plan = updated(stack, fleet())
    assert {(departure.key.kind, departure.cluster) for departure in plan.departures} == {
        ("ConfigMap", "a"),
        ("ConfigMap", "b"),
    }


def test_an_object_that_leaves_its_envelope_for_the_source_stays() -> None:
    stack = Stack()
    updated(stack, fleet(envelope("e", c=CONFIG, s=SECRET)))
    assert updated(stack, fleet(envelope("e", s=SECRET), CONFIG)).departures == ()


@pytest.mark.parametrize("wrapped", [True, False])
def test_what_is_protected_goes_by_its_token_alone(wrapped: bool) -> None:
    stack, guarded = Stack(), {**CONFIG, "metadata": {**CONFIG["metadata"], **PROTECTED}}
    updated(stack, fleet(envelope("e", c=guarded, s=SECRET) if wrapped else guarded))
    left = fleet(envelope("e", s=SECRET)) if wrapped else fleet()
    (refusal,) = planned(stack, left).refused
    assert refusal.subject == "ConfigMap shop/c"
    assert "is protected from deletion by its annotation" in refusal.what
    assert not planned(stack, left, confirm=refusal.hint[-8:]).refused
    assert not updated(stack, fleet(CONFIG)).refused
    assert not updated(stack, fleet()).refused


def test_to_move_is_no_end_of_a_protected_object() -> None:
    stack = Stack()
    documents = [
        *fleet(),
        envelope("roles", "", role={**ROLE, "metadata": {**ROLE["metadata"], **PROTECTED}}),
    ]
    here, there = (
        selecting("roles", placementType="PickFixed", clusterNames=[name]) for name in "ab"
    )
    updated(stack, [*documents, here], keepClusterResources=False)
    assert updated(stack, [*documents, there], keepClusterResources=False).departures


def test_an_annotation_on_the_envelope_protects_nothing_and_says_so() -> None:
    (warning,) = problems(planned(Stack(), fleet(envelope("e", metadata=PROTECTED, c=CONFIG))))
    assert "has no effect: it protects placements, and objects that are placed" in warning.what


def test_contents_may_surprise_as_any_object() -> None:
    sticky = of("ConfigMap", "c", metadata={"finalizers": ["shop.test/keep"]})
    typo = of("Deploymint", "d", version="apps/v1")
    first, second = problems(planned(Stack(), fleet(envelope("e", c=sticky, d=typo))))
    assert (first.subject, first.hint) == (
        "Deploymint shop/d in ResourceEnvelope shop/e, d",
        "write kind: Deployment",
    )
    assert second.subject == "ConfigMap shop/c in ResourceEnvelope shop/e, c"
    assert second.what.startswith("finalizers go along")


def test_a_namespace_that_nobody_brings_is_warned_of() -> None:
    placed = [envelope("e", "far", c=of("ConfigMap", "c", "far")), selecting("e", "far")]
    (warning,) = problems(planned(Stack(), [*fleet(), *placed]))
    assert warning.subject == "ResourceEnvelope far/e"
    assert warning.what.startswith("nobody brings namespace far to a, b")


GADGETS = of(
    "CustomResourceDefinition", "gadgets.gadgets.test", "", "apiextensions.k8s.io/v1",
    spec={"group": "gadgets.test", "scope": "Namespaced", "names": {"kind": "Gadget", "plural": "gadgets"},
          "versions": [{"name": "v1", "served": True, "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}}}]},
)  # fmt: skip


@pytest.mark.parametrize(
    ("contents", "told"),
    [
        ({"c": of("ConfigMap", "c", "")}, "ConfigMap objects live in a namespace"),
        ({"g": GADGET, "definition": GADGETS}, "Gadget objects live in a namespace"),
    ],
)
def test_what_every_member_would_refuse_is_refused(
    contents: Mapping[str, Object], told: str
) -> None:
    with pytest.raises(FleetError) as error:
        plan_fleet(
            given(*fleet(), envelope("e", "", **contents), selecting("e")), Past(), Options()
        )
    (problem,) = error.value.problems
    assert (problem.what, problem.hint) == (
        told,
        "write its namespace, and put it into a ResourceEnvelope there",
    )


def test_so_is_a_cluster_scoped_kind_in_a_namespace() -> None:
    role = {**ROLE, "metadata": {"name": "r", "namespace": "shop"}}
    with pytest.raises(FleetError, match="ClusterRole objects live in no namespace"):
        plan_fleet(given(*fleet(envelope("e", r=role))), Past(), Options())


MEMBERS = """\
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: a}
spec: {identity: {kind: ServiceAccount, name: a, namespace: fleet-system}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: shop}
spec: {resourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]}
---
"""
ENVELOPE = """\
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourceEnvelope
metadata: {name: %s, namespace: %s}
data:
  a.yaml:
    {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: %s}}
"""
ALONE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\n"
SECOND = "  b.yaml:\n    {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop}, data: {x: y}}\n"
ROLES = """\
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourceEnvelope
metadata: {name: %s}
data:
  role.yaml: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: []}
---
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: %s}
spec:
  resourceSelectors:
  - {group: placement.kubernetes-fleet.io, version: v1beta1, kind: ClusterResourceEnvelope, name: %s}
"""
TWICE = "is brought to a twice by ClusterResourcePlacement/shop"
FIRST = "in ResourceEnvelope shop/e, a.yaml (fleet.yaml:19)"


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        (ENVELOPE % ("e", "shop", "shop") + SECOND, 19,
         f"{TWICE}: {FIRST} and in ResourceEnvelope shop/e, b.yaml (fleet.yaml:21)"),
        (ENVELOPE % ("e", "shop", "shop") + "---\n" + ENVELOPE % ("f", "shop", "shop"), 19,
         f"{TWICE}: {FIRST} and in ResourceEnvelope shop/f, a.yaml (fleet.yaml:26)"),
        (ENVELOPE % ("e", "shop", "shop") + "---\n" + ALONE, 22,
         f"{TWICE}: on its own (fleet.yaml:22) and {FIRST}"),
        (ROLES % (("one",) * 3) + "---\n" + ROLES % (("two",) * 3), 19,
         "is brought to a by ClusterResourcePlacement/one in ClusterResourceEnvelope one, role.yaml (fleet.yaml:19)"
         " and ClusterResourcePlacement/two in ClusterResourceEnvelope two, role.yaml (fleet.yaml:32)"),
    ],
    ids=["in one envelope", "in two", "in one and on its own", "in envelopes of two placements"],
)  # fmt: skip
def test_one_object_in_two_places_is_refused_with_both(text: str, line: int, told: str) -> None:
    (refusal,) = plan_fleet(
        source_of(load_text(MEMBERS + text, "fleet.yaml")), Past(), Options()
    ).refused
    assert (refusal.file, refusal.line, refusal.what) == ("fleet.yaml", line, told)
    assert "confirm" not in refusal.hint


def test_so_is_one_that_a_policy_of_karmada_claims_too() -> None:
    stack, claimed = (
        Stack(),
        policy(placement=on("a"), resourceSelectors=[{"apiVersion": "v1", "kind": "ConfigMap"}]),
    )
    claimed["metadata"]["namespace"] = "default"
    config = of("ConfigMap", "c", "default")
    told = [item.what for item in planned(stack, [*fleet(), config, claimed, envelope("e", "default", c=config),
                                                selecting("e", "default")]).refused]  # fmt: skip
    assert any(
        "is claimed by ResourcePlacement default/e in ResourceEnvelope default/e, c (" in item
        for item in told
    )
    assert any(
        " in ResourceEnvelope default/e, c (" in item and "Template/default/ConfigMap/c" in item
        for item in told
    )
