"""Which objects of a catalogue a KubeFleet placement selects.

Source: KubeFleet 0.3.1, resource selection; refusals carry its text, which it shows after "The resource selectors
are invalid: failed to process the request due to a client error: ". Where a hub and a catalogue differ:

* Every hub has the namespaces ``default``, ``kube-system``, ``kube-public`` and ``kube-node-lease``, written down
  or not. A selector that matches a reserved one is refused, as on a hub; of a ``default`` that nobody wrote down
  only the contents are placed.
* Objects in another namespace that nobody wrote down could not be on a hub. Selecting it finds nothing.
* A hub hands out objects in the version of the selector. Here they stay as they were written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from fleet_components.content.catalogue import DEFAULT_NAMESPACE, NAME_LABEL, Catalogue
from fleet_components.content.eligible import is_disabled, is_reserved, why_skipped
from fleet_components.content.envelope import is_envelope
from fleet_components.content.order import in_snapshot_order
from fleet_components.content.strip import strip
from fleet_components.model.kinds import BUILT_IN, BUILT_IN_GROUPS, Kind
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.placement import Placement, ResourceSelector
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.model.selector import LabelSelector

HUB_NAMESPACES = (DEFAULT_NAMESPACE, "kube-node-lease", "kube-public", "kube-system")
"""The namespaces that every cluster has."""
_WITH_SELECTORS = "NamespaceWithResourceSelectors"
_OLD_ENVELOPE = "kubernetes-fleet.io/envelope-configmap"
_USE_CRP = "use a ClusterResourcePlacement"
_USE_RP = "select its Namespace, or use a ResourcePlacement in that namespace"
_NOT_RESERVED = "namespaces beginning with kube- or fleet- stay on their cluster: select others by name or label"


@attrs.frozen
class Skipped:
    """An object that a selector matches but that is not placed, and why."""

    key: ObjectKey
    reason: str


@attrs.frozen
class Selection:
    """What a placement places.

    Attributes:
        manifests: the objects as a resource snapshot holds them, in its order.
        brought: for each resource selector of the placement what it brought, in snapshot order.
        skipped: what the selectors match but KubeFleet leaves out silently.
        warnings: what is placed as KubeFleet would, and may surprise.
    """

    manifests: tuple[Manifest, ...]
    brought: tuple[tuple[ObjectKey, ...], ...]
    skipped: tuple[Skipped, ...]
    warnings: tuple[Problem, ...]


def select(catalogue: Catalogue, placement: Placement) -> Selection:
    """The objects that a placement, which admission has passed, selects. Finding nothing is no error.

    Raises:
        FleetError: for each selector that KubeFleet refuses: of an unknown kind or the wrong scope, of a reserved
            namespace, or for an object that is selected twice.
    """
    selecting = _Selecting(catalogue, placement)
    brought = selecting.all()
    manifests = in_snapshot_order(manifest for found in brought for manifest in found)
    return Selection(
        manifests=tuple(strip(manifest) for manifest in manifests),
        brought=tuple(tuple(manifest.key for manifest in found) for found in brought),
        skipped=tuple(Skipped(key, reason) for key, reason in sorted(selecting.skipped.items())),
        warnings=(*selecting.warnings, *(warning for manifest in manifests for warning in _surprises(manifest))),
    )


class _Refused(Exception):
    """A selector is refused: KubeFleet's text, a hint, and whether an object that is missing may be the reason."""


class _Selecting:
    """One selection: what is found so far, what is skipped, and what is worth a warning."""

    def __init__(self, catalogue: Catalogue, placement: Placement) -> None:
        self.catalogue, self.placement = catalogue, placement
        self.skipped: dict[ObjectKey, str] = {}
        self.warnings: list[Problem] = []
        self.path: FieldPath = ()

    def all(self) -> list[tuple[Manifest, ...]]:
        """What each selector brings."""
        brought: list[tuple[Manifest, ...]] = []
        problems, taken = [], set[ObjectKey]()
        inner = self.inner_namespace()
        for selector in self.selectors():
            try:
                found = in_snapshot_order(self.objects(selector, inner))
                _refuse_twice(found, taken)
                taken.update(manifest.key for manifest in found)
                brought.append(found)
            except _Refused as refused:
                problems.append(self.problem(*refused.args))
        if problems:
            raise FleetError(problems)
        return brought

    def selectors(self) -> Iterator[ResourceSelector]:
        """Each selector, while ``path`` points at it."""
        for index, selector in enumerate(self.placement.spec.resource_selectors):
            self.path = ("spec", "resourceSelectors", index)
            yield selector

    def problem(self, what: str, hint: str = "", follows: bool = False) -> Problem:
        metadata = {"name": self.placement.name, "namespace": self.placement.namespace}
        manifest = Manifest({"kind": self.placement.kind, "metadata": metadata}, self.placement.origin)
        return attrs.evolve(manifest.problem(what, self.path, hint), follows=follows)

    def inner_namespace(self) -> str:
        """The namespace in which namespaced selectors select: that of a ResourcePlacement, or the one selected."""
        for selector in self.selectors():
            if self.placement.namespace or not _is_namespace(selector) or selector.selection_scope != _WITH_SELECTORS:
                continue
            found = self.fetch(selector, "") or selector.name == DEFAULT_NAMESPACE
            if found and not is_reserved(selector.name):
                return selector.name
            what = f"{_WITH_SELECTORS} mode requires exactly one namespace, but no namespaces were selected"
            hint = "name a namespace of the catalogue that does not begin with kube- or fleet-"
            text = f"invalid clusterResourcePlacement {self.placement.name}: {what}"
            raise FleetError([self.problem(text, hint, follows=not is_reserved(selector.name))])
        return self.placement.namespace

    def objects(self, selector: ResourceSelector, inner: str) -> list[Manifest]:
        """What one selector brings."""
        if is_disabled(selector.group, selector.kind):
            self.warnings.append(self.problem(f"{selector.kind} objects are never placed: this selects nothing"))
            return []
        if not _is_namespace(selector):
            return self.fetch(selector, inner)
        if self.placement.namespace:
            what = "cannot select cluster-scoped resource Namespace in a resourcePlacement"
            raise _Refused(f"invalid placement {self.placement.key}: {what}", _USE_CRP)
        if selector.selection_scope in ("NamespaceOnly", _WITH_SELECTORS):
            return self.fetch(selector, "")
        return [manifest for name in self.namespaces(selector) for manifest in self.namespace(name)]

    def fetch(self, selector: ResourceSelector, namespace: str) -> list[Manifest]:
        """The objects of one kind: in a namespace, or cluster-scoped."""
        kind = self.kind(selector, namespace)
        resource = f"{kind.group}/{selector.version}, Resource={kind.plural}"
        start = f"invalid placement {namespace}/{self.placement.name}: cannot select"
        custom = kind.group not in BUILT_IN_GROUPS  # its definition, which says where it lives, may be missing
        if kind.namespaced and not namespace:
            what = f"{start} namespace-scoped resource {resource} in a clusterResourcePlacement"
            raise _Refused(what, _USE_RP, custom)
        if not kind.namespaced and self.placement.namespace:
            raise _Refused(f"{start} cluster-scoped resource {resource} in a resourcePlacement", _USE_CRP, custom)
        place = namespace if kind.namespaced else ""
        found = self.catalogue.find(kind.group, kind.kind, place, selector.name, selector.label_selector)
        self.warn_of_versions(selector, found)
        return self.eligible(found)

    def kind(self, selector: ResourceSelector, namespace: str) -> Kind:
        kind = self.catalogue.kind(selector.group, selector.kind)
        if kind and selector.version in kind.versions:
            return kind
        version = f"{selector.group}/{selector.version}" if selector.group else selector.version
        what = f'no matches for kind "{selector.kind}" in version "{version}"'
        start = f"invalid placement {namespace}/{self.placement.name}, failed to get GVR of the selector"
        custom = selector.group not in BUILT_IN_GROUPS
        raise _Refused(f"{start}: {what}", _what_is_served(selector.kind, kind), custom)

    def warn_of_versions(self, selector: ResourceSelector, found: Iterable[Manifest]) -> None:
        if others := sorted({manifest.version for manifest in found} - {selector.version}):
            what = f"a hub would hand these out in version {selector.version}, here they stay {', '.join(others)}"
            self.warnings.append(self.problem(what, "select the version that the objects are written in"))

    def namespaces(self, selector: ResourceSelector) -> list[str]:
        """The names of the namespaces that a selector matches, those included that every hub has."""
        if selector.name:
            return [selector.name]
        labels = selector.label_selector or LabelSelector()
        written = {manifest.name for manifest in self.catalogue.find("", "Namespace", labels=labels)}
        return sorted(written | {name for name in HUB_NAMESPACES if labels.matches({NAME_LABEL: name})})

    def namespace(self, name: str) -> list[Manifest]:
        """A namespace and what is in it."""
        if is_reserved(name):
            what = f"namespace {name} is not allowed to propagate"
            raise _Refused(f"invalid clusterRresourcePlacement {self.placement.name}: {what}", _NOT_RESERVED)
        namespace = self.catalogue.get(ObjectKey("", "Namespace", "", name))
        contents = self.catalogue.contents(name)
        if namespace:
            itself = self.eligible([namespace])
            return itself + self.eligible(contents) if itself else []
        if name == DEFAULT_NAMESPACE:
            return self.eligible(contents)
        if contents:
            what = f"namespace {name} is not in the catalogue, so nothing in it is selected"
            self.warnings.append(self.problem(what, f"add a Namespace {name} to the manifests"))
        return []

    def eligible(self, manifests: Iterable[Manifest]) -> list[Manifest]:
        """Those that are placed; the others are noted as skipped."""
        reasons = {manifest.key: why_skipped(manifest, self.catalogue) for manifest in manifests}
        self.skipped.update({key: reason for key, reason in reasons.items() if reason})
        return [manifest for manifest in manifests if not reasons[manifest.key]]


def _is_namespace(selector: ResourceSelector) -> bool:
    return (selector.group, selector.version, selector.kind) == ("", "v1", "Namespace")


def _refuse_twice(found: Iterable[Manifest], taken: set[ObjectKey]) -> None:
    for manifest in found:
        if manifest.key in taken:
            identity = f"Group:{manifest.group} Version:{manifest.version} Kind:{manifest.kind}"
            place = f"Name:{manifest.name} Namespace:{manifest.namespace} Envelope:<nil>"
            raise _Refused(f"found duplicate resource {{{identity} {place}}}", "let only one selector select it")


def _what_is_served(name: str, kind: Kind | None) -> str:
    if kind:
        return f"{kind.kind} is served in {' and '.join(sorted(kind.versions))}"
    groups = [group for group, other in BUILT_IN if other == name]
    if groups:
        return " or ".join(f'group: "{group}"' for group in groups)
    return "for a custom resource add its CustomResourceDefinition to the manifests"


def _surprises(manifest: Manifest) -> Iterator[Problem]:
    if manifest.metadata.get("finalizers") and not is_envelope(manifest):
        what = "finalizers go along, and on a member nothing may remove them: the object then cannot be deleted"
        yield manifest.problem(what, ("metadata", "finalizers"), "remove metadata.finalizers")
    annotations = manifest.metadata.get("annotations") or {}
    if manifest.kind == "ConfigMap" and annotations.get(_OLD_ENVELOPE) == "true":
        what = "ConfigMaps are no envelopes any more: this is placed as a ConfigMap, its manifests are not applied"
        hint = "use a ResourceEnvelope or ClusterResourceEnvelope"
        yield manifest.problem(what, ("metadata", "annotations", _OLD_ENVELOPE), hint)
