"""Custom kinds of a hub, as the CustomResourceDefinitions of a source define them: defaults and
preferred versions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from fleet_components.content.stored import Shape
from fleet_components.model.manifest import Manifest, value_at

_DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")
_VERSION = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
# A definition may be nested to any depth; reading it must not exhaust the stack.
_MOST_LEVELS = 64
_NO_SHAPE = Shape()

GroupKind = tuple[str, str]


@attrs.frozen(eq=False)
class CustomKind:
    """A custom kind.

    Attributes:
        preferred: the version in which Karmada reads its objects.
        shapes: what an API server makes of its objects, by version; a version without defaults
            may be left out.
    """

    preferred: str = ""
    shapes: Mapping[str, Shape] = attrs.field(factory=dict)

    def shape(self, version: str) -> Shape:
        """Return what an API server makes of its objects in a version."""
        return self.shapes.get(version, _NO_SHAPE)

    def to_wire(self) -> dict[str, Any]:
        """Return the wire form."""
        shapes = {version: shape.to_wire() for version, shape in self.shapes.items() if shape}
        return {"preferred": self.preferred, "shapes": shapes}

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> CustomKind:
        """Read it back from :meth:`to_wire`."""
        shapes = {
            version: Shape.from_wire(item) for version, item in wire.get("shapes", {}).items()
        }
        return cls(wire.get("preferred", ""), shapes)


@attrs.frozen(eq=False)
class CustomKinds:
    """The custom kinds of a hub, by group and kind."""

    kinds: Mapping[GroupKind, CustomKind] = attrs.field(factory=dict)

    @classmethod
    def of(cls, manifests: Iterable[Manifest]) -> CustomKinds:
        """Return those that the definitions among some objects define."""
        return cls(_defined(manifests))

    def kind(self, manifest: Manifest) -> CustomKind | None:
        """Return the kind of an object; None if it is built in, or if its definition is unknown."""
        return self.kinds.get((manifest.group, manifest.kind))

    def shapes(self, objects: Iterable[Mapping[str, Any]]) -> dict[str, Shape]:
        """Return the shapes of those kinds of objects whose definition is known, by
        ``group/version/kind``.
        """
        found = ((manifest, self.kind(manifest)) for manifest in map(Manifest, objects))
        return {
            f"{item.api_version}/{item.kind}": kind.shape(item.version)
            for item, kind in found
            if kind
        }


def _defined(manifests: Iterable[Manifest]) -> dict[GroupKind, CustomKind]:
    versions: dict[GroupKind, dict[str, Shape]] = {}
    for manifest in manifests:
        if (manifest.group, manifest.kind) == _DEFINITION:
            names = (
                value_at(manifest.data, ("spec", "group")),
                value_at(manifest.data, ("spec", "names", "kind")),
            )
            if all(isinstance(name, str) for name in names):
                versions[names[0], names[1]] = dict(_shapes(manifest))
    # The versions of a group are ordered together: one of another kind counts as well.
    groups: dict[str, set[str]] = defaultdict(set)
    for (group, _), served in versions.items():
        groups[group].update(served)
    return {
        key: CustomKind(_preferred(served, groups[key[0]]), served)
        for key, served in versions.items()
    }


def _preferred(served: Mapping[str, Shape], of_group: Iterable[str]) -> str:
    """Return the first version of a kind in the order of its group.

    Source: ``ServerPreferredResources`` in k8s.io/client-go v0.36, discovery/discovery_client.go.
    """
    return next((version for version in sorted(of_group, key=_rank) if version in served), "")


def _rank(version: str) -> tuple[int, int, int, str]:
    """Return the sort key of a version, best first: stable ones, beta, alpha, the highest
    numbers, then other names.

    Source: ``CompareKubeAwareVersionStrings`` in k8s.io/apimachinery v0.36,
    pkg/version/helpers.go.
    """
    found = _VERSION.fullmatch(version)
    if not found:
        return 3, 0, 0, version
    major, stage, minor = found.groups()
    # The highest numbers come first, so that they are negated.
    return {None: 0, "beta": 1, "alpha": 2}[stage], -int(major), -int(minor or 0), ""


def _shapes(definition: Manifest) -> Iterator[tuple[str, Shape]]:
    """Yield the served versions of a definition, each with what an API server makes of its
    objects.
    """
    versions = value_at(definition.data, ("spec", "versions"))
    for version in versions if isinstance(versions, list) else ():
        name = value_at(version, ("name",))
        if isinstance(name, str) and value_at(version, ("served",)):
            yield name, _shape(value_at(version, ("schema", "openAPIV3Schema")), 0)


def _shape(schema: Any, level: int) -> Shape:
    """Return the defaults of a structural schema."""
    properties = value_at(schema, ("properties",))
    if not isinstance(properties, Mapping) or level > _MOST_LEVELS:
        return _NO_SHAPE
    known = {field: item for field, item in properties.items() if isinstance(item, Mapping)}
    below = {field: _below(item, level + 1) for field, item in known.items()}
    return Shape(
        defaults={
            field: item["default"]
            for field, item in known.items()
            if item.get("default") is not None
        },
        # A field with no default in it needs no visit.
        fields={field: (sort, shape) for field, (sort, shape) in below.items() if shape},
    )


def _below(schema: Mapping[str, Any], level: int) -> tuple[str, Shape]:
    """Return the shape of what is in a value, and whether the value is a list or a map of it."""
    for field, sort in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(schema.get(field), Mapping):
            return sort, _shape(schema[field], level)
    return "", _shape(schema, level)
