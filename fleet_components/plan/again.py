"""Write objects again that an interrupted update may have changed on a member.

If the engine is stopped while it writes an object, the state keeps the old inputs although the member may have the new
object. When the source then goes back to the old content, old and new inputs are equal and the engine would send
nothing. An annotation with a revision makes the inputs differ.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import attrs

from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.plan.record import Objects, Record
from fleet_components.rollout.rollout import Change, Done, Entry, Placed, Rollout

P = TypeVar("P", bound=Placed)
R = TypeVar("R", bound=Record[Any, Any])


def written_where_interrupted(
    rollout: Rollout,
    stopped: Collection[str],
    record: R,
    before: R,
    done: Mapping[str, Done],
    inventory: Inventory,
) -> Rollout:
    """Return the plan with marks on the members where the last update stopped and that go back to what stands there.

    Args:
        rollout: the plan.
        stopped: the members at which the last update stopped.
        record: what is decided now.
        before: what was decided by that update.
        done: what really runs, by member.
        inventory: the members.
    """
    undone = []
    for cluster in sorted({*stopped}.intersection(done, record.decisions)):
        position, here = inventory.position(cluster), done[cluster]
        if position is None or here.revision is None:
            continue
        member = inventory.clusters[position]
        # Without its own mark, which would make every object differ.
        sent = attrs.evolve(before.decisions[cluster], again=None)
        wanted = record.objects(attrs.evolve(record.decisions[cluster], again=None), member)
        if _goes_back(before.objects(sent, member), before.objects(before.standing(here), member), wanted):
            undone.append(cluster)
    return _mark(rollout, stopped, before.decisions, undone)


def _mark(
    rollout: Rollout, interrupted: Collection[str], before: Mapping[str, Placed], undone: Collection[str]
) -> Rollout:
    """Return the plan with marks on the members that have to be written again.

    A mark of an earlier update is kept until the member changes: removing it would be a change of its own.

    Args:
        rollout: the plan.
        interrupted: the members at which the last update stopped.
        before: what each member was sent by that update.
        undone: those of the interrupted members whose objects may differ from both old and new inputs.
    """
    entries = {
        cluster: _marked(cluster, entry, interrupted, before, undone) for cluster, entry in rollout.entries.items()
    }
    return attrs.evolve(rollout, entries=entries)


def _goes_back(sent: Objects, stands: Objects, wanted: Objects) -> bool:
    """Return whether an object is wanted as it stood before an update that was about to change it.

    Args:
        sent: the objects that the last update sent.
        stands: the objects of the revision that stands.
        wanted: the objects that are wanted now.
    """
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
    if again == entry.placed.again:
        return entry
    return attrs.evolve(entry, placed=attrs.evolve(entry.placed, again=again))
