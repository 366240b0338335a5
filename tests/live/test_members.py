"""Plain clusters that are asked: those that answer, and what counts of those that do not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import pytest

from fleet_components.hub.observation import HubObservation
from fleet_components.live.observation import ask_members, members_alone, with_members
from fleet_components.model.problem import FleetError
from fleet_components.systems.framework import System
from fleet_components.systems.kubefleet.hub.plain_members import member_cluster
from fleet_components.systems.registry import SYSTEMS
from tests.hub.members.clusters import node, pod
from tests.live.api_server import CANARY, Api, api_server, drips, hangs, refuses, send, serves

NODES, PODS = "/api/v1/nodes", "/api/v1/pods"


def plain(api: Api, cpu: str = "4") -> Api:
    """Make the stand-in a cluster with a node and a pod."""
    serves(api, "v1/Node*", "v1/Pod", "apps/v1/Deployment", "apps/v1beta1/Deployment")
    api.objects["/version"] = {"gitVersion": "v1.36.3"}
    api.lists |= {NODES: [dict(node(cpu=cpu, memory="8Gi"))], PODS: [dict(pod(cpu="500m"))]}
    return api


@pytest.fixture
def apis(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Api]]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ExitStack() as stack:
        yield [plain(stack.enter_context(api_server())) for _ in range(2)]


def kubeconfigs(apis: list[Api]) -> dict[str, str]:
    return dict(zip(("east", "west"), (api.kubeconfig() for api in apis), strict=True))


def test_a_cluster_tells_nodes_pods_version_and_all_kinds(apis: list[Api]) -> None:
    facts = ask_members(kubeconfigs(apis))["east"].facts
    assert facts
    assert ([item["metadata"]["name"] for item in facts.nodes], len(facts.pods), facts.version) == (
        ["n"],
        1,
        "v1.36.3",
    )
    assert [(kind.api_version, kind.plural) for kind in facts.kinds][2:] == [
        ("apps/v1", "deployments"),
        ("apps/v1beta1", "deployments"),
    ]
    assert {method for method, _ in apis[0].asked} == {"GET"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "how", "said"),
    [
        (
            PODS,
            "refuses",
            "cannot be observed: a request is forbidden to the user of the kubeconfig",
        ),
        (NODES, "hangs", "cannot be observed: a request is not answered in 3 s"),
        ("/version", "drips", "cannot be observed: a request is not answered in 3 s"),
        ("/apis", "lies", "cannot be observed: a request is not answered as Kubernetes does"),
    ],
)
def test_one_that_does_not_answer_does_not_keep_the_others_waiting(
    apis: list[Api], path: str, how: str, said: str
) -> None:
    answers = {
        "refuses": refuses(403),
        "hangs": hangs(apis[0]),
        "drips": drips(apis[0]),
        "lies": lambda request: send(request, 200, 7),
    }
    apis[0].answers[path] = answers[how]
    began = time.monotonic()
    found = ask_members(kubeconfigs(apis), timeout=3)
    assert time.monotonic() - began < 30  # the stand-in is silent for a minute
    address = f"(context x, 127.0.0.1:{apis[0].server.server_port}"
    assert found["east"].reason.startswith(f"{said} {address}")
    assert found["east"].facts is None
    assert CANARY not in str(found)
    assert found["west"].facts
    assert not found["west"].reason


@pytest.mark.parametrize(
    "wrong",
    [{"status": {"allocatable": {"cpu": "many"}}}, {"metadata": {"name": "n", "labels": 7}}],
)
def test_nodes_that_are_none_are_no_answer(apis: list[Api], wrong: dict[str, Any]) -> None:
    apis[0].lists[NODES] = [{**node(provider="azure:///a"), **wrong}]
    found = members_alone(SYSTEMS["kubefleet"], kubeconfigs(apis))
    assert found.silent == {
        "east": "cannot be observed: its nodes and pods are not as Kubernetes has them"
    }
    assert [member["metadata"]["name"] for member in found.members] == ["east", "west"]


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=str)
def test_members_without_a_hub(apis: list[Api], system: System) -> None:
    found = members_alone(system, kubeconfigs(apis))
    kind = {"kubefleet": "MemberCluster", "karmada": "Cluster"}[system.NAME]
    assert [(member["kind"], member["metadata"]["name"]) for member in found.members] == [
        (kind, "east"),
        (kind, "west"),
    ]
    assert abs(found.as_of - datetime.now(UTC)).total_seconds() < 600
    assert not found.silent


@pytest.mark.parametrize(("recorded", "left"), [((), ["east", "west"]), (("east",), ["west"])])
def test_a_silent_member_without_a_record_is_declared(
    apis: list[Api], recorded: tuple[str, ...], left: list[str]
) -> None:
    apis[0].answers[NODES] = refuses(500)
    found = members_alone(SYSTEMS["kubefleet"], kubeconfigs(apis), recorded)
    assert [member["metadata"]["name"] for member in found.members] == left
    assert ("status" in found.members[0]) == bool(recorded)
    assert list(found.silent) == ["east"]


def test_where_none_answers_all_are_named(apis: list[Api]) -> None:
    texts = kubeconfigs(apis)
    for api in apis:
        api.server.server_close()
        api.server.shutdown()
    with pytest.raises(FleetError) as error:
        members_alone(SYSTEMS["kubefleet"], texts, timeout=2)
    assert str(error.value).startswith("member east: cannot be observed:")
    assert "member west: " in str(error.value)


def of_hub(*names: str) -> HubObservation:
    members = tuple(member_cluster(name, None) for name in names)
    return HubObservation(
        system=SYSTEMS["kubefleet"], as_of=datetime(2026, 1, 1, tzinfo=UTC), members=members
    )


def test_what_a_member_says_counts_more_than_what_the_hub_has(apis: list[Api]) -> None:
    apis[1].answers[NODES] = refuses(403)
    hub = of_hub("east", "north", "west")
    found = with_members(hub, kubeconfigs(apis))
    east, north, west = found.members
    assert east["status"]["resourceUsage"]["available"] == {"cpu": "3500m", "memory": "8Gi"}
    assert (north, west) == hub.members[1:]
    assert list(found.silent) == ["west"]
    assert found.as_of == hub.as_of


def test_a_member_that_the_hub_does_not_have(apis: list[Api]) -> None:
    with pytest.raises(
        FleetError, match=r'the hub has no member "west".*did you mean westt'
    ) as error:
        with_members(of_hub("east", "westt"), kubeconfigs(apis))
    assert len(error.value.problems) == 1
    assert not apis[0].asked
