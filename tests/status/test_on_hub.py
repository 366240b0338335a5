"""What a hub has made of a placement or template, beside its forecast, with the cause where one is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.hub.listing import Listing, Query, ServedResource
from fleet_components.hub.observation import HubObservation
from fleet_components.model.manifest import Manifest
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.options import Options, Settings
from fleet_components.plan.past import Past
from fleet_components.plan.source import source_of
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Done
from fleet_components.status.on_hub import HubRow, OnHub, on_hub
from fleet_components.systems.framework import System
from fleet_components.systems.registry import SYSTEMS
from tests.delivery.karmada.world import on, policy
from tests.hub.folder.hubs import AS_OF, KARMADA, kubefleet, observed

Data = dict[str, Any]


def forecast(objects: list[Data], way: str, name: str) -> Decided:
    settings = Settings(delivery=way)
    plan = plan_fleet(
        source_of(map(Manifest, objects)), Past(settings=settings), Options(settings=settings)
    )
    (found,) = (subject for subject in plan.subjects if subject.name == name)
    return found


def listing(system: System, *objects: Mapping[str, Any]) -> Listing:
    answers: dict[Query, tuple[Mapping[str, Any], ...]] = {}
    served = {}
    for data in objects:
        query, manifest = Query(data["apiVersion"], data["kind"]), Manifest(data)
        answers[query] = (*answers.get(query, ()), data)
        served[manifest.group, manifest.kind] = ServedResource(
            data["apiVersion"], data["kind"], "x", namespaced=False
        )
    return Listing(system, AS_OF, served, answers)


def row(found: OnHub, member: str) -> HubRow:
    (only,) = (item for item in found.rows if item.member == member)
    return only


def with_done(observation: HubObservation, name: str, **members: Done | None) -> HubObservation:
    """The hub with something else on some members; None for nothing."""

    def changed(done: Mapping[str, Done]) -> dict[str, Done]:
        left = {member: item for member, item in done.items() if member not in members}
        return left | {member: item for member, item in members.items() if item}

    subjects = [
        attrs.evolve(subject, done=changed(subject.done)) if subject.name == name else subject
        for subject in observation.subjects
    ]
    return attrs.evolve(observation, subjects=tuple(subjects))


def placement(objects: list[Data], **status: Any) -> Data:
    (found,) = (data for data in objects if data["kind"] == "ClusterResourcePlacement")
    return {**found, "status": status}


def members(objects: list[Data]) -> list[Data]:
    return [data for data in objects if data["kind"] in ("MemberCluster", "Cluster")]


def test_a_hub_that_has_done_as_forecast_has_nothing_to_tell() -> None:
    objects = kubefleet()
    shop = placement(objects, conditions=[{"type": "x", "status": "True"}])
    decided = forecast(objects, "kubefleet", "ClusterResourcePlacement/shop")
    found = on_hub(
        decided, listing(SYSTEMS["kubefleet"], shop, *members(objects)), observed(objects)
    )
    assert {item.member for item in found.rows} == set(decided.record.decisions)
    assert not any(item.differs or item.causes for item in found.rows)
    assert found.shown["metadata"] == {"name": "shop"}


def test_a_member_that_waits_is_told_with_what_the_hub_says() -> None:
    objects = kubefleet()
    decided = forecast(objects, "kubefleet", "ClusterResourcePlacement/shop")
    first, second, *_ = sorted(decided.record.decisions)
    blocked = {
        "type": "RolloutStarted",
        "status": "False",
        "reason": "RolloutNotStartedYet",
        "message": "is blocked",
    }
    failed = {
        "kind": "Deployment",
        "namespace": "shop",
        "name": "web",
        "condition": {"message": "not wanted"},
    }
    told = [
        {"clusterName": first, "conditions": [blocked]},
        {"clusterName": second, "conditions": [], "failedPlacements": [failed]},
    ]
    hub = with_done(observed(objects), decided.name, **{first: None})
    answers = listing(
        SYSTEMS["kubefleet"], placement(objects, placementStatuses=told), *members(objects)
    )
    found = on_hub(decided, answers, hub)
    assert (row(found, first).forecast, row(found, first).hub) == ("newest", "not there")
    assert row(found, first).causes == ("RolloutNotStartedYet: is blocked",)
    assert not row(found, second).differs
    assert (row(found, second).fine, row(found, second).causes) == (
        False,
        ("Deployment shop/web: not wanted",),
    )


def test_a_taint_since_and_a_member_that_is_gone_are_causes() -> None:
    objects = kubefleet()
    decided = forecast(objects, "kubefleet", "ClusterResourcePlacement/shop")
    first, second, *_ = sorted(decided.record.decisions)
    live = [member for member in members(objects) if member["metadata"]["name"] != second]
    tainted = {"spec": {"taints": [{"key": "drained", "effect": "NoSchedule"}]}}
    live = [{**item, **tainted} if item["metadata"]["name"] == first else item for item in live]
    hub = with_done(observed(objects), decided.name, **{first: None, second: None})
    found = on_hub(
        decided, listing(SYSTEMS["kubefleet"], placement(objects, conditions=[]), *live), hub
    )
    assert row(found, first).causes == ("tainted on the hub since: drained:NoSchedule",)
    assert row(found, second).causes == ("the hub has no such member",)


def test_a_placement_that_the_hub_does_not_have_is_missing() -> None:
    objects = kubefleet()
    decided = forecast(objects, "kubefleet", "ClusterResourcePlacement/shop")
    nothing = attrs.evolve(observed(objects), subjects=())
    assert on_hub(decided, listing(SYSTEMS["kubefleet"]), nothing).missing


def test_replicas_and_the_words_of_a_member_are_told_of_a_template() -> None:
    objects = [*map(dict, KARMADA)]
    name = "Template/shop/Deployment/web"
    decided = forecast(objects, "karmada", name)
    resource = {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}
    said = {"clusterName": "a", "applied": False, "appliedMessage": "already exists"}
    binding = {
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": {"name": "web-deployment", "namespace": "shop", "uid": "1"},
        "spec": {"resource": resource},
        "status": {"aggregatedStatus": [said]},
    }
    hub = with_done(observed(objects, SYSTEMS["karmada"]), name, b=None)
    found = on_hub(decided, listing(SYSTEMS["karmada"], binding, *members(objects)), hub)
    assert row(found, "a").causes == ("already exists",)
    assert row(found, "b").hub == "not there"
    assert row(found, "b").causes == (
        "the hub does not say why: it may be under way still, or somebody has changed something there since",
    )
    assert found.shown["metadata"] == {"name": "web-deployment", "namespace": "shop"}


def test_replicas_on_a_hub_are_those_after_overrides() -> None:
    divided = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}
    replicas = {"path": "/spec/replicas", "operator": "replace", "value": 7}
    rules = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "more", "namespace": "shop"},
        "spec": {
            "overrideRules": [
                {"targetCluster": {"clusterNames": ["a"]}, "overriders": {"plaintext": [replicas]}},
            ]
        },
    }
    objects = [
        *map(dict, KARMADA[:-1]),
        policy(placement={**on("a", "b"), "replicaScheduling": divided}),
        rules,
    ]
    decided = forecast(objects, "karmada", "Template/shop/Deployment/web")
    found = on_hub(
        decided,
        listing(SYSTEMS["karmada"], *members(objects)),
        observed(objects, SYSTEMS["karmada"]),
    )
    assert {item.member: (item.forecast, item.hub) for item in found.rows} == {
        "a": ("newest, 7 replicas", "newest, 7 replicas"),
        "b": ("newest, 2 replicas", "newest, 2 replicas"),
    }
