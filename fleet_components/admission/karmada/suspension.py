"""Structure of the suspension of a propagation policy."""

from __future__ import annotations

from fleet_components.admission.schema import flag, listing, struct, text

SUSPENSION = struct(
    {
        "dispatching": flag(pointer=True),
        "dispatchingOnClusters": struct(
            {"clusterNames": listing(text(), example=["member1"])}, go="v1alpha1.SuspendClusters"
        ),
    },
    go="v1alpha1.Suspension",
    example={"dispatching": True},
)
"""Suspension of passing changes on to members: to all of them, or to the named ones."""
