"""All objects of a fleet as a hub would hold them: each in its namespace, found by kind, name and labels."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import attrs

from fleet_components.model.kinds import BUILT_IN, Kind, guess_plural
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.selector import LabelSelector

DEFAULT_NAMESPACE = "default"
NAME_LABEL = "kubernetes.io/metadata.name"
"""The label with its own name, which the API server gives to every namespace."""

_MEMBERS = (("cluster.kubernetes-fleet.io", "MemberCluster"), ("cluster.karmada.io", "Cluster"))
_ENVELOPES = ("ResourceEnvelope", "ClusterResourceEnvelope")
_FLEET_GROUPS = ("placement.kubernetes-fleet.io", "cluster.kubernetes-fleet.io")


@attrs.frozen
class Parts:
    """A catalogue taken apart.

    Attributes:
        members: the ``MemberCluster`` and Karmada ``Cluster`` objects.
        policies: all other objects that tell a hub what to do: placements, overrides, budgets, update runs,
            propagation policies.
        objects: what can be placed; envelopes among it.
    """

    members: tuple[Manifest, ...]
    policies: tuple[Manifest, ...]
    objects: Catalogue


@attrs.frozen
class Catalogue:
    """Objects, each once, in the order of group, kind, namespace and name.

    Make it with :meth:`of`, which puts every object where an API server would.
    """

    manifests: tuple[Manifest, ...]

    @classmethod
    def of(cls, manifests: Iterable[Manifest], problems: list[Problem] | None = None) -> Catalogue:
        """A catalogue of these objects, as kubectl would apply them to a hub.

        Namespaced objects without a namespace go to ``default``, cluster-scoped ones lose theirs. Which is which
        says a ``CustomResourceDefinition`` among the objects, else the API itself; a custom kind that nobody
        defines is namespaced when one of its objects names a namespace, and otherwise cluster-scoped.

        Args:
            manifests: the objects.
            problems: takes what is wrong; the first one of each object is taken then.

        Raises:
            FleetError: an object is there twice, and there is no list for it.
        """
        manifests = tuple(manifests)
        kinds = _kinds(manifests)
        placed = [_settle(manifest, kinds[manifest.group, manifest.kind]) for manifest in manifests]
        first: dict[ObjectKey, Manifest] = {}
        twice = [_twice(m, known) for m in placed if (known := first.setdefault(m.key, m)) is not m]
        if twice and problems is None:
            raise FleetError(twice)
        if problems is not None:
            problems += twice
        return cls(tuple(sorted(first.values(), key=lambda manifest: manifest.key)))

    def get(self, key: ObjectKey) -> Manifest | None:
        """The object of that identity."""
        return self._by_key.get(key)

    def find(
        self,
        group: str,
        kind: str,
        namespace: str | None = None,
        name: str = "",
        labels: LabelSelector | None = None,
    ) -> tuple[Manifest, ...]:
        """The objects of a kind: of all namespaces or of one, all or those of a name and with certain labels."""
        spaces = self._by_kind.get((group, kind), {})
        chosen = spaces.values() if namespace is None else [spaces.get(namespace, {})]
        named = ([space[name]] if name in space else [] for space in chosen) if name else (s.values() for s in chosen)
        found = (manifest for manifests in named for manifest in manifests)
        return tuple(one for one in found if labels is None or labels.matches(labels_of(one)))

    def contents(self, namespace: str) -> tuple[Manifest, ...]:
        """The objects in a namespace."""
        return self._by_namespace.get(namespace, ())

    def kind(self, group: str, kind: str) -> Kind | None:
        """What is known of a kind; None when no API server would serve it."""
        return self._kinds.get((group, kind)) or BUILT_IN.get((group, kind))

    def defines(self, group: str, kind: str) -> bool:
        """Whether a ``CustomResourceDefinition`` among the objects defines the kind."""
        return (group, kind) in self._defined_kinds

    def split(self) -> Parts:
        """Take apart what describes the fleet, what steers it and what is placed."""
        parts: dict[str, list[Manifest]] = {"member": [], "policy": [], "object": []}
        for manifest in self.manifests:
            parts[_part(manifest)].append(manifest)
        return Parts(tuple(parts["member"]), tuple(parts["policy"]), Catalogue(tuple(parts["object"])))

    @cached_property
    def _kinds(self) -> Mapping[tuple[str, str], Kind]:
        return _kinds(self.manifests)

    @cached_property
    def _defined_kinds(self) -> frozenset[tuple[str, str]]:
        return frozenset((kind.group, kind.kind) for manifest in self.manifests for kind in _defined(manifest))

    @cached_property
    def _by_key(self) -> Mapping[ObjectKey, Manifest]:
        return {manifest.key: manifest for manifest in self.manifests}

    @cached_property
    def _by_kind(self) -> Mapping[tuple[str, str], Mapping[str, Mapping[str, Manifest]]]:
        """Group and kind to namespace to name."""
        index: dict[tuple[str, str], dict[str, dict[str, Manifest]]] = {}
        for (group, kind, namespace, name), manifest in self._by_key.items():
            index.setdefault((group, kind), {}).setdefault(namespace, {})[name] = manifest
        return index

    @cached_property
    def _by_namespace(self) -> Mapping[str, tuple[Manifest, ...]]:
        index: dict[str, list[Manifest]] = {}
        for manifest in self.manifests:
            if manifest.namespace:
                index.setdefault(manifest.namespace, []).append(manifest)
        return {namespace: tuple(manifests) for namespace, manifests in index.items()}


def labels_of(manifest: Manifest) -> Mapping[str, str]:
    """The labels of an object, with the one that the API server gives to a namespace."""
    is_namespace = (manifest.api_version, manifest.kind) == ("v1", "Namespace")
    return {**manifest.labels, NAME_LABEL: manifest.name} if is_namespace else manifest.labels


def _part(manifest: Manifest) -> str:
    if (manifest.group, manifest.kind) in _MEMBERS:
        return "member"
    steers = manifest.group in _FLEET_GROUPS and manifest.kind not in _ENVELOPES
    return "policy" if steers or manifest.group.endswith(".karmada.io") else "object"


def _kinds(manifests: Iterable[Manifest]) -> dict[tuple[str, str], Kind]:
    """The kinds of the objects, and those that custom resource definitions among them define."""
    kinds: dict[tuple[str, str], Kind] = {}
    defined = {}
    for manifest in manifests:
        key = manifest.group, manifest.kind
        known = kinds.get(key) or BUILT_IN.get(key) or Kind(*key, guess_plural(manifest.kind), namespaced=False)
        namespaced = known.namespaced or (key not in BUILT_IN and bool(manifest.namespace))
        versions = known.versions | {manifest.version}
        kinds[key] = attrs.evolve(known, namespaced=namespaced, versions=versions)
        defined.update({(kind.group, kind.kind): kind for kind in _defined(manifest)})
    return kinds | defined


def _defined(manifest: Manifest) -> Iterator[Kind]:
    if (manifest.group, manifest.kind) != ("apiextensions.k8s.io", "CustomResourceDefinition"):
        return
    try:
        spec = manifest.data["spec"]
        group, kind = str(spec["group"]), str(spec["names"]["kind"])
        plural = spec["names"].get("plural") or guess_plural(kind)
        versions = frozenset(version["name"] for version in spec["versions"] if version.get("served"))
        yield Kind(group, kind, plural, spec["scope"] == "Namespaced", versions)
    except (AttributeError, KeyError, TypeError):
        return  # An incomplete definition defines nothing; the API server says what it lacks.


def _settle(manifest: Manifest, kind: Kind) -> Manifest:
    """The object in the namespace in which an API server would keep it."""
    wanted = manifest.namespace or DEFAULT_NAMESPACE if kind.namespaced else ""
    if manifest.namespace == wanted:
        return manifest
    metadata = {key: value for key, value in manifest.metadata.items() if key != "namespace"}
    if wanted:
        metadata["namespace"] = wanted
    return attrs.evolve(manifest, data={**manifest.data, "metadata": metadata})


def _twice(manifest: Manifest, known: Manifest) -> Problem:
    place = known.origin.place if known.origin else "an object made in the program"
    if known.origin and manifest.origin and os.path.isfile(known.origin.file):
        # As seen from the file itself: wherever a program runs, it is the same.
        seen = os.path.relpath(known.origin.file, os.path.dirname(manifest.origin.file) or os.curdir)
        place = attrs.evolve(known.origin, file=seen).place
    return manifest.problem(f"given twice, first in {place}", ("metadata", "name"), "keep one of the two")
