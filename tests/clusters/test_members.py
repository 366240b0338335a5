"""The manifests of every example, before and after the change of its README, are taken by the members' API servers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from fleet_components.cli.command import fleet
from fleet_components.testing import kubeconfig
from tests.clusters.documents import Judge, documents, judging, namespaces_of
from tests.control_planes import Planes
from tests.examples.readme import passes
from tests.examples.test_examples import DIRECTORIES, EXAMPLES, FOLDERS

pytestmark = pytest.mark.clusters
REPOSITORY = EXAMPLES.parent
STACKS = REPOSITORY / "stacks"
NEXT_WEEK = [
    STACKS / "fleet" / name for name in ("monitoring.yaml", "placements.yaml", "reports.yaml")
]
NOTHING_YET = {"report-diff", "staged-initialize", "staged-missing-index", "staged-sorting"}
"""Examples in which nothing is written to a member before the change of the README."""
SOURCES = {
    "stacks/fleet": [STACKS / "fleet"],
    "stacks/fleet-next": [*NEXT_WEEK, STACKS / "fleet-next"],
    "stacks/azure": [STACKS / "azure"],
    "stacks/azure-next": [STACKS / "azure-next"],
    "stacks/clusters": [STACKS / "clusters"],
    "taking-over": [EXAMPLES / "taking-over" / "fleet"],
    "made-in-a-program": [EXAMPLES / "made-in-a-program", "--project"],
    **{folder.name: [folder] for folder in DIRECTORIES if folder.name not in NOTHING_YET},
}


@pytest.fixture(scope="module")
def judges(api_servers: Planes) -> Iterator[list[Judge]]:
    """One for each member."""
    with ExitStack() as stack:
        yield [stack.enter_context(judging(api_servers[name])) for name in "abc"]


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_what_is_rendered(source: list[Path | str], judges: list[Judge], tmp_path: Path) -> None:
    judge(source, judges, tmp_path)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_after_the_change_of_the_readme(folder: Path, judges: list[Judge], tmp_path: Path) -> None:
    second = shutil.copytree(folder, tmp_path / folder.name)
    for name, text in passes(folder)[0].items():
        (second / name).write_text(text)
    judge([second], judges, tmp_path)


def test_the_program_that_is_tested(judges: list[Judge], tmp_path: Path) -> None:
    """It has no stack of its own, because it asks for kubeconfigs."""
    folder = shutil.copytree(EXAMPLES / "testing", tmp_path / "testing")
    kubeconfigs = {
        "shop:kubeconfigs": {name: kubeconfig(name) for name in ("eu-west", "eu-north", "us-east")}
    }
    (folder / "Pulumi.dev.yaml").write_text(yaml.safe_dump({"config": kubeconfigs}))
    judge([folder, "--project"], judges, tmp_path)


def test_nothing_is_left_out() -> None:
    folders = {path.name for path in EXAMPLES.glob("[a-z]*/")} | {
        f"stacks/{path.name}" for path in STACKS.glob("[a-z]*/")
    }
    assert folders == {*SOURCES, *NOTHING_YET, "testing"}


def test_what_an_api_server_refuses_is_seen(judges: list[Judge], tmp_path: Path) -> None:
    folder = shutil.copytree(REPOSITORY / "stacks" / "fleet", tmp_path / "fleet")
    file = folder / "shop.yaml"
    assert "containerPort: 80" in file.read_text()
    file.write_text(
        file.read_text().replace("containerPort: 80", "containerPort: 80, name: NOT_A_NAME")
    )
    with pytest.raises(
        AssertionError, match=r"containers\[0\]\.ports\[0\]\.name: Invalid value: \"NOT_A_NAME\""
    ):
        judge([folder], judges, tmp_path)


def judge(source: list[Path | str], judges: list[Judge], scratch: Path) -> None:
    """Render a fleet, and have each member's manifests judged by one of the API servers in turn."""
    command = ["render", *map(str, source), "--out", str(scratch / "out"), "--show-secrets"]
    rendered = CliRunner().invoke(fleet, command)
    assert rendered.exit_code == 0, rendered.output
    members = sorted(path for path in (scratch / "out").glob("*/*") if path.is_dir())
    assert members, rendered.output
    written = [
        document for part in source if isinstance(part, Path) for document in documents(part)
    ]
    needed = [item for item in written if item["kind"] == "CustomResourceDefinition"]
    for number, member in enumerate(members):
        manifests = documents(member)
        judge = judges[number % len(judges)]
        judge.make([*needed, *namespaces_of(manifests)])
        assert judge.refused(manifests) == [], member.name
