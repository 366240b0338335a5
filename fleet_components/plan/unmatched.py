"""Warn of what matches nothing, with what was probably meant; real hubs accept it without a warning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fleet_components.content.catalogue import Catalogue
from fleet_components.content.eligible import is_reserved, why_skipped
from fleet_components.content.select import HUB_NAMESPACES
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem
from fleet_components.model.text import count, few
from fleet_components.plan.asked_members import AskedMembers
from fleet_components.plan.asked_objects import AskedObjects
from fleet_components.plan.names import TEMPLATE_KIND
from fleet_components.plan.namespaces import forgotten_namespaces
from fleet_components.plan.quantities import no_quantities
from fleet_components.plan.source import Source
from fleet_components.plan.subject import Decided
from fleet_components.systems.karmada.plan import idle as karmada
from fleet_components.systems.karmada.plan.replicas import changed_totals
from fleet_components.systems.karmada.plan.templates import Templates
from fleet_components.systems.karmada.plan.unmatched import in_policies, in_requests, without_apis
from fleet_components.systems.karmada.plan.unserved import unserved
from fleet_components.systems.kubefleet.plan import idle as kubefleet
from fleet_components.systems.kubefleet.plan.unmatched import in_evictions, in_overrides, in_runs, skipped_stages


def unmatched(
    source: Source, templates: Templates, subjects: Iterable[Decided], inventory: Inventory, *, partial: bool = False
) -> Iterator[Problem]:
    """Yield warnings of what matches nothing in the whole source.

    What a placement asks for in vain is among the warnings of that placement instead.

    Args:
        source: the parsed fleet.
        templates: the templates, and the objects that nothing claims.
        subjects: the decided subjects.
        inventory: the members that are scheduled on.
        partial: whether the objects are those that were observed of a hub, which has others too.
    """
    members, objects = AskedMembers.of(source.clusters, inventory), AskedObjects(source.catalogue, partial)
    yield from in_runs(source, members)
    yield from in_evictions(source)
    yield from in_overrides(source, subjects, members, objects)
    yield from in_policies(templates, members, AskedObjects(source.matched, partial))
    yield from kubefleet.idle_rules(subjects, inventory)
    yield from karmada.idle_rules(templates, subjects, inventory)
    yield from changed_totals(subjects, inventory)
    yield from in_requests(source, templates, members, objects)
    yield from without_apis(source, templates)
    yield from unserved(subjects, source.catalogue, inventory)
    for decided in subjects:
        yield from skipped_stages(source, decided, members)
    there = source.settings.brings_namespaces
    alone = [subject for subject in subjects if not (there and subject.subject.kind == TEMPLATE_KIND)]
    yield from forgotten_namespaces(source.catalogue, alone, inventory)
    yield from no_quantities(inventory.clusters, source.declarations)
    yield from _unselected(source, templates.unclaimed)


def _unselected(source: Source, unclaimed: Iterable[Manifest]) -> Iterator[Problem]:
    """Yield one warning that counts the objects that no policy selects, located at the first of them.

    Objects that nobody would miss on a member do not count: definitions of custom kinds, which the source needs to know
    a kind; a namespace with objects in it, which count themselves; objects that each cluster makes itself; and objects
    in system namespaces. The same holds for the contents of a namespace that a placement selects but that is not in the
    source: the placement's own warning covers them.
    """
    selected = set(_selected_namespaces(source))
    left = [
        manifest for manifest in unclaimed if manifest.namespace not in selected and _counts(manifest, source.catalogue)
    ]
    if left:
        what = f"{count(len(left), 'object')} {'is' if len(left) == 1 else 'are'} selected by no policy"
        first = min((manifest.problem("") for manifest in left), key=lambda problem: (problem.file, problem.line or 0))
        listed = few([str(manifest.key) for manifest in left])
        yield Problem(f"{what}: {listed}", hint="select them, or take them out", file=first.file, line=first.line)


def _selected_namespaces(source: Source) -> Iterator[str]:
    """Yield the namespaces that placements select by name with all their contents."""
    for placement in source.placements:
        for selector in placement.spec.resource_selectors:
            if (selector.group, selector.kind, selector.selection_scope) == ("", "Namespace", "NamespaceWithResources"):
                yield selector.name


def _counts(manifest: Manifest, catalogue: Catalogue) -> bool:
    """Return whether the author of the object probably wants it on a member."""
    if (manifest.group, manifest.kind) == ("", "Namespace"):
        name = manifest.name
        return not catalogue.contents(name) and name not in HUB_NAMESPACES and not is_reserved(name)
    defines = (manifest.group, manifest.kind) == ("apiextensions.k8s.io", "CustomResourceDefinition")
    return not defines and not is_reserved(manifest.namespace) and not why_skipped(manifest, catalogue)
