"""Control planes in which something is stuck, left or unusual: what is read of them, and what a plan says then."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.hub.observation import HubObservation, ObservedSubject
from fleet_components.hub.reading import read_hub
from fleet_components.model.manifest import Manifest
from fleet_components.plan.departures import Fate
from fleet_components.plan.describe import describe_plan
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.given import Given
from fleet_components.plan.source import gathered
from tests.delivery.recording import Data
from tests.hub.karmada.api import Api
from tests.hub.karmada.settled import changes, planned
from tests.hub.karmada.world import (
    APPLIED,
    REFUSED,
    binding,
    claimed,
    deployment,
    fleet,
    joined,
    on,
    policy,
    stored,
    weights,
    work,
)

KEY = "Template/shop/Deployment/web"
WEB = policy(placement=on("a", "b"))
OLD = deployment(2, "web:1")


def observed(
    *objects: Data, members: tuple[str, ...] = ("a", "b", "c"), labels: dict[str, str] | None = None
) -> HubObservation:
    """The observation of these objects, of which a plan has nothing to do."""
    joining = [joined(name, labels=labels or {}) for name in members]
    observation = read_hub(Api((*joining, *objects)).listing())
    assert list(changes(planned(observation))) == []
    return observation


def changed(observation: HubObservation, *objects: Data) -> FleetPlan:
    """The plan after these objects were written over what was observed."""
    documents = (*observation.members, *observation.policies, *observation.objects)
    by_key = {Manifest(document).key: document for document in (*documents, *objects)}
    return planned(observation, gathered(Given(tuple(map(Manifest, by_key.values())))))


def moves(plan: FleetPlan, name: str = KEY) -> dict[str, str]:
    """What happens to a template, by member."""
    item = next(item for item in plan.subjects if item.name == name)
    return {member: entry.change.value for member, entry in item.entries.items()}


def subject(observation: HubObservation, name: str = KEY) -> ObservedSubject:
    """A subject that was observed."""
    return next(item for item in observation.subjects if item.name == name)


def image(observed_subject: ObservedSubject, member: str) -> str:
    """The image that runs on a member; empty if it is not known."""
    content = observed_subject.record.contents.get(observed_subject.done[member].revision or 0)
    return str(content[0]["spec"]["template"]["spec"]["containers"][0]["image"]) if content else ""


def test_what_no_policy_follows_keeps_the_content_of_its_works() -> None:
    bound = binding(OLD, None, {"a": 2, "b": 2}, placement=on("a", "b"))
    works = [work(member, bound, OLD) for member in ("a", "b")]
    observation = observed(claimed(deployment(3, "web:2"), None), bound, *works)
    assert [image(subject(observation), member) for member in ("a", "b")] == ["web:1", "web:1"]
    assert moves(changed(observation, deployment(3, "web:3"))) == {"a": "keep", "b": "keep"}
    assert moves(changed(observation, deployment(3, "web:2"), WEB)) == {
        "a": "update",
        "b": "update",
    }


def test_what_its_policy_selects_no_more_is_frozen_too() -> None:
    owner = policy(resourceSelectors=[_labelled("new")], placement=on("a"))
    bound = binding(OLD, owner, {"a": 2})
    observation = observed(
        owner, claimed(deployment(2, "web:2"), owner), bound, work("a", bound, OLD)
    )
    assert image(subject(observation), "a") == "web:1"
    assert moves(changed(observation, deployment(2, "web:3"))) == {"a": "keep"}


def test_a_member_on_which_an_override_fails_keeps_what_its_work_has() -> None:
    broken = override([{"path": "/spec/nosuch/field", "operator": "remove"}])
    now = deployment(2, "web:2")
    bound = binding(now, WEB, {"a": 2, "b": 2})
    observation = observed(WEB, broken, claimed(now, WEB), bound, work("b", bound, OLD))
    assert [image(subject(observation), member) for member in ("a", "b")] == ["web:2", "web:1"]
    mended = override([{"path": "/spec/paused", "operator": "add", "value": True}])
    assert moves(changed(observation, mended)) == {"a": "keep", "b": "update"}


def test_a_member_that_an_override_has_always_failed_on_has_nothing() -> None:
    broken = override([{"path": "/spec/nosuch/field", "operator": "remove"}])
    bound = binding(OLD, WEB, {"a": 2, "b": 2}, reported={"a": APPLIED})
    item = subject(observed(WEB, broken, claimed(OLD, WEB), bound))
    assert (sorted(item.done), sorted(item.stands)) == (["a"], ["a"])


def test_suspended_dispatching_leaves_what_ran_before() -> None:
    owner = policy(placement=on("a", "b"), suspension={"dispatching": True})
    behind = {**APPLIED, "status": {"resourceTemplateGeneration": 1}}
    now = {**claimed(deployment(2, "web:2"), owner)}
    now["metadata"]["generation"] = 2
    spec = {"suspension": {"dispatching": True}}
    bound = binding(now, owner, {"a": 2, "b": 2}, reported={"a": behind}, spec=spec)
    observation = observed(owner, now, bound)
    item = subject(observation)
    assert {member: done.revision for member, done in item.done.items()} == {"a": 0}
    assert item.record.revision == 1
    assert any("it changed while dispatching was suspended" in note for note in observation.notes)
    assert moves(changed(observation, WEB)) == {"a": "update", "b": "add"}


def test_what_a_member_refuses_is_not_sent_again_until_something_changes() -> None:
    bound = binding(OLD, WEB, {"a": 2, "b": 2}, reported={"a": APPLIED, "b": REFUSED})
    observation = observed(WEB, claimed(OLD, WEB), bound)
    item = subject(observation)
    assert (item.done["b"].broken, sorted(item.stands)) == (True, ["a"])
    assert moves(changed(observation, deployment(2, "web:2"))) == {"a": "update", "b": "update"}


def test_what_is_being_removed_from_a_member_is_not_removed_again() -> None:
    bound = binding(OLD, WEB, {"a": 2, "b": 2}, reported={"a": APPLIED, "b": APPLIED, "c": APPLIED})
    observation = observed(WEB, claimed(OLD, WEB), bound)
    assert any("being removed from c" in note for note in observation.notes)


def test_an_eviction_that_goes_on_stays_as_it_is() -> None:
    task = {
        "fromCluster": "c",
        "purgeMode": "Gracefully",
        "replicas": 2,
        "reason": "TaintUntolerated",
    }
    task |= {"producer": "TaintManager", "creationTimestamp": "2026-11-23T11:59:00Z"}
    spec = {"gracefulEvictionTasks": [task]}
    bound = binding(OLD, WEB, {"a": 2, "b": 2}, reported=dict.fromkeys("abc", APPLIED), spec=spec)
    observation = observed(WEB, claimed(OLD, WEB), bound)
    plan = planned(observation)
    assert moves(plan) == {"a": "keep", "b": "keep", "c": "held"}
    entry = next(item for item in plan.subjects if item.name == KEY).entries["c"]
    latest = "its copy stays until the object stands elsewhere, or until 2026-11-23T12:09:00Z at the latest"
    assert entry.reason == f"evicted for TaintUntolerated; {latest}"
    assert _settings(observation)["noExecuteEviction"] is True


@pytest.mark.parametrize(
    ("mode", "failover", "told"),
    [
        ("Gracefully", {}, "Gracefully"),
        ("Directly", {}, "Directly"),
        ("Directly", {"cluster": {"purgeMode": "Directly"}}, "Gracefully"),
    ],
)
def test_how_taints_evict_is_told_by_an_eviction_whose_policy_does_not_say_it(
    mode: str, failover: Data, told: str
) -> None:
    task = {
        "fromCluster": "c",
        "purgeMode": mode,
        "reason": "TaintUntolerated",
        "producer": "TaintManager",
    }
    spec = {
        "gracefulEvictionTasks": [{**task, "creationTimestamp": "2026-11-23T11:59:00Z"}],
        "failover": failover,
    }
    bound = binding(OLD, WEB, {"a": 2, "b": 2}, spec=spec)
    found = read_hub(Api((*fleet("a", "b", "c"), WEB, claimed(OLD, WEB), bound)).listing())
    assert _settings(found).get("purgeMode", "Gracefully") == told


def _settings(observation: HubObservation) -> Data:
    found: Data = next(
        item["spec"] for item in observation.policies if item["kind"] == "KarmadaSettings"
    )
    return found


def test_a_divided_workload_stays_where_it_no_longer_matches_until_it_is_scaled() -> None:
    owner = policy(placement={**on("a", "b"), **weights(a=1, b=1, c=1)})
    before = {**on("b", "c"), **weights(a=1, b=1, c=1)}
    bound = binding(deployment(4), owner, {"b": 2, "c": 2}, placement=before)
    bound["spec"]["placement"] = owner["spec"]["placement"]
    bound["metadata"]["annotations"] = {
        **bound["metadata"]["annotations"],
        "policy.karmada.io/applied-placement": binding(deployment(4), owner, {})["metadata"][
            "annotations"
        ]["policy.karmada.io/applied-placement"],
    }
    observation = observed(owner, claimed(deployment(4), owner), bound)
    assert moves(planned(observation)) == {"b": "keep", "c": "keep"}
    assert moves(changed(observation, deployment(6))) == {"a": "add", "b": "update", "c": "remove"}


def test_a_dependency_goes_along_and_follows() -> None:
    web = deployment(
        2,
        containers=[
            {"name": "web", "image": "web:1", "envFrom": [{"configMapRef": {"name": "conf"}}]}
        ],
    )
    owner = policy(placement=on("a"), propagateDeps=True)
    conf = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "conf", "namespace": "shop"},
        "data": {"a": "1"},
    }
    parent = binding(web, owner, {"a": 2}, spec={"propagateDeps": True})
    required = [
        {"namespace": "shop", "name": "web-deployment", "clusters": [{"name": "a", "replicas": 2}]}
    ]
    along = binding(conf, None, {}, reported={"a": APPLIED}, spec={"requiredBy": required})
    observation = observed(owner, claimed(web, owner), parent, stored(conf), along)
    moved = changed(observation, policy(placement=on("b"), propagateDeps=True))
    assert moves(moved, "Template/shop/ConfigMap/conf") == {"a": "remove", "b": "add"}


def test_a_template_without_a_binding_waits_for_its_override_policies() -> None:
    owner = policy(placement=on("a"), dependentOverrides=["ovr"])
    observation = observed(owner, claimed(OLD, None))
    assert moves(changed(observation, override([]))) == {"a": "add"}


def test_what_a_lazy_policy_has_claimed_waits_for_a_change_of_its_own() -> None:
    owner = policy(placement=on("a"), activationPreference="Lazy")
    observation = observed(owner, claimed(OLD, owner))
    assert moves(changed(observation, deployment(2, "web:2"))) == {"a": "add"}


def test_objects_beside_the_selected_ones_wait_for_a_policy() -> None:
    other = deployment(name="other")
    owner = policy(
        resourceSelectors=[{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}],
        placement=on("a"),
    )
    observation = observed(owner, claimed(OLD, owner), binding(OLD, owner, {"a": 2}), stored(other))
    assert set(observation.waiting) == {"shop/Deployment/other"}
    lazy = policy(
        "lazy", resourceSelectors=[_named("other")], placement=on("b"), activationPreference="Lazy"
    )
    assert moves(changed(observation, lazy), "Template/shop/Deployment/other") == {}


def test_a_custom_kind_has_its_replicas_where_its_bindings_tell() -> None:
    widget = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": "shop"},
    }
    widget |= {"spec": {"size": 5, "port": 80}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1"}],
        },
    }
    named = [{"apiVersion": "example.com/v1", "kind": "Widget", "name": "w"}]
    owner = policy("w", resourceSelectors=named, placement={**on("a", "b"), **weights(a=3, b=2)})
    bound = binding(widget, owner, {"a": 3, "b": 2}, spec={"replicas": 5})
    observation = observed(owner, claimed(widget, owner), bound, stored(definition))
    grown = {**widget, "spec": {"size": 10, "port": 80}}
    plan = changed(observation, grown)
    (item,) = (item for item in plan.subjects if "Widget" in item.name)
    assert {member: share.replicas for member, share in item.record.decisions.items()} == {
        "a": 6,
        "b": 4,
    }


def test_a_tie_of_a_new_template_is_said_to_fall_by_a_uid_that_is_not_known() -> None:
    owner = policy(resourceSelectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}])
    owner["spec"]["placement"] = {**on("a", "b"), **weights(a=1, b=1)}
    observation = observed(owner)
    even, odd = (
        changed(observation, deployment(number)).subjects[0].outcome.notes for number in (4, 5)
    )
    assert even == ()
    assert odd == ("a tie between a, b falls by the uid that the control plane gives the object",)


def test_a_failure_is_not_tried_again_while_nothing_changes() -> None:
    owner = policy(placement=on("nosuch"))
    failed = [
        {
            "type": "Scheduled",
            "status": "False",
            "reason": "NoClusterFit",
            "message": "0/3 clusters",
        }
    ]
    observation = observed(
        owner, claimed(OLD, owner), binding(OLD, owner, {}, status={"conditions": failed})
    )
    (item,) = planned(observation).subjects
    assert item.outcome.unfulfilled.startswith("0/3 clusters are available")
    assert moves(changed(observation, policy(placement=on("a")))) == {"a": "add"}


def test_the_status_of_a_member_moves_nothing_and_its_labels_do() -> None:
    here = {"clusterAffinity": {"labelSelector": {"matchLabels": {"in": "yes"}}}}
    owner = policy(placement=here)
    members = [joined("a", labels={"in": "yes"}), joined("b", labels={"in": "yes"}), joined("c")]
    members[1]["status"]["apiEnablements"] = []
    objects = (owner, claimed(OLD, owner), binding(OLD, owner, {"a": 2}))
    observation = read_hub(Api((*members, *objects)).listing())
    assert list(changes(planned(observation))) == []
    serving = {**observation.members[1], "status": observation.members[0]["status"]}
    assert moves(changed(observation, serving)) == {"a": "keep"}
    relabelled = {**observation.members[2], "metadata": {"name": "c", "labels": {"in": "yes"}}}
    assert moves(changed(observation, relabelled)) == {"a": "keep", "c": "add"}
    # Once the scheduler looks, it sees the status of all members.
    assert moves(changed(observation, relabelled, serving)) == {"a": "keep", "b": "add", "c": "add"}


def override(plaintext: list[dict[str, Any]]) -> dict[str, Any]:
    """An override of ``web`` on member b."""
    rule = {"targetCluster": {"clusterNames": ["b"]}, "overriders": {"plaintext": plaintext}}
    spec = {"resourceSelectors": [_named("web")], "overrideRules": [rule]}
    metadata = {"name": "ovr", "namespace": "shop"}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": metadata,
        "spec": spec,
    }


def _named(name: str) -> dict[str, str]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}


def _labelled(tier: str) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "labelSelector": {"matchLabels": {"tier": tier}},
    }


def test_namespaces_are_on_every_member_already() -> None:
    observation = observed(WEB, claimed(OLD, WEB), binding(OLD, WEB, {"a": 2, "b": 2}))
    assert [
        str(warning) for warning in planned(observation).warnings if "namespace" in warning.what
    ] == []
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    assert [item.name for item in changed(observation, namespace).subjects] == [KEY]


def test_a_kind_that_no_plan_carries_out_is_passed_over_and_named() -> None:
    quota: dict[str, Any] = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "FederatedResourceQuota",
    }
    quota |= {"metadata": {"name": "q", "namespace": "shop"}, "spec": {"overall": {"cpu": "1"}}}
    observation = observed(quota)
    assert "1 FederatedResourceQuota object that a plan does not carry out: q" in observation.notes
    assert "FederatedResourceQuota" in [item["kind"] for item in observation.policies]


def test_what_its_policy_keeps_on_members_is_kept_already() -> None:
    owner = policy(placement=on("a"), preserveResourcesOnDeletion=True)
    observation = observed(
        owner,
        claimed(OLD, owner),
        binding(OLD, owner, {"a": 2}, spec={"preserveResourcesOnDeletion": True}),
    )
    assert not describe_plan(changed(observation))
    documents = [Manifest(item) for item in observation.policies]
    (left,) = planned(
        observation, gathered(Given((*map(Manifest, observation.members), *documents)))
    ).departures
    assert left.fate == Fate.KEPT
    (line,) = describe_plan(changed(observation, policy(placement=on("a"))))
    assert "deleted from now on" in line.text
