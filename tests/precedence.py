"""Fleets whose placements need each other's namespaces and definitions, and what orders their objects."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import attrs
import yaml

from fleet_components.testing import Registration

Object = dict[str, Any]
PLACEMENT = "placement.kubernetes-fleet.io/v1"
ROLLING = {
    "type": "RollingUpdate",
    "rollingUpdate": {"maxUnavailable": "100%", "unavailablePeriodSeconds": 1},
}


def named(api_version: str, kind: str, name: str, namespace: str = "", **fields: Any) -> Object:
    """An object."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def namespace(name: str, **labels: str) -> Object:
    """A namespace."""
    made = named("v1", "Namespace", name)
    return {**made, "metadata": {**made["metadata"], "labels": labels}} if labels else made


def config(name: str, home: str, value: str = "1") -> Object:
    """A ConfigMap."""
    return named("v1", "ConfigMap", name, home, data={"k": value})


def definition(kind: str) -> Object:
    """The definition of a custom kind of the group ``example.com``."""
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
        "versions": [version],
    }
    return named(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.example.com", spec=spec
    )


def select(manifest: Object, *, alone: bool = False) -> Object:
    """The selector of an object; of a namespace alone, without what is in it."""
    group, _, version = manifest["apiVersion"].rpartition("/")
    found = {
        "group": group,
        "version": version,
        "kind": manifest["kind"],
        "name": manifest["metadata"]["name"],
    }
    return {**found, "selectionScope": "NamespaceOnly"} if alone else found


def placement(
    name: str, *selectors: Object, home: str = "", strategy: Any = None, members: Sequence[str] = ()
) -> Object:
    """A placement on all members, or on some; in a namespace it is a ResourcePlacement."""
    kind = "ResourcePlacement" if home else "ClusterResourcePlacement"
    picked = (
        {"placementType": "PickFixed", "clusterNames": list(members)}
        if members
        else {"placementType": "PickAll"}
    )
    spec = {
        "resourceSelectors": list(selectors),
        "policy": picked,
        **({"strategy": strategy} if strategy else {}),
    }
    return named(PLACEMENT, kind, name, home, spec=spec)


def staged(name: str, *stages: Sequence[str], task: Object | None = None) -> list[Object]:
    """An update run of a placement, with stages by the label ``num``; ``task`` follows the first."""
    found = []
    for number, members in enumerate(stages):
        chosen = {"matchExpressions": [{"key": "num", "operator": "In", "values": list(members)}]}
        after = {"afterStageTasks": [task]} if task and not number else {}
        found.append({"name": f"s{number}", "labelSelector": chosen, **after})
    run = {"placementName": name, "stagedRolloutStrategyName": name, "state": "Run"}
    return [
        named(PLACEMENT, "ClusterStagedUpdateStrategy", name, spec={"stages": found}),
        named(PLACEMENT, "ClusterStagedUpdateRun", f"{name}-run", spec=run),
    ]


def propagated(name: str, home: str, *objects: Object, members: Collection[str]) -> Object:
    """A PropagationPolicy of Karmada."""
    chosen = [
        {"apiVersion": data["apiVersion"], "kind": data["kind"], "name": data["metadata"]["name"]}
        for data in objects
    ]
    spec = {
        "resourceSelectors": chosen,
        "placement": {"clusterAffinity": {"clusterNames": sorted(members)}},
    }
    return named("policy.karmada.io/v1alpha1", "PropagationPolicy", name, home, spec=spec)


@attrs.define
class Files:
    """What the user has written: members and everything else."""

    members: dict[str, dict[str, str]] = attrs.field(
        factory=lambda: {name: {"num": name} for name in "abc"}
    )
    objects: list[Object] = attrs.field(factory=list)
    config: dict[str, Any] = attrs.field(factory=dict)

    def write(self, folder: Path) -> None:
        """Write the YAML into a folder of its own."""
        folder.mkdir(exist_ok=True)
        identity = {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}
        declared = []
        for name, labels in self.members.items():
            member = named(
                "cluster.kubernetes-fleet.io/v1", "MemberCluster", name, spec={"identity": identity}
            )
            declared.append({**member, "metadata": {"name": name, "labels": labels}})
        (folder / "fleet.yaml").write_text(yaml.safe_dump_all([*declared, *self.objects]))


EXTERNAL = {"type": "External"}
LIMIT = {"type": "PersistentVolumeClaim", "max": {"storage": "9Gi"}}
TIMED = {"type": "TimedWait", "waitTime": "1s"}
APPROVED = {"type": "Approval"}


def in_stages(task: Object | None = TIMED) -> list[Object]:
    """A namespace that a staged placement brings, and a ConfigMap in it that another brings to all at once."""
    home, inside = namespace("t3"), config("c", "t3")
    return [
        home,
        inside,
        placement("t3p", select(home, alone=True), strategy=EXTERNAL),
        *staged("t3p", "a", "bc", task=task),
        placement("r", select(inside), home="t3", strategy=ROLLING),
    ]


def with_karmada() -> list[Object]:
    """A namespace that a staged placement brings, and a ConfigMap in it that a Karmada policy brings."""
    home, inside = namespace("t4"), config("c", "t4")
    return [
        home,
        inside,
        placement("t4p", select(home, alone=True), strategy=EXTERNAL),
        *staged("t4p", "a", "bc", task=TIMED),
        propagated("k", "t4", inside, members="abc"),
    ]


def before_a_team() -> list[Object]:
    """A placement of what cannot be tracked, which moves one member after the other."""
    home, quota = namespace("t5"), named("v1", "LimitRange", "l", "t5", spec={"limits": [LIMIT]})
    strategy = {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 1, "unavailablePeriodSeconds": 1},
    }
    return [home, quota, placement("t5p", select(home), strategy=strategy)]


def with_a_team() -> list[Object]:
    """The same, once a team's namespace has come to it, with a placement of the team."""
    team, inside = namespace("t5two"), config("c", "t5two")
    found = before_a_team()
    found[-1]["spec"]["resourceSelectors"].append(select(team, alone=True))
    return [*found, team, inside, placement("r2", select(inside), home="t5two", strategy=ROLLING)]


@attrs.frozen(slots=False)
class Registered:
    """The objects of one run, and what each of them comes after."""

    registrations: Sequence[Registration]

    @property
    def graph(self) -> Mapping[str, set[str]]:
        """What each resource comes after, by URN: what it depends on, and its parent."""
        return {
            registration.urn: {*registration.dependencies, *filter(None, [registration.parent])}
            for registration in self.registrations
        }

    @cached_property
    def _by_urn(self) -> Mapping[str, Registration]:
        return {registration.urn: registration for registration in self.registrations}

    @property
    def edges(self) -> int:
        """The number of dependencies."""
        return sum(len(registration.dependencies) for registration in self.registrations)

    def objects(self) -> Iterator[tuple[str, Registration]]:
        """The objects, each with its member."""
        for registration in self.registrations:
            if registration.type.startswith("kubernetes:") and "@" in registration.name:
                yield registration.name.partition("@")[2].partition("/")[0], registration

    def check(self) -> int:
        """Check that what an object lives in comes first on its member, as a dependency between objects.

        Returns:
            How many objects live in something that the fleet brings there.
        """
        order = list(TopologicalSorter(self.graph).static_order())  # fails on a circle
        assert len(order) >= len(self.registrations)
        homes: dict[tuple[str, str, str], str] = {}
        for member, item in self.objects():
            if item.inputs["kind"] == "Namespace":
                homes[member, "Namespace", item.inputs["metadata"]["name"]] = item.urn
            if item.inputs["kind"] == "CustomResourceDefinition":
                homes[
                    member, item.inputs["spec"]["group"], item.inputs["spec"]["names"]["kind"]
                ] = item.urn
        found = 0
        for member, item in self.objects():
            group = item.inputs["apiVersion"].rpartition("/")[0]
            needs = [
                (member, "Namespace", item.inputs["metadata"].get("namespace", "")),
                (member, group, item.inputs["kind"]),
            ]
            for home in (homes[need] for need in needs if need in homes):
                assert self.depends(item.urn, home), (item.name, home)
                found += 1
        return found

    def depends(self, urn: str, home: str) -> bool:
        """Whether a resource depends on another, as the engine sees it when it deletes: parents do not count."""
        seen, left = set[str](), [urn]
        while left:
            here = left.pop()
            if here == home:
                return True
            if here not in seen and here in self._by_urn:
                seen.add(here)
                left += self._by_urn[here].dependencies
        return False
