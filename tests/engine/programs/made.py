"""A program whose objects are made in it, some of them of what is known once something else stands."""

from __future__ import annotations

from typing import Any

import pulumi
import pulumi_kubernetes as k8s
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

from fleet_components import Fleet, FleetArgs, objects_of, read_source

config = pulumi.Config("own")
core: Any = k8s.core.v1


class Provider(ResourceProvider):
    """Knows its host once it stands."""

    def create(self, props: dict[str, Any]) -> CreateResult:
        """Make it."""
        return CreateResult("database", {**props, "host": "10.0.0.1"})


class Database(Resource):
    """Something that is not the fleet's."""

    host: pulumi.Output[str]
    size: pulumi.Output[str]

    def __init__(self, size: str) -> None:
        super().__init__(Provider(), "database", {"host": None, "size": size})


database = Database("1") if config.get("database") else None


def made() -> None:
    """A ConfigMap and a Secret beside what the source has."""
    inside = {"namespace": "shop"}
    first = core.ConfigMap(
        "made", metadata=inside, data={"currency": config.get("currency") or "EUR"}
    )
    token = pulumi.Config("own").get_secret("token") or ""
    core.Secret("pay", metadata=inside, string_data={"token": token, "of": first.metadata["name"]})
    if database and config.get("database") != "beside":
        core.ConfigMap(
            "database",
            metadata=inside,
            data={"host": getattr(database, config.require("database"))},
        )


kubeconfigs = pulumi.Config("fleet").require_object("kubeconfigs")
Fleet("dev", FleetArgs(read_source("fleet"), kubeconfigs=kubeconfigs, objects=objects_of(made)))
