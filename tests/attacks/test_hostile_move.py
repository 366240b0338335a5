"""What members and hubs answer during a move: texts that command something, and values of any type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fleet_components.live.connection import Connection, Leftover
from fleet_components.live.marks import connecting, held_objects, release, seen_object
from fleet_components.model.manifest import ObjectKey
from fleet_components.model.problem import FleetError
from fleet_components.plan.ways import Way
from tests.attacks.test_hostile_engine import TEXTS, harmless
from tests.cli.test_move import HUB, Cluster, standing
from tests.delivery.world import KubeFleetWorld
from tests.live.api_server import Api, api_server, send

SHOP = ObjectKey("placement.kubernetes-fleet.io", "ClusterResourcePlacement", "", "shop")
ONE = Leftover("v1", "ConfigMap", "shop", "a")


@pytest.mark.parametrize("text", [text for text in TEXTS.values() if text.isascii()])
def test_a_uid_commands_nothing(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = KubeFleetWorld(members={"a": {}, "b": {}}, policy={"placementType": "PickAll"})
    world.config = {"delivery": "direct", "hub": HUB}
    stage = standing(world, tmp_path, monkeypatch)
    answer = Cluster.get

    def get(cluster: Cluster, leftover: Leftover) -> dict[str, Any]:
        data = answer(cluster, leftover)
        return {
            **data,
            "kind": [text],
            "metadata": {**data["metadata"], "uid": text, "name": {text: text}},
        }

    monkeypatch.setattr(Cluster, "get", get)
    (tmp_path / "kubeconfig").write_text(HUB)
    result = stage.move("kubefleet")
    assert result.exit_code == 0, result.output
    assert "stays on a: Deployment shop/web" in result.output
    harmless(result)


def works(hub: Connection, system: str) -> object:
    return held_objects(hub, system, {SHOP})


def seen(member: Connection, hub: str) -> object:
    return (data := member.get(ONE)) and seen_object(data, hub, "organization/project/stack")


def let_go(member: Connection, hub: str) -> None:
    release(member, ONE, hub, "organization/project/stack", "fleet")


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with api_server() as found:
        for root in ("/apis/placement.kubernetes-fleet.io/v1", "/apis/work.karmada.io/v1"):
            found.objects[root] = {
                "resources": [{"name": "works", "kind": "Work", "namespaced": True}]
            }
        found.objects["/api/v1/namespaces/shop"] = {"metadata": {"name": "shop"}}
        found.answers["PATCH"] = partial(send, status=200, body={})
        yield found


WORK = {
    "metadata": {
        "namespace": "fleet-member-a",
        "generation": 1,
        "labels": {"kubernetes-fleet.io/parent-CRP": "shop"},
    },
    "spec": {
        "workload": {
            "manifests": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}]
        }
    },
    "status": {"conditions": [{}], "manifestConditions": [{"conditions": [{}]}]},
}
OBJECT = {
    "metadata": {
        "uid": "1",
        "resourceVersion": "1",
        "annotations": {},
        "labels": {},
        "ownerReferences": [{}],
    }
}


def broken(value: Any, odd: Any) -> Iterator[Any]:
    """Yield a value with something else in the place of each of its parts."""
    yield odd
    parts = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, part in parts:
        for other in broken(part, odd):
            copy = value.copy()
            copy[key] = other
            yield copy


@pytest.mark.samples(2)
@pytest.mark.parametrize("odd", [None, "x", [[]]], ids=repr)
@pytest.mark.parametrize("way", [Way.KUBEFLEET, Way.KARMADA])
def test_answers_of_any_type_end_in_words(api: Api, way: str, odd: Any) -> None:
    lists = [{"items": each} for each in broken([WORK], odd)]
    _each_answered(
        api, "/apis/placement.kubernetes-fleet.io/v1/works", lists, partial(works, system=way)
    )
    for work in (seen, let_go):
        _each_answered(
            api,
            "/api/v1/namespaces/shop/configmaps/a",
            list(broken(OBJECT, odd)),
            partial(work, hub=way),
        )


def _each_answered(
    api: Api, path: str, answers: list[Any], work: Callable[[Connection], object]
) -> None:
    for answer in answers:
        api.objects[path] = answer
        said = ""
        try:
            connecting(api.kubeconfig(), "the hub", work, timeout=5.0)
        except FleetError as error:
            said = str(error)
        assert said in ("", "the hub: answers with something else than Kubernetes objects"), answer
