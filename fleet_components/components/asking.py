"""Questions to members: which cluster each is, what it has of the objects, and how these differ
from what comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

import attrs

from fleet_components.components.process import in_thread
from fleet_components.content.secret import REDACTED, secret_fields
from fleet_components.live.asked_objects import WantedObject, observe
from fleet_components.live.connection import Answer, Leftover, ask_cluster
from fleet_components.live.kubeconfig import read_kubeconfig
from fleet_components.model.observed import SILENT, ObservedObject
from fleet_components.model.problem import FleetError
from fleet_components.plan.apply_mode import ApplyMode, TakeOver
from fleet_components.plan.fleet_plan import grouped
from fleet_components.plan.guard import Pair
from fleet_components.plan.ownership import Arrival, Live, spaces_of


async def ask_member(name: str, kubeconfig: str, objects: Sequence[Leftover]) -> Answer:
    """Return what a member answers, asked for its uid and for objects; an empty answer if it cannot
    be asked.
    """
    return await in_thread(partial(_answer, name, kubeconfig, objects))


async def compare_all(
    judged: Sequence[Arrival], kubeconfigs: Mapping[str, str], manager: str
) -> Mapping[Pair, ObservedObject]:
    """Return how objects on their members differ from what comes.

    Args:
        judged: the objects as they are wanted.
        kubeconfigs: kubeconfigs by member.
        manager: the field manager that writes them.
    """
    asked = [
        in_thread(partial(_differences, name, kubeconfigs[name], arriving, manager))
        for name, arriving in grouped(judged, lambda arrival: arrival.cluster).items()
    ]
    return {
        pair: observed for found in await asyncio.gather(*asked) for pair, observed in found.items()
    }


def live_in(answers: Mapping[str, Answer]) -> Live:
    """Return what looks up objects in the answers of the members."""
    return lambda arrival: (answers[arrival.cluster].objects or {}).get(as_leftover(arrival))


def as_leftover(arrival: Arrival) -> Leftover:
    """Return the name under which a member is asked for an object."""
    return Leftover.of(str(arrival.data["apiVersion"]), arrival.key)


def asked_for(arriving: Sequence[Arrival]) -> list[Leftover]:
    """Return what a member is asked for before objects come to it: them and their Namespaces."""
    return list(dict.fromkeys(map(as_leftover, (*arriving, *spaces_of(arriving)))))


def _answer(name: str, kubeconfig: str, objects: Sequence[Leftover]) -> Answer:
    try:
        return ask_cluster(read_kubeconfig(kubeconfig, name), objects)
    except FleetError:
        return Answer()  # the provider reports what is wrong with it


def _differences(
    name: str, kubeconfig: str, arriving: Sequence[Arrival], manager: str
) -> Mapping[Pair, ObservedObject]:
    """Return how the objects differ from what a member has; of what cannot be compared in time,
    that it was not.
    """
    wanted = [WantedObject(arrival.data, _trial(arrival.mode), manager) for arrival in arriving]
    answered = observe({name: read_kubeconfig(kubeconfig, name)}, {name: wanted})[name].objects
    return {
        (name, arrival.key): _without_secrets(arrival, answered.get(arrival.key))
        for arrival in arriving
    }


def _trial(mode: ApplyMode) -> ApplyMode:
    """Return the mode in which a comparison is made: a conflict is a difference too, and is shown
    with its values.
    """
    return attrs.evolve(mode, forces=True) if mode.takes_over is TakeOver.IF_NO_DIFF else mode


def _without_secrets(arrival: Arrival, found: ObservedObject | None) -> ObservedObject:
    """Return a comparison without words of an API server that may quote something secret."""
    if found is None:
        return ObservedObject(arrival.key, str(arrival.data["apiVersion"]), error=SILENT)
    return (
        attrs.evolve(found, error=REDACTED)
        if found.error and secret_fields(arrival.data)
        else found
    )
