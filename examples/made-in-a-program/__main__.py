"""The same shop on every member: the fleet registers its objects, once for each."""

import pulumi
from shop import shop

import fleet_components as fc

args = fc.FleetArgs(
    fc.read_source("fleet"),
    kubeconfigs=pulumi.Config().get_object("kubeconfigs") or {},
    render_to=pulumi.Config().get("render") or "",
    objects=fc.objects_of(shop),
)
fleet = fc.Fleet("prod", args)
pulumi.export("shop", fleet.placements["shop"].decisions)
