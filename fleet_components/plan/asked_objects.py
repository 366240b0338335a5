"""Find kinds, names, labels and namespaces in policies for which the source has no objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product

import attrs

from fleet_components.content.catalogue import Alike, Catalogue
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.reader import API_VERSION
from fleet_components.model.selector import LabelSelector
from fleet_components.model.text import Vocabulary, few
from fleet_components.plan.no_match import meant, near_name, values_of_label
from fleet_components.scheduler.explain import show_requirement

Missing = tuple[Message, str]
"""Description of what is missing, and a hint about what was probably meant."""

UNSEEN = frozenset({"namespace-not-observed", "objects-not-observed"})
"""Codes of problems of a selector that finds nothing in an observation."""
_UNSEEN = "is in this observation, which has only what policies select"
UNSEEN_HINT = (
    "the hub may have some, and they are not forecast; observe again once the policy is there, or"
    " write them here"
)


@attrs.frozen(kw_only=True)
class AskedFor:
    """Objects that a selector asks for.

    Attributes:
        group: the API group.
        version: the version in which the objects must be written; empty for any.
        kind: their kind.
        namespace: the namespace to look in; empty for all.
        name: their name; empty for any. If there is a name, labels are ignored.
        labels: their labels; None for any.
    """

    group: str
    version: str = ""
    kind: str
    namespace: str = ""
    name: str = ""
    labels: LabelSelector | None = None


@attrs.frozen(slots=False)
class AskedObjects:
    """The objects of a source, to look up what policies ask for.

    Attributes:
        catalogue: the objects.
        partial: True if they are those of an observed hub, of which only what policies select is
            known.
    """

    catalogue: Catalogue
    partial: bool = False
    _known_names: dict[tuple[str, str, str | None], Vocabulary] = attrs.field(
        init=False, factory=dict, repr=False
    )

    def found(self, wanted: AskedFor) -> Iterator[Manifest]:
        """Yield the objects that are asked for."""
        labels = None if wanted.name else wanted.labels
        # A selector with an error selects nothing.
        if labels is None or not labels.error:
            # No namespace asks for all of them; an empty one would ask for cluster-scoped objects.
            alike = self.catalogue.find(
                wanted.group, wanted.kind, wanted.namespace or None, wanted.name, labels
            )
            yield from (manifest for manifest in alike if wanted.version in ("", manifest.version))

    def is_cluster_scoped(self, wanted: AskedFor) -> bool:
        """Return whether the kind is known to be cluster-scoped."""
        return self._namespaced(wanted) is False

    def is_namespaced(self, wanted: AskedFor) -> bool:
        """Return whether the kind is known to be namespaced."""
        return self._namespaced(wanted) is True

    def _namespaced(self, wanted: AskedFor) -> bool | None:
        """Return whether a kind is namespaced; None if neither Kubernetes has it nor the source an
        object of it.
        """
        kind = BUILT_IN.get((wanted.group, wanted.kind))
        if kind is not None:
            return kind.namespaced
        alike = self.catalogue.alike(wanted.group, wanted.kind).manifests
        return any(manifest.namespace for manifest in alike) if alike else None

    def missing(self, wanted: AskedFor) -> Missing:
        """Return why nothing is found."""
        alike = self.catalogue.alike(wanted.group, wanted.kind)
        here = self.catalogue.alike(wanted.group, wanted.kind, wanted.namespace or None)
        # An observation has only what policies select: what it lacks may well exist.
        if self.partial:
            return self._unseen(wanted)
        where = f" in namespace {wanted.namespace}" if wanted.namespace else ""
        place = f"{wanted.namespace}/" if wanted.name and wanted.namespace else ""
        asked = f"{wanted.kind} {place}{wanted.name}" if wanted.name else f"{wanted.kind}{where}"
        what = Message("no-such-object", "there is no {asked}", asked=asked)
        written = self._written_otherwise(wanted) if wanted.version else ()
        if written:
            other = Message(
                "no-such-version",
                "there is no {asked} in version {version}",
                asked=asked,
                version=wanted.version,
            )
            return other, f"written in {few(written)}"
        if wanted.name:
            return what, self.near(wanted) or _listed(here or alike) or self._other_kind(
                wanted.kind
            )
        # Objects of the kind are there, so that the labels are what does not fit.
        if wanted.labels and here:
            return self._other_labels(wanted.labels, f"no {wanted.kind}{where}", here)
        return what, _cluster_scoped(alike.manifests) or _listed(alike) or self._other_kind(
            wanted.kind
        )

    def nothing_in(self, namespace: str, wanted: Sequence[AskedFor]) -> Missing:
        """Return that a namespace has no objects.

        The hint names a namespace in which there are objects that are asked for, or the namespace
        that was probably meant.
        """
        if self.partial:
            return self._unseen(
                attrs.evolve(wanted[0], namespace=namespace) if len(wanted) == 1 else None,
                namespace,
            )
        what = Message(
            "namespace-without-objects",
            'there is no object in namespace "{namespace}"',
            namespace=namespace,
        )
        found = (
            manifest
            for each in wanted
            for manifest in self.found(attrs.evolve(each, namespace=""))
            if manifest.namespace
        )
        # One is enough for a hint.
        elsewhere = next(found, None)
        if elsewhere:
            return what, f"{elsewhere.kind} {elsewhere.name} is in namespace {elsewhere.namespace}"
        return what, (
            meant(namespace, self._namespaces, "there are objects in")
            if self._namespaces.words
            else ""
        )

    def _unseen(self, wanted: AskedFor | None, namespace: str = "") -> Missing:
        """Return that nothing of it is in an observation; the hint has a similar name."""
        if wanted is None:
            nothing = Message(
                "namespace-not-observed",
                f"no object of namespace {{namespace}} {_UNSEEN}",
                namespace=namespace,
            )
            return nothing, UNSEEN_HINT
        where = f" of namespace {wanted.namespace}" if wanted.namespace else ""
        asked = (
            ()
            if wanted.name or not wanted.labels or wanted.labels.error
            else wanted.labels.requirements()
        )
        shown = f" with {', '.join(map(show_requirement, asked))}" if asked else ""
        what = Message(
            "objects-not-observed",
            f"no {{object}}{{labels}}{{where}} {_UNSEEN}",
            object=" ".join(filter(None, [wanted.kind, wanted.name])),
            labels=shown,
            where=where,
        )
        near = near_name(wanted.name, self._names(wanted)) if wanted.name else ""
        return what, "; ".join([*([f'did you mean "{near}"?'] if near else []), UNSEEN_HINT])

    def near(self, wanted: AskedFor) -> str:
        """Return a hint about what a name probably meant; empty if nothing is close.

        Considered in this order: the same name in another namespace, in another version or of
        another kind, a similar name.
        """
        same = self.catalogue.alike(wanted.group, wanted.kind).named(wanted.name)
        if same:
            # They are in the order of their namespaces.
            elsewhere = few(same, show=lambda manifest: manifest.namespace)
            return _cluster_scoped(same) or f"there is one in namespace {elsewhere}"
        versions = self._versions.get((wanted.kind, wanted.name, wanted.namespace))
        if versions:
            return f"there is one of {few(sorted(versions))}"
        namesakes = self._namesakes.get((wanted.name, wanted.namespace))
        if namesakes:
            return _listed(Alike(tuple(namesakes)))
        name = near_name(wanted.name, self._names(wanted))
        return f'did you mean "{name}"?' if name else ""

    def _written_otherwise(self, wanted: AskedFor) -> list[str]:
        """Return the versions in which such objects are written, if the version that is asked for
        is not among them.
        """
        # Empty texts stand for any name and any namespace in this index.
        known = self._versions.get((wanted.kind, wanted.name, wanted.namespace), ())
        written = [text for text in known if text.rpartition("/")[0] == wanted.group]
        return (
            []
            if any(text.rpartition("/")[2] == wanted.version for text in written)
            else sorted(written)
        )

    def _names(self, wanted: AskedFor) -> Vocabulary:
        """Return the names of objects of a kind; sorted once, however many are missing."""
        key = wanted.group, wanted.kind, wanted.namespace or None
        if key not in self._known_names:
            self._known_names[key] = Vocabulary(
                manifest.name for manifest in self.catalogue.alike(*key).manifests
            )
        return self._known_names[key]

    def _other_labels(self, labels: LabelSelector, start: str, here: Alike) -> Missing:
        """Return which labels no object has, and the values that the objects have instead."""
        if labels.error:
            wrong = Message("selects-nothing", "selects nothing: {error}", error=labels.error)
            return wrong, ""
        asked = labels.requirements()
        unmet = [requirement for requirement in asked if not here.labels.meets(requirement)]
        shown = ", ".join(map(show_requirement, unmet or asked))
        hint = values_of_label(unmet[0].key, here.labels, "they") if unmet else _listed(here)
        return (
            Message("no-object-has-labels", "{start} has {labels}", start=start, labels=shown),
            hint,
        )

    def _other_kind(self, kind: str) -> str:
        """Return a hint about the groups in which the kind exists, or about the nearest kind."""
        groups = self._versions.get((kind, "", ""))
        if groups:
            return f"{kind} is of {few(sorted(groups))}"
        near = near_name(kind, self._kinds)
        return (
            f"did you mean {near}?" if near else "add it to the manifests, or take the selector out"
        )

    @cached_property
    def _kinds(self) -> Vocabulary:
        return Vocabulary(manifest.kind for manifest in self.catalogue.manifests)

    @cached_property
    def _namespaces(self) -> Vocabulary:
        return Vocabulary(
            manifest.namespace for manifest in self.catalogue.manifests if manifest.namespace
        )

    @cached_property
    def _namesakes(self) -> Mapping[tuple[str, str], list[Manifest]]:
        """Objects by name and namespace; an empty namespace stands for all."""
        found: dict[tuple[str, str], list[Manifest]] = defaultdict(list)
        for manifest in self.catalogue.manifests:
            if manifest.api_version != API_VERSION:
                # A set, so that a cluster-scoped object is listed once.
                for namespace in {manifest.namespace, ""}:
                    found[manifest.name, namespace].append(manifest)
        return dict(found)

    @cached_property
    def _versions(self) -> Mapping[tuple[str, str, str], set[str]]:
        """Each apiVersion of a kind, by name and namespace; an empty one stands for all."""
        found: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for manifest in self.catalogue.manifests:
            # Sets, for the same reason as in _namesakes.
            for name, namespace in product({manifest.name, ""}, {manifest.namespace, ""}):
                found[manifest.kind, name, namespace].add(manifest.api_version)
        return dict(found)


def _listed(alike: Alike) -> str:
    return (
        f"there is: {few(alike.manifests, show=lambda manifest: str(manifest.key))}"
        if alike
        else ""
    )


def _cluster_scoped(manifests: Sequence[Manifest]) -> str:
    """Return a hint if objects looked for in a namespace are cluster-scoped; empty otherwise."""
    scoped = manifests and not any(manifest.namespace for manifest in manifests)
    return (
        f"{manifests[0].kind} is cluster-scoped: a cluster-wide policy selects it" if scoped else ""
    )
