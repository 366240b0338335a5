"""The command ``fleet review`` on git repositories: two sides of a pull request, and what a repository may hold."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from fleet_components.review.planning import repository as reading
from fleet_components.review.planning import two_sides
from fleet_components.review.planning.survey import CommandLine
from tests.cli.fleets import FLEET, MEMBERS, PLACEMENT, PROGRAM, PROJECT, SECRET, SHOP, clusters, edit, plan, run, write
from tests.delivery.karmada.world import deployment, member, policy, weights

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not on PATH")


class Clone:
    """A git repository with a branch ``main``, and ``change`` that is checked out."""

    def __init__(self, top: Path, files: Mapping[str, str | bytes] = FLEET, within: str = "fleet") -> None:
        self.top, self.fleet = top, top / within
        top.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "somebody")
        self.git("config", "user.email", "somebody@example.com")
        write(self.fleet, files)
        self.commit()
        self.git("checkout", "-q", "-b", "change")

    def git(self, *args: object, given: bytes = b"") -> str:
        command = ["git", "-C", str(self.top), *map(str, args)]
        return subprocess.run(command, check=True, input=given, capture_output=True).stdout.decode().strip()

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a step")
        return self.git("rev-parse", "HEAD")

    def tree(self, *entries: tuple[str, str, str]) -> str:
        """A commit of entries that git itself would not make, on ``main``."""
        listed = b"".join(f"{mode} {name}".encode() + b"\0" + bytes.fromhex(object) for mode, name, object in entries)
        tree = self.git("hash-object", "-t", "tree", "-w", "--stdin", "--literally", given=listed)
        return self.git("commit-tree", tree, "-p", "main", "-m", "by hand")

    def blob(self, text: str) -> str:
        return self.git("hash-object", "-w", "--stdin", given=text.encode())


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No review leaves anything behind: neither files, nor modules, nor another directory."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    before = list(sys.path)
    yield
    assert list(place.glob("fleet-review-*")) == []
    assert sys.path == before


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path / "clone")


def review(*args: object, status: int = 0, base: str = "main") -> dict[str, Any]:
    result = run("review", *args, "--base", base, "-o", "json")
    assert result.exit_code == status, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def failing(*args: object, base: str = "main") -> str:
    result = run("review", *args, "--base", base)
    assert result.exit_code == 1, result.output
    return result.stderr


class TestTwoSides:
    def test_what_a_pull_request_changes_is_all_that_is_shown(self, clone: Clone) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        clone.commit()
        document = review(clone.fleet)
        assert clusters(document) == {"amsterdam": "updated", "dublin": "updated"}
        assert document["against"] == f"main at {clone.git('rev-parse', '--short', 'main')}, as if newly made"
        assert document["state"] is None

    def test_without_a_change_nothing_changes(self, clone: Clone) -> None:
        result = run("review", clone.fleet, "--base", "main", "--detailed-exitcode")
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.startswith("nothing changes\n")

    def test_the_files_are_reviewed_as_they_are(self, clone: Clone) -> None:
        edit(clone.fleet / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 1")
        result = run("review", clone.fleet, "--base", "main", "--detailed-exitcode")
        assert result.exit_code == 2
        assert "loses" in result.stdout.splitlines()[0]

    def test_what_main_has_gained_since_is_not_undone(self, clone: Clone) -> None:
        clone.git("checkout", "-q", "main")
        edit(clone.fleet / "shop.yaml", "EUR", "CHF")
        clone.commit()
        clone.git("checkout", "-q", "change")
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        document = review(clone.fleet)
        assert [change["object"] for change in document["subjects"][0]["content"]] == ["Deployment shop/storefront"]
        assert document["against"].startswith("the merge base ")

    def test_a_commit_is_reviewed_without_a_checkout(self, clone: Clone) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        clone.commit()
        clone.git("checkout", "-q", "main")
        shutil.rmtree(clone.fleet)
        clone.fleet.mkdir()
        document = review(clone.fleet, "--head", "change")
        assert clusters(document) == {"amsterdam": "updated", "dublin": "updated"}
        assert document["fleet"]["paths"] == [str(clone.fleet)]
        assert "is not in main at" in failing(clone.fleet / "other", "--head", "main")

    def test_a_repository_below_the_current_directory(self, clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        monkeypatch.chdir(clone.fleet)
        assert clusters(review(".")) == {"amsterdam": "updated", "dublin": "updated"}
        monkeypatch.chdir(clone.top.parent)
        assert clusters(review("clone/fleet/../fleet")) == {"amsterdam": "updated", "dublin": "updated"}

    def test_files_alone(self, clone: Clone) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        files = [clone.fleet / name for name in FLEET]
        assert clusters(review(*files)) == {"amsterdam": "updated", "dublin": "updated"}

    def test_templates_of_karmada(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", karmada(replicas=4))
        assert review(clone.fleet)["headline"][0] == "nothing changes"
        write(clone.fleet, karmada(replicas=8))
        (one,) = review(clone.fleet)["subjects"]
        assert (one["name"], {member["change"] for member in one["clusters"]}) == ("Template/" + WEB, {"updated"})
        assert one["unsure"] == (
            "replicas that are divided stay while their number and the policy do: with --state not as a 4, b 4"
        )

    def test_what_goes_along_with_a_template_is_marked_with_it(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", karmada(replicas=4, needs="one"))
        write(clone.fleet, karmada(replicas=4, needs="two"))
        marks = {one["key"]: one["unsure"] for one in review(clone.fleet)["subjects"]}
        assert "no policy follows it" in marks["shop/ConfigMap/settings"]

    @pytest.mark.parametrize("files", [FLEET, PROJECT], ids=["directory", "project"])
    def test_two_doors_agree(self, files: Mapping[str, str], tmp_path: Path, clone: Clone) -> None:
        clone = Clone(tmp_path / "other", files)
        shop = next(clone.fleet.rglob("shop.yaml"))
        checkout = tmp_path / "checkout"
        shutil.copytree(clone.fleet, checkout / "fleet")
        edit(shop, "1.27.5", "1.28.0")
        edit(shop.parent / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 1")
        saved = tmp_path / "state.json"
        plan(checkout / "fleet", "--save-state", saved)
        one, other = plan(clone.fleet, "--state", saved), review(*asked(clone.fleet))
        for document in (one, other):
            for key in ("state", "against", "headline", "messages", "fleet"):
                document.pop(key, None)
            for subject in document["subjects"]:
                subject.pop("unsure")
        assert one == other

    def test_the_state_of_the_pull_request_is_saved(self, clone: Clone, tmp_path: Path) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        clone.commit()
        for number, head in enumerate(([], ["--head", "change"])):
            saved = tmp_path / f"{number}.json"
            review(clone.fleet, *head, "--save-state", saved)
            assert plan(clone.fleet, "--state", saved)["headline"][0] == "nothing changes"
            assert SECRET not in saved.read_text()

    def test_a_base_with_approvals_counts_as_approved(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", example("staged-approval"))
        assert plan(clone.fleet)["remaining"]["approvals"] == ["checkout-1-before-prod"]
        result = run("review", clone.fleet, "--base", "main", "--detailed-exitcode")
        assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "nothing changes")

    def test_a_base_that_waits_is_marked(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", example("staged-wait"))
        (one,) = review(clone.fleet)["subjects"]
        assert one["unsure"].startswith("main at ")
        assert " waits: stage staging is followed by a wait of 24h0m0s" in one["unsure"]


def example(name: str) -> dict[str, str]:
    folder = Path(__file__).parents[2] / "examples" / name
    return {path.name: path.read_text() for path in folder.glob("*.yaml")}


WEB = "shop/Deployment/web"


def karmada(replicas: int, needs: str = "") -> dict[str, str]:
    """Two members that share the replicas of a Deployment, and maybe a ConfigMap that it needs."""
    source = [{"configMapRef": {"name": "settings"}}]
    web = deployment(replicas)
    objects = [member("a"), member("b"), policy(placement=weights(a=1, b=1), propagateDeps=bool(needs)), web]
    if needs:
        web["spec"]["template"]["spec"]["containers"][0]["envFrom"] = source
        metadata = {"name": "settings", "namespace": "shop"}
        objects.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"is": needs}})
    return {"fleet.yaml": yaml.safe_dump_all(objects)}


def asked(folder: Path) -> list[object]:
    return [folder, "--project"] if (folder / "Pulumi.yaml").exists() else [folder]


class TestWhatRuns:
    @pytest.fixture
    def running(self, clone: Clone, tmp_path: Path) -> Path:
        saved = tmp_path / "running.json"
        plan(clone.fleet, "--save-state", saved)
        return saved

    def test_what_main_changes_as_well_is_set_apart(self, clone: Clone, running: Path) -> None:
        clone.git("checkout", "-q", "main")
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        clone.commit()
        clone.git("checkout", "-q", "-B", "change")
        other = PLACEMENT.replace("{name: shop}", "{name: other}", 1).replace("name: shop}", "name: other}")
        (clone.fleet / "other.yaml").write_text(f"{other}---\n{SHOP.replace('shop', 'other')}")
        document = review(clone.fleet, "--state", running)
        assert {one["key"]: one["pending"] for one in document["subjects"]} == {"shop": True, "other": False}
        assert document["against"].startswith(f"what runs, by {running}; 1 of these changes comes from main at ")
        assert {one["unsure"] for one in document["subjects"]} == {None}

    def test_what_the_pull_request_changes_further_is_its_own(self, clone: Clone, running: Path) -> None:
        clone.git("checkout", "-q", "main")
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        clone.commit()
        clone.git("checkout", "-q", "-B", "change")
        edit(clone.fleet / "shop.yaml", "1.28.0", "1.29.0")
        document = review(clone.fleet, "--state", running)
        assert [one["pending"] for one in document["subjects"]] == [False]
        assert document["against"] == f"what runs, by {running}"

    def test_the_past_counts(self, clone: Clone, running: Path) -> None:
        """With it, a member that is picked stays; as if newly made, the cheaper one would be picked."""
        edit(clone.fleet / "members.yaml", "maintenance", "gone")
        assert review(clone.fleet, "--state", running)["headline"][0] == "nothing changes"

    def test_a_base_that_cannot_be_planned_is_named(self, clone: Clone, running: Path) -> None:
        broken(clone)
        result = run("review", clone.fleet, "--base", "main", "--state", running, "-o", "json")
        assert result.exit_code == 0
        assert "cannot be planned, so what it changes as well is not known" in json.loads(result.stdout)["against"]
        assert "warning: main:fleet/placement.yaml:" in result.stderr

    def test_a_directory_is_no_state(self, clone: Clone) -> None:
        assert "an observed directory is not read here" in failing(clone.fleet, "--state", clone.fleet)

    def test_a_state_that_cannot_be_read(self, clone: Clone, tmp_path: Path) -> None:
        (tmp_path / "state.json").write_text("{")
        assert "state.json" in failing(clone.fleet, "--state", tmp_path / "state.json")


def broken(clone: Clone) -> None:
    """``main`` cannot be planned, and ``change`` mends it."""
    clone.git("checkout", "-q", "main")
    edit(clone.fleet / "placement.yaml", "PickN", "PickSome")
    clone.commit()
    clone.git("checkout", "-q", "-B", "change")
    edit(clone.fleet / "placement.yaml", "PickSome", "PickN")


class TestAsIfNewlyMade:
    def test_what_the_past_could_change_is_marked(self, clone: Clone) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        document = review(clone.fleet)
        (one,) = document["subjects"]
        assert one["unsure"] == (
            "PickN 2 keeps members that it has picked: with --state others than amsterdam, dublin may have it"
        )
        assert "1 decision could be another with the state that is in force" in document["headline"][2]

    def test_what_no_past_could_change_is_not_marked(self, clone: Clone) -> None:
        clone.git("checkout", "-q", "main")
        edit(clone.fleet / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 9")
        placement = (clone.fleet / "placement.yaml").read_text()
        (clone.fleet / "placement.yaml").write_text(placement.replace("environment: production", "x: z"))
        members = MEMBERS.replace("labels: {", "labels: {x: z, ").replace("  taints:\n", "")
        members = members.replace('  - {key: maintenance, value: "true", effect: NoSchedule}\n', "")
        (clone.fleet / "members.yaml").write_text(members)
        clone.commit()
        clone.git("checkout", "-q", "-B", "change")
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        assert [one["unsure"] for one in review(clone.fleet)["subjects"]] == [None]

    def test_what_is_new_is_newly_made_indeed(self, clone: Clone) -> None:
        other = PLACEMENT.replace("{name: shop}", "{name: other}", 1).replace("name: shop}", "name: other}")
        (clone.fleet / "other.yaml").write_text(f"{other}---\n{SHOP.replace('shop', 'other')}")
        assert [(one["key"], one["unsure"]) for one in review(clone.fleet)["subjects"]] == [("other", None)]

    def test_a_base_without_the_path_says_so(self, clone: Clone) -> None:
        write(clone.top / "new")
        document = review(clone.top / "new")
        assert document["against"].startswith("nothing: main at ")
        assert document["against"].endswith(" has no new, so all of it is new")
        assert set(clusters(document).values()) == {"joins"}
        assert [one["unsure"] for one in document["subjects"]] == [None]

    def test_a_base_without_one_of_the_paths(self, clone: Clone) -> None:
        other = PLACEMENT.replace("{name: shop}", "{name: other}", 1).replace("name: shop}", "name: other}")
        write(clone.top / "new", {"other.yaml": f"{other}---\n{SHOP.replace('shop', 'other')}"})
        document = review(clone.fleet, clone.top / "new")
        assert "it has no new, so that is new" in document["against"]
        assert [one["key"] for one in document["subjects"]] == ["other"]

    def test_an_error_of_the_base_does_not_hide_what_mends_it(self, clone: Clone) -> None:
        broken(clone)
        result = run("review", clone.fleet, "--base", "main", "--strict", "-o", "json")
        document = json.loads(result.stdout)
        assert result.exit_code == 0, result.output
        assert "warning: main:fleet/placement.yaml:8: " in result.stderr
        assert document["against"].startswith("nothing: main at ")
        assert "cannot be planned: main:fleet/placement.yaml:8: " in document["against"]
        assert set(clusters(document).values()) == {"joins"}
        assert [bool(one["unsure"]) for one in document["subjects"]] == [True]

    def test_an_error_of_the_reviewed_side_is_one(self, clone: Clone) -> None:
        edit(clone.fleet / "placement.yaml", "PickN", "PickSome")
        assert f"error: {clone.fleet}/placement.yaml:8: " in failing(clone.fleet)
        clone.commit()
        assert "error: change:fleet/placement.yaml:8: " in failing(clone.fleet, "--head", "change")

    def test_what_an_update_is_given_is_not_that_of_the_base(self, clone: Clone) -> None:
        document = review(clone.fleet, "--lost", "dublin")
        assert document["gone"]["objects"] or clusters(document)["dublin"] != "stays"


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
        subprocess.run(["git", "clone", *options, f"file://{clone.top}", str(shallow)], check=True, capture_output=True)
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
        assert "main and HEAD have no commit in common\n  hint: name a branch that both come from" in said

    def test_a_repository_without_a_commit(self, tmp_path: Path) -> None:
        write(tmp_path / "fleet")
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
        assert 'there is no commit "HEAD"' in failing(tmp_path / "fleet")

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
        partial = tmp_path / "partial"
        options = ["-q", "--filter=blob:none", "-b", "change"]
        subprocess.run(["git", "clone", *options, f"file://{clone.top}", str(partial)], check=True, capture_output=True)
        said = failing(partial / "fleet", base="origin/main")
        assert "this partial clone lacks objects, and a review fetches none" in said

    def test_a_repository_in_the_place_of_temporary_files(self, clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tempfile, "tempdir", str(clone.top))
        assert "set TMPDIR to a directory outside of it" in failing(clone.fleet)


class TestSurroundings:
    def test_variables_of_a_hook(self, clone: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        assert clusters(review(tmp_path / "linked/fleet")) == {"amsterdam": "updated", "dublin": "updated"}

    def test_configuration_of_the_repository_is_not_executed(self, clone: Clone, tmp_path: Path) -> None:
        program = tmp_path / "program"
        program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        program.chmod(0o700)
        hooks = clone.top / ".git/hooks"
        for name in ("post-checkout", "reference-transaction", "post-index-change"):
            shutil.copy(program, hooks / name)
        for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "diff.x.textconv", "filter.x.smudge"):
            clone.git("config", key, program)
        (clone.top / ".gitattributes").write_text("* filter=x diff=x\n")
        for step in (clone.top / "ran", tmp_path / "ran"):
            step.unlink(missing_ok=True)
        assert review(clone.fleet)["headline"][0] == "nothing changes"
        assert not (tmp_path / "ran").exists()

    def test_a_bare_repository_that_is_committed_as_files(self, clone: Clone) -> None:
        inner = clone.top / "inner"
        subprocess.run(["git", "clone", "-q", "--bare", str(clone.top), str(inner)], check=True, capture_output=True)
        write(inner / "fleet")
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

    def watched(git: Any, folder: Path, entries: list[reading.Entry]) -> reading.Written:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        found = write_all(git, folder, entries)
        paths = {str(path.relative_to(folder)): stat.filemode(path.lstat().st_mode) for path in folder.rglob("*")}
        seen.append((paths, found.notes))
        return found

    monkeypatch.setattr(reading, "_write", watched)
    return seen


class TestHostileTrees:
    """A tree may have any bytes as names: none leads out of the directory that it is written to."""

    def test_names_that_lead_elsewhere(self, clone: Clone, tmp_path: Path, written: list[Any]) -> None:
        bad = clone.blob("kind: Bad\n")
        names = ["..", ".", ".git", ".GIT", "git~1", ".git ", ".gi\u200ct", "a/../../x", f"{tmp_path}/x"]
        fleet = clone.git("rev-parse", "main:fleet")
        entries = [("100644", name, bad) for name in names if "/" not in name]
        commit = clone.tree(*entries, ("40000", "fleet", fleet))
        clone.git("update-ref", "refs/heads/change", commit)
        result = run("review", clone.top, "--head", "change", "--base", "main")
        assert result.exit_code == 0, result.output
        assert "left out, since its name could lead elsewhere" in result.stderr
        assert {name.partition("/")[0] for paths, _ in written for name in paths} == {"fleet"}

    def test_a_folder_that_leads_up(self, clone: Clone, written: list[Any]) -> None:
        inner = clone.git("mktree", given=f"100644 blob {clone.blob('kind: Bad')}\tx.yaml\n".encode())
        fleet = clone.git("rev-parse", "main:fleet")
        commit = clone.tree(("40000", "..", inner), ("40000", ".git", inner), ("40000", "fleet", fleet))
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
        assert any("this system does not take its name: way" in note for _, notes in written for note in notes)

    def test_links_are_links_and_lead_nowhere(self, clone: Clone, tmp_path: Path, written: list[Any]) -> None:
        (tmp_path / "secret.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: secret}\n")
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
        assert clusters(review(clone.top / "current")) == {"amsterdam": "updated", "dublin": "updated"}

    def test_names_that_differ_in_case_alone(self, clone: Clone) -> None:
        (clone.fleet / "A.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: one}\n")
        (clone.fleet / "a.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: two}\n")
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
        assert review(clone.top / "-r", "--head", "change")["against"].endswith("has no -r, so all of it is new")

    def test_submodules_and_pointers_are_named(self, clone: Clone) -> None:
        pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
        (clone.fleet / "large.txt").write_text(pointer)
        clone.git("update-index", "--add", "--cacheinfo", f"160000,{clone.git('rev-parse', 'main')},fleet/module")
        clone.git("update-index", "--add", "--cacheinfo", f"160000,{clone.git('rev-parse', 'main')},elsewhere")
        clone.git("add", "fleet/large.txt")
        clone.git("commit", "-q", "-m", "more")
        clone.git("branch", "-f", "main")
        result = run("review", clone.fleet, "--base", "main")
        assert "note: main: 1 submodule is not read: fleet/module\n" in result.stderr
        assert "note: main: 1 file of Git LFS is read as pointers: fleet/large.txt\n" in result.stderr
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
            tree = clone.git("mktree", given="".join(f"040000 tree {tree}\t{n}\n" for n in range(10)).encode())
        commit = clone.git("commit-tree", tree, "-p", "main", "-m", "many")
        clone.git("update-ref", "refs/heads/change", commit)
        assert "MiB of names" in failing(clone.fleet, "--head", "change")


def project(image: str) -> dict[str, str]:
    """A program with modules beside it, elsewhere in the repository, and with a plug-in of its own."""
    return {
        **PROJECT,
        "stacks/__main__.py": "import os, sys\nsys.path.insert(0, '../shared')\nimport helper\n"
        "print(helper.NAME, os.environ.get('PLANTED'))\nos.environ['PLANTED'] = 'yes'\nhelper.fleet()\n",
        "stacks/helper.py": PROGRAM.replace(
            "Fleet.from_config",
            "from shared_names import NAME\n\ndef fleet():\n    Fleet.from_config",
        ),
        "shared/shared_names.py": f"NAME = '{image}'\n",
    }


@pytest.mark.long
class TestProjects:
    def test_modules_of_the_base_do_not_leak(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        clone = Clone(tmp_path / "clone", project("one"), within=".")
        edit(clone.top / "shared/shared_names.py", "one", "two")
        edit(clone.top / "stacks/fleet/shop.yaml", "1.27.5", "1.28.0")
        result = run("review", clone.top, "--stack", "dev", "--base", "main", "-o", "json")
        assert result.exit_code == 0, result.output
        document = json.loads(result.stdout)
        assert clusters(document) == {"amsterdam": "updated", "dublin": "updated"}
        printed = result.stderr.splitlines()
        assert (printed[0], printed[-1]) == ("one None", "two None")
        assert "PLANTED" not in os.environ
        assert not {"helper", "shared_names"} & sys.modules.keys()

    def test_without_a_change(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", PROJECT, within=".")
        result = run("review", clone.top, "--stack", "dev", "--base", "main", "--detailed-exitcode")
        assert (result.exit_code, result.stderr) == (0, "")

    def test_a_plugin_of_the_base_does_not_decide_for_the_head(self, tmp_path: Path) -> None:
        plugin = (
            "from fleet_components.plugins import *\n"
            "class Only(Filter):\n    name = 'Only'\n    profiles = ('kubefleet',)\n"
            "    def mask(self, state, candidates):\n"
            "        return candidates & state.inventory.mask_of_names(['amsterdam'])\n"
            "    def reason(self, state, position):\n        return 'is another'\n"
        )
        files = {**PROJECT, "stacks/own.py": plugin}
        files["stacks/Pulumi.dev.yaml"] += "  fleet:plugins: own:Only\n"
        clone = Clone(tmp_path / "clone", files, within=".")
        edit(clone.top / "stacks/fleet/placement.yaml", "numberOfClusters: 2", "numberOfClusters: 1")
        edit(clone.top / "stacks/own.py", "amsterdam", "dublin")
        document = review(clone.top, "--stack", "dev")
        assert document["against"].endswith("as if newly made")
        clone.commit()
        clone.git("branch", "-f", "main")
        edit(clone.top / "stacks/own.py", "'dublin'", "'iowa', 'virginia'")
        (clone.top / "stacks/fleet/new.yaml").write_text(
            PLACEMENT.replace("{name: shop}", "{name: new}", 1)
            .replace("name: shop}", "name: new}")
            .replace("environment: production", "region: america")
            .replace("numberOfClusters: 2", "numberOfClusters: 1")
            + "---\n"
            + SHOP.replace("shop", "new")
        )
        assert clusters(review(clone.top, "--stack", "dev"), "new") == {"virginia": "joins"}

    def test_a_program_is_run_for_both_sides_or_for_none(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", PROJECT, within=".")
        assert "--no-program runs none" in failing(clone.top, "--no-program")
        assert "nothing asks to run it" in failing_as_is(clone.top)

    def test_a_commit_of_a_project(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", PROJECT, within="infra/web")
        edit(clone.fleet / "stacks/fleet/shop.yaml", "1.27.5", "1.28.0")
        clone.commit()
        shutil.rmtree(clone.fleet / "stacks/fleet")
        saved = tmp_path / "state.json"
        document = review(clone.fleet, "--stack", "dev", "--head", "change", "--save-state", saved)
        assert clusters(document) == {"amsterdam": "updated", "dublin": "updated"}
        assert document["fleet"]["directory"] == str(clone.fleet)
        clone.git("checkout", "-q", ".")
        assert plan(clone.fleet, "--stack", "dev", "--state", saved)["headline"][0] == "nothing changes"

    def test_with_what_runs(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", PROJECT, within=".")
        saved = tmp_path / "state.json"
        plan(clone.top, "--save-state", saved)
        clone.git("checkout", "-q", "main")
        edit(clone.top / "stacks/fleet/shop.yaml", "1.27.5", "1.28.0")
        clone.commit()
        clone.git("checkout", "-q", "-B", "change")
        (one,) = review(clone.top, "--stack", "dev", "--state", saved)["subjects"]
        assert one["pending"] is True

    def test_a_fault_of_the_base_program_is_named(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", {**PROJECT, "stacks/__main__.py": "raise ValueError('oh')\n"}, within=".")
        (clone.top / "stacks/__main__.py").write_text(PROGRAM)
        result = run("review", clone.top, "--stack", "dev", "--base", "main", "-o", "json")
        assert result.exit_code == 0, result.output
        assert "main:stacks/__main__.py:1" in result.stderr
        assert "temporary" not in result.stderr + result.stdout


def failing_as_is(*args: object) -> str:
    """As the command line is written, without asking for a project."""
    from click.testing import CliRunner

    from fleet_components.cli.command import fleet

    words = ["review", *map(str, args), "--base", "main"]
    result: Result = CliRunner().invoke(fleet, words, catch_exceptions=False)
    assert result.exit_code == 1
    return result.stderr


@pytest.mark.parametrize("where", ["writing", "planning"])
def test_nothing_is_left_after_an_interruption(where: str, clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    place: tuple[Any, str] = (reading, "_placed") if where == "writing" else (two_sides, "survey")
    monkeypatch.setattr(*place, interrupted)
    with pytest.raises(KeyboardInterrupt):
        two_sides.review([clone.fleet], CommandLine(), "main")


def test_a_fork_without_any_state_gets_a_useful_review(clone: Clone) -> None:
    """What a workflow for strangers runs: no program, no state, a comment."""
    edit(clone.fleet / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 1")
    clone.commit()
    result = run("review", clone.fleet, "--base", "main", "--no-program", "-o", "markdown")
    assert result.exit_code in (0, 3)
    assert "as if newly made" in result.stdout
    assert "dublin" in result.stdout
