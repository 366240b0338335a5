"""The placements of a source, ready to be decided."""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.content.secret import redacted
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem
from fleet_components.plan.kubefleet.subject import PlacementSubject
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import Source, Workload

PROTECTED = "fleet-components/protected"
"""The annotation of a placement, or of an object, that must not go without a word: ``"true"``."""
_SELECTORS = ("spec", "resourceSelectors")


def placement_subjects(
    source: Source, workloads: tuple[Workload, ...], inventory: Inventory, past: Past, options: Options
) -> Iterator[PlacementSubject]:
    """Every placement with what its decision depends on."""
    for workload in workloads:
        placement, selection = workload.placement, workload.selection
        content = tuple(map(redacted, workload.objects)) if past.redacted else workload.objects
        yield PlacementSubject(
            key=placement.key,
            policy=placement.spec.policy,
            strategy=workload.strategy,
            inventory=inventory,
            content=content,
            namespace=placement.namespace,
            done=past.done.get(f"{placement.kind}/{placement.key}", {}),
            gates=options.gates,
            untrackable=workload.untrackable,
            protected=is_protected(source.policy(placement.kind, placement.namespace, placement.name)),
            origin=placement.origin.place if placement.origin else "",
            warnings=(*selection.warnings, *_surprises(source, workload, inventory)),
            skipped=tuple((str(skipped.key), skipped.reason) for skipped in selection.skipped),
        )


def is_protected(manifest: Manifest) -> bool:
    """Whether an annotation protects it."""
    return str((manifest.metadata.get("annotations") or {}).get(PROTECTED)).lower() == "true"


def _surprises(source: Source, workload: Workload, inventory: Inventory) -> Iterator[Problem]:
    """What a hub takes without a word, and what is most likely not meant."""
    placement = workload.placement
    policy = source.policy(placement.kind, placement.namespace, placement.name)
    if not workload.objects:
        yield policy.problem("nothing is selected", _SELECTORS, "select objects that are among the manifests")
    named = placement.spec.policy.cluster_names if placement.spec.policy else ()
    for index, name in enumerate(named):
        if inventory.position(name) is None:
            hint = f"the members are: {', '.join(inventory.names)}"
            yield policy.problem(f'there is no member "{name}"', ("spec", "policy", "clusterNames", index), hint)
