"""Policies that only a hub carries out: a plan does not forecast them, and never says that a change of them is nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

from fleet_components.cli import clock
from fleet_components.hub.folder.writing import write_observation
from fleet_components.systems.registry import SYSTEMS
from tests.cli.clone import Clone
from tests.cli.fleets import edit, plan, run
from tests.hub.folder.hubs import AS_OF, KARMADA, later, observed

TAINTS = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "ClusterTaintPolicy",
    "metadata": {"name": "maintained"},
    "spec": {
        "targetClusters": {"clusterNames": ["a"]},
        "addOnConditions": [
            {"conditionType": "Ready", "operator": "In", "statusValues": ["False"]}
        ],
        "taints": [{"key": "maintained", "effect": "NoSchedule"}],
    },
}
FILE = "policies/ClusterTaintPolicy/maintained.yaml"
NOTHING = "no change is forecast, the hub alone carries out a change of 1 ClusterTaintPolicy"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(clock, "now", lambda: AS_OF)
    whole = observed(KARMADA, SYSTEMS["karmada"])
    write_observation(
        tmp_path / "hub", attrs.evolve(whole, policies=(*whole.policies, TAINTS)), update=False
    )
    return tmp_path / "hub"


def hub_only(folder: Path) -> Any:
    return [(item["kind"], item["change"]) for item in plan(folder)["observed"]["hubOnly"]]


def other(folder: Path) -> None:
    (folder / "more.yaml").write_text(yaml.safe_dump({**TAINTS, "metadata": {"name": "other"}}))


CHANGES = {
    "edited": lambda folder: edit(folder / FILE, "NoSchedule", "NoExecute"),
    "removed": lambda folder: (folder / FILE).unlink(),
    "new": other,
}


def test_as_the_hub_has_it_nothing_is_said(folder: Path) -> None:
    assert (hub_only(folder), plan(folder)["headline"][0]) == ([], "nothing changes")
    text = (folder / FILE).read_text()
    (folder / FILE).unlink()
    (folder / "mine.yaml").write_text(f"# in a file of our own\n{text}")
    assert hub_only(folder) == []


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_never_nothing(folder: Path, change: str) -> None:
    clone = Clone(folder.parent, {})
    CHANGES[change](folder)
    assert hub_only(folder) == [("ClusterTaintPolicy", change)]
    document = plan(folder)
    assert document["headline"][0] == NOTHING
    (warning,) = [
        item for item in document["warnings"] if "only the hub carries out what has changed" in item
    ]
    assert f"({change})" in warning
    clone.commit()
    assert NOTHING in run("review", folder, "--base", "main").output


def test_what_a_file_leaves_out_is_no_change(folder: Path) -> None:
    whole = observed(KARMADA, SYSTEMS["karmada"])
    (folder / FILE).write_text("# ours\n" + yaml.safe_dump(TAINTS, sort_keys=False))
    full = {**TAINTS, "spec": {**TAINTS["spec"], "more": "default"}}  # type: ignore[dict-item]
    write_observation(
        folder, later(attrs.evolve(whole, policies=(*whole.policies, full))), update=True
    )
    assert hub_only(folder) == []
    edit(folder / FILE, "NoSchedule", "NoExecute")
    assert hub_only(folder) == [("ClusterTaintPolicy", "edited")]


def test_a_sweep_does_without_them(folder: Path) -> None:
    done = run("simulate", folder, "--sweep", "member")
    assert done.exit_code == 0, done.output
    assert "is not carried out" not in done.output
