"""A subject is decided once per run of a command, whichever door it comes through."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fleet_components.cli.command import fleet
from fleet_components.systems.karmada.plan.subject import TemplateSubject
from fleet_components.systems.kubefleet.plan.subject import PlacementSubject
from tests.cli.fleets import asking
from tests.delivery.karmada.world import on, policy
from tests.delivery.world import KubeFleetWorld

pytestmark = pytest.mark.long

PROGRAM = """\
from fleet_components import Fleet

Fleet.from_config("dev")
"""


@pytest.fixture
def decided(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each subject is decided."""
    counted: Counter[str] = Counter()

    def counting(kind: Any) -> None:
        decide = kind.decide

        def counted_decide(subject: Any, before: Any) -> Any:
            counted[subject.name] += 1
            return decide(subject, before)

        monkeypatch.setattr(kind, "decide", counted_decide)

    counting(PlacementSubject)
    counting(TemplateSubject)
    return counted


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project, and the directory of its YAML beside the program."""
    rates = policy(
        "rates",
        resourceSelectors=[{"apiVersion": "v1", "kind": "ConfigMap"}],
        placement=on("a", "b"),
    )
    world = KubeFleetWorld(
        extra=[
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pay"}},
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "rates", "namespace": "pay"},
            },
            {**rates, "metadata": {"name": "rates", "namespace": "pay"}},
        ]
    )
    world.write(tmp_path / "fleet")
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {fleet:source: fleet, fleet:render: out}\n")
    (tmp_path / "__main__.py").write_text(PROGRAM)
    return tmp_path


@pytest.mark.parametrize("door", ["directory", "project"])
@pytest.mark.parametrize(
    "command", [("plan",), ("plan", "-o", "json"), ("plan", "-o", "markdown"), ("explain",)]
)
def test_planning_and_explaining(
    project: Path, decided: Counter[str], door: str, command: tuple[str, ...]
) -> None:
    path = project if door == "project" else project / "fleet"
    done = CliRunner().invoke(fleet, asking([*command, str(path)]), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert len(decided) == 3
    assert set(decided.values()) == {1}


@pytest.mark.parametrize("door", ["directory", "project"])
def test_a_second_render(project: Path, decided: Counter[str], door: str) -> None:
    """What a render writes beside the manifests is how all stands once it is settled: that is asked once more."""
    path, out = str(project if door == "project" else project / "fleet"), str(project / "rendered")
    for _ in range(2):
        decided.clear()
        done = CliRunner().invoke(
            fleet, asking(["render", path, "--out", out]), catch_exceptions=False
        )
        assert done.exit_code == 0, done.output
        assert decided["ClusterResourcePlacement/shop"] == 1
        assert set(decided.values()) <= {1, 2}
    assert json.loads(next((project / "rendered").glob("*/state.json")).read_text())["version"] == 2
