"""What the guide on sources shows runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from fleet_components.content.load import load
from fleet_components.plan.names import is_object
from fleet_components.testing import kubeconfig, placement, run_program
from tests.cli.fleets import MEMBERS, PROJECT, plan, run, write
from tests.tools import rendered, stand_ins

GUIDE = (Path(__file__).parents[2] / "docs" / "sources.md").read_text()
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: prices, namespace: shop}\n"
SHOP = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def test_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = blocks("python")
    write(
        tmp_path,
        {
            "fleet/members.yaml": MEMBERS,
            "fleet/shop.yaml": yaml.safe_dump(dict(placement("shop").data)),
        },
    )
    monkeypatch.chdir(tmp_path)
    text = text.replace(
        'fc.read_source("fleet/"),', 'fc.read_source("fleet/"), kubeconfigs=KUBECONFIGS,'
    )
    kubeconfigs = {name: kubeconfig(name) for name in ("amsterdam", "dublin", "iowa", "virginia")}
    done = run_program(
        lambda: exec(text, {"KUBECONFIGS": kubeconfigs}),
        config={"project:token": "x"},
        secret_keys=["project:token"],
    )
    assert done.error is None
    placed = {r.name for r in done.registrations if is_object(r.type) and "@dublin" in r.name}
    assert placed == {
        f"prod/shop@dublin/shop{name}" for name in ("", "/payment", "/prices", "/plain", "/typed")
    }


def test_the_declarations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tools = stand_ins(tmp_path.parent / f"{tmp_path.name}-tools", monkeypatch)
    tools.printing("helm", rendered("shop", [("x.yaml", MAP)]))
    tools.printing("kustomize", SHOP)
    _, *declarations = blocks("yaml")
    assert len(declarations) == 2
    files = {f"{n}.yaml": text for n, text in enumerate(declarations)}
    write(tmp_path, {**files, "charts/shop/Chart.yaml": "", "production.yaml": "a: 1"})
    write(tmp_path, {"overlays/production/kustomization.yaml": ""})
    assert [str(manifest.key) for manifest in load(".")] == [
        "ConfigMap shop/prices",
        "Namespace shop",
    ]


def test_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = stand_ins(tmp_path / "tools", monkeypatch)
    tools.printing("helm", rendered("shop", [("x.yaml", MAP)]))
    tools.printing("kustomize", SHOP)
    files = {
        "fleet/members.yaml": MEMBERS,
        "fleet/shop.yaml": yaml.safe_dump(dict(placement("shop").data)),
    }
    files |= {"charts/shop/Chart.yaml": "", "overlays/production/kustomization.yaml": ""}
    project = {name: text for name, text in PROJECT.items() if "/fleet/" not in name}
    project["stacks/Pulumi.dev.yaml"] = blocks("yaml")[0] + "  fleet:render: ../out\n"
    write(
        tmp_path / "project",
        {**project, **{f"stacks/{name}": text for name, text in files.items()}},
    )
    monkeypatch.chdir(tmp_path / "project")
    assert plan(".")["subjects"][0]["key"] == "shop"
    monkeypatch.chdir("stacks")
    commands = re.findall(r"`(fleet plan (?:[a-z/]+ ?)+)`", GUIDE)
    assert len(commands) == 2
    for command in commands:
        assert run(*command.split()[1:]).exit_code == 0
