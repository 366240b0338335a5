"""What ``fleet review`` reads of a git repository: hints where it lacks something, and nothing that does harm."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from fleet_components.review.planning import repository as reading
from fleet_components.review.planning import two_sides
from fleet_components.review.planning.survey import CommandLine
from tests.cli.clone import Clone, failing, review
from tests.cli.fleets import clusters, edit, run, write

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not on PATH"),
    pytest.mark.usefixtures("nothing_left"),
]


@pytest.mark.samples(4)
@pytest.mark.parametrize(
    ("base", "shadow"),
    [
        *(
            (base, shadow)
            for base in ("main", "main~0", "main^{commit}")
            for shadow in ("tags/{}", "remotes/{}")
        ),
        *(
            (base, shadow)
            for base in ("origin", "origin/main")
            for shadow in ("tags/{}", "heads/{}")
        ),
        ("heads/main", "tags/{}"),
        ("remotes/origin/main", "heads/{}"),
    ],
)
def test_a_name_that_another_one_shadows_is_refused(base: str, shadow: str, clone: Clone) -> None:
    """A branch is reviewed against itself, and nothing changes, where its commit has the name of the base."""
    clone.git("update-ref", "refs/remotes/origin/main", "main")
    clone.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
    change = clone.commit()
    assert clusters(review(clone.fleet, base=base)) == {"amsterdam": "updated", "dublin": "updated"}
    name = f"refs/{shadow}".format(base.removesuffix("~0").removesuffix("^{commit}"))
    clone.git("update-ref", name, change)
    said = failing(clone.fleet, base=base)
    assert ("is ambiguous in this clone" in said, f"{name}" in said) == (True, True), said
    full = "refs/heads/main" if "origin" not in base else "refs/remotes/origin/main"
    for spelled in (full, clone.git("rev-parse", full)):
        assert clusters(review(clone.fleet, base=spelled)) == {
            "amsterdam": "updated",
            "dublin": "updated",
        }


def test_a_branch_that_is_called_as_a_commit_is_refused(clone: Clone) -> None:
    short = clone.git("rev-parse", "--short", "main")
    edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
    clone.git("branch", short, clone.commit())
    assert "is ambiguous in this clone" in failing(clone.fleet, base=short)
    assert "there is no commit" in failing(clone.fleet, base=":/a step")
    clone.git("tag", "refs/heads/gone", "change")
    assert "there is no commit" in failing(clone.fleet, base="refs/heads/gone")


class TestHints:
    def test_no_repository(self, tmp_path: Path) -> None:
        said = failing(write(tmp_path / "fleet"))
        assert "is in no git repository" in said
        assert "give a path in a clone" in said

    def test_an_unknown_base(self, clone: Clone) -> None:
        said = failing(clone.fleet, base="origin/trunk")
        assert 'there is no commit "origin/trunk" in this clone' in said
        assert "hint: git fetch origin trunk\n" in said
        clone.git("update-ref", "refs/remotes/origin/trunk", "main")
        assert "--base origin/trunk" in failing(clone.fleet, base="trunk")

    @pytest.mark.parametrize("ref", ["--output=x", "", "a\nb", "$(touch x)", "main:fleet", "x;y"])
    def test_a_name_is_no_option_and_no_command(self, ref: str, clone: Clone) -> None:
        said = failing(clone.fleet, base=ref)
        assert "there is no commit" in said
        assert "git fetch origin" not in said or ref == "main:fleet"

    def test_a_shallow_clone(self, clone: Clone, tmp_path: Path) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        clone.commit()
        shallow = tmp_path / "shallow"
        options = ["-q", "--depth=1", "--no-single-branch", "-b", "change"]
        subprocess.run(
            ["git", "clone", *options, f"file://{clone.top}", str(shallow)],
            check=True,
            capture_output=True,
        )
        said = failing(shallow / "fleet", base="origin/main")
        assert "have no commit in common in this shallow clone" in said
        assert "git fetch --unshallow, or actions/checkout with fetch-depth: 0" in said
        said = failing(shallow / "fleet", base="v1")
        assert "git fetch origin v1; this clone is shallow: git fetch --unshallow" in said

    def test_histories_with_nothing_in_common(self, clone: Clone) -> None:
        clone.git("checkout", "-q", "--orphan", "alone")
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        clone.commit()
        said = failing(clone.fleet)
        assert (
            "main and HEAD have no commit in common\n  hint: name a branch that both come from"
            in said
        )

    def test_a_repository_without_a_commit(self, tmp_path: Path) -> None:
        write(tmp_path / "fleet")
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
        assert 'there is no commit "HEAD" in this clone\n  hint: commit something first' in failing(
            tmp_path / "fleet"
        )

    def test_standard_input(self, clone: Clone) -> None:
        assert "standard input has no base" in failing("-")

    def test_paths_of_two_repositories(self, clone: Clone, tmp_path: Path) -> None:
        other = Clone(tmp_path / "other")
        assert f"is not in the repository {clone.top}" in failing(clone.fleet, other.fleet)

    def test_no_git(self, clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shutil, "which", lambda _: None)
        assert "git is not on PATH\n  hint: install git" in failing(clone.fleet)

    def test_the_base_is_asked_for(self, clone: Clone) -> None:
        result = run("review", clone.fleet)
        assert result.exit_code == 1
        assert "Missing option '--base'" in result.stderr

    def test_a_partial_clone_fetches_nothing(self, clone: Clone, tmp_path: Path) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        clone.commit()
        clone.git("config", "uploadpack.allowFilter", "true")
        clone.git("config", "uploadpack.allowAnySHA1InWant", "true")
        partial = tmp_path / "partial"
        options = ["-q", "--filter=blob:none", "-b", "change"]
        subprocess.run(
            ["git", "clone", *options, f"file://{clone.top}", str(partial)],
            check=True,
            capture_output=True,
        )
        subprocess.run(
            ["git", "-C", str(partial), "config", "protocol.file.allow", "always"], check=True
        )
        said = failing(partial / "fleet", base="origin/main")
        assert "this partial clone lacks objects, and a review fetches none" in said

    def test_a_repository_in_the_place_of_temporary_files(
        self, clone: Clone, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tempfile, "tempdir", str(clone.top))
        assert "set TMPDIR to a directory outside of it" in failing(clone.fleet)


class TestSurroundings:
    def test_variables_of_a_hook(
        self, clone: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        monkeypatch.chdir(clone.top)
        for name, value in {
            "GIT_DIR": ".git",
            "GIT_INDEX_FILE": str(tmp_path / "none"),
            "GIT_TRACE": str(tmp_path / "trace"),
            "GIT_EXTERNAL_DIFF": "false",
            "GIT_NAMESPACE": "elsewhere",
        }.items():
            monkeypatch.setenv(name, value)
        assert clusters(review("fleet")) == {"amsterdam": "updated", "dublin": "updated"}
        assert not (tmp_path / "trace").exists()

    def test_a_repository_apart_from_its_files(
        self, clone: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        (clone.top / ".git").rename(tmp_path / "apart.git")
        monkeypatch.setenv("GIT_DIR", str(tmp_path / "apart.git"))
        monkeypatch.setenv("GIT_WORK_TREE", str(clone.top))
        assert clusters(review(clone.fleet)) == {"amsterdam": "updated", "dublin": "updated"}

    def test_variables_for_another_repository(
        self, clone: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = Clone(tmp_path / "other")
        monkeypatch.setenv("GIT_DIR", str(other.top / ".git"))
        monkeypatch.setenv("GIT_WORK_TREE", str(other.top))
        assert review(clone.fleet)["headline"][0] == "nothing changes"

    def test_a_linked_directory(self, clone: Clone, tmp_path: Path) -> None:
        clone.git("worktree", "add", "-q", tmp_path / "linked", "main")
        edit(tmp_path / "linked/fleet/shop.yaml", "1.27.5", "1.28.0")
        assert clusters(review(tmp_path / "linked/fleet")) == {
            "amsterdam": "updated",
            "dublin": "updated",
        }

    def test_configuration_of_the_repository_is_not_executed(
        self, clone: Clone, tmp_path: Path
    ) -> None:
        program = tmp_path / "program"
        program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        program.chmod(0o700)
        hooks = clone.top / ".git/hooks"
        for name in ("post-checkout", "reference-transaction", "post-index-change"):
            shutil.copy(program, hooks / name)
        for key in (
            "core.fsmonitor",
            "core.pager",
            "core.sshCommand",
            "diff.x.textconv",
            "filter.x.smudge",
        ):
            clone.git("config", key, program)
        (clone.top / ".gitattributes").write_text("* filter=x diff=x\n")
        for step in (clone.top / "ran", tmp_path / "ran"):
            step.unlink(missing_ok=True)
        assert review(clone.fleet)["headline"][0] == "nothing changes"
        assert not (tmp_path / "ran").exists()

    def test_a_bare_repository_that_is_committed_as_files(self, clone: Clone) -> None:
        inner = clone.top / "inner"
        subprocess.run(
            ["git", "clone", "-q", "--bare", str(clone.top), str(inner)],
            check=True,
            capture_output=True,
        )
        write(inner / "fleet")
        clone.git("config", "--file", inner / "config", "core.bare", "false")
        clone.git("config", "--file", inner / "config", "core.worktree", inner)
        assert "is in no git repository with files" in failing(inner / "fleet")

    def test_the_index_is_left_alone(self, clone: Clone) -> None:
        index = clone.top / ".git/index"
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        before, status = index.read_bytes(), clone.git("worktree", "list")
        review(clone.fleet)
        assert (index.read_bytes(), clone.git("worktree", "list")) == (before, status)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, str], tuple[str, ...]]]:
    """What was written for each side: modes by path, and what was said of it."""
    seen = list[tuple[dict[str, str], tuple[str, ...]]]()
    write_all = reading._write

    def watched(git: Any, folder: Path, entries: list[reading.TreeEntry]) -> reading.Written:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        found = write_all(git, folder, entries)
        paths = {
            str(path.relative_to(folder)): stat.filemode(path.lstat().st_mode)
            for path in folder.rglob("*")
        }
        seen.append((paths, found.notes))
        return found

    monkeypatch.setattr(reading, "_write", watched)
    return seen


class TestHostileTrees:
    """A tree may have any bytes as names: none leads out of the directory that it is written to."""

    def test_names_that_lead_elsewhere(
        self, clone: Clone, tmp_path: Path, written: list[Any]
    ) -> None:
        bad = clone.blob("kind: Bad\n")
        names = [
            "..",
            ".",
            ".git",
            ".GIT",
            "git~1",
            ".git ",
            ".gi\u200ct",
            "a/../../x",
            f"{tmp_path}/x",
        ]
        fleet = clone.git("rev-parse", "main:fleet")
        entries = [("100644", name, bad) for name in names if "/" not in name]
        commit = clone.tree(*entries, ("40000", "fleet", fleet))
        clone.git("update-ref", "refs/heads/change", commit)
        result = run("review", clone.top, "--head", "change", "--base", "main")
        assert result.exit_code == 0, result.output
        assert "left out, since its name could lead elsewhere" in result.stderr
        assert {name.partition("/")[0] for paths, _ in written for name in paths} == {"fleet"}

    def test_a_folder_that_leads_up(self, clone: Clone, written: list[Any]) -> None:
        inner = clone.git(
            "mktree", given=f"100644 blob {clone.blob('kind: Bad')}\tx.yaml\n".encode()
        )
        fleet = clone.git("rev-parse", "main:fleet")
        commit = clone.tree(
            ("40000", "..", inner), ("40000", ".git", inner), ("40000", "fleet", fleet)
        )
        clone.git("update-ref", "refs/heads/change", commit)
        assert run("review", clone.top, "--head", "change", "--base", "main").exit_code == 0
        assert {name.partition("/")[0] for paths, _ in written for name in paths} == {"fleet"}

    def test_a_link_is_no_parent(self, clone: Clone, tmp_path: Path, written: list[Any]) -> None:
        target = tmp_path / "target"
        target.mkdir()
        link, bad = clone.blob(str(target)), clone.blob("kind: Bad\n")
        inner = clone.git("mktree", given=f"100644 blob {bad}\tx.yaml\n".encode())
        fleet = clone.git("rev-parse", "main:fleet")
        for order in (
            (("120000", "way", link), ("40000", "way", inner)),
            (("40000", "way", inner), ("120000", "way", link)),
        ):
            commit = clone.tree(*order, ("40000", "fleet", fleet))
            clone.git("update-ref", "refs/heads/change", commit)
            run("review", clone.fleet, clone.top / "way", "--head", "change", "--base", "main")
            assert list(target.iterdir()) == []
        assert any(
            "this system does not take its name: way" in note
            for _, notes in written
            for note in notes
        )

    def test_links_are_links_and_lead_nowhere(
        self, clone: Clone, tmp_path: Path, written: list[Any]
    ) -> None:
        (tmp_path / "secret.yaml").write_text(
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: secret}\n"
        )
        (clone.fleet / "out.yaml").symlink_to(tmp_path / "secret.yaml")
        (clone.fleet / "up.yaml").symlink_to("../../secret.yaml")
        clone.commit()
        (clone.top / "way").symlink_to(tmp_path)
        clone.commit()
        said = failing(clone.fleet, "--head", "change")
        assert "change:fleet/out.yaml: is a link that leads out of fleet" in said
        assert "change:fleet/up.yaml: is a link that leads out of fleet" in said
        assert {paths.get("fleet/out.yaml", "l")[0] for paths, _ in written} == {"l"}
        assert "way: is not in the repository" in failing(clone.top / "way")
        (clone.top / "way").unlink()
        said = failing(clone.top / "way", "--head", "change")
        assert "change:way: is a link that leads out of it" in said
        assert "namespace" not in said.lower()

    def test_a_path_through_a_link(self, clone: Clone) -> None:
        clone.git("checkout", "-q", "main")
        (clone.top / "current").symlink_to("fleet")
        clone.commit()
        clone.git("checkout", "-q", "-B", "change")
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        assert clusters(review(clone.top / "current")) == {
            "amsterdam": "updated",
            "dublin": "updated",
        }

    def test_names_that_differ_in_case_alone(self, clone: Clone) -> None:
        (clone.fleet / "A.yaml").write_text(
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: one}\n"
        )
        (clone.fleet / "a.yaml").write_text(
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: two}\n"
        )
        clone.commit()
        assert run("review", clone.fleet, "--head", "change", "--base", "main").exit_code == 0

    def test_odd_names(self, clone: Clone, written: list[Any]) -> None:
        for number, name in enumerate(("-r", "a b", "a\nb", "ü", "a\\b", ".hidden", "x:y")):
            space = f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: n{number}}}\n"
            (clone.fleet / f"{name}.yaml").write_text(space)
        (clone.top / "-r").mkdir()
        shutil.copytree(clone.fleet, clone.top / "-r", dirs_exist_ok=True)
        clone.commit()
        result = run("review", clone.fleet, "--head", "change", "--base", "main")
        assert result.exit_code == 0, result.output
        assert [notes for _, notes in written] == [(), ()]
        assert {"fleet/-r.yaml", "fleet/a\nb.yaml", "fleet/a\\b.yaml"} <= set(written[-1][0])
        assert not any(name.startswith("-r") for paths, _ in written for name in paths)
        assert review(clone.top / "-r", "--head", "change")["against"].endswith(
            "has no -r, so all of it is new"
        )

    def test_submodules_and_pointers_are_named(self, clone: Clone) -> None:
        pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
        (clone.fleet / "large.txt").write_text(pointer)
        clone.git(
            "update-index",
            "--add",
            "--cacheinfo",
            f"160000,{clone.git('rev-parse', 'main')},fleet/module",
        )
        clone.git(
            "update-index",
            "--add",
            "--cacheinfo",
            f"160000,{clone.git('rev-parse', 'main')},elsewhere",
        )
        clone.git("add", "fleet/large.txt")
        clone.git("commit", "-q", "-m", "more")
        clone.git("branch", "-f", "main")
        result = run("review", clone.fleet, "--base", "main")
        assert "note: main: 1 submodule is not read: fleet/module\n" in result.stderr
        assert (
            "note: main: 1 file of Git LFS is read as pointers: fleet/large.txt\n" in result.stderr
        )
        assert result.exit_code == 0

    def test_too_much(self, clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reading, "MOST_CONTENT", 100)
        assert "its files are larger than" in failing(clone.fleet)
        monkeypatch.setattr(reading, "MOST_BYTES", 10)
        assert "lists more than" in failing(clone.fleet)

    def test_a_tree_that_multiplies(self, clone: Clone) -> None:
        """Ten folders in ten folders, and so on: more names than any memory holds, in a few objects."""
        tree = clone.git("mktree", given=f"100644 blob {clone.blob('a: 1')}\tx.yaml\n".encode())
        for _ in range(9):
            tree = clone.git(
                "mktree", given="".join(f"040000 tree {tree}\t{n}\n" for n in range(10)).encode()
            )
        commit = clone.git("commit-tree", tree, "-p", "main", "-m", "many")
        clone.git("update-ref", "refs/heads/change", commit)
        assert "MiB of names" in failing(clone.fleet, "--head", "change")


@pytest.mark.parametrize("where", ["writing", "planning"])
def test_nothing_is_left_after_an_interruption(
    where: str, clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    place: tuple[Any, str] = (reading, "_placed") if where == "writing" else (two_sides, "survey")
    monkeypatch.setattr(*place, interrupted)
    with pytest.raises(KeyboardInterrupt):
        two_sides.review([clone.fleet], CommandLine(), "main")


VERSIONS = {
    "git version 2.37.7": "git is of version 2.37.7, and a review needs 2.38",
    "git version 2.9.5 (Apple Git-1)": "git is of version 2.9.5",
    "git version 1.8.3.1": "git is of version 1.8.3.1",
    "git version": "git does not say its version",
    "": "git does not say its version",
    "git version 2.38.0": "",
    "git version 2.38.1.windows.1": "",
    "git version 3.0.rc1": "",
}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_git_that_may_take_files_for_a_repository_is_refused(
    clone: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    real = shutil.which("git")
    wrapper = tmp_path / "old" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!/bin/sh\n[ "$1" = version ] && echo "{version}" && exit\nexec {real} "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", str(wrapper.parent), prepend=os.pathsep)
    edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
    clone.commit()
    if VERSIONS[version]:
        assert VERSIONS[version] in failing(clone.fleet)
    else:
        assert clusters(review(clone.fleet)) == {"amsterdam": "updated", "dublin": "updated"}
