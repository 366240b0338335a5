"""``fleet simulate --sweep``: each loss is what a simulation of it alone shows, and what is short is said."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.by_hand import added, label, put
from tests.cli.fleets import PLACEMENT, run
from tests.cli.supposed import Objects, dumped, karmada, kubefleet, named, saved, simulated
from tests.delivery.karmada.world import deployment, member, policy


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "before").mkdir()
    monkeypatch.chdir(tmp_path / "before")
    return tmp_path


SWEPT = [
    (kubefleet, "region"),
    (kubefleet, "member"),
    (kubefleet, "environment"),
    (karmada, "region"),
    (karmada, "member"),
]


def spread() -> Objects:
    """Replicas that are to be in two regions, of which there are only two."""
    found = karmada()
    regions = {"spreadByField": "region", "minGroups": 2, "maxGroups": 2}
    clusters = {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 10}
    named(found, "web", "PropagationPolicy")["spec"]["placement"]["spreadConstraints"] = [
        regions,
        clusters,
    ]
    return found


def overridden() -> Objects:
    """Replicas that an override sets on one region, whatever is divided."""
    found = karmada()
    web = named(found, "web", "PropagationPolicy")
    members = [item["metadata"]["name"] for item in found if item["kind"] == "Cluster"]
    change = {"path": "/spec/replicas", "operator": "replace", "value": 9}
    rule = {"targetCluster": {"clusterNames": members[:1]}, "overriders": {"plaintext": [change]}}
    policy_of = {
        "apiVersion": web["apiVersion"],
        "kind": "OverridePolicy",
        "metadata": {**web["metadata"]},
    }
    return [*found, {**policy_of, "spec": {"overrideRules": [rule]}}]


def fixed() -> Objects:
    """Of two members by name; one of everything that is left where its only member goes."""
    found = [*kubefleet(), *two_more()]
    put(
        "ClusterResourcePlacement",
        "shop",
        "spec",
        "policy",
        value={"placementType": "PickFixed", "clusterNames": ["iowa", "dublin"]},
    )(found)
    return found


def two_more() -> Iterator[dict[str, Any]]:
    for name, value in (("everywhere", "test"), ("picky", "none")):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        item = yaml.safe_load(PLACEMENT.replace("name: shop}", f"name: {name}}}"))
        selector = {"matchLabels": {"environment": value}}
        terms = {"clusterSelectorTerms": [{"labelSelector": selector}]}
        affinity = {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        item["spec"]["policy"] = {"placementType": "PickAll", "affinity": affinity}
        yield item


def told(document: Mapping[str, Any]) -> dict[str, tuple[int, int | None, bool]]:
    """Of each placement and template of a plan: its members, its replicas, and whether it is not fulfilled."""
    found = {}
    for item in document["subjects"]:
        here = [each for each in item["clusters"] if each["revision"]["new"] is not None]
        counted = [each["replicas"]["new"] for each in here if each["replicas"]["new"] is not None]
        number = len({each["name"] for each in here}.union(item["staying"]))
        found[item["name"]] = (number, sum(counted) if counted else None, bool(item["unfulfilled"]))
    return found


@pytest.mark.samples(3)
@pytest.mark.parametrize(
    ("system", "by"),
    [*SWEPT, (overridden, "member"), (fixed, "member"), (fixed, "region"), (spread, "region")],
)
def test_each_loss_of_a_sweep_is_the_simulation_of_it_alone(
    folder: Path, system: Callable[[], Objects], by: str
) -> None:
    dumped(folder / "before/fleet", system())
    document = simulated("fleet", "--sweep", by)
    losses = document["losses"]
    members = [
        item["metadata"]["name"]
        for item in system()
        if item["kind"] in ("MemberCluster", "Cluster")
    ]
    assert sorted(name for item in losses for name in item["members"]) == members
    before = told(simulated("fleet", "--set", "Namespace/shop:metadata.labels={}", "--all"))
    assert {item["subject"] for item in document["shortAlready"]} == {
        name for name, item in before.items() if item[2]
    }
    for loss in losses:
        lose = loss["lost"] if by == "member" else f"{document['by']}={loss['lost']}"
        alone = simulated("fleet", "--lose", lose, "--all")
        after = told(alone)
        short = {
            name
            for name, (number, replicas, unfulfilled) in after.items()
            if (
                unfulfilled
                and (number, replicas or 0, True)
                != (before[name][0], before[name][1] or 0, before[name][2])
            )
            or (not number and before[name][0])
        }
        assert {item["subject"] for item in loss["short"]} == short
        for item in loss["short"]:
            assert (item["members"]["old"], item["members"]["new"]) == (
                before[item["subject"]][0],
                after[item["subject"]][0],
            )
            assert (item["replicas"] is None) == (before[item["subject"]][1] is None)
            if item["replicas"]:
                assert (item["replicas"]["old"], item["replicas"]["new"]) == (
                    before[item["subject"]][1],
                    after[item["subject"]][1] or 0,
                )
        entries = [each for item in alone["subjects"] for each in item["clusters"]]
        joins = [each["name"] for each in entries if each["change"] == "joins"]
        assert loss["joins"] == {name: joins.count(name) for name in joins}
        more: dict[str, int] = {}
        for each in entries:
            more[each["name"]] = (
                more.get(each["name"], 0)
                + (each["replicas"]["new"] or 0)
                - (each["replicas"]["old"] or 0)
            )
        assert loss["replicas"] == {name: number for name, number in more.items() if number > 0}
        assert loss["held"] == sum(each["change"] == "held" for each in entries)
        assert loss["moved"] == sum(
            any(each["change"] != "stays" for each in item["clusters"])
            for item in alone["subjects"]
        )
    numbers = [(len(item["short"]), item["moved"]) for item in losses]
    assert [number for number, _ in numbers] == sorted(
        (number for number, _ in numbers), reverse=True
    )


def test_a_sweep_says_what_is_short_whatever_the_form(folder: Path) -> None:
    dumped(folder / "before/fleet", fixed())
    args = ("simulate", "fleet", "--sweep", "member")
    document = simulated(*args[1:])
    by = {
        item["lost"]: [each["subject"].partition("/")[2] for each in item["short"]]
        for item in document["losses"]
    }
    # "picky" matches no member at all, and so is as short before as it is after.
    assert by == {"virginia": ["everywhere"], "dublin": ["shop"], "iowa": ["shop"], "amsterdam": []}
    assert document["shortAlready"] == []
    assert yaml.safe_load(run(*args, "-o", "yaml").stdout) == document
    table = run(*args, width=80).stdout
    assert max(map(len, table.splitlines())) <= 80
    assert table.startswith(
        "2 placements would be short: 3 of 4 members cannot be lost without that\n"
    )
    assert re.search(r"\n  virginia +1 +1 +1 +everywhere on no member\n", table)
    markdown = run(*args, "-o", "markdown").stdout
    assert "| virginia | 1 | 1 | 1 | everywhere on no member |" in markdown
    assert "<b>dublin</b> lost: 1 short" in markdown
    assert run(*args, "--strict").exit_code == 3
    assert run(*args, "--detailed-exitcode").exit_code == 2
    assert run("simulate", "fleet", "--sweep", "tier=x").exit_code == 1
    file = folder / "sweep.json"
    assert run(*args, "--also", f"json={file}").stdout == run(*args).stdout
    assert json.loads(file.read_text()) == document


def test_a_sweep_comes_after_what_is_supposed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumped(folder / "before/fleet", kubefleet())
    state = saved()
    after = simulated(
        "fleet",
        "--add",
        "oslo:like=dublin",
        "--set",
        "virginia:labels.environment=production",
        "--sweep",
        "member",
    )
    assert after["supposed"] == [
        "oslo added like dublin",
        "labels.environment=production on virginia",
    ]
    changed = kubefleet()
    added("oslo", "dublin")(changed)
    label("virginia", "environment", "production")(changed)
    dumped(folder / "after/fleet", changed)
    monkeypatch.chdir(folder / "after")
    assert run("plan", "fleet", "--state", state, "--save-state", "../next.json").exit_code == 0
    by_hand = simulated("fleet", "--sweep", "member", "--state", "../next.json")
    assert after["losses"] == by_hand["losses"]
    # A member that is lost already is not lost again.
    lost = simulated("fleet", "--lose", "oslo", "--sweep", "member")
    assert {item["lost"] for item in lost["losses"]} == {"amsterdam", "dublin", "iowa", "virginia"}
    both = simulated("fleet", "--lose", "oslo", "--lose", "dublin", "--sweep", "member")
    assert not {"oslo", "dublin"} & {name for item in both["losses"] for name in item["joins"]}
    assert max(len(item["short"]) for item in both["losses"]) == 1


def test_too_few_regions_are_short(folder: Path) -> None:
    dumped(folder / "before/fleet", spread())
    losses = simulated("fleet", "--sweep", "region")["losses"]
    assert [(loss["lost"], len(loss["short"])) for loss in losses] == [("eu", 1), ("us", 1)]
    (short,) = losses[0]["short"]
    assert short["why"].endswith(
        "the number of feasible region is less than spreadConstraint.MinGroups"
    )
    assert (short["members"], short["replicas"]) == ({"old": 4, "new": 2}, {"old": 6, "new": 2})
    assert [item["short"] for item in simulated("fleet", "--sweep", "member")["losses"]] == [[]] * 4


def test_members_without_the_label_are_named(folder: Path) -> None:
    objects = kubefleet()
    named(objects, "iowa")["metadata"]["labels"].pop("region")
    dumped(folder / "before/fleet", objects)
    assert simulated("fleet", "--sweep", "region")["neverLost"] == ["iowa"]
    assert (
        "without a value, and never lost: iowa"
        in run("simulate", "fleet", "--sweep", "region").stdout
    )


def test_a_region_is_read_from_the_well_known_labels_of_both_systems(folder: Path) -> None:
    members = [
        member("a", region="west"),
        member(
            "b",
            labels={"topology.kubernetes.io/region": "west", "fleet.azure.com/location": "west"},
        ),
        member(
            "c", labels={"fleet.azure.com/location": "east", "topology.kubernetes.io/zone": "1"}
        ),
    ]
    rest = [
        deployment(),
        policy(placement={}),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
    ]
    dumped(folder / "before/fleet", [*members, *rest])
    by = {
        item["lost"]: item["members"] for item in simulated("fleet", "--sweep", "region")["losses"]
    }
    assert by == {"west": ["a", "b"], "east": ["c"]}
    assert [item["members"] for item in simulated("fleet", "--sweep", "zone")["losses"]] == [["c"]]
    members[1]["metadata"]["labels"]["fleet.azure.com/location"] = "east"
    dumped(folder / "before/fleet", [*members, *rest])
    result = run("simulate", "fleet", "--lose", "region=west")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [
        'error: "region" could be any of several labels on b',
        "  hint: write one of: topology.kubernetes.io/region, fleet.azure.com/location, spec.region",
    ]
    assert simulated("fleet", "--lose", "fleet.azure.com/location=east")["members"] == 1


def test_the_guide_tells_what_the_command_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GUIDE.parents[1])
    blocks = re.findall(
        r"^```console\n\$ fleet (simulate .*)\n((?:.*\n)*?)```$", GUIDE.read_text(), re.MULTILINE
    )
    assert len(blocks) >= 3
    for command, shown in blocks:
        result = run(*command.split(), width=100)
        assert result.exit_code == 0
        # A review as a whole is shown by its own tests; here it is told by its first line.
        whole = "--sweep" in command
        assert (
            shown.splitlines()[: None if whole else 1]
            == result.stdout.splitlines()[: None if whole else 1]
        )


def test_the_guide_names_every_key_of_the_document(folder: Path) -> None:
    dumped(folder / "before/fleet", fixed())
    document = simulated("fleet", "--sweep", "member")
    keys = re.findall(
        r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", GUIDE.read_text(), re.MULTILINE))
    )
    assert {*document, *document["losses"][0]} <= set(keys)
    assert f"| `version` | {document['version']} |" in GUIDE.read_text()
    assert set(document["losses"][0]["short"][0]) == {"subject", "why", "members", "replicas"}


GUIDE = Path(__file__).parents[2] / "docs/simulate.md"
