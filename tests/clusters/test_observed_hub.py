"""A hub on a real API server: what a user may observe who has the printed role alone, and what plain clusters tell."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.hub.listing import Listing
from fleet_components.hub.reading import read_hub
from fleet_components.hub.roles import first_queries, role
from fleet_components.live.hub import ask_hub
from fleet_components.live.observation import ask_members
from fleet_components.model.problem import FleetError
from fleet_components.systems.kubefleet.hub.plain_members import usage
from tests.clusters.documents import judging
from tests.clusters.large_hub import definitions, fill
from tests.control_planes import control_planes
from tests.hub.large_hub import large_hub
from tools.clusters.cluster import ControlPlane

pytestmark = pytest.mark.clusters


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with control_planes("h") as planes:
        with judging(planes["h"]) as judge:
            judge.make(definitions())
        fill(planes["h"], large_hub(members=6, placements=3, each=2, objects=4))
        yield planes["h"]


@pytest.fixture(scope="module")
def whole(plane: ControlPlane) -> Listing:
    return ask_hub(plane.kubeconfig.read_text())


def user(plane: ControlPlane, name: str, allowed: Mapping[str, Any]) -> str:
    """A kubeconfig with the token of an account that has a role and nothing else."""
    found = {**allowed, "metadata": {"name": name}}
    file = Path(plane.folder) / f"{name}.json"
    file.write_text(json.dumps(found))
    plane.kubectl("create", "serviceaccount", name)
    plane.kubectl("create", "-f", str(file))
    plane.kubectl(
        "create",
        "clusterrolebinding",
        name,
        f"--clusterrole={name}",
        f"--serviceaccount=default:{name}",
    )
    config = yaml.safe_load(plane.kubeconfig.read_text())
    config["users"] = [
        {"name": item["name"], "user": {"token": plane.kubectl("create", "token", name).strip()}}
        for item in config["users"]
    ]
    return yaml.safe_dump(config)


def test_the_role_for_a_hub_is_enough_to_observe_it(plane: ControlPlane, whole: Listing) -> None:
    allowed = role(whole, whole.answers)
    listing = ask_hub(user(plane, "exact", allowed))
    assert listing.answers == whole.answers
    assert not listing.refused
    assert {rule for item in allowed["rules"] for rule in item["verbs"]} == {"list"}


@pytest.mark.parametrize("number", range(2))
def test_without_a_part_of_the_role_what_is_missing_is_named(
    plane: ControlPlane, whole: Listing, number: int
) -> None:
    allowed = role(whole, whole.answers)
    steering = [
        rule for rule in allowed["rules"] if rule["apiGroups"][0].endswith("kubernetes-fleet.io")
    ]
    rules = [rule for rule in allowed["rules"] if rule is not steering[number]]
    with pytest.raises(FleetError) as error:
        ask_hub(user(plane, f"less-{number}", {**allowed, "rules": rules}))
    (group,) = steering[number]["apiGroups"]
    (problem,) = error.value.problems
    named = problem.what.removeprefix(
        "what steers it is forbidden to the user of the kubeconfig: "
    ).split(" and ")[0]
    assert {kind.partition(".")[2] for kind in named.split(", ")} == {group}


def test_the_role_without_a_hub_is_enough_for_what_steers_it(
    plane: ControlPlane, whole: Listing
) -> None:
    listing = ask_hub(user(plane, "first", role(*first_queries(whole.system))))
    assert {query.kind for query in listing.refused} >= {"ConfigMap"}
    assert set(listing.refused.values()) == {"is forbidden to the user of the kubeconfig"}
    assert listing.all("MemberCluster") == whole.all("MemberCluster")
    assert len(read_hub(listing).subjects) == len(read_hub(whole).subjects) == 3


def test_pages_of_a_real_api_server_are_one_list(
    plane: ControlPlane, whole: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fleet_components.live.lists._PAGE", 2)
    assert ask_hub(plane.kubeconfig.read_text()).answers == whole.answers


def test_kinds_are_the_same_whether_they_are_told_at_once_or_by_group(
    plane: ControlPlane, whole: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fleet_components.live.lists._ACCEPT", "application/json")
    assert ask_hub(plane.kubeconfig.read_text()).served == whole.served


def test_a_plain_cluster_tells_what_pods_leave_of_it(plane: ControlPlane) -> None:
    text = plane.kubeconfig.read_text()
    before = ask_members({"x": text}, timeout=60)["x"].facts
    assert before
    plane.kubectl("create", "deployment", "takes", "--image=web:1", "--replicas=3")
    plane.kubectl("set", "resources", "deployment/takes", "--requests=cpu=250m,memory=1Gi")
    plane.kubectl("rollout", "status", "deployment/takes", "--timeout=60s")
    plane.kubectl("wait", "pods", "-l", "app=takes", "--for=condition=Ready", "--timeout=60s")
    after = ask_members({"x": text}, timeout=60)["x"].facts
    assert after
    assert usage(after)["allocatable"] == usage(before)["allocatable"]
    assert len(tuple(after.running)) >= len(tuple(before.running)) + 3
    assert usage(after)["available"] != usage(before)["available"]
    assert after.version.startswith("v1.")
    assert {kind.kind for kind in after.kinds} >= {"Pod", "Node", "Deployment", "MemberCluster"}
