"""Which placement brings which object to which cluster: no object has two owners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fleet_components.delivery.objects import object_name
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError, Problem

_HINT = "let one of them select it, or keep their policies on different clusters; a hub answers FailedToTakeOver"


class Owners:
    """The owners of all objects of a fleet, as far as they are known."""

    def __init__(self) -> None:
        self._owners: dict[tuple[str, str, str, str], str] = {}

    def take(self, cluster: str, objects: Iterable[Mapping[str, Any]], placement: str) -> None:
        """Enter the objects that a placement brings to a cluster.

        Raises:
            FleetError: another placement brings one of them there. KubeFleet's work applier lets the second one
                fail then, and loses the object when the first one goes.
        """
        problems = []
        for data in objects:
            key = (cluster, Manifest(data).group, str(data["kind"]), object_name(data))
            if (owner := self._owners.setdefault(key, placement)) != placement:
                one, other = sorted((owner, placement))
                what = f"gets {data['kind']} {object_name(data)} from two placements: {one} and {other}"
                problems.append(Problem(what, subject=f"member {cluster}", hint=_HINT))
        if problems:
            raise FleetError(problems)
