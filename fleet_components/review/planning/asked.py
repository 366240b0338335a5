"""Statuses with what the members themselves say, asked beside what the stack knows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from fleet_components.live.asked_objects import Wanted, observe
from fleet_components.model.observed import ObservedMember, ObservedObject
from fleet_components.model.watch import Watch, unwatched
from fleet_components.plan.state import StackState
from fleet_components.review.planning.kubeconfigs import UNKNOWN, MemberName, kubeconfigs
from fleet_components.review.planning.statuses import Status

_ACCEPTED = "its API server would take it now"


def asked(
    found: Sequence[Status],
    state: StackState,
    given: Mapping[str, Path],
    members: Collection[str],
    timeout: float,
    watch: Watch = unwatched,
) -> tuple[Status, ...]:
    """Return statuses with what members say of every object that was, or was to be, delivered to them.

    Args:
        found: the statuses as the stack knows them.
        state: the state, which has the kubeconfigs of the members.
        given: the files of kubeconfigs that count instead, by ``MEMBER`` or ``FLEET/MEMBER``.
        members: the members to ask; all of them if empty.
        timeout: how long a member has, in seconds.
        watch: is told how many have answered.

    Raises:
        FleetError: a given kubeconfig cannot be read, or there is no such member.
    """
    known = kubeconfigs(state, given, (name for status in found for name in _decided(status)))
    wanted: dict[MemberName, list[Wanted]] = defaultdict(list)
    for status in found:
        for name in _decided(status):
            if name.member in members or not members:
                wanted[name] += _wanted(status, name.member)
    reached = {name: known[name] for name in wanted if name in known}
    answers = dict(observe(reached, {name: wanted[name] for name in reached}, timeout=timeout, watch=watch))
    unreached = {name: ObservedMember(unreached=UNKNOWN) for name in wanted if name not in known}
    return tuple(_answered(status, {**answers, **unreached}) for status in found)


def _decided(status: Status) -> Iterator[MemberName]:
    """Yield the members about which the last update has decided."""
    decisions = status.last.record.decisions if status.last else {}
    return (MemberName(status.plan.options.fleet, cluster) for cluster in decisions)


def _wanted(status: Status, cluster: str) -> Iterator[Wanted]:
    assert status.last
    delivery, manager = status.last.deliveries[cluster], status.plan.manager
    # What is compared only is asked for as the report of an update does: as it is, without the marks of a delivery.
    objects = delivery.objects if delivery.mode.reports else status.plan.emitted(status.last, cluster)
    for data in objects:
        yield Wanted(data, mode=delivery.mode, manager=manager, causes=not delivery.mode.reports)


def _answered(status: Status, answers: Mapping[MemberName, ObservedMember]) -> Status:
    """Return a status with the answers of its members."""
    observed = dict(status.observed)
    for name in _decided(status):
        if name in answers:
            known, answer = observed[name.member], answers[name]
            objects = {key: _together(one, answer.objects.get(key)) for key, one in known.objects.items()}
            observed[name.member] = ObservedMember(objects, answer.unreached)
    return attrs.evolve(status, observed=observed)


def _together(known: ObservedObject, live: ObservedObject | None) -> ObservedObject:
    """Return what is known of an object: what the member says now, and what became of it in the last update."""
    if live is None:
        return known
    if live.compared:
        return live
    missing = any(one.path == "/" for one in live.differences)
    if live.error and not (live.applied or live.differences):
        return attrs.evolve(known, causes=(*known.causes, live.error))  # the member does not let it be read
    if known.applied == "Applied":
        if missing:
            return attrs.evolve(live, applied="", available="", differences=())
        return attrs.evolve(live, applied="Applied", available=live.available or known.available, error="")
    if live.error:
        return attrs.evolve(live, applied="ManifestApplyFailed")
    if not live.differences:
        return attrs.evolve(live, applied="Applied")
    accepted = (_ACCEPTED,) if known.error else ()
    return attrs.evolve(known, causes=(*known.causes, *accepted), generation=live.generation, status=live.status)
