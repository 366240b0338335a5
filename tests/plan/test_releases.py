"""What releases of KubeFleet decide of one source, where they differ beyond admission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fleet_components.model.decision import Condition
from fleet_components.model.manifest import Manifest
from fleet_components.model.observed import ObservedMember
from fleet_components.model.problem import FleetError
from fleet_components.model.releases import Releases
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.given import Given
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import gathered, read_source
from fleet_components.systems.kubefleet.model.release import RELEASES, Rule, release_of
from fleet_components.systems.kubefleet.status.conditions import SYNCHRONIZED, TRUE, of_placement
from fleet_components.systems.kubefleet.status.update_runs import update_run_statuses
from fleet_components.systems.kubefleet.status.works import works_of
from tests.delivery.world import KubeFleetWorld

GROUP = "placement.kubernetes-fleet.io"
OLD, NEW = RELEASES.values()
Object = dict[str, Any]


def of(kind: str, name: str, namespace: str = "shop", version: str = "v1", **fields: Any) -> Object:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **place}, **fields}


CONFIG = of("ConfigMap", "c", data={"a": "1"})
ENVELOPE = of(
    "ResourceEnvelope",
    "e",
    version=f"{GROUP}/v1beta1",
    data={"c": CONFIG, "d": of("ConfigMap", "d")},
)
REPLACE = {"jsonPatchOverrides": [{"op": "replace", "path": "/data/a", "value": "2"}]}
IN_ENVELOPE = {"jsonPatchOverrides": [{"op": "replace", "path": "/data/c/data/a", "value": "2"}]}
DELETES: Object = {"overrideType": "Delete"}


def override(selector: Mapping[str, str], rule: Object, kind: str = "ResourceOverride") -> Object:
    """A rule for all members."""
    selectors = "resourceSelectors" if kind == "ResourceOverride" else "clusterResourceSelectors"
    rules = [{"clusterSelector": {"clusterSelectorTerms": []}, **rule}]
    spec = {selectors: [dict(selector)], "policy": {"overrideRules": rules}}
    return of(
        kind, "tune", "shop" if kind == "ResourceOverride" else "", f"{GROUP}/v1beta1", spec=spec
    )


def selector(kind: str, name: str, group: str = "", version: str = "v1") -> dict[str, str]:
    return {"group": group, "version": version, "kind": kind, "name": name}


OF_ENVELOPE = selector("ResourceEnvelope", "e", GROUP, "v1beta1")


def planned(release: str, *extra: Object) -> FleetPlan:
    """The plan of a new fleet: a placement of the namespace shop with its contents."""
    documents = KubeFleetWorld(members={"a": {}}, extra=list(extra)).documents()
    source = gathered(
        Given(tuple(map(Manifest, documents)), releases=Releases(RELEASES[release]))
    ).sound()
    return plan_fleet(source, Past(), Options())


def brought(plan: FleetPlan) -> dict[str, Any]:
    """The ConfigMaps on the member, by name."""
    (placement,) = plan.of("Placement")
    objects = placement.deliveries["a"].objects
    return {
        data["metadata"]["name"]: data.get("data")
        for data in objects
        if data["kind"] == "ConfigMap"
    }


AS_WRITTEN, CHANGED = {"c": {"a": "1"}, "d": None}, {"c": {"a": "2"}, "d": None}


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [
        (override(selector("ConfigMap", "c"), REPLACE), AS_WRITTEN, CHANGED),
        (override(selector("ConfigMap", "c"), DELETES), AS_WRITTEN, {"d": None}),
        (override(OF_ENVELOPE, IN_ENVELOPE), CHANGED, AS_WRITTEN),
        (override(OF_ENVELOPE, DELETES), {}, AS_WRITTEN),
        (override(selector("Namespace", "shop"), DELETES, "ClusterResourceOverride"), {}, {}),
    ],
    ids=[
        "patches a content",
        "deletes a content",
        "patches the envelope",
        "deletes the envelope",
        "of the namespace",
    ],
)
def test_overrides_reach_into_envelopes_or_change_them(
    rule: Object, old: Object, new: Object
) -> None:
    assert brought(planned(OLD.name, ENVELOPE, rule)) == old
    assert brought(planned(NEW.name, ENVELOPE, rule)) == new


def test_a_rule_that_fails_in_an_envelope_holds_the_member() -> None:
    missing = {"jsonPatchOverrides": [{"op": "remove", "path": "/data/z"}]}
    plan = planned(NEW.name, ENVELOPE, override(selector("ConfigMap", "c"), missing))
    (placement,) = plan.of("Placement")
    assert placement.outcome.failing["a"].what.startswith("fails on a for ConfigMap shop/c: ")


def test_a_rule_that_spoils_what_is_in_an_envelope_holds_the_member() -> None:
    spoils = {"jsonPatchOverrides": [{"op": "add", "path": "/metadata/labels", "value": {"n": 5}}]}
    plan = planned(NEW.name, ENVELOPE, override(selector("ConfigMap", "c"), spoils))
    (placement,) = plan.of("Placement")
    assert placement.outcome.failing["a"].what.endswith("metadata.labels.n: must be text, not 5")


def test_a_plan_remembers_the_release() -> None:
    found = planned(NEW.name, ENVELOPE, override(selector("ConfigMap", "c"), REPLACE))
    assert found.options.settings.to_wire() == {"kubefleet": NEW.name}
    assert planned(OLD.name).options.settings.to_wire() == {}
    (placement,) = found.of("Placement")
    (rules,) = placement.record.overrides.values()
    assert [rule["opens"] for rule in rules] == [True]


@pytest.mark.parametrize(
    ("release", "ends"),
    [
        (OLD.name, ["work", "work-envelope-e"]),
        (NEW.name, ["work", "work-envelope-9d399c707918ccd9"]),
    ],
)
def test_works_of_envelopes_are_named_as_the_release_does(release: str, ends: list[str]) -> None:
    works = works_of("shop", (CONFIG, ENVELOPE), ObservedMember(), RELEASES[release])
    assert [work.name for work in works] == [f"shop-{end}" for end in ends]


@pytest.mark.parametrize(
    ("release", "words"),
    [
        (OLD.name, "Works(s) are succcesfully created"),
        (NEW.name, "Work(s) are successfully created"),
    ],
)
def test_the_text_of_synchronized_works_is_that_of_the_release(release: str, words: str) -> None:
    synced = [Condition(SYNCHRONIZED, TRUE, "AllWorkSynced", "")]
    (found,) = (
        item
        for item in of_placement(
            "ClusterResourcePlacement", [synced], reports=True, release=RELEASES[release]
        )
        if item.type.endswith(SYNCHRONIZED)
    )
    assert found.message == f"{words} or updated in 1 target cluster(s)' namespaces"


@pytest.mark.parametrize(("release", "warned"), [(OLD.name, True), (NEW.name, False)])
def test_what_rolls_a_namespace_out_would_be_placed_with_it(release: str, warned: bool) -> None:
    strategy = of(
        "StagedUpdateStrategy", "rings", version=f"{GROUP}/v1beta1", spec={"stages": STAGES}
    )
    (placement,) = planned(release, strategy).of("Placement")
    told = [warning.what for warning in placement.subject.warnings]
    assert any("places StagedUpdateStrategy shop/rings as well" in what for what in told) is warned
    assert "StagedUpdateStrategy" not in {
        data["kind"] for data in placement.deliveries["a"].objects
    }


def test_an_operator_that_a_webhook_lets_pass_ends_the_cycle() -> None:
    expression = {"name": "kubernetes-fleet.io/node-count", "operator": "Like", "values": ["5"]}
    terms = {"clusterSelectorTerms": [{"propertySelector": {"matchExpressions": [expression]}}]}
    affinity = {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    spec = {**EXTERNAL["spec"], "policy": {"placementType": "PickAll", "affinity": affinity}}
    known = {
        "status": {
            "properties": {
                expression["name"]: {"value": "5", "observationTime": "2026-01-01T00:00:00Z"}
            }
        }
    }
    identity = {"kind": "User", "name": "k", "apiGroup": "rbac.authorization.k8s.io"}
    member = of(
        "MemberCluster",
        "k",
        "",
        "cluster.kubernetes-fleet.io/v1beta1",
        spec={"identity": identity},
        **known,
    )
    with pytest.raises(FleetError, match="invalid operator: Like, failed to match the cluster"):
        planned(OLD.name, {**EXTERNAL, "spec": spec}, member)


APPROVAL = {"type": "Approval"}
STAGES = [
    {
        "name": "empty",
        "labelSelector": {"matchLabels": {"no": "body"}},
        "beforeStageTasks": [APPROVAL],
    },
    {"name": "all", "labelSelector": {}},
]


@pytest.mark.parametrize(
    ("release", "reason", "asked"),
    [
        (OLD.name, "StageUpdatingWaiting", ["ApprovalRequestCreated"]),
        (NEW.name, "StageUpdatingSkippedNoClusters", []),
    ],
)
def test_a_stage_without_clusters_waits_or_is_skipped(
    release: str, reason: str, asked: list[str]
) -> None:
    strategy = of(
        "ClusterStagedUpdateStrategy", "rings", "", f"{GROUP}/v1", spec={"stages": STAGES}
    )
    run = {"placementName": "staged", "stagedRolloutStrategyName": "rings", "state": "Run"}
    plan = planned(
        release, strategy, of("ClusterStagedUpdateRun", "r1", "", f"{GROUP}/v1", spec=run), EXTERNAL
    )
    (placement,) = (item for item in plan.of("Placement") if item.subject.key == "staged")
    stage = update_run_statuses(placement)["r1"]["stagesStatus"][0]
    assert stage["conditions"][0]["reason"] == reason
    (task,) = stage["beforeStageTaskStatus"]
    assert [item["type"] for item in task.get("conditions", ())] == asked


EXTERNAL = of(
    "ClusterResourcePlacement",
    "staged",
    "",
    f"{GROUP}/v1",
    spec={
        "resourceSelectors": [selector("ClusterRole", "reader", "rbac.authorization.k8s.io")],
        "strategy": {"type": "External"},
    },
)


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("ghcr.io/kubefleet-dev/kubefleet/hub-agent:v0.3.1", "0.3.1"),
        ("localhost:5000/hub-agent:0.3.1@sha256:00", "0.3.1"),
        ("ghcr.io/kubefleet-dev/kubefleet/hub-agent:v0.4.0-rc.1", ""),
        ("ghcr.io/kubefleet-dev/kubefleet/hub-agent@sha256:00", ""),
        ("hub-agent:e160c1c", ""),
    ],
)
def test_the_release_of_an_image_is_its_tag(image: str, release: str) -> None:
    assert release_of(image) == release


def test_an_unknown_release_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(FleetError) as caught:
        read_source("somewhere", kubefleet="0.9")
    (problem,) = caught.value.problems
    assert (problem.what, problem.hint) == (
        'KubeFleet "0.9" is not known here',
        "write one of 0.3.1, main-2026-08",
    )


def test_each_rule_is_a_change_of_its_own() -> None:
    numbers = [int(rule.value.source.removeprefix("#")) for rule in Rule]
    assert numbers == sorted(set(numbers))
    assert {rule.value.since for rule in Rule} <= RELEASES.keys()
    assert [[release.has(rule) for rule in Rule] for release in (OLD, NEW)] == [
        [False] * len(Rule),
        [True] * len(Rule),
    ]


@pytest.mark.parametrize(
    ("wait", "read"), [("01h", True), ("0", True), ("0x", False), ("later 1h", False)]
)
def test_a_wait_that_no_controller_reads_is_refused_though_it_is_stored(
    wait: str, read: bool
) -> None:
    stage = {
        "name": "all",
        "labelSelector": {},
        "afterStageTasks": [{"type": "TimedWait", "waitTime": wait}],
    }
    strategy = of(
        "ClusterStagedUpdateStrategy", "rings", "", f"{GROUP}/v1", spec={"stages": [stage]}
    )
    run = {"placementName": "staged", "stagedRolloutStrategyName": "rings", "state": "Initialize"}
    objects = strategy, of("ClusterStagedUpdateRun", "r1", "", f"{GROUP}/v1", spec=run), EXTERNAL
    if read:
        assert planned(OLD.name, *objects)
    else:
        with pytest.raises(FleetError, match=f'time: invalid duration "{wait}"'):
            planned(OLD.name, *objects)
