"""What an interrupted update may have left on a member is written again.

An engine that is stopped while it writes an object knows nothing of what it wrote. When the source then goes back,
old and new inputs are the same, and nothing would be sent although the member has something else. A mark on the
objects makes them differ.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import attrs

from fleet_components.content.stamp import annotated
from fleet_components.model.manifest import Manifest
from fleet_components.plan.record import Objects
from fleet_components.rollout.plan import Change, Entry, Placed, Plan

ANNOTATION = "fleet-components/written-again"
P = TypeVar("P", bound=Placed)


def written_again(data: Mapping[str, Any], placed: Placed) -> Mapping[str, Any]:
    """The object, marked where its member was written anew."""
    return data if placed.again is None else annotated(data, {ANNOTATION: str(placed.again)})


def mark_again(
    rollout: Plan, interrupted: Collection[str], before: Mapping[str, Placed], undone: Collection[str]
) -> Plan:
    """The plan with what is written again, and with what was, for as long as it stays as it is.

    Args:
        rollout: the plan.
        interrupted: the members at which the last update stopped.
        before: what each member was sent then.
        undone: those of them that may have something that no old or new input tells of.
    """
    entries = {
        cluster: _marked(cluster, entry, interrupted, before, undone) for cluster, entry in rollout.entries.items()
    }
    return attrs.evolve(rollout, entries=entries)


def goes_back(sent: Objects, stands: Objects, wanted: Objects) -> bool:
    """Whether an object is wanted as it stood before an update that was on its way to change it."""
    was_sent, stood = ({Manifest(data).key: data for data in objects} for objects in (sent, stands))
    keys = {Manifest(data).key: data for data in wanted}
    return any(stood.get(key) == data and was_sent.get(key, data) != data for key, data in keys.items())


def _marked(
    cluster: str, entry: Entry, interrupted: Collection[str], before: Mapping[str, Placed], undone: Collection[str]
) -> Entry:
    if entry.placed is None:
        return entry
    known = before[cluster].again if cluster in before else None
    if entry.change in (Change.ADD, Change.UPDATE):
        again = entry.placed.revision if cluster in undone else known if cluster in interrupted else None
    else:
        again = known
    return attrs.evolve(entry, placed=attrs.evolve(entry.placed, again=again))
