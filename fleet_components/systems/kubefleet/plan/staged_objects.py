"""Objects that roll placements out, and that some releases of KubeFleet place as others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fleet_components.content.select import Selection
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem
from fleet_components.model.release import Release
from fleet_components.model.text import few
from fleet_components.systems.kubefleet.model.placement import Placement
from fleet_components.systems.kubefleet.model.release import Rule

_KINDS = ("StagedUpdateRun", "StagedUpdateStrategy")
_ALONE = ("NamespaceOnly", "NamespaceWithResourceSelectors")


def also_placed(
    placement: Placement, selection: Selection, policies: Iterable[Manifest], release: Release
) -> Iterator[Problem]:
    """Yield a warning for each selector with which a hub would place what rolls placements out, too.

    Args:
        placement: the placement.
        selection: what it selects.
        policies: the objects that steer a hub.
        release: the release of KubeFleet.
    """
    if placement.namespace or release.has(Rule.STAGED_NEVER_PLACED):
        return
    staged = [policy for policy in policies if policy.kind in _KINDS]
    for index, (selector, brought) in enumerate(zip(placement.spec.resource_selectors, selection.brought, strict=True)):
        if selector.kind != "Namespace" or selector.selection_scope in _ALONE:
            continue
        spaces = {key.name for key in brought if key.kind == "Namespace"}
        if found := [str(item.key) for item in staged if item.namespace in spaces]:
            manifest = Manifest({"kind": placement.kind, "metadata": {"name": placement.name}}, placement.origin)
            what = f"KubeFleet {release.name} places {few(found)} as well, which members refuse; here it stays"
            hint = "select single objects of the namespace, or keep it apart from what rolls it out"
            yield manifest.problem(what, ("spec", "resourceSelectors", index), hint)
