"""The command ``fleet review``: two sides of a pull request, with and without what really runs."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.cli.clone import Clone, another, asked, failing, review
from tests.cli.fleets import FLEET, MEMBERS, PROJECT, SECRET, clusters, edit, plan, run, write
from tests.delivery.karmada.world import deployment, member, policy, weights

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not on PATH"),
    pytest.mark.usefixtures("nothing_left"),
]


EXAMPLES = [
    folder
    for folder in sorted((Path(__file__).parents[2] / "examples").iterdir())
    if list(folder.glob("*.yaml")) == list(folder.rglob("*.yaml")) != []
    and not (folder / "Pulumi.yaml").exists()
]


class TestTwoSides:
    def test_what_a_pull_request_changes_is_all_that_is_shown(self, clone: Clone) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        clone.commit()
        document = review(clone.fleet)
        assert clusters(document) == {"amsterdam": "updated", "dublin": "updated"}
        assert (
            document["against"]
            == f"main at {clone.git('rev-parse', '--short', 'main')}, as if newly made"
        )
        assert document["state"] is None

    def test_without_a_change_nothing_changes(self, clone: Clone) -> None:
        result = run("review", clone.fleet, "--base", "main", "--detailed-exitcode")
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.startswith("nothing changes\n")

    def test_a_secret_that_changes_is_shown_without_its_data(self, clone: Clone) -> None:
        edit(clone.fleet / "shop.yaml", SECRET, f"{SECRET}-2")
        for form in ("table", "json", "markdown"):
            result = run("review", clone.fleet, "--base", "main", "--diff", "-o", form)
            assert "Secret shop/payment" in result.stdout
            assert SECRET not in result.output

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("region: europe", "region: asia", "region: europe -> asia"),
            ("region: europe", "tier: gold", "region: europe -> (none), tier: (none) -> gold"),
        ],
    )
    def test_a_member_that_changes_is_named_whatever_moves(
        self, clone: Clone, old: str, new: str, words: str
    ) -> None:
        file = next(
            file
            for file in sorted(clone.fleet.rglob("*.yaml"))
            if "name: dublin" in file.read_text()
        )
        before, mark, after = file.read_text().partition("name: dublin")
        file.write_text(before + mark + after.replace(old, new, 1))
        for form in ("table", "markdown"):
            result = run("review", clone.fleet, "--base", "main", "-o", form)
            told = " ".join(result.stdout.split()).replace("&gt;", ">").replace("\\", "")
            assert f"changed is member dublin ({words})" in told, told

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
        assert [change["object"] for change in document["subjects"][0]["content"]] == [
            "Deployment shop/storefront"
        ]
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

    def test_a_repository_below_the_current_directory(
        self, clone: Clone, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        monkeypatch.chdir(clone.fleet)
        assert clusters(review(".")) == {"amsterdam": "updated", "dublin": "updated"}
        monkeypatch.chdir(clone.top.parent)
        assert clusters(review("clone/fleet/../fleet")) == {
            "amsterdam": "updated",
            "dublin": "updated",
        }

    def test_files_alone(self, clone: Clone) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        files = [clone.fleet / name for name in FLEET]
        assert clusters(review(*files)) == {"amsterdam": "updated", "dublin": "updated"}

    def test_templates_of_karmada(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", karmada(replicas=4))
        assert review(clone.fleet)["headline"][0] == "nothing changes"
        write(clone.fleet, karmada(replicas=8))
        (item,) = review(clone.fleet)["subjects"]
        assert (item["name"], {member["change"] for member in item["clusters"]}) == (
            "Template/" + WEB,
            {"updated"},
        )
        assert item["unsure"] == (
            "replicas that are divided stay while their number and the policy do: with --state not as a 4, b 4"
        )

    def test_a_link_to_the_repository(self, clone: Clone, tmp_path: Path) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        (tmp_path / "way").symlink_to(clone.top)
        assert clusters(review(tmp_path / "way/fleet")) == {
            "amsterdam": "updated",
            "dublin": "updated",
        }

    def test_what_goes_along_with_a_template_is_marked_with_it(self, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", karmada(replicas=4, needs="one"))
        write(clone.fleet, karmada(replicas=4, needs="two"))
        marks = {item["key"]: item["unsure"] for item in review(clone.fleet)["subjects"]}
        assert "no policy follows it" in marks["shop/ConfigMap/settings"]

    @pytest.mark.parametrize("files", [FLEET, PROJECT], ids=["directory", "project"])
    def test_two_doors_agree(self, files: Mapping[str, str], tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", files)
        checkout = Path(shutil.copytree(clone.fleet, tmp_path / "checkout" / "fleet"))
        shop = next(clone.fleet.rglob("shop.yaml"))
        edit(shop, "1.27.5", "1.28.0")
        edit(shop.parent / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 1")
        agree(clone, checkout, tmp_path / "state.json")

    @pytest.mark.long
    @pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
    def test_two_doors_agree_on_every_example(self, folder: Path, tmp_path: Path) -> None:
        clone = Clone(tmp_path / "clone", example(folder.name))
        checkout = Path(shutil.copytree(clone.fleet, tmp_path / "checkout" / "fleet"))
        for file in clone.fleet.iterdir():
            text = re.sub(r"(image: \S+:)[^\s\"]+", r"\g<1>99", file.read_text())
            file.write_text(re.sub(r"replicas: \d+", "replicas: 7", text))
        agree(clone, checkout, tmp_path / "state.json")

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
        (item,) = review(clone.fleet)["subjects"]
        assert item["unsure"].startswith("main at ")
        assert " waits: stage staging is followed by a wait of 24h0m0s" in item["unsure"]


def agree(clone: Clone, checkout: Path, saved: Path) -> None:
    """A review says what a plan says on the state that a plan of the base has saved, with the same approvals."""
    approve: list[object] = []
    while needed := plan(checkout, "--save-state", saved, *approve)["remaining"]["approvals"]:
        approve += [word for name in needed for word in ("--approve", name)]
    item, other = (
        plan(clone.fleet, "--state", saved, *approve),
        review(*asked(clone.fleet), "--all"),
    )
    for document in (item, other):
        for key in (
            "state",
            "against",
            "headline",
            "messages",
            "fleet",
            "unsure",
            "secretsHidden",
            "asBefore",
            "unchanged",
        ):
            document.pop(key, None)
        for subject in document["subjects"]:
            subject.pop("unsure")
            # Only a review knows in what its base is as well, which counts less.
            subject.pop("asBefore")
            subject.pop("weight")
        document["subjects"].sort(key=lambda subject: subject["name"])
    assert item == other


def example(name: str) -> dict[str, str]:
    folder = Path(__file__).parents[2] / "examples" / name
    return {path.name: path.read_text() for path in folder.glob("*.yaml")}


WEB = "shop/Deployment/web"


def karmada(replicas: int, needs: str = "") -> dict[str, str]:
    """Two members that share the replicas of a Deployment, and maybe a ConfigMap that it needs."""
    source = [{"configMapRef": {"name": "settings"}}]
    web = deployment(replicas)
    objects = [
        member("a"),
        member("b"),
        policy(placement=weights(a=1, b=1), propagateDeps=bool(needs)),
        web,
    ]
    if needs:
        web["spec"]["template"]["spec"]["containers"][0]["envFrom"] = source
        metadata = {"name": "settings", "namespace": "shop"}
        objects.append(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"is": needs}}
        )
    return {"fleet.yaml": yaml.safe_dump_all(objects)}


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
        write(clone.fleet, {"other.yaml": another()})
        document = review(clone.fleet, "--state", running)
        assert {item["key"]: item["pending"] for item in document["subjects"]} == {
            "shop": True,
            "other": False,
        }
        assert document["against"].startswith(
            f"what runs, by {running}; 1 of these changes comes from main at "
        )
        assert {item["unsure"] for item in document["subjects"]} == {None}

    def test_what_the_pull_request_changes_further_is_its_own(
        self, clone: Clone, running: Path
    ) -> None:
        clone.git("checkout", "-q", "main")
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        clone.commit()
        clone.git("checkout", "-q", "-B", "change")
        edit(clone.fleet / "shop.yaml", "1.28.0", "1.29.0")
        document = review(clone.fleet, "--state", running)
        assert [item["pending"] for item in document["subjects"]] == [False]
        assert document["against"].startswith(f"what runs, by {running}; main at ")
        assert document["against"].endswith(" changes shop too, in another way")

    def test_nothing_of_main_is_due(self, clone: Clone, running: Path) -> None:
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        document = review(clone.fleet, "--state", running)
        assert [item["pending"] for item in document["subjects"]] == [False]
        assert document["against"] == f"what runs, by {running}"

    def test_what_goes_with_main_already(self, clone: Clone, running: Path) -> None:
        clone.git("checkout", "-q", "main")
        (clone.fleet / "placement.yaml").unlink()
        write(clone.fleet, {"other.yaml": another()})
        clone.commit()
        clone.git("checkout", "-q", "-B", "change")
        document = review(clone.fleet, "--state", running, status=3)
        assert "2 of these changes come from main at " in document["against"]

    def test_the_past_counts(self, clone: Clone, running: Path) -> None:
        """With it, a member that is picked stays; as if newly made, the cheaper one would be picked."""
        edit(clone.fleet / "members.yaml", "maintenance", "gone")
        assert review(clone.fleet, "--state", running)["headline"][0] == "nothing changes"

    def test_a_base_that_cannot_be_planned_is_named(self, clone: Clone, running: Path) -> None:
        broken(clone)
        result = run("review", clone.fleet, "--base", "main", "--state", running, "-o", "json")
        assert result.exit_code == 0
        assert (
            "cannot be planned, so what it changes as well is not known"
            in json.loads(result.stdout)["against"]
        )
        assert "warning: main:fleet/placement.yaml:" in result.stderr

    def test_a_directory_is_no_state(self, clone: Clone) -> None:
        assert "is not an observed directory" in failing(clone.fleet, "--state", clone.fleet)

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
        (item,) = document["subjects"]
        assert item["unsure"] == (
            "PickN 2 keeps members that it has picked: with --state others than amsterdam, dublin may have it"
        )
        assert (
            "1 decision could be another with the state that is in force" in document["headline"][2]
        )

    def test_what_no_past_could_change_is_not_marked(self, clone: Clone) -> None:
        clone.git("checkout", "-q", "main")
        edit(clone.fleet / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 9")
        placement = (clone.fleet / "placement.yaml").read_text()
        (clone.fleet / "placement.yaml").write_text(
            placement.replace("environment: production", "x: z")
        )
        members = MEMBERS.replace("labels: {", "labels: {x: z, ").replace("  taints:\n", "")
        members = members.replace('  - {key: maintenance, value: "true", effect: NoSchedule}\n', "")
        (clone.fleet / "members.yaml").write_text(members)
        clone.commit()
        clone.git("checkout", "-q", "-B", "change")
        edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
        assert [item["unsure"] for item in review(clone.fleet)["subjects"]] == [None]

    def test_what_is_new_is_newly_made_indeed(self, clone: Clone) -> None:
        write(clone.fleet, {"other.yaml": another()})
        assert [(item["key"], item["unsure"]) for item in review(clone.fleet)["subjects"]] == [
            ("other", None)
        ]

    def test_a_base_without_the_path_says_so(self, clone: Clone) -> None:
        write(clone.top / "new")
        document = review(clone.top / "new")
        assert document["against"].startswith("nothing: main at ")
        assert document["against"].endswith(" has no new, so all of it is new")
        assert set(clusters(document).values()) == {"joins"}
        assert [item["unsure"] for item in document["subjects"]] == [None]

    def test_a_base_without_one_of_the_paths(self, clone: Clone) -> None:
        write(clone.top / "new", {"other.yaml": another()})
        document = review(clone.fleet, clone.top / "new")
        assert "it has no new, so that is new" in document["against"]
        assert [item["key"] for item in document["subjects"]] == ["other"]

    def test_an_error_of_the_base_does_not_hide_what_mends_it(self, clone: Clone) -> None:
        broken(clone)
        result = run("review", clone.fleet, "--base", "main", "--strict", "-o", "json")
        document = json.loads(result.stdout)
        assert result.exit_code == 0, result.output
        assert "warning: main:fleet/placement.yaml:8: " in result.stderr
        assert document["against"].startswith("nothing: main at ")
        assert "cannot be planned: main:fleet/placement.yaml:8: " in document["against"]
        assert set(clusters(document).values()) == {"joins"}
        assert [bool(item["unsure"]) for item in document["subjects"]] == [True]

    def test_a_base_that_would_be_refused_is_as_one_with_an_error(self, clone: Clone) -> None:
        clone.git("checkout", "-q", "main")
        storefront = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "storefront"}
        claim = policy(resourceSelectors=[storefront], placement={})
        claim["metadata"]["namespace"] = "shop"
        write(clone.fleet, {"claimed.yaml": yaml.safe_dump(claim)})
        clone.commit()
        clone.git("checkout", "-q", "-B", "change")
        (clone.fleet / "claimed.yaml").unlink()
        assert "cannot be planned: " in review(clone.fleet)["against"]

    def test_an_error_of_the_reviewed_side_is_one(self, clone: Clone) -> None:
        edit(clone.fleet / "placement.yaml", "PickN", "PickSome")
        assert f"error: {clone.fleet}/placement.yaml:8: " in failing(clone.fleet)
        clone.commit()
        assert "error: change:fleet/placement.yaml:8: " in failing(clone.fleet, "--head", "change")

    def test_what_an_update_is_given_is_not_that_of_the_base(self, clone: Clone) -> None:
        document = review(clone.fleet, "--lost", "dublin")
        assert document["gone"]["objects"] or clusters(document)["dublin"] != "stays"


def test_a_fork_without_any_state_gets_a_useful_review(clone: Clone) -> None:
    """What a workflow for strangers runs: no program, no state, a comment."""
    edit(clone.fleet / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 1")
    clone.commit()
    result = run("review", clone.fleet, "--base", "main", "--no-program", "-o", "markdown")
    assert result.exit_code in (0, 3)
    assert "as if newly made" in result.stdout
    assert "dublin" in result.stdout


def test_the_guide_shows_what_is_printed(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    shown = (root / "docs/review.md").read_text().partition("--base main\n")[2].partition("```")[0]
    clone = Clone(
        tmp_path / "clone",
        {path.name: path.read_text() for path in (root / "stacks/fleet").iterdir()},
    )
    edit(clone.fleet / "shop.yaml", "1.27.5", "1.28.0")
    printed = run("review", clone.fleet, "--base", "main", width=110).stdout
    at = re.compile(r"main at \w{7}")
    assert at.sub("main", printed) == at.sub("main", shown)
