"""The program after: the same objects are part of a fleet, and stay alive."""

import pulumi

import fleet_components as fc

kubeconfigs = pulumi.Config().require_object("kubeconfigs")
fleet = fc.Fleet(
    "prod",
    fc.FleetArgs(
        fc.read_source("fleet"),
        kubeconfigs={"east": kubeconfigs["east"]},
        takes_over={"east": ["shop", "prices", "web"]},
    ),
)
