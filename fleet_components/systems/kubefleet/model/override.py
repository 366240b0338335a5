"""KubeFleet overrides as typed values, with the names and nesting of the API.

Source: ``ClusterResourceOverride`` and ``ResourceOverride`` of ``placement.kubernetes-fleet.io``
v1, v1beta1, v1alpha1.
"""

from __future__ import annotations

from typing import Any

import attrs

from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import decode
from fleet_components.model.manifest import Manifest
from fleet_components.systems.kubefleet.model.placement import ClusterSelector

CLUSTER_OVERRIDE, OVERRIDE = "ClusterResourceOverride", "ResourceOverride"
JSON_PATCH, DELETE = "JSONPatch", "Delete"
NAMESPACED = "Namespaced"


@attrs.frozen(order=True)
class OverrideTarget:
    """Name of an object that an override selects. ``namespace`` is that of a ResourceOverride."""

    version: str
    kind: str
    name: str
    group: str = ""
    namespace: str = ""


@attrs.frozen
class JSONPatchOverride:
    """One operation of a JSON patch: ``op`` is add, remove or replace."""

    op: str
    path: str
    value: Any = None


@attrs.frozen
class OverrideRule:
    """Patches, or the deletion, of what an override selects, and the members that they apply to.

    Without ``cluster_selector`` a rule applies to no member, with an empty one to all of them.
    """

    cluster_selector: ClusterSelector | None = None
    override_type: str = JSON_PATCH
    json_patch_overrides: tuple[JSONPatchOverride, ...] = ()

    def applies_to(self, cluster: Cluster) -> bool:
        """Return whether the rule selects a member.

        Source: KubeFleet v0.3.1, ``pkg/utils/overrider/overrider.go``, ``IsClusterMatched``.
        """
        if self.cluster_selector is None:
            return False
        terms = self.cluster_selector.cluster_selector_terms
        selectors = [term.label_selector for term in terms]
        return not terms or any(
            selector is not None and selector.matches(cluster.labels) for selector in selectors
        )


@attrs.frozen
class OverridePolicySpec:
    """The rules of an override, in their order."""

    override_rules: tuple[OverrideRule, ...] = ()


@attrs.frozen
class PlacementReference:
    """The placement that an override is for. ``scope`` is Cluster or Namespaced."""

    name: str
    scope: str = "Cluster"


@attrs.frozen
class OverrideSpec:
    """The spec of an override of either kind."""

    policy: OverridePolicySpec = OverridePolicySpec()
    cluster_resource_selectors: tuple[OverrideTarget, ...] = ()
    resource_selectors: tuple[OverrideTarget, ...] = ()
    placement: PlacementReference | None = None


@attrs.frozen
class ResourceOverride:
    """A ClusterResourceOverride or a ResourceOverride.

    Attributes:
        manifest: the whole object.
        spec: its spec, typed.
    """

    manifest: Manifest = attrs.field(repr=False)
    spec: OverrideSpec

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> ResourceOverride:
        """Read an override that has passed admission."""
        return cls(manifest, decode(OverrideSpec, manifest.data["spec"]))

    @property
    def targets(self) -> tuple[OverrideTarget, ...]:
        """The objects that it selects."""
        if self.manifest.kind == CLUSTER_OVERRIDE:
            return self.spec.cluster_resource_selectors
        namespace = self.manifest.namespace
        return tuple(
            attrs.evolve(target, namespace=namespace) for target in self.spec.resource_selectors
        )

    def is_for(self, placement: str) -> bool:
        """Return whether it applies to a placement, given as ``name`` or ``namespace/name``;
        without one, to all.
        """
        wanted = self.spec.placement
        if wanted is None:
            return True
        inside = wanted.scope == NAMESPACED and self.manifest.kind == OVERRIDE
        return placement == (f"{self.manifest.namespace}/{wanted.name}" if inside else wanted.name)
