"""Dependencies between groups of resources, with as few edges as possible."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi

from fleet_components.dynamic import Barrier


def between(name: str, before: Sequence[pulumi.Resource], after: int, parent: pulumi.Resource) -> list[pulumi.Resource]:
    """Return the resources that every resource of the next group has to depend on.

    Args:
        name: name of the barrier, if one is needed.
        before: the resources of the first group.
        after: number of resources in the next group.
        parent: the barrier's parent.

    Returns:
        The resources of the first group while that takes no more edges than a barrier; else one barrier that
        depends on all of them.
    """
    if len(before) * after <= len(before) + after + 1:
        return list(before)
    options = pulumi.ResourceOptions(parent=parent, depends_on=list(before))
    return [Barrier(name, {"key": name}, options)]
