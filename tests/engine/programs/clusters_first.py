"""A program that creates its clusters itself: their kubeconfigs are unknown before the first update."""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider
from pulumi_kubernetes import Provider

from fleet_components import Cluster, Fleet, FleetArgs, Member, read_source
from fleet_components.testing import kubeconfig


class Maker(ResourceProvider):
    serialize_as_secret_always = False

    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult(props["name"], {**props, "kubeconfig": kubeconfig(props["name"])})


class Made(Resource):
    kubeconfig: pulumi.Output[str]

    def __init__(self, name: str) -> None:
        super().__init__(Maker(), name, {"name": name, "kubeconfig": None})


def member(name: str) -> Member:
    """Reached by its kubeconfig, or by a provider of its own whose settings are unknown as well."""
    made = Made(name)
    if not pulumi.Config("own").get_bool("providers"):
        return Member(Cluster(name), made.kubeconfig, identifier=name)
    provider = Provider(
        f"mine-{name}",
        kubeconfig=made.kubeconfig,
        cluster_identifier=made.id,
        enable_config_map_mutable=True,
        enable_secret_mutable=True,
        upsert_existing_objects=True,
        enable_patch_force=True,
    )
    return Member(Cluster(name), provider=provider)


fleet = Fleet(
    "dev", FleetArgs(source=read_source("fleet"), members=[member(name) for name in ("x", "y")])
)
