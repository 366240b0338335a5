"""The marks by which Karmada knows its objects on members.

Source: seen on Karmada v1.19.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fleet_components.hub.marks import HubMarks, Work
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.systems.karmada.hub.binding import BINDING_MARKS
from fleet_components.systems.karmada.hub.kinds import WORK_GROUP


def _takes(metadata: Mapping[str, Any]) -> bool:
    return any(mark in (metadata.get("labels") or {}) for mark in BINDING_MARKS)


def _subjects(_: Work, manifests: Sequence[Manifest]) -> set[ObjectKey]:
    return {manifest.key for manifest in manifests}


def _is_held(work: Work) -> bool:
    return work["spec"].get("preserveResourcesOnDeletion") is True


MARKS = HubMarks(
    left=("work.karmada.io/conflict-resolution",),
    space="karmada-es-",
    works=WORK_GROUP,
    labels=BINDING_MARKS,
    takes=_takes,
    subjects=_subjects,
    held=_is_held,
    hold=("v1alpha1", {"preserveResourcesOnDeletion": True}),
)
"""Labels of the binding mark its objects; a policy that preserves them lets them stay."""
