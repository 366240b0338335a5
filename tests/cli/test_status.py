"""``fleet status``: one screen after a failure, tables of all that is known, the form of the APIs, and wrong input.

The screens in ``golden`` are written anew by ``FLEET_WRITE_GOLDEN=1 python -m pytest tests/cli/test_status.py``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.model.manifest import Manifest
from fleet_components.model.observed import FieldDifference, ObservedMember, ObservedObject
from tests.cli.delivered import Delivered, delivered
from tests.cli.fleets import run
from tests.cli.test_looks import golden
from tests.delivery.world import KubeFleetWorld
from tests.live.api_server import closes
from tests.status.stacks import REFUSED, SAID, UNREACHABLE, UNREADY, Stack, broke

__all__ = ["delivered"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused() -> Stack:
    stack = broke()
    stack.errors["b"] = [REFUSED]
    return stack


def unreached() -> Stack:
    stack = broke()
    stack.said("b", UNREACHABLE)
    return stack


def killed() -> Stack:
    stack = broke()
    stack.errors["b"], stack.pending = UNREADY, ["b"]
    return stack


def silent() -> Stack:
    stack = broke()
    stack.driver.world.image = "web:3"
    return stack


def many() -> Stack:
    """A member of many, and many words."""
    stack = broke(["a", "b", *(f"m{number:02}" for number in range(40))])
    stack.errors["b"] = [REFUSED * 9] * 9
    return stack


def fine() -> Stack:
    stack = broke()
    assert stack.driver.up().ok
    return stack


STACKS = {
    "refused": refused,
    "unreached": unreached,
    "killed": killed,
    "silent": silent,
    "many": many,
    "fine": fine,
}


def status(stack: Stack, folder: Path, *options: str, width: int | None = None) -> Any:
    stack.write(folder)
    events = ("--events", "events.jsonl") if len(stack.events) > 1 else ()
    return run("status", "fleet", "--state", "state.json", *events, *options, width=width)


@pytest.mark.parametrize("name", STACKS)
def test_it_fits_one_screen(folder: Path, name: str) -> None:
    text = status(STACKS[name](), folder, width=80).stdout
    lines = text.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    golden(f"status-{name}-80.txt", text)


@pytest.mark.parametrize("by", ["placement", "member", "object"])
def test_all_that_is_known(folder: Path, by: str) -> None:
    text = status(refused(), folder, "--by", by, width=80).stdout
    assert max(map(len, text.splitlines())) <= 80
    golden(f"status-by-{by}-80.txt", text)


def test_piped_lines_are_whole(folder: Path) -> None:
    assert f"    {SAID}" in status(refused(), folder).stdout.splitlines()


def test_a_narrow_terminal(folder: Path) -> None:
    assert max(map(len, status(refused(), folder, width=50).stdout.splitlines())) <= 50


def test_markdown(folder: Path) -> None:
    golden("status.md", status(refused(), folder, "-o", "markdown", "--by", "placement").stdout)


@pytest.mark.parametrize(
    ("name", "options", "ends"),
    [
        ("refused", (), 0),
        ("refused", ("--detailed-exitcode",), 2),
        ("refused", ("--strict", "--detailed-exitcode"), 3),
        ("refused", ("--member", "a", "--detailed-exitcode"), 0),
        ("refused", ("--only", "shop", "--detailed-exitcode"), 2),
        ("fine", ("--strict", "--detailed-exitcode"), 0),
    ],
)
def test_how_it_ends(folder: Path, name: str, options: tuple[str, ...], ends: int) -> None:
    assert status(STACKS[name](), folder, *options).exit_code == ends


def test_the_form_of_the_api(folder: Path) -> None:
    result = status(refused(), folder, "-o", "json")
    document = json.loads(result.stdout)
    assert (document["apiVersion"], document["kind"]) == ("v1", "List")
    shop, snapshot = document["items"]
    assert (shop["kind"], shop["metadata"]["name"]) == ("ClusterResourcePlacement", "shop")
    assert snapshot["kind"] == "ClusterSchedulingPolicySnapshot"
    entries = {item["clusterName"]: item for item in shop["status"]["placementStatuses"]}
    (failed,) = entries["b"]["failedPlacements"]
    assert (failed["kind"], failed["name"], failed["condition"]["reason"]) == (
        "Deployment",
        "web",
        "ManifestApplyFailed",
    )
    assert SAID in failed["condition"]["message"]
    assert entries["a"]["conditions"][-1]["type"] == "Available"
    assert entries["c"]["conditions"][-1]["reason"] == "RolloutNotStartedYet"
    assert yaml.safe_load(status(refused(), folder, "-o", "yaml").stdout) == document


def test_a_source_that_has_changed_since(folder: Path) -> None:
    text = status(silent(), folder).stdout
    assert (
        "the source has changed since for ClusterResourcePlacement shop: this is of the last update"
        in text
    )


def test_a_placement_that_no_update_has_delivered(folder: Path) -> None:
    stack = fine()
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": "new"}
    stack.driver.world.extra = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}},
        {
            "apiVersion": "placement.kubernetes-fleet.io/v1",
            "kind": "ClusterResourcePlacement",
            "metadata": {"name": "new"},
            "spec": {"resourceSelectors": [selector]},
        },
    ]
    result = status(stack, folder, "--detailed-exitcode")
    assert result.exit_code == 2
    assert "not delivered by any update yet: ClusterResourcePlacement new" in result.stdout
    assert [
        load["metadata"]["name"]
        for load in json.loads(status(stack, folder, "-o", "json").stdout)["items"]
    ] == [
        "shop",
        "shop-0",
    ]


def test_what_members_and_servers_say_commands_nothing(folder: Path) -> None:
    stack = broke()
    stack.errors["b"] = ["denied: \x1b[31mred\x1b[0m\n::error::planted \u202e"]
    text = status(stack, folder).stdout
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert not any(line.lstrip().startswith("::error") for line in text.splitlines())


WRONG = {
    "no state": ((), "there is no state, which a status is read from"),
    "no such state": (("--state", "nowhere.json"), "nowhere.json: cannot be read"),
    "events as the state": (("--state", "events.jsonl"), "events.jsonl"),
    "a state as events": (
        ("--state", "state.json", "--events", "state.json"),
        "state.json: has no events of the engine",
    ),
    "no such events": (("--state", "state.json", "--events", "nowhere"), "nowhere: cannot be read"),
    "a folder as events": (("--state", "state.json", "--events", "fleet"), "fleet: cannot be read"),
    "no such placement": (("--state", "state.json", "--only", "shap"), "did you mean shop?"),
    "no such member": (("--state", "state.json", "--member", "z"), 'there is no member "z"'),
    "another stack": (("--state", "state.json", "--stack", "prod"), "not of stack prod"),
    "a state without a fleet": (
        ("--state", "empty.json"),
        "has no fleet: no update of one has begun",
    ),
    "a render": (("--state", "render.json"), "is the state of a render"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(folder: Path, name: str) -> None:
    refused().write(folder)
    (folder / "empty.json").write_text('{"version": 3, "deployment": {"resources": []}}')
    assert run("render", "fleet", "--out", "out").exit_code == 0
    (folder / "out" / "local" / "state.json").rename(folder / "render.json")
    options, words = WRONG[name]
    result = run("status", "fleet", *options)
    assert result.exit_code == 1
    assert words in result.stderr
    assert result.stdout == ""


def test_a_state_from_standard_input(folder: Path) -> None:
    _, state, _ = refused().write(folder)
    piped = run("status", "fleet", "--state", "-", stdin=state.read_bytes())
    assert piped.stdout == run("status", "fleet", "--state", "state.json").stdout


def test_what_the_members_say_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One has lost its Deployment, one refuses what it never got, and one has it already."""
    told: dict[str, dict[str, Any]] = {
        "a": {"differences": (FieldDifference("/", "(the whole object)"),)},
        "b": {"error": "denied by a webhook", "differences": (FieldDifference("/spec", "x", "y"),)},
        "c": {"applied": "Applied", "available": "Available", "generation": 7},
    }

    def observe(kubeconfigs: Any, wanted: Any, timeout: float, watch: Any) -> Any:
        members = {name.member: name for name in wanted}
        assert kubeconfigs.keys() == wanted.keys()
        assert members.keys() == set("abc")
        assert (timeout, {item.manager for item in wanted[members["a"]]}) == (
            3.0,
            {"fleet-components/organization/project/stack"},
        )
        found = {}
        for name, objects in wanted.items():
            keys = [Manifest(data.data).key for data in objects]
            fine = {
                key: ObservedObject(key, "v1", applied="Applied", available="Available")
                for key in keys[:1]
            }
            found[name] = ObservedMember(
                {**fine, keys[1]: ObservedObject(keys[1], "apps/v1", **told[name.member])}
            )
        return found

    monkeypatch.setattr("fleet_components.review.planning.asked.observe", observe)
    document = status(unreached(), folder, "--live", "--timeout", "3").stdout
    assert "Deployment shop/web on a is missing" in document
    assert "mend: pulumi up --refresh brings back what somebody has deleted" in document
    assert "Deployment shop/web on b was refused\n    denied by a webhook" in document
    assert "as the members say" in document


def test_a_placement_that_compares_only_is_asked_for_its_differences(delivered: Delivered) -> None:
    """They are told as a report of an update tells them, and nothing but trials is sent."""
    fleet = delivered(
        KubeFleetWorld(
            members={"a": {}, "b": {}}, strategy={"applyStrategy": {"type": "ReportDiff"}}
        )
    )
    shop = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    theirs = fleet.at_source("Deployment")
    for name, replicas in {"a": 1, "b": 4}.items():
        fleet.members[name].apply(shop, "kubectl")
        theirs["spec"]["replicas"] = replicas
        fleet.members[name].apply(theirs, "kubectl")
    before = [dict(fleet.members[name].objects) for name in "ab"]
    ask = fleet.asking()  # nothing is written, so the state has no provider
    found = json.loads(fleet.run("status", "--live", *ask, "-o", "json").stdout)["items"]
    (report,) = (item for item in found if item["kind"] == "ClusterResourcePlacement")
    entries = {item["clusterName"]: item for item in report["status"]["placementStatuses"]}
    assert "diffedPlacements" not in entries["a"]
    (diffed,) = entries["b"]["diffedPlacements"]
    assert (diffed["kind"], diffed["name"]) == ("Deployment", "web")
    assert diffed["observedDiffs"] == [
        {"path": "/spec/replicas", "valueInHub": "1", "valueInMember": "4"}
    ]
    for name in "ab":
        reported = {entry["type"]: entry["status"] for entry in entries[name]["conditions"]}
        assert reported["DiffReported"] == "True"
    text = fleet.run("status", "--live", *ask, "--by", "member").stdout
    assert "Deployment shop/web: /spec/replicas differs" in text
    assert [dict(fleet.members[name].objects) for name in "ab"] == before
    fleet.members["b"].answers["GET"] = closes
    assert "b does not answer" in fleet.run("status", "--live", *ask, "--timeout", "1").stdout


def test_a_member_that_nobody_knows_how_to_reach(folder: Path) -> None:
    stack = refused()
    export = stack.export()
    for item in export["deployment"]["resources"]:
        item["inputs"].pop("kubeconfig", None)
    stack.write(folder)
    (folder / "state.json").write_text(json.dumps(export))
    result = run("status", "fleet", "--state", "state.json", "--live")
    assert (
        "a, b, c do not answer\n    cannot be asked: its kubeconfig is not known" in result.stdout
    )
    wrong = run("status", "fleet", "--state", "state.json", "--live", "--kubeconfig", "a")
    assert (wrong.exit_code, "write MEMBER=PATH" in wrong.stderr) == (1, True)
