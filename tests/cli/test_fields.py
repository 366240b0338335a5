"""``fleet fields``: the table for people, for programs and for the documentation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fleet_components.cli.command import fleet
from fleet_components.plan.effects import EFFECTS

PAGE = Path(__file__).parents[2] / "docs" / "fields.md"
REST = "All other fields are carried out, or refused as the API servers refuse them."


def fields(*args: str, columns: int | None = None) -> Result:
    return CliRunner().invoke(
        fleet, ["fields", *args], env={"COLUMNS": str(columns) if columns else None}
    )


def document(*args: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(fields(*args, "-o", "json").output)
    return found


def test_the_page_of_the_documentation_is_what_the_command_prints() -> None:
    assert PAGE.read_text() == fields("-o", "markdown").output, "run: make docs"


def test_every_entry_is_printed_with_its_reason() -> None:
    table, page, listed = fields().output, fields("-o", "markdown").output, document()["fields"]
    for entry in EFFECTS:
        assert entry.reason in table
        assert entry.reason in page
        assert entry.field in table
    assert [(row["field"], row["kinds"]) for row in listed] == [
        (entry.field, list(entry.kinds)) for entry in EFFECTS
    ]


@pytest.mark.parametrize("kind", ["ClusterResourcePlacement", "clusterresourceplacement"])
def test_one_kind_is_shown_alone_and_what_is_left_is_said(kind: str) -> None:
    output = fields(kind).output
    assert "spec.strategy.reportBackStrategy" in output
    assert "spec.association" not in output
    assert output.endswith(f"{REST}\n")
    assert {tuple(row["kinds"]) for row in document(kind)["fields"]} == {
        ("ClusterResourcePlacement",)
    }


def test_the_rest_of_a_field_is_called_so_for_a_kind_that_has_other_entries_for_it() -> None:
    assert "metadata.labels{}: others" in fields("PropagationPolicy").output
    assert "metadata.labels{}  " in fields("ResourcePlacement").output


def test_a_kind_that_is_refused_as_a_whole_says_so() -> None:
    assert fields("ClusterTaintPolicy").output.endswith(
        "ClusterTaintPolicy is refused as a whole.\n"
    )


@pytest.mark.parametrize(
    ("kind", "hint"),
    [("Clustr", "write Cluster"), ("Deployment", "one of ClusterResourcePlacement, Resource")],
)
def test_an_unknown_kind_is_an_error_with_what_was_meant(kind: str, hint: str) -> None:
    result = fields(kind)
    assert result.exit_code == 1
    assert result.stderr.startswith(f'error: there is no kind "{kind}"\n  hint: {hint}')


def test_a_narrow_terminal_has_the_reason_below() -> None:
    lines = fields("MemberCluster", columns=60).output.splitlines()
    at = next(number for number, line in enumerate(lines) if "heartbeatPeriodSeconds" in line)
    assert lines[at + 1].strip() == "no agent runs on a member"
    assert all(len(line) <= 80 for line in lines)
