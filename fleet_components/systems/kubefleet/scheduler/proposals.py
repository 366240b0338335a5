"""Changes that might let a member be picked by a placement, or let it go."""

from __future__ import annotations

from collections.abc import Iterable

from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import has
from fleet_components.scheduler.edit import ADD, DROP, POLICY, SET, Edit, Ladder
from fleet_components.scheduler.framework import Plugin, Profile
from fleet_components.scheduler.proposals import Proposals, passing_changes, scoring_ladders, stopping_ladders
from fleet_components.systems.kubefleet.model.placement import PICK_ALL, PICK_FIXED, PICK_N, PlacementPolicy
from fleet_components.systems.kubefleet.scheduler.cluster_eligibility import ineligibility
from fleet_components.systems.kubefleet.scheduler.profile import PROFILE
from fleet_components.systems.kubefleet.scheduler.state import KubeFleetState

_NAMES = ("spec", "policy", "clusterNames")


def proposals(
    inventory: Inventory,
    policy: PlacementPolicy | None,
    picked: Iterable[str],
    cluster: str,
    *,
    namespace: str = "",
    plugins: Iterable[Plugin] = (),
    needs_names: bool = False,
) -> Proposals:
    """Return what might change the outcome for one member.

    Args:
        inventory: the fleet that was scheduled on.
        policy: the policy that was scheduled.
        picked: the members that are picked.
        cluster: the member.
        namespace: the namespace of a ResourcePlacement.
        plugins: the plug-ins that decided with KubeFleet's.
        needs_names: True if PickFixed without names is refused.
    """
    position, policy = inventory.position(cluster), policy or PlacementPolicy(PICK_ALL)
    if position is None:
        return Proposals(stopped="it is no longer a member of the fleet")
    present = inventory.mask_of_names(picked)
    if policy.placement_type == PICK_FIXED:
        return _fixed(inventory, policy, position, needs_names=needs_names)
    profile, state = PROFILE.extended(plugins), KubeFleetState(inventory, policy, namespace, present=present)
    return _losing(profile, state, position) if has(present, position) else _winning(profile, state, position)


def _fixed(inventory: Inventory, policy: PlacementPolicy, position: int, *, needs_names: bool) -> Proposals:
    name = inventory.names[position]
    if name in policy.cluster_names:
        stopped = ineligibility(inventory.clusters[position], inventory.as_of)
        if needs_names and set(policy.cluster_names) == {name}:
            return Proposals(stopped=stopped)
        drop = Edit(POLICY, DROP, _NAMES, name, f"without {name} in clusterNames")
        return Proposals(losing=(((drop,),),), stopped=stopped)
    return Proposals(passing=((Edit(POLICY, ADD, _NAMES, name, f"with {name} in clusterNames"),),))


def _winning(profile: Profile, state: KubeFleetState, position: int) -> Proposals:
    changes, stopped = passing_changes(profile, state, position)
    if state.policy.placement_type != PICK_N:
        return Proposals(changes, stopped=stopped)
    wanted, most = state.policy.number_of_clusters or 0, len(state.inventory)
    boosts = (*scoring_ladders(profile, state, position, more=True), _numbers(range(wanted + 1, most + 1)))
    return Proposals(changes, tuple(ladder for ladder in boosts if ladder), stopped=stopped)


def _losing(profile: Profile, state: KubeFleetState, position: int) -> Proposals:
    ladders = [*stopping_ladders(profile, state, position)]
    if state.policy.placement_type == PICK_N:
        numbers = _numbers(reversed(range(1, state.policy.number_of_clusters or 0)))
        ladders = [numbers, *scoring_ladders(profile, state, position, more=False), *ladders]
    return Proposals(losing=tuple(filter(None, ladders)))


def _numbers(numbers: Iterable[int]) -> Ladder:
    return tuple(
        (Edit(POLICY, SET, ("spec", "policy", "numberOfClusters"), number, f"with numberOfClusters {number}"),)
        for number in numbers
    )
