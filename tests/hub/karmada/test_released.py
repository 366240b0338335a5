"""Templates whose policy is gone: the binding keeps its placement, by which changes of members still move it."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.hub.observation import HubObservation
from fleet_components.plan.departures import Fate
from fleet_components.plan.describe import describe_plan, describe_subject
from fleet_components.plan.fleet_plan import FleetPlan
from tests.delivery.recording import Data
from tests.hub.karmada.test_situations import changed, image, moves, observed, subject
from tests.hub.karmada.world import binding, claimed, deployment, policy, weights, work

WEB = deployment(2, "web:1")
HERE = {"clusterAffinity": {"labelSelector": {"matchLabels": {"in": "yes"}}}}
TAINTED = {"key": "down", "effect": "NoExecute", "timeAdded": "2026-11-23T10:00:00Z"}


def released(placement: Data, clusters: dict[str, int], now: Data = WEB) -> HubObservation:
    """The observation of a template that no policy has any more, in a fleet of a, b and c with ``in: yes``."""
    bound = binding(WEB, None, clusters, placement=placement, spec={"replicas": 2})
    works = [work(member, bound, WEB) for member in clusters]
    return observed(*works, claimed(now, None), bound, labels={"in": "yes"})


def at(
    observation: HubObservation, name: str, labels: Data | None = None, **spec: Any
) -> dict[str, Any]:
    """A member with other labels or fields."""
    found = next(member for member in observation.members if member["metadata"]["name"] == name)
    metadata = {**found["metadata"], **({} if labels is None else {"labels": labels})}
    return {**found, "metadata": metadata, "spec": {**found["spec"], **spec}}


def evicting(observation: HubObservation, **spec: Any) -> dict[str, Any]:
    """The settings of the control plane, with evictions by taints."""
    found = next(item for item in observation.policies if item["kind"] == "KarmadaSettings")
    return {**found, "spec": {**found["spec"], "noExecuteEviction": True, **spec}}


def said(plan: FleetPlan) -> str:
    """The lines on the template."""
    return "\n".join(describe_subject(plan, plan.subjects[0])[0])


def test_another_label_of_its_member_takes_the_only_copy() -> None:
    observation = released(HERE, {"a": 2, "b": 2, "c": 2})
    assert "it stays as it was placed, and its changes are not delivered" in said(
        changed(observation)
    )
    plan = changed(observation, *(at(observation, name, {}) for name in "abc"))
    assert moves(plan) == {"a": "remove", "b": "remove", "c": "remove"}
    assert {(departure.cluster, departure.fate) for departure in plan.departures} == {
        (name, Fate.DELETED) for name in "abc"
    }
    assert {line.weight for line in describe_plan(plan)} == {"lost"}
    told = "no policy has it any more: it is still scheduled by the placement that its last policy left in its binding"
    assert f"{told} (give it a policy, or remove the object)" in said(plan)
    (item,) = plan.subjects
    assert item.outcome.unfulfilled.startswith("0/3 clusters are available")


def test_a_policy_that_goes_with_a_label_loses_the_copy_as_well() -> None:
    owner = policy(placement=HERE)
    observation = observed(
        owner, claimed(WEB, owner), binding(WEB, owner, {"a": 2}), labels={"in": "yes"}
    )
    other = policy(
        resourceSelectors=[{"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}],
        placement=HERE,
    )
    assert moves(changed(observation, other)) == {"a": "keep"}
    assert moves(changed(observation, other, at(observation, "a", {})))["a"] == "remove"


@pytest.mark.parametrize("placement", [{}, HERE])
def test_another_member_gets_it_when_the_kept_placement_says_so(placement: Data) -> None:
    now = deployment(5, "web:2")
    observation = released(placement, {"a": 2, "b": 2}, now)
    assert moves(changed(observation)) == {"a": "keep", "b": "keep"}
    plan = changed(observation, at(observation, "c", {"in": "yes", "more": "x"}))
    # Whatever changes the binding, its Works are made anew from the object as it is; the replicas are the binding's.
    assert moves(plan) == {"a": "update", "b": "update", "c": "add"}
    record = plan.subjects[0].record
    for share in record.decisions.values():
        (sent,) = record.plain(share)
        assert (
            sent["spec"]["replicas"],
            sent["spec"]["template"]["spec"]["containers"][0]["image"],
        ) == (2, "web:2")


def test_what_does_not_concern_its_placement_leaves_it() -> None:
    here = {"clusterAffinity": {"clusterNames": ["a"]}}
    observation = released(here, {"a": 2})
    assert moves(changed(observation, at(observation, "b", {}))) == {"a": "keep"}
    looked_again = changed(observation, at(observation, "a", {"in": "yes", "more": "x"}))
    assert moves(looked_again) == {"a": "keep"}
    assert looked_again.subjects[0].record == subject(observation).record
    quiet = released({**HERE, **weights(a=1)}, {"a": 2})
    assert moves(changed(quiet, at(quiet, "a", {}))) == {"a": "keep"}, (
        "what is divided stays while its number does"
    )


def test_the_status_of_a_member_is_not_looked_at() -> None:
    observation = released(HERE, {"a": 2, "b": 2, "c": 2})
    unserved = {
        **at(observation, "c"),
        "status": {**at(observation, "c")["status"], "apiEnablements": []},
    }
    assert moves(changed(observation, unserved)) == {"a": "keep", "b": "keep", "c": "keep"}


def test_changes_of_the_object_do_not_reach_it() -> None:
    observation = released(HERE, {"a": 2, "b": 2, "c": 2})
    plan = changed(observation, deployment(7, "web:2"))
    assert moves(plan) == {"a": "keep", "b": "keep", "c": "keep"}
    assert image(subject(observation), "a") == "web:1"
    rebalance = {
        "apiVersion": "apps.karmada.io/v1alpha1",
        "kind": "WorkloadRebalancer",
        "metadata": {"name": "again"},
        "spec": {
            "workloads": [
                {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "shop"}
            ]
        },
    }
    divided = released(weights(a=1), {"b": 2})
    assert moves(changed(divided, rebalance)) == {"b": "keep"}
    assert moves(changed(divided, rebalance, at(divided, "b", {}))) == {"a": "add", "b": "remove"}


def test_a_taint_evicts_it_and_nothing_chooses_another_member() -> None:
    observation = released(weights(a=1, b=1), {"a": 2})
    tainted = at(observation, "a", taints=[TAINTED])
    assert moves(changed(observation, tainted)) == {"a": "keep"}, "taints evict nothing by default"
    plan = changed(observation, tainted, evicting(observation))
    assert moves(plan) == {"a": "held"}
    stays = "its copy stays until the object stands elsewhere, or for 600 s at the latest"
    assert f"the taint down:NoExecute is not tolerated; {stays}" in said(plan)
    memory = plan.subjects[0].record.memory
    assert (dict(memory.schedule.clusters), list(memory.schedule.evictions)) == ({}, ["a"])


def test_a_taint_with_purge_mode_directly_deletes_the_only_copy_at_once() -> None:
    observation = released(HERE, {"a": 2, "b": 2, "c": 2})
    tainted = [at(observation, name, taints=[TAINTED]) for name in "abc"]
    plan = changed(observation, *tainted, evicting(observation, purgeMode="Directly"))
    assert moves(plan) == {"a": "remove", "b": "remove", "c": "remove"}
    assert {departure.fate for departure in plan.departures} == {Fate.DELETED}


def test_a_policy_takes_it_up_again() -> None:
    observation = released(HERE, {"a": 2, "b": 2, "c": 2}, deployment(2, "web:2"))
    plan = changed(observation, policy(placement={"clusterAffinity": {"clusterNames": ["b"]}}))
    assert moves(plan) == {"a": "remove", "b": "update", "c": "remove"}
    assert "no policy has it" not in said(plan)
