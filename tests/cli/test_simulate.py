"""``fleet simulate``: what it shows is what the same change, made by hand in the files, is planned to do."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml
from click.testing import Result

from tests.cli.fleets import FLEET, PLACEMENT, PROJECT, SECRET, plan, run, write
from tests.delivery.karmada.world import deployment, member, policy, weights

PRICE = "kubernetes.azure.com/per-cpu-core-cost"
Objects = list[dict[str, Any]]


def kubefleet() -> Objects:
    """The fleet of the other tests, whose members have resources too."""
    found = [one for text in FLEET.values() for one in yaml.safe_load_all(text)]
    for one in found[:4]:
        usage = {"allocatable": {"cpu": "16"}, "capacity": {"cpu": "20"}, "available": {"cpu": "6"}}
        one.setdefault("status", {})["resourceUsage"] = usage
    return found


def karmada() -> Objects:
    """Four members in two regions, and a Deployment that is divided by the room that they have."""
    members = []
    for name, region, cpu in (("a", "eu", "4"), ("b", "eu", "4"), ("c", "us", "3"), ("d", "us", "2")):
        one = member(name, region=region, labels={"tier": "gold"})
        summary = {"allocatable": {"cpu": cpu, "pods": "110"}, "allocated": {"cpu": "1", "pods": "1"}}
        apis = [{"groupVersion": "apps/v1", "resources": [{"kind": "Deployment", "name": "deployments"}]}]
        members.append({**one, "status": {"resourceSummary": summary, "apiEnablements": apis}})
    web = deployment(6)
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    dynamic = weights()
    dynamic["replicaScheduling"]["weightPreference"] = {"dynamicWeight": "AvailableReplicas"}
    return [
        *members,
        web,
        policy(placement=dynamic),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
    ]


def named(objects: Objects, name: str, kind: str = "") -> dict[str, Any]:
    kinds = (kind,) if kind else ("MemberCluster", "Cluster")
    return next(one for one in objects if one["metadata"]["name"] == name and one["kind"] in kinds)


def dumped(folder: Path, objects: Objects) -> Path:
    """Write every object into a file of its own, so that a change moves no line of another one."""
    names = (f"{one['kind']}-{one['metadata']['name']}.yaml".lower() for one in objects)
    return write(folder, {name: yaml.safe_dump(one) for name, one in zip(names, objects, strict=True)})


@attrs.frozen
class Hand:
    """A change as the options say it, and as a hand makes it; members that are lost are named to ``plan`` instead."""

    options: str
    edit: Callable[[Objects], Any] = lambda objects: None
    lost: tuple[str, ...] = ()
    files: Mapping[str, str] = {}


def label(name: str, key: str, value: str) -> Callable[[Objects], Any]:
    return lambda objects: named(objects, name)["metadata"].setdefault("labels", {}).update({key: value})


def taint(name: str, *taints: Mapping[str, str]) -> Callable[[Objects], Any]:
    return lambda objects: named(objects, name)["spec"].update(taints=list(taints))


def price(name: str, value: str, key: str = PRICE) -> Callable[[Objects], Any]:
    def edit(objects: Objects) -> None:
        named(objects, name)["status"].setdefault("properties", {})[key] = {"value": value}

    return edit


def usage(name: str, **amounts: Mapping[str, str]) -> Callable[[Objects], Any]:
    def edit(objects: Objects) -> None:
        known = named(objects, name)["status"]["resourceUsage"]
        for field, changed in amounts.items():
            known.setdefault(field, {}).update(changed)

    return edit


def allocatable(name: str, **amounts: str) -> Callable[[Objects], Any]:
    def edit(objects: Objects) -> None:
        named(objects, name)["status"]["resourceSummary"]["allocatable"].update(amounts)

    return edit


def added(name: str, like: str, **changed: Any) -> Callable[[Objects], Any]:
    def edit(objects: Objects) -> None:
        new = copy.deepcopy(named(objects, like))
        new["metadata"] = {"name": name, "labels": {**new["metadata"].get("labels", {}), **changed.get("labels", {})}}
        new["spec"].update(changed.get("spec", {}))
        objects.append(new)

    return edit


def put(kind: str, name: str, *path: str | int, value: Any) -> Callable[[Objects], Any]:
    def edit(objects: Objects) -> None:
        data: Any = named(objects, name, kind)
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = value

    return edit


def each(*edits: Callable[[Objects], Any]) -> Callable[[Objects], Any]:
    return lambda objects: [edit(objects) for edit in edits]


ANYWHERE = PLACEMENT.replace("numberOfClusters: 2", "numberOfClusters: 1").replace("{environment: production}", "{}")


def replaced(objects: Objects) -> None:
    objects.remove(named(objects, "shop", "ClusterResourcePlacement"))
    objects.append(yaml.safe_load(ANYWHERE))


KUBEFLEET = (
    Hand("--lose dublin", lost=("dublin",)),
    Hand("--lose region=europe", lost=("amsterdam", "dublin")),
    Hand("--lose region=eur*", lost=("amsterdam", "dublin")),
    Hand("--lose [ad]*", lost=("amsterdam", "dublin")),
    Hand("--lose dublin --lose iowa", lost=("dublin", "iowa")),
    Hand("--add oslo:like=dublin", added("oslo", "dublin")),
    Hand("--add oslo:like=dublin,region=nordics,tier=gold", added("oslo", "dublin", labels={"region": "nordics", "tier": "gold"})),
    Hand("--label dublin:environment=test", label("dublin", "environment", "test")),
    Hand("--label dublin:environment-", lambda objects: named(objects, "dublin")["metadata"]["labels"].pop("environment")),
    Hand("--label environment=*:x.io/tier=gold", each(*(label(name, "x.io/tier", "gold") for name in ("amsterdam", "dublin", "iowa", "virginia")))),
    Hand("--taint dublin:drained:NoSchedule", taint("dublin", {"key": "drained", "effect": "NoSchedule"})),
    Hand("--taint iowa:maintenance- --set ClusterResourcePlacement/shop:spec.policy.numberOfClusters=3", each(taint("iowa"), put("ClusterResourcePlacement", "shop", "spec", "policy", "numberOfClusters", value=3))),
    Hand("--taint iowa:maintenance=no:NoSchedule", taint("iowa", {"key": "maintenance", "value": "no", "effect": "NoSchedule"})),
    Hand("--price dublin=0.9", price("dublin", "0.9")),
    Hand("--property region=america:example.com/nodes=3", each(*(price(name, "3", "example.com/nodes") for name in ("iowa", "virginia")))),
    Hand("--capacity dublin:cpu=+8", usage("dublin", allocatable={"cpu": "24"}, capacity={"cpu": "28"}, available={"cpu": "14"})),
    Hand("--capacity dublin:cpu=8", usage("dublin", allocatable={"cpu": "8"}, capacity={"cpu": "12"}, available={"cpu": "0"})),
    Hand("--capacity dublin:memory=1Gi", usage("dublin", **dict.fromkeys(("allocatable", "capacity", "available"), {"memory": "1073741824"}))),
    Hand("--set ClusterResourcePlacement/shop:spec.policy.numberOfClusters=1", put("ClusterResourcePlacement", "shop", "spec", "policy", "numberOfClusters", value=1)),
    Hand("--set Deployment/storefront:spec.template.spec.containers[0].image=nginx:2", put("Deployment", "storefront", "spec", "template", "spec", "containers", 0, "image", value="nginx:2")),
    Hand("--set MemberCluster/dublin:metadata.labels[x.io/a]=b", label("dublin", "x.io/a", "b")),
    Hand("--policy policy.yaml", replaced, files={"policy.yaml": ANYWHERE}),
    Hand("--lose dublin --taint iowa:maintenance- --label virginia:environment=production", each(taint("iowa"), label("virginia", "environment", "production")), lost=("dublin",)),
)  # fmt: skip
KARMADA = (
    Hand("--lose a", lost=("a",)),
    Hand("--lose region=eu", lost=("a", "b")),
    Hand("--lose spec.region=us", lost=("c", "d")),
    Hand("--add e:like=a,region=ap,tier=silver --lose region=eu", added("e", "a", labels={"tier": "silver"}, spec={"region": "ap"}), lost=("a", "b")),
    Hand("--label tier=gold:tier=silver", each(*(label(name, "tier", "silver") for name in "abcd"))),
    Hand("--taint b:drained:NoExecute", taint("b", {"key": "drained", "effect": "NoExecute"})),
    Hand("--capacity c:cpu=+8 --lose d", allocatable("c", cpu="11"), lost=("d",)),
    Hand("--capacity c:cpu=1500m,pods=4 --lose d", allocatable("c", cpu="1500m", pods="4"), lost=("d",)),
    Hand("--set PropagationPolicy/web:spec.placement.clusterAffinity={clusterNames: [a]}", put("PropagationPolicy", "web", "spec", "placement", "clusterAffinity", value={"clusterNames": ["a"]})),
    Hand("--set Deployment/shop/web:spec.replicas=9", put("Deployment", "web", "spec", "replicas", value=9)),
    Hand("--policy policy.yaml", lambda objects: put("PropagationPolicy", "web", "spec", value=policy(placement=weights(a=1, c=2))["spec"])(objects), files={"policy.yaml": yaml.safe_dump(policy(placement=weights(a=1, c=2)))}),
)  # fmt: skip
CASES = [(system, hand) for system, hands in ((kubefleet, KUBEFLEET), (karmada, KARMADA)) for hand in hands]


def options(text: str) -> list[str]:
    """The options of a text: what follows a name of one, up to the next, is its value."""
    return [part for option in re.split(r" (?=--)", text) for part in option.split(" ", 1)]


def outcome(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a document says comes of a change: not of which files and state, and in which line something stands."""
    about = {"fleet", "against", "headline", "state"}
    text = json.dumps({key: value for key, value in document.items() if key not in about})
    text = re.sub(r"(as supposed|fleet/[\w.-]+\.yaml|policy.yaml)(:\d+)?", "FILE", text)
    found: dict[str, Any] = json.loads(re.sub(r'"line": \d+', '"line": null', text))
    for one in found["subjects"]:
        one.pop("pending")
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "before").mkdir()
    monkeypatch.chdir(tmp_path / "before")
    return tmp_path


def saved(status: int = 0) -> Path:
    assert run("plan", "fleet", "--save-state", "../state.json").exit_code == status
    return Path("../state.json")


def simulated(*args: object, status: int = 0) -> dict[str, Any]:
    result = run("simulate", *args, "-o", "json")
    assert result.exit_code == status, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


@pytest.mark.parametrize(("system", "hand"), CASES, ids=[f"{system.__name__} {hand.options}" for system, hand in CASES])
def test_it_shows_what_the_change_does_that_is_made_by_hand(
    folder: Path, monkeypatch: pytest.MonkeyPatch, system: Callable[[], Objects], hand: Hand
) -> None:
    dumped(folder / "before/fleet", system())
    write(folder / "before", hand.files)
    state = saved()
    by_option = run("simulate", "fleet", *options(hand.options), "--state", state, "-o", "json", "--all")
    as_new = run("simulate", "fleet", *options(hand.options), "-o", "json", "--all")
    changed = system()
    hand.edit(changed)
    dumped(folder / "after/fleet", changed)
    monkeypatch.chdir(folder / "after")
    lost = [part for name in hand.lost for part in ("--lost", name)]
    by_hand = run("plan", "fleet", *lost, "--state", state, "-o", "json", "--all")
    assert by_hand.stdout, by_hand.stderr
    assert by_option.stdout, by_option.stderr
    assert outcome(json.loads(by_option.stdout)) == outcome(json.loads(by_hand.stdout))
    assert outcome(json.loads(as_new.stdout)) == outcome(json.loads(by_hand.stdout))
    assert by_option.exit_code == as_new.exit_code == by_hand.exit_code
    assert by_option.exit_code in (0, 3)
