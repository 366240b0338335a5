"""Every kind of hub and every form of member, as YAML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from fleet_components.testing import kubeconfig
from tests.azure.build import GUID

_GROUP = f"/subscriptions/{GUID}/resourceGroups/rg/providers"
_SUBNETS = f"{_GROUP}/Microsoft.Network/virtualNetworks/hub/subnets"
SUBNET = f"{_GROUP}/Microsoft.Network/virtualNetworks/nodes/subnets/nodes"
IDENTITY = f"{_GROUP}/Microsoft.ManagedIdentity/userAssignedIdentities/ours"

HUBS: Mapping[str, dict[str, Any] | None] = {
    "none": None,
    "public": {},
    "private": {"kind": "private", "network": {"fleetRp": GUID}},
    "private in subnets": {
        "kind": "private",
        "network": {
            "fleetRp": GUID,
            "agentSubnet": f"{_SUBNETS}/a",
            "apiServerSubnet": f"{_SUBNETS}/b",
        },
    },
    "hubless": {"kind": "hubless"},
}
"""Fields of a hub by its kind."""

MEMBERS: tuple[dict[str, Any], ...] = (
    {"name": "plain"},
    {"name": "identity", "identity": IDENTITY},
    {"name": "subnet", "identity": IDENTITY, "subnet": SUBNET},
    {"name": "private", "apiServer": {"private": True}},
    {
        "name": "pools",
        "pools": [
            {
                "name": "spot",
                "vmSize": "Standard_D8s_v5",
                "minCount": 0,
                "maxCount": 9,
                "spot": True,
            }
        ],
    },
    {
        "name": "tainted",
        "group": "canary",
        "taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}],
    },
    {
        "name": "upgraded",
        "upgrades": "fleet",
        "maintenance": [{"upgrades": "cluster", "day": "Monday"}],
    },
    {"name": "joined", "clusterId": f"{_GROUP}/Microsoft.ContainerService/managedClusters/there"},
    {
        "name": "arc",
        "clusterId": f"{_GROUP}/Microsoft.Kubernetes/connectedClusters/arc",
        "kubeconfigFile": "kubeconfig",
    },
    {"name": "outside", "kubeconfigFile": "kubeconfig"},
)
"""Members, one of each form."""

_DEFAULTS = {
    "resourceGroup": "rg",
    "systemPool": {"name": "system", "vmSize": "Standard_D4s_v5", "minCount": 3, "maxCount": 5},
}


def write_fleet(folder: Path, hub: str) -> Path:
    """Write a fleet with a hub of that kind and every form of member; return its directory."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kubeconfig").write_text(kubeconfig("somewhere"))
    fields = HUBS[hub]
    declared = (
        []
        if fields is None
        else [_object("Hub", {"resourceGroup": "rg", "region": "westeurope", **fields})]
    )
    path = str(folder / "kubeconfig")
    members = [
        {
            "region": "westeurope",
            **member,
            **({"kubeconfigFile": path} if "kubeconfigFile" in member else {}),
        }
        for member in MEMBERS
    ]
    declared.append(_object("Members", {"defaults": _DEFAULTS, "members": members}))
    (folder / "fleet.yaml").write_text(yaml.safe_dump_all(json.loads(json.dumps(declared))))
    return folder


def _object(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "fleet-components/v1",
        "kind": kind,
        "metadata": {"name": "shop"},
        "spec": spec,
    }
