"""Selects the objects of a catalogue that a KubeFleet placement places.

Source: ``pkg/utils/controller/resource_selector_resolver.go`` of KubeFleet 0.3.1. Errors have its
text, which it shows after "The resource selectors are invalid: failed to process the request due
to a client error: ". Differences between a hub and a catalogue:

* Every hub has the namespaces ``default``, ``kube-system``, ``kube-public`` and
  ``kube-node-lease``, whether they are in the catalogue or not. A selector that matches a
  reserved one is refused, as on a hub; of a ``default`` that is not in the catalogue, only the
  contents are placed.
* Objects in any other namespace that is not in the catalogue could not exist on a hub. Selecting
  it finds nothing.
* A hub returns objects in the version of the selector. Here they stay as they were written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from fleet_components.content.catalogue import DEFAULT_NAMESPACE, HUB_NAMESPACES, Catalogue
from fleet_components.content.conditional_defaults import NAME_LABEL
from fleet_components.content.eligible import is_disabled, is_reserved, why_skipped
from fleet_components.content.envelope import is_envelope, successors
from fleet_components.content.order import in_snapshot_order
from fleet_components.content.strip import strip
from fleet_components.model.kinds import BUILT_IN, BUILT_IN_GROUPS, Kind
from fleet_components.model.manifest import Manifest, ObjectKey, value_at
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.model.selector import LabelSelector
from fleet_components.systems.kubefleet.model.placement import Placement, ResourceSelector

_WITH_SELECTORS = "NamespaceWithResourceSelectors"
OLD_ENVELOPE = "kubernetes-fleet.io/envelope-configmap"
"""Annotation that made an envelope of a ConfigMap before v0.3."""
_USE_CRP = "use a ClusterResourcePlacement"
_USE_RP = "select its Namespace, or use a ResourcePlacement in that namespace"
_NOT_RESERVED = (
    "namespaces beginning with kube- or fleet- stay on their cluster: select others by name or"
    " label"
)


@attrs.frozen
class Skipped:
    """An object that a selector matches but that is not placed, and why."""

    key: ObjectKey
    reason: str


@attrs.frozen
class Selection:
    """The objects that a placement places.

    Attributes:
        manifests: the objects as a resource snapshot contains them, in its order.
        brought: the objects found by each resource selector of the placement, in snapshot order.
        skipped: objects that the selectors match but KubeFleet omits silently.
        warnings: warnings about behaviour of KubeFleet that may be unexpected.
    """

    manifests: tuple[Manifest, ...]
    brought: tuple[tuple[ObjectKey, ...], ...]
    skipped: tuple[Skipped, ...]
    warnings: tuple[Problem, ...]


def select(catalogue: Catalogue, placement: Placement) -> Selection:
    """Return the objects that a placement selects. An empty selection is not an error.

    Args:
        catalogue: the placeable objects.
        placement: a placement that has passed admission.

    Raises:
        FleetError: for each selector that KubeFleet refuses: of an unknown kind or the wrong
            scope, of a reserved namespace, or for an object that is selected twice.
    """
    selecting = _Selecting(catalogue, placement)
    brought = selecting.all()
    manifests = in_snapshot_order(manifest for found in brought for manifest in found)
    return Selection(
        manifests=tuple(strip(manifest) for manifest in manifests),
        brought=tuple(tuple(manifest.key for manifest in found) for found in brought),
        skipped=tuple(Skipped(key, reason) for key, reason in sorted(selecting.skipped.items())),
        warnings=(
            *selecting.warnings,
            *(
                warning
                for manifest in manifests
                for warning in (*surprises(manifest), *_dropped(manifest))
            ),
        ),
    )


class _RefusedSelector(Exception):
    """A refused selector.

    Attributes:
        message: KubeFleet's text.
        hint: what to write instead.
        follows: whether a missing object may be the reason.
    """

    def __init__(self, message: Message, hint: str = "", follows: bool = False) -> None:
        super().__init__(message)
        self.message, self.hint, self.follows = message, hint, follows


class _Selecting:
    """State of one selection: the current selector, skipped objects, and warnings."""

    def __init__(self, catalogue: Catalogue, placement: Placement) -> None:
        self.catalogue, self.placement = catalogue, placement
        self.skipped: dict[ObjectKey, str] = {}
        self.warnings: list[Problem] = []
        self.path: FieldPath = ()

    def all(self) -> list[tuple[Manifest, ...]]:
        """Return the objects of each selector, in snapshot order."""
        brought: list[tuple[Manifest, ...]] = []
        problems, taken = [], set[ObjectKey]()
        # Before the loop, since other selectors may come before that of the namespace.
        inner = self.inner_namespace()
        for selector in self.selectors():
            try:
                found = in_snapshot_order(self.objects(selector, inner))
                _refuse_twice(found, taken)
                taken.update(manifest.key for manifest in found)
                brought.append(found)
            except _RefusedSelector as refused:
                problems.append(self.problem(refused.message, refused.hint, refused.follows))
        if problems:
            raise FleetError(problems)
        return brought

    def selectors(self) -> Iterator[ResourceSelector]:
        """Yield each selector while ``path`` is set to its path."""
        for index, selector in enumerate(self.placement.spec.resource_selectors):
            self.path = ("spec", "resourceSelectors", index)
            yield selector

    def problem(self, what: Message, hint: str = "", follows: bool = False) -> Problem:
        metadata = {"name": self.placement.name, "namespace": self.placement.namespace}
        manifest = Manifest(
            {"kind": self.placement.kind, "metadata": metadata}, self.placement.origin
        )
        return attrs.evolve(manifest.problem(what, self.path, hint), follows=follows)

    def inner_namespace(self) -> str:
        """Return the namespace for namespaced kinds: that of a ResourcePlacement or the selected
        one; empty if none.
        """
        for selector in self.selectors():
            if (
                self.placement.namespace
                or not _is_namespace(selector)
                or selector.selection_scope != _WITH_SELECTORS
            ):
                continue
            # Every hub has the namespace default, whether it is in the catalogue or not.
            found = self.fetch(selector, "") or selector.name == DEFAULT_NAMESPACE
            if found and not is_reserved(selector.name):
                return selector.name
            what = (
                f"{_WITH_SELECTORS} mode requires exactly one namespace, but no namespaces were"
                " selected"
            )
            hint = "name a namespace of the catalogue that does not begin with kube- or fleet-"
            text = Message(
                "invalid-clusterresourceplacement",
                "invalid clusterResourcePlacement {name}: {what}",
                name=self.placement.name,
                what=what,
            )
            raise FleetError([self.problem(text, hint, follows=not is_reserved(selector.name))])
        return self.placement.namespace

    def objects(self, selector: ResourceSelector, inner: str) -> list[Manifest]:
        """Return the eligible objects of one selector."""
        if is_disabled(selector.group, selector.kind):
            self.warnings.append(
                self.problem(
                    Message(
                        "objects-never-placed-selects",
                        "{kind} objects are never placed: this selects nothing",
                        kind=selector.kind,
                    )
                )
            )
            return []
        if not _is_namespace(selector):
            return self.fetch(selector, inner)
        if self.placement.namespace:
            what = "cannot select cluster-scoped resource Namespace in a resourcePlacement"
            raise _RefusedSelector(
                Message(
                    "invalid-placement",
                    "invalid placement {key}: {what}",
                    key=self.placement.key,
                    what=what,
                ),
                _USE_CRP,
            )
        if selector.selection_scope in ("NamespaceOnly", _WITH_SELECTORS):
            return self.fetch(selector, "")
        return [manifest for name in self.namespaces(selector) for manifest in self.namespace(name)]

    def fetch(self, selector: ResourceSelector, namespace: str) -> list[Manifest]:
        """Return the eligible objects of one kind: in a namespace, or cluster-scoped."""
        kind = self.kind(selector, namespace)
        resource = f"{kind.group}/{selector.version}, Resource={kind.plural}"
        start = f"invalid placement {namespace}/{self.placement.name}: cannot select"
        # The definition of a custom kind, which has its scope, may be missing.
        custom = kind.group not in BUILT_IN_GROUPS
        if kind.namespaced and not namespace:
            what = Message(
                "namespace-scoped-resource-clusterresourceplacement",
                "{start} namespace-scoped resource {resource} in a clusterResourcePlacement",
                start=start,
                resource=resource,
            )
            raise _RefusedSelector(what, _USE_RP, custom)
        if not kind.namespaced and self.placement.namespace:
            raise _RefusedSelector(
                Message(
                    "cluster-scoped-resource-resourceplacement",
                    "{start} cluster-scoped resource {resource} in a resourcePlacement",
                    start=start,
                    resource=resource,
                ),
                _USE_CRP,
                custom,
            )
        place = namespace if kind.namespaced else ""
        found = self.catalogue.find(
            kind.group, kind.kind, place, selector.name, selector.label_selector
        )
        self.warn_of_versions(selector, found)
        return self.eligible(found)

    def kind(self, selector: ResourceSelector, namespace: str) -> Kind:
        kind = self.catalogue.kind(selector.group, selector.kind)
        if kind and selector.version in kind.versions:
            return kind
        version = f"{selector.group}/{selector.version}" if selector.group else selector.version
        what = f'no matches for kind "{selector.kind}" in version "{version}"'
        start = (
            f"invalid placement {namespace}/{self.placement.name}, failed to get GVR of the"
            " selector"
        )
        custom = selector.group not in BUILT_IN_GROUPS
        raise _RefusedSelector(
            Message("kind-not-served", "{start}: {what}", start=start, what=what),
            _what_is_served(selector.kind, kind),
            custom,
        )

    def warn_of_versions(self, selector: ResourceSelector, found: Iterable[Manifest]) -> None:
        others = sorted({manifest.version for manifest in found} - {selector.version})
        if others:
            what = Message(
                "hub-hand-these-out",
                "a hub would hand these out in version {version}, here they stay {others}",
                version=selector.version,
                others=", ".join(others),
            )
            self.warnings.append(
                self.problem(what, "select the version that the objects are written in")
            )

    def namespaces(self, selector: ResourceSelector) -> list[str]:
        """Return the names of the namespaces that a selector matches, including those that every
        hub has.
        """
        if selector.name:
            return [selector.name]
        labels = selector.label_selector or LabelSelector()
        written = {
            manifest.name for manifest in self.catalogue.find("", "Namespace", labels=labels)
        }
        return sorted(
            written | {name for name in HUB_NAMESPACES if labels.matches({NAME_LABEL: name})}
        )

    def namespace(self, name: str) -> list[Manifest]:
        """Return a namespace and its contents."""
        if is_reserved(name):
            what = Message(
                "namespace-not-allowed-propagate",
                "namespace {name} is not allowed to propagate",
                name=name,
            )
            # The misspelling is KubeFleet's.
            raise _RefusedSelector(
                Message(
                    "invalid-clusterrresourceplacement",
                    "invalid clusterRresourcePlacement {name}: {what}",
                    name=self.placement.name,
                    what=what,
                ),
                _NOT_RESERVED,
            )
        namespace = self.catalogue.get(ObjectKey("", "Namespace", "", name))
        contents = self.catalogue.contents(name)
        if namespace:
            # A namespace that is being deleted brings nothing of what is in it
            # (``fetchAllResourcesInOneNamespace``).
            itself = self.eligible([namespace])
            return itself + self.eligible(contents) if itself else []
        if name == DEFAULT_NAMESPACE:
            return self.eligible(contents)
        if contents:
            what = Message(
                "namespace-not-catalogue-nothing",
                "namespace {name} is not in the catalogue, so nothing in it is selected",
                name=name,
            )
            self.warnings.append(self.problem(what, f"add a Namespace {name} to the manifests"))
        return []

    def eligible(self, manifests: Iterable[Manifest]) -> list[Manifest]:
        """Return the objects that are placed, and record the others as skipped."""
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
            raise _RefusedSelector(
                Message(
                    "found-duplicate-resource",
                    "found duplicate resource {{{identity} {place}}}",
                    identity=identity,
                    place=place,
                ),
                "let only one selector select it",
            )


def _what_is_served(name: str, kind: Kind | None) -> str:
    if kind:
        return f"{kind.kind} is served in {' and '.join(sorted(kind.versions))}"
    groups = [group for group, other in BUILT_IN if other == name]
    if groups:
        return " or ".join(f'group: "{group}"' for group in groups)
    return "for a custom resource add its CustomResourceDefinition to the manifests"


def _dropped(manifest: Manifest) -> Iterator[Problem]:
    """Yield warnings about ports of nodes that a Service asks for: a snapshot does not have
    them.
    """
    if (manifest.api_version, manifest.kind) != ("v1", "Service"):
        return
    ports = value_at(manifest.data, ("spec", "ports"))
    places: list[FieldPath] = [("spec", "healthCheckNodePort")]
    places += [
        ("spec", "ports", index, "nodePort")
        for index in range(len(ports) if isinstance(ports, list) else 0)
    ]
    for path in places:
        if value_at(manifest.data, path):
            what = Message(
                "kubefleet-drops-port-each",
                "KubeFleet drops this port, and each member assigns one of its own",
            )
            hint = (
                "to have the same port everywhere, put the Service into a ResourceEnvelope, which"
                " keeps it"
            )
            yield manifest.problem(what, path, hint)


def surprises(manifest: Manifest) -> Iterator[Problem]:
    """Yield warnings about an object that goes to members."""
    # An envelope stays on the hub, only its contents go to members.
    if manifest.metadata.get("finalizers") and not is_envelope(manifest):
        what = Message(
            "finalizers-go-along-member",
            "finalizers go along, and on a member nothing may remove them: the object then cannot"
            " be deleted",
        )
        yield manifest.problem(what, ("metadata", "finalizers"), "remove metadata.finalizers")
    annotations = manifest.metadata.get("annotations") or {}
    if manifest.kind == "ConfigMap" and annotations.get(OLD_ENVELOPE) == "true":
        what = Message(
            "configmaps-no-longer-envelopes",
            "ConfigMaps are no longer envelopes: this is placed as a ConfigMap, its manifests are"
            " not applied",
        )
        hint = f"write {successors(manifest) or 'a ResourceEnvelope or ClusterResourceEnvelope'}"
        yield manifest.problem(what, ("metadata", "annotations", OLD_ENVELOPE), hint)
