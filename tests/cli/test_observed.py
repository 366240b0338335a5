"""Commands on a directory that is observed of a hub: what the hub would do, from what it has decided."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

from fleet_components.cli import clock
from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.observation import HubObservation
from fleet_components.plan.source import gather
from fleet_components.review.planning.edit import FileEdit, edited
from fleet_components.systems.registry import SYSTEMS
from tests.cli.clone import Clone
from tests.cli.fleets import SECRET, edit, plan, run, write
from tests.hub.folder.hubs import AS_OF, KARMADA, kubefleet, later, observed

SHOP = "policies/ClusterResourcePlacement/shop.yaml"
CONFIG = "objects/shop/ConfigMap.storefront.yaml"
POLICY = "policies/PropagationPolicy/shop.web.yaml"
LOSES = "to be confirmed: shop loses amsterdam, nothing else changes"
START = "from the hub as observed 2026-11-23T18:00:00Z"


@pytest.fixture(scope="module")
def of_kubefleet() -> HubObservation:
    return observed(kubefleet())


@pytest.fixture(scope="module")
def of_karmada() -> HubObservation:
    return observed(KARMADA, SYSTEMS["karmada"])


@pytest.fixture
def folder(of_kubefleet: HubObservation, tmp_path: Path) -> Path:
    write_observation(tmp_path / "fleet", of_kubefleet, update=False)
    return tmp_path / "fleet"


@pytest.fixture
def karmada(of_karmada: HubObservation, tmp_path: Path) -> Path:
    write_observation(tmp_path / "karmada", of_karmada, update=False)
    return tmp_path / "karmada"


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, hours=3)


def at(monkeypatch: pytest.MonkeyPatch, **after: int) -> None:
    monkeypatch.setattr(clock, "now", lambda: AS_OF + timedelta(**after))


def test_right_after_an_observation_there_is_nothing_to_do(folder: Path, karmada: Path) -> None:
    for place, system in ((folder, "kubefleet"), (karmada, "karmada")):
        document = plan(place, "--detailed-exitcode")
        assert document["headline"][0] == "nothing changes"
        assert document["headline"][2].startswith(f"{START}: unchanged are ")
        assert document["observed"] == {
            "system": system,
            "hub": True,
            "asOf": "2026-11-23T18:00:00Z",
            "silent": [],
            "unanswered": [],
            "unknown": [],
            "hubOnly": [],
            "unseen": [],
        }
        assert (document["against"], document["asOf"]) == (
            START.removeprefix("from "),
            "2026-11-23T18:00:00+00:00",
        )
        assert document["warnings"] == []


def test_an_edit_is_what_the_hub_would_do(folder: Path, karmada: Path) -> None:
    edit(folder / SHOP, "numberOfClusters: 2", "numberOfClusters: 1")
    assert plan(folder, status=3)["headline"][0] == LOSES
    edit(karmada / POLICY, "- b", "- c")
    assert "shop/Deployment/web moves from b to c" in plan(karmada, status=3)["headline"][0]


def test_a_hub_asks_nobody_so_a_loss_is_to_be_confirmed(folder: Path) -> None:
    edit(folder / SHOP, "numberOfClusters: 2", "numberOfClusters: 1")
    for form in ("table", "markdown", "json"):
        result = run("plan", folder, "-o", form)
        text = " ".join(result.output.replace("\\", "").split())
        assert "1 confirmation is needed: the hub would delete what is below without asking" in text
        assert "to be confirmed: " in text
        assert "update is refused" not in text
        assert "refused: " not in text
        assert result.exit_code == 3


def test_a_template_that_its_policy_leaves_is_told_in_words(karmada: Path) -> None:
    (karmada / POLICY).unlink()
    for form in ("table", "markdown"):
        text = run("plan", karmada, "-o", form).stdout.replace("\\", "")
        assert "shop/Deployment/web stays as it was placed" in text
        assert "claimed by: PropagationPolicy shop/web -> (none)" in text.replace("&gt;", ">")
        assert "memory." not in text


def test_what_leaves_a_member_is_deleted_as_a_hub_deletes_it(folder: Path) -> None:
    edit(folder / SHOP, "numberOfClusters: 2", "numberOfClusters: 1")
    gone = plan(folder, status=3)["gone"]["objects"]
    assert {item["fate"] for item in gone} == {"deleted"}
    assert "Namespace shop" in {item["object"] for item in gone}


def test_a_member_that_leaves_keeps_what_kubefleet_has_brought_and_not_what_karmada_has(
    folder: Path, karmada: Path
) -> None:
    for place, fate in ((folder, "kept"), (karmada, "deleted")):
        fates = set()
        for member in sorted((place / "members").iterdir()):
            text = member.read_text()
            member.unlink()
            fates |= {
                load["fate"]
                for load in json.loads(run("plan", place, "-o", "json").stdout)["gone"]["objects"]
            }
            member.write_text(text)
        assert fates == {fate}


def test_a_loss_is_refused_until_it_is_confirmed(folder: Path) -> None:
    (folder / SHOP).unlink()
    refused = plan(folder, status=3)["refused"]
    assert all(f"--confirm {item['token']}" in item["hint"] for item in refused)
    plan(folder, *(word for item in refused for word in ("--confirm", item["token"])))


def test_its_age_is_in_what_people_read_and_not_in_documents(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for form in ("table", "markdown"):
        assert f"{START}, 3 hours ago: unchanged" in " ".join(
            run("plan", folder, "-o", form).stdout.split()
        )
    assert "ago" not in run("plan", folder, "-o", "json").stdout
    ages = [
        ({"seconds": 30}, "just now"),
        ({"minutes": 1}, "1 minute ago"),
        ({"hours": 23}, "23 hours ago"),
        ({"days": 2}, "2 days ago"),
    ]
    for after, words in ages:
        at(monkeypatch, **after)
        assert f"{START}, {words}: " in " ".join(run("plan", folder).stdout.split())
    at(monkeypatch, hours=-1)
    assert f"{START}: unchanged" in " ".join(run("plan", folder).stdout.split())


@pytest.mark.parametrize(
    "command", [("plan",), ("explain",), ("simulate", "--lose", "iowa"), ("drain", "dublin")]
)
def test_an_old_observation_is_warned_of(
    command: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, *more = command
    words = (name, *more, folder) if name == "drain" else (name, folder, *more)
    warning = "warning: the hub was observed 1 day ago: fleet observe --update\n"
    assert warning not in run(*words).stderr
    at(monkeypatch, hours=25)
    assert warning in run(*words).stderr


def test_silent_members_and_what_is_left_out_are_named(
    folder: Path, of_kubefleet: HubObservation
) -> None:
    silent = later(
        of_kubefleet, silent={"iowa": "timed out"}, notes=("the Widgets: nobody may list them",)
    )
    write_observation(folder, silent, update=True)
    document = plan(folder)
    assert document["observed"]["silent"] == [
        {"member": "iowa", "why": "timed out", "since": "2026-11-23T18:00:00Z"}
    ]
    text = " ".join(run("plan", folder).stdout.split())
    assert (
        "iowa did not answer when the hub was observed; its record is of 2026-11-23T18:00:00Z, 3 hours ago"
        in text
    )
    assert "the observation leaves out: the Widgets: nobody may list them" in text


def test_times_are_judged_as_of_the_observation(folder: Path) -> None:
    assert plan(folder, "--as-of", "2027-01-01T00:00:00Z")["asOf"] == "2027-01-01T00:00:00+00:00"
    assert plan(folder, "--state", folder)["asOf"] == "2026-11-23T18:00:00+00:00"


def test_a_state_counts_instead_and_it_is_said(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    run("plan", folder, "--save-state", state)
    document = plan(folder, "--state", state)
    assert document["observed"] is None
    assert document["against"] == f"the state {state}, not with the hub as it was observed"


def test_an_observed_directory_is_a_state_for_other_files(folder: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other")
    edit(other / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 1")
    document = plan(other, "--state", folder, status=3)
    assert document["headline"][0] == LOSES
    assert document["headline"][2].startswith(START)


def test_it_is_found_below_what_is_planned(folder: Path) -> None:
    assert plan(folder.parent)["headline"][0] == "nothing changes"


def test_two_of_them_are_refused(folder: Path, karmada: Path) -> None:
    result = run("plan", folder, karmada)
    assert result.exit_code == 1
    assert "are 2 observed directories, each of a hub of its own" in result.stderr


def test_further_files_are_part_of_it(folder: Path, tmp_path: Path) -> None:
    more = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "more", "namespace": "shop"},
    }
    (tmp_path / "more.yaml").write_text(yaml.safe_dump(more))
    assert "2 clusters get" in plan(folder, tmp_path / "more.yaml")["headline"][0]


def test_secrets_are_compared_as_far_as_they_are_known(folder: Path) -> None:
    document = plan(folder)
    assert document["secretsHidden"]
    assert SECRET not in json.dumps(document)


def test_simulations_start_from_the_hub(folder: Path, karmada: Path) -> None:
    for place, name in ((folder, "dublin"), (karmada, "a")):
        document = json.loads(run("simulate", place, "--lose", name, "-o", "json").stdout)
        assert document["headline"][2].startswith(f"{START}, supposing: {name} lost")
        assert (
            f"lose {name}" in document["headline"][0] or f"loses {name}" in document["headline"][0]
        )


def test_explanations_start_from_the_hub(folder: Path, karmada: Path) -> None:
    edit(folder / SHOP, "numberOfClusters: 2", "numberOfClusters: 1")
    assert "found 1 cluster(s)" in run("explain", folder, "shop", "dublin").stdout
    assert "Template shop/Deployment/web" in run("explain", karmada, "shop/Deployment/web").stdout


AUTOSCALER = {
    "apiVersion": "autoscaling.karmada.io/v1alpha1",
    "kind": "FederatedHPA",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "minReplicas": 1,
        "maxReplicas": 5,
    },
}


def test_what_only_the_hub_carries_out_is_passed_over_in_a_line(
    tmp_path: Path, of_karmada: HubObservation
) -> None:
    others = (AUTOSCALER, {**AUTOSCALER, "metadata": {"name": "more", "namespace": "shop"}})
    write_observation(
        tmp_path / "hub",
        attrs.evolve(of_karmada, policies=(*of_karmada.policies, *others)),
        update=False,
    )
    document = plan(tmp_path / "hub")
    assert document["headline"][0] == "nothing changes"
    (warning,) = document["warnings"]
    assert "passed over, as only the hub carries them out: 2 FederatedHPA" in warning


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("render", "{}", "--out", "out"), "which delivers itself"),
        (("render", "{}", "--out", "out", "--fresh"), "which delivers itself"),
        (("rollout", "{}", "--yes"), "which rolls out itself"),
        (("drift", "{}"), "which says itself what stands on its members"),
        (("status", "{}"), "which says itself what stands on its members"),
        (("status", "other", "--state", "{}"), "which says itself what stands on its members"),
    ],
)
def test_nothing_is_delivered_beside_a_hub(
    words: tuple[str, ...], what: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    write(folder.parent / "other")
    result = run(*(word.format(folder) for word in words))
    assert result.exit_code == 1
    assert what in result.stderr
    assert not (folder.parent / "out").exists()


@pytest.mark.parametrize("width", [40, 80])
def test_paths_are_whole_in_any_terminal(width: int, folder: Path) -> None:
    policy = (
        folder
        / "policies"
        / "ClusterResourcePlacement"
        / "a-long-name-of-a-second-placement-of-the-shop.yaml"
    )
    policy.write_text(
        (folder / SHOP)
        .read_text()
        .replace("name: shop\n", "name: second\n", 1)
        .replace("production", "nowhere")
    )
    shown = run("plan", folder, width=width).stdout
    assert f"{policy}:" in shown
    others = [line for line in shown.splitlines() if len(line) > width]
    assert [
        line for line in others if " " in line.strip() and "if all of them are meant" not in line
    ] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("rollout", "{}", "--yes"),
            "apply the files to the hub; fleet plan shows what it will do",
        ),
        (("render", "{}", "--out", "out"), "fleet plan shows what the hub would do"),
        (("status", "{}"), "ask the hub: kubectl get"),
        (("drift", "{}"), "ask the hub: kubectl get"),
        (("rollback", "shop", "{}"), "revision 0 (the newest)"),
        (("approve", "{}"), "no approval is asked for"),
        (("drain", "dublin", "{}"), "not written, without --write"),
    ],
)
def test_each_command_works_or_says_what_to_do_at_a_hub(
    words: tuple[str, ...], said: str, folder: Path
) -> None:
    assert said in " ".join(run(*(word.format(folder) for word in words)).output.split())


def test_a_selector_of_what_nobody_has_observed_is_named(folder: Path, karmada: Path) -> None:
    edit(folder / SHOP, "kind: Namespace\n    name: shop", "kind: Namespace\n    name: unseen")
    edit(karmada / POLICY, "kind: Deployment", "kind: StatefulSet")
    hint = "is in this observation, which has only what policies select: the hub may have some, and they are not forecast"
    for place in (folder, karmada):
        text = " ".join(run("plan", place).stdout.split())
        assert hint in text.replace(" (the hub", ": the hub")
        assert "as far as" not in text  # what this policy selected was observed


def test_what_edits_files_works(folder: Path) -> None:
    result = run("drain", "dublin", folder, "--write")
    assert result.exit_code in (0, 3), result.output
    assert "eviction" in result.stdout.lower()
    assert "revision 0" in run("rollback", "shop", folder).stdout
    assert "no approval is asked for" in run("approve", folder).stdout


# Reviews


@pytest.fixture
def cloned(folder: Path) -> Clone:
    clone = Clone(folder.parent / "clone", files={"README.md": "read me"})
    clone.git("checkout", "-q", "main")
    folder.rename(clone.fleet / "hub")
    clone.fleet = clone.fleet / "hub"
    clone.commit()
    clone.git("checkout", "-q", "-B", "change")
    return clone


def review(clone: Clone, *args: object, status: int = 0) -> dict[str, Any]:
    result = run("review", clone.fleet, "--base", "main", *args, "-o", "json")
    assert result.exit_code == status, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_review_is_of_what_the_hub_would_do(cloned: Clone) -> None:
    assert review(cloned)["headline"][0] == "nothing changes"
    edit(cloned.fleet / SHOP, "numberOfClusters: 2", "numberOfClusters: 1")
    for head in ((), ("--head", "change")):
        cloned.commit() if not head else None
        document = review(cloned, *head, status=3)
        assert document["headline"][0] == LOSES
        assert document["headline"][2].startswith(f"{START}: unchanged")
        assert document["observed"]["asOf"] == "2026-11-23T18:00:00Z"
        assert not document["subjects"][0]["pending"]
    text = run("review", cloned.fleet, "--base", "main", "-o", "markdown").stdout
    assert "3 hours ago" in text


def test_what_was_merged_and_not_applied_is_pending(cloned: Clone) -> None:
    cloned.git("checkout", "-q", "main")
    edit(cloned.fleet / SHOP, "numberOfClusters: 2", "numberOfClusters: 1")
    cloned.commit()
    cloned.git("checkout", "-q", "-B", "change")
    document = review(cloned, status=3)
    assert document["headline"][0] == "to be confirmed: nothing changes but what is due already"
    assert document["subjects"][0]["pending"]
    assert "1 of these changes comes from main at" in document["against"]
    text = " ".join(run("review", cloned.fleet, "--base", "main").stdout.split())
    assert (
        "due already, as what is compared with changes the same: 1 placement (shop): --all shows them"
        in text
    )
    assert "ClusterResourcePlacement shop PickN" not in text
    edit(cloned.fleet / CONFIG, "currency: EUR", "currency: CHF")
    document = review(cloned, status=3)
    assert document["headline"][0].startswith("to be confirmed: shop loses amsterdam, ")
    assert not document["subjects"][0]["pending"]


def test_the_observation_of_the_reviewed_side_counts(
    cloned: Clone, of_kubefleet: HubObservation
) -> None:
    edit(cloned.fleet / SHOP, "numberOfClusters: 2", "numberOfClusters: 1")
    cloned.commit()
    cloned.git("checkout", "-q", "main")
    write_observation(cloned.fleet, later(of_kubefleet, notes=("something new",)), update=True)
    cloned.commit()
    cloned.git("checkout", "-q", "change")
    result = run("review", cloned.fleet, "--base", "main", "-o", "json")
    assert json.loads(result.stdout)["observed"]["asOf"] == "2026-11-23T18:00:00Z"
    assert (
        "note: main has an observation of 2026-11-23T19:00:00Z, later than this one: merge it in"
        in result.stderr
    )
    cloned.git("merge", "-q", "-m", "merged", "main")
    result = run("review", cloned.fleet, "--base", "main", "-o", "json")
    assert json.loads(result.stdout)["observed"]["asOf"] == "2026-11-23T19:00:00Z"
    assert "later than this one" not in result.stderr


def test_the_observation_that_a_pull_request_brings_counts_once_it_is_merged(cloned: Clone) -> None:
    cloned.git("checkout", "-q", "main")
    cloned.git("reset", "-q", "--hard", "HEAD~1")
    cloned.git("checkout", "-q", "change")
    document = review(cloned)
    assert document["observed"] is None
    assert "all of it is new" in document["headline"][2]
    (told,) = document["disregarded"]
    assert told.startswith("fleet/hub/observed is not in main at ")


def test_a_review_takes_a_directory_as_state(cloned: Clone, karmada: Path) -> None:
    edit(cloned.fleet / SHOP, "numberOfClusters: 2", "numberOfClusters: 1")
    other = cloned.top.parent / "observed elsewhere"
    cloned.fleet.rename(other)
    write(cloned.fleet)
    cloned.commit()
    edit(cloned.fleet / "placement.yaml", "numberOfClusters: 2", "numberOfClusters: 1")
    document = review(cloned, "--state", other, status=3)
    assert document["headline"][0] == LOSES
    assert document["headline"][2].startswith(START)


def test_a_damaged_memory_is_no_new_fleet(cloned: Clone) -> None:
    (cloned.fleet / "observed/fleet.json").write_text("<<<<<<< HEAD\n{}\n=======\n{}\n")
    cloned.commit()
    cloned.git("branch", "-f", "main")
    result = run("review", cloned.fleet, "--base", "main")
    assert result.exit_code == 1
    assert "observed/fleet.json" in result.stderr
    assert "fleet observe --hub KUBECONFIG --out DIR --update writes it anew" in result.stderr


@pytest.mark.parametrize(
    "command",
    ["plan DIR", "explain DIR", "simulate DIR --lose iowa", "drain iowa DIR"],
)
def test_every_command_reads_what_was_observed_of_a_member(
    command: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    part = folder / "observed/members/dublin.yaml"
    edit(part, "value: ", "value: many # ")
    name, _, rest = command.partition(" ")
    result = run(name, *rest.replace("DIR", folder.name).split())
    place = f"{folder.name}/observed/members/dublin.yaml:7: MemberCluster dublin: status.properties"
    assert place in result.output, result.output


def test_a_review_reads_what_the_base_has_observed_of_a_member(cloned: Clone) -> None:
    part = cloned.fleet / "observed/members/dublin.yaml"
    edit(part, "metadata:", "metadata: [")
    (told,) = review(cloned)["disregarded"]
    assert told.startswith("fleet/hub/observed is changed here, and not believed")
    cloned.commit()
    cloned.git("branch", "-f", "main")
    assert (
        "hub/observed/members/dublin.yaml:5" in run("review", cloned.fleet, "--base", "main").output
    )


def test_a_member_that_a_command_edits_keeps_what_was_observed_of_it(folder: Path) -> None:
    source = gather(folder)
    file = folder / "members/dublin.yaml"
    text = file.read_text()
    after = edited(
        source, [FileEdit(str(file), text, text.replace("region: europe", "region: west"))]
    )
    (dublin,) = (cluster for cluster in after.clusters if cluster.name == "dublin")
    assert (dublin.labels["region"], len(dublin.properties)) == ("west", 1)
