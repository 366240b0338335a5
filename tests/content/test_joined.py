"""What an observation keeps in files of its own is read with what people write, and gives way to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fleet_components import FleetError, load
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem
from fleet_components.plan.source import gather

HUB = "apiVersion: fleet-components/v1\nkind: Observation\nspec: {format: 1}\n"
EAST = """\
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata:
  name: east
  labels: {region: europe}
spec:
  identity: {kind: User, name: east, apiGroup: rbac.authorization.k8s.io}
"""
USED = """\
# as observed
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata:
  name: east
status:
  properties:
    kubernetes.azure.com/per-cpu-core-cost: {value: "0.1"}
  resourceUsage:
    capacity: {cpu: "4"}
    allocatable: {cpu: "4"}
    available: {cpu: "3"}
"""
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\ndata: {password: '[secret]'}\n"
FILES = {
    "observed/hub.yaml": HUB,
    "observed/fleet.json": "{}",
    "members/east.yaml": EAST,
    "observed/members/east.yaml": USED,
    "observed/objects/shop/Secret.db.yaml": SECRET,
}
Write = Callable[[Mapping[str, str]], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)

    def written(files: Mapping[str, str]) -> Path:
        for path, text in files.items():
            (tmp_path / "hub" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "hub" / path).write_text(text)
        return Path("hub")

    return written


def found(folder: Path) -> dict[str, Manifest]:
    return {str(item.key): item for item in load(folder)}


def problems(*paths: Path) -> list[Problem]:
    return list(gather(*paths).problems)


def test_a_member_is_joined_with_what_was_observed_of_it(write: Write) -> None:
    east = found(write(FILES))["MemberCluster east"].data
    assert east["metadata"]["labels"] == {"region": "europe"}
    assert east["spec"]["identity"]["name"] == "east"
    assert east["status"]["resourceUsage"]["available"] == {"cpu": "3"}


def test_it_is_joined_wherever_people_keep_the_member(write: Write) -> None:
    files = {
        "all.yaml": EAST,
        **{path: text for path, text in FILES.items() if path != "members/east.yaml"},
    }
    assert "status" in found(write(files))["MemberCluster east"].data


def test_a_status_that_people_write_counts_where_it_is_given(write: Write) -> None:
    own = EAST + 'status: {resourceUsage: {available: {cpu: "1"}}}\n'
    status: Any = found(write({**FILES, "members/east.yaml": own}))["MemberCluster east"].data[
        "status"
    ]
    assert status["resourceUsage"] == {
        "capacity": {"cpu": "4"},
        "allocatable": {"cpu": "4"},
        "available": {"cpu": "1"},
    }
    assert list(status["properties"]) == ["kubernetes.azure.com/per-cpu-core-cost"]


def test_a_member_that_was_removed_does_not_come_back_by_what_was_observed_of_it(
    write: Write,
) -> None:
    folder = write(FILES)
    (folder / "members/east.yaml").unlink()
    assert list(found(folder)) == ["Secret shop/db"]


@pytest.mark.parametrize(
    "part", ["observed/objects/shop/Secret.db.yaml", "observed/policies/any/name.yaml"]
)
def test_an_object_of_people_counts_and_is_not_declared_twice(part: str, write: Write) -> None:
    files = {**FILES, part: SECRET, "objects/mine.yaml": SECRET.replace("[secret]", "bXk=")}
    folder = write(files)
    assert found(folder)["Secret shop/db"].data["data"] == {"password": "bXk="}
    assert problems(folder) == []


def test_the_same_of_a_file_that_is_given_beside_the_directory(
    write: Write, tmp_path: Path
) -> None:
    (tmp_path / "secrets.yaml").write_text(SECRET.replace("[secret]", "bXk="))
    assert problems(write(FILES), Path("secrets.yaml")) == []


def test_people_may_leave_out_the_namespace_that_is_the_default(write: Write) -> None:
    hidden = SECRET.replace(", namespace: shop", ", namespace: default")
    own = SECRET.replace(", namespace: shop", "").replace("[secret]", "bXk=")
    folder = write({**FILES, "observed/objects/default/Secret.db.yaml": hidden, "mine.yaml": own})
    assert problems(folder) == []


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('available: {cpu: "3"}', "available: [3]", ("hub/observed/members/east.yaml", 12)),
        ("identity: {", "heartbeatPeriodSeconds: {", ("hub/members/east.yaml", 7)),
        ("  identity: {", "  identity: {name: east, name: ", ("hub/members/east.yaml", 7)),
        ("  resourceUsage:\n", "  resourceUsage: [\n", ("hub/observed/members/east.yaml", 11)),
    ],
)
def test_what_is_wrong_is_told_where_it_is_written(
    old: str, new: str, place: tuple[str, int], write: Write
) -> None:
    files = {path: text.replace(old, new) for path, text in FILES.items()}
    assert files != FILES
    assert place in {(problem.file, problem.line) for problem in problems(write(files))}


def test_a_status_of_people_is_told_at_its_own_place(write: Write) -> None:
    folder = write(
        {**FILES, "members/east.yaml": EAST + "status:\n  resourceUsage: {available: [1]}\n"}
    )
    assert ("hub/members/east.yaml", 9) in {
        (problem.file, problem.line) for problem in problems(folder)
    }


@pytest.mark.skipif(os.name == "nt", reason="links ask for a privilege")
@pytest.mark.parametrize("place", ["observed", "observed/objects"])
def test_no_link_is_followed(place: str, write: Write, tmp_path: Path) -> None:
    folder = write(FILES)
    (folder / place).rename(tmp_path / "elsewhere")
    (folder / place).symlink_to(tmp_path / "elsewhere")
    assert "Secret shop/db" not in found(folder)


def test_without_a_header_it_is_a_directory_like_any_other(write: Write) -> None:
    with pytest.raises(FleetError):
        load(write({path: text for path, text in FILES.items() if path != "observed/hub.yaml"}))


@pytest.mark.parametrize("place", ["", "objects/", "policies/ClusterResourcePlacement/"])
@pytest.mark.parametrize("name", ["kustomization.yaml", "Chart.yaml"])
def test_a_kustomization_among_its_files_is_refused_and_told_how(
    place: str, name: str, write: Write
) -> None:
    folder = write({**FILES, f"{place}{name}": "resources: [a.yaml]\n", "objects/a.yaml": SECRET})
    (problem,) = problems(folder)
    assert (problem.file, problem.hint[:11]) == (f"hub/{place}{name}", "move it out")
    assert "in an observed directory" in problem.what


def test_a_chart_in_a_folder_of_peoples_own_is_told_how_to_declare(write: Write) -> None:
    (problem,) = problems(write({**FILES, "charts/shop/Chart.yaml": "name: shop\n"}))
    assert "or declare it" in problem.hint


def test_files_that_are_no_source_are_passed_over(write: Write) -> None:
    others = {
        "README.md": "# [",
        ".DS_Store": "x",
        "a.yaml~": "a: [",
        "#a.yaml#": "a: [",
        ".github/a.yaml": "a: [",
    }
    assert problems(write({**FILES, **others, "empty.yaml": ""})) == []
