"""Order between groups of resources, with as few edges as it takes."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi

from fleet_components.dynamic import Barrier


def between(name: str, before: Sequence[pulumi.Resource], after: int, parent: pulumi.Resource) -> list[pulumi.Resource]:
    """What the resources of the next group should depend on.

    Args:
        name: the name of the barrier, if one is needed.
        before: the resources that come first.
        after: how many resources follow.
        parent: the barrier's parent.

    Returns:
        The resources themselves while that takes few edges, else one barrier behind all of them.
    """
    if len(before) * after <= len(before) + after + 1:
        return list(before)
    options = pulumi.ResourceOptions(parent=parent, depends_on=list(before))
    return [Barrier(name, {"key": name}, options)]
