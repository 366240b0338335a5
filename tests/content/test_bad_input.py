"""Every refusal names the file, the line, the field, what is wrong and what would do."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fleet_components.content.catalogue import Catalogue
from fleet_components.content.load import load, load_text
from fleet_components.model.problem import FleetError, Problem

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n"
BOMB = "a0: &a0 {x: 1}\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)


def refused(text: str) -> tuple[Problem, ...]:
    with pytest.raises(FleetError) as caught:
        load_text(text, "in.yaml")
    return caught.value.problems


LABELS = HEAD + "  labels:\n    a: b\n    gpu: yes"
HELM = "looks like a Helm template: render it first, helm template CHART > manifests.yaml"
TEXTS = [
    # name, text, what the messages must hold
    ("nothing", "", "in.yaml: no Kubernetes objects found (give files"),
    ("only comments", "# a\n---\n# b\n", "in.yaml: no Kubernetes objects found"),
    (
        "only an empty list",
        "{apiVersion: v1, kind: List, items: []}",
        "no Kubernetes objects found",
    ),
    (
        "a list without kind",
        "- a\n- b\n",
        "in.yaml:1: not a Kubernetes object (an object starts with apiVersion",
    ),
    ("a text", "---\nhello\n", "in.yaml:2: not a Kubernetes object"),
    (
        "a text in a list",
        "kind: List\nitems:\n- 5\n",
        "in.yaml:3: items[0]: not a Kubernetes object",
    ),
    ("a json array", '[{"kind": "X"}]', "in.yaml:1: not a Kubernetes object"),
    (
        "values of a chart",
        "replicas: 3\nimage: x\n",
        "in.yaml:1: not a Kubernetes object (an object starts",
    ),
    (
        "no apiVersion",
        "kind: X\nmetadata: {name: x}",
        "apiVersion is missing (for example apiVersion: apps/v1)",
    ),
    (
        "no kind",
        "apiVersion: v1\nmetadata: {name: x}",
        "kind is missing (for example kind: Deployment)",
    ),
    (
        "kind is a number",
        "apiVersion: v1\nkind: 5\nmetadata: {name: x}",
        "in.yaml:2: 5 x: kind: kind must be text, not 5",
    ),
    (
        "version is a number",
        "apiVersion: 1\nkind: X\nmetadata: {name: x}",
        'must be text, not 1 (write it in quotes: "1")',
    ),
    (
        "two slashes",
        "apiVersion: a/b/v1\nkind: X\nmetadata: {name: x}",
        '"a/b/v1" is not group/version (for example',
    ),
    (
        "no version",
        "apiVersion: apps/\nkind: X\nmetadata: {name: x}",
        '"apps/" is not group/version',
    ),
    ("no metadata", "apiVersion: v1\nkind: X\n", "metadata is missing (add metadata with a name)"),
    (
        "metadata is a list",
        "apiVersion: v1\nkind: X\nmetadata: []",
        "in.yaml:3: X: metadata: metadata must be a map",
    ),
    (
        "no name",
        "apiVersion: v1\nkind: X\nmetadata:\n  labels: {}",
        "in.yaml:3: X: metadata.name: name is missing",
    ),
    (
        "empty name",
        'apiVersion: v1\nkind: X\nmetadata:\n  name: ""',
        "in.yaml:4: X: metadata.name: name is missing",
    ),
    (
        "generated name",
        "apiVersion: v1\nkind: X\nmetadata:\n  generateName: x-",
        "only generateName are not supported",
    ),
    (
        "name is a number",
        HEAD.replace("web", "007"),
        "in.yaml:4: ConfigMap 7: metadata.name: name must be text, not 7",
    ),
    ("name is a truth", HEAD.replace("web", "on"), "name must be text, not true"),
    (
        "namespace is a number",
        HEAD + "  namespace: 5",
        "in.yaml:5: ConfigMap 5/web: metadata.namespace: namespace must",
    ),
    (
        "label is a truth",
        LABELS,
        "in.yaml:7: ConfigMap web: metadata.labels.gpu: must be text, not true",
    ),
    ("label is quoted", LABELS, '(write it in quotes: "true")'),
    (
        "label is a number",
        HEAD + "  labels: {v: 1.20}",
        'must be text, not 1.2 (write it in quotes: "1.2")',
    ),
    (
        "label is a map",
        HEAD + "  labels: {v: {}}",
        "metadata.labels.v: must be text, not a map (write text)",
    ),
    (
        "labels are a list",
        HEAD + "  labels: [a]",
        "in.yaml:5: ConfigMap web: metadata.labels: labels must be a map",
    ),
    (
        "annotation is a number",
        HEAD + "  annotations:\n    x: 5",
        "in.yaml:6: ConfigMap web: metadata.annotations.x: must",
    ),
    (
        "tab",
        "a:\n\tb: 1",
        "in.yaml:2: not YAML: a tab where YAML wants spaces (indent with spaces)",
    ),
    (
        "colon in a value",
        "a: b: c",
        "not YAML: mapping values are not allowed in this context (write a value that",
    ),
    (
        "open quote",
        'a: "x\n',
        "not YAML: while scanning a quoted scalar, found unexpected end of stream",
    ),
    (
        "reserved character",
        "a: @x",
        "found character that cannot start any token (write the value in quotes)",
    ),
    ("bad indentation", "- a\nb: c", "in.yaml:2: not YAML: while parsing a block collection"),
    (
        "field that is indented too far",
        "a: b\n  c: d",
        "in this context (indent the field as those beside it)",
    ),
    ("open bracket", "a: [1, 2\nb: 3\n", "in.yaml:2: not YAML: while parsing a flow sequence"),
    (
        "open bracket",
        "a: [1, 2\nb: 3\n",
        "(close the [ of line 1 with ], or put commas between its items)",
    ),
    ("open brace", "a:\n- {b: c, d: e\nf: g", "in.yaml:3: not YAML: while parsing a flow mapping"),
    ("open brace", "a:\n- {b: c, d: e\nf: g", "(close the { of line 2 with }, or put"),
    ("open brace at the end", "a: {b: c\n", "(close the { of line 1 with }, or put"),
    (
        "missing comma",
        "a: {b: c,\n  d: e\n  f: g}",
        "(close the { of line 1 with }, or put commas between its items)",
    ),
    ("wrong bracket", "a: [b, c}", "(close the [ of line 1 with ], or put"),
    (
        "colon in a value in braces",
        "a: {b: c,\n  d: e: f}",
        '(write a value that holds ": " in quotes)',
    ),
    (
        "control character",
        "é: 1\na: \x01",
        "in.yaml:2: not YAML: control characters are not allowed (remove",
    ),
    (
        "undefined alias",
        HEAD + "a: *x",
        "in.yaml:5: a: is an alias without an anchor (write a value that begins with * in",
    ),
    (
        "endless alias",
        HEAD + "a: &x [*x]",
        "in.yaml:5: a[0]: is an alias of an anchor that contains it",
    ),
    (
        "billion laughs in a label",
        BOMB + HEAD + "  labels: {x: *a11}",
        "document contains excessive aliasing",
    ),
    ("billion laughs", HEAD + BOMB, "in.yaml:1: document contains excessive aliasing"),
    ("endless nesting", "[" * 300, "in.yaml:1: not YAML: nested more than 200 levels deep"),
    ("deep nesting", "a: " + "[" * 100_000, "nested more than 200 levels deep"),
    (
        "field twice",
        HEAD + "data:\n  x: 1\n  y: 2\n  x: 3",
        "in.yaml:8: data.x: given twice, first on line 6 (keep one",
    ),
    (
        "field twice in json",
        '{"a": 1,\n"b": [{"c": 1,\n"c": 2}]}',
        "in.yaml:3: b[0].c: given twice, first on line 2",
    ),
    ("number and text key", HEAD + 'data: {1: a, "1": b}', "data.1: given twice, first on line 5"),
    ("map as key", HEAD + "data:\n  ? [a]\n  : b", "in.yaml:6: data: a key must be text"),
    ("null as key", HEAD + "data:\n  ~: b", "data: a key must be text (write the key in quotes)"),
    (
        "fraction as key",
        HEAD + "data:\n  1.10: b",
        "data: a key must be text (write the key in quotes)",
    ),
    (
        "infinity",
        HEAD + "data:\n  a: .inf",
        "in.yaml:6: data.a: .inf cannot be written in JSON (write the value in",
    ),
    ("binary", HEAD + "data:\n  a: !!binary aGk=", "is !!binary, which no Kubernetes object has"),
    ("wrong tag", HEAD + "data:\n  a: !!int abc", "in.yaml:6: data.a: is not of the type !!int"),
    (
        "merge of a number",
        HEAD + "data:\n  <<: 5",
        "in.yaml:6: data: map merge requires map or sequence of maps",
    ),
    (
        "helm value",
        HEAD.replace("web", "{{ .x }}"),
        "in.yaml:4: metadata.name: a key must be text (this " + HELM,
    ),
    (
        "helm part of a value",
        HEAD.replace("web", "{{ .x }}-y"),
        f"did not find expected key (this {HELM}",
    ),
    (
        "helm condition",
        "{{- if .x }}\n" + HEAD + "{{- end }}\n",
        f"did not find expected node content (this {HELM}",
    ),
    (
        "helm line before",
        HEAD + "labels:\n{{ toYaml .x | indent 2 }}\nspec: 1",
        "in.yaml:7: not YAML: while scanning",
    ),
    ("helm line before", HEAD + "labels:\n{{ toYaml .x | indent 2 }}\nspec: 1", HELM),
    ("helm include", HEAD + '  labels:\n    {{- include "x" . | nindent 4 }}\n', HELM),
]


@pytest.mark.parametrize(
    ("text", "message"), [row[1:] for row in TEXTS], ids=[row[0] for row in TEXTS]
)
def test_text_is_refused_with_place_and_hint(text: str, message: str) -> None:
    assert any(message in str(problem) for problem in refused(text)), refused(text)


def test_what_looks_like_a_template_in_quotes_is_no_error() -> None:
    (rule,) = load_text(HEAD + 'data: {alert: \'{{ $labels.pod }} is down\', "q": "{{ x }}"}')
    assert rule.data["data"]["q"] == "{{ x }}"


def test_deep_but_sane_nesting_is_fine() -> None:
    (found,) = load_text(HEAD + "data: " + "[" * 190 + "]" * 190)
    assert json.dumps(found.data["data"]).count("[") == 190


def test_all_problems_of_all_files_come_at_once(tmp_path: Path) -> None:
    wrong = "  labels: {x: 1, y: 2}\ndata: {a: 1, a: 2}\n"
    (tmp_path / "a.yaml").write_text(HEAD + wrong + "---\nkind: X\n")
    (tmp_path / "b.yaml").write_text(HEAD + "---\na: [\n")
    (tmp_path / "c.json").write_bytes(b'{"apiVersion": "v1",\n"kind": "\xff"}')
    with pytest.raises(FleetError) as caught:
        load(tmp_path, tmp_path / "missing.yaml")
    places = [(Path(problem.file).name, problem.line) for problem in caught.value.problems]
    in_a = [("a.yaml", line) for line in (5, 5, 6, 8, 8)]
    assert places == [*in_a, ("b.yaml", 7), ("c.json", 2), ("missing.yaml", None)]


FILES = [
    ("missing", "no.yaml", "no.yaml: cannot be read: No such file or directory"),
    (
        "extension",
        "note.txt",
        'note.txt: unknown extension ".txt" (manifest files end in .yaml, .yml, .json)',
    ),
    ("no extension", "note", 'note: unknown extension ""'),
    ("empty directory", "empty", "empty: no Kubernetes objects found"),
    (
        "kustomization",
        "kustomization.yaml",
        "is input of kustomize, not a manifest (give its folder as a source of its own: ",
    ),
    (
        "kustomization within",
        "base",
        "kind: Kustomization, metadata: {name: sub}, spec: {path: sub}}",
    ),
    (
        "chart file",
        "chart/Chart.yaml",
        "Chart.yaml: is a Helm chart, not a manifest (give its folder as a source of its own: ",
    ),
    ("chart within", "apps", "kind: Chart, metadata: {name: shop}, spec: {path: in/shop}}"),
    ("packed chart", "shop-1.0.0.tgz", 'unknown extension ".tgz" (unpack it, and give its folder)'),
    ("latin-1", "latin.yaml", "latin.yaml:2: not UTF-8 (save the file as UTF-8)"),
    ("utf-16", "utf16.yaml", "utf16.yaml:1: not UTF-8"),
    ("a directory with an extension", "dir.yaml", "dir.yaml: no Kubernetes objects found"),
]


@pytest.mark.parametrize(
    ("path", "message"), [row[1:] for row in FILES], ids=[row[0] for row in FILES]
)
def test_files_are_refused_by_name(tmp_path: Path, path: str, message: str) -> None:
    for name in ("empty", "base/sub", "chart/templates", "apps/in/shop", "dir.yaml"):
        (tmp_path / name).mkdir(parents=True)
    for name in (
        "note.txt",
        "note",
        "kustomization.yaml",
        "base/sub/Kustomization",
        "base/sub/x.yaml",
        "chart/Chart.yaml",
        "apps/in/shop/Chart.yaml",
        "shop-1.0.0.tgz",
    ):
        (tmp_path / name).write_text("not: read\n")
    (tmp_path / "chart/templates/x.yaml").write_text("{{ not read }}")
    (tmp_path / "latin.yaml").write_bytes(b"a: 1\nb: \xe9\n")
    (tmp_path / "utf16.yaml").write_bytes("a: 1".encode("utf-16"))
    with pytest.raises(FleetError) as caught:
        load(tmp_path / path)
    assert len(caught.value.problems) == 1
    assert message in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser can read every file")
def test_a_file_without_permission_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").touch(mode=0)
    with pytest.raises(FleetError, match=r"secret.yaml: cannot be read: Permission denied"):
        load(tmp_path)


def test_a_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere.yaml")
    with pytest.raises(FleetError, match=r"gone.yaml: cannot be read"):
        load(tmp_path)


def test_an_object_given_twice_names_both_places(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(HEAD)
    (tmp_path / "b.yaml").write_text("---\n" + HEAD + "  namespace: default\n")
    with pytest.raises(FleetError) as caught:
        Catalogue.of(load(tmp_path))
    (problem,) = caught.value.problems
    first = "given twice, first in a.yaml:1"
    assert (problem.what, problem.file, problem.line) == (first, f"{tmp_path}/b.yaml", 5)


def test_a_missing_separator_is_one_problem() -> None:
    """Each object that begins without one is named once, and not each of its fields."""
    item = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}}}\ndata: {{}}\n"
    with pytest.raises(FleetError) as error:
        load_text("".join(map(item.format, "abc")), "in.yaml")
    assert [(problem.line, problem.path) for problem in error.value.problems] == [
        (5, ("apiVersion",)),
        (9, ("apiVersion",)),
    ]
    assert {problem.hint.partition(" if ")[0] for problem in error.value.problems} == {
        "write --- on a line of its own above it"
    }
    with pytest.raises(FleetError) as error:
        load_text(item.format("a") + "data: {}\nmetadata: {name: b}\n", "in.yaml")
    assert [problem.path for problem in error.value.problems] == [("data",), ("metadata",)]


def test_a_value_that_is_not_indented_says_so() -> None:
    with pytest.raises(FleetError) as error:
        load_text(
            "apiVersion: v1\nspec:\n  containers:\n  {name: web, image: nginx}\n  replicas: 1\n",
            "in.yaml",
        )
    (problem,) = error.value.problems
    assert problem.hint == "indent line 4 more than the field that it belongs to"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("values.yaml", "image:\n  tag: v1\n"),
        ("renovate.json", '{"extends": ["config:recommended"]}'),
        ("ci.yaml", "stages: [plan]\n---\nplan:\n  script: [fleet plan]\n"),
        ("list.yaml", "- a\n---\n- b\n"),
    ],
)
def test_a_file_of_another_tool_is_one_problem_that_says_where_it_may_stand(
    name: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / "web.yaml").write_text(HEAD)
    (tmp_path / name).write_text(text)
    with pytest.raises(FleetError) as caught:
        load(tmp_path)
    (problem,) = caught.value.problems
    assert (problem.file, problem.what) == (str(tmp_path / name), "not a Kubernetes object")
    assert (
        "a file of another tool is passed over if it stands elsewhere, or its name begins with a dot"
        in problem.hint
    )
    (tmp_path / name).rename(tmp_path / f".{name}")
    assert [item.name for item in load(tmp_path)] == ["web"]
