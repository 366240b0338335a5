"""A program whose hub is reached by a provider of its own, set as its configuration says."""

from __future__ import annotations

import pulumi
from pulumi_kubernetes import Provider

from fleet_components import Fleet, FleetArgs

config = pulumi.Config("fleet")
own = pulumi.Config("own")
hub = Provider("mine", kubeconfig=own.require("kubeconfig"), **(own.get_object("hub") or {}))
way = config.require("delivery")
confirm = list(filter(None, (config.get("confirm") or "").split(",")))
protect = config.get_bool("protect") is not False
fleet = Fleet(
    "dev",
    FleetArgs(config.require("source"), hub=hub, delivery=way, confirm=confirm, protect=protect),
)
