"""Successive runs of a fleet that Karmada's policies steer: what stands, what is decided, what a preview shows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.delivery.driver import InProcess
from tests.delivery.karmada.world import (
    WEB,
    Driver,
    KarmadaWorld,
    carried_out,
    decided,
    delivered,
    deployment,
    member,
    of_kind,
    on,
    policy,
    replicas,
    weights,
)

pytestmark = pytest.mark.long


def test_the_first_preview_shows_every_object(driver: Driver) -> None:
    driver.world.objects = {"web": deployment(4), "policy": policy(placement=weights(a=1, b=1))}
    seen = carried_out(driver)
    assert seen.changes["Template shop/Deployment/web"] == "create"
    assert of_kind(seen) == {"a": "create", "b": "create"}
    assert "replicas: a 2, b 2" in seen.text
    assert set(seen.changes.values()) == {"create"}


def test_replicas_are_divided_by_weight_and_scaled(driver: Driver) -> None:
    delivered(driver, weights(a=3, b=1))
    assert replicas(driver) == {"a": 3, "b": 1}
    driver.world.objects["web"] = deployment(8)
    seen = carried_out(driver)
    assert of_kind(seen) == {"a": "update", "b": "update"}
    assert "replicas: a 6 (has 3), b 2 (has 1)" in seen.text
    assert replicas(driver) == {"a": 6, "b": 2}
    driver.world.objects["web"] = deployment(1)
    assert of_kind(carried_out(driver)) == {"a": "update", "b": "delete"}
    assert replicas(driver) == {"a": 1}


def test_scaling_makes_no_new_revision_and_leaves_unchanged_members_alone(driver: Driver) -> None:
    delivered(driver, weights(a=1, b=1))
    driver.world.objects["web"] = deployment(5)
    assert len(of_kind(carried_out(driver))) == 1
    assert decided(driver)["revision"] == 0
    driver.world.objects["web"] = deployment(5, image="web:2")
    assert driver.up().ok
    assert decided(driver)["revision"] == 1
    assert set(driver.images().values()) == {"web:2"}


def test_scaled_to_nothing_there_are_no_replicas_anywhere(driver: Driver) -> None:
    delivered(driver, weights(a=1, b=1))
    driver.world.objects["web"] = deployment(0)
    carried_out(driver)
    assert replicas(driver) == {"a": 0, "b": 0, "c": 0}
    driver.world.objects["web"] = deployment(2)
    driver.world.config = {"limit": "1"}
    assert driver.up().ok
    assert replicas(driver) == {"a": 1, "b": 1}


def test_a_changed_content_goes_to_all_at_once(in_process: InProcess[KarmadaWorld]) -> None:
    delivered(in_process, {})
    in_process.world.objects["web"] = deployment(4, image="web:2")
    assert "wave 1: update a, b, c (revision 1)" in carried_out(in_process).text
    assert in_process.images() == dict.fromkeys("abc", "web:2")
    assert replicas(in_process) == dict.fromkeys("abc", 4)


def test_a_member_that_fails_is_taken_up_again(driver: Driver) -> None:
    delivered(driver, weights(a=1, b=1, c=2), 4)
    driver.world.objects["web"] = deployment(8, image="web:2")
    assert not driver.up(fails="b").ok
    assert driver.images()["b"] == "web:1"
    assert replicas(driver)["b"] == 1
    # What was decided is ahead of what stands; the words tell what stands.
    driver.world.objects["web"] = deployment(12, image="web:2")
    assert "b 3 (has 1)" in driver.preview().text
    driver.world.objects["web"] = deployment(8, image="web:2")
    assert of_kind(carried_out(driver))["b"] == "update"
    assert driver.images() == dict.fromkeys("abc", "web:2")
    assert replicas(driver) == {"a": 2, "b": 2, "c": 4}


def test_a_policy_that_moves_work_drops_the_old_copy_last(driver: Driver) -> None:
    delivered(driver, on("a"))
    driver.world.objects["policy"] = policy(placement=on("b"))
    assert of_kind(driver.preview()) == {"a": "delete", "b": "create"}
    assert not driver.up(fails="b").ok
    assert set(replicas(driver)) == {"a"}
    carried_out(driver)
    assert set(replicas(driver)) == {"b"}


def test_a_member_that_goes_hands_its_share_on(in_process: InProcess[KarmadaWorld]) -> None:
    delivered(in_process, weights(a=1, b=1, c=1), 6)
    del in_process.world.members["c"]
    assert in_process.up().ok
    assert replicas(in_process) == {"a": 3, "b": 3}
    in_process.world.members["c"] = member("c")
    assert of_kind(in_process.preview()) == {}


def test_a_lost_member_is_replaced_and_forgotten(driver: Driver) -> None:
    delivered(driver, weights(a=1, b=1, c=1), 6)
    driver.world.config = {"lost": "c"}
    assert driver.up().ok
    assert {"a": 3, "b": 3}.items() <= replicas(driver).items()
    assert set(decided(driver)["decisions"]) == {"a", "b"}
    assert driver.preview().changes == {}


def test_deleting_a_policy_leaves_what_it_placed_and_freezes_it(driver: Driver) -> None:
    delivered(driver, weights(a=3, b=1))
    del driver.world.objects["policy"]
    seen = carried_out(driver)
    assert of_kind(seen) == {}
    assert (
        "no policy has it any more: it stays as it was placed, and its changes are not delivered"
        in seen.text
    )
    driver.world.objects["web"] = deployment(8, image="web:2")
    assert of_kind(carried_out(driver)) == {}
    assert replicas(driver) == {"a": 3, "b": 1}
    assert driver.images() == {"a": "web:1", "b": "web:1"}
    driver.world.objects["policy"] = policy("other", placement=on("b", "c"))
    assert driver.up().ok
    assert driver.images() == {"b": "web:2", "c": "web:2"}
    assert replicas(driver) == {"b": 8, "c": 8}


def test_what_no_policy_has_is_still_moved_by_its_members(
    in_process: InProcess[KarmadaWorld],
) -> None:
    world = in_process.world
    world.members["a"] = member("a", labels={"in": "yes"})
    delivered(in_process, {"clusterAffinity": {"labelSelector": {"matchLabels": {"in": "yes"}}}}, 2)
    del world.objects["policy"]
    assert of_kind(carried_out(in_process)) == {}
    world.objects["web"] = deployment(8, image="web:2")
    assert of_kind(carried_out(in_process)) == {}
    world.members["b"] = member("b", labels={"in": "yes"})
    assert of_kind(carried_out(in_process)) == {"a": "update", "b": "create"}
    assert replicas(in_process) == {"a": 2, "b": 2}
    world.members["a"] = member("a")
    assert of_kind(carried_out(in_process)) == {"a": "delete"}


def test_deleting_the_object_removes_it(driver: Driver) -> None:
    delivered(driver, weights(a=3, b=1))
    del driver.world.objects["web"]
    refused = driver.preview()
    assert not refused.ok
    assert "PropagationPolicy shop/web: would lose 2 objects on 2 members (a, b)" in refused.text
    driver.world.config = {"confirm": refused.text.partition("fleet:confirm=")[2][:8]}
    assert of_kind(carried_out(driver)) == {"a": "delete", "b": "delete"}
    assert driver.stands() == {}


def test_a_policy_deleted_after_an_update_that_broke_at_once_leaves_the_template_alone(
    driver: Driver,
) -> None:
    driver.world.objects = {"web": deployment(), "policy": policy(placement=on("a", "b"))}
    assert not driver.up(fails="b").ok
    stood = set(driver.stands())
    assert stood <= {"a"}  # an engine may stop before the other member's turn
    del driver.world.objects["policy"]
    assert driver.up().ok
    assert set(driver.stands()) >= stood
    assert decided(driver)["policy"] == "none"


def test_a_claim_stays_when_a_better_policy_comes(in_process: InProcess[KarmadaWorld]) -> None:
    delivered(in_process, on("a"))
    in_process.world.objects["better"] = policy("better", placement=on("b"), priority=10)
    assert in_process.up().ok
    assert set(in_process.stands()) == {"a"}
    assert decided(in_process)["policy"] == "PropagationPolicy shop/web"
    del in_process.world.objects["policy"]
    assert in_process.up().ok
    assert set(in_process.stands()) == {"b"}
    assert decided(in_process)["policy"] == "PropagationPolicy shop/better"


def test_a_lazy_policy_waits_for_the_object(in_process: InProcess[KarmadaWorld]) -> None:
    delivered(in_process, on("a"), activationPreference="Lazy")
    in_process.world.objects["policy"] = policy(placement=on("b"), activationPreference="Lazy")
    assert in_process.up().ok
    assert set(in_process.stands()) == {"a"}
    in_process.world.objects["web"] = deployment(4, image="web:2")
    carried_out(in_process)
    assert in_process.images() == {"b": "web:2"}


def rebalancer(named: str, **workload: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps.karmada.io/v1alpha1",
        "kind": "WorkloadRebalancer",
        "metadata": {"name": named},
        "spec": {"workloads": [{**WEB, "namespace": "shop", **workload}]},
    }


def summary(pods: int) -> dict[str, Any]:
    return {"resourceSummary": {"allocatable": {"pods": str(pods)}}}


def dynamic(driver: Driver, **pods: int) -> None:
    """Divided by free capacity."""
    placement = {
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted",
            "weightPreference": {"dynamicWeight": "AvailableReplicas"},
        }
    }
    driver.world.objects = {"web": deployment(12), "policy": policy(placement=placement)}
    enabled = {
        "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"kind": "Deployment"}]}]
    }
    driver.world.members = {
        name: {**member(name), "status": {**summary(free), **enabled}}
        for name, free in pods.items()
    }


def test_a_rebalance_divides_anew_once(driver: Driver) -> None:
    dynamic(driver, a=6, b=12, c=18)
    assert driver.up().ok
    assert replicas(driver) == {"a": 2, "b": 4, "c": 6}
    for name, free in (("a", 30), ("b", 8), ("c", 2)):
        driver.world.members[name]["status"].update(summary(free))
    assert driver.preview().changes == {}
    driver.world.objects["again"] = rebalancer("again")
    seen = carried_out(driver)
    assert set(of_kind(seen).values()) == {"update"}
    assert "(has 2)" in seen.text
    assert replicas(driver) != {"a": 2, "b": 4, "c": 6}
    assert sum(replicas(driver).values()) == 12
    driver.world.objects["again"] = rebalancer("once-more", name="nothing")
    refused = driver.preview()
    assert (
        "WorkloadRebalancer once-more: spec.workloads[0]: there is no Deployment shop/nothing"
        in refused.text
    )


def test_too_little_capacity_is_said_and_moves_nothing(in_process: InProcess[KarmadaWorld]) -> None:
    dynamic(in_process, a=6, b=12)
    assert in_process.up().ok
    before = replicas(in_process)
    in_process.world.objects["web"] = deployment(100)
    assert "are not enough to schedule" in carried_out(in_process).text
    assert replicas(in_process) == before


def test_suspension_holds_what_runs_and_still_removes(driver: Driver) -> None:
    delivered(driver, weights(a=1, b=1))
    suspended = {"dispatchingOnClusters": {"clusterNames": ["b"]}}
    driver.world.objects["policy"] = policy(placement=weights(a=1, b=1), suspension=suspended)
    driver.world.objects["web"] = deployment(8, image="web:2")
    assert (
        "held: b not updated (keep revision 0): dispatching is suspended"
        in carried_out(driver).text
    )
    assert driver.images() == {"a": "web:2", "b": "web:1"}
    assert replicas(driver) == {"a": 4, "b": 2}
    driver.world.objects["policy"] = policy(
        placement=weights(a=1, c=1), suspension={"dispatching": True}
    )
    assert driver.up().ok
    assert replicas(driver) == {"a": 4}
    driver.world.objects["policy"] = policy(placement=weights(a=1, c=1))
    assert driver.up().ok
    assert replicas(driver) == {"a": 4, "c": 4}
    assert set(driver.images().values()) == {"web:2"}


@pytest.mark.parametrize("divided", [False, True])
@pytest.mark.parametrize(
    ("written", "counts"),
    [({}, (1, 1)), ({"parallelism": 2}, (2, None)), ({"completions": 3}, (1, 3))],
)
def test_a_job_has_the_completions_of_the_control_plane(
    in_process: InProcess[KarmadaWorld],
    written: dict[str, int],
    counts: tuple[int, int | None],
    divided: bool,
) -> None:
    """Written with neither, it is stored with one of each; with a parallelism alone, it is a work queue."""
    template = {
        "spec": {"restartPolicy": "Never", "containers": [{"name": "sum", "image": "sum:1"}]}
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "sum", "namespace": "shop"},
        "spec": {"template": template, **written},
    }
    selector = {"apiVersion": "batch/v1", "kind": "Job", "name": "sum"}
    placement = weights(a=1) if divided else on("a")
    in_process.world.objects = {
        "sum": job,
        "policy": policy(placement=placement, resourceSelectors=[selector]),
    }
    carried_out(in_process)
    ((_, sent),) = in_process.stands("Job").items()
    assert (sent["spec"].get("parallelism"), sent["spec"].get("completions")) == counts


def test_a_job_divides_its_completions(driver: Driver) -> None:
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "sum", "namespace": "shop"},
        "spec": {
            "parallelism": 4,
            "completions": 10,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [{"name": "sum", "image": "sum:1"}],
                }
            },
        },
    }
    selector = {"apiVersion": "batch/v1", "kind": "Job", "name": "sum"}
    driver.world.objects = {
        "sum": job,
        "policy": policy(placement=weights(a=2, b=1), resourceSelectors=[selector]),
    }
    carried_out(driver)
    specs = {
        c: (data["spec"]["parallelism"], data["spec"]["completions"])
        for c, data in driver.stands("Job").items()
    }
    assert specs == {"a": (3, 7), "b": (1, 3)}


def test_one_member_serves_both_systems(in_process: InProcess[KarmadaWorld]) -> None:
    identity = {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}
    kubefleet = {
        "apiVersion": "cluster.kubernetes-fleet.io/v1",
        "kind": "MemberCluster",
        "metadata": {"name": "a", "labels": {"topology.kubernetes.io/region": "north"}},
        "spec": {"identity": identity},
        "status": {"resourceUsage": {"allocatable": {"cpu": "4"}, "available": {"cpu": "2"}}},
    }
    dynamic(in_process, a=1)
    in_process.world.objects["policy"]["spec"]["placement"]["clusterAffinity"] = {
        "fieldSelector": {
            "matchExpressions": [{"key": "region", "operator": "In", "values": ["north"]}]
        }
    }
    in_process.world.members = {"a": kubefleet, "b": member("b", region="south")}
    assert in_process.up().ok
    assert replicas(in_process) == {"a": 12}
    in_process.world.members["c"] = member("a")
    assert "the member is declared as" in in_process.preview().text


def test_a_member_that_is_tainted_keeps_what_it_has_and_gets_nothing_new(
    in_process: InProcess[KarmadaWorld],
) -> None:
    delivered(in_process, {})
    in_process.world.members["c"] = member("c", taints=[{"key": "sick", "effect": "NoSchedule"}])
    in_process.world.members["d"] = member("d", taints=[{"key": "sick", "effect": "NoSchedule"}])
    assert of_kind(in_process.preview()) == {}


def test_a_mass_removal_is_refused_with_a_token(driver: Driver) -> None:
    delivered(driver, on("a", "b", "c"))
    driver.world.objects["policy"] = policy(placement=on("a"))
    refused = driver.preview()
    assert not refused.ok
    assert (
        "PropagationPolicy shop/web: would lose 2 objects on 2 members (b, c), 2 of the 3 "
        in refused.text
    )
    driver.world.config = {"confirm": refused.text.partition("fleet:confirm=")[2][:8]}
    assert driver.up().ok
    assert set(driver.stands()) == {"a"}


@pytest.mark.parametrize(("keeps", "options"), [(True, {"retainOnDelete": True}), (False, {})])
def test_resources_are_preserved_when_asked(
    in_process: InProcess[KarmadaWorld], keeps: bool, options: dict[str, Any]
) -> None:
    asked = policy(placement=on("a"), preserveResourcesOnDeletion=keeps)
    in_process.world.objects = {"web": deployment(4), "policy": asked}
    assert in_process.run().named("dev/shop/Deployment/web@a/shop/web").options == options


@pytest.mark.parametrize(
    ("policys", "objects", "forced"),
    [
        ("Abort", None, False),
        ("Overwrite", None, True),
        ("Overwrite", "abort", False),
        ("Abort", "overwrite", True),
    ],
)
def test_conflicts_are_resolved_as_asked(
    in_process: InProcess[KarmadaWorld], policys: str, objects: str | None, forced: bool
) -> None:
    web = deployment(4)
    if objects:
        web["metadata"]["annotations"] = {"work.karmada.io/conflict-resolution": objects}
    in_process.world.objects = {
        "web": web,
        "policy": policy(placement=on("a"), conflictResolution=policys),
    }
    annotations = in_process.run().inputs("dev/shop/Deployment/web@a/shop/web")["metadata"][
        "annotations"
    ]
    assert ("pulumi.com/patchForce" in annotations) is forced
