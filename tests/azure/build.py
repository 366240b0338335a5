"""Declarations for tests, valid unless told otherwise."""

from __future__ import annotations

from typing import Any

import attrs

from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.node_pool import NodePool

GUID = "99999999-8888-7777-6666-555555555555"
SYSTEM_POOL = NodePool("system", "Standard_D4s_v5", count=3)
APPS_POOL = NodePool("apps", "Standard_D8s_v5", min_count=2, max_count=10, zones=("1", "2", "3"))
RP = {"fleet_rp": GUID}


def aks(name: str = "weu-1", **fields: Any) -> AksMember:
    """An AKS member."""
    return AksMember(
        **{
            "name": name,
            "region": "westeurope",
            "resource_group": "rg",
            "system_pool": SYSTEM_POOL,
            **fields,
        }
    )


def pool(**fields: Any) -> NodePool:
    """The pool for applications, changed."""
    return attrs.evolve(APPS_POOL, **fields)
