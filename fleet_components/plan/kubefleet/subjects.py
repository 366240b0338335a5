"""Collect the placements of a source as subjects."""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.content.secret import redacted_content
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import in_order
from fleet_components.plan.asked_members import AskedMembers
from fleet_components.plan.asked_objects import AskedObjects
from fleet_components.plan.kubefleet.subject import PlacementSubject
from fleet_components.plan.kubefleet.unmatched import in_placement
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import SelectedPlacement, Source
from fleet_components.scheduler.framework import KUBEFLEET
from fleet_components.scheduler.plugins import meant_for

PROTECTED = "fleet-components/protected"
"""Annotation of a placement or object whose removal has to be confirmed; the value is ``"true"``."""


def placement_subjects(
    source: Source, selections: tuple[SelectedPlacement, ...], inventory: Inventory, past: Past, options: Options
) -> Iterator[PlacementSubject]:
    """Yield every placement with all that its decision depends on."""
    members, objects = AskedMembers.of(source.clusters, inventory), AskedObjects(source.catalogue)
    plugins = meant_for(KUBEFLEET, options.settings.plugins)
    for selected in selections:
        placement, selection = selected.placement, selected.selection
        policy = source.policy(placement.kind, placement.namespace, placement.name)
        content = redacted_content(selected.objects) if past.redacted else selected.objects
        yield PlacementSubject(
            key=placement.key,
            policy=placement.spec.policy,
            strategy=selected.strategy,
            inventory=inventory,
            content=content,
            namespace=placement.namespace,
            done=past.done.get(f"{placement.kind}/{placement.key}", {}),
            gates=options.gates,
            plugins=plugins,
            untrackable=selected.untrackable,
            protected=is_protected(policy),
            origin=placement.origin.location if placement.origin else "",
            warnings=in_order((*selection.warnings, *in_placement(policy, selected, members, objects))),
            selected=selection.manifests,
            skipped=tuple((str(skipped.key), skipped.reason) for skipped in selection.skipped),
        )


def is_protected(manifest: Manifest) -> bool:
    """Return whether an annotation protects the object."""
    return str((manifest.metadata.get("annotations") or {}).get(PROTECTED)).lower() == "true"
