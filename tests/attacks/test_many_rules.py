"""Thousands of rules in one override policy, each for every member, take a time that grows as they do."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from fleet_components.cli.command import fleet
from tests.delivery.karmada.world import member, policy

pytestmark = pytest.mark.long

RULES, MEMBERS = 300, 10
NOISE = 0.3
"""Seconds that a run may take besides."""


def planned(folder: Path, rules: int, members: int) -> float:
    """Return the seconds of a plan."""
    written = [
        {"plaintext": [{"path": f"/data/k{n}", "operator": "add", "value": f"v{n}"}]}
        for n in range(rules)
    ]
    selects = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    spec = {
        "resourceSelectors": selects,
        "overrideRules": [{"overriders": item} for item in written],
    }
    override = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "o"},
    }
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "default"},
    }
    objects = [
        *(member(f"m{n}") for n in range(members)),
        policy("all", "ClusterPropagationPolicy", resourceSelectors=selects),
        {**override, "spec": spec},
        {**config, "data": {"a": "b"}},
    ]
    folder.mkdir()
    (folder / "all.yaml").write_text(yaml.safe_dump_all(objects))
    began = time.perf_counter()
    done = CliRunner().invoke(fleet, ["plan", str(folder)])
    seconds = time.perf_counter() - began
    assert done.exit_code == 0, done.output
    return seconds


def test_rules_are_carried_out_in_linear_time(tmp_path: Path) -> None:
    """All in one run, as ratios: before, ten times the members took ten times as long, and four times the rules 14."""
    planned(tmp_path / "first", 1, 1)  # what is imported then
    item = planned(tmp_path / "one", RULES, MEMBERS)
    assert planned(tmp_path / "members", RULES, 10 * MEMBERS) < 4 * (item + NOISE)
    assert planned(tmp_path / "rules", 4 * RULES, MEMBERS) < 7 * (item + NOISE)
