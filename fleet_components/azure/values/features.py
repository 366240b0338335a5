"""Optional features of an AKS cluster, each with a value of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from fleet_components.azure.values.add_ons import ImageCleaner, KeyVaultSecrets
from fleet_components.azure.values.arm_id import resource_problems
from fleet_components.azure.values.autoscaler import Autoscaler
from fleet_components.azure.values.http_proxy import HttpProxy
from fleet_components.azure.values.ingress import ServiceMesh, WebAppRouting
from fleet_components.azure.values.member import FleetMember
from fleet_components.azure.values.monitoring import ContainerInsights, Defender, Prometheus
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.model.codec import camel
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Later

ON, OFF = "on", "off"
_VALUES = (
    *("container_insights", "prometheus", "defender", "key_vault_secrets", "image_cleaner", "autoscaler"),
    *("web_app_routing", "service_mesh", "http_proxy"),
)
_SWITCHES = ("keda", "vertical_pod_autoscaler")


@attrs.frozen(kw_only=True)
class FeaturedMember(FleetMember):
    """Base of members whose cluster has optional features.

    None says nothing about a feature: Azure's default, or what somebody else has set, such as a policy of the
    subscription. A feature that is on is switched off by ``enabled=False`` (a switch by False, the autoscaler's
    settings by an empty value); leaving it out is refused, since Azure may keep what a request does not name.

    In YAML each feature is one field: that of a member replaces that of its region or of the defaults as a whole.

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
        disk_encryption_set: the resource ID of the disk encryption set with the key of the nodes' disks; None for keys
            of Azure. The cluster's identity needs the role Reader on it. It can only be set when the cluster is
            created. A Pulumi output is accepted.
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
            if (feature := getattr(self, name)) is not None:
                yield from feature.problems((*path, camel(name)))
        if self.disk_encryption_set is not None:
            kind = "Microsoft.Compute/diskEncryptionSets"
            yield from resource_problems(self.disk_encryption_set, kind, (*path, "diskEncryptionSet"))

    @property
    def switched(self) -> Mapping[str, str | None]:
        """The declared state of each feature that can be switched off: :data:`ON`, :data:`OFF` or None."""
        switches: dict[str, bool | None] = {name: getattr(self, name) for name in _SWITCHES}
        for name in _VALUES:
            feature = getattr(self, name)
            switches[name] = None if feature is None else getattr(feature, "enabled", feature != Autoscaler())
        del switches["http_proxy"]
        return {camel(name): None if on is None else ON if on else OFF for name, on in switches.items()}
