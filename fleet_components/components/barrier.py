"""Dependencies between resources: between groups with few edges, and on those that come later."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pulumi

from fleet_components.dynamic import Barrier
from fleet_components.model.manifest import ObjectKey


def between(
    name: str, before: Sequence[pulumi.Resource], after: int, parent: pulumi.Resource
) -> list[pulumi.Resource]:
    """Return the resources that every resource of the next group has to depend on.

    Args:
        name: name of the barrier, if one is needed.
        before: the resources of the first group.
        after: number of resources in the next group.
        parent: the barrier's parent.

    Returns:
        The resources of the first group while that takes no more edges than a barrier; else one
        barrier that depends on all of them.
    """
    if len(before) * after <= len(before) + after + 1:
        return list(before)
    options = pulumi.ResourceOptions(parent=parent, depends_on=list(before))
    return [Barrier(name, {"key": name}, options)]


class Arrivals:
    """Resources of objects by member, which others may depend on before they are registered.

    Placements may need each other, so that no order of registration has every resource before
    those that need it.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, ObjectKey], asyncio.Future[pulumi.Resource]] = {}

    def register(self, cluster: str, key: ObjectKey, resource: pulumi.Resource) -> None:
        """Add the resource of an object on a member."""
        self._of(cluster, key).set_result(resource)

    def resource(self, cluster: str, key: ObjectKey) -> pulumi.Output[pulumi.Resource]:
        """Return the resource of an object on a member, once it is registered."""
        return pulumi.Output.from_input(self._of(cluster, key))

    def _of(self, cluster: str, key: ObjectKey) -> asyncio.Future[pulumi.Resource]:
        return self._found.setdefault((cluster, key), asyncio.Future())

    @contextmanager
    def complete(self) -> Iterator[None]:
        """Fail every dependency that is still open at the end, so that the program ends.

        Raises:
            RuntimeError: an object is depended on and not registered.
        """
        try:
            yield
            left = [found for found, resource in self._found.items() if not resource.done()]
            missing = [f"{key} on {cluster}" for cluster, key in left]
            if missing:
                raise RuntimeError(f"{', '.join(missing)}: depended on and not registered")
        except Exception as error:
            for found in self._found.values():
                if not found.done():
                    found.set_exception(error)
            raise
