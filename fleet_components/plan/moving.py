"""Refuses what would delete objects because they go another way than until now: from members to a
hub, or back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.text import few
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.guard import loss_token
from fleet_components.plan.past import Past
from fleet_components.plan.subject import Decided
from fleet_components.plan.ways import NAMES, Way

_BY_STEPS = "fleet move PROJECT --stack STACK --to {} does it step by step, and deletes nothing"
_BY_DIRECT = (
    "{0} --to {1}; then write what {2} reads in place of the policies of {3}, update, and: {0}"
    " --to {4}"
)


def previous_ways(past: Past) -> Mapping[tuple[str, str, str], str]:
    """Return the ways that placements and propagation policies have gone, by kind, namespace and
    name.
    """
    found = {}
    for name, record in past.records.items():
        # What no hub has carried out went directly.
        way = past.forecast.get(name, Way.DIRECT.value)
        policy = record.steered_by(name)
        if policy:
            found[policy.kind, policy.namespace, policy.name] = way
    return found


def between_hubs(
    past: Past, to: str, placements: Collection[str], command: str
) -> Iterator[Problem]:
    """Yield what goes through the hub of one system and is asked to move to that of the other.

    Args:
        past: the past of the fleet.
        to: the way that it is to go.
        placements: keys of the placements and templates that move; all if empty.
        command: the command that moves the stack, without its aim.
    """
    for name, way in sorted(past.forecast.items()):
        # From one hub to another: entries of a forecast never have the direct way.
        if Way.DIRECT != to != way and (not placements or name.partition("/")[2] in placements):
            what = Message(
                "goes-through-hub-nothing",
                "goes through a hub of {names}, and nothing moves from one hub to another",
                names=NAMES[way],
            )
            hint = _BY_DIRECT.format(command, Way.DIRECT, NAMES[to], NAMES[way], to)
            yield Problem(what, subject=name, hint=hint)


def moved_over(plan: FleetPlan) -> Iterator[Problem]:
    """Yield the subjects whose objects would be deleted on members, and recreated by another way.

    What stays on its members when it leaves the stack, or the hub, may move; so may what was
    released from its hub.
    """
    before, tokens = plan.past.forecast, releases(plan)
    for manifest in plan.consignment.hidden:
        if manifest.key in plan.past.on_hub:
            what = Message(
                "source-hides-data-without",
                "the source hides its data, and without it the hub would lose what this stack has"
                " sent there",
            )
            yield manifest.problem(what, (), "write it as it is, or fleet observe --secrets")
    for decided in plan.subjects:
        losing = _losing(plan, decided)
        if not losing:
            continue
        # It went directly until now.
        if decided.hub and decided.name not in before:
            what = Message(
                "go-through-hub-objects",
                "is to go through a hub of {names}, and its objects would be deleted on {losing}"
                " first",
                names=NAMES[decided.hub],
                losing=few(losing),
            )
            yield Problem(what, subject=decided.name, hint=_BY_STEPS.format(decided.hub))
        elif decided.name in tokens and tokens[decided.name] not in plan.options.confirm:
            what = Message(
                "leaves-hub-delete-objects",
                "leaves its hub of {names}, which would delete its objects on {losing}",
                names=NAMES[before[decided.name]],
                losing=few(losing),
            )
            yield Problem(what, subject=decided.name, hint=_BY_STEPS.format(Way.DIRECT))


def releases(plan: FleetPlan) -> Mapping[str, str]:
    """Return the subjects that leave their hub, each with the token that says that the hub lets its
    objects stay.

    No message names the token: what would allow it has to be found out on the hub and on the
    members.
    """
    leaving = (
        decided
        for decided in plan.subjects
        if not decided.hub and decided.name in plan.past.forecast
    )
    return {
        decided.name: loss_token(decided.name, ["released", *lost])
        for decided in leaving
        if (lost := _losing(plan, decided))
    }


def _losing(plan: FleetPlan, decided: Decided) -> list[str]:
    """Return the members on which the objects of a subject would be deleted because they go another
    way.
    """
    stands = [
        it for member in decided.subject.done for it in plan.past.standing_on(decided.name, member)
    ]
    return sorted({it.cluster for it in stands if not it.kept and it.hub != bool(decided.hub)})
