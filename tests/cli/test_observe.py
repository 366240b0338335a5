"""``fleet observe``: what it asks, what it writes, and what it says of what is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml
from click.testing import CliRunner, Result

from fleet_components.cli.command import fleet
from fleet_components.hub.listing import Listing, Query
from fleet_components.hub.observation import HubObservation
from fleet_components.systems.registry import SYSTEMS
from tests.hub.members.clusters import node, pod
from tests.live.api_server import CANARY, Api, api_server, hangs, refuses, serves
from tests.live.hubs import CONFIG_MAPS, MEMBERS, SECRETS, kubefleet, reads, thing
from tests.live.test_members import plain


@attrs.define
class Place:
    """A hub, a plain cluster and a folder with kubeconfigs of both."""

    hub: Api
    cluster: Api
    folder: Path

    def run(self, *args: object) -> Result:
        return CliRunner().invoke(fleet, ["observe", *map(str, args)], env={"COLUMNS": "200"})

    def observe(self, *args: object) -> Result:
        return self.run("--hub", "hub", "--out", "out", *args)

    def document(self, *args: object) -> Any:
        return json.loads(self.observe("-o", "json", *args).stdout)

    def files(self) -> Mapping[str, str]:
        out = self.folder / "out"
        return {
            str(path.relative_to(out)): path.read_text()
            for path in sorted(out.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    reads(monkeypatch, read=observed)
    with api_server() as hub, api_server() as cluster:
        kubefleet(hub)
        hub.lists[MEMBERS] = [member("east"), member("west")]
        (tmp_path / "hub").write_text(hub.kubeconfig())
        (tmp_path / "cluster").write_text(plain(cluster).kubeconfig())
        yield Place(hub, cluster, tmp_path)


def member(name: str, **labels: str) -> dict[str, Any]:
    found = thing(
        name,
        spec={"identity": {"kind": "ServiceAccount", "name": name, "namespace": "fleet-system"}},
    )
    found["metadata"] = {"name": name, "labels": labels}
    return found


def said(done: Result) -> str:
    """What a command has printed, in one line."""
    return " ".join(done.output.split())


def observed(listing: Listing) -> HubObservation:
    """Members and objects as they are; nothing that decides."""
    objects = (
        *listing.all("ConfigMap"),
        *(item for item in listing.all("Secret") if "data" in item),
    )
    return HubObservation(
        system=listing.system,
        as_of=listing.as_of,
        members=listing.all("MemberCluster"),
        objects=objects,
        notes=("a thing is left out",),
    )


def test_a_directory_is_written_and_what_is_in_it_is_said(place: Place) -> None:
    done = place.observe()
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("KubeFleet as of 20")
    assert "2 members, 0 policies, 12 objects, 0 placements\n" in done.stdout
    assert done.stdout.endswith("note: a thing is left out\n\nnext:\n  fleet plan out\n")
    assert yaml.safe_load(place.files()["members/east.yaml"])["metadata"]["name"] == "east"
    assert {method for method, _ in place.hub.asked} == {"GET"}


def test_once_more_only_what_has_changed_is_written_and_named(place: Place) -> None:
    place.observe()
    before = place.files()
    place.hub.lists[MEMBERS] = [member("east", region="eu"), member("north")]
    done = place.observe("--update", "--detailed-exitcode")
    assert done.exit_code == 2
    assert "+ members/north.yaml" in done.stdout
    assert "~ members/east.yaml" in done.stdout
    assert "- members/west.yaml" in done.stdout
    assert " since 20" in done.stdout
    assert "next:" not in done.stdout
    changed = {path for path, text in place.files().items() if before.get(path) != text}
    assert {path for path in changed if not path.startswith("observed/")} == {
        "members/east.yaml",
        "members/north.yaml",
    }


def test_many_files_are_counted(place: Place) -> None:
    place.observe()
    place.hub.lists[MEMBERS] += [member(f"m{number:02}") for number in range(40)]
    shown = place.observe("--update").stdout
    assert shown.count("  + ") == 20
    assert "more files\n" in shown
    assert len(place.document("--update")["changes"]["added"]) == 0


def test_the_document(place: Place) -> None:
    found = place.document()
    assert (found["system"], found["members"], found["objects"], found["before"]) == (
        "kubefleet",
        2,
        12,
        None,
    )
    assert "members/east.yaml" in found["changes"]["added"]
    assert found["notes"] == ["a thing is left out"]
    again = place.document("--update")
    assert again["before"] == found["asOf"]
    assert again["changes"]["added"] == again["changes"]["removed"] == []


def test_an_observed_directory_is_not_written_over(place: Place) -> None:
    place.observe()
    asked = len(place.hub.asked)
    done = place.observe()
    assert (done.exit_code, len(place.hub.asked)) == (1, asked)
    assert "out: is an observed directory\n  hint: --update brings it up to date" in done.stderr


def test_what_is_no_observed_directory_is_not_brought_up_to_date(place: Place) -> None:
    (place.folder / "out").mkdir()
    (place.folder / "out" / "mine.yaml").write_text("mine")
    done = place.observe("--update")
    assert (done.exit_code, place.hub.asked) == (1, [])
    assert "is not an observed directory" in done.stderr
    assert place.files() == {"mine.yaml": "mine"}


def test_what_is_refused_is_named(place: Place) -> None:
    place.hub.answers[CONFIG_MAPS] = refuses(403)
    done = place.observe()
    assert done.exit_code == 0
    assert "! ConfigMap is forbidden to the user of the kubeconfig\n" in done.stdout
    assert CANARY not in done.output
    assert CANARY not in str(place.files())


def test_strict_writes_nothing_without_all_that_was_asked_for(place: Place) -> None:
    place.hub.answers[CONFIG_MAPS] = refuses(403)
    done = place.observe("--strict")
    assert done.exit_code == 3
    assert (
        done.stderr
        == "refused by --strict: not all that was asked for was answered; nothing is written\n"
    )
    assert not (place.folder / "out").exists()
    del place.hub.answers[CONFIG_MAPS]
    assert place.observe("--strict").exit_code == 0


def test_a_hub_that_is_silent_leaves_the_directory_as_it_is(place: Place) -> None:
    place.observe()
    before = place.files()
    place.hub.answers[MEMBERS] = hangs(place.hub)
    done = place.observe("--update", "--timeout", "0.5")
    assert done.exit_code == 1
    assert "is not answered in 0.5 s" in done.stderr
    assert place.files() == before


@pytest.mark.parametrize("secrets", [False, True])
def test_secrets_are_asked_for_where_that_is_wished(
    place: Place, monkeypatch: pytest.MonkeyPatch, secrets: bool
) -> None:
    def queries(listing: Listing) -> tuple[Query, ...]:
        return (Query("v1", "Secret", metadata_only=not listing.secrets),)

    reads(monkeypatch, queries, observed)
    done = place.observe(*(["--secrets"] if secrets else []))
    assert done.exit_code == 0, done.output
    assert ("djE=" in str(place.files())) == secrets
    assert ("not to be committed" in done.stdout) == secrets
    assert [path.partition("?")[0] for _, path in place.hub.asked].count(SECRETS) == 1


def test_a_member_is_asked_besides_the_hub(place: Place) -> None:
    done = place.observe("--members", "east=cluster")
    assert done.exit_code == 0, done.output
    status = yaml.safe_load(place.files()["observed/members/east.yaml"])["status"]
    assert status["resourceUsage"]["available"]["cpu"] == "3500m"
    assert "observed/members/west.yaml" not in place.files()
    place.cluster.answers["/version"] = refuses(500)
    done = place.observe("--members", "east=cluster", "--update")
    assert "! member east cannot be observed: a request is answered with 500" in done.stdout
    assert "; what the hub has of it counts\n" in done.stdout


@pytest.mark.parametrize(
    ("kind", "called"), [((), "MemberCluster"), (("--as", "karmada"), "Cluster")]
)
def test_plain_clusters(place: Place, kind: tuple[str, ...], called: str) -> None:
    done = place.run("--members", "cluster", "--out", "out", *kind)
    assert done.exit_code == 0, done.output
    assert yaml.safe_load(place.files()["members/x.yaml"])["kind"] == called
    assert CliRunner().invoke(fleet, ["plan", "out"]).exit_code == 0


def test_a_silent_cluster_keeps_its_record(place: Place) -> None:
    text = (place.folder / "cluster").read_text()
    (place.folder / "gone").write_text(text)
    both = ("--members", "a=cluster", "--members", "b=gone", "--out", "out")
    assert place.run(*both).exit_code == 0
    before = place.files()
    since = yaml.safe_load(place.files()["observed/hub.yaml"])["spec"]["asOf"]
    (place.folder / "gone").write_text(text.replace("http:", "ftp:"))
    for _ in range(2):  # the time is that of the record, not that of the last observation
        done = place.run(*both, "--update")
        assert done.exit_code == 0, done.output
        assert (
            "! member b cannot be observed: a request is not asked: the address in the kubeconfig is not one of http or "
            "https (context x, 127.0.0.1:"
        ) in said(done)
        assert f"; its record of {since} counts" in said(done)
    for path in ("members/b.yaml", "observed/members/b.yaml"):
        assert place.files()[path] == before[path]
    done = place.run(*both, "--members", "c=gone", "--update")
    assert "! member c cannot be observed" in done.stdout
    assert "nothing but its name" in done.stdout
    assert "observed/members/c.yaml" not in place.files()


def test_a_cluster_that_is_not_named_any_more_keeps_its_record_until_it_is_removed_by_hand(
    place: Place,
) -> None:
    both = ("--members", "a=cluster", "--members", "b=cluster", "--out", "out")
    assert place.run(*both).exit_code == 0
    before = place.files()
    since = yaml.safe_load(before["observed/hub.yaml"])["spec"]["asOf"]
    for _ in range(2):
        done = place.run("--members", "a=cluster", "--out", "out", "--update")
        assert done.exit_code == 0, done.output
        assert "! member b was not asked: no --members names it any more" in done.stdout
        assert f"its record of {since} counts" in done.stdout
        for path in ("members/b.yaml", "observed/members/b.yaml"):
            assert place.files()[path] == before[path]
    assert (
        "b was not asked when the clusters were observed"
        in CliRunner().invoke(fleet, ["plan", "out"]).output
    )
    (place.folder / "out" / "members" / "b.yaml").unlink()
    done = place.run("--members", "a=cluster", "--out", "out", "--update")
    assert "member b" not in done.stdout
    assert not [path for path in place.files() if path.endswith("/b.yaml")]


def test_the_system_of_a_directory_stays(place: Place) -> None:
    place.run("--members", "cluster", "--out", "out")
    done = place.run("--members", "cluster", "--as", "karmada", "--out", "out", "--update")
    assert done.exit_code == 1
    assert "was observed for kubefleet, not for karmada" in done.stderr


def test_clusters_alone_remove_nothing_of_a_hub(place: Place) -> None:
    place.observe()
    before = place.files()
    done = place.run("--members", "cluster", "--out", "out", "--update")
    assert done.exit_code == 1
    assert "out: was observed of a hub, whose 12 policies and objects would go" in done.stderr
    assert (place.files(), place.cluster.asked) == (before, [])


@pytest.mark.parametrize(
    ("members", "said"),
    [
        (("nowhere",), "nowhere: the kubeconfig cannot be read: No such file or directory"),
        (("cluster:y",), 'no kubeconfig has a context "y"'),
        (("a=cluster:y",), 'member a: has no context "y"'),
        (("a=cluster", "a=cluster"), 'two clusters are the member "a"'),
        (("east=cluster", "north=cluster"), 'the hub has no member "north"'),
    ],
)
def test_wrong_members(place: Place, members: tuple[str, ...], said: str) -> None:
    done = place.observe(*(part for item in members for part in ("--members", item)))
    assert done.exit_code == 1
    assert said in done.stderr
    assert CANARY not in done.output
    assert not (place.folder / "out").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "give --hub KUBECONFIG, "),
        (("--hub", "hub"), "give --out DIR"),
        (
            ("--context", "x", "--members", "cluster", "--out", "out"),
            "--context is a part of --hub",
        ),
        (("--hub", "hub", "--out", "out", "--system", "karmada"), "--system is for --rbac"),
        (
            ("--hub", "hub", "--out", "out", "--as", "karmada"),
            "--as is for --members without --hub",
        ),
        (("--rbac", "--out", "out"), "--rbac prints a role alone"),
    ],
)
def test_wrong_use(place: Place, args: tuple[str, ...], said: str) -> None:
    done = place.run(*args)
    assert done.exit_code == 1
    assert said in done.stderr
    assert not place.hub.asked


def roles(text: str) -> list[Any]:
    return list(yaml.safe_load_all(text))


def test_the_role_for_a_hub_lists_what_this_hub_is_asked_for(place: Place) -> None:
    (found,) = roles(place.run("--rbac", "--hub", "hub").stdout)
    assert [(rule["apiGroups"], rule["resources"]) for rule in found["rules"]] == [
        ([""], ["configmaps", "secrets"]),
        (["cluster.kubernetes-fleet.io"], ["memberclusters"]),
        (["placement.kubernetes-fleet.io"], ["clusterresourceplacements"]),
    ]
    shown = place.run("--rbac", "--hub", "hub", "--no-secrets").stdout
    assert roles(shown)[0]["rules"][0]["resources"] == ["configmaps"]


@pytest.mark.parametrize(
    ("options", "told"), [((), "no right to metadata alone"), (("--no-secrets",), "are left out")]
)
def test_the_role_says_what_is_with_secrets(
    place: Place, options: tuple[str, ...], told: str
) -> None:
    shown = place.run("--rbac", "--hub", "hub", *options).stdout
    comment = [line for line in shown.splitlines() if line.startswith("#")]
    assert told in " ".join(line.removeprefix("# ") for line in comment)
    assert max(map(len, comment)) <= 102


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_role_without_a_hub(place: Place, system: str) -> None:
    done = place.run("--rbac", "--system", system)
    assert done.exit_code == 0
    (found,) = roles(done.stdout)
    assert found["kind"] == "ClusterRole"
    assert all(line.startswith(("#", " ", "-")) or ":" in line for line in done.stdout.splitlines())
    assert len(roles(place.run("--rbac").stdout)) == 2


def test_names_that_would_draw_on_a_terminal_are_not_carried_out(place: Place) -> None:
    (place.folder / "hub").write_text(place.hub.kubeconfig())
    serves(place.hub, "v1/Evil\x1b[31m*")
    done = place.observe()
    assert done.exit_code == 1
    assert "\x1b" not in done.output


def test_nodes_and_pods_of_a_cluster_are_all_that_is_asked(place: Place) -> None:
    place.cluster.lists |= {"/api/v1/nodes": [dict(node(cpu="1"))], "/api/v1/pods": [dict(pod())]}
    place.run("--members", "cluster", "--out", "out")
    asked = {path.partition("?")[0] for _, path in place.cluster.asked}
    assert asked == {"/version", "/api", "/apis", "/api/v1/nodes", "/api/v1/pods"}


def test_a_directory_that_was_damaged_or_not_written_is_not_called_made(place: Place) -> None:
    assert "out: made, with" in place.run("--members", "cluster", "--out", "out").stdout
    (place.folder / "out/observed/hub.yaml").write_text("<<<<<<< HEAD\n")
    mended = place.run("--members", "cluster", "--out", "out", "--update").stdout
    assert "out: 1 changed of what was damaged\n  ~ observed/hub.yaml\n" in mended
