"""A program with several fleets, and with Kubernetes resources of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi
import yaml
from pulumi_kubernetes import Provider
from pulumi_kubernetes.core.v1 import ConfigMap, ConfigMapPatch
from pulumi_kubernetes.helm.v3 import Release
from pulumi_kubernetes.helm.v4 import Chart
from pulumi_kubernetes.kustomize.v2 import Directory
from pulumi_kubernetes.yaml import ConfigGroup
from pulumi_kubernetes.yaml.v2 import ConfigGroup as ConfigGroupV2

from fleet_components import Fleet, FleetArgs, Renamed, read_source

config = pulumi.Config("own")


def declare_own(way: str, objects: list[dict[str, Any]]) -> None:
    """Declare objects outside all fleets: each as a resource of its own, as a patch, or as parts of something."""
    provider = Provider("mine", **config.require_object("provider"))
    options = pulumi.ResourceOptions(provider=provider)
    if way == "group":
        texts = [yaml.safe_dump(data) for data in objects]
        ConfigGroup("mine", yaml=texts, opts=options)
    elif way == "group v2":
        ConfigGroupV2("mine", objs=objects, opts=pulumi.ResourceOptions(providers=[provider]))
    elif way == "chart":
        Chart("mine", chart="fleet/chart", opts=pulumi.ResourceOptions(providers=[provider]))
    elif way == "kustomize":
        Directory(
            "mine",
            directory="fleet/chart/templates",
            opts=pulumi.ResourceOptions(providers=[provider]),
        )
    elif way == "release":
        space = objects[0]["metadata"]["namespace"]
        Release("mine", chart="fleet/chart", name="mine", namespace=space, opts=options)
    elif way == "provider":
        pass
    else:
        kind = ConfigMapPatch if way == "patch" else ConfigMap
        for data in objects:
            name = f"mine-{data['metadata']['name']}"
            kind(name, metadata=data["metadata"], data=data["data"], opts=options)


def declare_fleets() -> None:
    """Declare the fleets, in the order of the configuration."""
    for name, given in config.require_object("fleets"):
        renamed = Renamed(members=given.pop("members", {}))
        Fleet(name, FleetArgs(source=read_source(f"fleet/{name}"), renamed=renamed, **given))


way = config.get("way") or ""
if not config.get_bool("last"):
    declare_fleets()
if way:
    declare_own(way, list(yaml.safe_load_all(Path("fleet/own.yaml").read_text())))
if config.get_bool("last"):
    declare_fleets()
