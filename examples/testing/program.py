"""A program of one's own: two regions, and a shop that must stay in Europe."""

from pathlib import Path

import pulumi

from fleet_components import Cluster, Fleet, FleetArgs, Member, read_source

MEMBERS = {"eu-west": "europe", "eu-north": "europe", "us-east": "america"}


def program() -> None:
    """Declare the members, and deliver what lies in ``shop/`` to them."""
    kubeconfigs = pulumi.Config().require_secret_object("kubeconfigs")
    fleet = Fleet(
        "production",
        FleetArgs(
            source=read_source(Path(__file__).parent / "shop"),
            members=[
                Member(
                    Cluster(name, labels={"region": region}),
                    kubeconfigs.apply(lambda given, name=name: given[name]),
                )
                for name, region in MEMBERS.items()
            ],
        ),
    )
    pulumi.export("shop", fleet.placements["shop"].decisions)
