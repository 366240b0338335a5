"""One observation: what the hub tells, and what its members tell besides or in its stead."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import attrs

from fleet_components.hub.listing import Object, System
from fleet_components.hub.members.karmada import karmada_cluster
from fleet_components.hub.members.kubefleet import member_cluster
from fleet_components.hub.observation import Observation
from fleet_components.live.members import ask_members
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few, nearest
from fleet_components.model.watch import Watch, unwatched

_COMPUTE: Mapping[System, Callable[..., Object]] = {
    System.KUBEFLEET: member_cluster,
    System.KARMADA: karmada_cluster,
}


def with_members(
    observation: Observation, kubeconfigs: Mapping[str, str], *, timeout: float = 10.0, watch: Watch = unwatched
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
    known = {str(one["metadata"]["name"]): one for one in observation.members}
    if problems := [_unknown(name, known) for name in sorted(kubeconfigs.keys() - known.keys())]:
        raise FleetError(problems)
    asked = ask_members(kubeconfigs, timeout=timeout, watch=watch)
    compute = _COMPUTE[observation.system]
    members = tuple(compute(name, asked[name].facts, one) if name in asked else one for name, one in known.items())
    silent = {name: one.reason for name, one in asked.items() if one.reason}
    return attrs.evolve(observation, members=members, silent={**observation.silent, **silent})


def members_alone(
    system: System,
    kubeconfigs: Mapping[str, str],
    recorded: Collection[str] = (),
    *,
    timeout: float = 10.0,
    watch: Watch = unwatched,
) -> Observation:
    """Return an observation of clusters that no hub has, at the time of the clock that is furthest on.

    A member that does not answer is silent. It is left out where there is an old record of it, which counts, and
    otherwise declared: nothing is known but its name.

    Args:
        system: the system whose members they are to be.
        kubeconfigs: the texts of kubeconfigs, by name of the member.
        recorded: the members of which there is a record.
        timeout: limit for each member, in seconds.
        watch: is told how many have answered.

    Raises:
        FleetError: none answers.
    """
    asked = ask_members(kubeconfigs, timeout=timeout, watch=watch)
    times = [one.time for one in asked.values() if one.time]
    if not times:
        raise FleetError(Problem(one.reason, subject=f"member {name}") for name, one in asked.items())
    members = tuple(
        _COMPUTE[system](name, one.facts)
        for name, one in asked.items()
        if one.facts is not None or name not in recorded
    )
    silent = {name: one.reason for name, one in asked.items() if one.reason}
    return Observation(system=system, as_of=max(times), members=members, silent=silent)


def _unknown(name: str, known: Mapping[str, Object]) -> Problem:
    meant = nearest(name, known)
    hint = f"did you mean {meant}?" if meant else f"there is: {few(sorted(known)) or 'none'}"
    what = f'the hub has no member "{name}"; --members NAME=KUBECONFIG[:CONTEXT] names it'
    return Problem(what, hint=hint)
