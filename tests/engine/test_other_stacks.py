"""What the engine exports of one stack is what a plan of another needs; both read it alike."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pulumi_azure_native")

from fleet_components.cli.options import state_of
from fleet_components.review.planning.other_stacks import OtherStack
from fleet_components.review.planning.preview import preview
from fleet_components.review.planning.project import read_project
from fleet_components.review.planning.survey import CommandLine
from fleet_components.testing import redact
from tests.engine.driver import engine_or_skip
from tests.engine.test_azure import EUS, WEU, WORKLOADS, AzureStack

pytestmark = pytest.mark.engine
STACK = "organization/shop/dev"
REFERRING = """
shop = pulumi.StackReference("organization/shop/dev")


async def details(name):
    found = await shop.get_output_details(name)
    return {"value": found.value, "secret": found.secret_value is not None}


pulumi.export("required", shop.require_output("members"))
pulumi.export("missing", shop.get_output("nothing"))
pulumi.export("details", [pulumi.Output.from_input(details(name)) for name in ("members", "kubeconfigs", "nothing")])
"""


def test_a_plan_reads_of_another_stack_what_the_engine_reads(tmp_path: Path) -> None:
    engine_or_skip()
    first = AzureStack(tmp_path)
    first.declare(WEU, EUS)
    second = AzureStack(tmp_path, "workloads", WORKLOADS + REFERRING)
    new = outputs(second.project, OtherStack(STACK, folder=first.project))
    assert new["weu-1"]["labels"]["tier"] == "gold"
    done = first.up()
    assert done.ok, done.text
    done = second.up()
    assert done.ok, done.text
    theirs = {
        key: "[secret]" if output.secret else output.value
        for key, output in second.stack.outputs().items()
    }
    for words in ([], ["--show-secrets"]):
        file = tmp_path / f"state{len(words)}.json"
        command = ["pulumi", "stack", "export", "--stack", "dev", "--file", str(file), *words]
        subprocess.run(
            command,
            cwd=first.project,
            env={**os.environ, **first.stack.workspace.env_vars},
            check=True,
        )
        assert outputs(second.project, OtherStack(STACK, state_of(file))) == theirs
    assert {key: new[key] for key in ("weu-1", "eus-1")} == {
        key: theirs[key] for key in ("weu-1", "eus-1")
    }


def outputs(folder: Path, other: OtherStack) -> dict[str, Any]:
    """The outputs that a plan of the second project has, with secrets hidden."""
    command = CommandLine(stack="dev", project=True, others=(other,))
    found: dict[str, Any] = json.loads(
        json.dumps(redact(preview(read_project(folder), command).exports))
    )
    return found
