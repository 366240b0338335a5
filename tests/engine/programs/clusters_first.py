"""A program that creates its clusters itself: their kubeconfigs are unknown before the first update."""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

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


members = [Member(Cluster(name), Made(name).kubeconfig, identifier=name) for name in ("x", "y")]
fleet = Fleet("dev", FleetArgs(source=read_source("fleet"), members=members))
