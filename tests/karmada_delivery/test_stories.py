"""Successive runs of a fleet that Karmada's policies steer: what stands, what is decided, what a preview shows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.karmada_delivery.world import POLICY, WEB, World, deployment, member, on, policy, weights


def world(placement: dict[str, Any], replicas: int | None = 4, **spec: Any) -> World:
    """The Deployment ``web`` and its policy, delivered."""
    made = World(objects={"web": deployment(replicas), "policy": policy(placement=placement, **spec)})
    assert made.up().ok
    assert made.preview().changes == {}
    return made


def shown(w: World, kind: str = "Deployment") -> dict[str, str]:
    """What a preview shows of a kind, by cluster."""
    found = w.preview().changes.items()
    return {name.partition("@")[2].partition("/")[0]: change for name, change in found if name.startswith(f"{kind} ")}


def test_the_first_preview_shows_every_object() -> None:
    w = World(objects={"web": deployment(4), "policy": policy(placement=weights(a=1, b=1))})
    seen = w.preview()
    assert seen.ok
    assert seen.changes["Placement shop/Deployment/web"] == "create"
    assert shown(w) == {"a": "create", "b": "create"}
    assert "replicas: a 2, b 2" in seen.text
    assert set(seen.changes.values()) == {"create"}


def test_replicas_are_divided_by_weight_and_scaled() -> None:
    w = world(weights(a=3, b=1))
    assert w.replicas() == {"a": 3, "b": 1}
    w.objects["web"] = deployment(8)
    assert shown(w) == {"a": "update", "b": "update"}
    assert "replicas: a 6 (has 3), b 2 (has 1)" in w.preview().text
    assert w.up().ok
    assert w.replicas() == {"a": 6, "b": 2}
    w.objects["web"] = deployment(1)
    assert w.up().ok
    assert w.replicas() == {"a": 1}
    assert w.preview().changes == {}


def test_scaling_makes_no_new_revision_and_leaves_unchanged_members_alone() -> None:
    w = world(weights(a=1, b=1))
    w.objects["web"] = deployment(5)
    assert len(shown(w)) == 1
    w.up()
    assert w.decided()["revision"] == 0
    w.objects["web"] = deployment(5, image="web:2")
    assert w.up().ok
    assert w.decided()["revision"] == 1
    assert set(w.images().values()) == {"web:2"}


def test_scaled_to_nothing_there_are_no_replicas_anywhere() -> None:
    w = world(weights(a=1, b=1))
    w.objects["web"] = deployment(0)
    assert w.up().ok
    assert w.replicas() == {"a": 0, "b": 0, "c": 0}
    assert w.preview().changes == {}
    w.objects["web"] = deployment(2)
    w.config = {"limit": "1"}
    assert w.up().ok
    assert w.replicas() == {"a": 1, "b": 1}


def test_a_changed_content_goes_to_all_at_once() -> None:
    w = world({})
    w.objects["web"] = deployment(4, image="web:2")
    assert "wave 1: update a, b, c (revision 1)" in w.preview().text
    assert w.up().ok
    assert w.images() == dict.fromkeys("abc", "web:2")
    assert w.replicas() == dict.fromkeys("abc", 4)


def test_a_policy_that_moves_work_drops_the_old_copy_last() -> None:
    w = world(on("a"))
    w.objects["policy"] = policy(placement=on("b"))
    assert shown(w) == {"a": "delete", "b": "create"}
    assert not w.up(fails="b").ok
    assert set(w.replicas()) == {"a"}
    assert w.up().ok
    assert set(w.replicas()) == {"b"}
    assert w.preview().changes == {}


def test_a_member_that_goes_hands_its_share_on() -> None:
    w = world(weights(a=1, b=1, c=1), replicas=6)
    del w.members["c"]
    assert w.up().ok
    assert w.replicas() == {"a": 3, "b": 3}
    w.members["c"] = member("c")
    assert shown(w) == {}


def test_a_lost_member_is_replaced_and_forgotten() -> None:
    w = world(weights(a=1, b=1, c=1), replicas=6)
    w.config = {"lost": "c"}
    assert w.up().ok
    assert w.replicas() == {"a": 3, "b": 3}
    assert set(w.decided()["decisions"]) == {"a", "b"}
    assert w.preview().changes == {}


def test_deleting_a_policy_leaves_what_it_placed_and_freezes_it() -> None:
    w = world(weights(a=3, b=1))
    del w.objects["policy"]
    assert shown(w) == {}
    assert w.up().ok
    w.objects["web"] = deployment(8, image="web:2")
    assert shown(w) == {}
    assert w.up().ok
    assert w.replicas() == {"a": 3, "b": 1}
    assert w.images() == {"a": "web:1", "b": "web:1"}
    assert w.preview().changes == {}
    w.objects["policy"] = policy("other", placement=on("b", "c"))
    assert w.up().ok
    assert w.images() == {"b": "web:2", "c": "web:2"}
    assert w.replicas() == {"b": 8, "c": 8}


def test_deleting_the_object_removes_it() -> None:
    w = world(weights(a=3, b=1))
    del w.objects["web"]
    assert shown(w) == {"a": "delete", "b": "delete"}
    assert w.up().ok
    assert w.stands() == {}


def test_a_policy_deleted_after_an_update_that_broke_at_once_leaves_the_template_alone() -> None:
    w = World(objects={"web": deployment(), "policy": policy(placement=on("a", "b"))})
    assert not w.up(fails="b").ok
    assert set(w.stands()) == {"a"}
    del w.objects["policy"]
    assert w.up().ok
    assert set(w.stands()) >= {"a"}


def test_a_claim_stays_when_a_better_policy_comes() -> None:
    w = world(on("a"))
    w.objects["better"] = policy("better", placement=on("b"), priority=10)
    assert w.up().ok
    assert set(w.stands()) == {"a"}
    assert w.decided()["policy"] == "PropagationPolicy shop/web"
    del w.objects["policy"]
    assert w.up().ok
    assert set(w.stands()) == {"b"}
    assert w.decided()["policy"] == "PropagationPolicy shop/better"


def test_a_lazy_policy_waits_for_the_object() -> None:
    w = world(on("a"), activationPreference="Lazy")
    w.objects["policy"] = policy(placement=on("b"), activationPreference="Lazy")
    assert w.up().ok
    assert set(w.stands()) == {"a"}
    w.objects["web"] = deployment(4, image="web:2")
    assert w.up().ok
    assert w.images() == {"b": "web:2"}
    assert w.preview().changes == {}


def override(*members: str, value: str = "mirror.example.com", name: str = "mirror", **more: Any) -> dict[str, Any]:
    rule = {
        "targetCluster": {"clusterNames": list(members)},
        "overriders": {"imageOverrider": [{"component": "Registry", "operator": "replace", "value": value}], **more},
    }
    made = policy(name, "OverridePolicy")
    return {**made, "spec": {"resourceSelectors": [WEB], "overrideRules": [rule]}}


def test_an_override_reaches_its_members_alone() -> None:
    w = world(on("a", "b"))
    w.objects["override"] = override("b")
    assert shown(w) == {"b": "update"}
    assert w.up().ok
    assert w.images() == {"a": "web:1", "b": "mirror.example.com/web:1"}
    assert w.preview().changes == {}
    del w.objects["override"]
    assert w.up().ok
    assert w.images() == {"a": "web:1", "b": "web:1"}


def test_an_override_beats_the_division() -> None:
    w = world(weights(a=1, b=1))
    patch = [{"path": "/spec/replicas", "operator": "replace", "value": 7}]
    w.objects["override"] = override("b", plaintext=patch)
    assert w.up().ok
    assert w.replicas() == {"a": 2, "b": 7}


def test_a_rename_by_override_leaves_nothing_behind() -> None:
    w = world(on("a"))
    patch = [{"path": "/metadata/name", "operator": "replace", "value": "www"}]
    w.objects["override"] = override("a", plaintext=patch)
    assert w.up().ok
    names = [data["metadata"]["name"] for data in w.stands().values()]
    assert names == ["www"]
    assert len([r for r in w.state.resources.values() if r.type.endswith(":Deployment")]) == 1


def test_an_override_that_fails_is_refused_before_anything_changes() -> None:
    w = world(on("a", "b"))
    patch = [{"path": "/spec/nothing/here", "operator": "remove"}]
    w.objects["override"] = override("b", plaintext=patch)
    refused = w.preview()
    assert not refused.ok
    assert "OverridePolicy shop/mirror: spec.overrideRules[0].overriders" in refused.text
    assert "exclude b" in refused.text


def rebalancer(named: str, **workload: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps.karmada.io/v1alpha1",
        "kind": "WorkloadRebalancer",
        "metadata": {"name": named},
        "spec": {"workloads": [{**WEB, "namespace": "shop", **workload}]},
    }


def summary(pods: int) -> dict[str, Any]:
    return {"resourceSummary": {"allocatable": {"pods": str(pods)}}}


def dynamic(**pods: int) -> World:
    """Divided by free capacity."""
    placement = {
        "replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted",
            "weightPreference": {"dynamicWeight": "AvailableReplicas"},
        }
    }
    w = World(objects={"web": deployment(12), "policy": policy(placement=placement)})
    enabled = {"apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"kind": "Deployment"}]}]}
    w.members = {name: {**member(name), "status": {**summary(free), **enabled}} for name, free in pods.items()}
    return w


def test_a_rebalance_divides_anew_once() -> None:
    w = dynamic(a=6, b=12, c=18)
    assert w.up().ok
    assert w.replicas() == {"a": 2, "b": 4, "c": 6}
    for name, free in (("a", 30), ("b", 8), ("c", 2)):
        w.members[name]["status"].update(summary(free))
    assert w.preview().changes == {}
    w.objects["again"] = rebalancer("again")
    assert w.up().ok
    assert w.replicas() != {"a": 2, "b": 4, "c": 6}
    assert sum(w.replicas().values()) == 12
    assert w.preview().changes == {}
    w.objects["again"] = rebalancer("once-more", name="nothing")
    assert "WorkloadRebalancer once-more: spec.workloads[0]: there is no Deployment shop/nothing" in w.preview().text


def test_too_little_capacity_is_said_and_moves_nothing() -> None:
    w = dynamic(a=6, b=12)
    assert w.up().ok
    before = w.replicas()
    w.objects["web"] = deployment(100)
    seen = w.preview()
    assert "are not enough to schedule" in seen.text
    assert w.up().ok
    assert w.replicas() == before
    assert w.preview().changes == {}


CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "shop"}, "data": {}}
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "token", "namespace": "shop"},
    "data": {"token": "c2VjcmV0"},
}


def needing(*volumes: dict[str, Any], image: str = "web:1") -> dict[str, Any]:
    return deployment(4, image=image, volumes=[{"name": f"v{i}", **volume} for i, volume in enumerate(volumes)])


def test_dependencies_go_where_the_workload_goes() -> None:
    w = World(objects={"policy": policy(placement=on("a", "b"), propagateDeps=True)})
    w.objects["web"] = needing({"configMap": {"name": "settings"}}, {"secret": {"secretName": "token"}})
    w.objects |= {"settings": CONFIG, "token": SECRET}
    assert w.up().ok
    assert set(w.stands("ConfigMap")) == set(w.stands("Secret")) == {"a", "b"}
    assert w.preview().changes == {}
    w.objects["policy"] = policy(placement=on("b", "c"), propagateDeps=True)
    assert w.up().ok
    assert set(w.stands("ConfigMap")) == {"b", "c"}
    w.objects["web"] = needing({"secret": {"secretName": "token"}})
    assert w.up().ok
    assert w.stands("ConfigMap") == {}
    assert set(w.stands("Secret")) == {"b", "c"}
    w.objects["policy"] = policy(placement=on("b", "c"))
    assert w.up().ok
    assert w.stands("Secret") == {}
    assert w.preview().changes == {}


def test_a_dependency_with_a_policy_of_its_own_goes_to_both() -> None:
    w = World(objects={"policy": policy(placement=on("a"), propagateDeps=True), "settings": CONFIG})
    w.objects["web"] = needing({"configMap": {"name": "settings"}})
    selector = {"apiVersion": "v1", "kind": "ConfigMap", "name": "settings"}
    w.objects["own"] = policy("own", placement=on("c"), resourceSelectors=[selector])
    assert w.up().ok
    assert set(w.stands("ConfigMap")) == {"a", "c"}
    w.objects["settings"] = {**CONFIG, "data": {"colour": "red"}}
    assert w.up().ok
    assert {data["data"]["colour"] for data in w.stands("ConfigMap").values()} == {"red"}


def test_a_namespace_goes_before_what_is_in_it() -> None:
    w = World(objects={"web": deployment(4), "policy": policy(placement=on("a"))})
    w.objects["namespace"] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    run = w.run()
    web = run.named("shop/Deployment/web@a/shop/web")
    namespace = run.named("Namespace/shop@a", "Binding")
    assert namespace.urn in web.dependencies
    assert w.up().ok
    assert w.preview().changes == {}


def test_suspension_holds_what_runs_and_still_removes() -> None:
    w = world(weights(a=1, b=1))
    w.objects["policy"] = policy(
        placement=weights(a=1, b=1), suspension={"dispatchingOnClusters": {"clusterNames": ["b"]}}
    )
    w.objects["web"] = deployment(8, image="web:2")
    assert "held: b not updated (keep revision 0): dispatching is suspended" in w.preview().text
    assert w.up().ok
    assert w.images() == {"a": "web:2", "b": "web:1"}
    assert w.replicas() == {"a": 4, "b": 2}
    assert w.preview().changes == {}
    w.objects["policy"] = policy(placement=weights(a=1, c=1), suspension={"dispatching": True})
    assert w.up().ok
    assert w.replicas() == {"a": 4}
    w.objects["policy"] = policy(placement=weights(a=1, c=1))
    assert w.up().ok
    assert w.replicas() == {"a": 4, "c": 4}
    assert set(w.images().values()) == {"web:2"}


@pytest.mark.parametrize(("keeps", "options"), [(True, {"retainOnDelete": True}), (False, {})])
def test_resources_are_preserved_when_asked(keeps: bool, options: dict[str, Any]) -> None:
    w = World(objects={"web": deployment(4), "policy": policy(placement=on("a"), preserveResourcesOnDeletion=keeps)})
    assert w.run().named("shop/Deployment/web@a/shop/web").options == options


@pytest.mark.parametrize(
    ("policys", "objects", "forced"),
    [("Abort", None, False), ("Overwrite", None, True), ("Overwrite", "abort", False), ("Abort", "overwrite", True)],
)
def test_conflicts_are_resolved_as_asked(policys: str, objects: str | None, forced: bool) -> None:
    web = deployment(4)
    if objects:
        web["metadata"]["annotations"] = {"work.karmada.io/conflict-resolution": objects}
    w = World(objects={"web": web, "policy": policy(placement=on("a"), conflictResolution=policys)})
    annotations = w.run().inputs("shop/Deployment/web@a/shop/web")["metadata"]["annotations"]
    assert ("pulumi.com/patchForce" in annotations) is forced


def test_a_job_divides_its_completions() -> None:
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "sum", "namespace": "shop"},
        "spec": {
            "parallelism": 4,
            "completions": 10,
            "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "sum", "image": "sum:1"}]}},
        },
    }
    selector = {"apiVersion": "batch/v1", "kind": "Job", "name": "sum"}
    w = World(objects={"sum": job, "policy": policy(placement=weights(a=2, b=1), resourceSelectors=[selector])})
    assert w.up().ok
    specs = {c: (data["spec"]["parallelism"], data["spec"]["completions"]) for c, data in w.stands("Job").items()}
    assert specs == {"a": (3, 7), "b": (1, 3)}
    assert w.preview().changes == {}


def test_an_object_of_both_systems_is_refused_with_both_names() -> None:
    w = World(objects={"web": deployment(4), "policy": policy(placement=on("a"))})
    w.objects["namespace"] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}
    w.objects["placement"] = {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterResourcePlacement",
        "metadata": {"name": "everything"},
        "spec": {"resourceSelectors": [selector], "policy": {"placementType": "PickAll"}},
    }
    text = w.preview().text
    assert "is claimed by ClusterResourcePlacement everything and by PropagationPolicy shop/web" in text


def test_one_member_serves_both_systems() -> None:
    identity = {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}
    kubefleet = {
        "apiVersion": "cluster.kubernetes-fleet.io/v1",
        "kind": "MemberCluster",
        "metadata": {"name": "a", "labels": {"topology.kubernetes.io/region": "north"}},
        "spec": {"identity": identity},
        "status": {"resourceUsage": {"allocatable": {"cpu": "4"}, "available": {"cpu": "2"}}},
    }
    w = dynamic(a=1)
    w.objects["policy"]["spec"]["placement"]["clusterAffinity"] = {
        "fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["north"]}]}
    }
    w.members = {"a": kubefleet, "b": member("b", region="south")}
    assert w.up().ok
    assert w.replicas() == {"a": 12}
    w.members["c"] = member("a")
    assert "the member is declared as" in w.preview().text


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"schedulerName": "mine"}, 'spec.schedulerName: there is no scheduler "mine"'),
        (
            {"propagateDeps": True, "failover": {"application": {"decisionConditions": {"tolerationSeconds": 30}}}},
            "spec.failover.application: application failover is not carried out",
        ),
    ],
)
def test_what_is_not_carried_out_is_refused(spec: dict[str, Any], words: str) -> None:
    w = World(objects={"web": deployment(4), "policy": policy(placement=on("a"), **spec)})
    assert words in w.preview().text


def test_a_label_that_keeps_the_replicas_of_the_members_is_refused() -> None:
    web = deployment(4)
    web["metadata"]["labels"]["resourcetemplate.karmada.io/retain-replicas"] = "true"
    w = World(objects={"web": web, "policy": policy(placement=on("a"))})
    assert "the replicas of the members are not kept" in w.preview().text


def test_a_script_that_interprets_a_kind_is_refused() -> None:
    w = World(objects={"web": deployment(4), "policy": policy(placement=on("a"))})
    w.objects["script"] = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "mine"},
        "spec": {"target": {"apiVersion": "example.com/v1", "kind": "Widget"}, "customizations": {}},
    }
    assert "ResourceInterpreterCustomization is not carried out by this version" in w.preview().text


def test_an_override_whose_policy_waits_for_it() -> None:
    w = World(objects={"web": deployment(4), "policy": policy(placement=on("a"), dependentOverrides=["mirror"])})
    assert w.up().ok
    assert w.stands() == {}
    w.objects["override"] = override("a")
    assert w.up().ok
    assert w.images() == {"a": "mirror.example.com/web:1"}
    assert w.preview().changes == {}


def test_a_member_that_is_tainted_keeps_what_it_has_and_gets_nothing_new() -> None:
    w = world({})
    w.members["c"] = member("c", taints=[{"key": "sick", "effect": "NoSchedule"}])
    w.members["d"] = member("d", taints=[{"key": "sick", "effect": "NoSchedule"}])
    assert shown(w) == {}


def test_a_mass_removal_is_refused_with_a_token() -> None:
    w = world(on("a", "b", "c"))
    w.objects["policy"] = policy(placement=on("a"))
    refused = w.preview().text
    assert "template shop/Deployment/web would lose 2 of 3 clusters (b, c)" in refused
    w.config = {"confirm": refused.partition("fleet:confirm=")[2][:8]}
    assert w.up().ok
    assert set(w.stands()) == {"a"}


def test_a_kind_that_karmada_knows_and_we_do_not_is_refused() -> None:
    w = world(on("a"))
    w.objects["taints"] = {
        "apiVersion": POLICY,
        "kind": "ClusterTaintPolicy",
        "metadata": {"name": "sick"},
        "spec": {"taints": [{"key": "sick", "effect": "NoSchedule"}]},
    }
    assert "ClusterTaintPolicy is not carried out by this version" in w.preview().text
