"""Answers of Azure for mocks: an ID for each resource, and kubeconfigs of clusters that do not
exist.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

_PACKAGE = "azure-native:"
_SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
_KUBECONFIG = base64.b64encode(
    b"{apiVersion: v1, kind: Config, current-context: it, clusters: [{name: it, cluster: {server:"
    b" 'https://127.0.0.1'}}], contexts: [{name: it, context: {cluster: it, user: it}}], users:"
    b" [{name: it, user: {}}]}"
).decode()
"""Kubeconfig of a cluster that does not exist, in base64 as Azure returns it; nothing listens at
its address.
"""


def resource_id(token: str, name: str, inputs: Mapping[str, Any]) -> str:
    """Return an ID in the form of Azure's; programs take subscription and resource group out of it.

    Args:
        token: type token of the resource.
        name: its logical name, with which the ID ends.
        inputs: its inputs; empty text if another provider has it.
    """
    if not token.startswith(_PACKAGE):
        return ""
    group = inputs.get("resourceGroupName", name)
    # A token has three parts: package, module and type.
    _, module, kind = token.split(":")
    of_group = f"/subscriptions/{_SUBSCRIPTION}/resourceGroups/{group}"
    return f"{of_group}/providers/Microsoft.{module}/{kind}/{name}"


def answer(token: str) -> dict[str, Any] | None:
    """Return the answer of a function that lists credentials; None for every other function."""
    if token.startswith(_PACKAGE) and token.endswith("Credentials"):
        return {"kubeconfigs": [{"name": "kubeconfig", "value": _KUBECONFIG}]}
    return None
