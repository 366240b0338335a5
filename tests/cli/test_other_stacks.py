"""Two stacks: the first has the members and exports them, the second places on them and is planned with these exports."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fleet_components.testing import run_program
from tests.cli.fleets import PLACEMENT, SHOP, clusters, edit, export, plan, run, write

STACK = "organization/shop/prod"
EXPORTING = """\
import pulumi

import labels  # a module of its own, whose name the other program uses too
from fleet_components import Cluster, Member, member_exports
from fleet_components.testing import kubeconfig

members = [Member(Cluster(name, labels=labels.ALL), pulumi.Output.secret(kubeconfig(name))) for name in ("eu", "us")]
for name, value in member_exports(members).items():
    pulumi.export(name, value)
pulumi.ComponentResource("my:index:Clusters", "clusters")
pulumi.export("domain", "shop.example")
pulumi.export("token", pulumi.Output.secret("hunter2-planted"))
"""
PLACING = """\
import labels
import pulumi
from fleet_components import Fleet, FleetArgs, members_of_stack, read_source

assert labels.OF == "placing"
Fleet("shop", FleetArgs(source=read_source("workloads"), members=members_of_stack("organization/shop/prod")))
"""
REFERRING = """\
import asyncio

import pulumi


class Thing(pulumi.CustomResource):
    def __init__(self, name, **inputs):
        super().__init__("test:index:Thing", name, inputs)


other = pulumi.StackReference("organization/shop/prod")


async def details(name):
    found = await other.get_output_details(name)
    return [found.value, found.secret_value]


Thing(
    "seen",
    got=other.get_output("domain"),
    required=other.require_output("domain"),
    missing=other.get_output("nothing"),
    token=other.get_output("token"),
    plain=pulumi.Output.from_input(details("domain")),
    hidden=pulumi.Output.secret(details("token")),
)
"""


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """The project that has the members."""
    return project(tmp_path / "fleet", "shop", EXPORTING, "exporting")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The project that places on them."""
    return project(tmp_path / "web", "web", PLACING, "placing")


@pytest.fixture
def state(fleet: Path, tmp_path: Path) -> Callable[..., Path]:
    """Update the first stack, in process, and export its state."""

    def saved(*, encrypted: bool = True, stack: str = "prod") -> Path:
        done = ran(fleet, stack=stack, preview=False)
        file = tmp_path / f"{stack}.json"
        file.write_text(json.dumps(export(done, encrypted=encrypted)))
        return file

    return saved


def project(folder: Path, name: str, program: str, of: str) -> Path:
    files = {
        "Pulumi.yaml": f"name: {name}\nruntime: python\n",
        "Pulumi.prod.yaml": "config: {}\n",
        "__main__.py": program,
        "labels.py": f'OF = "{of}"\nALL = {{"environment": "production"}}\n',
        "workloads/shop.yaml": SHOP,
        "workloads/placement.yaml": PLACEMENT,
    }
    return write(folder, files)


def ran(folder: Path, **how: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        done = run_program(lambda: runpy.run_path("__main__.py"), project="shop", **how)
    del sys.modules["labels"]
    assert done.error is None, done.error
    return done


@pytest.mark.parametrize("encrypted", [True, False])
def test_the_outputs_of_an_export(shop: Path, state: Callable[..., Path], encrypted: bool) -> None:
    """Also without --show-secrets, since a plan reaches no cluster."""
    document = plan(shop, "--state-of", f"{STACK}={state(encrypted=encrypted)}")
    assert clusters(document) == {"eu": "joins", "us": "joins"}
    assert "hunter2-planted" not in json.dumps(document).replace("payment", "")
    assert document["messages"] == []


def test_both_projects_from_nothing(shop: Path, fleet: Path) -> None:
    """Each program has modules of its own, of whatever name."""
    document = plan(shop, "--project-of", f"{STACK}={fleet}")
    assert clusters(document) == {"eu": "joins", "us": "joins"}
    assert document["messages"] == []


def test_what_changes_in_the_first_is_seen_in_the_second(
    shop: Path, fleet: Path, state: Callable[..., Path]
) -> None:
    """A pull request that touches both is planned from what stands."""
    stands = state()
    edit(fleet / "__main__.py", '("eu", "us")', '("eu", "us", "uk")')
    document = plan(shop, "--state-of", f"{STACK}={stands}", "--project-of", f"{STACK}={fleet}")
    assert document["members"] == 3
    assert plan(shop, "--state-of", f"{STACK}={stands}")["members"] == 2


def test_a_run_takes_the_exports_of_another(
    shop: Path, fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ran(fleet)
    assert first.outputs["token"] == "hunter2-planted"
    edit(shop / "__main__.py", "import labels\n", "")
    edit(shop / "__main__.py", 'assert labels.OF == "placing"\n', "")
    monkeypatch.chdir(shop)
    program = lambda: runpy.run_path("__main__.py")  # noqa: E731
    done = run_program(program, project="web", stacks={"shop/prod": first.exports})
    assert done.error is None, done.error
    assert done.named("shop/eu", "fleet:Member")
    assert 'run_program(..., stacks={"organization/shop/prod": run.exports})' in str(
        run_program(program).error
    )


@pytest.mark.parametrize("door", ["--state-of", "--project-of"])
def test_a_stack_reference(shop: Path, fleet: Path, state: Callable[..., Path], door: str) -> None:
    (shop / "__main__.py").write_text(REFERRING)
    document = plan(shop, door, f"{STACK}={state() if door == '--state-of' else fleet}")
    (seen,) = (item for item in document["resources"] if item["name"] == "seen")
    inputs = seen["inputs"]
    assert inputs.pop("missing", None) is None
    assert inputs == {
        "got": "shop.example",
        "required": "shop.example",
        "plain": ["shop.example", None],
        "token": "[secret]",
        "hidden": "[secret]",
    }


def test_a_stack_reference_to_nothing_is_unknown_and_said(shop: Path) -> None:
    (shop / "__main__.py").write_text(
        REFERRING.partition("async def")[0] + 'Thing("seen", got=other.get_output("domain"))\n'
    )
    document = plan(shop)
    (seen,) = (item for item in document["resources"] if item["name"] == "seen")
    assert seen["inputs"] == {"got": "[unknown]"}
    (message,) = document["messages"]
    assert message["level"] == "warning"
    assert f'the outputs of the stack "{STACK}" are not known to a plan' in message["text"]


def test_a_stack_that_is_not_read_is_said(
    shop: Path, fleet: Path, state: Callable[..., Path]
) -> None:
    document = plan(
        shop,
        "--state-of",
        f"organization/shop/dev={state(stack='dev')}",
        "--project-of",
        f"{STACK}={fleet}",
    )
    (message,) = document["messages"]
    assert message["text"].startswith("--state-of organization/shop/dev=")
    assert message["text"].endswith(f"changes nothing (the program reads outputs of {STACK})")


def refused(*words: object, status: int = 1) -> str:
    result = run("plan", *words, width=80)
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return result.stderr


def test_without_either_the_error_names_both_ways(shop: Path) -> None:
    said = refused(shop)
    assert f'error: the outputs of the stack "{STACK}" are not known to a plan' in said
    assert f"--state-of {STACK}=FILE" in said
    assert f"pulumi stack export --stack {STACK} --file FILE" in said
    assert f"--project-of {STACK}=DIR" in said


def test_a_stack_that_exports_no_members_is_named_with_the_output(shop: Path, fleet: Path) -> None:
    (fleet / "__main__.py").write_text("import pulumi\npulumi.export('domain', 'shop.example')\n")
    said = refused(shop, "--project-of", f"{STACK}={fleet}")
    assert (
        f'__main__.py:6: the stack "{STACK}" exports no members: it has no output members' in said
    )
    assert "member_exports(...)" in said
    assert f"--project-of {STACK}=DIR" in said


def test_the_other_project_that_fails_is_named(shop: Path, fleet: Path) -> None:
    edit(
        fleet / "__main__.py", "pulumi.export(name, value)", "raise ValueError('no exports today')"
    )
    said = refused(shop, "--project-of", f"{STACK}={fleet}")
    assert f"{fleet}: {STACK}: cannot be planned, and its outputs are needed" in said
    assert "no exports today" in said


FILES: dict[str, tuple[str, str]] = {
    "output.json": (json.dumps({"members": {}}), "does not say what is secret"),
    "render.json": (
        json.dumps({"format": "fleet-components/render", "version": 2, "resources": {}}),
        "render",
    ),
    "text.json": ("no JSON", "pulumi stack export --stack"),
}


@pytest.mark.parametrize("name", FILES)
def test_another_file_is_refused_with_what_would_do(shop: Path, name: str) -> None:
    text, expected = FILES[name]
    (shop / name).write_text(text)
    said = refused(shop, "--state-of", f"{STACK}={shop / name}")
    assert name in said
    assert expected in said
    assert f"pulumi stack export --stack {STACK} --file FILE" in said


def test_the_state_of_another_stack_is_refused(shop: Path, state: Callable[..., Path]) -> None:
    file = state(stack="dev")
    assert f"is the state of shop/dev, not of {STACK}" in refused(
        shop, "--state-of", f"{STACK}={file}"
    )
    assert plan(shop, "--state-of", f"{STACK}={file}", "--any-state")["members"] == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--state-of", STACK), "--state-of is given as STACK=FILE"),
        (("--project-of", "a b=x"), "--project-of is given as STACK=DIR"),
        (("--state-of", "a=b", "--state-of", "a=c"), "--state-of a is given twice"),
        (("--state-of", "a=-"), "takes no standard input"),
        (
            ("--project-of", "a=b", "--no-program"),
            "--no-program and --project-of exclude each other",
        ),
        (("--project-of", f"{STACK}=nowhere"), "nowhere: is no Pulumi project"),
        (
            ("--project-of", "organization/other/prod={fleet}"),
            "name: is the project shop, not other",
        ),
    ],
)
def test_wrong_options(shop: Path, fleet: Path, words: tuple[str, ...], said: str) -> None:
    assert said in refused(shop, *(word.replace("{fleet}", str(fleet)) for word in words))


def test_yaml_reads_no_other_stack(shop: Path, fleet: Path) -> None:
    said = refused(shop / "workloads", "--project-of", f"{STACK}={fleet}")
    assert "is no Pulumi project, and reads no outputs of other stacks" in said


def test_a_stack_may_be_read_in_both_ways_and_referred_to_once(shop: Path, fleet: Path) -> None:
    """As on the engine, where two references of one name are refused."""
    given = ("--project-of", f"{STACK}={fleet}")
    again = f'\nimport pulumi\npulumi.StackReference("{STACK}")\n'
    (shop / "__main__.py").write_text(PLACING + again)
    assert plan(shop, *given)["members"] == 2
    (shop / "__main__.py").write_text(again + again)
    assert "Duplicate resource URN" in refused(shop, *given)
