"""What helm, kustomize and git say quotes no value: lines of listed forms are shown, and of them no part that is free."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from fleet_components.content.load import load
from fleet_components.content.tool_words import words
from fleet_components.model.problem import FleetError, Problem
from fleet_components.review.planning.git import Git, GitError
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
    "fatal: not a git repository (or any of the parent directories): .git",
    "fatal: cannot use bare repository '/a/b.git' (safe.bareRepository is 'explicit')",
    "fatal: bad config line 6 in file .git/config",
    "fatal: not a tree object",
    "fatal: bad object 45b983be36b73c0788dc9cbcb76cbb80fc7bb057",
    "fatal: Not a valid commit name 45b983be36b73c0788dc9cbcb76cbb80fc7bb057",
    "fatal: loose object 45b983be36 (stored in .git/objects/45/b983be36) is corrupt",
    "error: object file .git/objects/45/b983be36 is empty",
    "error: unable to unpack 45b983be36 header",
    "error: inflate: data stream error (incorrect header check)",
    "fatal: could not fetch 45b983be36 from promisor remote",
    "fatal: transport 'https' not allowed",
    "warning: lazy fetching disabled; some objects may not be available",
)
BEGIN = {
    f"Error: execution error at (shop/templates/a.yaml:3:4): {PIN}": "Error: execution error at (shop/templates/a.yaml:3:4): hidden",
    f"Error: template: a/b.yaml:3:4: error calling fail: {PIN}": "Error: template: a/b.yaml:3:4: hidden",
    f"Error: accumulating resources: accumulation err='accumulating resources from 'a.yaml': {PIN}": "Error: accumulating resources: hidden",
    f"Error: trouble configuring builtin PatchTransformer with config: `{PIN}`": "Error: trouble configuring builtin PatchTransformer with config: hidden",
    f"Error: loading KV pairs: invalid literal source {PIN}": "Error: loading KV pairs: hidden",
    f"fatal: detected dubious ownership in repository at '/a b/{PIN}'": "fatal: detected dubious ownership in repository: hidden",
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
        f"fatal: unable to access 'https://me:{PIN}@example.com/a.git/': The requested URL returned error: 403",
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
    assert all(
        warning.file == str(tmp_path / name)
        for warning, name in zip(warnings, ("Chart", "kustomization"), strict=True)
    )
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


def test_git_that_reads_a_damaged_clone_shows_its_own_forms_and_nothing_else(
    tmp_path: Path,
) -> None:
    for command in (
        ["init", "-q"],
        ["config", "remote.origin.url", f"https://me:{PIN}@example.com/a.git"],
    ):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, capture_output=True)
    with (
        pytest.raises(GitError) as absent,
        Git().reading(["ls-tree", "-r", "0" * 39 + "1"], at=tmp_path) as answer,
    ):
        answer.read()
    assert absent.value.message == "fatal: not a tree object"
    (tmp_path / ".git/config").write_text(f"[{PIN}\n")
    with (
        pytest.raises(GitError) as damaged,
        Git().reading(["rev-parse", "HEAD"], at=tmp_path) as answer,
    ):
        answer.read()
    assert "fatal: bad config line 1 in file " in damaged.value.message
    with pytest.raises(GitError) as unknown, Git().reading([f"--{PIN}"], at=tmp_path) as answer:
        answer.read()
    assert (unknown.value.message, unknown.value.status) == ("hidden", 129)
