"""Optional features of an AKS cluster, each with a value of its own."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from urllib.parse import SplitResult, urlsplit

import attrs

from fleet_components.azure.values import checks
from fleet_components.azure.values.arm_id import resource_problems
from fleet_components.azure.values.autoscaler import Autoscaler
from fleet_components.azure.values.member import FleetMember
from fleet_components.azure.values.monitoring import ContainerInsights, Defender, Prometheus
from fleet_components.azure.values.network import ServiceMesh, WebAppRouting
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.model.codec import camel
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Later, Typed

ON, OFF = "on", "off"
_VALUES = (
    *(
        "container_insights",
        "prometheus",
        "defender",
        "key_vault_secrets",
        "image_cleaner",
        "autoscaler",
    ),
    *("web_app_routing", "service_mesh", "http_proxy"),
)
_SWITCHES = ("keda", "vertical_pod_autoscaler")


@attrs.frozen(kw_only=True)
class FeaturedMember(FleetMember):
    """Base of members whose cluster has optional features.

    None says nothing about a feature: Azure's default, or what somebody else has set, such as a
    policy of the subscription. A feature that is on is switched off by ``enabled=False`` (a switch
    by False, the autoscaler's settings by an empty value); leaving it out is refused, since Azure
    may keep what a request does not name.

    In YAML each feature is one field: that of a member replaces that of its region or of the
    defaults as a whole.

    Attributes:
        container_insights: logs of containers and nodes in a Log Analytics workspace.
        prometheus: metrics for Azure Monitor managed service for Prometheus.
        defender: threat detection by Microsoft Defender.
        key_vault_secrets: secrets of Azure Key Vault as volumes.
        image_cleaner: removal of unused images with vulnerabilities.
        autoscaler: how the cluster autoscaler behaves, for all autoscaled pools.
        keda: scaling by events, the KEDA add-on; True or False.
        vertical_pod_autoscaler: requests of pods by their use, the VPA add-on; True or False.
        web_app_routing: ingress controllers that Azure manages.
        service_mesh: the Istio-based service mesh.
        http_proxy: the proxy of nodes and pods. It can be added and changed later, but not removed.
        disk_encryption_set: the resource ID of the disk encryption set with the key of the nodes'
            disks; None for keys of Azure. The cluster's identity needs the role Reader on it. It
            can only be set when the cluster is created. A Pulumi output is accepted.
    """

    container_insights: ContainerInsights | None = None
    prometheus: Prometheus | None = None
    defender: Defender | None = None
    key_vault_secrets: KeyVaultSecrets | None = None
    image_cleaner: ImageCleaner | None = None
    autoscaler: Autoscaler | None = None
    keda: bool | None = None
    vertical_pod_autoscaler: bool | None = None
    web_app_routing: WebAppRouting | None = None
    service_mesh: ServiceMesh | None = None
    http_proxy: HttpProxy | None = None
    disk_encryption_set: str | Later | None = None

    def problems(self, table: SizeTable, path: FieldPath = ()) -> Iterator[Problem]:
        """Yield Azure validation errors, unknown VM sizes included."""
        yield from super().problems(table, path)
        for name in _VALUES:
            feature = getattr(self, name)
            if feature is not None:
                yield from feature.problems((*path, camel(name)))
        if self.disk_encryption_set is not None:
            kind = "Microsoft.Compute/diskEncryptionSets"
            yield from resource_problems(
                self.disk_encryption_set, kind, (*path, "diskEncryptionSet")
            )

    @property
    def switched(self) -> Mapping[str, str | None]:
        """The declared state of each feature that can be switched off: :data:`ON`, :data:`OFF` or
        None.
        """
        switches: dict[str, bool | None] = {name: getattr(self, name) for name in _SWITCHES}
        for name in _VALUES:
            feature = getattr(self, name)
            # The settings of the autoscaler have no switch: they are on unless they are empty.
            switches[name] = (
                None if feature is None else getattr(feature, "enabled", feature != Autoscaler())
            )
        # A proxy cannot be switched off; it has a rule of its own in create_only.py.
        del switches["http_proxy"]
        return {
            camel(name): None if on is None else ON if on else OFF for name, on in switches.items()
        }


# Declarations of add-ons that need no more than a few settings: Key Vault secrets, the image
# cleaner.
#
# Source: ``addonProfiles`` and ``securityProfile.imageCleaner`` of ``managedClusters`` at API
# version 2025-09-01, and "Use Image Cleaner on AKS" (Microsoft, 2026-06).


_THREE_MONTHS = 24 * 90


@attrs.frozen(kw_only=True)
class KeyVaultSecrets(Typed):
    """Secrets of Azure Key Vault as volumes of pods: the Azure Key Vault provider for Secrets Store
    CSI Driver.

    Attributes:
        enabled: on, the default; False switches it off.
        rotation: mounted secrets follow the vault; on by default.
        rotation_seconds: how often the vault is asked, in seconds; 120 by default.
    """

    enabled: bool = True
    rotation: bool = True
    rotation_seconds: int = 120

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        yield from checks.in_range(self.rotation_seconds, 1, 2**31 - 1, (*path, "rotationSeconds"))


@attrs.frozen(kw_only=True)
class ImageCleaner(Typed):
    """Removal of images that no container uses and that have vulnerabilities.

    Attributes:
        enabled: on, the default; False switches it off.
        interval_hours: the hours between two runs, 24 to 2160; 168, a week, by default.
    """

    enabled: bool = True
    interval_hours: int = 168

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        yield from checks.in_range(self.interval_hours, 24, _THREE_MONTHS, (*path, "intervalHours"))


# Declaration of the HTTP proxy of nodes and pods.
#
# Source: ``httpProxyConfig`` of ``managedClusters`` at API version 2025-09-01, and "HTTP proxy
# support in AKS" (Microsoft, 2026).


_MOST_CERTIFICATES = 20
_WILDCARD = re.compile("\\*\\.?[A-Za-z0-9]")
_BEGIN = b"-----BEGIN CERTIFICATE-----"


@attrs.frozen(kw_only=True)
class HttpProxy(Typed):
    """The proxy by which nodes and pods reach the internet. A change of it makes Azure reimage all
    nodes.

    It can be added later but not removed: at this API version a request cannot take it away.

    Attributes:
        http: the proxy's address for HTTP, as ``http://proxy.example:8080``, without user and
            password.
        https: the proxy's address for HTTPS.
        no_proxy: host names, domains and ranges that are reached directly; Azure adds those that
            the cluster needs.
        trusted_ca: up to 20 further certificates that nodes trust, as PEM in base64. A Pulumi
            output is accepted.
    """

    http: str | None = None
    https: str | None = None
    no_proxy: tuple[str, ...] = ()
    trusted_ca: str | Later | None = None

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        if self.http is None and self.https is None:
            yield Problem(
                Message("names-no-proxy", "names no proxy"), (*path, "http"), "http, https or both"
            )
        for field, address in (("http", self.http), ("https", self.https)):
            if address is not None:
                yield from _address_problems(address, (*path, field))
        for position, name in enumerate(self.no_proxy):
            if not name or _WILDCARD.match(name) or re.search(r"\s", name):
                hint = "a host name, a domain such as .corp.example, or a range"
                yield Problem(
                    Message("not-taken", '"{name}" is not taken', name=name),
                    (*path, "noProxy", position),
                    hint,
                )
        if isinstance(self.trusted_ca, str):
            yield from _certificate_problems(self.trusted_ca, (*path, "trustedCa"))


def _address_problems(address: str, path: FieldPath) -> Iterator[Problem]:
    parts = _parts(address)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        yield Problem(
            Message(
                "not-address-proxy", '"{address}" is not the address of a proxy', address=address
            ),
            path,
            "for example http://proxy.example:8080",
        )
    elif parts.username is not None or parts.password is not None:
        yield Problem(
            Message("azure-takes-no-user", "Azure takes no user and password of a proxy"),
            path,
            "leave both out of the address",
        )


def _parts(address: str) -> SplitResult | None:
    try:
        # ``port`` raises an error for a number above 65535; 0 is parsed, but nothing listens there.
        parts = urlsplit(address)
        return parts if parts.port != 0 else None
    except ValueError:
        return None


def _certificate_problems(text: str, path: FieldPath) -> Iterator[Problem]:
    try:
        found = b64decode(text, validate=True).count(_BEGIN)
    except ValueError:
        found = 0
    if not 1 <= found <= _MOST_CERTIFICATES:
        yield Problem(
            Message("not-list-certificates-base64", "is not a list of certificates in base64"),
            path,
            f"1 to {_MOST_CERTIFICATES} in PEM, through base64 -w0",
        )


# Maintenance windows: when AKS and update runs may upgrade a cluster.


CONFIGURATIONS = {
    "cluster": "aksManagedAutoUpgradeSchedule",
    "nodeImages": "aksManagedNodeOSUpgradeSchedule",
}
"""The names that AKS reserves for the schedules of Kubernetes upgrades and of node image
upgrades.
"""

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@attrs.frozen
class MaintenanceWindow(Typed):
    """A weekly maintenance window.

    Attributes:
        upgrades: what it applies to: ``cluster`` (Kubernetes versions) or ``nodeImages``.
        day: the day of the week, as ``Monday``.
        start: the time of day at which it opens, as HH:MM; 01:00 by default.
        hours: its length in hours, 4 to 24; 4 by default.
        every_weeks: the interval in weeks, 1 to 4; 1 by default.
        utc_offset: UTC offset of ``start``, as +HH:MM or -HH:MM; +00:00 by default.
    """

    upgrades: str
    day: str
    start: str = "01:00"
    hours: int = 4
    every_weeks: int = 1
    utc_offset: str = "+00:00"

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        yield from checks.choice_of(self.upgrades, CONFIGURATIONS, (*path, "upgrades"))
        yield from checks.choice_of(self.day, _DAYS, (*path, "day"))
        if not re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9]", self.start):
            yield Problem(
                Message("not-time-day", '"{start}" is not a time of day', start=self.start),
                (*path, "start"),
                "HH:MM, for example 01:00",
            )
        yield from checks.in_range(self.hours, 4, 24, (*path, "hours"))
        yield from checks.in_range(self.every_weeks, 1, 4, (*path, "everyWeeks"))
        if not re.fullmatch("[+-](0[0-9]|1[0-4]):[0-5][0-9]", self.utc_offset):
            yield Problem(
                Message(
                    "not-offset", '"{utc_offset}" is not an offset', utc_offset=self.utc_offset
                ),
                (*path, "utcOffset"),
                "for example +01:00",
            )
