"""Built-in Azure roles that a fleet needs, by name.

Source: "Azure built-in roles" (Microsoft); the day on which it was read is in ``values/dated.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

import pulumi

from fleet_components.model.problem import FieldPath, Problem

NETWORK_CONTRIBUTOR = "Network Contributor"

_FLEET = "Azure Kubernetes Fleet Manager"
HUB_ADMIN = f"{_FLEET} RBAC Cluster Admin"
_AKS = "Azure Kubernetes Service"
ROLES = {
    f"{_FLEET} Contributor Role": "63bb64ad-9799-4770-b5c3-24ed299a07bf",
    f"{_FLEET} Hub Cluster User Role": "850c5848-fc51-4a9a-8823-f220370626e3",
    f"{_FLEET} Hub Agent Role": "de2b316d-7a2c-4143-b4cd-c148f6a355a1",
    HUB_ADMIN: "18ab4d3d-a1bf-4477-8ad9-8359bc988f69",
    f"{_FLEET} RBAC Admin": "434fb43a-c01c-447e-9f67-c3ad923cfaba",
    f"{_FLEET} RBAC Writer": "5af6afb3-c06c-4fa4-8848-71a8aee05683",
    f"{_FLEET} RBAC Reader": "30b27cfc-9c84-438e-b0ce-70e35255df80",
    f"{_FLEET} RBAC Cluster Admin for Member Clusters": "79a36d98-eb96-4a76-ae1d-481dc98d2c23",
    f"{_FLEET} RBAC Admin for Member Clusters": "d1f699ed-700a-4c77-a22f-29890ac7b115",
    f"{_FLEET} RBAC Writer for Member Clusters": "50346970-0998-40f2-b47d-f3b8809840f8",
    f"{_FLEET} RBAC Reader for Member Clusters": "463ad26c-fcce-4469-9c7f-5653d8acbab5",
    f"{_AKS} Cluster User Role": "4abbcc35-e782-43d8-92c5-2d3f1bd2253f",
    f"{_AKS} Cluster Admin Role": "0ab0b1a8-8aac-4efd-b8c2-3ee1fb270be8",
    f"{_AKS} Contributor Role": "ed7f3fbd-7b88-4dd4-9017-9adb7ce333f8",
    f"{_AKS} RBAC Cluster Admin": "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b",
    f"{_AKS} RBAC Admin": "3498e952-d568-435e-9b2c-8d77e338d7f7",
    f"{_AKS} RBAC Writer": "a7ffa36f-339b-4b5c-8bdf-e2c188b2c0eb",
    f"{_AKS} RBAC Reader": "7f6c6a51-bcf8-42ba-9220-52d62157d7db",
    NETWORK_CONTRIBUTOR: "4d97b98b-1d4f-4787-a291-c67834d212e7",
}
"""GUIDs of the role definitions by name; they are the same in every tenant."""


def role_problems(role: str, path: FieldPath) -> Iterator[Problem]:
    """Yield a problem if a role is not one of the known roles."""
    if role not in ROLES:
        near = get_close_matches(role, ROLES, n=3) or list(ROLES)
        yield Problem(f'there is no role "{role}"', path, f"one of: {'; '.join(near)}")


def role_definition_id(role: str, scope: pulumi.Input[str]) -> pulumi.Output[str]:
    """Return the ID of a role's definition in the subscription of a scope."""
    subscription = pulumi.Output.from_input(scope).apply(lambda scope: scope.split("/")[2])
    definition = f"/providers/Microsoft.Authorization/roleDefinitions/{ROLES[role]}"
    return pulumi.Output.concat("/subscriptions/", subscription, definition)
