"""A member of the fleet as a program declares it: what the schedulers see, and how to reach the cluster."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator

import attrs
import pulumi

from fleet_components.components.refusal import Arguments
from fleet_components.model.cluster import Cluster
from fleet_components.model.problem import FieldPath, Problem


@attrs.frozen
class Member(Arguments):
    """A cluster of the fleet.

    Attributes:
        cluster: what the schedulers see: plain values, known in the first preview.
        kubeconfig: the kubeconfig's text or path, kept as a secret; None where objects are only rendered.
        identifier: what tells this cluster from any other, an AKS resource id for example; the name by
            default. While it stays, a new kubeconfig replaces nothing.
        provider: a Kubernetes provider of one's own, instead of a kubeconfig. It has to name its cluster, and to change
            ConfigMaps and Secrets in place: ``cluster_identifier``, ``enable_config_map_mutable``,
            ``enable_secret_mutable``; what else it decides, and what is checked, is told in ``docs/delivery.md``.
            Where objects are only rendered it is not used.
        lost: the cluster is gone for good: it is left out of scheduling, and what cannot be reached any more
            is dropped from the state.
    """

    cluster: Cluster
    kubeconfig: pulumi.Input[str] | None = attrs.field(default=None, repr=False)
    identifier: str = ""
    lost: bool = False
    provider: pulumi.ProviderResource | None = attrs.field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if isinstance(self.kubeconfig, Awaitable):
            # The kubeconfig is used more than once, and a coroutine can be awaited only once.
            object.__setattr__(self, "kubeconfig", pulumi.Output.from_input(self.kubeconfig))

    @property
    def name(self) -> str:
        """Name of the member in the fleet."""
        return self.cluster.name

    def wrong_values(self) -> Iterator[Problem]:
        """Yield a problem for each value that has the right type and is still invalid."""
        if self.provider is None:
            return
        if self.kubeconfig is not None:
            yield Problem(f'the member "{self.name}" has a kubeconfig as well', ("provider",), "give one of the two")
        yield from wrong_provider(self.provider, ("provider",))


def wrong_provider(provider: pulumi.ProviderResource, path: FieldPath) -> Iterator[Problem]:
    """Yield a problem if a provider is not one of Kubernetes."""
    if provider.package != "kubernetes":
        yield Problem(f"is a provider of {provider.package}", path, "give a pulumi_kubernetes.Provider")
