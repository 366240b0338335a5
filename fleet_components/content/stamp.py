"""The last step before an object goes to a member: it is marked with what brought it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from fleet_components.content.availability import trackable
from fleet_components.model.manifest import Manifest

STACK_ANNOTATION = "fleet-components/stack"
PLACEMENT_ANNOTATION = "fleet-components/placement"


_MANAGER_ANNOTATION = "pulumi.com/patchFieldManager"
_LONGEST_MANAGER = 128


def manager_of(stack: str) -> str:
    """The name under which a stack owns the fields of its objects; API servers take up to 128 characters.

    It is the same for all of its resources: what one of them has left behind, or has lost, the next one takes up
    without a conflict. Another stack has another name, and conflicts.
    """
    manager = f"fleet-components/{stack}"
    return manager if len(manager) <= _LONGEST_MANAGER else f"fleet-components/{sha256(stack.encode()).hexdigest()}"


def stamped(data: Mapping[str, Any], *, stack: str, placement: str, manager: str) -> dict[str, Any]:
    """The object with the stack and the placement that brought it, not waited for where KubeFleet would not either.

    Args:
        data: the object.
        stack: the stack, as ``organization/project/stack``.
        placement: the placement, as ``Kind/namespace/name``. Server-side apply by another stack
            conflicts on these annotations, so nobody takes an object over unseen.
        manager: the field manager.
    """
    marks = {STACK_ANNOTATION: stack, PLACEMENT_ANNOTATION: placement, _MANAGER_ANNOTATION: manager}
    if trackable(Manifest(data)) == "untrackable":
        marks["pulumi.com/skipAwait"] = "true"
    return annotated(data, marks)


def annotated(data: Mapping[str, Any], annotations: Mapping[str, str]) -> dict[str, Any]:
    """The object with further annotations."""
    metadata = data.get("metadata") or {}
    return {**data, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **annotations}}}
