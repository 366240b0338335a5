"""A program that gives its fleet a name and arguments; the kubeconfigs are outputs, known when it runs."""

from __future__ import annotations

import pulumi

from fleet_components import Fleet, FleetArgs, read_source
from fleet_components.option_values import Renamed

config = pulumi.Config("fleet")
renamed = config.get_object("renamed") or {}
args = FleetArgs(
    source=read_source("fleet"),
    kubeconfigs={
        name: pulumi.Output.secret(text)
        for name, text in config.require_object("kubeconfigs").items()
    },
    confirm=[token for token in (config.get("confirm") or "").split(",") if token],
    renamed=Renamed(fleet=renamed.get("fleet", ""), members=renamed.get("members", {})),
)
fleet = Fleet(pulumi.Config("own").get("name") or "dev", args)
