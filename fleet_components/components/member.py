"""A member of the fleet as a program declares it: what the schedulers see, and how to reach it."""

from __future__ import annotations

import attrs
import pulumi

from fleet_components.model.cluster import Cluster


@attrs.frozen
class Member:
    """A member.

    Attributes:
        cluster: what the schedulers see: plain values, known in the first preview.
        kubeconfig: the kubeconfig's text or path, kept as a secret; None where objects are only rendered.
        identifier: what tells this cluster from any other, an AKS resource id for example; the name by
            default. While it stays, a new kubeconfig replaces nothing.
        lost: the cluster is gone for good: it is left out of scheduling, and what cannot be reached any more
            is dropped from the state.
    """

    cluster: Cluster
    kubeconfig: pulumi.Input[str] | None = attrs.field(default=None, repr=False)
    identifier: str = ""
    lost: bool = False

    @property
    def name(self) -> str:
        """Its name in the fleet."""
        return self.cluster.name
