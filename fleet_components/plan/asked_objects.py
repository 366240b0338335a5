"""Find kinds, names, labels and namespaces in policies for which the source has no objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import attrs

from fleet_components.content.catalogue import Catalogue, labels_of
from fleet_components.model.manifest import Manifest
from fleet_components.model.reader import API_VERSION
from fleet_components.model.selector import LabelSelector
from fleet_components.model.text import few
from fleet_components.plan.vain import meant, near_name, values_of_label
from fleet_components.scheduler.explain import show_requirement

Missing = tuple[str, str]
"""Description of what is missing, and a hint about what was probably meant."""


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
    """

    catalogue: Catalogue

    def found(self, wanted: AskedFor) -> Iterator[Manifest]:
        """Yield the objects that are asked for."""
        labels = None if wanted.name else wanted.labels
        if labels is None or not labels.error:
            alike = self.catalogue.find(wanted.group, wanted.kind, wanted.namespace or None, wanted.name, labels)
            yield from (one for one in alike if wanted.version in ("", one.version))

    def missing(self, wanted: AskedFor) -> Missing:
        """Return why nothing is found."""
        alike = self.catalogue.find(wanted.group, wanted.kind)
        here = [one for one in alike if wanted.namespace in ("", one.namespace)]
        where = f" in namespace {wanted.namespace}" if wanted.namespace else ""
        place = f"{wanted.namespace}/" if wanted.name and wanted.namespace else ""
        what = f"there is no {wanted.kind} {place}{wanted.name}" if wanted.name else f"there is no {wanted.kind}{where}"
        written = {one.api_version: one.version for one in here if wanted.name in ("", one.name)}
        if written and wanted.version and wanted.version not in written.values():
            return f"{what} in version {wanted.version}", f"written in {few(sorted(written))}"
        if wanted.name:
            return what, self.near(wanted) or _listed(here or alike) or self._other_kind(wanted.kind)
        if wanted.labels and here:
            return self._other_labels(wanted.labels, f"no {wanted.kind}{where}", here)
        return what, _cluster_scoped(alike) or _listed(alike) or self._other_kind(wanted.kind)

    def nothing_in(self, namespace: str, wanted: Sequence[AskedFor]) -> Missing:
        """Return that a namespace has no objects.

        The hint names a namespace in which there are objects that are asked for, or the namespace that was probably
        meant.
        """
        what = f'there is no object in namespace "{namespace}"'
        found = (one for each in wanted for one in self.found(attrs.evolve(each, namespace="")) if one.namespace)
        if elsewhere := next(found, None):
            return what, f"{elsewhere.kind} {elsewhere.name} is in namespace {elsewhere.namespace}"
        return what, meant(namespace, self._namespaces, "there are objects in") if self._namespaces else ""

    def near(self, wanted: AskedFor) -> str:
        """Return a hint about what a name probably meant; empty if nothing is close.

        Considered in this order: the same name in another namespace, in another version or of another kind, a similar
        name.
        """
        alike = self.catalogue.find(wanted.group, wanted.kind)
        if same := [one for one in alike if one.name == wanted.name]:
            return _cluster_scoped(same) or f"there is one in namespace {few(sorted(one.namespace for one in same))}"
        namesakes = [one for one in self._by_name.get(wanted.name, ()) if wanted.namespace in ("", one.namespace)]
        if versions := sorted({one.api_version for one in namesakes if one.kind == wanted.kind}):
            return f"there is one of {few(versions)}"
        if namesakes:
            return _listed(namesakes)
        name = near_name(wanted.name, [one.name for one in alike if wanted.namespace in ("", one.namespace)])
        return f'did you mean "{name}"?' if name else ""

    def _other_labels(self, labels: LabelSelector, start: str, here: Sequence[Manifest]) -> Missing:
        """Return which labels no object has, and the values that the objects have instead."""
        if labels.error:
            return f"selects nothing: {labels.error}", ""
        asked = labels.requirements()
        unmet = [one for one in asked if not any(one.matches(labels_of(each)) for each in here)]
        shown = ", ".join(map(show_requirement, unmet or asked))
        hint = values_of_label(unmet[0].key, [labels_of(each) for each in here], "they") if unmet else _listed(here)
        return f"{start} has {shown}", hint

    def _other_kind(self, kind: str) -> str:
        """Return a hint about the groups in which the kind exists, or about the nearest kind."""
        if groups := sorted({one.api_version for one in self.catalogue.manifests if one.kind == kind}):
            return f"{kind} is of {few(groups)}"
        near = near_name(kind, {one.kind for one in self.catalogue.manifests})
        return f"did you mean {near}?" if near else "add it to the manifests, or take the selector out"

    @cached_property
    def _namespaces(self) -> frozenset[str]:
        return frozenset(one.namespace for one in self.catalogue.manifests if one.namespace)

    @cached_property
    def _by_name(self) -> dict[str, list[Manifest]]:
        found: dict[str, list[Manifest]] = {}
        for one in self.catalogue.manifests:
            if one.api_version != API_VERSION:
                found.setdefault(one.name, []).append(one)
        return found


def _listed(manifests: Sequence[Manifest]) -> str:
    return f"there is: {few([str(one.key) for one in manifests])}" if manifests else ""


def _cluster_scoped(manifests: Sequence[Manifest]) -> str:
    """Return a hint if objects looked for in a namespace are cluster-scoped; empty otherwise."""
    scoped = manifests and not any(one.namespace for one in manifests)
    return f"{manifests[0].kind} is cluster-scoped: a cluster-wide policy selects it" if scoped else ""
