"""Compares a member with the one that it lost its place to, or that comes next: by how many points,
and of what.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import has
from fleet_components.model.text import count
from fleet_components.scheduler.cycle import (
    Proposals,
    ask,
    best_first,
    counts,
    passing_changes,
    run_filters,
    run_scores,
    scoring_ladders,
    stopping_ladders,
)
from fleet_components.scheduler.edit import ADD, DROP, POLICY, SET, FieldEdit, Ladder
from fleet_components.scheduler.framework import AFFINITY, Plugin, Profile
from fleet_components.systems.kubefleet.model.memory import PlacementMemory
from fleet_components.systems.kubefleet.model.placement import (
    PICK_ALL,
    PICK_FIXED,
    PICK_N,
    PlacementPolicy,
)
from fleet_components.systems.kubefleet.scheduler.cluster_eligibility import SPREAD, ineligibility
from fleet_components.systems.kubefleet.scheduler.profile import PROFILE
from fleet_components.systems.kubefleet.scheduler.schedule import without_number
from fleet_components.systems.kubefleet.scheduler.state import KubeFleetState


@attrs.frozen
class FieldComparison:
    """Scores of a member beside those of another.

    Attributes:
        cluster: the member.
        other: the other one.
        part: the part of the score that decides; empty if all parts are equal, and the name
            decides.
        points: how many points more than the other the member has in that part.
        shares: the points by what they are for, as far as they differ.
        chosen: whether the member is picked, and the other comes next; else the other has the
            place.
        before: whether the other was picked in an earlier run.
    """

    cluster: str
    other: str
    part: str
    points: int
    shares: Mapping[str, int]
    chosen: bool
    before: bool = False

    @property
    def words(self) -> str:
        """The comparison as a sentence: ``lost to eu-west-2 by 3 points of less cost``."""
        if not self.part:
            tie = "as many points, and the last name goes first"
            return (
                f"{self.other} comes next: {tie}" if self.chosen else f"lost to {self.other}: {tie}"
            )
        by = count(abs(self.points), "point") + self._of()
        if self.chosen:
            return f"{self.other} comes next, behind by {by}"
        return (
            f"is {by} behind {self.other}, which was picked before"
            if self.before
            else f"lost to {self.other} by {by}"
        )

    def _of(self) -> str:
        if self.part == SPREAD:
            return " of topology spread"
        if self.part != AFFINITY:
            return " for being picked before the policy changed"
        if len(self.shares) == 1:
            return f" of {next(iter(self.shares))}"
        sides = ", ".join(
            f"{abs(points)} {'ahead' if points > 0 else 'behind'} in {name}"
            for name, points in self.shares.items()
        )
        return f" ({sides})"


def compare(
    inventory: Inventory,
    policy: PlacementPolicy | None,
    memory: PlacementMemory,
    picked: Collection[str],
    cluster: str,
    *,
    namespace: str = "",
    plugins: Iterable[Plugin] = (),
) -> FieldComparison | None:
    """Return the comparison of a member that passes every filter; None where no points decide.

    Args:
        inventory: the fleet that was scheduled on.
        policy: the policy that was scheduled.
        memory: what was remembered before.
        picked: the members that are picked, in the order in which they were.
        cluster: the member.
        namespace: the namespace of a ResourcePlacement.
        plugins: the plug-ins that decided with KubeFleet's.
    """
    position = inventory.position(cluster)
    if policy is None or policy.placement_type != PICK_N or position is None or not picked:
        return None
    profile, current = (
        PROFILE.extended(plugins),
        without_number(policy) == without_number(memory.policy),
    )
    # A new policy makes the earlier picks obsolete, which gives them points.
    obsolete = 0 if current else inventory.mask_of_names(memory.bindings)
    state = KubeFleetState(inventory, policy, namespace, inventory.mask_of_names(picked), obsolete)
    if cluster in picked:
        return _next_comparison(profile, state, position)
    found = _holder(
        profile, state, [name for name in picked if inventory.position(name) is not None], position
    )
    before = found is not None and current and found.other in memory.bindings
    return attrs.evolve(found, before=before) if found else None


def _next_comparison(
    profile: Profile, state: KubeFleetState, position: int
) -> FieldComparison | None:
    """Compare a picked member with the best of the others, if it would get its place again."""
    # Without the member, so that it competes for its own place.
    free = attrs.evolve(state, present=state.present & ~(1 << position))
    passed = run_filters(profile, free, state.inventory.everything).passed & ~free.present
    ranked = (
        [at for at, _ in best_first(run_scores(profile, free, passed), passed)] if passed else []
    )
    # It would not win its place again, or there is no other member to compare it with.
    if ranked[:1] != [position] or len(ranked) == 1:
        return None
    return _compared(profile, free, position, ranked[1], chosen=True)


def _holder(
    profile: Profile, state: KubeFleetState, picked: list[str], position: int
) -> FieldComparison | None:
    """Compare a member with the one that was picked last, if that comes before it."""
    # With constraints every pick changes the scores, so only the last one can be compared.
    last = picked[-1:] if state.policy.topology_spread_constraints else picked
    places = state.inventory.mask_of_names(last)
    free = attrs.evolve(state, present=state.present & ~places)
    asked = places | 1 << position
    passed = run_filters(profile, free, asked).passed
    # A filter decides between them, and no points do.
    if not masks.has(passed, position) or not passed & places:
        return None
    ranked = [at for at, _ in best_first(run_scores(profile, free, passed), passed)]
    # It is ahead of a member that is picked, so points do not explain why it has no place.
    if ranked[-1] != position:
        return None
    # At least two passed: the member, and one of those that are picked.
    return _compared(profile, free, position, ranked[-2], chosen=False)


def _compared(
    profile: Profile, state: KubeFleetState, position: int, other: int, *, chosen: bool
) -> FieldComparison:
    names = state.inventory.names
    # The parts come in the order in which they count: the first that differs decides.
    for part in profile.parts:
        mine, theirs = _shares(profile, state, position, part), _shares(profile, state, other, part)
        points = sum(mine.values()) - sum(theirs.values())
        if points:
            found = {name: mine.get(name, 0) - theirs.get(name, 0) for name in {**mine, **theirs}}
            differing = {name: number for name, number in found.items() if number}
            return FieldComparison(names[position], names[other], part, points, differing, chosen)
    return FieldComparison(names[position], names[other], "", 0, {}, chosen)


def _shares(profile: Profile, state: KubeFleetState, position: int, part: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for plugin in profile.scores:
        if plugin.part == part and counts(plugin, state):
            for name, points in ask(plugin, lambda p: p.shares(state, position)).items():
                found[name] = found.get(name, 0) + points
    return found


# Changes that might let a member be picked by a placement, or let it go.


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
    profile, state = (
        PROFILE.extended(plugins),
        KubeFleetState(inventory, policy, namespace, present=present),
    )
    return (
        _losing(profile, state, position)
        if has(present, position)
        else _winning(profile, state, position)
    )


def _fixed(
    inventory: Inventory, policy: PlacementPolicy, position: int, *, needs_names: bool
) -> Proposals:
    name = inventory.names[position]
    if name in policy.cluster_names:
        stopped = ineligibility(inventory.clusters[position], inventory.as_of)
        if needs_names and set(policy.cluster_names) == {name}:
            return Proposals(stopped=stopped)
        drop = FieldEdit(POLICY, DROP, _NAMES, name, f"without {name} in clusterNames")
        # One ladder of one step, which is one edit.
        return Proposals(losing=(((drop,),),), stopped=stopped)
    return Proposals(
        passing=((FieldEdit(POLICY, ADD, _NAMES, name, f"with {name} in clusterNames"),),)
    )


def _winning(profile: Profile, state: KubeFleetState, position: int) -> Proposals:
    changes, stopped = passing_changes(profile, state, position)
    if state.policy.placement_type != PICK_N:
        return Proposals(changes, stopped=stopped)
    wanted, most = state.policy.number_of_clusters or 0, len(state.inventory)
    boosts = (
        *scoring_ladders(profile, state, position, more=True),
        _numbers(range(wanted + 1, most + 1)),
    )
    return Proposals(changes, tuple(ladder for ladder in boosts if ladder), stopped=stopped)


def _losing(profile: Profile, state: KubeFleetState, position: int) -> Proposals:
    ladders = [*stopping_ladders(profile, state, position)]
    if state.policy.placement_type == PICK_N:
        # Downwards, since each step of a ladder goes further than the one before.
        numbers = _numbers(reversed(range(1, state.policy.number_of_clusters or 0)))
        ladders = [numbers, *scoring_ladders(profile, state, position, more=False), *ladders]
    return Proposals(losing=tuple(filter(None, ladders)))


def _numbers(numbers: Iterable[int]) -> Ladder:
    return tuple(
        (
            FieldEdit(
                POLICY,
                SET,
                ("spec", "policy", "numberOfClusters"),
                number,
                f"with numberOfClusters {number}",
            ),
        )
        for number in numbers
    )
