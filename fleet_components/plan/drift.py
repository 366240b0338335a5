"""Objects that an update leaves alone where somebody has changed them, as their source has not
changed.
"""

from __future__ import annotations

from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.plan.departures import sent_before
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.record import Objects
from fleet_components.plan.subject import Decided


def left_alone(plan: FleetPlan, decided: Decided) -> dict[str, Objects]:
    """Return the objects that stand as they were sent and are not written again, by member.

    They are those of a placement with ``whenToApply: IfNotDrifted`` whose content is what the last
    update has sent. Where that update broke, everything is written.
    """
    stopping = {
        cluster
        for cluster, delivery in decided.deliveries.items()
        if delivery.mode.stops_at_drift and delivery.written
    }
    # The usual case, which spares the reading of all that was sent.
    if not stopping:
        return {}
    sent: dict[tuple[str, ObjectKey], object] = {
        (cluster, Manifest(data).key): data
        for cluster, data in sent_before(decided, plan.past)
        if cluster in stopping
    }
    return {cluster: tuple(_unchanged(plan, decided, cluster, sent)) for cluster in stopping}


def _unchanged(
    plan: FleetPlan, decided: Decided, cluster: str, sent: dict[tuple[str, ObjectKey], object]
) -> Objects:
    found = []
    for data in decided.deliveries[cluster].written:
        pair = cluster, Manifest(data).key
        standing = plan.standing.get(pair)
        if (
            standing
            and standing.subject == decided.name
            and sent.get(pair) == data
            and pair not in plan.replaced
        ):
            # It stands as it was sent. What is replaced is left out: it has to be written.
            found.append(data)
    return tuple(found)
