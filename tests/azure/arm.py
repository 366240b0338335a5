"""Turns what the SDK registers into the request that Azure gets, and checks it against Azure's own schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import attrs
from jsonschema import Draft7Validator

from tests.azure.world import Resource
from tests.shared import shared

_PROVIDER = "Microsoft.ContainerService"
_TOP = ("identity", "location", "tags", "sku", "kind", "extendedLocation")
_AKS = "aks-2025-09-01"

# By type token: schema file, type and version, the parameters of the path, and which of them is the name.
_TYPED = {
    "azure-native:containerservice:ManagedCluster": (
        _AKS,
        "managedClusters@2025-09-01",
        (),
        "resourceName",
    ),
    "azure-native:containerservice:AgentPool": (
        _AKS,
        "managedClusters/agentPools@2025-09-01",
        ("resourceName",),
        "agentPoolName",
    ),
    "azure-native:containerservice:MaintenanceConfiguration": (
        _AKS,
        "managedClusters/maintenanceConfigurations@2025-09-01",
        ("resourceName",),
        "configName",
    ),
}
GENERIC = "azure-native:resources:Resource"


@attrs.frozen
class Request:
    """The body of a PUT.

    Attributes:
        schema: the file with its schema.
        type: type and version.
        body: with the name, which stands in the path, and all properties.
    """

    schema: str
    type: str
    body: Mapping[str, Any]

    def errors(self) -> list[str]:
        """What Azure's schema says against it."""
        return [
            f"{error.json_path}: {error.message}"
            for error in _validator(self.schema, self.type).iter_errors(self.body)
        ]


def has_schema(resource: Resource) -> bool:
    """Whether the schema of its requests is at hand."""
    return resource.type in _TYPED or resource.type == GENERIC


def request_of(resource: Resource) -> Request:
    """The request that the provider would send for a resource."""
    return _generic(resource) if resource.type == GENERIC else _typed(resource)


def _typed(resource: Resource) -> Request:
    schema, kind, in_path, name = _TYPED[resource.type]
    inputs = {
        key: value
        for key, value in resource.inputs.items()
        if key not in ("resourceGroupName", *in_path)
    }
    # Only tracked resources have fields beside their properties; those of a child are all properties.
    top = set(_TOP) if "/" not in kind else set()
    body = {
        "name": inputs.pop(name),
        **{key: _top(key, value) for key, value in inputs.items() if key in top},
    }
    body["properties"] = {
        key: _dashed(key, value) for key, value in inputs.items() if key not in top
    }
    return Request(schema, f"{_PROVIDER}/{kind}", body)


def _generic(resource: Resource) -> Request:
    inputs = dict(resource.inputs)
    version, kind, parent = (
        inputs.pop("apiVersion"),
        inputs.pop("resourceType"),
        inputs.pop("parentResourcePath"),
    )
    assert inputs.pop("resourceProviderNamespace") == _PROVIDER
    assert inputs.pop("resourceGroupName")
    parent_type, slash, parent_name = parent.partition("/")
    assert (parent_type, bool(parent_name)) in (("", False), ("fleets", True))
    name = inputs.pop("resourceName")
    body = {"name": name, **{key: _top(key, value) for key, value in inputs.items()}}
    return Request(
        f"fleet-{version}", f"{_PROVIDER}/{parent_type}{slash and '/'}{kind}@{version}", body
    )


def _top(key: str, value: Any) -> Any:
    """The SDK takes a list of identities, Azure a map."""
    if key == "identity" and "userAssignedIdentities" in value:
        return {
            **value,
            "userAssignedIdentities": {each: {} for each in value["userAssignedIdentities"]},
        }
    return value


def _dashed(key: str, value: Any) -> Any:
    """The SDK's names of the autoscaler's settings are in camelCase, Azure's have dashes."""
    if key == "autoScalerProfile":
        return {
            re.sub("[A-Z]", lambda upper: f"-{upper[0].lower()}", name): each
            for name, each in value.items()
        }
    return value


@lru_cache(maxsize=32)
def _validator(schema: str, kind: str) -> Draft7Validator:
    document = json.loads(shared(f"data/azure-arm/{schema}.closed.schema.json").read_text())
    return Draft7Validator({"definitions": document["definitions"], **document["resources"][kind]})


def fields_of(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all named fields of a body, outermost first."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield (*path, key)
            yield from fields_of(item, (*path, key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from fields_of(item, (*path, position))
