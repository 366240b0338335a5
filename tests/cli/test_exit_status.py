"""How every command ends: one table in the help and in the documents, and the same facts in the document of a plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.cli.exit_status import MEANINGS, ExitStatus
from tests.cli.fleets import PLACEMENT, PROJECT, edit, plan, run, write
from tests.cli.test_process import execute
from tests.plan.stack import Stack
from tests.plan.test_histories import Written, worlds

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "docs/plan-document.md")


def table() -> str:
    """The table of the documentation, in Markdown."""
    rows = [f"| {status} | {_code(meaning)} |" for status, meaning in MEANINGS.items()]
    return "\n".join(("| exit status | |", "| --- | --- |", *rows))


def _code(meaning: str) -> str:
    """A text with its options marked as code."""
    return " ".join(f"`{word}`" if word.startswith("--") else word for word in meaning.split())


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_documents_have_the_table(document: str) -> None:
    assert f"\n{table()}\n" in (ROOT / document).read_text()


@pytest.mark.parametrize(
    ("command", "width", "without"),
    [
        ((), 50, ()),
        (("plan",), 50, ()),
        (("plan",), 100, ()),
        (("explain",), 50, (ExitStatus.CHANGES,)),
        (("render",), 50, ()),
        (("completion",), 50, (ExitStatus.CHANGES, ExitStatus.REFUSED)),
    ],
)
def test_every_help_has_the_table(
    command: tuple[str, ...], width: int, without: tuple[ExitStatus, ...]
) -> None:
    text = execute(*command, "--help", COLUMNS=str(width)).stdout
    told = " ".join(text.partition("Exit status:")[2].split())
    assert told == " ".join(
        f"{status} {meaning}" for status, meaning in MEANINGS.items() if status not in without
    )


State = Callable[[], tuple[str, ...]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, rendered once; the working directory."""
    monkeypatch.chdir(write(tmp_path / "project", PROJECT))
    assert run("render", "stacks/fleet", "--out", "../out").exit_code == 0
    return tmp_path / "project"


SOURCE = "stacks/fleet"
STATE = ("--state", "../out/local/state.json")


def as_it_was(source: Path) -> None:
    pass


def a_comment(source: Path) -> None:
    edit(source / "shop.yaml", "kind: Deployment", "kind: Deployment  # it sells")


def a_label(source: Path) -> None:
    edit(
        source / "members.yaml",
        "labels: {region: america, environment: test}",
        "labels: {region: america}",
    )


def an_image(source: Path) -> None:
    edit(source / "shop.yaml", "nginx:1.27.5", "nginx:1.28.0")


def another_member(source: Path) -> None:
    edit(source / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 1")


def a_member_of_no_placement(source: Path) -> None:
    edit(source / "members.yaml", "name: virginia\n", "name: oslo\n")


def a_policy_that_picks_the_same(source: Path) -> None:
    edit(source / "placement.yaml", "weight: 60", "weight: 61")


def an_object_less(source: Path) -> None:
    text = (source / "shop.yaml").read_text().split("---\n")
    (source / "shop.yaml").write_text(
        "---\n".join(item for item in text if "kind: ConfigMap" not in item)
    )


def a_policy_that_selects_nothing(source: Path) -> None:
    (source / "policy.yaml").write_text(
        "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: maps}\n"
        "spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: none}], preemption: Always}\n"
    )


def held(source: Path) -> None:
    edit(
        source / "placement.yaml",
        "maxUnavailable: 1, maxSurge: 1",
        "maxUnavailable: 0, maxSurge: 0",
    )


@pytest.mark.parametrize(
    ("edited", "status"),
    [
        (as_it_was, 0),
        (a_comment, 0),
        (a_label, 0),
        (an_image, 2),
        (another_member, 2),
        (a_member_of_no_placement, 2),
        (a_policy_that_picks_the_same, 2),
        (an_object_less, 2),
        (a_policy_that_selects_nothing, 2),
    ],
)
def test_changes(folder: Path, edited: Callable[[Path], None], status: int) -> None:
    edited(folder / SOURCE)
    for command in (("plan", SOURCE, *STATE), ("render", SOURCE, "--out", "../out")):
        assert run(*command, "--detailed-exitcode").exit_code == status
        assert run(*command).exit_code == 0  # a render has written what it has found
    if status == 2:  # and now nothing is left to be done
        assert run("plan", SOURCE, *STATE, "--detailed-exitcode").exit_code == 0


def test_what_is_held_is_no_change(folder: Path) -> None:
    held(folder / SOURCE)
    an_image(folder / SOURCE)
    assert run("render", SOURCE, "--out", "../out", "--detailed-exitcode").exit_code == 2
    document = plan(SOURCE, *STATE)
    assert {item["change"] for item in document["subjects"][0]["clusters"]} == {"held"}
    assert document["changes"] is False
    assert run("plan", SOURCE, *STATE, "--detailed-exitcode").exit_code == 0


def test_a_new_stack_has_changes(folder: Path) -> None:
    for where in (SOURCE, "."):
        document = plan(where)
        assert document["changes"] is True
        assert run("plan", where, "--detailed-exitcode").exit_code == 2


def too_many(source: Path) -> None:
    edit(source / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 5")


def warned(source: Path) -> None:
    edit(
        source / "shop.yaml",
        "metadata: {name: shop}",
        "metadata: {name: shop, finalizers: [x.io/y]}",
    )


def too_many_and_warned(source: Path) -> None:
    too_many(source)
    warned(source)


@pytest.mark.parametrize(
    ("edited", "why"),
    [
        (as_it_was, ""),
        (too_many, "refused by --strict: 1 policy not fulfilled\n"),
        (warned, "refused by --strict: 1 warning\n"),
        (too_many_and_warned, "1 policy not fulfilled and 1 warning\n"),
    ],
)
@pytest.mark.parametrize("where", [SOURCE, "."])
def test_strictly(folder: Path, edited: Callable[[Path], None], why: str, where: str) -> None:
    edited(folder / SOURCE)
    for command in (("plan", where), ("plan", where, "-o", "json"), ("explain", where)):
        assert run(*command).exit_code == 0
        strict = run(*command, "--strict")
        assert strict.exit_code == (3 if why else 0)
        assert strict.stderr.endswith(why)
        lines = [line for line in strict.stderr.splitlines() if line.startswith("warning: ")]
        assert len(lines) == len(set(lines)) <= 2
        assert bool(strict.stderr) == bool(why)
    new = folder.parent / "new"
    strict = run("render", where, "--out", new, "--strict")
    assert strict.exit_code == (3 if why else 0)
    assert new.exists() == (not why)
    assert ("wrote nothing" in strict.stdout) == bool(why)


def test_what_is_unfulfilled_is_in_the_document(folder: Path) -> None:
    assert plan(SOURCE)["unfulfilled"] == []
    too_many(folder / SOURCE)
    (item,) = plan(SOURCE)["unfulfilled"]
    assert item["subject"] == "ClusterResourcePlacement/shop"
    assert [item["why"]] == plan(SOURCE)["subjects"][0]["unfulfilled"]


def test_what_a_program_warns_of_counts(folder: Path) -> None:
    with (folder / "stacks/__main__.py").open("a") as program:
        program.write("pulumi.log.warn('hot')\n")
    assert run("plan", ".", "--strict").exit_code == 3
    assert run("plan", SOURCE, "--strict").exit_code == 0


def test_the_first_of_several_counts(folder: Path) -> None:
    both = ("--detailed-exitcode", "--strict")
    an_image(folder / SOURCE)
    assert run("plan", SOURCE, *STATE, *both).exit_code == 2
    warned(folder / SOURCE)
    assert run("plan", SOURCE, *STATE, *both).exit_code == 3
    (folder / SOURCE / "placement.yaml").unlink()
    refused = json.loads(run("plan", SOURCE, *STATE, "-o", "json").stdout)
    assert refused["refused"]
    assert run("plan", SOURCE, *STATE, "--detailed-exitcode").exit_code == 3
    (folder / SOURCE / "placement.yaml").write_text(PLACEMENT.replace("PickN", "PickSome"))
    assert run("plan", SOURCE, *STATE, *both).exit_code == 1


@pytest.mark.parametrize(
    "args", [(), ("plan",), ("explain", ".", "--detailed-exitcode"), ("plan", ".", "--sternly")]
)
def test_wrong_use_ends_with_1(args: tuple[str, ...]) -> None:
    ended = execute(*args)
    assert ended.returncode == 1
    assert "Usage: " in ended.stderr + ended.stdout


@pytest.mark.parametrize("command", [("explain", "."), ("render", ".", "--out", "../new")])
def test_what_strictness_counts_is_told(folder: Path, command: tuple[str, ...]) -> None:
    with (folder / "stacks/__main__.py").open("a") as program:
        program.write("pulumi.log.warn('hot')\n")
    warned(folder / SOURCE)
    too_many(folder / SOURCE)
    told = run(*command, "--strict").stderr
    assert "warning: program: hot\n" in told
    assert (
        "warning: ClusterResourcePlacement shop: stacks/fleet/shop.yaml:3: Namespace shop: " in told
    )
    assert "warning: ClusterResourcePlacement shop: could not find all clusters" in told
    assert told.endswith("refused by --strict: 1 policy not fulfilled and 2 warnings\n")


@settings(max_examples=15)
@given(st.lists(worlds, min_size=1, max_size=2), st.booleans())
def test_both_doors_see_the_same_changes(history: list[Written], again: bool) -> None:
    """What the directory calls a change is what the program registers otherwise than it stands."""
    stack = Stack()
    for world in [*history, *history[-1:]] if again else history:
        documents, lost = list(world.documents()), sorted(world.lost & world.members.keys())
        seen = stack.program(documents, {"lost": ",".join(lost)})
        if seen.run.error is not None:
            continue
        if world.placements or world.policies or stack.state.resources:
            before, after = stack.state.resources, seen.run.state().resources
            differing = {
                urn for urn in after if urn not in before or before[urn].inputs != after[urn].inputs
            }
            differing |= before.keys() - after.keys()
            changes = any("pulumi:providers:" not in urn for urn in differing)
            assert stack.directory(documents, (), lost).changes == changes
        stack.carry_out(seen.run)
