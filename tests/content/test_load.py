"""Manifests are read as kubectl would, and every field knows its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings

from fleet_components.content.load import load, load_text
from fleet_components.model.problem import FieldPath
from tests.content.build import names, objects

WEB = """\
# a comment
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web,
    tier: front}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: web

        image: nginx
      -
        name: side
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 3),
        (("kind",), 4),
        (("metadata", "name"), 6),
        (("metadata", "labels"), 7),
        (("metadata", "labels", "tier"), 8),
        (("spec", "template", "spec", "containers", 0), 14),
        (("spec", "template", "spec", "containers", 0, "image"), 16),
        (("spec", "template", "spec", "containers", 1, "name"), 18),
        (("spec", "template", "spec", "nodeName"), 12),
        (("spec", "template", "spec", "containers", 7, "image"), 13),
        (("spec", "replicas", "nothing", 3), 10),
    ],
)
def test_a_field_knows_its_line(path: FieldPath, line: int) -> None:
    (web,) = load_text(WEB, "web.yaml")
    assert web.origin
    assert (web.origin.file, web.origin.line, web.origin.locate(path)) == ("web.yaml", 3, line)


def test_lines_count_from_the_start_of_the_file_in_every_document_and_list() -> None:
    text = f"{WEB}---\n{WEB}---\napiVersion: v1\nkind: List\nitems:\n" + "".join(
        f"- apiVersion: v1\n  kind: ConfigMap # é 😀\n  metadata:\n    name: c{i}\n"
        for i in range(3)
    )
    for manifest in load_text(text):
        assert manifest.origin
        number = manifest.origin.locate(("metadata", "name"))
        assert number
        line = text.splitlines()[number - 1]
        assert line.strip() == f"name: {manifest.name}"


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + WEB.replace("\n", "\r\n").encode())
    (web,) = load(file)
    assert web.origin
    assert web.origin.locate(("spec", "replicas")) == 10


def test_lists_stand_for_their_items() -> None:
    text = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: a}}
- apiVersion: v1
  kind: ConfigMapList
  metadata: {resourceVersion: "1"}
  items:
  - {kind: Secret, metadata: {name: b}}
  - metadata:
      name: c
---
{apiVersion: apps/v1, kind: DeploymentList, items: [{metadata: {name: d}}]}
---
{apiVersion: v1, kind: List, items: null}
"""
    found = load_text(text)
    assert names(found) == ["Secret a", "Secret b", "ConfigMap c", "Deployment d"]
    assert [manifest.api_version for manifest in found] == ["v1", "v1", "v1", "apps/v1"]
    assert [
        manifest.origin and manifest.origin.locate(("metadata", "name")) for manifest in found
    ] == [5, 10, 12, 14]


def test_json_with_tabs_and_escaped_pairs() -> None:
    wanted: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c"},
        "data": {"smile": "😀", "path": "\\ud83d\\ude00", "tab": "a\tb/", "big": 2**53 + 1},
    }
    (found,) = load_text(json.dumps(wanted, indent="\t"))
    assert found.data == wanted
    assert found.origin
    assert found.origin.locate(("data", "tab")) == 10


LISTED = """\
apiVersion: v1
kind: List
items:
- &first
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: a, labels: &labels {app: web}}
  data: {one: "1"}
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: b
    labels: *labels
    annotations: &labels
      again: "defined"
  data:
    yes: "a key that is a boolean"
    other: *labels
- *first
"""


@pytest.mark.parametrize(
    ("number", "path", "line"),
    [
        (0, ("data", "one"), 8),
        (1, ("metadata", "labels"), 13),
        (1, ("metadata", "labels", "app"), 13),
        (1, ("metadata", "annotations", "again"), 15),
        (1, ("data", "true"), 17),
        (1, ("data", "other", "again"), 18),
        (1, ("data", "missing"), 16),
    ],
)
def test_lines_of_fields_beside_anchors_of_other_objects(
    number: int, path: FieldPath, line: int
) -> None:
    origin = load_text(LISTED)[number].origin
    assert origin
    assert origin.locate(path) == line


def test_anchors_aliases_and_merge_keys() -> None:
    text = """
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
base: &base {x: 1, z: 2}
other: &other {x: 3, w: 4}
alias: *base
over: {<<: *base, x: 5}
under: {x: 5, <<: *base}
both: {<<: [*base, *other]}
quoted: {"<<": *base}
"""
    (found,) = load_text(text)
    assert found.data["alias"] == {"x": 1, "z": 2}
    assert found.data["over"] == {"x": 5, "z": 2}
    assert found.data["under"] == {"x": 1, "z": 2}, "kubectl lets a later merge key win"
    assert found.data["both"] == {"x": 1, "z": 2, "w": 4}
    assert found.data["quoted"] == {"<<": {"x": 1, "z": 2}}
    assert found.origin
    assert found.origin.locate(("alias", "z")) == 7, "the place of use"


def test_many_small_things_are_not_deep() -> None:
    (found,) = load_text(
        f"{{apiVersion: v1, kind: X, metadata: {{name: x}}, data: [{'{a: []}, ' * 300}]}}"
    )
    assert found.data["data"] == [{"a": []}] * 300


def test_labels_without_a_value_are_empty_text() -> None:
    (found,) = load_text(
        "{apiVersion: v1, kind: Node, metadata: {name: node, labels: {worker: , a: b}}}"
    )
    assert found.labels == {"worker": "", "a": "b"}


def test_directories_are_read_whole_and_in_order(tmp_path: Path) -> None:
    for path in (
        "b.yaml",
        "a/z.yml",
        "a/b.json",
        ".hidden.yaml",
        ".git/x.yaml",
        "note.txt",
        "a.yaml",
    ):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        name = path.replace("/", "-").strip(".")
        (tmp_path / path).write_text(
            f'{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": "{name}"}}}}'
        )
    (tmp_path / "empty.yaml").write_text("# nothing\n---\n")
    wanted = ["ConfigMap a-b.json", "ConfigMap a-z.yml", "ConfigMap a.yaml", "ConfigMap b.yaml"]
    assert names(load(tmp_path)) == wanted
    assert names(load(tmp_path / "b.yaml", tmp_path, tmp_path / "b.yaml")) == [
        wanted[-1],
        *wanted[:-1],
    ]


@settings(max_examples=50)
@given(objects())
def test_what_is_written_is_read(data: dict[str, Any]) -> None:
    for text in (
        json.dumps(data),
        json.dumps(data, indent=1, ensure_ascii=False),
        yaml.safe_dump(data, default_style='"', allow_unicode=True),
    ):
        (found,) = load_text(text)
        assert found.data == data


@settings(max_examples=50)
@given(objects())
def test_every_written_key_is_found_on_its_line(data: dict[str, Any]) -> None:
    """JSON with one key or item a line: the n-th of them all is on the line that says so."""
    lines = json.dumps(data, indent=1).split("\n")
    (found,) = load_text("\n".join(lines))
    assert found.origin
    seen = [found.origin.locate(path) for path in _paths(data)]
    wanted = [number for number, line in enumerate(lines, 1) if line.strip(" ,") not in ("}", "]")]
    assert seen == wanted


def _paths(data: Any, path: FieldPath = ()) -> list[FieldPath]:
    fields = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    return [path, *(inner for step, value in fields for inner in _paths(value, (*path, step)))]
