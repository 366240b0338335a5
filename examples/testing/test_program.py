"""Tests of the program, in process: no engine, no cluster, no account. Run them with: pytest
examples/testing.
"""

import json

import pulumi
from program import MEMBERS, program

from fleet_components import Fleet, FleetArgs, source_of
from fleet_components.testing import (
    FleetMocks,
    ProgramRun,
    config_map,
    kubeconfig,
    member,
    placement,
    redact,
    run_program,
)

OBJECTS = ("prices", "payment")
CONFIG = {"shop:kubeconfigs": {name: kubeconfig(name) for name in MEMBERS}}


def run(**more: object) -> ProgramRun:
    """Run the program as a preview would."""
    return run_program(
        program, project="shop", config=CONFIG, secret_keys=["shop:kubeconfigs"], **more
    )


def test_the_shop_stays_in_europe() -> None:
    decisions = run().inputs("production/shop", "dynamic/fleet:Placement")["decisions"]
    assert set(decisions) == {"eu-west", "eu-north"}


def test_every_member_gets_every_object() -> None:
    names = {registration.name for registration in run().registrations}
    objects = {
        f"production/shop@{member}/shop/{name}"
        for member in ("eu-west", "eu-north")
        for name in OBJECTS
    }
    assert objects <= names


def test_the_token_is_secret() -> None:
    shown = redact(run().named("production/shop@eu-west/shop/payment").inputs)
    assert shown["stringData"] == "[secret]"
    assert "change-me" not in json.dumps([redact(r.inputs) for r in run().registrations])


def test_a_second_run_changes_nothing() -> None:
    """The state of the first run is what the second one remembers."""
    first = run(preview=False)
    second = run(state=first.state())
    assert second.state() == first.state()


def test_a_cluster_that_refuses_an_object_stops_the_others() -> None:
    first = run(
        preview=False,
        fails=lambda registration: registration.name == "production/shop@eu-north/shop/prices",
    )
    assert first.error
    bindings = {r.name for r in first.registrations if r.type.endswith("fleet:Binding")}
    assert "production/shop@eu-north" not in bindings


pulumi.runtime.set_mocks(FleetMocks())


@pulumi.runtime.test
def test_with_the_mocks_that_pulumi_documents() -> pulumi.Output[None]:
    """The usual way works too; placements are really decided in it."""
    members = [member("a", {"tier": "gold"}), member("b")]
    policy = {"placementType": "PickFixed", "clusterNames": ["a"]}
    source = source_of(
        [placement("shop", policy), *config_map("shop", "prices", {"currency": "EUR"})]
    )
    fleet = Fleet("test", FleetArgs(source=source, members=members))

    def picked(decisions: object) -> None:
        assert set(decisions) == {"a"}

    return fleet.placements["shop"].decisions.apply(picked)
