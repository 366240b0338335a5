"""Fleets of any size along one dimension each: what must not grow faster than the text that asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Object = Mapping[str, Any]
_SHOP = {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}
_MAPS = {"group": "", "version": "v1", "kind": "ConfigMap"}
_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
_POLICY = "policy.karmada.io/v1alpha1"
_PLACEMENT = "placement.kubernetes-fleet.io/v1beta1"


def _named(
    api_version: str, kind: str, name: str, namespace: str = "", **fields: Any
) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def _member(number: int, **spec: Any) -> Object:
    identity = {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}
    spec = {"identity": identity, **spec}
    return _named(
        "cluster.kubernetes-fleet.io/v1", "MemberCluster", f"member-{number:05}", spec=spec
    )


def _cluster(number: int, **spec: Any) -> Object:
    return _named(
        "cluster.karmada.io/v1alpha1",
        "Cluster",
        f"member-{number:05}",
        spec={"syncMode": "Push", **spec},
    )


def _namespace(name: str = "shop") -> Object:
    return _named("v1", "Namespace", name)


def _config(number: int, namespace: str = "shop", **labels: str) -> Object:
    made = _named("v1", "ConfigMap", f"config-{number}", namespace, data={"a": "b"})
    return {**made, "metadata": {**made["metadata"], "labels": labels}}


def _placed(name: str, *selectors: Object, namespace: str = "", **spec: Any) -> Object:
    kind = "ResourcePlacement" if namespace else "ClusterResourcePlacement"
    return _named(
        _PLACEMENT, kind, name, namespace, spec={"resourceSelectors": list(selectors), **spec}
    )


def _propagated(
    name: str, *selectors: Object, placement: Object | None = None, **spec: Any
) -> Object:
    spec = {"resourceSelectors": list(selectors), "placement": placement or {}, **spec}
    return _named(_POLICY, "PropagationPolicy", name, "shop", spec=spec)


def _overridden(name: str, selector: Object, *operations: Object) -> Object:
    rules = [{"overriders": {"plaintext": list(operations)}}]
    return _named(
        _POLICY,
        "OverridePolicy",
        name,
        "shop",
        spec={"resourceSelectors": [selector], "overrideRules": rules},
    )


def _objects(size: int) -> Iterator[Object]:
    yield from (_member(0), _namespace(), _placed("shop", _SHOP))
    yield from (_config(number) for number in range(size))


def _namespaces(size: int) -> Iterator[Object]:
    yield from (_member(0), _placed("all", {**_SHOP, "name": "", "labelSelector": {}}))
    for number in range(size):
        yield from (_namespace(f"shop-{number}"), _config(0, f"shop-{number}"))


def _placements(size: int) -> Iterator[Object]:
    yield _member(0)
    for number in range(size):
        name = f"shop-{number}"
        yield from (_namespace(name), _config(0, name), _placed(name, {**_SHOP, "name": name}))


def _by_label(size: int) -> Iterator[Object]:
    yield from (_member(0), _namespace())
    for number in range(size):
        selector = {**_MAPS, "labelSelector": {"matchLabels": {"app": f"app-{number}"}}}
        yield from (
            _config(number, app=f"app-{number}"),
            _placed(f"app-{number}", selector, namespace="shop"),
        )


def _in_vain(size: int) -> Iterator[Object]:
    yield from (_member(0), _namespace())
    for number in range(size):
        yield from (
            _config(number),
            _placed(f"app-{number}", {**_MAPS, "name": f"konfig-{number}"}, namespace="shop"),
        )


def _runs(size: int) -> Iterator[Object]:
    yield _member(0)
    for number in range(size):
        name = f"shop-{number}"
        stages = [{"name": "all", "labelSelector": {}}]
        run = {"placementName": name, "stagedRolloutStrategyName": name, "state": "Run"}
        yield from (
            _namespace(name),
            _placed(name, {**_SHOP, "name": name}, strategy={"type": "External"}),
        )
        yield _named(_PLACEMENT, "ClusterStagedUpdateStrategy", name, spec={"stages": stages})
        yield _named(_PLACEMENT, "ClusterStagedUpdateRun", name, spec=run)


def _custom_kinds(size: int) -> Iterator[Object]:
    yield from (_member(0), _namespace())
    for number in range(size):
        kind = f"Widget{number}"
        yield _named("example.com/v1", kind, "web", "shop")
        yield _placed(
            f"app-{number}",
            {"group": "example.com", "version": "v1", "kind": kind},
            namespace="shop",
        )


def _members(size: int) -> Iterator[Object]:
    yield from (_namespace(), _config(0), _placed("shop", _SHOP))
    yield from (_member(number) for number in range(size))


def _policies(size: int) -> Iterator[Object]:
    yield _cluster(0)
    for number in range(size):
        yield from (
            _config(number),
            _propagated(f"app-{number}", {**_MAP, "name": f"config-{number}"}),
        )


def _overrides(size: int) -> Iterator[Object]:
    yield from _policies(size)
    change = {"path": "/data/a", "operator": "replace", "value": "c"}
    for number in range(size):
        yield _overridden(f"app-{number}", {**_MAP, "name": f"config-{number}"}, change)


def _patches(size: int) -> Iterator[Object]:
    added = [
        {"path": f"/data/key-{number}", "operator": "add", "value": "c"} for number in range(size)
    ]
    yield from (_cluster(0), _config(0), _propagated("app", _MAP), _overridden("app", _MAP, *added))


def _selectors(size: int) -> Iterator[Object]:
    yield _cluster(0)
    yield _propagated("app", *({**_MAP, "name": f"config-{number}"} for number in range(size)))
    yield from (_config(number) for number in range(size))


def _dependencies(size: int) -> Iterator[Object]:
    yield from (
        _cluster(0),
        _propagated("app", {"apiVersion": "apps/v1", "kind": "Deployment"}, propagateDeps=True),
    )
    for number in range(size):
        container = {"name": "web", "envFrom": [{"configMapRef": {"name": f"config-{number}"}}]}
        spec = {"template": {"spec": {"containers": [container]}}}
        yield from (
            _config(number),
            _named("apps/v1", "Deployment", f"web-{number}", "shop", spec=spec),
        )


def _unknown_members(size: int) -> Iterator[Object]:
    names = [f"memba-{number:05}" for number in range(size)]
    yield from (
        _config(0),
        _propagated("app", _MAP, placement={"clusterAffinity": {"clusterNames": names}}),
    )
    yield from (_cluster(number) for number in range(size))


def _taints(size: int) -> Iterator[Object]:
    taints = [{"key": f"key-{number}", "effect": "NoSchedule"} for number in range(size)]
    tolerations = [{"key": f"key-{number}", "operator": "Exists"} for number in range(size)]
    yield from (_cluster(0, taints=taints), _config(0))
    yield _propagated("app", _MAP, placement={"clusterTolerations": tolerations})


def _replicas(size: int) -> Iterator[Object]:
    divided = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}
    selector = {"apiVersion": "apps/v1", "kind": "Deployment"}
    yield _propagated("app", selector, placement={"replicaScheduling": divided})
    pod = {"spec": {"containers": [{"name": "web"}]}}
    yield _named(
        "apps/v1", "Deployment", "web", "shop", spec={"replicas": 2**31 - 1, "template": pod}
    )
    yield from (_cluster(number) for number in range(size))


def _unknown_fields(size: int) -> Iterator[Object]:
    yield from (_member(0), _namespace())
    placed = _placed("shop", _SHOP)
    yield {**placed, "spec": {**placed["spec"], **{f"field{number}": 1 for number in range(size)}}}


REGIONS = ("eu-west", "eu-north", "us-east", "us-west", "ap-south")


def _app(name: str, image: str) -> Iterator[dict[str, Any]]:
    container = {"name": "web", "image": image, "ports": [{"containerPort": 80}]}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    web = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    yield _named("v1", "Namespace", name)
    yield _named("apps/v1", "Deployment", "web", name, spec=web)
    yield _named(
        "v1", "Service", "web", name, spec={"selector": {"app": "web"}, "ports": [{"port": 80}]}
    )


def _labelled(member: Object, number: int) -> Object:
    labels = {"region": REGIONS[number % len(REGIONS)], "tier": str(number % 4)}
    return {**member, "metadata": {**member["metadata"], "labels": labels}}


def placed_fleet(members: int, apps: int, image: str) -> Iterator[Object]:
    """Placements of KubeFleet: every other app runs in a region, the others on five members; the first has an image."""
    yield from (_labelled(_member(number), number) for number in range(members))
    for number in range(apps):
        name, region = (
            f"app-{number:03}",
            {"matchLabels": {"region": REGIONS[number % len(REGIONS)]}},
        )
        required = {"clusterSelectorTerms": [{"labelSelector": region}]}
        affinity = {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
        everywhere, some = (
            {"placementType": "PickAll", "affinity": affinity},
            {"placementType": "PickN"},
        )
        yield from _app(name, "nginx:1.27.5" if number else image)
        yield _placed(
            name,
            {**_SHOP, "name": name},
            policy={**some, "numberOfClusters": 5} if number % 2 else everywhere,
        )


def propagated_fleet(members: int, apps: int, image: str) -> Iterator[Object]:
    """The same for Karmada: a policy for the objects of each app."""
    yield from (_labelled(_cluster(number), number) for number in range(members))
    for number in range(apps):
        name, some = f"app-{number:03}", sorted({(7 * number + at) % members for at in range(5)})
        region = {"labelSelector": {"matchLabels": {"region": REGIONS[number % len(REGIONS)]}}}
        affinity = {"clusterNames": [f"member-{at:05}" for at in some]} if number % 2 else region
        objects = list(_app(name, "nginx:1.27.5" if number else image))
        yield from objects
        selectors = [
            {key: data[key] for key in ("apiVersion", "kind")} | _place(data) for data in objects
        ]
        spec = {"resourceSelectors": selectors, "placement": {"clusterAffinity": affinity}}
        yield _named(_POLICY, "ClusterPropagationPolicy", name, spec=spec)


def _place(data: Object) -> dict[str, str]:
    return {key: data["metadata"][key] for key in ("name", "namespace") if key in data["metadata"]}


FLEETS: dict[str, Callable[[int, int, str], Iterator[Object]]] = {
    "kubefleet": placed_fleet,
    "karmada": propagated_fleet,
}
"""Fleets of a number of members and apps, in which the image of one app can change, by the system."""
DIMENSIONS: dict[str, Callable[[int], Iterator[Object]]] = {
    "objects": _objects,
    "namespaces": _namespaces,
    "placements": _placements,
    "placements-by-label": _by_label,
    "placements-in-vain": _in_vain,
    "update-runs": _runs,
    "custom-kinds": _custom_kinds,
    "members": _members,
    "policies": _policies,
    "overrides": _overrides,
    "patches": _patches,
    "selectors": _selectors,
    "dependencies": _dependencies,
    "unknown-members": _unknown_members,
    "taints": _taints,
    "replicas": _replicas,
    "unknown-fields": _unknown_fields,
}
"""The objects of a fleet that is that large in one dimension, by its name."""
