"""A program with two fleets."""

from __future__ import annotations

import pulumi

from fleet_components import Fleet, FleetArgs, read_source

kubeconfigs = pulumi.Config("fleet").require_object("kubeconfigs")
for name in ("first", "second"):
    Fleet(name, FleetArgs(source=read_source(f"fleet/{name}"), kubeconfigs=kubeconfigs))
