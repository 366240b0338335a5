"""Objects with every field that an API server takes when it is empty: what users and tools write as ``rules: []``."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from fleet_components.live.connection import Connection, UnexpectedAnswer, connected, within
from tests.engine.stories import RBAC, Data
from tools.clusters.cluster import Cluster

Field = tuple[Any, ...]
POD: Data = {
    "containers": [{"name": "web", "image": "web:1", "ports": [{"containerPort": 80}]}],
    "volumes": [{"name": "tmp", "emptyDir": {}}],
}
LABELS = {"app": "web"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": POD}
ENDING = {"spec": {**POD, "restartPolicy": "Never"}}
WORKLOAD = {"selector": {"matchLabels": LABELS}, "template": TEMPLATE}
STORAGE = {"accessModes": ["ReadWriteOnce"], "storageClassName": "one"}
SCALED = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
BACKEND = {"name": "web", "port": {"number": 80}}
VIEW = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "view"}
THINGS = {
    "apiGroups": ["a.test"],
    "apiVersions": ["v1"],
    "resources": ["things"],
    "operations": ["CREATE"],
}
HOOK = {
    "name": "hook.example.com",
    "admissionReviewVersions": ["v1"],
    "clientConfig": {"url": "https://example.com"},
    "sideEffects": "None",
    "rules": [THINGS],
}
MINIMAL: Mapping[str, Data] = {
    "v1/ConfigMap": {},
    "v1/Secret": {},
    "v1/Namespace": {},
    "v1/ServiceAccount": {},
    "v1/Service": {"spec": {"ports": [{"port": 80}]}},
    "v1/Pod": {"spec": POD},
    "v1/PersistentVolumeClaim": {
        "spec": {**STORAGE, "resources": {"requests": {"storage": "1Gi"}}}
    },
    "v1/PersistentVolume": {
        "spec": {**STORAGE, "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/tmp"}}
    },
    "v1/ResourceQuota": {"spec": {}},
    "v1/LimitRange": {"spec": {"limits": [{"type": "Container"}]}},
    "apps/v1/Deployment": {"spec": WORKLOAD},
    "apps/v1/StatefulSet": {"spec": {**WORKLOAD, "serviceName": "web"}},
    "apps/v1/DaemonSet": {"spec": WORKLOAD},
    "batch/v1/Job": {"spec": {"template": ENDING}},
    "batch/v1/CronJob": {
        "spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": ENDING}}}
    },
    "autoscaling/v2/HorizontalPodAutoscaler": {
        "spec": {"maxReplicas": 3, "scaleTargetRef": SCALED}
    },
    "policy/v1/PodDisruptionBudget": {"spec": {}},
    "networking.k8s.io/v1/NetworkPolicy": {
        "spec": {"podSelector": {}, "ingress": [{}], "egress": [{}]}
    },
    "networking.k8s.io/v1/Ingress": {
        "spec": {"defaultBackend": {"service": BACKEND}, "rules": [{"host": "example.com"}]}
    },
    "networking.k8s.io/v1/IngressClass": {"spec": {"controller": "example.com/c"}},
    f"{RBAC}/v1/Role": {},
    f"{RBAC}/v1/ClusterRole": {},
    f"{RBAC}/v1/RoleBinding": {"roleRef": VIEW},
    f"{RBAC}/v1/ClusterRoleBinding": {"roleRef": VIEW},
    "storage.k8s.io/v1/StorageClass": {"provisioner": "example.com/p"},
    "scheduling.k8s.io/v1/PriorityClass": {"value": 1},
    "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration": {"webhooks": [HOOK]},
    "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration": {"webhooks": [HOOK]},
}
"""The most used kinds, with no more in them than an API server asks for."""
CLUSTER_SCOPED = {
    *("Namespace", "PersistentVolume", "IngressClass", "ClusterRole", "ClusterRoleBinding"),
    *("StorageClass", "PriorityClass"),
    *("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"),
}
_LEFT_OUT = {"status", "managedFields", "ownerReferences", "finalizers", "selfLink", "generateName"}
_DEEPEST = 9


def objects(plane: Cluster, space: str) -> list[Data]:
    """Return objects of all kinds in a namespace that is there, each with all empty fields that the server takes.

    Of each kind there are up to three: with the outermost maps and lists, with the innermost, and with nulls.
    """
    found: list[Data] = []

    def try_out(deadline: float) -> None:
        with connected(plane.kubeconfig.read_text(), deadline, sys.maxsize) as member:
            for name, fields in MINIMAL.items():
                schemas, root = _schemas(plane, name)
                data = _named(name, fields, space)
                candidates = list(_empty(schemas, root, data, ()))
                for form in ("outer", "inner", "null"):
                    wanted = [(path, value) for path, value, how in candidates if how == form]
                    found.append(_filled(member, _called(data, form), wanted))

    within(600, try_out)
    assert len(found) == 3 * len(MINIMAL), f"ended at {len(found)}"
    return found


def _named(name: str, fields: Data, space: str) -> Data:
    version, _, kind = name.rpartition("/")
    where = {} if kind in CLUSTER_SCOPED else {"namespace": space}
    notes = {"pulumi.com/skipAwait": "true"}
    metadata = {"name": f"{space}-{kind.lower()}"[:40], "annotations": notes, **where}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **copy.deepcopy(fields)}


def _called(data: Data, form: str) -> Data:
    found = copy.deepcopy(data)
    found["metadata"]["name"] += f"-{form}"
    return found


def _schemas(plane: Cluster, name: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return all schemas of an API version, and that of a kind."""
    version, _, kind = name.rpartition("/")
    path = f"apis/{version}" if "/" in version else f"api/{version}"
    schemas = json.loads(plane.kubectl("get", "--raw", f"/openapi/v3/{path}"))["components"][
        "schemas"
    ]
    group, _, number = version.rpartition("/")
    wanted = {"group": group, "version": number, "kind": kind}
    (root,) = (
        schema
        for schema in schemas.values()
        if wanted in schema.get("x-kubernetes-group-version-kind", ())
    )
    return schemas, root


def _resolved(schemas: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    references = [schema, *schema.get("allOf", ())]
    found = next((reference["$ref"] for reference in references if "$ref" in reference), "")
    return schemas[found.rpartition("/")[2]] if found else schema


def _empty(
    schemas: Mapping[str, Any], schema: Mapping[str, Any], value: Any, path: Field
) -> Iterator[tuple[Field, Any, str]]:
    """Yield path, value and form of the empty fields of a schema that a value does not have."""
    schema = _resolved(schemas, schema)
    if len(path) > _DEEPEST:
        return
    if isinstance(value, list):
        if value:
            yield from _empty(schemas, schema.get("items", {}), value[0], (*path, 0))
        return
    for name, part in schema.get("properties", {}).items():
        at, part = (*path, name), _resolved(schemas, part)
        if name in _LEFT_OUT or (path == () and name in ("apiVersion", "kind")):
            continue
        if isinstance(value, Mapping) and name in value:
            yield from _empty(schemas, part, value[name], at)
            continue
        yield at, None, "null"
        if part.get("type") == "array":
            yield at, [], "outer"
            yield at, [], "inner"
        elif part.get("type") == "object":
            yield at, {}, "outer"
            below = list(_empty(schemas, part, None, at)) if part.get("properties") else []
            inner = [item for item in below if item[2] == "inner"]
            yield from inner or [(at, {}, "inner")]


def _filled(member: Connection, data: Data, candidates: list[tuple[Field, Any]]) -> Data:
    """Return an object with all those of some fields that the API server takes, each for itself and together."""
    takes = partial(_takes, member)
    fine = [candidate for candidate in candidates if takes(_with(data, [candidate]))]
    while not takes(whole := _with(data, fine)):
        whole = data
        for item in list(fine):
            if takes(more := _with(whole, [item])):
                whole = more
            else:
                fine.remove(item)
    return whole


def _takes(member: Connection, data: Data) -> bool:
    try:
        member.try_out(data, manager="tests", force=True)
    except UnexpectedAnswer:
        return False
    return True


def _with(data: Data, fields: list[tuple[Field, Any]]) -> Data:
    found = copy.deepcopy(data)
    for path, value in fields:
        node: Any = found
        for step in path[:-1]:
            node = node[step] if isinstance(step, int) else node.setdefault(step, {})
        node[path[-1]] = copy.deepcopy(value)
    return found
