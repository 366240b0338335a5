"""A member of the fleet as a program declares it: what the schedulers see, and how to reach the
cluster.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping
from typing import Any

import attrs
import pulumi

from fleet_components.components.refusal import Arguments
from fleet_components.content.guarded import read_yaml
from fleet_components.content.secret import REDACTED
from fleet_components.live.kubeconfig import read_kubeconfig
from fleet_components.model.cluster import Cluster
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.lost import identity_of


@attrs.frozen
class Member(Arguments):
    """A cluster of the fleet.

    Attributes:
        cluster: what the schedulers see: plain values, known in the first preview.
        kubeconfig: the kubeconfig's text or path, kept as a secret; None where objects are only
            rendered.
        identifier: what distinguishes this cluster from all others, an AKS resource ID for example;
            the name by default. While it stays, a new kubeconfig replaces nothing.
        provider: a Kubernetes provider of one's own, instead of a kubeconfig. It has to name its
            cluster, and to change ConfigMaps and Secrets in place: ``cluster_identifier``,
            ``enable_config_map_mutable``, ``enable_secret_mutable``; ``docs/delivery.md`` describes
            what else it decides, and what is checked. Where objects are only rendered it is not
            used.
        lost: the cluster is gone for good: it is left out of scheduling, and what cannot be reached
            any more is dropped from the state.
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
            yield Problem(
                Message(
                    "member-kubeconfig-well",
                    'the member "{name}" has a kubeconfig as well',
                    name=self.name,
                ),
                ("provider",),
                "give one of the two",
            )
        yield from wrong_provider(self.provider, ("provider",))


def wrong_provider(provider: pulumi.ProviderResource, path: FieldPath) -> Iterator[Problem]:
    """Yield a problem if a provider is not one of Kubernetes."""
    if provider.package != "kubernetes":
        yield Problem(
            Message("is-a-provider-of", "is a provider of {package}", package=provider.package),
            path,
            "give a pulumi_kubernetes.Provider",
        )


def identifier_of(plan: FleetPlan, member: Member) -> str:
    """Return the identifier of a member's cluster: the recorded one if known, so that a rename
    replaces nothing.

    It may be recorded for a member of another fleet, from which objects move.
    """
    known = plan.past.members.get(member.name)
    here = plan.known(member.name)
    others = (other for other in plan.past.neighbours.values() if here.is_cluster(other))
    beside = next((other.identifier for other in others), "")
    # With another identifier the provider creates every object again and then deletes the old one:
    # on the same cluster.
    return (known.identifier if known else "") or member.identifier or beside or member.name


def identities_of(members: Mapping[str, Member]) -> dict[str, str]:
    """Return what identifies the cluster of each member, as far as it is known before the program
    runs.
    """
    found = {
        name: member.identifier or identity_in(member.kubeconfig, name)
        for name, member in members.items()
    }
    return {name: identity for name, identity in found.items() if identity}


def identity_in(kubeconfig: pulumi.Input[str] | None, member: str) -> str:
    """Return the identity of the cluster in a kubeconfig; empty if it is not known yet, or cannot
    be read.
    """
    if not isinstance(kubeconfig, str) or kubeconfig == REDACTED:
        return ""
    try:
        config = read_yaml(read_kubeconfig(kubeconfig, member))
    except FleetError:
        return ""  # the provider reports what is wrong with it
    contexts, clusters = _named(config, "context"), _named(config, "cluster")
    context = contexts.get(str(config.get("current-context"))) or next(iter(contexts.values()), {})
    cluster = clusters.get(str(context.get("cluster")))
    if not cluster or not str(cluster.get("server")).startswith("https://"):
        return ""  # without TLS the server is a proxy, which may lead to any cluster
    # Neither the names in it nor the user: several kubeconfigs of one cluster differ in these.
    authority = [
        str(cluster.get(field) or "") for field in ("certificate-authority-data", "tls-server-name")
    ]
    return identity_of(str(cluster["server"]), "\n".join(authority))


def _named(config: Mapping[str, Any], what: str) -> dict[str, Mapping[str, Any]]:
    """Return the contexts or the clusters of a kubeconfig by name; malformed entries are left
    out.
    """
    entries = [entry for entry in config[f"{what}s"] if isinstance(entry, Mapping)]
    return {
        str(entry.get("name")): entry[what]
        for entry in entries
        if isinstance(entry.get(what), Mapping)
    }
