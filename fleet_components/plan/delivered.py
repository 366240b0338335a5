"""Derive the resources that a stack holds once a plan is delivered: the form in which a render
keeps its past.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fleet_components.content.stamp import FOUND, FOUND_ANNOTATION, annotated
from fleet_components.plan import names
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.own_outputs import ALL, MODES
from fleet_components.plan.state import StoredResource
from fleet_components.plan.stored import Keeper
from fleet_components.plan.subject import Decided
from fleet_components.systems.registry import SYSTEMS


def delivered(plan: FleetPlan, *, redacted: bool) -> list[StoredResource]:
    """Return the resources of the stack, as far as the next plan starts from them.

    Args:
        plan: the plan; its decisions count as carried out.
        redacted: True to replace the data of Secrets in contents; digests still show changes.
    """
    keeper = Keeper(plan.options.stack, plan.options.fleet)
    return [
        keeper.roster({**plan.roster, "redacted": redacted}),
        *(keeper.member(member, _member(plan, member)) for member in plan.members),
        *(
            resource
            for decided in plan.subjects
            for resource in _subject(plan, decided, keeper, redacted)
        ),
    ]


def _member(plan: FleetPlan, member: str) -> dict[str, Any]:
    known = plan.past.members.get(member)
    return {
        "identifier": known.identifier if known else "",
        "identity": plan.options.identities.get(member) or (known.identity if known else ""),
        "uid": known.uid if known else "",
        **plan.remembered(member),
        **({"formerly": list(known.formerly)} if known and known.formerly else {}),
    }


def _subject(
    plan: FleetPlan, decided: Decided, keeper: Keeper, redacted: bool
) -> Iterator[StoredResource]:
    component = decided.subject.COMPONENT
    modes = {key: value for key, value in decided.subject.shown().items() if key in MODES}
    formerly = plan.past.formerly.get(decided.name)
    shown = {
        "protected": decided.subject.protected,
        **({"formerly": list(formerly)} if formerly else {}),
        **modes,
        **forecast_of(decided),
    }
    yield keeper.decision(component, decided.name, decided.record, shown, redacted=redacted)
    # What a hub brings to members is in no state of the stack.
    for cluster, placed in decided.record.decisions.items() if not decided.hub else ():
        keeps = plan.keeps(decided, cluster)
        yield keeper.binding(
            component, decided.name, cluster, decided.settled(cluster), keeps=keeps
        )
        # Keys are those of the written objects, in their order.
        for data, object_key in zip(
            decided.deliveries[cluster].written, decided.keys(cluster), strict=True
        ):
            found = plan.was_found(cluster, object_key)
            yield keeper.object(component, decided.name, cluster, data, found=found)
        if not (decided.record.knows(placed) or decided.subject.reports):
            yield from _unseen(plan, decided, cluster)


def forecast_of(decided: Decided) -> dict[str, str]:
    """Return what is kept of a subject that a hub carries out, beside its decision, which is a
    forecast then.
    """
    if not decided.hub:
        return {}
    keeps = SYSTEMS[decided.hub].KEEPS_ON_REMOVAL and any(
        delivery.keeps for delivery in decided.deliveries.values()
    )
    return {"delivery": decided.hub, **({"keeps": ALL} if keeps else {})}


def _unseen(plan: FleetPlan, decided: Decided, cluster: str) -> Iterator[StoredResource]:
    """Yield the standing objects of a revision whose content is not known."""
    for standing in plan.past.standing_on(decided.name, cluster):
        outputs = annotated({}, {FOUND_ANNOTATION: FOUND}) if standing.found else {}
        yield StoredResource(standing.urn, names.Urn.parse(standing.urn).type, {}, outputs)
