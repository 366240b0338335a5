"""What we do not carry out need not block a fleet: it is passed over by its kind, and every plan says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from fleet_components import FleetError, Options, Past, plan_fleet, source_of
from fleet_components.cli.command import fleet
from fleet_components.model.manifest import Manifest
from fleet_components.plan.fleet_plan import FleetPlan
from tests.cli.fleets import asking
from tests.delivery.world import KubeFleetWorld
from tests.plan.stack import Stack

SCRIPT, SCALER = "ResourceInterpreterCustomization", "FederatedHPA"
PROGRAM = """\
from fleet_components import Fleet, FleetArgs, read_source

{}
"""
DOORS = {
    "configured": "Fleet.from_config('dev')",
    "written": f"Fleet('dev', FleetArgs(read_source('fleet'), render_to='out', pass_over=['{SCRIPT}']))",
}


def script(name: str = "farms") -> dict[str, Any]:
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": SCRIPT,
        "metadata": {"name": name},
        "spec": {},
    }


def scaler(**spec: Any) -> dict[str, Any]:
    kind = {"apiVersion": "autoscaling.karmada.io/v1alpha1", "kind": SCALER}
    return {
        **kind,
        "metadata": {"name": "out", "namespace": "shop"},
        "spec": {"maxReplicas": 3, **spec},
    }


def planned(*extra: dict[str, Any], passed: tuple[str, ...] = ()) -> FleetPlan:
    source = source_of(map(Manifest, KubeFleetWorld(extra=list(extra)).documents()))
    return plan_fleet(source, Past(), Options(pass_over=frozenset(passed)))


def problems(*extra: dict[str, Any], passed: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    with pytest.raises(FleetError) as error:
        planned(*extra, passed=passed)
    return [(problem.what, problem.hint) for problem in error.value.problems]


def warned(plan: FleetPlan) -> list[tuple[str, str]]:
    return [(problem.what, problem.hint) for problem in plan.warnings]


def decisions(plan: FleetPlan) -> list[Any]:
    return [subject.record.to_wire() for subject in plan.subjects]


def test_what_is_passed_over_is_named_and_changes_nothing() -> None:
    plan = planned(script("a"), script("b"), scaler(), passed=(SCRIPT, SCALER))
    assert warned(plan) == [
        (f"passed over: 1 {SCALER}, as fleet:passOver says", "out"),
        (f"passed over: 2 {SCRIPT}s, as fleet:passOver says", "a, b"),
    ]
    assert decisions(plan) == decisions(planned())


def test_what_is_passed_over_is_left_out_before_it_can_be_refused() -> None:
    wrong = scaler(maxReplicas="a", nonsense=True)
    assert len(warned(planned(wrong, passed=(SCALER,)))) == 1


def test_everything_else_is_refused_by_name_with_what_would_do() -> None:
    (first, second), (third, fourth) = problems(scaler(), script())
    assert first == f"{SCALER} is not carried out by this version"
    assert second == "if members should run without it: fleet:passOver FederatedHPA"
    assert third == f"{SCRIPT} is not carried out by this version"
    assert fourth.startswith(
        "say where the kind has its replicas: spec.workloads of a KarmadaSettings; "
    )
    assert fourth.endswith(f"if members should run without it: fleet:passOver {SCRIPT}")
    assert problems(script(), scaler(), passed=(SCRIPT,)) == [(first, second)]


@pytest.mark.parametrize(
    "kind", ["ClusterResourcePlacement", "PropagationPolicy", "WorkloadRebalancer", "MemberCluster"]
)
def test_what_is_carried_out_cannot_be_passed_over(kind: str) -> None:
    (only,) = problems(passed=(kind,))
    assert only == (
        f"{kind} is carried out: passed over, it would take along what it has placed",
        "leave it out of fleet:passOver",
    )


@pytest.mark.parametrize("kind", ["Deployment", "CronJob", "Gadget"])
def test_objects_to_place_cannot_be_passed_over(kind: str) -> None:
    gadget = {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "g"}}
    ((what, _),) = problems(gadget, passed=(kind,))
    assert what == f"{kind} steers no hub: what nothing selects is not placed"


def test_a_misspelt_kind_is_told_beside_what_it_was_meant_for() -> None:
    refused = problems(script(), passed=("ResourceInterpreterCustomisation",))
    assert [what for what, _ in refused] == [
        f"{SCRIPT} is not carried out by this version",
        "there is no ResourceInterpreterCustomisation",
    ]
    assert refused[1][1] == f"did you mean {SCRIPT}?"


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        (SCRIPT, "leave it out of fleet:passOver"),
        ("ClusterTaintPolicies", "did you mean ClusterTaintPolicy?"),
        ("Zzz", "leave it out of fleet:passOver"),
    ],
)
def test_where_there_is_nothing_to_pass_over_that_is_said(kind: str, hint: str) -> None:
    assert warned(planned(passed=(kind,))) == [(f"there is no {kind}", hint)]


def test_it_is_remembered_nowhere() -> None:
    stack, documents = Stack(), KubeFleetWorld(extra=[script()]).documents()
    allowed = stack.program(documents, {"passOver": SCRIPT})
    stack.carry_out(allowed.run)
    assert SCRIPT not in json.dumps(
        [resource.inputs for resource in stack.state.resources.values()], default=str
    )
    assert f"{SCRIPT} is not carried out" in str(stack.program(documents, {}).run.error)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose directory holds what is not carried out."""
    KubeFleetWorld(extra=[script("farms"), script("barns")]).write(tmp_path / "fleet")
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    configure(tmp_path)
    (tmp_path / "__main__.py").write_text(PROGRAM.format(DOORS["configured"]))
    return tmp_path


def configure(project: Path, **config: Any) -> None:
    whole = {"source": "fleet", "render": "out", **config}
    text = yaml.safe_dump({"config": {f"fleet:{key}": value for key, value in whole.items()}})
    (project / "Pulumi.dev.yaml").write_text(text)


def run(*args: Any, status: int = 0) -> str:
    done = CliRunner().invoke(
        fleet, asking(list(map(str, args))), catch_exceptions=False, env={"COLUMNS": "200"}
    )
    assert done.exit_code == status, done.output
    return done.output


@pytest.mark.parametrize("command", [("plan",), ("explain",), ("render", "--out", "rendered")])
def test_the_command_line_takes_it_at_both_doors(
    project: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.parent)
    for path, named in ((project / "fleet", "--pass-over"), (project, "fleet:passOver")):
        assert f"; if members should run without it: {named} {SCRIPT}\n" in run(
            *command, path, status=1
        )
        text = run(*command, path, "--pass-over", SCRIPT)
        assert text.count(f"passed over: 2 {SCRIPT}s, as {named} says (barns, farms)") == 1
        wrong = run(*command, path, "--pass-over", "Deployment", "--pass-over", SCRIPT, status=1)
        assert (
            f"Deployment steers no hub: what nothing selects is not placed\n  hint: leave it out of {named}\n"
            in wrong
        )


@pytest.mark.parametrize("value", [SCRIPT, [SCRIPT], ["ClusterTaintPolicy", SCRIPT]])
def test_the_configuration_takes_a_name_or_a_list(project: Path, value: Any) -> None:
    configure(project, passOver=value)
    assert f"passed over: 2 {SCRIPT}s" in run("plan", project)
    assert f"passed over: 2 {SCRIPT}s" in run("plan", project, "--pass-over", "ClusterTaintPolicy")


def test_a_program_takes_it_as_an_argument(project: Path) -> None:
    (project / "__main__.py").write_text(PROGRAM.format(DOORS["written"]))
    assert f"passed over: 2 {SCRIPT}s" in run("plan", project)
