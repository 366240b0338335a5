"""Random fleets for renders: two placements with any strategy, and what changes between two renders."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

NAMES = ("a", "b", "c", "d")
Objects = list[dict[str, Any]]
_MEMBER, _PLACEMENT = "cluster.kubernetes-fleet.io/v1", "placement.kubernetes-fleet.io/v1"
_RBAC = "rbac.authorization.k8s.io"


def member(name: str, env: str) -> dict[str, Any]:
    identity = {"kind": "ServiceAccount", "name": name, "namespace": "fleet-system"}
    metadata = {"name": name, "labels": {"env": env}}
    return {
        "apiVersion": _MEMBER,
        "kind": "MemberCluster",
        "metadata": metadata,
        "spec": {"identity": identity},
    }


def content(namespace: str, image: str) -> Objects:
    """A namespace with objects of several phases, and a role beside it."""
    labels = {"matchLabels": {"app": "web"}}
    pod = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": image}]},
    }
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "settings", "namespace": namespace},
            "data": {"image": image},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": namespace},
            "spec": {"selector": labels, "template": pod},
        },
    ]


def placement(
    name: str, namespace: str, policy: dict[str, Any], rolling: dict[str, Any]
) -> dict[str, Any]:
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": namespace}
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    spec = {"resourceSelectors": [selector], "policy": policy, "strategy": strategy}
    metadata = {"name": name}
    return {
        "apiVersion": _PLACEMENT,
        "kind": "ClusterResourcePlacement",
        "metadata": metadata,
        "spec": spec,
    }


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(("PickAll", "PickN", "PickFixed")))
    if kind == "PickFixed":
        return {
            "placementType": kind,
            "clusterNames": draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True)),
        }
    if kind == "PickN":
        return {"placementType": kind, "numberOfClusters": draw(st.integers(1, 4))}
    return {"placementType": kind}


rollings = st.fixed_dictionaries(
    {"maxUnavailable": st.integers(0, 2), "maxSurge": st.integers(0, 2)}
)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Objects, Objects]:
    """A fleet, and the same after some changes: images, policies, members, and placements that go or are renamed."""
    rolling = [draw(rollings) for _ in range(2)]
    first = [member(name, "x") for name in NAMES]
    kinds = [draw(policies()) for _ in range(2)]
    for number in range(2):
        first += content(f"n{number}", "web:1")
        first.append(placement(f"p{number}", f"n{number}", kinds[number], rolling[number]))
    changed = copy.deepcopy(first)
    for number in range(2):
        place = next(item for item in changed if item["metadata"]["name"] == f"p{number}")
        match draw(
            st.sampled_from(("image", "image", "policy", "both", "gone", "renamed", "less"))
        ):
            case "image":
                _image(changed, f"n{number}")
            case "policy":
                _number(place, draw)
            case "both":
                _image(changed, f"n{number}")
                _number(place, draw)
            case "gone":
                changed.remove(place)
            case "renamed":
                place["metadata"]["name"] = f"q{number}"
                _image(changed, f"n{number}")
            case "less":
                metadata = {"name": "settings", "namespace": f"n{number}"}
                changed = [item for item in changed if item["metadata"] != metadata]
    if draw(st.booleans()):
        changed = [
            item for item in changed if item["metadata"]["name"] != draw(st.sampled_from(NAMES))
        ]
    return first, changed


def _image(objects: Objects, namespace: str) -> None:
    for data in objects:
        if data["metadata"].get("namespace") == namespace and data["kind"] == "Deployment":
            data["spec"]["template"]["spec"]["containers"][0]["image"] = "web:2"


def _number(place: dict[str, Any], draw: st.DrawFn) -> None:
    policy = place["spec"]["policy"]
    if policy["placementType"] == "PickFixed":
        policy["clusterNames"] = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    elif policy["placementType"] == "PickN":
        policy["numberOfClusters"] = draw(st.integers(1, 4))


def written(folder: Path, objects: Objects) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "fleet.yaml").write_text(yaml.safe_dump_all(objects))
    return folder
