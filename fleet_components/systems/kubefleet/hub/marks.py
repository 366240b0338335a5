"""The marks by which KubeFleet knows its objects on members.

Source: seen on KubeFleet v0.3.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fleet_components.hub.marks import HubMarks, Work
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.systems.kubefleet.hub.kinds import GROUP, PLACEMENT

_SPACE = "kubernetes-fleet.io/parent-placement-namespace"


def _is_agent(owner: Mapping[str, Any]) -> bool:
    version = str(owner.get("apiVersion"))
    return owner.get("kind") == "AppliedWork" and version.startswith(f"{GROUP}/")


def _takes(metadata: Mapping[str, Any]) -> bool:
    return any(map(_is_agent, metadata.get("ownerReferences") or ()))


def _subjects(work: Work, _: Sequence[Manifest]) -> set[ObjectKey]:
    labels = work["metadata"]["labels"]
    space = labels.get(_SPACE) or ""
    kind = "ResourcePlacement" if space else "ClusterResourcePlacement"
    return {ObjectKey(GROUP, kind, space, labels[PLACEMENT])}


def _is_held(work: Work) -> bool:
    conditions = (work.get("status") or {}).get("conditions") or ()
    # A strategy that the agent has not seen yet does not bind it.
    seen = any(
        condition.get("type") == "Applied"
        and condition.get("observedGeneration") == work["metadata"]["generation"]
        for condition in conditions
    )
    return seen and (work["spec"].get("applyStrategy") or {}).get("whenToTakeOver") == "Never"


MARKS = HubMarks(
    left=("kubernetes-fleet.io/last-applied-configuration", "kubernetes-fleet.io/spec-hash"),
    space="fleet-member-",
    works=GROUP,
    labels=(PLACEMENT,),
    takes=_takes,
    owner=_is_agent,
    subjects=_subjects,
    held=_is_held,
    hold=("v1beta1", {"strategy": {"applyStrategy": {"whenToTakeOver": "Never"}}}),
)
"""Its agents own what they have applied; a placement that takes nothing over lets it stay."""
