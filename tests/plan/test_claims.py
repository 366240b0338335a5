"""Which objects that come to members are other resources of the stack, and what comes of it."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from fleet_components import Options, Past, plan_fleet, source_of
from fleet_components.content.stamp import STACK_ANNOTATION
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.observed import SILENT
from fleet_components.plan.claims import (
    ClaimFacts,
    Judgement,
    claimed,
    judge_claims,
    judge_releases,
)
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.known_member import KnownMember
from fleet_components.plan.standing import Claim, Standing
from tests.engine.stories import config_map, member, namespace, placement

SPACE = namespace("shop")
SOURCE = source_of(
    map(Manifest, [member("a"), SPACE, config_map("shop"), placement("shop", SPACE)])
)
KEY = ObjectKey("", "ConfigMap", "shop", "c")
PAIR = "a", KEY
STACK = "organization/shop/dev"
URN = "urn:pulumi:dev::shop::{}::{}"


def claim(uid: str = "u", *, kind: str = "kubernetes:core/v1:ConfigMap", **fields: Any) -> Claim:
    outputs = {"metadata": {"uid": uid}}
    return attrs.evolve(Claim(URN.format(kind, "mine"), KEY, outputs=outputs), **fields)


def planned(
    *claims: Claim, takes_over: tuple[str, ...] = (), fleet: str = "fleet", **past: Any
) -> FleetPlan:
    options = Options(stack=STACK, fleet=fleet, takes_over={"a": takes_over})
    return plan_fleet(SOURCE, Past(others=claims, **past), options)


def judged(plan: FleetPlan, there: str | None = "u", **facts: Any) -> Judgement:
    """Judge a plan where an object with this uid is on the member; None if nothing is there."""
    live = {PAIR: {"metadata": {"uid": there}}} if there else {}
    known: dict[str, Any] = {"uids": {"a": "cluster"}, "asked": {"a"}, **facts}
    return judge_claims(plan, ClaimFacts(live=live.get, **known))


def texts(judgement: Judgement) -> list[str]:
    return [
        str(warning) for warning in (*judgement.refused, *judgement.unknown, *judgement.warnings)
    ]


OWN = 'stands on a as the resource "mine" of this stack'
UNSURE = "and it cannot be known whether that is on a: "


@pytest.mark.parametrize(
    ("uid", "there", "facts", "words"),
    [
        ("u", "u", {}, f"{OWN}, whose deletion would delete it"),
        ("u", "v", {}, f"{UNSURE}another object of that name is there"),
        ("u", None, {}, f"{UNSURE}nothing of that name is there"),
        ("", "u", {}, f"{UNSURE}the state has no uid of it"),
        ("u", None, {"asked": set(), "uids": {}}, f"{UNSURE}{SILENT}"),
        ("u", "v", {"reach": frozenset({"cluster"})}, f"{UNSURE}another object"),
        ("u", "v", {"reach": frozenset({"elsewhere"})}, ""),
        ("u", None, {"reach": frozenset()}, ""),
    ],
)
def test_a_resource_of_the_program(
    uid: str, there: str | None, facts: dict[str, Any], words: str
) -> None:
    found = judged(planned(claim(uid)), there, **facts)
    assert found.taken == {}
    assert len(texts(found)) == bool(words)
    for text in texts(found):
        assert text.startswith("ConfigMap shop/c: ")
        assert words in text
    silent = facts.get("asked") == set()
    assert (len(found.refused), len(found.unknown)) == (words != "" and not silent, silent)


@pytest.mark.parametrize(
    ("uid", "there", "facts", "taken"),
    [
        ("u", "u", {}, True),
        ("u", "v", {}, False),
        ("u", None, {}, False),
        ("", "u", {}, True),
        ("u", None, {"asked": set(), "uids": {}}, True),
    ],
)
def test_a_resource_that_is_handed_over(
    uid: str, there: str | None, facts: dict[str, Any], taken: bool
) -> None:
    found = judged(planned(claim(uid), takes_over=("mi*",)), there, **facts)
    assert found.taken == ({PAIR: claim().urn} if taken else {})
    assert bool(found.refused) is not taken


def test_of_several_that_are_named_the_one_that_is_there_is_taken() -> None:
    other = attrs.evolve(claim("v"), urn=URN.format("kubernetes:core/v1:ConfigMap", "minor"))
    plan = planned(claim(), other, takes_over=("*",))
    assert judged(plan).taken == {PAIR: claim().urn}
    assert judged(plan, "v").taken == {PAIR: other.urn}
    neither = judged(plan, "w")
    assert not neither.taken
    assert len(neither.refused) == 2


def test_a_resource_that_is_said_to_be_elsewhere() -> None:
    found = judged(planned(claim(), takes_over=("!mine",)))
    assert (found.taken, texts(found)) == ({}, [])


def test_a_patch_is_no_object() -> None:
    patch = claim(kind="kubernetes:core/v1:ConfigMapPatch")
    found = judged(planned(patch, takes_over=("*",)))
    assert (found.taken, found.refused) == ({}, ())
    (warning,) = found.warnings
    assert "sets fields of it on a" in str(warning)


@pytest.mark.parametrize(("uid", "warned"), [("u", True), ("v", False)])
def test_a_patch_of_what_the_fleet_has_brought(uid: str, warned: bool) -> None:
    """The state says whether it is the same object: no member has to be asked."""
    standing = Standing("ClusterResourcePlacement/shop", "a", KEY, "v1", object_uid="u")
    plan = planned(claim(uid, kind="kubernetes:core/v1:ConfigMapPatch"), standing=(standing,))
    assert ["sets fields of it on a" in str(item) for item in claimed(plan)] == [True] * warned
    assert len(judged(plan, reach=frozenset({"cluster"})).warnings) == warned


@pytest.mark.parametrize(
    ("owner", "more", "warned"),
    [
        ("organization/shop/prod", {}, True),
        (STACK, {}, False),
        ("", {}, False),
        ("organization/shop/prod", {"stacks": frozenset({"organization/shop/prod"})}, False),
        ("organization/shop/prod", {"takes_over": ("mine",)}, False),
    ],
)
def test_an_object_of_another_stack_in_the_state(
    owner: str, more: dict[str, Any], warned: bool
) -> None:
    outputs = {"metadata": {"uid": "u", "annotations": {STACK_ANNOTATION: owner}}}
    kinds = ("ConfigMap", "ConfigMapPatch")
    found = [claim(kind=f"kubernetes:core/v1:{kind}", outputs=outputs) for kind in kinds]
    said = [str(warning) for warning in planned(*found, **more).warnings]
    assert [f"belongs to the stack {owner}" in text for text in said] == [True] * warned
    assert all(f"pulumi state delete '{found[0].urn}'" in text for text in said)


@pytest.mark.parametrize(("uid", "refused"), [("u", True), ("v", False)])
def test_an_object_that_the_state_has_twice(uid: str, refused: bool) -> None:
    standing = Standing("ClusterResourcePlacement/shop", "a", KEY, "v1", object_uid="u")
    found = judged(planned(claim(uid), standing=(standing,)))
    assert bool(found.refused) is refused
    assert all(f"pulumi state delete '{claim().urn}'" in str(item) for item in found.refused)


def test_one_object_under_several_urns_is_not_taken() -> None:
    other = attrs.evolve(claim(), urn=URN.format("kubernetes:core/v1:ConfigMap", "minor"))
    found = judged(planned(claim(), other, takes_over=("*",)))
    assert not found.taken
    assert len(found.refused) == 1


BESIDE = {"fleet": "other", "subject": "ClusterResourcePlacement/shop", "cluster": "east"}


@pytest.mark.parametrize(
    ("uid", "cluster", "taken"),
    [("u", "cluster", True), ("v", "cluster", True), ("u", "", True), ("v", "elsewhere", False)],
)
def test_an_object_of_another_fleet(uid: str, cluster: str, taken: bool) -> None:
    """It is the same one if the cluster is, whatever has become of the object, or if its uid is."""
    neighbours = {("other", "east"): KnownMember(uid=cluster)}
    plan = planned(claim(uid, **BESIDE), neighbours=neighbours)
    found = judged(plan)
    assert found.taken == ({PAIR: claim().urn} if taken else {})
    assert found.refused == ()


def test_an_object_that_another_fleet_goes_on_bringing() -> None:
    """The members are called otherwise, and only the uid of the object shows that they are one cluster."""
    ours = planned(claim("u", fleet="other", subject="ClusterResourcePlacement/shop", cluster="a"))
    found = judged(ours, others=[planned(fleet="other")])
    assert not found.taken
    (problem,) = found.refused
    assert "of the fleet fleet, and by ClusterResourcePlacement/shop of the fleet other" in str(
        problem
    )


@pytest.mark.parametrize(
    ("name", "marks", "refused"),
    [
        ("web", {"name": "web", "namespace": "shop"}, True),
        ("web", {"name": "web", "namespace": "other"}, False),
        ("web", {}, False),
    ],
)
def test_a_part_of_a_helm_release(name: str, marks: dict[str, str], refused: bool) -> None:
    urn = URN.format("kubernetes:helm.sh/v3:Release", "web")
    release = Claim(urn, ObjectKey("", "Release", "shop", name))
    annotations = {f"meta.helm.sh/release-{key}": value for key, value in marks.items()}
    live = {PAIR: {"metadata": {"uid": "u", "annotations": annotations}}}
    facts = ClaimFacts(uids={"a": "cluster"}, live=live.get, asked={"a"})
    found = judge_releases(planned(release), [PAIR], facts)
    assert len(found) == refused
    assert all(f"pulumi state delete '{urn}'" in str(item) for item in found)
    assert judge_releases(planned(release, takes_over=("!web",)), [PAIR], facts) == ()


def test_a_plan_that_asks_nobody_names_other_resources() -> None:
    (text,) = map(str, claimed(planned(claim("u"))))
    assert text.startswith('ConfigMap shop/c: is the resource "mine" of this stack as well')
    assert "no member is asked" in text
    assert claimed(planned()) == ()


def test_a_resource_that_is_handed_over_and_made_anew_is_listed() -> None:
    old = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "shop", "uid": "u"},
    }
    fixed = {**old, "immutable": True, "data": {"k": "old"}}
    plan = planned(claim(outputs={**fixed, "__inputs": fixed}), takes_over=("mine",))
    (found,) = plan.replacements
    assert (found.cluster, found.key, found.subject) == (*PAIR, "ClusterResourcePlacement/shop")
    assert planned(claim(outputs={**old, "data": {}}), takes_over=("mine",)).replacements == ()
