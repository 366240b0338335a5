"""What Azure adds to its answers: values that it chooses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KUBELET = {
    "clientId": "kubelet-client",
    "objectId": "kubelet-object",
    "resourceId": "/subscriptions/s/kubelet",
}


def answered(kind: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs of a resource beside its inputs, by its type token."""
    if kind == "azure-native:containerservice:ManagedCluster":
        return _cluster(inputs)
    if kind == "azure-native:resources:Resource":
        return _fleet(inputs)
    return {}


def _cluster(inputs: Mapping[str, Any]) -> dict[str, Any]:
    name, region = inputs["resourceName"], inputs["location"]
    private = inputs.get("apiServerAccessProfile", {}).get("enablePrivateCluster", False)
    issuer = inputs.get("oidcIssuerProfile", {})
    return {
        "oidcIssuerProfile": {
            **issuer,
            **({"issuerURL": f"https://oidc/{name}/"} if issuer.get("enabled") else {}),
        },
        "identityProfile": {"kubeletidentity": KUBELET},
        "identity": _identity(inputs, name),
        "nodeResourceGroup": inputs.get("nodeResourceGroup")
        or f"MC_{inputs['resourceGroupName']}_{name}_{region}",
        "fqdn": None if private else f"{inputs['dnsPrefix']}.hcp.{region}.azmk8s.io",
        "privateFQDN": f"{name}.privatelink" if private else None,
    }


def _fleet(inputs: Mapping[str, Any]) -> dict[str, Any]:
    if "identity" not in inputs:
        return {}
    properties = dict(inputs.get("properties", {}))
    if hub := properties.get("hubProfile"):
        properties["hubProfile"] = {**hub, "fqdn": f"hub.{inputs['location']}.azmk8s.io"}
    return {"properties": properties, "identity": _identity(inputs, inputs["resourceName"])}


def _identity(inputs: Mapping[str, Any], name: str) -> dict[str, Any]:
    identity = inputs["identity"]
    assigned = identity.get("userAssignedIdentities")
    if not assigned:
        return {**identity, "principalId": f"system-{name}"}
    return {
        **identity,
        "userAssignedIdentities": {each: {"principalId": f"own-{name}"} for each in assigned},
    }
