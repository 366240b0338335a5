"""Fleets of both systems whose change is only supposed, and the command run on them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from tests.cli.fleets import FLEET, run, write
from tests.delivery.karmada.world import deployment, member, policy, weights

Objects = list[dict[str, Any]]


def kubefleet() -> Objects:
    """The fleet of the other tests, whose members have resources too."""
    found = [item for text in FLEET.values() for item in yaml.safe_load_all(text)]
    for item in found[:4]:
        usage = {"allocatable": {"cpu": "16"}, "capacity": {"cpu": "20"}, "available": {"cpu": "6"}}
        item.setdefault("status", {})["resourceUsage"] = usage
    return found


def karmada() -> Objects:
    """Four members in two regions, and a Deployment that is divided by the room that they have."""
    members = []
    for name, region, cpu in (
        ("a", "eu", "4"),
        ("b", "eu", "4"),
        ("c", "us", "3"),
        ("d", "us", "2"),
    ):
        item = member(name, region=region, labels={"tier": "gold"})
        summary = {
            "allocatable": {"cpu": cpu, "pods": "110"},
            "allocated": {"cpu": "1", "pods": "1"},
        }
        apis = [
            {
                "groupVersion": "apps/v1",
                "resources": [{"kind": "Deployment", "name": "deployments"}],
            }
        ]
        members.append({**item, "status": {"resourceSummary": summary, "apiEnablements": apis}})
    web = deployment(6)
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    dynamic = weights()
    dynamic["replicaScheduling"]["weightPreference"] = {"dynamicWeight": "AvailableReplicas"}
    return [
        *members,
        web,
        policy(placement=dynamic),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
    ]


def named(objects: Objects, name: str, kind: str = "") -> dict[str, Any]:
    kinds = (kind,) if kind else ("MemberCluster", "Cluster")
    return next(
        data for data in objects if data["metadata"]["name"] == name and data["kind"] in kinds
    )


def dumped(folder: Path, objects: Objects) -> Path:
    """Write every object into a file of its own, so that a change moves no line of another one."""
    names = (f"{data['kind']}-{data['metadata']['name']}.yaml".lower() for data in objects)
    return write(
        folder, {name: yaml.safe_dump(data) for name, data in zip(names, objects, strict=True)}
    )


def options(text: str) -> list[str]:
    """The options of a text: what follows a name of one, up to the next, is its value."""
    return [part for option in re.split(r" (?=--)", text) for part in option.split(" ", 1)]


def saved(status: int = 0) -> Path:
    assert run("plan", "fleet", "--save-state", "../state.json").exit_code == status
    return Path("../state.json")


def simulated(*args: object, status: int = 0) -> dict[str, Any]:
    result = run("simulate", *args, "-o", "json")
    assert result.exit_code == status, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document
