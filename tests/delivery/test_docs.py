"""The programs of ``docs/delivery.md`` run as they are printed."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from fleet_components.testing import ProgramRun, kubeconfig, run_program
from tests.delivery.world import KubeFleetWorld

TEXT = (Path(__file__).parents[2] / "docs" / "delivery.md").read_text()
WAITING, TRANSFORM, PROVIDER = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def run(program: str, folder: Path, members: tuple[str, ...] = ("aks-dublin",)) -> ProgramRun:
    """In a project of its own."""
    KubeFleetWorld(members={name: {} for name in members}).write(folder / "fleet")
    (folder / "kubeconfigs").mkdir()
    for name in ("dublin", "tools"):
        (folder / "kubeconfigs" / f"{name}.yaml").write_text(kubeconfig(name))
    (folder / "__main__.py").write_text(program)
    done = run_program(lambda: runpy.run_path("__main__.py", run_name="__main__"))
    assert done.error is None, done.error
    return done


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_waits_for_a_fleet(tmp_path: Path) -> None:
    done = run(WAITING, tmp_path)
    assert done.inputs("released")["data"] == {"shop": '{"aks-dublin": 0}'}
    assert done.named("prod", ":Roster").urn in done.named("smoke-test").dependencies
    assert done.outputs == {"delivered": {"shop": {"aks-dublin": 0}}}
    order = [registration.name for registration in done.registrations]
    assert order.index("prod/shop@aks-dublin/shop/web") < min(
        order.index("released"), order.index("smoke-test")
    )


def test_a_transform_sets_options_of_single_objects(tmp_path: Path) -> None:
    first = run(TRANSFORM, tmp_path)
    world = KubeFleetWorld(members={"aks-dublin": {}}, image="web:2")
    world.write(tmp_path / "fleet")
    file = tmp_path / "fleet" / "fleet.yaml"
    file.write_text(file.read_text().replace("replicas: 1", "replicas: 5"))
    again = run_program(lambda: runpy.run_path("__main__.py"), state=first.state())
    spec = again.inputs("prod/shop@aks-dublin/shop/web")["spec"]
    assert spec["replicas"] == 1
    assert spec["template"]["spec"]["containers"][0]["image"] == "web:2"


def test_a_member_brings_its_provider(tmp_path: Path) -> None:
    done = run(PROVIDER, tmp_path, members=())
    assert "::dublin::" in done.named("prod/shop@aks-dublin/shop/web").provider
    assert not [text for level, text in done.messages if level == "warning"]
