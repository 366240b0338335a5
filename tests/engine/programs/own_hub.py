"""A program whose hub is reached by a provider of its own, set as its configuration says."""

from __future__ import annotations

import pulumi
from pulumi_kubernetes import Provider

from fleet_components import Fleet, FleetArgs

config = pulumi.Config("fleet")
settings = pulumi.Config("own").get_object("hub") or {}
hub = Provider("mine", kubeconfig=config.require("hub"), **settings)
way = config.require("delivery")
confirm = list(filter(None, (config.get("confirm") or "").split(",")))
protect = config.get_bool("protect") is not False
fleet = Fleet("dev", FleetArgs(config.require("source"), hub=hub, delivery=way, confirm=confirm, protect=protect))
