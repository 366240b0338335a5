"""Declarations of what lets traffic into a cluster and moves it there: the application routing and the Istio add-on.

Source: ``ingressProfile`` and ``serviceMeshProfile`` of ``managedClusters`` at API version 2025-09-01, "Managed NGINX
ingress with the application routing add-on" and "Deploy Istio-based service mesh add-on" (Microsoft, 2026).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from fleet_components.azure.values import checks
from fleet_components.azure.values.arm_id import resource_problems
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.text import count
from fleet_components.model.typed import Later, Typed

ZONES = ("Microsoft.Network/dnsZones", "Microsoft.Network/privateDnsZones")
_CONTROLLERS = ("AnnotationControlled", "External", "Internal", "None")
_MOST_ZONES = 5
_MOST_REVISIONS = 2


@attrs.frozen(kw_only=True)
class WebAppRouting(Typed):
    """Web application routing: ingress controllers that Azure manages, with records in DNS zones.

    Attributes:
        enabled: on, the default; False switches it off.
        dns_zones: the resource IDs of up to five public or private DNS zones; the add-on's identity needs the role DNS
            Zone Contributor, or Private DNS Zone Contributor, in each. Pulumi outputs are accepted.
        default_controller: the load balancer of the default ingress controller: ``AnnotationControlled`` (Azure's
            default), ``External``, ``Internal``, or ``None`` for no such controller, as text.
    """

    enabled: bool = True
    dns_zones: tuple[str | Later, ...] = ()
    default_controller: str | None = None

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        if self.default_controller is not None:
            yield from checks.choice_of(self.default_controller, _CONTROLLERS, (*path, "defaultController"))
        if len(self.dns_zones) > _MOST_ZONES:
            yield Problem(count(len(self.dns_zones), "DNS zone"), (*path, "dnsZones"), f"{_MOST_ZONES} at most")
        for position, zone in enumerate(self.dns_zones):
            yield from resource_problems(zone, ZONES, (*path, "dnsZones", position))


@attrs.frozen(kw_only=True)
class ServiceMesh(Typed):
    """The Istio-based service mesh add-on.

    ``az aks mesh upgrade`` changes the revisions too; write here what it left behind.

    Attributes:
        enabled: on, the default; False switches it off.
        revisions: the revision of its control plane, as ``asm-1-29``; two consecutive ones during an upgrade. Empty
            lets Azure choose.
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
            yield Problem(count(len(self.revisions), "revision"), at, "one, or two during an upgrade")
        for position, revision in enumerate(self.revisions):
            if not re.fullmatch("asm-[0-9]+-[0-9]+", revision):
                yield Problem(f'"{revision}" is not a revision', (*at, position), "for example asm-1-29")
        if len(set(self.revisions)) != len(self.revisions):
            yield Problem("a revision is named twice", at, "name each once")
        if not self.enabled and (self.revisions or self.external_ingress or self.internal_ingress):
            yield Problem("a service mesh that is off has no settings", (*path, "enabled"), "leave out all others")
