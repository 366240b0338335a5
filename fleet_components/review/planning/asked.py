"""Statuses and plans with what the members themselves say, asked beside what the stack knows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from fleet_components.hub.listing import Listing
from fleet_components.live.asked_objects import WantedObject, observe
from fleet_components.live.at_once import at_once
from fleet_components.live.connection import ask_cluster
from fleet_components.live.hub import HUB, ask_hub
from fleet_components.live.kubeconfig import read_kubeconfig, read_kubeconfig_file
from fleet_components.model.message import Message
from fleet_components.model.observed import ObservedMember, ObservedObject
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count
from fleet_components.model.watch import Watch, unwatched
from fleet_components.plan import names
from fleet_components.plan.apply_mode import OVERWRITES
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.lost import other_cluster, warn_of_silent
from fleet_components.plan.own_outputs import LOST
from fleet_components.plan.state import ENCRYPTED, StackState
from fleet_components.review.planning.kubeconfigs import UNKNOWN, MemberName, kubeconfigs
from fleet_components.review.planning.statuses import SubjectStatus
from fleet_components.review.planning.survey import Survey

_AT_ONCE = 16
_ACCEPTED = "its API server would take it now"


def asked(
    found: Sequence[SubjectStatus],
    state: StackState,
    given: Mapping[str, Path],
    members: Collection[str],
    timeout: float,
    watch: Watch = unwatched,
) -> tuple[SubjectStatus, ...]:
    """Return statuses with what members say of every object that was, or was to be, delivered to
    them.

    Args:
        found: the statuses as the stack knows them.
        state: the state, which has the kubeconfigs of the members.
        given: the files of kubeconfigs that count instead, by ``MEMBER`` or ``FLEET/MEMBER``.
        members: the members to ask; all of them if empty.
        timeout: how long a member has, in seconds.
        watch: receives how many have answered.

    Raises:
        FleetError: a given kubeconfig cannot be read, or there is no such member.
    """
    known = kubeconfigs(state, given, (name for status in found for name in _decided(status)))
    wanted: dict[MemberName, list[WantedObject]] = defaultdict(list)
    for status in found:
        for name in _decided(status):
            if name.member in members or not members:
                wanted[name] += _wanted(status, name.member)
    reached = {name: known[name] for name in wanted if name in known}
    answers = dict(
        observe(reached, {name: wanted[name] for name in reached}, timeout=timeout, watch=watch)
    )
    unreached = {name: ObservedMember(unreached=UNKNOWN) for name in wanted if name not in known}
    return tuple(_answered(status, {**answers, **unreached}) for status in found)


def answering(
    found: Survey,
    state: StackState,
    given: Mapping[str, Path],
    timeout: float,
    watch: Watch = unwatched,
) -> Survey:
    """Return plans that say which members do not answer, and which are other clusters than before.

    Args:
        found: the plans.
        state: the state that they start from, which has the kubeconfigs of the members.
        given: the files of kubeconfigs that count instead, by ``MEMBER`` or ``FLEET/MEMBER``.
        timeout: how long a member has, in seconds.
        watch: receives how many members are asked.

    Raises:
        FleetError: a given kubeconfig cannot be read, or there is no such member.
    """
    members = (
        MemberName(plan.options.fleet, name) for plan in found.plans for name in _reached(plan)
    )
    known = kubeconfigs(state, given, members)
    uids: dict[MemberName, str | None] = {}

    def ask(name: MemberName, kubeconfig: str) -> None:
        uids[name] = ask_cluster(kubeconfig, timeout=timeout).uid

    with watch(f"asking {count(len(known), 'member')}"):
        list(at_once((partial(ask, *each) for each in known.items()), _AT_ONCE))
    return attrs.evolve(found, plans=tuple(_as_answered(plan, uids) for plan in found.plans))


def _as_answered(plan: FleetPlan, uids: Mapping[MemberName, str | None]) -> FleetPlan:
    """Return a plan with what follows from the uids of its members; the uid of a silent one is
    None.
    """
    named = {name: MemberName(plan.options.fleet, name) for name in _reached(plan)}
    here = {name: uids[member] for name, member in named.items() if member in uids}
    refused = []
    # A member without a past cannot be another cluster than before.
    for name in here.keys() & plan.past.members.keys():
        old, new = {"uid": plan.past.members[name].uid}, {"member": name, "uid": here[name]}
        refused.append(other_cluster(old, new, plan.options.confirm))
    # Only members that get something: of others nothing has to be known.
    unknown = [name for name in plan.sent_to if name not in here]
    unasked = [
        Problem(Message("kubeconfig-unknown", "{reason}", reason=UNKNOWN), subject=f"member {name}")
        for name in unknown
    ]
    silent = warn_of_silent(plan, [name for name, uid in here.items() if uid is None])
    return attrs.evolve(
        plan,
        warnings=(*plan.warnings, *silent, *unasked),
        refused=(*plan.refused, *sorted(filter(None, refused), key=str)),
    )


def _reached(plan: FleetPlan) -> list[str]:
    """Return the members that a plan may send something to; nothing is sent to lost ones."""
    return [name for name, state in plan.members.items() if state != LOST]


def _decided(status: SubjectStatus) -> Iterator[MemberName]:
    """Yield the members about which the last update has decided, and those that have its
    objects.

    What a hub carries out is only forecast, and no member has objects of the stack for it.
    """
    last = status.last
    decisions = {} if last is None or last.hub else last.record.decisions
    standing = (cluster for cluster, here in status.observed.items() if here.objects)
    clusters = dict.fromkeys((*decisions, *standing))
    return (MemberName(status.plan.options.fleet, cluster) for cluster in clusters)


def _wanted(status: SubjectStatus, cluster: str) -> Iterator[WantedObject]:
    # Without a last decision nothing is observed, and _decided yields no member.
    assert status.last
    manager = status.plan.manager
    known = status.observed.get(cluster, ObservedMember())
    for observed in known.objects.values():
        if observed.leaving:
            yield WantedObject(_named(observed), mode=OVERWRITES, manager=manager, leaving=True)
    delivery = status.last.deliveries.get(cluster)
    if delivery is None:
        return
    # What is compared only is asked for as the report of an update does: as it is, without the
    # marks of a delivery.
    objects = (
        delivery.objects if delivery.mode.reports else status.plan.emitted(status.last, cluster)
    )
    for data in objects:
        yield WantedObject(
            data, mode=delivery.mode, manager=manager, causes=not delivery.mode.reports
        )


def _named(observed_object: ObservedObject) -> Mapping[str, Any]:
    """Return the version and the name of an object, in wire form."""
    metadata = {"name": observed_object.key.name, "namespace": observed_object.key.namespace}
    return {
        "apiVersion": observed_object.api_version,
        "kind": observed_object.key.kind,
        "metadata": metadata,
    }


def _answered(status: SubjectStatus, answers: Mapping[MemberName, ObservedMember]) -> SubjectStatus:
    """Return a status with the answers of its members."""
    observed = dict(status.observed)
    for name in _decided(status):
        if name in answers:
            known, answer = observed[name.member], answers[name]
            objects = {
                key: _together(data, answer.objects.get(key)) for key, data in known.objects.items()
            }
            observed[name.member] = ObservedMember(objects, answer.unreached)
    return attrs.evolve(status, observed=observed)


def _together(known: ObservedObject, live: ObservedObject | None) -> ObservedObject:
    """Return what is known of an object: what the member says now, and what became of it in the
    last update.
    """
    if live is None:
        return known
    if live.leaving:
        return attrs.evolve(known, causes=live.causes or known.causes, there=live.there)
    if live.compared:
        return live
    # The path "/" stands for the whole object.
    missing = any(difference.path == "/" for difference in live.differences)
    if live.error and not (live.applied or live.differences):
        # The member does not let it be read.
        return attrs.evolve(known, causes=(*known.causes, live.error))
    # What the update has written is applied, whatever somebody has changed since: that is drift.
    if known.applied == "Applied":
        if missing:
            return attrs.evolve(live, applied="", available="", differences=(), absent=True)
        return attrs.evolve(
            live, applied="Applied", available=live.available or known.available, error=""
        )
    if live.error:
        return attrs.evolve(live, applied="ManifestApplyFailed")
    if not live.differences:
        return attrs.evolve(live, applied="Applied")
    accepted = (_ACCEPTED,) if known.error else ()
    return attrs.evolve(
        known, causes=(*known.causes, *accepted), generation=live.generation, status=live.status
    )


# The answers of a hub for a status, with a given kubeconfig or with the one in the state.


def hub_asked(
    state: StackState, given: Path | None, timeout: float, watch: Watch = unwatched
) -> Listing | None:
    """Return the answers of a hub; None if none is given, and the stack has none whose kubeconfig
    can be read.

    Args:
        state: the state after the last update.
        given: the file of a kubeconfig; None for that of the stack.
        timeout: how long the hub has, in seconds.
        watch: receives how many lists have come.

    Raises:
        FleetError: the kubeconfig cannot be read, or the hub does not answer.
    """
    text = hub_kubeconfig(state, given)
    return ask_hub(text, timeout=timeout, watch=watch) if text else None


def hub_kubeconfig(state: StackState, given: Path | None) -> str:
    """Return the text of a hub's kubeconfig; empty if none is given, and the state has none that
    can be read.

    Args:
        state: the state after the last update.
        given: the file of a kubeconfig; None for that of the stack.

    Raises:
        FleetError: it cannot be read.
    """
    try:
        if given:
            return read_kubeconfig_file(given, "hub")
        found = (
            resource
            for resource in state.resources.values()
            if resource.type == names.PROVIDER and names.is_hub(resource.name)
        )
        known = (stored.inputs.get("kubeconfig") for stored in found)
        return next(
            (read_kubeconfig(text, "hub") for text in known if text and text != ENCRYPTED), ""
        )
    except FleetError as error:
        raise FleetError(
            attrs.evolve(problem, subject=HUB, hint="--hub KUBECONFIG")
            for problem in error.problems
        ) from None
