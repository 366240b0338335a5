"""One observation: what the hub tells, and what its members tell besides or in its stead."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import attrs

from fleet_components.hub.listing import Object, System
from fleet_components.hub.observation import UNASKED, Observation
from fleet_components.live.members import AskedMember, ask_members
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few, nearest
from fleet_components.model.watch import Watch, unwatched
from fleet_components.systems.karmada.hub.plain_members import karmada_cluster
from fleet_components.systems.kubefleet.hub.plain_members import member_cluster

_COMPUTE: Mapping[System, Callable[..., Object]] = {
    System.KUBEFLEET: member_cluster,
    System.KARMADA: karmada_cluster,
}
_UNASKED = f"{UNASKED}: no --members names it any more; remove its file below members/ if it is gone"
_UNREADABLE = "cannot be observed: its nodes and pods are not as Kubernetes has them"


def with_members(
    observation: Observation,
    kubeconfigs: Mapping[str, str],
    *,
    timeout: float = 10.0,
    watch: Watch = unwatched,
) -> Observation:
    """Return an observation of a hub with what some of its members say of themselves, which counts.

    A member that does not answer keeps what the hub has of it, and is silent.

    Args:
        observation: the observation of the hub.
        kubeconfigs: the texts of kubeconfigs, by name of the member.
        timeout: limit for each member, in seconds.
        watch: is told how many have answered.

    Raises:
        FleetError: the hub has no member of a name.
    """
    known = {str(member["metadata"]["name"]): member for member in observation.members}
    if problems := [_unknown(name, known) for name in sorted(kubeconfigs.keys() - known.keys())]:
        raise FleetError(problems)
    asked = ask_members(kubeconfigs, timeout=timeout, watch=watch)
    described = {
        name: _described(observation.system, name, asked[name], data) for name, data in known.items() if name in asked
    }
    members = tuple(described[name].member if name in described else data for name, data in known.items())
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
) -> Observation:
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
        watch: is told how many have answered.

    Raises:
        FleetError: none answers.
    """
    asked = ask_members(kubeconfigs, timeout=timeout, watch=watch)
    times = [member.time for member in asked.values() if member.time]
    if not times:
        raise FleetError(Problem(member.reason, subject=f"member {name}") for name, member in asked.items())
    described = {name: _described(system, name, member) for name, member in asked.items()}
    members = tuple(
        computed.member for name, computed in described.items() if not (computed.reason and name in recorded)
    )
    silent = {name: computed.reason for name, computed in described.items() if computed.reason}
    silent |= dict.fromkeys(unasked, _UNASKED)
    return Observation(system=system, as_of=max(times), members=members, silent=silent, hub=False)


@attrs.frozen
class _Computed:
    """A member as it is after it was asked, and why that does not count; empty if it does."""

    member: Object
    reason: str = ""


def _described(system: System, name: str, asked: AskedMember, old: Object | None = None) -> _Computed:
    compute = _COMPUTE[system]
    if asked.facts is None or asked.reason:
        return _Computed(compute(name, None, old), asked.reason)
    try:
        return _Computed(compute(name, asked.facts, old))
    except (AttributeError, KeyError, TypeError, ValueError):
        return _Computed(compute(name, None, old), _UNREADABLE)


def _unknown(name: str, known: Mapping[str, Object]) -> Problem:
    meant = nearest(name, known)
    hint = f"did you mean {meant}?" if meant else f"there is: {few(sorted(known)) or 'none'}"
    what = f'the hub has no member "{name}"; --members NAME=KUBECONFIG[:CONTEXT] names it'
    return Problem(what, hint=hint)
