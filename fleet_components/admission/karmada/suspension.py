"""The suspension of a propagation policy."""

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
"""Where changes are not passed on to members."""
