"""Bad input and bad luck: every run ends with a message that says what it is about and what to do."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest

from fleet_components import Fleet, FleetArgs, FleetError, read_source
from fleet_components.testing import ProgramRun, StackState, run_program
from tests.delivery.driver import Driver, InProcess, kubeconfigs
from tests.delivery.test_staged import GROUP
from tests.delivery.world import KubeFleetWorld

NO_KUBECONFIG = "member b: has no kubeconfig"


def run_fleet(
    world: KubeFleetWorld, state: StackState | None = None, preview: bool = True, **more: Any
) -> ProgramRun:
    """Run a program of its own that builds the fleet from arguments."""
    with tempfile.TemporaryDirectory() as folder:
        world.write(Path(folder))
        args = {"kubeconfigs": kubeconfigs(world.members), **more}
        return run_program(
            lambda: Fleet("dev", FleetArgs(source=read_source(folder), **args)),
            state=state,
            preview=preview,
        )


def with_config(**config: Any) -> Callable[[KubeFleetWorld], None]:
    def change(world: KubeFleetWorld) -> None:
        world.config = {"kubeconfigs": kubeconfigs(world.members), **world.config, **config}

    return change


def with_kubeconfig(text: str | None) -> Callable[[KubeFleetWorld], None]:
    def change(world: KubeFleetWorld) -> None:
        given = kubeconfigs(world.members)
        given.pop("b")
        world.config = {"kubeconfigs": {**given, **({} if text is None else {"b": text})}}

    return change


def with_extra(*objects: dict[str, Any]) -> Callable[[KubeFleetWorld], None]:
    return lambda world: world.extra.extend(objects)


UNREACHABLE = {
    "no kubeconfig": (with_kubeconfig(None), NO_KUBECONFIG),
    "no such file": (
        with_kubeconfig("/nowhere/b.yaml"),
        "member b: the kubeconfig is neither a text nor the path of a file that is there",
    ),
    "no YAML": (with_kubeconfig("{:"), "member b: is not a kubeconfig: it is not valid YAML"),
    "contexts of another form": (
        with_kubeconfig("clusters: [{name: a, cluster: {}}]\ncontexts: [x]\n"),
        "member b: is not a kubeconfig: its contexts are not a list of names, each with a context",
    ),
    "clusters of another form": (
        with_kubeconfig("clusters: {a: b}\ncontexts: [{name: a, context: {}}]\n"),
        "member b: is not a kubeconfig: its clusters are not a list of names, each with a cluster",
    ),
    "no mapping": (
        with_kubeconfig("- a\n- b\n"),
        "member b: is not a kubeconfig: it is not a YAML mapping",
    ),
    "no cluster in it": (
        with_kubeconfig("kind: Config\ncontexts: [x]\n"),
        "member b: is not a kubeconfig: it has no clusters",
    ),
}
REFUSED = {
    "a kubeconfig for nobody": (
        with_config(kubeconfigs={"x": "text"}),
        'kubeconfigs: there is no member "x" (the members are: a, b, c, d; if it is gone: pulumi config rm --path fleet:kubeconfigs.x)',
    ),
    "a kubeconfig for nobody, with dots": (
        with_config(kubeconfigs={"x.y": "text"}),
        "pulumi config rm --path 'fleet:kubeconfigs[\"x.y\"]')",
    ),
    "an unknown key": (
        with_config(aproval="x"),
        "is not a key of this configuration (did you mean fleet:approvals?)",
    ),
    "a wrong share": (with_config(limit="2"), "give a share from 0 to 1"),
    "a wrong time": (with_config(asOf="noon"), "write it as 2026-01-31T12:00:00Z"),
    "no source": (with_config(source="nowhere"), "nowhere"),
}


@pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_before_anything_is_done(
    change: Callable[[KubeFleetWorld], None], message: str
) -> None:
    driver = InProcess()
    assert driver.up().ok
    change(driver.world)
    refused = driver.preview()
    assert not refused.ok
    assert message in refused.text


@pytest.fixture
def in_earnest(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on an engine, which reaches the clusters."""
    monkeypatch.setattr("fleet_components.components.fleet.in_process", lambda: False)


@pytest.mark.parametrize(("change", "message"), UNREACHABLE.values(), ids=UNREACHABLE.keys())
def test_a_member_that_cannot_be_reached_is_refused(
    change: Callable[[KubeFleetWorld], None], message: str, in_earnest: None
) -> None:
    driver = InProcess()
    change(driver.world)
    refused = driver.preview()
    assert not refused.ok
    assert message in refused.text


@pytest.mark.parametrize(("change", "message"), UNREACHABLE.values(), ids=UNREACHABLE.keys())
def test_in_process_it_is_a_warning(change: Callable[[KubeFleetWorld], None], message: str) -> None:
    driver = InProcess()
    change(driver.world)
    run = driver.run()
    assert run.error is None
    (warning,) = [text for level, text in run.messages if level == "warning"]
    assert message in warning
    assert ": pulumi up would be refused" in warning


def test_all_that_is_wrong_with_a_stack_comes_at_once(in_earnest: None) -> None:
    driver = InProcess()
    given = kubeconfigs(driver.world.members)
    given |= {"b": "/nowhere/b.yaml", "nobody": "x"}
    del given["c"]
    wrong = {
        "limit": "2",
        "asOf": "noon",
        "protect": "perhaps",
        "maxWait": "long",
        "renamed": "[]",
        "sorce": "x",
    }
    driver.world.config = {
        "kubeconfigs": given,
        **wrong,
        "takesOver": '{"a": 1}',
        "lost": "zurich",
        "confirm": "abc",
    }
    driver.world.extra = [
        {"apiVersion": GROUP, "kind": "ClusterResourceOverride", "metadata": {"name": "x"}}
    ]
    error = driver.run().error
    assert isinstance(error, FleetError)
    told = [
        (problem.path[-1] if problem.path[:1] == ("config",) else "")
        or problem.subject
        or problem.path[0]
        for problem in error.problems
    ]
    # The members that nobody knows may stand in what was refused.
    expected = ["ClusterResourceOverride x", "confirm", "member b", "member c"]
    assert sorted(map(str, told)) == sorted(
        (*expected, *(f"fleet:{key}" for key in (*wrong, "takesOver")))
    )


def test_all_members_that_nobody_knows_come_at_once(in_earnest: None) -> None:
    driver = InProcess()
    given = {**kubeconfigs(driver.world.members), "oslo": "x"}
    renamed = '{"members": {"bern": "a1"}}'
    driver.world.config = {
        "kubeconfigs": given,
        "takesOver": '{"paris": ["*"]}',
        "renamed": renamed,
    }
    error = driver.run().error
    assert isinstance(error, FleetError)
    assert sorted(problem.what for problem in error.problems) == [
        '"bern" is not declared',
        *(f'there is no member "{name}"' for name in ("oslo", "paris")),
    ]


def test_a_member_without_a_kubeconfig_is_named(driver: Driver) -> None:
    with_kubeconfig(None)(driver.world)
    seen = driver.preview()
    assert seen.ok == isinstance(driver, InProcess)
    assert NO_KUBECONFIG in seen.text


def test_a_member_that_nothing_is_placed_on_needs_no_kubeconfig() -> None:
    driver = InProcess()
    driver.world.policy = {"placementType": "PickFixed", "clusterNames": ["a"]}
    with_kubeconfig(None)(driver.world)
    assert driver.up().ok
    assert set(driver.images()) == {"a"}


def test_an_object_that_a_cluster_refuses_is_named(driver: Driver) -> None:
    failed = driver.up(fails="c")
    assert not failed.ok
    assert "shop@c/shop/web" in failed.text


def test_two_placements_of_one_object_are_refused_where_they_meet(driver: Driver) -> None:
    second: dict[str, Any] = {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterResourcePlacement",
        "metadata": {"name": "store"},
        "spec": {
            "resourceSelectors": [
                {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}
            ],
            "policy": {"placementType": "PickFixed", "clusterNames": ["d"]},
        },
    }
    driver.world.policy = {"placementType": "PickFixed", "clusterNames": ["a", "b"]}
    driver.world.extra = [second]
    assert driver.up().ok
    second["spec"]["policy"] = {"placementType": "PickFixed", "clusterNames": ["b", "d"]}
    refused = driver.preview()
    assert not refused.ok
    names = "ClusterResourcePlacement/shop and ClusterResourcePlacement/store"
    assert f"Namespace shop: is brought to b by {names}" in refused.text
    assert f"Deployment shop/web: is brought to b by {names}" in refused.text
    assert "FailedToTakeOver" in refused.text


def test_a_member_list_that_shrinks_sharply_is_refused_with_a_token(driver: Driver) -> None:
    driver.world.policy = {"placementType": "PickFixed", "clusterNames": ["d"]}
    assert driver.up().ok
    for gone in "abc":
        del driver.world.members[gone]
    refused = driver.preview()
    assert not refused.ok
    assert (
        "the member list: would lose 3 of 4 members (a, b, c), more than the 50% allowed"
        in refused.text
    )
    token = refused.text.partition("fleet:confirm=")[2][:8]
    driver.world.config = {"confirm": f"00000000,{token}"}
    assert driver.up().ok
    # The token is not remembered: the same loss is refused again later.
    driver.world.config = {}
    driver.world.members = {name: {} for name in "abcd"}
    assert driver.up().ok
    for gone in "abc":
        del driver.world.members[gone]
    assert not driver.preview().ok


def test_one_member_may_always_leave() -> None:
    driver = InProcess()
    driver.world.members = {"a": {}, "b": {}}
    assert driver.up().ok
    del driver.world.members["b"]
    assert driver.up().ok


def test_clusters_that_are_not_there_yet_are_shown_with_all_their_objects() -> None:
    """In a first preview, members that the same program creates have unknown kubeconfigs."""
    world, unknown = KubeFleetWorld(), {}

    def program() -> None:
        unknown.update(
            {
                name: pulumi.Output(_set(), _future(pulumi.output.Unknown()), _future(False))
                for name in "abcd"
            }
        )
        with tempfile.TemporaryDirectory() as folder:
            world.write(Path(folder))
            Fleet("dev", FleetArgs(source=read_source(folder), kubeconfigs=unknown))

    run = run_program(program)
    assert run.error is None
    assert {r.name for r in run.registrations} >= {f"dev/shop@{c}/shop/web" for c in "abcd"}


def test_a_kubeconfig_never_shows_in_a_refusal() -> None:
    driver = InProcess()
    with_kubeconfig("users: [{token: SWORDFISH}]\n")(driver.world)
    assert "SWORDFISH" not in driver.preview().text


def _set() -> Any:
    return _future(set())


def _future(value: Any) -> Any:
    import asyncio

    future: asyncio.Future[Any] = asyncio.get_event_loop().create_future()
    future.set_result(value)
    return future
