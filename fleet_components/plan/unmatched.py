"""What matches nothing, and what was probably meant. Real systems take it without a word; here it is a warning."""

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
from fleet_components.plan.karmada.templates import Templates
from fleet_components.plan.karmada.unmatched import in_policies, in_requests
from fleet_components.plan.kubefleet.unmatched import in_runs, skipped_stages
from fleet_components.plan.namespaces import forgotten_namespaces
from fleet_components.plan.quantities import no_quantities
from fleet_components.plan.source import Source
from fleet_components.plan.subject import Decided


def unmatched(
    source: Source, templates: Templates, subjects: Iterable[Decided], inventory: Inventory
) -> Iterator[Problem]:
    """What of a whole source matches nothing; what a placement asks for in vain is among its own warnings.

    Args:
        source: what was read.
        templates: what Karmada's policies may claim, and what nobody has.
        subjects: what was decided.
        inventory: the members that are scheduled on.
    """
    members, objects = AskedMembers.of(source.clusters, inventory), AskedObjects(source.catalogue)
    yield from in_runs(source, members)
    yield from in_policies(templates, members, objects)
    yield from in_requests(source, templates, members, objects)
    for decided in subjects:
        yield from skipped_stages(source, decided, members)
    yield from forgotten_namespaces(source.catalogue, subjects, inventory)
    yield from no_quantities(inventory.clusters, source.declarations)
    yield from _unselected(source, templates.unclaimed)


def _unselected(source: Source, unclaimed: Iterable[Manifest]) -> Iterator[Problem]:
    """The objects that no policy selects, counted in one warning at the first of them.

    What nobody would miss on a member does not count: definitions of custom kinds, which the source needs to know a
    kind; a namespace with something in it, which counts itself; what each cluster makes of its own; and what is in a
    namespace of the system. Nor do the contents of a namespace that a placement selects and that nobody has written
    down: that is one cause, and said there.
    """
    said = set(_selected_namespaces(source))
    left = [one for one in unclaimed if one.namespace not in said and _counts(one, source.catalogue)]
    if left:
        what = f"{count(len(left), 'object')} {'is' if len(left) == 1 else 'are'} selected by no policy"
        first = min((one.problem("") for one in left), key=lambda problem: (problem.file, problem.line or 0))
        listed = few([str(one.key) for one in left])
        yield Problem(f"{what}: {listed}", hint="select them, or take them out", file=first.file, line=first.line)


def _selected_namespaces(source: Source) -> Iterator[str]:
    """The namespaces that placements select by name with all that is in them."""
    for placement in source.placements:
        for one in placement.spec.resource_selectors:
            if (one.group, one.kind, one.selection_scope) == ("", "Namespace", "NamespaceWithResources"):
                yield one.name


def _counts(manifest: Manifest, catalogue: Catalogue) -> bool:
    """Whether somebody who wrote the object would want it on a member."""
    if (manifest.group, manifest.kind) == ("", "Namespace"):
        name = manifest.name
        return not catalogue.contents(name) and name not in HUB_NAMESPACES and not is_reserved(name)
    defines = (manifest.group, manifest.kind) == ("apiextensions.k8s.io", "CustomResourceDefinition")
    return not defines and not is_reserved(manifest.namespace) and not why_skipped(manifest, catalogue)
