"""Answers of the resource API, in the shapes of version 2026-06-01."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SUBSCRIPTION = "8ecadfc9-d1a3-4ea4-b844-0d9f87e4d7c8"
FLEET = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-fleet/providers/Microsoft.ContainerService/fleets/shop"


def fleet(state: str = "Succeeded", *, hub: bool = True) -> dict[str, Any]:
    profile = {"hubProfile": {"dnsPrefix": "shop", "kubernetesVersion": "1.33.2"}} if hub else {}
    return {
        "id": FLEET,
        "name": "shop",
        "location": "eastus",
        "properties": {"provisioningState": state, **profile},
    }


def cluster(name: str) -> str:
    return f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/{name}"


def member(
    name: str, group: str = "", state: str = "Succeeded", error: str = "", **labels: str
) -> dict[str, Any]:
    status = {"lastOperationId": "op"} | (
        {"lastOperationError": {"code": "Bad", "message": error}} if error else {}
    )
    properties = {"clusterResourceId": cluster(name), "provisioningState": state, "status": status}
    properties |= {"group": group} if group else {}
    properties |= {"labels": labels} if labels else {}
    return {"id": f"{FLEET}/members/{name}", "name": name, "properties": properties}


def stage(name: str, state: str, members: Mapping[str, str], gate: str = "") -> dict[str, Any]:
    updated = [{"name": each, "status": {"state": of}} for each, of in members.items()]
    gates = {"beforeGates": [{"displayName": gate, "status": {"state": "Pending"}}]} if gate else {}
    group = {"name": f"of-{name}", "status": {"state": state}, "members": updated}
    return {"name": name, "status": {"state": state}, "groups": [group], **gates}


def run(name: str, state: str, *stages: dict[str, Any], **more: Any) -> dict[str, Any]:
    times = {"startTime": "2026-11-20T08:00:00Z"} if state != "NotStarted" else {}
    status = {"status": {"state": state, **times}, "stages": list(stages)}
    update = {"upgrade": {"type": "Full", "kubernetesVersion": "1.33.2"}}
    return {"name": name, "properties": {"managedClusterUpdate": update, "status": status, **more}}


def strategy(name: str) -> dict[str, Any]:
    stages = [
        {
            "name": "canary",
            "groups": [{"name": "first"}, {"name": "second"}],
            "afterStageWaitInSeconds": 60,
        }
    ]
    return {"name": name, "properties": {"strategy": {"stages": stages}}}


def profile(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "properties": {"channel": "Stable", "updateStrategyId": f"{FLEET}/updateStrategies/slow"},
    }
