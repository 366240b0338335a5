"""A hub is asked who it is and whom it knows, before anything is written to it."""

from __future__ import annotations

import pytest

from fleet_components.live.hub_members import identified_hub
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from tests.live.api_server import CANARY, api_server, refuses

VERSION = "cluster.kubernetes-fleet.io/v1"
SYSTEM = "/api/v1/namespaces/kube-system"


def member(name: str) -> Manifest:
    return Manifest({"apiVersion": VERSION, "kind": "MemberCluster", "metadata": {"name": name}})


def test_it_tells_its_uid_once_it_knows_all_members() -> None:
    with api_server() as api:
        api.objects[f"/apis/{VERSION}/memberclusters/a"] = {"metadata": {"name": "a"}}
        api.objects[SYSTEM] = {"metadata": {"uid": "1-2"}}
        assert identified_hub(api.kubeconfig(), "KubeFleet", [member("a")]) == "1-2"
        del api.objects[SYSTEM]
        assert identified_hub(api.kubeconfig(), "KubeFleet", [member("a")]) == ""


def test_members_that_it_does_not_know_are_named() -> None:
    with api_server() as api, pytest.raises(FleetError) as caught:
        identified_hub(api.kubeconfig(), "KubeFleet", [member("a"), member("b")])
    assert "the hub does not know a, b" in str(caught.value)
    assert "a member joins by its agents" in str(caught.value)


def test_many_members_are_listed_where_that_is_allowed() -> None:
    path, many = f"/apis/{VERSION}/memberclusters", [member(f"m{number}") for number in range(300)]
    with api_server() as api:
        api.objects[SYSTEM] = {"metadata": {"uid": "1-2"}}
        api.lists[path] = [item.data for item in many]
        assert identified_hub(api.kubeconfig(), "KubeFleet", many) == "1-2"
        assert len(api.asked) < 5
        with pytest.raises(FleetError, match="the hub does not know m300, of which"):
            identified_hub(api.kubeconfig(), "KubeFleet", [*many, member("m300")])
        api.answers[path] = refuses(403)
        for item in many[:-1]:
            api.objects[f"{path}/{item.name}"] = dict(item.data)
        with pytest.raises(FleetError, match="the hub does not know m299, of which"):
            identified_hub(api.kubeconfig(), "KubeFleet", many)


def test_one_that_does_not_answer_is_named_without_its_token() -> None:
    with api_server() as api:
        gone = api.kubeconfig()
    with pytest.raises(FleetError) as caught:
        identified_hub(gone, "Karmada", [member("a")])
    assert "the hub (context x, 127.0.0.1:" in str(caught.value)
    assert CANARY not in str(caught.value)
