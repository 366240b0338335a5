"""Transforms of every place do in a plan what they do on the engine."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("pulumi_azure_native")

from fleet_components.review.planning.preview import PlanMocks
from fleet_components.testing import FleetMocks, reveal, run_program
from tests.azure.transformed import CLUSTER, POOL, TAGS, declare
from tests.engine.driver import engine_or_skip
from tests.engine.test_azure import AzureStack

pytestmark = pytest.mark.engine

PROGRAM = """\
from pathlib import Path

from tests.azure.transformed import declare


def tell(line):
    with Path("told.txt").open("a") as file:
        file.write(f"{line}\\n")


declare(tell)
"""


def test_a_plan_shows_what_they_do(tmp_path: Path) -> None:
    engine_or_skip()
    stack = AzureStack(tmp_path, program=PROGRAM)
    told, ours = stack.project / "told.txt", list[str]()
    for operation in (stack.preview, stack.up):
        told.unlink(missing_ok=True)
        ours.clear()
        done = operation()
        assert done.ok, done.text
        preview = operation == stack.preview
        # As in a plan, where nobody knows the ID of what is new.
        mocks = partial(PlanMocks, stored={}) if preview else FleetMocks
        run = run_program(
            lambda: declare(ours.append), project="shop", stack="dev", preview=preview, mocks=mocks
        )
        assert run.error is None, run.error
        theirs = told.read_text().splitlines()
        assert sorted(ours) == sorted(theirs)
        assert of_the_cluster(ours) == of_the_cluster(theirs)
    stored = {
        item["urn"]: item for item in (stack.stack.export_stack().deployment or {})["resources"]
    }
    cluster, pool = run.named("weu-1-cluster"), run.named("weu-1-apps")
    assert cluster.inputs["tags"] == stored[cluster.urn]["inputs"]["tags"] == TAGS
    assert reveal(stored[cluster.urn]["inputs"]) == reveal(json.loads(json.dumps(cluster.inputs)))
    assert (
        pool.options
        == {"retainOnDelete": stored[pool.urn]["retainOnDelete"]}
        == {"retainOnDelete": True}
    )
    for registration in run.registrations:
        if registration.type in (CLUSTER, POOL) or registration.name.startswith("see-"):
            assert sorted(stored[registration.urn].get("dependencies") or []) == sorted(
                registration.dependencies
            ), registration.name


def of_the_cluster(lines: list[str]) -> list[str]:
    """Of one resource, the order counts."""
    return [line for line in lines if line.startswith("cluster ")]
