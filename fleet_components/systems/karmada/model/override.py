"""Karmada override policies as typed values, with the names and nesting of the API.

Source: ``policy.karmada.io`` v1alpha1, in the form after defaulting, which admission applies.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import attrs

from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import decode
from fleet_components.model.manifest import Manifest
from fleet_components.systems.karmada.model.policy import (
    ClusterAffinity,
    PolicyKey,
    Rank,
    ResourceSelector,
    Selectors,
    policy_key,
)

_NAME = "/metadata/name"


@attrs.frozen
class ImagePredicate:
    """The path of the one image to override."""

    path: str


@attrs.frozen
class ImageOverrider:
    """Changes the registry, repository or tag of images; without a predicate, those of all
    containers.
    """

    component: str
    operator: str
    value: str = ""
    predicate: ImagePredicate | None = None


@attrs.frozen
class CommandArgsOverrider:
    """Adds words to, or removes them from, the command or arguments of a container."""

    container_name: str
    operator: str
    value: tuple[str, ...] = ()


@attrs.frozen
class LabelAnnotationOverrider:
    """Adds, replaces or removes labels or annotations."""

    operator: str
    value: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen
class PatchOperation:
    """One patch operation on the document that a string field holds."""

    sub_path: str
    operator: str
    value: Any = None


@attrs.frozen
class FieldOverrider:
    """Patches the JSON or YAML document that a string field holds."""

    field_path: str
    json: tuple[PatchOperation, ...] = ()
    yaml: tuple[PatchOperation, ...] = ()


@attrs.frozen
class PlaintextOverrider:
    """One JSON patch operation on the object."""

    path: str
    operator: str
    value: Any = None


@attrs.frozen
class Overriders:
    """The overriders of a rule; the fields are in the order in which they are applied."""

    image_overrider: tuple[ImageOverrider, ...] = ()
    command_overrider: tuple[CommandArgsOverrider, ...] = ()
    args_overrider: tuple[CommandArgsOverrider, ...] = ()
    labels_overrider: tuple[LabelAnnotationOverrider, ...] = ()
    annotations_overrider: tuple[LabelAnnotationOverrider, ...] = ()
    field_overrider: tuple[FieldOverrider, ...] = ()
    plaintext: tuple[PlaintextOverrider, ...] = ()


@attrs.frozen
class OverrideRule:
    """Overriders, and the members that they apply to. ``target_cluster`` None selects all
    members.
    """

    overriders: Overriders = Overriders()
    target_cluster: ClusterAffinity | None = None

    def applies_to(self, cluster: Cluster) -> bool:
        """Return whether the rule selects the member."""
        return self.target_cluster is None or self.target_cluster.matches(cluster)


@attrs.frozen
class OverrideSpec:
    """The spec of an override policy.

    ``target_cluster`` and ``overriders`` are the deprecated form of a single rule.
    """

    resource_selectors: tuple[ResourceSelector, ...] = ()
    override_rules: tuple[OverrideRule, ...] = ()
    target_cluster: ClusterAffinity | None = None
    overriders: Overriders = Overriders()

    @property
    def rules(self) -> tuple[OverrideRule, ...]:
        """The rules in order; the deprecated form counts as one rule."""
        return self.override_rules or (OverrideRule(self.overriders, self.target_cluster),)

    @property
    def new_names(self) -> tuple[str, ...]:
        """The names that the policy's plaintext overriders give to objects."""
        operations = (operation for rule in self.rules for operation in rule.overriders.plaintext)
        return tuple(
            str(operation.value)
            for operation in operations
            if operation.path == _NAME and operation.value
        )

    def rank(self, manifest: Manifest) -> Rank:
        """Return the precision with which the policy matches the object.

        A policy without selectors matches all objects.
        """
        return self._selectors.rank(manifest) if self.resource_selectors else Rank.ALL

    @cached_property
    def _selectors(self) -> Selectors:
        return Selectors(self.resource_selectors)


@attrs.frozen
class OverridePolicy:
    """An OverridePolicy or a ClusterOverridePolicy.

    Attributes:
        key: its kind, namespace and name.
        spec: its spec, typed.
        manifest: the whole object.
    """

    key: PolicyKey
    spec: OverrideSpec
    manifest: Manifest = attrs.field(repr=False)

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> OverridePolicy:
        """Read a policy that has passed admission."""
        return cls(policy_key(manifest), decode(OverrideSpec, manifest.data["spec"]), manifest)
