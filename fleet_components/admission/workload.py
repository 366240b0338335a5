"""Types of those fields of placed objects that affect a decision, and their checks.

An object goes to the members as it is written. Therefore only these fields are checked: the
replicas and the pods of a workload with everything they refer to, the Secrets of an Ingress, the
type of a Service.

Source: the API of Kubernetes 1.36 (``core/v1``, ``networking.k8s.io/v1``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from fleet_components.admission.schema import (
    Schema,
    anything,
    integer,
    listing,
    mapping,
    rule,
    struct,
    text,
)
from fleet_components.admission.structure import check, filled
from fleet_components.model.manifest import Manifest, WorkloadShape
from fleet_components.model.problem import Problem
from fleet_components.model.quantity import parse_quantity


def _is_quantity(value: Any) -> bool:
    # null counts as absent.
    if value is None:
        return True
    # A bool is an int to Python.
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    try:
        parse_quantity(str(value))
    except ValueError:
        return False
    return True


_NAMED = struct({"name": text(example="shop")}, example={"name": "shop"})
_AMOUNT = anything(
    rules=(rule("must be a quantity", _is_quantity, "write a quantity, such as 250m or 1Gi"),)
)
_AMOUNTS = mapping(_AMOUNT, example={"cpu": "250m"})
_OF_ENVIRONMENT = struct({"secretRef": _NAMED, "configMapRef": _NAMED})
_VALUE_FROM = struct({"secretKeyRef": _NAMED, "configMapKeyRef": _NAMED})
_CONTAINER = struct(
    {
        **dict.fromkeys(("name", "image"), text()),
        "resources": struct({"requests": _AMOUNTS, "limits": _AMOUNTS}),
        "envFrom": listing(_OF_ENVIRONMENT),
        "env": listing(struct({"valueFrom": _VALUE_FROM})),
    },
    example={"name": "web", "image": "nginx:1.27"},
)
_SECRET_NAME = struct({"secretName": text(example="shop")}, example={"secretName": "shop"})
_SECRET_REF = struct({"secretRef": _NAMED})
_VOLUME = struct(
    {
        **dict.fromkeys(("azureFile", "secret"), _SECRET_NAME),
        **dict.fromkeys(
            ("cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos"), _SECRET_REF
        ),
        "csi": struct({"nodePublishSecretRef": _NAMED}),
        "configMap": _NAMED,
        "persistentVolumeClaim": struct({"claimName": text(example="shop")}),
        "projected": struct({"sources": listing(struct({"secret": _NAMED, "configMap": _NAMED}))}),
    }
)
_POD = struct(
    {
        **dict.fromkeys(
            ("containers", "initContainers", "ephemeralContainers"), listing(_CONTAINER)
        ),
        "imagePullSecrets": listing(_NAMED),
        "volumes": listing(_VOLUME),
        **dict.fromkeys(("serviceAccountName", "serviceAccount"), text(example="shop")),
        "overhead": _AMOUNTS,
        "nodeSelector": mapping(text()),
        # Checked for being objects only: nothing is read of what they hold here.
        "tolerations": listing(struct({})),
        "affinity": struct(
            {"nodeAffinity": struct({"requiredDuringSchedulingIgnoredDuringExecution": struct({})})}
        ),
    }
)
_OTHERS: Mapping[tuple[str, str], Schema] = {
    ("networking.k8s.io/v1", "Ingress"): struct({"spec": struct({"tls": listing(_SECRET_NAME)})}),
    ("v1", "Service"): struct({"spec": struct({"type": text(example="ClusterIP")})}),
}
_COMPLETIONS = ("spec", "completions")
_MAX_INT32 = 2**31 - 1
_CLAIMS = ("spec", "volumeClaimTemplates")


def misread(manifest: Manifest, shape: WorkloadShape | None) -> Iterator[Problem]:
    """Yield problems for values with a wrong type or out of range, for which an API server would
    refuse the object.

    Args:
        manifest: an object to be placed.
        shape: where it keeps its replicas and its pods; None if it is not a workload.
    """
    for schema in _schemas((manifest.api_version, manifest.kind), shape):
        for finding in check(schema, filled(schema, manifest.data)):
            yield manifest.problem(finding.message(), finding.path, finding.hint)


@lru_cache(maxsize=1024)
def _schemas(kind: tuple[str, str], shape: WorkloadShape | None) -> tuple[Schema, ...]:
    """Return the schemas of a kind, made once for all of its objects."""
    found = [_OTHERS[kind]] if kind in _OTHERS else []
    if kind == ("batch/v1", "Job"):
        found.append(_at(_COMPLETIONS, integer(minimum=0, maximum=_MAX_INT32, example=1)))
    if kind == ("apps/v1", "StatefulSet"):
        found.append(_at(_CLAIMS, listing(struct({"metadata": _NAMED}))))
    if shape and shape.replicas is not None:
        found.append(_at(shape.replicas, integer(minimum=0, maximum=_MAX_INT32, example=3)))
    if shape and shape.template is not None:
        # The empty template path stands for the object itself, as of a Pod.
        found.append(_at((*shape.template, "spec"), _POD))
    return tuple(found)


def _at(path: tuple[str, ...], schema: Schema) -> Schema:
    """Return the schema of an object that has this value at the path."""
    for step in reversed(path):
        schema = struct({step: schema})
    return schema
