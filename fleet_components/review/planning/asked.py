"""Statuses with what the members themselves say, asked beside what the stack knows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from fleet_components.content.guarded import UnreadableError
from fleet_components.content.regular_file import read_regular
from fleet_components.live.observe import Wanted, observe
from fleet_components.model.observed import ObservedMember, ObservedObject
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan import names
from fleet_components.plan.state import ENCRYPTED, StackState
from fleet_components.review.planning.statuses import Status

_UNKNOWN = (
    "nobody knows how to reach it: give --kubeconfig MEMBER=PATH, or a state with its secrets, as pulumi stack export "
    "--show-secrets prints it"
)
_ACCEPTED = "its API server would take it now"


def asked(
    found: Sequence[Status], state: StackState, given: Mapping[str, Path], members: Collection[str], timeout: float
) -> tuple[Status, ...]:
    """Return statuses with what members say of every object that was, or was to be, delivered to them.

    Args:
        found: the statuses as the stack knows them.
        state: the state, which has the kubeconfigs of the members.
        given: the files of kubeconfigs that count instead, by member.
        members: the members to ask; all of them if empty.
        timeout: how long a member has, in seconds.

    Raises:
        FleetError: a given kubeconfig cannot be read.
    """
    kubeconfigs = {**_stored(found, state), **_read(given)}
    wanted: dict[str, list[Wanted]] = defaultdict(list)
    for status in found:
        for cluster in _asked(status, members):
            wanted[cluster] += _wanted(status, cluster)
    reached = {name: kubeconfigs[name] for name in wanted if name in kubeconfigs}
    answers = dict(observe(reached, {name: wanted[name] for name in reached}, timeout=timeout))
    unknown = {name: ObservedMember(unreached=_UNKNOWN) for name in wanted if name not in kubeconfigs}
    return tuple(_answered(status, {**answers, **unknown}) for status in found)


def _asked(status: Status, members: Collection[str]) -> Iterator[str]:
    decisions = status.last.record.decisions if status.last else {}
    return (cluster for cluster in decisions if cluster in members or not members)


def _wanted(status: Status, cluster: str) -> Iterator[Wanted]:
    assert status.last
    mode, manager = status.last.deliveries[cluster].mode, status.plan.manager
    for data in status.plan.emitted(status.last, cluster):
        yield Wanted(data, mode=mode, manager=manager, causes=True)


def _answered(status: Status, answers: Mapping[str, ObservedMember]) -> Status:
    """Return a status with the answers of its members."""
    observed = dict(status.observed)
    for cluster in _asked(status, answers):
        known, answer = observed[cluster], answers[cluster]
        objects = {key: _together(one, answer.objects.get(key)) for key, one in known.objects.items()}
        observed[cluster] = ObservedMember(objects, answer.unreached)
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


def _stored(found: Iterable[Status], state: StackState) -> Mapping[str, str]:
    """Return the kubeconfigs with which the last update has reached the members."""
    kubeconfigs: dict[str, str] = {}
    fleets = dict.fromkeys(status.plan.options.fleet for status in found)
    for one in state.resources.values():
        text = one.inputs.get("kubeconfig") if one.type == names.PROVIDER else None
        fleet, _, member = one.name.partition("/")
        if isinstance(text, str) and text and text != ENCRYPTED and fleet in fleets:
            kubeconfigs.setdefault(member.partition("/")[0], text)
    return kubeconfigs


def _read(given: Mapping[str, Path]) -> Mapping[str, str]:
    kubeconfigs, problems = {}, []
    for member, path in given.items():
        try:
            kubeconfigs[member] = read_regular(path).decode()
        except UnreadableError as error:
            problems.append(error.problem(str(path)))
        except UnicodeDecodeError:
            problems.append(Problem("is not text", file=str(path)))
        except OSError as error:
            problems.append(Problem(f"cannot be read: {error.strerror}", file=str(path)))
    if problems:
        raise FleetError(problems)
    return kubeconfigs
