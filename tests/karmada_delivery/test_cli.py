"""What the command line says of templates."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from fleet_components.cli.command import fleet

EXAMPLES = Path(__file__).parents[2] / "examples"
PRIORITY, WEIGHTS = EXAMPLES / "karmada-explicit-priority", EXAMPLES / "karmada-static-weights"
KEY = "default/Deployment/nginx"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(fleet, arguments, env={"COLUMNS": "240"})
    assert result.exit_code == 0, result.output
    return result.output


def test_a_plan_shows_who_has_a_template_and_where_it_goes() -> None:
    text = run("plan", str(PRIORITY))
    assert f"Template {KEY}" in text
    assert "its priority 1 is lower than 2 of PropagationPolicy default/propagation-high-explicit-priority" in text
    assert "not picked: member2: cluster(s) did not match the placement cluster affinity constraint" in text


def test_a_plan_as_json_has_the_templates() -> None:
    (template,) = json.loads(run("plan", str(WEIGHTS), "-o", "json"))["templates"]
    shares = {cluster["name"]: cluster["replicas"]["new"] for cluster in template["clusters"]}
    assert shares == {"member1": 2, "member2": 2}
    assert {cluster["change"] for cluster in template["clusters"]} == {"joins"}


def test_an_explanation_tells_the_division_in_words() -> None:
    (template,) = json.loads(run("explain", str(WEIGHTS), KEY, "-o", "json"))["templates"]
    assert template["division"]
    assert template["division"][0] in run("explain", str(WEIGHTS), KEY)


def test_a_render_refuses_templates_and_says_what_does_it(tmp_path: Path) -> None:
    result = CliRunner().invoke(fleet, ["render", str(WEIGHTS), "--out", str(tmp_path / "out")])
    assert result.exit_code != 0
    assert f"template {KEY}: what Karmada's policies place is not rendered here" in result.output
    assert "fleet:render" in result.output
    assert not (tmp_path / "out").exists()


def test_a_project_shows_its_templates(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    (tmp_path / "__main__.py").write_text('from fleet_components import Fleet\n\nFleet.from_config("dev")\n')
    (tmp_path / "Pulumi.dev.yaml").write_text(f"config:\n  fleet:source: {WEIGHTS}\n  fleet:render: out\n")
    plan = json.loads(run("plan", str(tmp_path), "-o", "json"))
    assert [template["key"] for template in plan["templates"]] == [KEY]
    assert {r["change"] for r in plan["resources"]} == {"create"}
