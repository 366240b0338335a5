"""All objects of a fleet as a hub would store them: each in its namespace, found by kind, name
and labels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import attrs

from fleet_components.content.stored import LABELLED_BY_SERVER, stored
from fleet_components.model.kinds import BUILT_IN, Kind, guess_plural
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.selector import LabelIndex, LabelSelector
from fleet_components.systems.registry import SYSTEMS

DEFAULT_NAMESPACE = "default"
HUB_NAMESPACES = (DEFAULT_NAMESPACE, "kube-node-lease", "kube-public", "kube-system")
"""Namespaces that every cluster has."""

_MEMBERS = frozenset(
    (system.MEMBER[0].partition("/")[0], system.MEMBER[1]) for system in SYSTEMS.values()
)
_ENVELOPES = ("ResourceEnvelope", "ClusterResourceEnvelope")
_FLEET_GROUPS = ("placement.kubernetes-fleet.io", "cluster.kubernetes-fleet.io")


@attrs.frozen
class Parts:
    """The three parts of a catalogue.

    Attributes:
        members: the ``MemberCluster`` and Karmada ``Cluster`` objects.
        policies: all other objects that steer a hub: placements, overrides, budgets, update runs,
            propagation policies.
        objects: the objects that can be placed, including envelopes.
    """

    members: tuple[Manifest, ...]
    policies: tuple[Manifest, ...]
    objects: Catalogue


@attrs.frozen(eq=False, slots=False)
class Alike:
    """Objects of one kind, found by name and by labels.

    Attributes:
        manifests: the objects, in the order of the catalogue.
    """

    manifests: tuple[Manifest, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.manifests)

    def named(self, name: str) -> tuple[Manifest, ...]:
        """Return the objects with a name, at most one in each namespace."""
        return self._by_name.get(name, ())

    def labelled(self, selector: LabelSelector) -> tuple[Manifest, ...]:
        """Return the objects that a selector matches."""
        return tuple(self.manifests[position] for position in self.labels.matching(selector))

    @cached_property
    def labels(self) -> LabelIndex:
        """Labels of the objects."""
        return LabelIndex([labels_of(manifest) for manifest in self.manifests])

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[Manifest, ...]]:
        found: dict[str, list[Manifest]] = defaultdict(list)
        for manifest in self.manifests:
            found[manifest.name].append(manifest)
        return {name: tuple(manifests) for name, manifests in found.items()}


_NOTHING = Alike()


@attrs.frozen
class Catalogue:
    """Unique objects, ordered by group, kind, namespace and name.

    Create it with :meth:`of`, which assigns namespaces as an API server does.
    """

    manifests: tuple[Manifest, ...]

    @classmethod
    def of(cls, manifests: Iterable[Manifest], problems: list[Problem] | None = None) -> Catalogue:
        """Return a catalogue of these objects, as kubectl would apply them to a hub.

        Namespaced objects without a namespace get ``default``, cluster-scoped objects lose
        theirs. The scope of a kind comes from a ``CustomResourceDefinition`` among the objects,
        else from the built-in kinds; an undefined custom kind is namespaced if one of its objects
        has a namespace, otherwise cluster-scoped.

        Args:
            manifests: the objects.
            problems: problems are added here if given; of several objects with the same key the
                first one is then used.

        Raises:
            FleetError: an object occurs twice and ``problems`` is None.
        """
        manifests = tuple(manifests)
        kinds = _kinds(manifests)
        placed = [_settle(manifest, kinds[manifest.group, manifest.kind]) for manifest in manifests]
        # setdefault returns another object than m if one with the same key came before it.
        first: dict[ObjectKey, Manifest] = {}
        twice = [_twice(m, known) for m in placed if (known := first.setdefault(m.key, m)) is not m]
        if twice and problems is None:
            raise FleetError(twice)
        if problems is not None:
            problems += twice
        return cls(tuple(sorted(first.values(), key=lambda manifest: manifest.key)))

    def get(self, key: ObjectKey) -> Manifest | None:
        """Return the object with this key; None if there is none."""
        return self._by_key.get(key)

    def find(
        self,
        group: str,
        kind: str,
        namespace: str | None = None,
        name: str = "",
        labels: LabelSelector | None = None,
    ) -> tuple[Manifest, ...]:
        """Return the objects of a kind.

        Args:
            group: the API group.
            kind: the kind.
            namespace: the namespace; None for all, empty for cluster-scoped objects.
            name: the name; empty for all.
            labels: the label selector; None for all.
        """
        alike = self.alike(group, kind, namespace)
        if not name:
            return alike.manifests if labels is None else alike.labelled(labels)
        named = alike.named(name)
        return (
            named
            if labels is None
            else tuple(item for item in named if labels.matches(labels_of(item)))
        )

    def alike(self, group: str, kind: str, namespace: str | None = None) -> Alike:
        """Return all objects of a kind; in a namespace, or in all of them if it is None."""
        return self._alike.get((group, kind, namespace), _NOTHING)

    def contents(self, namespace: str) -> tuple[Manifest, ...]:
        """Return the objects in a namespace."""
        return self._by_namespace.get(namespace, ())

    def kind(self, group: str, kind: str) -> Kind | None:
        """Return a kind; None if an API server would not serve it."""
        return self._kinds.get((group, kind)) or BUILT_IN.get((group, kind))

    def defines(self, group: str, kind: str) -> bool:
        """Return whether a ``CustomResourceDefinition`` among the objects defines the kind."""
        return (group, kind) in self._defined_kinds

    def split(self) -> Parts:
        """Split the catalogue into members, policies and placeable objects."""
        parts: dict[str, list[Manifest]] = {"member": [], "policy": [], "object": []}
        for manifest in self.manifests:
            parts[_part(manifest)].append(manifest)
        return Parts(
            tuple(parts["member"]), tuple(parts["policy"]), Catalogue(tuple(parts["object"]))
        )

    @cached_property
    def _kinds(self) -> Mapping[tuple[str, str], Kind]:
        return _kinds(self.manifests)

    @cached_property
    def _defined_kinds(self) -> frozenset[tuple[str, str]]:
        return frozenset(
            (kind.group, kind.kind) for manifest in self.manifests for kind in _defined(manifest)
        )

    @cached_property
    def _by_key(self) -> Mapping[ObjectKey, Manifest]:
        return {manifest.key: manifest for manifest in self.manifests}

    @cached_property
    def _alike(self) -> Mapping[tuple[str, str, str | None], Alike]:
        found: dict[tuple[str, str, str | None], list[Manifest]] = defaultdict(list)
        for (group, kind, namespace, _), manifest in self._by_key.items():
            found[group, kind, namespace].append(manifest)
            # None stands for all namespaces.
            found[group, kind, None].append(manifest)
        return {key: Alike(tuple(manifests)) for key, manifests in found.items()}

    @cached_property
    def _by_namespace(self) -> Mapping[str, tuple[Manifest, ...]]:
        index: dict[str, list[Manifest]] = {}
        for manifest in self.manifests:
            if manifest.namespace:
                index.setdefault(manifest.namespace, []).append(manifest)
        return {namespace: tuple(manifests) for namespace, manifests in index.items()}


def labels_of(manifest: Manifest) -> Mapping[str, str]:
    """Return the labels of an object, including those that the API server sets."""
    # Filling in the defaults of every object, only for its labels, would take long.
    if (manifest.api_version, manifest.kind) not in LABELLED_BY_SERVER:
        return manifest.labels
    return Manifest(stored(manifest.data)).labels


def _part(manifest: Manifest) -> str:
    if (manifest.group, manifest.kind) in _MEMBERS:
        return "member"
    # Karmada has a group for each of its parts, such as policy.karmada.io.
    steers = manifest.group in _FLEET_GROUPS and manifest.kind not in _ENVELOPES
    return "policy" if steers or manifest.group.endswith(".karmada.io") else "object"


def _kinds(manifests: Iterable[Manifest]) -> dict[tuple[str, str], Kind]:
    """Return the kinds of the objects, and those that custom resource definitions among them
    define.
    """
    kinds: dict[tuple[str, str], Kind] = {}
    defined = {}
    for manifest in manifests:
        key = manifest.group, manifest.kind
        known = (
            kinds.get(key)
            or BUILT_IN.get(key)
            or Kind(*key, guess_plural(manifest.kind), namespaced=False)
        )
        namespaced = known.namespaced or (key not in BUILT_IN and bool(manifest.namespace))
        # The hub is taken to accept the objects, so it serves the versions that they are written
        # in.
        versions = known.versions | {manifest.version}
        kinds[key] = attrs.evolve(known, namespaced=namespaced, versions=versions)
        defined.update({(kind.group, kind.kind): kind for kind in _defined(manifest)})
    # A definition wins over what the objects of the kind suggest.
    return kinds | defined


def _defined(manifest: Manifest) -> Iterator[Kind]:
    if (manifest.group, manifest.kind) != ("apiextensions.k8s.io", "CustomResourceDefinition"):
        return
    try:
        spec = manifest.data["spec"]
        group, kind = str(spec["group"]), str(spec["names"]["kind"])
        plural = spec["names"].get("plural") or guess_plural(kind)
        versions = frozenset(
            version["name"] for version in spec["versions"] if version.get("served")
        )
        yield Kind(group, kind, plural, spec["scope"] == "Namespaced", versions)
    except (AttributeError, KeyError, TypeError):
        return  # An incomplete definition defines nothing; the API server says what it lacks.


def _settle(manifest: Manifest, kind: Kind) -> Manifest:
    """Return the object in the namespace in which an API server would store it."""
    wanted = manifest.namespace or DEFAULT_NAMESPACE if kind.namespaced else ""
    if manifest.namespace == wanted:
        return manifest
    metadata = {key: value for key, value in manifest.metadata.items() if key != "namespace"}
    if wanted:
        metadata["namespace"] = wanted
    return attrs.evolve(manifest, data={**manifest.data, "metadata": metadata})


def _twice(manifest: Manifest, known: Manifest) -> Problem:
    place = known.origin.location if known.origin else "an object made in the program"
    if known.origin and manifest.origin:
        place = known.origin.seen_from(manifest.origin).location
    return manifest.problem(
        Message("given-twice-first", "given twice, first in {place}", place=place),
        ("metadata", "name"),
        "keep one of the two",
    )
