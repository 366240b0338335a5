"""A memory that is damaged, changed by hand or of a later version: the file, the field, and what would do."""

from __future__ import annotations

import copy
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components import FleetError
from fleet_components.content.observed import MEND
from fleet_components.hub.folder.reading import read_observation
from fleet_components.hub.folder.writing import write_observation
from fleet_components.model.problem import Problem, show_path
from fleet_components.plan.stored import Keeper
from fleet_components.systems.registry import SYSTEMS
from tests.fuzz.mutations import at, paths
from tests.hub.folder.hubs import KARMADA, kubefleet, observed, texts
from tests.plan.test_damage import DELETED, JUNK, damaged

SHOP, WEB = (
    "observed/ClusterResourcePlacement/shop.json",
    "observed/Template/shop.Deployment.web.json",
)
FLEET, FILES, HUB = "observed/fleet.json", "observed/files.json", "observed/hub.yaml"
KEEPER = Keeper("local", "fleet")


@cache
def folder(system: str) -> Path:
    place = Path(tempfile.mkdtemp()) / system
    objects = kubefleet() if system == "kubefleet" else KARMADA
    write_observation(place, observed(objects, SYSTEMS[system]), update=False)
    return place


def read(place: Path) -> tuple[Problem, ...]:
    """The problems of a directory, each with its file and what would do."""
    try:
        read_observation(place, KEEPER)
    except FleetError as error:
        for problem in error.problems:
            assert problem.what
            assert problem.hint == MEND or "upgrade" in problem.hint, problem
            assert Path(problem.file).is_relative_to(place)
            assert not problem.subject.startswith("urn:")
        return error.problems
    return ()


def with_file(system: str, path: str, text: str | None, where: Path) -> Path:
    shutil.copytree(folder(system), where / "hub", dirs_exist_ok=True)
    if text is None:
        (where / "hub" / path).unlink()
    else:
        (where / "hub" / path).write_text(text)
    return where / "hub"


def told(problems: tuple[Problem, ...], place: Path) -> list[tuple[str, str, str]]:
    return [
        (Path(problem.file).relative_to(place).as_posix(), show_path(problem.path), problem.what)
        for problem in problems
    ]


FIELDS: list[tuple[str, tuple[Any, ...], Any, str, str]] = [
    (SHOP, ("members", "dublin", "decision", "wave"), "x", "members.dublin.decision.wave", "is text, not a whole number"),
    (SHOP, ("members", "dublin", "done", "revision"), "x", "members.dublin.done.revision", "is text, not a whole number"),
    (SHOP, ("members", "dublin", "stands", 0), "x", "members.dublin.stands[0]", "is not apiVersion|Kind|namespace|name"),
    (SHOP, ("members", "dublin", "runs"), 1, "members.dublin.runs", "is not a field of a member"),
    (SHOP, ("members",), None, "members", "is missing"),
    (SHOP, ("subject",), "shop", "subject", "names no subject"),
    (SHOP, ("memory", "bindings", "dublin", "rank"), None, "memory.bindings.dublin.rank", "is null, not a whole number"),
    (SHOP, ("contents", "0"), {}, "contents.0", "is not a list"),
    (SHOP, ("contents", "0", 2, "data"), {"a": "b"}, "contents.0", "is not what its digest was made of"),
    (SHOP, ("digests", "0"), "x", "contents.0", "is not what its digest was made of"),
    (SHOP, ("format",), 7, "", "the state is of format 7, this version reads up to 1"),
    (WEB, ("memory", "schedule", "clusters", "a"), "x", "memory.schedule.clusters.a", "is text, not a whole number"),
    (FLEET, ("members",), [], "members", "is not a map"),
    (FLEET, ("members", "dublin"), "gone", "members", "says of dublin neither member nor lost"),
    (FLEET, ("settings",), [], "settings", "is a list, not a map"),
    (FILES, ("memory",), [], "memory", "is not a map of files with their digests"),
    (FILES, ("memory",), {"../../etc/passwd": "x"}, "memory", "is not a map of files with their digests"),
    (FILES, ("objects",), {"a": 1}, "objects", "is not a map of files with their digests"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "field", "junk", "told_field", "what"), FIELDS)
def test_the_file_and_the_field_are_named(
    path: str, field: tuple[Any, ...], junk: Any, told_field: str, what: str, tmp_path: Path
) -> None:
    system = "karmada" if path == WEB else "kubefleet"
    whole = json.loads(texts(folder(system))[path])
    place = with_file(system, path, json.dumps(damaged(whole, field, junk)), tmp_path)
    found = [item for item in told(read(place), place) if what in item[2]]
    assert found, read(place)
    assert found[0][:2] == (path, told_field)


WHOLE: list[tuple[str, str | None, str]] = [
    (SHOP, None, "cannot be read: No such file or directory"),
    (SHOP, "", "is not JSON: Expecting value"),
    (SHOP, "<<<<<<< HEAD\n{}", "is not JSON"),
    (SHOP, '{"a": 1, "a": 2}', "is not JSON: has a key twice"),
    (SHOP, "[]", "is not a map"),
    (FLEET, None, "cannot be read"),
    (FILES, None, "cannot be read"),
    (FILES, "{}", "is not a map of files with their digests"),
    (HUB, "", "is not an Observation of fleet-components/v1"),
    (HUB, "apiVersion: fleet-components/v2\nkind: Observation\n", "is not an Observation of fleet-components/v1"),
    (HUB, "apiVersion: fleet-components/v1\nkind: Observation\n<<<<<<< HEAD\n", "is not valid YAML"),
    (HUB, "apiVersion: fleet-components/v1\nkind: Observation\n", "is null, not a map"),
    (HUB, "apiVersion: fleet-components/v1\nkind: Observation\nspec: {format: 1, system: helm, asOf: x}\n", "is not kubefleet or karmada"),
    (HUB, "apiVersion: fleet-components/v1\nkind: Observation\nspec: {format: 2}\n", "is of format 2, this version reads up to 1"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text", "what"), WHOLE)
def test_a_whole_file_is_damaged(path: str, text: str | None, what: str, tmp_path: Path) -> None:
    place = with_file("kubefleet", path, text, tmp_path)
    assert any(what in item[2] and item[0] == path for item in told(read(place), place)), read(
        place
    )


def test_what_was_changed_by_hand_and_fits_is_refused(tmp_path: Path) -> None:
    text = texts(folder("kubefleet"))[SHOP].replace('"rank": 1', '"rank": 2')
    place = with_file("kubefleet", SHOP, text, tmp_path)
    assert told(read(place), place) == [(SHOP, "", "is not what fleet observe has written")]


def test_a_memory_of_two_observations_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "hub"
    shutil.copytree(folder("kubefleet"), place)
    (place / "observed/ClusterResourcePlacement/other.json").write_text("{}")
    ((path, _, what),) = told(read(place), place)
    assert path == "observed/ClusterResourcePlacement/other.json"
    assert what == "is not in observed/files.json: is not what fleet observe has written"


def test_without_a_header_it_is_no_observed_directory(tmp_path: Path) -> None:
    with pytest.raises(
        FleetError, match=r"is not an observed directory: it has no observed/hub\.yaml"
    ):
        read_observation(tmp_path, KEEPER)


@pytest.mark.long
@settings(max_examples=150)
@given(st.data())
def test_any_damage_is_told(data: st.DataObject) -> None:
    system = data.draw(st.sampled_from(("kubefleet", "karmada")))
    path = data.draw(
        st.sampled_from(
            [
                path
                for path in texts(folder(system))
                if path.startswith("observed/") and path[-5:] == ".json"
            ]
        )
    )
    whole = json.loads(texts(folder(system))[path])
    field = data.draw(st.sampled_from([each for each in paths(whole) if each]))
    junk = data.draw(st.sampled_from([*JUNK, DELETED]))
    changed = damaged(copy.deepcopy(whole), field, junk)
    with tempfile.TemporaryDirectory() as where:
        place = with_file(system, path, json.dumps(changed), Path(where))
        if changed != whole and not (path == FILES and field[0] == "objects"):
            assert read(place), (path, field, at(changed, field) if junk is not DELETED else None)
        else:
            read(place)


@pytest.mark.long
@settings(max_examples=60)
@given(st.data())
def test_any_truncation_is_told(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([SHOP, FLEET, FILES, HUB]))
    text = texts(folder("kubefleet"))[path]
    cut = text[: data.draw(st.integers(0, len(text) - 2))]
    with tempfile.TemporaryDirectory() as where:
        place = with_file("kubefleet", path, cut, Path(where))
        try:
            assert read(place) or path == HUB
        except AssertionError:
            # Cut off within its first lines, a header marks no observed directory.
            assert path == HUB
            assert not cut.startswith("apiVersion: fleet-components/v1\nkind: Observation")
