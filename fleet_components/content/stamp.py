"""Annotates objects with their stack and placement, the last step before they are delivered to a
member.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from fleet_components.content.availability import trackable
from fleet_components.model.manifest import Manifest

STACK_ANNOTATION = "fleet-components/stack"
PLACEMENT_ANNOTATION = "fleet-components/placement"
FOUND_ANNOTATION = "fleet-components/found"
"""Annotation of objects that stood on their member before a placement took them over."""
FOUND = "true"
CLUSTER_ANNOTATION = "fleet-components/cluster"
"""Annotation of objects on a member whose name has led to another cluster before: the uid of the
present one.
"""
_MANAGER_ANNOTATION = "pulumi.com/patchFieldManager"
_SKIPS_AWAIT = "pulumi.com/skipAwait"
WRITTEN_AGAIN = "fleet-components/written-again"
"""Annotation of objects that are written again: see :mod:`fleet_components.plan.again`."""
MARKS = frozenset(
    {STACK_ANNOTATION, PLACEMENT_ANNOTATION, FOUND_ANNOTATION, CLUSTER_ANNOTATION}
    | {_MANAGER_ANNOTATION, _SKIPS_AWAIT, WRITTEN_AGAIN}
)
"""Annotations that objects get on their way to a member."""
_LONGEST_MANAGER = 128


def manager_of(stack: str) -> str:
    """Return the field manager of a stack's objects; API servers accept up to 128 characters.

    All resources of the stack share it, so that a new resource takes over the fields of a former
    one without a conflict. Another stack has another field manager and gets a conflict.
    """
    manager = f"fleet-components/{stack}"
    return (
        manager
        if len(manager) <= _LONGEST_MANAGER
        else f"fleet-components/{sha256(stack.encode()).hexdigest()}"
    )


def stack_of(manager: str) -> str:
    """Return the stack of a field manager; empty if it is not a stack's, or only a digest of its
    name.
    """
    stack = manager.removeprefix("fleet-components/")
    # A digest has no slash, and the name of a stack has.
    return stack if stack != manager and "/" in stack else ""


def field_manager(data: Mapping[str, Any]) -> str:
    """Return the field manager of an object that was sent."""
    return str(((data.get("metadata") or {}).get("annotations") or {}).get(_MANAGER_ANNOTATION, ""))


def stamped(
    data: Mapping[str, Any],
    *,
    stack: str,
    placement: str,
    manager: str,
    found: bool = False,
    cluster: str = "",
) -> dict[str, Any]:
    """Return the object with annotations of the stack and the placement that brought it.

    Pulumi does not wait for an object whose availability KubeFleet does not track either.

    Args:
        data: the object.
        stack: the stack, as ``organization/project/stack``.
        placement: the placement, as ``Kind/namespace/name``. Server-side apply by another stack
            conflicts on these annotations, so a stack cannot take over an object without notice.
        manager: the field manager.
        found: True if the object stood on the member before.
        cluster: uid of the member's cluster; empty if its name has always led to the same one.
    """
    marks = {STACK_ANNOTATION: stack, PLACEMENT_ANNOTATION: placement, _MANAGER_ANNOTATION: manager}
    if trackable(Manifest(data)) == "untrackable":
        marks[_SKIPS_AWAIT] = "true"
    # Only where it is true: another annotation would be a change of every object.
    marks |= {FOUND_ANNOTATION: FOUND} if found else {}
    return annotated(data, marks | ({CLUSTER_ANNOTATION: cluster} if cluster else {}))


def annotated(data: Mapping[str, Any], annotations: Mapping[str, str]) -> dict[str, Any]:
    """Return the object with further annotations, which override existing ones."""
    metadata = data.get("metadata") or {}
    return {
        **data,
        "metadata": {
            **metadata,
            "annotations": {**(metadata.get("annotations") or {}), **annotations},
        },
    }
