"""What a plan shows: what changes, most important first, and nothing of it twice or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from fleet_components.model.problem import FleetError
from fleet_components.review.documents.form import EVERYTHING, View
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.documents.schema import PlanDocument, plan_schema
from fleet_components.review.documents.weight import Weight
from fleet_components.review.documents.wire import as_data
from fleet_components.review.planning.past import parse_state
from fleet_components.review.planning.survey import CommandLine, Survey, survey
from fleet_components.review.showing.markdown import LIMIT, to_markdown
from fleet_components.review.showing.plan import plan_view
from fleet_components.review.showing.terminal import printed
from tests.cli.fleets import PROJECT, edit, run, write
from tests.plan.rich import exported, history
from tests.plan.test_histories import Written, surveys, worlds

ORDER = list(Weight)


SCHEMA = Draft202012Validator(plan_schema())


def check(found: Survey) -> None:
    """Compare what is shown of a plan with the whole of it."""
    document, whole = as_data(plan_document(found)), as_data(plan_document(found, EVERYTHING))
    for item in (document, whole):
        SCHEMA.validate(item)
    weights = {item["name"]: Weight(item["weight"]) for item in whole["subjects"]}
    assert [*weights.values()] == sorted(weights.values(), key=ORDER.index)
    assert [item["name"] for item in document["subjects"]] == [
        name for name, weight in weights.items() if weight is not Weight.UNCHANGED
    ]
    for item in whole["subjects"]:
        happens = [cluster for cluster in item["clusters"] if cluster["change"] != "stays"]
        quiet = not (happens or item["departures"] or item["unfulfilled"])
        assert quiet or item["weight"] != Weight.UNCHANGED, item["name"]
        assert item["staying"] == sorted(
            c["name"] for c in item["clusters"] if c["change"] == "stays"
        )
    by_name = {item["name"]: item for item in whole["subjects"]}
    for item in document["subjects"]:
        of_all = by_name[item["name"]]
        assert item["clusters"] == [
            each for each in of_all["clusters"] if each["change"] != "stays"
        ]
        assert {**item, "clusters": [], "notPicked": []} == {
            **of_all,
            "clusters": [],
            "notPicked": [],
        }
    alike = (
        "totals",
        "headline",
        "unchanged",
        "warned",
        "placements",
        "templates",
        "changes",
        "refused",
        "gone",
    )
    assert [document[key] for key in alike] == [whole[key] for key in alike]
    assert sum(weight is Weight.UNCHANGED for weight in weights.values()) == (
        document["unchanged"]["placements"] + document["unchanged"]["templates"]
    )
    assert len(document["headline"]) == 3
    _check_members(found, whole)
    _check_texts(plan_document(found))


def _check_members(found: Survey, whole: dict[str, Any]) -> None:
    """The view of a member has what the whole has of it, and its parts add up."""
    for name in found.plans[0].inventory.names:
        of_one = as_data(plan_document(found, View(member=name)))
        expected = {
            item["name"]: [
                each
                for each in item["clusters"]
                if each["name"] == name and each["change"] != "stays"
            ]
            for item in whole["subjects"]
        }
        assert {item["name"]: item["clusters"] for item in of_one["subjects"]} == {
            subject: rows for subject, rows in expected.items() if rows
        }
        for item in of_one["subjects"]:
            assert {each["member"] for each in item["departures"]} <= {name}
        assert (of_one["totals"], of_one["warned"]) == (whole["totals"], whole["warned"])


def _check_texts(document: PlanDocument) -> None:
    """Table and comment show the same subjects in the same order, and the comment is closed and short enough."""
    keys = [subject.key for subject in document.subjects]
    page = plan_view(document)
    comment, table = to_markdown(page), printed(page.blocks)
    assert len(comment) < LIMIT
    assert comment.count("<details>") == comment.count("</details>")
    assert re.findall(r"<b>(.*?)</b>", comment) == keys
    heads = re.findall(
        r"^(?:ClusterResourcePlacement|ResourcePlacement|Template) (\S+)$", table, re.MULTILINE
    )
    assert heads == keys


@pytest.mark.long
@settings(max_examples=15)
@given(st.lists(worlds, min_size=2, max_size=3))
def test_over_random_histories(written: list[Written]) -> None:
    for found in surveys(written):
        check(found)


def test_of_a_rich_stack(tmp_path: Path) -> None:
    history().world.write(tmp_path)
    state = parse_state(json.dumps(exported()).encode(), "s.json")
    check(survey([tmp_path], CommandLine(state=state)))


@pytest.fixture
def changed(tmp_path: Path) -> tuple[Path, Path]:
    """A fleet with a new image, and its state before."""
    folder, state = write(tmp_path / "fleet"), tmp_path / "state.json"
    assert run("plan", folder, "--save-state", state).exit_code == 0
    edit(folder / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")
    return folder, state


@pytest.mark.parametrize(
    ("option", "hint"),
    [(("--only", "shopp"), "did you mean shop?"), (("--member", "dublim"), "did you mean dublin?")],
)
def test_what_is_not_there_is_an_error(
    changed: tuple[Path, Path], option: tuple[str, str], hint: str
) -> None:
    folder, state = changed
    result = run("plan", folder, "--state", state, *option)
    assert result.exit_code == 1
    assert hint in result.stderr
    assert result.stdout == ""


def test_a_view_of_an_unknown_subject_is_refused(changed: tuple[Path, Path]) -> None:
    with pytest.raises(FleetError, match="there is no placement or template"):
        plan_document(survey([changed[0]], CommandLine()), View(only=("nobody",)))


@pytest.mark.parametrize(
    "option", [(), ("--all",), ("--only", "shop"), ("--member", "iowa"), ("--member", "dublin")]
)
def test_what_is_shown_changes_no_exit_status(
    changed: tuple[Path, Path], option: tuple[str, ...]
) -> None:
    folder, state = changed
    assert run("plan", folder, "--state", state, "--detailed-exitcode", *option).exit_code == 2
    assert run("plan", folder, "--state", state, "--strict", *option).exit_code == 0
    edit(folder / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 4")
    assert (
        run("plan", folder, "--state", state, "--strict", "--detailed-exitcode", *option).exit_code
        == 3
    )


def test_further_forms_are_written_to_files(changed: tuple[Path, Path], tmp_path: Path) -> None:
    folder, state = changed
    also = [f"{form}={tmp_path / form}" for form in ("json", "yaml", "markdown", "table")]
    words = [word for item in also for word in ("--also", item)]
    table = run("plan", folder, "--state", state, *words).stdout
    assert (tmp_path / "table").read_text() == table
    for form in ("json", "yaml", "markdown"):
        assert (tmp_path / form).read_text() == run(
            "plan", folder, "--state", state, "-o", form
        ).stdout


@pytest.mark.parametrize("also", ["html=x", "json", "json=", "=x"])
def test_an_unknown_form_is_wrong_use(changed: tuple[Path, Path], also: str) -> None:
    result = run("plan", changed[0], "--also", also)
    assert result.exit_code == 1
    assert "write FORM=FILE" in result.stderr


def test_a_file_that_cannot_be_written_is_an_error(
    changed: tuple[Path, Path], tmp_path: Path
) -> None:
    result = run("plan", changed[0], "--also", f"json={tmp_path}/no/such")
    assert result.exit_code == 1
    assert "cannot be written: No such file or directory" in result.stderr


def test_the_schema_is_printed_and_fits_what_is_printed(
    changed: tuple[Path, Path], tmp_path: Path
) -> None:
    printed = run("plan", "--schema")
    assert printed.exit_code == 0
    published = Path(__file__).parent / "golden" / "plan.schema.json"
    assert printed.stdout == published.read_text()  # programs rely on it
    Draft202012Validator.check_schema(plan_schema())
    folder, state = changed
    SCHEMA.validate(json.loads(run("plan", folder, "--state", state, "-o", "json").stdout))
    project = write(tmp_path / "project", PROJECT)
    SCHEMA.validate(json.loads(run("plan", project, "-o", "json").stdout))
    (folder / "placement.yaml").unlink()
    SCHEMA.validate(json.loads(run("plan", folder, "--state", state, "-o", "json").stdout))


def test_every_key_is_in_the_guide() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "plan-document.md").read_text()

    def keys(schema: Any) -> Iterator[str]:
        match schema:
            case {"properties": properties, **rest}:
                yield from properties
                for item in (*properties.values(), *rest.values()):
                    yield from keys(item)
            case dict():
                for item in schema.values():
                    yield from keys(item)
            case list():
                for item in schema:
                    yield from keys(item)

    told = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", guide))))
    assert set(keys(plan_schema())) <= told


def test_what_goes_can_be_looked_at(changed: tuple[Path, Path]) -> None:
    folder, state = changed
    (folder / "placement.yaml").unlink()
    for option, members in (
        (("--only", "shop"), ("amsterdam", "dublin")),
        (("--member", "dublin"), ("dublin",)),
    ):
        result = run("plan", folder, "--state", state, *option)
        assert result.exit_code == 3
        assert result.stdout.startswith("refused: shop goes")
        objects = "ConfigMap shop/storefront, Secret shop/payment, Deployment shop/storefront"
        told = [
            line
            for line in result.stdout.splitlines()
            if line.startswith(objects) and line.endswith(": deleted")
        ]
        assert [line.split(" on ")[1].partition(":")[0] for line in told] == list(members)
    assert ": deleted\n" not in run("plan", folder, "--state", state, "--member", "iowa").stdout


def test_a_placement_and_a_member_may_be_asked_for_together(changed: tuple[Path, Path]) -> None:
    folder, state = changed
    asked = ("--only", "shop", "--member", "iowa", "-o", "json")
    (item,) = json.loads(run("plan", folder, "--state", state, *asked).stdout)["subjects"]
    assert (item["key"], item["clusters"]) == ("shop", [])


def test_a_plan_that_fails_leaves_nothing_of_an_earlier_one(
    changed: tuple[Path, Path], tmp_path: Path
) -> None:
    folder, _ = changed
    file = tmp_path / "review.md"
    file.write_text("nothing changes")
    assert run("plan", tmp_path / "nowhere", "--also", f"markdown={file}").exit_code == 1
    assert not file.exists()
    for _ in range(2):
        assert run("plan", folder, "--also", f"markdown={file}").exit_code == 0
        assert file.read_text().startswith("### Fleet plan")


def test_no_file_that_is_read_is_overwritten(changed: tuple[Path, Path]) -> None:
    folder, state = changed
    before = (folder / "shop.yaml").read_text()
    result = run("plan", folder, "--state", state, "--also", f"json={folder}/shop.yaml")
    assert result.exit_code == 1
    assert "is among what is read, and would be overwritten" in result.stderr
    assert (folder / "shop.yaml").read_text() == before
    assert "-o json prints it" in run("plan", folder, "--also", "json=-").stderr


def test_differences_that_are_too_long_for_a_comment_are_shown_in_part(
    changed: tuple[Path, Path],
) -> None:
    folder, state = changed
    lines = "\n".join(f"  line-{number}: {'x' * 20}" for number in range(6000))
    edit(folder / "shop.yaml", "  currency: EUR\n", f"  currency: CHF\n{lines}\n")
    comment = run("plan", folder, "--state", state, "-o", "markdown", "--diff").stdout
    assert "+  currency: CHF" in comment
    assert "left out some details of 1 placement" in comment
    assert len(comment) < LIMIT


def test_a_policy_that_moves_nothing_shows_what_changes(changed: tuple[Path, Path]) -> None:
    folder, state = changed
    edit(folder / "shop.yaml", "nginx:1.28.0", "nginx:1.27.5")
    edit(folder / "placement.yaml", "weight: 60", "weight: 50")
    table = run("plan", folder, "--state", state).stdout
    assert table.startswith("the policy of shop changes and moves nothing, nothing else changes\n")
    assert "preferredDuringSchedulingIgnoredDuringExecution[0].weight: 60 -> 50" in table
