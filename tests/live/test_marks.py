"""Marks of hubs on the objects of members, and what a hub is told before it lets objects go."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from http import client as http
from typing import Any

import pytest

from fleet_components.live.connection import Leftover, UnexpectedAnswer
from fleet_components.live.marks import clear, held_objects, hold, release, seen_object
from fleet_components.model.manifest import ObjectKey
from fleet_components.plan.ways import Way

WEB = Leftover("apps/v1", "Deployment", "shop", "web")
APPLIED = {
    "apiVersion": "placement.kubernetes-fleet.io/v1",
    "kind": "AppliedWork",
    "name": "shop-work",
    "uid": "w",
}
OTHER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "theirs", "uid": "c"}
STACK, MANAGER = "organization/fleet/prod", "fleet-components/organization/fleet/prod"
SHOP = ObjectKey("placement.kubernetes-fleet.io", "ClusterResourcePlacement", "", "shop")


class Cluster:
    """Objects by what they are, and the patches that came; the first ones meet a change of somebody else."""

    def __init__(
        self,
        live: Mapping[str, Any] | None,
        works: list[dict[str, Any]] | None = None,
        busy: int = 0,
    ) -> None:
        self.live, self.works, self.busy = copy.deepcopy(live), works or [], busy
        self.changes: list[tuple[Leftover, Any]] = []

    def get(self, leftover: Leftover) -> Any:
        return copy.deepcopy(self.live)

    def items(self, group: str, kind: str, label: str = "") -> list[dict[str, Any]]:
        assert kind == "Work"
        return [item for item in self.works if label in item["metadata"]["labels"]]

    def change(self, leftover: Leftover, patch: Any, *, manager: str) -> None:
        assert manager == MANAGER
        if self.busy:
            self.busy -= 1
            raise UnexpectedAnswer("refuses", http.CONFLICT)
        self.changes.append((leftover, patch))


def live(**metadata: Any) -> dict[str, Any]:
    return {"metadata": {"uid": "u", "resourceVersion": "7", **metadata}}


@pytest.mark.parametrize(
    ("hub", "metadata", "taken", "marked"),
    [
        (Way.KUBEFLEET, {"ownerReferences": [OTHER, APPLIED]}, True, True),
        (Way.KUBEFLEET, {"ownerReferences": [OTHER]}, False, False),
        (Way.KUBEFLEET, {"annotations": {"kubernetes-fleet.io/spec-hash": "x"}}, False, True),
        (
            Way.KUBEFLEET,
            {"ownerReferences": [{**APPLIED, "apiVersion": "example.com/v1"}]},
            False,
            False,
        ),
        (Way.KARMADA, {"labels": {"resourcebinding.karmada.io/permanent-id": "x"}}, True, True),
        (
            Way.KARMADA,
            {"labels": {"clusterresourcebinding.karmada.io/permanent-id": "x"}},
            True,
            True,
        ),
        (
            Way.KARMADA,
            {"annotations": {"work.karmada.io/conflict-resolution": "abort"}},
            False,
            True,
        ),
        (
            Way.KARMADA,
            {"labels": {"resourcetemplate.karmada.io/retain-replicas": "true"}},
            False,
            False,
        ),
    ],
)
def test_an_object_tells_whose_it_is(
    hub: Way, metadata: dict[str, Any], taken: bool, marked: bool
) -> None:
    seen = seen_object(live(**metadata), hub, STACK)
    assert (seen.taken, seen.marked, seen.ours, seen.deleting) == (taken, marked, False, False)


def test_an_object_tells_of_its_stack_and_its_end() -> None:
    data = live(
        annotations={"fleet-components/stack": STACK}, deletionTimestamp="2026-01-01T00:00:00Z"
    )
    seen = seen_object(data, Way.KUBEFLEET, STACK)
    assert (seen.ours, seen.deleting) == (True, True)
    assert not seen_object(data, Way.KUBEFLEET, "organization/fleet/another").ours


def test_the_marks_of_kubefleet_go_in_one_request_and_all_others_stay() -> None:
    marks = {
        "kubernetes-fleet.io/spec-hash": "x",
        "kubernetes-fleet.io/last-applied-configuration": "y",
        "own": "z",
    }
    member = Cluster(live(ownerReferences=[OTHER, APPLIED], annotations=marks), busy=2)
    release(member, WEB, Way.KUBEFLEET, STACK, MANAGER)  # type: ignore[arg-type]
    ((item, patch),) = member.changes
    assert item == WEB
    assert patch == [
        {"op": "test", "path": "/metadata/uid", "value": "u"},
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {
            "op": "add",
            "path": "/metadata/annotations",
            "value": {"own": "z", "fleet-components/stack": STACK},
        },
        {"op": "add", "path": "/metadata/ownerReferences", "value": [OTHER]},
    ]


def test_what_keeps_changing_is_not_released() -> None:
    member = Cluster(live(ownerReferences=[APPLIED]), busy=99)
    with pytest.raises(UnexpectedAnswer):
        release(member, WEB, Way.KUBEFLEET, STACK, MANAGER)  # type: ignore[arg-type]


def test_the_marks_of_karmada_stay_until_it_has_let_go() -> None:
    marks = {"work.karmada.io/conflict-resolution": "abort"}
    member = Cluster(live(annotations=marks))
    release(member, WEB, Way.KARMADA, STACK, MANAGER)  # type: ignore[arg-type]
    clear(member, WEB, Way.KARMADA, MANAGER)  # type: ignore[arg-type]
    (_, released), (_, cleared) = member.changes
    assert released[2:] == [
        {
            "op": "add",
            "path": "/metadata/annotations",
            "value": {**marks, "fleet-components/stack": STACK},
        }
    ]
    assert cleared == {"metadata": {"annotations": {"work.karmada.io/conflict-resolution": None}}}


@pytest.mark.parametrize("hub", [Way.KUBEFLEET, Way.KARMADA])
def test_what_is_not_there_is_left_alone(hub: Way) -> None:
    member = Cluster(None)
    release(member, WEB, hub, STACK, MANAGER)  # type: ignore[arg-type]
    clear(member, WEB, hub, MANAGER)  # type: ignore[arg-type]
    assert member.changes == []


def work(
    told: str = "Never", seen: int = 2, reason: str = "False", space: str = ""
) -> dict[str, Any]:
    """A Work of KubeFleet in its second generation."""
    labels = {"kubernetes-fleet.io/parent-placement-namespace": space} if space else {}
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
    }
    return {
        "metadata": {
            "namespace": "fleet-member-east",
            "generation": 2,
            "labels": {"kubernetes-fleet.io/parent-CRP": "shop", **labels},
        },
        "spec": {"applyStrategy": {"whenToTakeOver": told}, "workload": {"manifests": [manifest]}},
        "status": {
            "conditions": [{"type": "Applied", "status": "False", "observedGeneration": seen}],
            "manifestConditions": [{"conditions": [{"type": "Applied", "status": reason}]}],
        },
    }


@pytest.mark.parametrize(
    ("given", "held", "let_go"),
    [
        (work(), True, True),
        (work(told="Always"), False, True),
        (work(seen=1), False, True),
        (work(reason="True"), True, False),
    ],
)
def test_works_of_kubefleet_tell_whether_they_let_go(
    given: dict[str, Any], held: bool, let_go: bool
) -> None:
    spaced = work(told="Always", space="shop")
    found = held_objects(Cluster(None, [given, spaced]), Way.KUBEFLEET, {SHOP})  # type: ignore[arg-type]
    assert (found.held, found.let_go) == (held, let_go)
    assert found.objects == {"east": (WEB,)}


@pytest.mark.parametrize("preserved", [True, False])
@pytest.mark.parametrize("binding", ["resourcebinding", "clusterresourcebinding"])
def test_works_of_karmada_tell_whether_they_preserve(binding: str, preserved: bool) -> None:
    data = work()
    data["metadata"] |= {
        "namespace": "karmada-es-east",
        "labels": {f"{binding}.karmada.io/permanent-id": "x"},
    }
    data["spec"]["preserveResourcesOnDeletion"] = preserved
    template = ObjectKey("apps", "Deployment", "shop", "web")
    found = held_objects(Cluster(None, [data]), Way.KARMADA, {template})  # type: ignore[arg-type]
    assert found.held is preserved
    assert found.objects == {"east": (WEB,)}
    assert held_objects(Cluster(None, [data]), Way.KARMADA, {SHOP}).objects == {}  # type: ignore[arg-type]


def test_a_hub_is_told_to_let_objects_stay() -> None:
    hub, policy = Cluster({}), ObjectKey("policy.karmada.io", "PropagationPolicy", "shop", "web")
    hold(hub, Way.KUBEFLEET, [SHOP], MANAGER)  # type: ignore[arg-type]
    hold(hub, Way.KARMADA, [policy], MANAGER)  # type: ignore[arg-type]
    (placement, never), (claims, preserved) = hub.changes
    assert (placement.kind, never) == (
        "ClusterResourcePlacement",
        {"spec": {"strategy": {"applyStrategy": {"whenToTakeOver": "Never"}}}},
    )
    assert (claims.name, preserved) == ("web", {"spec": {"preserveResourcesOnDeletion": True}})
