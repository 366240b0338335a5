"""The program of the guide runs, and its figures are those that a preview prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("pulumi_azure_native")

from fleet_components.azure.values.vm_size import built_in_sizes
from fleet_components.content.load import load_text
from tests.azure import world

GUIDE = (Path(__file__).parents[2] / "docs" / "azure.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def test_the_guide_provisions_a_fleet_for_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fleet.yaml").write_text(blocks("yaml")[0])
    fresh = {"fleet:asOf": f"{built_in_sizes().notes['sizes-as-of']}T12:00:00Z"}
    run = world.run(lambda: exec(blocks("python")[0], {}), config=fresh)
    assert run.error is None
    assert len(run.of_type("ManagedCluster")) == 2
    guide = " ".join(GUIDE.split())
    for message in run.messages:
        assert message.partition(", at list prices")[0] in guide


def test_its_policy_is_one() -> None:
    (policy,) = load_text(blocks("yaml")[1])
    assert policy.kind == "ClusterResourcePlacement"
