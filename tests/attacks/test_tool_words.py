"""What helm and kustomize say quotes no value: lines of listed forms are shown, and of them no part that is free."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fleet_components.content.load import load
from fleet_components.content.tool_words import words
from fleet_components.model.problem import FleetError, Problem
from tests.tools import stand_ins

PIN = "hunter2"
SHOWN = (
    "Error: Chart.yaml file is missing",
    "Error: found in Chart.yaml, but missing in charts/ directory: redis, common",
    "Error: YAML parse error on shop/templates/web.yaml: error converting YAML to JSON: yaml: line 3: mapping values are not allowed in this context",
    'Error: template: shop/templates/web.yaml:3:4: executing "shop/templates/web.yaml" at <.Values.a.b>: nil pointer evaluating interface {}.b',
    "Error: shop/templates/web.yaml:3:4",
    'executing "shop/templates/web.yaml" at <.Values.a.b>:',
    "nil pointer evaluating interface {}.b",
    "- at '/a/b': got string, want integer or null",
    "Error: unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '/a/b'",
    "# Warning: 'bases' is deprecated. Please use 'resources' instead. Run 'kustomize edit fix' to update your Kustomization automatically.",
)
BEGIN = {
    f"Error: execution error at (shop/templates/a.yaml:3:4): {PIN}": "Error: execution error at (shop/templates/a.yaml:3:4): hidden",
    f"Error: template: a/b.yaml:3:4: error calling fail: {PIN}": "Error: template: a/b.yaml:3:4: hidden",
    f"Error: accumulating resources: accumulation err='accumulating resources from 'a.yaml': {PIN}": "Error: accumulating resources: hidden",
    f"Error: trouble configuring builtin PatchTransformer with config: `{PIN}`": "Error: trouble configuring builtin PatchTransformer with config: hidden",
    f"Error: loading KV pairs: invalid literal source {PIN}": "Error: loading KV pairs: hidden",
}


@pytest.mark.parametrize("line", SHOWN)
def test_a_line_of_a_known_form_is_shown_and_with_more_it_is_not(line: str) -> None:
    assert words(line) == line
    for place in range(len(line) + 1):
        assert PIN not in words(f"{line[:place]} {PIN} {line[place:]}"), place


@pytest.mark.parametrize("line", BEGIN)
def test_what_follows_a_known_beginning_is_hidden(line: str) -> None:
    assert words(line) == BEGIN[line]


@pytest.mark.parametrize(
    "text",
    [
        f"Error: {PIN}",
        f"pin: {PIN}\n",
        f"Error: map[string]interface {{}}{{\n  \"pin\": {PIN},\n}}\n{PIN}",
        f"coalesce.go:289: warning: cannot overwrite table with non table for shop.pin (map[a:{PIN}])",
        f'Error: unknown anchor "{PIN}" referenced',
        f"Error: execution error at ({PIN} x): {PIN}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("fails", [True, False])
def test_what_has_no_known_form_is_hidden(
    text: str, fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = stand_ins(tmp_path / "tools", monkeypatch)
    (tmp_path / "said").write_text(text)
    made = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}"
    for name in ("helm", "kustomize"):
        tools.add(name, f'/bin/cat "{tmp_path}/said" >&2; echo "{made}"; exit {int(fails)}')
    warnings: list[Problem] = []
    for file in ("Chart.yaml", "kustomization.yaml"):
        folder = tmp_path / file.partition(".")[0]
        folder.mkdir()
        (folder / file).write_text("")
        try:
            load(folder, warnings=warnings)
        except FleetError as error:
            warnings += error.problems
    assert len(warnings) == 2
    assert all(one.file == str(tmp_path / name) for one, name in zip(warnings, ("Chart", "kustomization"), strict=True))
    shown = "".join(map(str, warnings))
    assert shown.count("hidden") == 2
    assert PIN not in shown
    assert ("exit status 1" in shown) == fails


SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n"
FOR_REAL = {
    "a generator": {"kustomization.yaml": f"secretGenerator: [{{name: a, literals: ['{PIN}']}}]"},
    "a patch": {
        "kustomization.yaml": f"resources: [a.yaml]\npatches:\n- patch: |\n    {PIN}: [\n     {PIN}\n",
        "a.yaml": SECRET + "  pin: x\n",
    },
    "a resource that is no YAML": {"kustomization.yaml": "resources: [a.yaml]", "a.yaml": SECRET + f"  pin: {PIN}: *{PIN}\n"},
    "a resource of an anchor": {"kustomization.yaml": "resources: [a.yaml]", "a.yaml": SECRET + f"  pin: *{PIN}\n"},
    "a patch without a target": {
        "kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml}]",
        "a.yaml": SECRET + "  pin: x\n",
        "p.yaml": f"apiVersion: v1\nkind: Secret\nmetadata: {{name: other}}\nstringData:\n  pin: {PIN}\n",
    },
    "a name twice": {"kustomization.yaml": "resources: [a.yaml, b.yaml]", "a.yaml": SECRET + f"  pin: {PIN}\n", "b.yaml": SECRET + f"  pin: {PIN}\n"},
    "no object": {"kustomization.yaml": "resources: [a.yaml]", "a.yaml": f"stringData:\n  pin: {PIN}\n  more: |\n    {PIN}\n    {PIN}\n"},
}  # fmt: skip


@pytest.mark.parametrize("files", FOR_REAL.values(), ids=FOR_REAL)
def test_kustomize_shows_no_value(files: dict[str, str], tmp_path: Path) -> None:
    if shutil.which("kubectl") is None and shutil.which("kustomize") is None:
        pytest.skip("kustomize is not on PATH")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(FleetError) as refused:
        load(tmp_path)
    assert PIN not in str(refused.value)
