"""Transforms, the way to what no argument covers, are seen in a plan; tests/engine holds them against the engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.runtime import register_invoke_transform, register_resource_transform

from fleet_components.azure import AzureFleet, AzureFleetArgs
from fleet_components.plan.state import is_marked_secret
from fleet_components.testing import run_program
from tests.azure.transformed import CLUSTER, GROUP, MEMBER, TAGS, declare
from tests.cli.fleets import plan, run, write

PROGRAM = """\
from tests.azure.transformed import declare

declare(lambda line: None)
"""
FAILING = """\
import pulumi
from pulumi_azure_native import resources


def tagged(args):
    raise ValueError("no tags today")


resources.ResourceGroup("rg", opts=pulumi.ResourceOptions(transforms=[tagged]))
"""


def project(folder: Path, program: str) -> Path:
    files = {
        "Pulumi.yaml": "name: shop\nruntime: python\n",
        "Pulumi.dev.yaml": "config: {}\n",
        "__main__.py": program,
    }
    return write(folder / "project", files)


def resource(document: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = (item for item in document["resources"] if item["name"] == name)
    return found


def test_a_plan_shows_what_they_do(tmp_path: Path) -> None:
    document = plan(project(tmp_path, PROGRAM))
    assert resource(document, "weu-1-cluster")["inputs"]["tags"] == TAGS
    assert resource(document, "weu-1-apps")["options"] == {"retainOnDelete": True}


def test_their_order_and_the_forms_of_what_they_see() -> None:
    """As on the engine: the resource's own, its parents', the stack's; secrets and what is known later as outputs."""
    told: list[str] = []
    done = run_program(lambda: declare(told.append), preview=False)
    assert done.error is None, done.error
    assert [line for line in told if line.startswith("cluster")] == [
        "cluster fleet",
        "cluster above",
        "cluster stack",
    ]
    seen = {line for line in told if line.startswith("see-")}
    assert {"see-own location output", "see-own managedBy output", "see-own tags plain"} <= seen
    # Only a resource's own transforms see what depends on others as outputs.
    assert {"see-inherited location output", "see-inherited managedBy plain"} <= seen
    assert "call azure-native:containerservice:listManagedClusterUserCredentials" in told, (
        "known in an update only"
    )
    # What they have only looked at is as it was.
    first = done.named("first")
    for name in ("see-own", "see-inherited"):
        inputs = dict(done.inputs(name))
        assert inputs.pop("managedBy").endswith("/first")
        assert inputs == {
            "resourceGroupName": name,
            "location": "westeurope",
            "tags": {"plain": "yes"},
        }
        assert is_marked_secret(done.named(name).inputs["location"])
        assert first.urn in done.named(name).dependencies


def test_one_that_fails_is_an_error_that_names_the_resource(tmp_path: Path) -> None:
    result = run("plan", project(tmp_path, FAILING), width=80)
    assert result.exit_code == 1
    assert result.stderr.startswith(f'error: a transform of {GROUP} "rg" failed: no tags today:')
    assert "__main__.py" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("register", "subject"),
    [
        (register_resource_transform, f'{CLUSTER} "weu-1-cluster"'),
        (register_invoke_transform, "call of pulumi:pulumi:readStackResourceOutputs"),
    ],
)
def test_those_of_the_stack_may_fail_as_well(register: Callable[[Any], None], subject: str) -> None:
    def failing(args: Any) -> None:
        if getattr(args, "type_", CLUSTER) == CLUSTER:
            raise ValueError("not today")

    def program() -> None:
        register(failing)
        AzureFleet("shop", AzureFleetArgs(members=(MEMBER,)))

    error = run_program(program, preview=False).error
    assert isinstance(error, pulumi.RunError)
    assert str(error).startswith(f"a transform of {subject} failed: not today")
