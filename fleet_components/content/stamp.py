"""The last step before an object goes to a member: it is marked with what brought it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet_components.content.availability import trackable
from fleet_components.model.manifest import Manifest

STACK_ANNOTATION = "fleet-components/stack"
PLACEMENT_ANNOTATION = "fleet-components/placement"


def stamped(data: Mapping[str, Any], *, stack: str, placement: str) -> dict[str, Any]:
    """The object with the stack and the placement that brought it, not waited for where KubeFleet would not either.

    Args:
        data: the object.
        stack: the stack, as ``organization/project/stack``.
        placement: the placement, as ``Kind/namespace/name``. Server-side apply by another stack or placement
            conflicts on these two annotations, so nobody takes an object over unseen.
    """
    metadata = dict(data.get("metadata") or {})
    annotations = {**(metadata.get("annotations") or {}), STACK_ANNOTATION: stack, PLACEMENT_ANNOTATION: placement}
    if trackable(Manifest(data)) == "untrackable":
        annotations["pulumi.com/skipAwait"] = "true"
    return {**data, "metadata": {**metadata, "annotations": annotations}}
