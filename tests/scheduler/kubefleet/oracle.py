"""A second KubeFleet scheduler, member by member and without columns, to compare the real one with.

Written from the rules of KubeFleet v0.3.1 as they were measured; slow, plain, and with nothing shared with
``fleet_components.scheduler`` but the values that go in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import attrs

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.quantity import Quantity, parse_quantity
from fleet_components.model.typed import TRUSTED
from fleet_components.systems.kubefleet.model.placement import (
    ClusterSelectorTerm,
    PlacementPolicy,
    PreferredClusterSelector,
    PropertyRequirement,
    Toleration,
    TopologySpreadConstraint,
)

Score = tuple[int, int]
"""Spread, affinity."""


@attrs.define
class Bond:
    """A binding, changed in place. ``created`` is the order in which bindings came about."""

    state: str
    snapshot: int
    created: int
    score: Score | None
    former: str = ""


@attrs.define
class Oracle:
    """One placement over time."""

    namespace: str = ""
    snapshot: int = -1
    policy: PlacementPolicy | None = None
    bonds: dict[str, Bond] = attrs.field(factory=dict)
    decisions: list[tuple[str, bool, str]] = attrs.field(factory=list)
    fulfilled: bool | None = None
    members: dict[str, Cluster] = attrs.field(factory=dict)
    as_of: datetime | None = None

    def roll_out(self, how: str) -> None:
        for name, bond in list(self.bonds.items()):
            if bond.state == "Scheduled" and how in ("full", "bindOnly"):
                bond.state = "Bound"
            if bond.state == "Unscheduled" and how == "full":
                del self.bonds[name]

    def schedule(
        self, members: Iterable[Cluster], policy: PlacementPolicy, as_of: datetime | None
    ) -> None:
        self.members = {
            member.name: member for member in sorted(members, key=lambda member: member.name)
        }
        self.as_of = as_of
        if self.policy is None or blank(self.policy) != blank(policy):
            self.snapshot += 1
        self.policy = policy
        for name in self.live():
            if name not in self.members or self.members[name].leaving:
                self.give_up(name)
        {"PickAll": self.pick_all, "PickFixed": self.pick_fixed, "PickN": self.pick_n}[
            policy.placement_type
        ](policy)

    # Bindings

    def live(self) -> list[str]:
        return sorted(name for name, bond in self.bonds.items() if bond.state != "Unscheduled")

    def held(self, state: str) -> list[str]:
        return [
            n
            for n in self.live()
            if self.bonds[n].state == state and self.bonds[n].snapshot == self.snapshot
        ]

    def obsolete(self) -> list[str]:
        return [n for n in self.live() if self.bonds[n].snapshot != self.snapshot]

    def give_up(self, name: str) -> None:
        bond = self.bonds[name]
        bond.former, bond.state = bond.state, "Unscheduled"

    def bind(self, picks: Sequence[tuple[str, Score | None]]) -> list[str]:
        """Bind the picks and give up the other obsolete ones; the names in the order in which they are listed."""
        obsolete, chosen = self.obsolete(), dict(picks)
        unscheduled = sorted(
            name for name, bond in self.bonds.items() if bond.state == "Unscheduled"
        )
        created = [name for name, _ in picks if name not in self.bonds]
        again = [name for name in obsolete + unscheduled if name in chosen]
        for name in created:
            number = 1 + max((bond.created for bond in self.bonds.values()), default=-1)
            self.bonds[name] = Bond("Scheduled", self.snapshot, number, chosen[name])
        for name in again:
            bond = self.bonds[name]
            if bond.state == "Unscheduled":
                bond.state, bond.former = bond.former, ""
            bond.snapshot, bond.score = self.snapshot, chosen[name]
        for name in obsolete:
            if name not in chosen:
                self.give_up(name)
        return created + again

    # The three ways of picking

    def pick_all(self, policy: PlacementPolicy) -> None:
        present = self.held("Scheduled") + self.held("Bound")
        reasons = {name: self.reason(member, policy) for name, member in self.members.items()}
        passed = [name for name, reason in reasons.items() if not reason and name not in present]
        order = self.bind([(name, (0, 0)) for name in passed]) + present
        self.write(
            order, len(order), [], [(name, reason) for name, reason in reasons.items() if reason]
        )

    def pick_fixed(self, policy: PlacementPolicy) -> None:
        if not policy.cluster_names:
            return
        known = [name for name in policy.cluster_names if name in self.members]
        why = {name: ineligible(self.members[name], self.as_of) for name in known}
        valid = [name for name in known if not why[name]]
        present = self.held("Scheduled") + self.held("Bound")
        self.bind([(name, None) for name in valid if name not in present])
        # Obsolete ones that are valid were bound again, those that are not are given up.
        invalid = [name for name in known if why[name]]
        missing = [name for name in policy.cluster_names if name not in self.members]
        self.decisions = [(name, True, picked(name, None)) for name in valid]
        self.decisions += [
            (n, False, f'Cluster "{n}" is not eligible for resource placement yet: {why[n]}')
            for n in invalid
        ]
        self.decisions += [(n, False, f'Specified cluster "{n}" is not found') for n in missing]
        self.fulfilled = not invalid and not missing

    def pick_n(self, policy: PlacementPolicy) -> None:
        wanted = policy.number_of_clusters or 0
        while True:
            scheduled, bound, obsolete = self.held("Scheduled"), self.held("Bound"), self.obsolete()
            present = scheduled + bound
            if len(present) >= wanted:
                return self.trim(scheduled, bound, obsolete, wanted)
            reasons, ranked = self.rank(policy, present, obsolete)
            batch = 1 if policy.topology_spread_constraints else wanted - len(present)
            picks = ranked[:batch]
            order = self.bind(picks)
            if len(picks) == batch and batch < wanted - len(present):
                continue
            filtered = [(name, reason) for name, reason in reasons.items() if reason]
            return self.write(order + present, wanted, ranked[batch:], filtered)

    def trim(
        self, scheduled: list[str], bound: list[str], obsolete: list[str], wanted: int
    ) -> None:
        surplus = len(scheduled) + len(bound) - wanted
        if not surplus and not obsolete:
            return self.write(bound + scheduled, wanted, [], [])
        for name in obsolete:
            self.give_up(name)

        def worst_first(names: list[str]) -> list[str]:
            return sorted(names, key=lambda name: (self.bonds[name].score, name))

        if surplus > len(scheduled):
            gone, bound = scheduled, worst_first(bound)
            gone, bound, scheduled = (
                gone + bound[: surplus - len(gone)],
                bound[surplus - len(gone) :],
                [],
            )
        elif surplus == len(scheduled):
            gone, scheduled = scheduled, []
        else:
            scheduled = worst_first(scheduled) if surplus else scheduled
            gone, scheduled = scheduled[:surplus], scheduled[surplus:]
        for name in gone:
            self.give_up(name)
        return self.write(scheduled + bound, wanted, [], [])

    def rank(
        self, policy: PlacementPolicy, present: list[str], obsolete: list[str]
    ) -> tuple[dict[str, str], list[tuple[str, Score]]]:
        """Why members cannot be picked, by name; and those that can, the best first."""
        reasons, ranked = {}, []
        for name, member in self.members.items():
            reasons[name] = self.reason(member, policy)
            if reasons[name] or name in present:
                continue
            reasons[name] = self.violated(member, policy, present)
            if not reasons[name]:
                ranked.append(
                    (self.spread(member, policy, present), self.affinity(member, policy), name)
                )
        ranked.sort(key=lambda it: (it[0], it[1], it[2] in obsolete, it[2]), reverse=True)
        return reasons, [(name, (spread, affinity)) for spread, affinity, name in ranked]

    # Filters

    def reason(self, member: Cluster, policy: PlacementPolicy) -> str:
        if policy.required_terms and not any(
            matches(member, term) for term in policy.required_terms
        ):
            return "cluster does not match with any of the required cluster affinity terms"
        if why := ineligible(member, self.as_of):
            return why
        if self.namespace and member.namespaces_collected:
            if member.namespaces is None:
                return "cluster has no namespace information available"
            if self.namespace not in member.namespaces:
                return "target namespace does not exist on cluster"
        for taint in member.taints:
            if not any(tolerates(toleration, taint) for toleration in policy.tolerations):
                return f"taint &{{Key:{taint.key} Value:{taint.value} Effect:{taint.effect}}} cannot be tolerated"
        return ""

    def violated(self, member: Cluster, policy: PlacementPolicy, present: list[str]) -> str:
        for constraint in policy.topology_spread_constraints:
            violates, _ = self.skew(member, constraint, present)
            if constraint.when_unsatisfiable == "DoNotSchedule" and violates:
                key, skew = constraint.topology_key, constraint.max_skew
                return (
                    f'violated doNotSchedule topology spread constraint "{key}" (max skew {skew})'
                )
        return ""

    # Scores

    def spread(self, member: Cluster, policy: PlacementPolicy, present: list[str]) -> int:
        score = 0
        for constraint in policy.topology_spread_constraints:
            violates, change = self.skew(member, constraint, present)
            score -= 1000 if violates else change
        return score

    def skew(
        self, member: Cluster, constraint: TopologySpreadConstraint, present: list[str]
    ) -> tuple[bool, int]:
        """Whether one more pick there violates the constraint, and by how much it changes the skew."""
        key = constraint.topology_key
        if key not in member.labels:
            return False, 0
        counts = {m.labels[key]: 0 for m in self.members.values() if key in m.labels}
        for name in present:
            if key in self.members[name].labels:
                counts[self.members[name].labels[key]] += 1
        low, *others = sorted(counts.values())
        high, second = (others[-1], others[0]) if others else (low, low)
        here = counts[member.labels[key]]
        if high == low:
            change = 1
        elif here == low and second != low:
            change = -1
        else:
            change = 1 if here == high else 0
        return high - low + change > constraint.max_skew, change

    def affinity(self, member: Cluster, policy: PlacementPolicy) -> int:
        return sum(self.preference(member, term) for term in policy.preferred_terms if term.weight)

    def preference(self, member: Cluster, term: PreferredClusterSelector) -> int:
        selector, sorter = term.preference.label_selector, term.preference.property_sorter
        if selector and not selector.matches(member.labels):
            return 0
        if not sorter:
            return term.weight
        value = amount(member, sorter.name)
        known = [
            v for v in (amount(m, sorter.name) for m in self.members.values()) if v is not None
        ]
        if value is None or min(known) == max(known):
            return 0
        least, most = min(known).approximate, max(known).approximate
        share = (value.approximate - least) / (most - least)
        exact = (share if sorter.sort_order == "Descending" else 1 - share) * term.weight
        return int(exact + 0.5) if exact >= 0 else -int(-exact + 0.5)

    # Status

    def write(
        self,
        order: list[str],
        wanted: int,
        outscored: list[tuple[str, Score]],
        filtered: list[tuple[str, str]],
    ) -> None:
        decisions = [(name, True, picked(name, self.bonds[name].score)) for name in order]
        for name, (spread, affinity) in outscored[:20]:
            scores = f"(affinity score: {affinity}, topology spread score: {spread})"
            decisions.append((name, False, f'Cluster "{name}" does not score high enough {scores}'))
        for name, reason in filtered[: 20 - len(outscored[:20])]:
            if name not in order:
                decisions.append((name, False, f"ClusterUnschedulable, {reason}"))
        self.decisions, self.fulfilled = decisions, len(order) >= wanted


@TRUSTED
def blank(policy: PlacementPolicy) -> PlacementPolicy:
    return attrs.evolve(policy, number_of_clusters=None)


def picked(name: str, score: Score | None) -> str:
    scores = f" (affinity score: {score[1]}, topology spread score: {score[0]})" if score else ""
    return f'Successfully scheduled resources for placement in "{name}"{scores}: picked by scheduling policy'


def ineligible(member: Cluster, as_of: datetime | None) -> str:
    if member.leaving:
        return "cluster has left the fleet"
    apart, agent = "cluster is not connected to the fleet: ", member.agent
    if agent is None:
        return f"{apart}member agent not online yet"
    # What has no time happened at the beginning of time, which is further back than Go can count.
    silent, unwell = (
        (as_of - since).total_seconds() / 60 if as_of and since else 153722867.28
        for since in (agent.heartbeat, agent.health_since)
    )
    if as_of and member.observed and silent > 5:
        return f"{apart}no recent heartbeat signals (last received {silent:.2f} minutes ago)"
    if not agent.joined:
        return f"{apart}member agent not joined yet"
    if agent.healthy is None:
        return f"{apart}health condition from member agent is not available"
    if as_of and not agent.healthy and unwell > 5:
        return f"{apart}unhealthy for a prolonged period of time (last transitioned {unwell:.2f} minutes ago)"
    return ""


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.operator == "Exists":
        return not toleration.key or toleration.key == taint.key
    return toleration.key == taint.key and toleration.value == taint.value


def matches(member: Cluster, term: ClusterSelectorTerm) -> bool:
    if term.label_selector and not term.label_selector.matches(member.labels):
        return False
    wanted = term.property_selector.match_expressions if term.property_selector else ()
    return all(meets(member, requirement) for requirement in wanted)


def meets(member: Cluster, requirement: PropertyRequirement) -> bool:
    value, wanted = amount(member, requirement.name), parse_quantity(requirement.values[0])
    if value is None:
        return False
    answers: Mapping[str, bool] = {
        "Gt": value > wanted,
        "Ge": value >= wanted,
        "Lt": value < wanted,
        "Le": value <= wanted,
        "Eq": value == wanted,
        "Ne": value != wanted,
    }
    return answers[requirement.operator]


def amount(member: Cluster, name: str) -> Quantity | None:
    text = member.properties.get(name)
    if name.startswith("resources.kubernetes-fleet.io/available-"):
        text = member.usage.available.get(name.rpartition("-")[2])
    return parse_quantity(text) if text is not None else None
