"""A program whose members bring providers of their own, set as its configuration says."""

from __future__ import annotations

import pulumi
from pulumi_kubernetes import Provider

from fleet_components import Fleet, FleetArgs

config = pulumi.Config("fleet")
kubeconfigs = config.require_object("kubeconfigs")
settings = pulumi.Config("own").get_object("providers") or {}
made = {
    name: Provider(f"mine-{name}", **{"kubeconfig": kubeconfigs[name], **told})
    for name, told in settings.items()
}
others = {name: text for name, text in kubeconfigs.items() if name not in made}
lost = [name for name in (config.get("lost"),) if name]
fleet = Fleet(
    "dev", FleetArgs(config.require("source"), kubeconfigs=others, providers=made, lost=lost)
)
