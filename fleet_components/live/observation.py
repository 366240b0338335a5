"""One observation: what the hub reports, and what its members report in addition or instead."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial

import attrs

from fleet_components.hub.cluster_facts import ClusterFacts
from fleet_components.hub.listing import Object, Query, ServedResource
from fleet_components.hub.observation import UNASKED, HubObservation
from fleet_components.live.at_once import at_once
from fleet_components.live.failures import NOT_KUBERNETES
from fleet_components.live.getting import Getter, UnansweredError, Unreachable, getter
from fleet_components.live.kubeconfig import endpoint_of
from fleet_components.live.lists import kinds_of, objects_of
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count, few, nearest
from fleet_components.model.watch import Watch, unwatched
from fleet_components.systems.framework import System

_UNASKED = (
    f"{UNASKED}: no --members names it any more; remove its file below members/ if it is gone"
)
_UNREADABLE = "cannot be observed: its nodes and pods are not as Kubernetes has them"


def with_members(
    observation: HubObservation,
    kubeconfigs: Mapping[str, str],
    *,
    timeout: float = 10.0,
    watch: Watch = unwatched,
) -> HubObservation:
    """Return an observation of a hub with what some of its members say of themselves, which counts.

    A member that does not answer keeps what the hub has of it, and is silent.

    Args:
        observation: the observation of the hub.
        kubeconfigs: the texts of kubeconfigs, by name of the member.
        timeout: limit for each member, in seconds.
        watch: reports how many have answered.

    Raises:
        FleetError: the hub has no member of a name.
    """
    known = {str(member["metadata"]["name"]): member for member in observation.members}
    problems = [_unknown(name, known) for name in sorted(kubeconfigs.keys() - known.keys())]
    if problems:
        raise FleetError(problems)
    asked = ask_members(kubeconfigs, timeout=timeout, watch=watch)
    described = {
        name: _described(observation.system, name, asked[name], data)
        for name, data in known.items()
        if name in asked
    }
    members = tuple(
        described[name].member if name in described else data for name, data in known.items()
    )
    silent = {name: computed.reason for name, computed in described.items() if computed.reason}
    return attrs.evolve(observation, members=members, silent={**observation.silent, **silent})


def members_alone(
    system: System,
    kubeconfigs: Mapping[str, str],
    recorded: Collection[str] = (),
    unasked: Collection[str] = (),
    *,
    timeout: float = 10.0,
    watch: Watch = unwatched,
) -> HubObservation:
    """Return an observation of clusters that no hub has, at the time of the clock that is furthest
    on.

    A member that does not answer is silent. It is left out where there is an old record of it,
    which counts, and otherwise declared: nothing is known but its name.

    Args:
        system: the system whose members they are to be.
        kubeconfigs: the texts of kubeconfigs, by name of the member.
        recorded: the members of which there is a record.
        unasked: those that an earlier observation has asked, and that are not named now; they are
            silent.
        timeout: limit for each member, in seconds.
        watch: reports how many have answered.

    Raises:
        FleetError: none answers.
    """
    asked = ask_members(kubeconfigs, timeout=timeout, watch=watch)
    times = [member.time for member in asked.values() if member.time]
    if not times:
        raise FleetError(
            Problem(
                Message("member-silent", "{reason}", reason=member.reason), subject=f"member {name}"
            )
            for name, member in asked.items()
        )
    described = {name: _described(system, name, member) for name, member in asked.items()}
    members = tuple(
        computed.member
        for name, computed in described.items()
        if not (computed.reason and name in recorded)
    )
    silent = {name: computed.reason for name, computed in described.items() if computed.reason}
    silent |= dict.fromkeys(unasked, _UNASKED)
    return HubObservation(
        system=system, as_of=max(times), members=members, silent=silent, hub=False
    )


@attrs.frozen
class _Computed:
    """A member as it is after it was asked, and why that does not count; empty if it does."""

    member: Object
    reason: str = ""


def _described(
    system: System, name: str, asked: AskedMember, old: Object | None = None
) -> _Computed:
    # There may be both: facts from a server without a clock do not count.
    if asked.facts is None or asked.reason:
        return _Computed(system.member(name, None, old), asked.reason)
    try:
        return _Computed(system.member(name, asked.facts, old))
    # One member with odd nodes or pods must not end the observation of all others.
    except (AttributeError, KeyError, TypeError, ValueError):
        return _Computed(system.member(name, None, old), _UNREADABLE)


def _unknown(name: str, known: Mapping[str, Object]) -> Problem:
    meant = nearest(name, known)
    hint = f"did you mean {meant}?" if meant else f"there is: {few(sorted(known)) or 'none'}"
    what = Message(
        "hub-no-member-members",
        'the hub has no member "{name}"; --members NAME=KUBECONFIG[:CONTEXT] names it',
        name=name,
    )
    return Problem(what, hint=hint)


# Asks plain clusters for what an agent would report to a hub: nodes, pods, version and APIs.
# Nothing is written.


_AT_ONCE = 32
_NO_TIME = "does not tell the time in its answers, as API servers do"
_NODES = Query("v1", "Node"), ServedResource("v1", "Node", "nodes", False)
_PODS = Query("v1", "Pod"), ServedResource("v1", "Pod", "pods", True)


@attrs.frozen
class AskedMember:
    """A cluster that was asked.

    Attributes:
        facts: the facts; None if it has not answered for all of them.
        reason: why not, after the name of the member; empty if it has.
        time: the time of its own clock at its first answer; None if it has not answered.
    """

    facts: ClusterFacts | None = None
    reason: str = ""
    time: datetime | None = None


def ask_members(
    kubeconfigs: Mapping[str, str], *, timeout: float = 10.0, watch: Watch = unwatched
) -> Mapping[str, AskedMember]:
    """Ask clusters for their nodes, pods, version and kinds, many of them at once.

    Args:
        kubeconfigs: the texts of their kubeconfigs, by name of the member.
        timeout: limit for each of them, in seconds.
        watch: reports how many have answered.
    """
    found: dict[str, AskedMember] = {}

    def ask(name: str, kubeconfig: str) -> None:
        found[name] = _ask(kubeconfig, timeout)

    done = at_once((partial(ask, name, text) for name, text in kubeconfigs.items()), _AT_ONCE)
    for number in range(len(kubeconfigs)):
        # Work begins in this order, so that the first ones without an answer are under way.
        begun = [name for name in kubeconfigs if name not in found][:_AT_ONCE]
        answers = (
            f"asking {count(len(kubeconfigs), 'member')}: {number} answered, waiting for"
            f" {few(begun, 3)}"
        )
        with watch(answers):
            next(done)
    # By name, not in the order of the answers.
    return dict(sorted(found.items()))


def _ask(kubeconfig: str, timeout: float) -> AskedMember:
    try:
        with getter(kubeconfig, timeout) as cluster:
            return AskedMember(
                # First, since the first answer sets ``date``.
                cluster.within(lambda: _facts(cluster)),
                "" if cluster.date else _NO_TIME,
                cluster.date,
            )
    except Unreachable as error:
        return AskedMember(reason=_silent(kubeconfig, f"cannot be asked: {error}", error.hint))
    except UnansweredError as error:
        return AskedMember(
            reason=_silent(kubeconfig, f"cannot be observed: a request {error.what}", error.hint)
        )


def _silent(kubeconfig: str, why: str, hint: str) -> str:
    more = "; ".join(filter(None, (endpoint_of(kubeconfig), hint)))
    return f"{why} ({more})" if more else why


def _facts(cluster: Getter) -> ClusterFacts:
    version = cluster.get("/version")
    nodes, pods = objects_of(cluster, *_NODES), objects_of(cluster, *_PODS)
    # An agent that cannot read a quantity reports nothing; here the member is named.
    with suppress(AttributeError, TypeError, ValueError):
        return ClusterFacts(
            nodes, map(_read_of, pods), str(version.get("gitVersion") or ""), kinds_of(cluster)
        )
    raise UnansweredError(NOT_KUBERNETES)


def _read_of(pod: Object) -> Object:
    """Return what agents read of a pod: the pods of all members are kept until the last one has
    answered.
    """
    metadata, spec = pod["metadata"], pod.get("spec") or {}
    containers = {
        field: [{"resources": item.get("resources")} for item in spec.get(field) or ()]
        for field in ("containers", "initContainers")
    }
    return {
        "apiVersion": pod["apiVersion"],
        "kind": pod["kind"],
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "spec": {"nodeName": spec.get("nodeName"), "overhead": spec.get("overhead"), **containers},
        "status": {"phase": (pod.get("status") or {}).get("phase")},
    }
