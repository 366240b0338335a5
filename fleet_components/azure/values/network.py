"""Declaration of the network and the API server access of an AKS cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Address, IPv4Network

import attrs

from fleet_components.azure.values import checks
from fleet_components.azure.values.arm_id import resource_problems
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.text import count
from fleet_components.model.typed import Later, Typed

_PLUGINS = ("azure", "kubenet", "none")
_POLICIES = ("cilium", "azure", "calico", "none")
_OUTBOUND = (
    "loadBalancer",
    "userDefinedRouting",
    "managedNATGateway",
    "userAssignedNATGateway",
    "none",
)
_OUTBOUND_WITH_SUBNET = ("userDefinedRouting", "userAssignedNATGateway")
# Pods per node.
_DEFAULT_MAX_PODS = {"overlay": 250, "azure": 30, "kubenet": 110, "none": 250}
_MOST_AUTHORIZED = 200
# Prefix lengths in bits: of the smallest range of services, of one that is too large, and of the
# range that each node takes for its pods.
_SMALLEST_SERVICES = 28
_TOO_LARGE_SERVICES = 12
_PODS_OF_A_NODE = 24
_MOST_KUBENET_NODES = 400
_DEFAULT_SERVICES = "10.0.0.0/16"
_DEFAULT_PODS = "10.244.0.0/16"


@attrs.frozen
class Network(Typed):
    """The network of a cluster. It can only be set when the cluster is created.

    Attributes:
        plugin: ``azure`` (the default), ``kubenet`` or ``none``.
        overlay: pods have addresses of a range of their own instead of the subnet's; for ``azure``
            only; on by default.
        dataplane: ``cilium`` (the default) or ``azure``.
        policy: ``cilium`` (the default), ``azure``, ``calico`` or ``none``.
        pods: the address range of the pods with overlay or kubenet, with a /24 for every node that
            the pools may have; None for Azure's 10.244.0.0/16.
        services: the address range of the services, from /13 to /28; None for Azure's 10.0.0.0/16.
        dns: the address of the DNS service, within ``services``; None for the address at index 10
            of the range.
        outbound: how nodes reach the internet; ``loadBalancer`` by default.
    """

    plugin: str = "azure"
    overlay: bool = True
    dataplane: str = "cilium"
    policy: str = "cilium"
    pods: str | None = None
    services: str | None = None
    dns: str | None = None
    outbound: str = "loadBalancer"

    @property
    def max_pods(self) -> int:
        """Pods per node for pools that do not set it (AKS documentation of 2026-08)."""
        mode = "overlay" if self.overlay and self.plugin == "azure" else self.plugin
        # A plug-in that does not exist is reported by ``problems``.
        return _DEFAULT_MAX_PODS.get(mode, _DEFAULT_MAX_PODS["none"])

    @property
    def dns_address(self) -> str | None:
        """The address of the DNS service; None leaves it to Azure, if ``services`` is not set
        either.
        """
        found = checks.network(self.services) if self.services else None
        # Valid services have 16 addresses at least, so there is one at index 10.
        return self.dns or (str(found[10]) if found else None)

    def room_problems(self, nodes: int, path: FieldPath) -> Iterator[Problem]:
        """Yield a problem if the pods of the most nodes that the pools may have do not fit.

        With overlay and kubenet every node takes a /24 of the pods' range, and kubenet stops at 400
        nodes.

        Source: "Azure CNI Overlay networking in AKS", on pods, and "Use kubenet in AKS" (Microsoft,
        2026-08).
        """
        found = (
            checks.network(self.pods or _DEFAULT_PODS)
            if self.overlay or self.plugin == "kubenet"
            else None
        )
        if found is not None:
            # The number of /24 ranges in it.
            room = (
                2 ** max(0, _PODS_OF_A_NODE - found.prefixlen)
                if found.prefixlen <= _PODS_OF_A_NODE
                else 0
            )
            if nodes > room:
                # The least power of two of /24 ranges that holds all nodes.
                prefix = _PODS_OF_A_NODE - (nodes - 1).bit_length()
                hint = (
                    f"a range of /{prefix} or larger, or fewer nodes: every node takes a"
                    f" /{_PODS_OF_A_NODE}"
                )
                yield Problem(
                    Message(
                        "room-nodes-pools-may",
                        "{found} has room for {room} nodes, the pools may have {nodes}",
                        found=found,
                        room=room,
                        nodes=nodes,
                    ),
                    (*path, "pods"),
                    hint,
                )
        if self.plugin == "kubenet" and nodes > _MOST_KUBENET_NODES:
            hint = f"{_MOST_KUBENET_NODES} at most, or plugin: azure"
            yield Problem(
                Message("kubenet-nodes", "kubenet and {nodes} nodes", nodes=nodes),
                (*path, "plugin"),
                hint,
            )

    def problems(self, has_subnet: bool, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        yield from checks.choice_of(self.plugin, _PLUGINS, (*path, "plugin"))
        yield from checks.choice_of(self.dataplane, ("cilium", "azure"), (*path, "dataplane"))
        yield from checks.choice_of(self.policy, _POLICIES, (*path, "policy"))
        yield from checks.choice_of(self.outbound, _OUTBOUND, (*path, "outbound"))
        yield from self._combination_problems(path)
        if self.outbound in _OUTBOUND_WITH_SUBNET and not has_subnet:
            yield Problem(
                Message(
                    "outbound-needs-subnet",
                    "outbound {outbound} needs a subnet",
                    outbound=self.outbound,
                ),
                (*path, "outbound"),
                "give the cluster a subnet",
            )
        yield from self._range_problems(path)

    def _combination_problems(self, path: FieldPath) -> Iterator[Problem]:
        if self.overlay and self.plugin != "azure":
            yield Problem(
                Message("overlay-mode-plugin-azure", "overlay is a mode of plugin azure"),
                (*path, "overlay"),
                "write overlay: false",
            )
        if self.dataplane == "cilium" and self.plugin != "azure":
            yield Problem(
                Message("dataplane-cilium-needs-plugin", "dataplane cilium needs plugin azure"),
                (*path, "dataplane"),
                "write dataplane: azure",
            )
        if (self.policy == "cilium") != (self.dataplane == "cilium"):
            yield Problem(
                Message(
                    "policy-does-not-go",
                    "policy {policy} does not go with dataplane {dataplane}",
                    policy=self.policy,
                    dataplane=self.dataplane,
                ),
                (*path, "policy"),
                "policy cilium and dataplane cilium go together",
            )
        if self.policy == "azure" and self.plugin != "azure":
            yield Problem(
                Message("policy-azure-needs-plugin", "policy azure needs plugin azure"),
                (*path, "policy"),
                "write policy: calico",
            )
        if self.pods and not self.overlay and self.plugin != "kubenet":
            yield Problem(
                Message(
                    "pods-range-their-own",
                    "pods have a range of their own under overlay and kubenet only",
                ),
                (*path, "pods"),
                "leave it out",
            )

    def _range_problems(self, path: FieldPath) -> Iterator[Problem]:
        ranges = {"services": self.services or _DEFAULT_SERVICES}
        if self.overlay or self.plugin == "kubenet":
            ranges["pods"] = self.pods or _DEFAULT_PODS
        yield from checks.networks_apart(ranges, path)
        for field, text in ranges.items():
            kept = next(
                (network for network in checks.RESERVED_NETWORKS if _overlaps(text, network)), None
            )
            if kept is not None:
                yield Problem(
                    Message(
                        "overlaps-aks-keeps-itself",
                        "{text} overlaps {kept}, which AKS keeps for itself",
                        text=text,
                        kept=kept,
                    ),
                    (*path, field),
                    "another range",
                )
        found = checks.network(ranges["services"])
        if found is None:
            return
        if found.prefixlen <= _TOO_LARGE_SERVICES:
            yield Problem(
                Message("too-large", "{found} is too large", found=found),
                (*path, "services"),
                f"smaller than /{_TOO_LARGE_SERVICES}",
            )
        if found.prefixlen > _SMALLEST_SERVICES:
            yield Problem(
                Message("too-small", "{found} is too small", found=found),
                (*path, "services"),
                f"/{_SMALLEST_SERVICES} or larger",
            )
        elif self.dns is not None and not _is_usable(self.dns, found):
            hint = f"for example {found[10]}"
            yield Problem(
                Message(
                    "not-usable-address-services",
                    '"{dns}" is not a usable address of the services in {found}',
                    dns=self.dns,
                    found=found,
                ),
                (*path, "dns"),
                hint,
            )


@attrs.frozen
class ApiServer(Typed):
    """Access to the cluster's API server.

    Attributes:
        private: the API server has an address in the virtual network only. It can only be set when
            the cluster is created.
        authorized: the address ranges that may reach a public API server; empty for all.
        private_dns_zone: ``system`` (Azure's default), ``none`` or the ID of a zone; it can change
            to ``none`` only.
        run_command: ``az aks command invoke`` is allowed; on by default.
        vnet_integration: nodes reach the API server in the virtual network itself, without a
            tunnel; off by default. It can never be switched off. Switched on later, it holds after
            ``az aks stop`` and ``az aks start``, which must follow at once.
        subnet: the ID of the API server's subnet, delegated to
            ``Microsoft.ContainerService/managedClusters``, with ``vnet_integration`` and a subnet
            of the nodes; /28 or larger. It can only be set together with ``vnet_integration``. A
            Pulumi output is accepted.
    """

    private: bool = False
    authorized: tuple[str, ...] = ()
    private_dns_zone: str | None = None
    run_command: bool = True
    vnet_integration: bool = False
    subnet: str | Later | None = None

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        if self.private and self.authorized:
            yield Problem(
                Message(
                    "private-api-server-takes", "a private API server takes no authorized ranges"
                ),
                (*path, "authorized"),
                "leave out one of the two",
            )
        if self.private_dns_zone and not self.private:
            yield Problem(
                Message(
                    "only-private-api-server", "only a private API server has a private DNS zone"
                ),
                (*path, "privateDnsZone"),
                "leave it out",
            )
        if len(self.authorized) > _MOST_AUTHORIZED:
            yield Problem(
                Message(
                    "authorized-ranges",
                    "{authorized} authorized ranges",
                    authorized=len(self.authorized),
                ),
                (*path, "authorized"),
                f"{_MOST_AUTHORIZED} at most",
            )
        for position, text in enumerate(self.authorized):
            if checks.network(text) is None:
                hint = "for example 203.0.113.0/24"
                yield Problem(
                    Message("range-not-ipv4", '"{text}" is not an IPv4 range', text=text),
                    (*path, "authorized", position),
                    hint,
                )


def _overlaps(text: str, other: IPv4Network) -> bool:
    found = checks.network(text)
    return found is not None and found.overlaps(other)


def _is_usable(text: str, services: IPv4Network) -> bool:
    """Return whether the text is an address of the range, other than its first two.

    The first is the address of the range itself; the second is used by the Kubernetes API server.
    """
    try:
        address = IPv4Address(text)
    except AddressValueError:
        return False
    return address in services and address not in (services[0], services[1])


# Declarations of what lets traffic into a cluster and moves it there: the application routing and
# the Istio add-on.
#
# Source: ``ingressProfile`` and ``serviceMeshProfile`` of ``managedClusters`` at API version
# 2025-09-01, "Managed NGINX ingress with the application routing add-on" and "Deploy Istio-based
# service mesh add-on" (Microsoft, 2026).


ZONES = ("Microsoft.Network/dnsZones", "Microsoft.Network/privateDnsZones")
_CONTROLLERS = ("AnnotationControlled", "External", "Internal", "None")
_MOST_ZONES = 5
_MOST_REVISIONS = 2


@attrs.frozen(kw_only=True)
class WebAppRouting(Typed):
    """Web application routing: ingress controllers that Azure manages, with records in DNS zones.

    Attributes:
        enabled: on, the default; False switches it off.
        dns_zones: the resource IDs of up to five public or private DNS zones; the add-on's identity
            needs the role DNS Zone Contributor, or Private DNS Zone Contributor, in each. Pulumi
            outputs are accepted.
        default_controller: the load balancer of the default ingress controller:
            ``AnnotationControlled`` (Azure's default), ``External``, ``Internal``, or ``None`` for
            no such controller, as text.
    """

    enabled: bool = True
    dns_zones: tuple[str | Later, ...] = ()
    default_controller: str | None = None

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        if self.default_controller is not None:
            yield from checks.choice_of(
                self.default_controller, _CONTROLLERS, (*path, "defaultController")
            )
        if len(self.dns_zones) > _MOST_ZONES:
            yield Problem(
                Message(
                    "too-many-dns-zones", "{count}", count=count(len(self.dns_zones), "DNS zone")
                ),
                (*path, "dnsZones"),
                f"{_MOST_ZONES} at most",
            )
        for position, zone in enumerate(self.dns_zones):
            yield from resource_problems(zone, ZONES, (*path, "dnsZones", position))


@attrs.frozen(kw_only=True)
class ServiceMesh(Typed):
    """The Istio-based service mesh add-on.

    ``az aks mesh upgrade`` changes the revisions too; write here what it left behind.

    Attributes:
        enabled: on, the default; False switches it off.
        revisions: the revision of its control plane, as ``asm-1-29``; two consecutive ones during
            an upgrade. Empty lets Azure choose.
        external_ingress: an ingress gateway with a public address; off by default.
        internal_ingress: an ingress gateway with an address in the virtual network; off by default.
    """

    enabled: bool = True
    revisions: tuple[str, ...] = ()
    external_ingress: bool = False
    internal_ingress: bool = False

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        at = (*path, "revisions")
        if len(self.revisions) > _MOST_REVISIONS:
            yield Problem(
                Message(
                    "too-many-revisions", "{count}", count=count(len(self.revisions), "revision")
                ),
                at,
                "one, or two during an upgrade",
            )
        for position, revision in enumerate(self.revisions):
            if not re.fullmatch("asm-[0-9]+-[0-9]+", revision):
                yield Problem(
                    Message("not-revision", '"{revision}" is not a revision', revision=revision),
                    (*at, position),
                    "for example asm-1-29",
                )
        if len(set(self.revisions)) != len(self.revisions):
            yield Problem(
                Message("revision-named-twice", "a revision is named twice"), at, "name each once"
            )
        if not self.enabled and (self.revisions or self.external_ingress or self.internal_ingress):
            yield Problem(
                Message("service-mesh-off-no", "a service mesh that is off has no settings"),
                (*path, "enabled"),
                "leave out all others",
            )
