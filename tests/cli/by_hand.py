"""Changes of a fleet as options of ``fleet simulate`` say them, and as a hand makes them in the files."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import yaml

from tests.cli.fleets import PLACEMENT
from tests.cli.supposed import Objects, karmada, kubefleet, named
from tests.delivery.karmada.world import policy, weights

PRICE = "kubernetes.azure.com/per-cpu-core-cost"


@attrs.frozen
class Hand:
    """A change as the options say it, and as a hand makes it; members that are lost are named to ``plan`` instead."""

    options: str
    edit: Callable[[Objects], Any] = lambda objects: None
    lost: tuple[str, ...] = ()
    files: Mapping[str, str] = {}


def label(name: str, key: str, value: str) -> Callable[[Objects], Any]:
    return lambda objects: (
        named(objects, name)["metadata"].setdefault("labels", {}).update({key: value})
    )


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
        new["metadata"] = {
            "name": name,
            "labels": {**new["metadata"].get("labels", {}), **changed.get("labels", {})},
        }
        new["spec"].update(changed.get("spec", {}))
        objects.append(new)

    return edit


def sized() -> Objects:
    """A placement for each amount, on the members that have enough of it."""
    found = kubefleet()
    selector = [{"group": "", "version": "v1", "kind": "Namespace"}]
    for kind, least in (
        ("available", "0"),
        ("available", "1"),
        ("available", "10"),
        ("allocatable", "9"),
        ("total", "21"),
    ):
        name = f"{kind}-{least}"
        expression = {
            "name": f"resources.kubernetes-fleet.io/{kind}-cpu",
            "operator": "Ge",
            "values": [least],
        }
        terms = {"clusterSelectorTerms": [{"propertySelector": {"matchExpressions": [expression]}}]}
        affinity = {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        spec = {
            "resourceSelectors": [{**selector[0], "name": name}],
            "policy": {"placementType": "PickAll", "affinity": affinity},
        }
        version, kind_of = "placement.kubernetes-fleet.io/v1", "ClusterResourcePlacement"
        found += [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
            {"apiVersion": version, "kind": kind_of, "metadata": {"name": name}, "spec": spec},
        ]
    return found


def put(kind: str, name: str, *path: str | int, value: Any) -> Callable[[Objects], Any]:
    def edit(objects: Objects) -> None:
        data: Any = named(objects, name, kind)
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = value

    return edit


def each(*edits: Callable[[Objects], Any]) -> Callable[[Objects], Any]:
    return lambda objects: [edit(objects) for edit in edits]


ANYWHERE = PLACEMENT.replace("numberOfClusters: 2", "numberOfClusters: 1").replace(
    "{environment: production}", "{}"
)


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
    Hand("--set dublin:labels.environment=test", label("dublin", "environment", "test")),
    Hand("--set dublin:labels.environment=null", lambda objects: named(objects, "dublin")["metadata"]["labels"].pop("environment")),
    Hand("--set environment=*:labels[x.io/tier]=gold", each(*(label(name, "x.io/tier", "gold") for name in ("amsterdam", "dublin", "iowa", "virginia")))),
    Hand("--set dublin:taints.drained=NoSchedule", taint("dublin", {"key": "drained", "effect": "NoSchedule"})),
    Hand("--set iowa:taints.maintenance=null --set ClusterResourcePlacement/shop:spec.policy.numberOfClusters=3", each(taint("iowa"), put("ClusterResourcePlacement", "shop", "spec", "policy", "numberOfClusters", value=3))),
    Hand("--set iowa:taints.maintenance=no:NoSchedule", taint("iowa", {"key": "maintenance", "value": "no", "effect": "NoSchedule"})),
    Hand("--set dublin:properties[kubernetes.azure.com/per-cpu-core-cost]=0.9", price("dublin", "0.9")),
    Hand("--set region=america:properties[example.com/nodes]=3", each(*(price(name, "3", "example.com/nodes") for name in ("iowa", "virginia")))),
    Hand("--set dublin:capacity.cpu=+8", usage("dublin", allocatable={"cpu": "24"}, capacity={"cpu": "28"}, available={"cpu": "14"})),
    Hand("--set dublin:capacity.cpu=8", usage("dublin", allocatable={"cpu": "8"}, capacity={"cpu": "12"}, available={"cpu": "0"})),
    Hand("--set dublin:capacity.memory=1Gi", usage("dublin", **{field: {"memory": "1073741824"} for field in ("allocatable", "capacity", "available")})),
    Hand("--set ClusterResourcePlacement/shop:spec.policy.numberOfClusters=1", put("ClusterResourcePlacement", "shop", "spec", "policy", "numberOfClusters", value=1)),
    Hand("--set Deployment/storefront:spec.template.spec.containers[0].image=nginx:2", put("Deployment", "storefront", "spec", "template", "spec", "containers", 0, "image", value="nginx:2")),
    Hand("--set MemberCluster/dublin:metadata.labels[x.io/a]=b", label("dublin", "x.io/a", "b")),
    Hand("--set dublin:metadata.labels[x.io/a]=b", label("dublin", "x.io/a", "b")),
    Hand("--set MemberCluster/[ad]*:labels.environment=test", each(label("amsterdam", "environment", "test"), label("dublin", "environment", "test"))),
    Hand("--set Deployment/storefront:spec.replicas=+2", put("Deployment", "storefront", "spec", "replicas", value=5)),
    Hand("--set Deployment/shop/store*:spec.replicas=-40%", put("Deployment", "storefront", "spec", "replicas", value=1)),
    Hand("--set dublin:capacity.cpu=-25%", usage("dublin", allocatable={"cpu": "12"}, capacity={"cpu": "16"}, available={"cpu": "2"})),
    Hand("--set dublin:properties.nodes=3 --set dublin:properties.nodes=null", lambda objects: None),
    Hand("--policy policy.yaml", replaced, files={"policy.yaml": ANYWHERE}),
    Hand("--lose dublin --set iowa:taints.maintenance=null --set virginia:labels.environment=production", each(taint("iowa"), label("virginia", "environment", "production")), lost=("dublin",)),
)  # fmt: skip
KARMADA = (
    Hand("--lose a", lost=("a",)),
    Hand("--lose region=eu", lost=("a", "b")),
    Hand("--lose spec.region=us", lost=("c", "d")),
    Hand("--add e:like=a,region=ap,tier=silver --lose region=eu", added("e", "a", labels={"tier": "silver"}, spec={"region": "ap"}), lost=("a", "b")),
    Hand("--set tier=gold:labels.tier=silver", each(*(label(name, "tier", "silver") for name in "abcd"))),
    Hand("--set b:taints.drained=NoExecute", taint("b", {"key": "drained", "effect": "NoExecute"})),
    Hand("--set c:capacity.cpu=+8 --lose d", allocatable("c", cpu="11"), lost=("d",)),
    Hand("--set c:capacity.cpu=1500m --set c:capacity.pods=4 --lose d", allocatable("c", cpu="1500m", pods="4"), lost=("d",)),
    Hand("--set PropagationPolicy/web:spec.placement.clusterAffinity={clusterNames: [a]}", put("PropagationPolicy", "web", "spec", "placement", "clusterAffinity", value={"clusterNames": ["a"]})),
    Hand("--set Deployment/shop/web:spec.replicas=9", put("Deployment", "web", "spec", "replicas", value=9)),
    Hand("--policy policy.yaml", lambda objects: put("PropagationPolicy", "web", "spec", value=policy(placement=weights(a=1, c=2))["spec"])(objects), files={"policy.yaml": yaml.safe_dump(policy(placement=weights(a=1, c=2)))}),
)  # fmt: skip
SIZED = (
    Hand("--set dublin:capacity.cpu=+8", usage("dublin", allocatable={"cpu": "24"}, capacity={"cpu": "28"}, available={"cpu": "14"})),
    Hand("--set dublin:capacity.cpu=8", usage("dublin", allocatable={"cpu": "8"}, capacity={"cpu": "12"}, available={"cpu": "0"})),
    Hand("--set *:capacity.cpu=-15", each(*(usage(name, allocatable={"cpu": "1"}, capacity={"cpu": "5"}, available={"cpu": "0"}) for name in ("amsterdam", "dublin", "iowa", "virginia")))),
)  # fmt: skip
SYSTEMS = ((kubefleet, KUBEFLEET), (karmada, KARMADA), (sized, SIZED))
CASES = [(system, hand) for system, hands in SYSTEMS for hand in hands]
