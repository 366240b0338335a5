"""Hypothesis strategies for quantities, selectors, members, KubeFleet policies and whole histories of a placement.

Few keys, values and names are drawn from, so that what is drawn meets.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import attrs
from hypothesis import strategies as st

from fleet_components.model.cluster import Agent, Cluster, Taint, Usage
from fleet_components.model.inventory import RESOURCE_PREFIX
from fleet_components.model.selector import LabelSelector, Requirement
from fleet_components.systems.kubefleet.model.placement import (
    PICK_ALL,
    PICK_FIXED,
    PICK_N,
    Affinity,
    ClusterAffinity,
    ClusterSelector,
    ClusterSelectorTerm,
    PlacementPolicy,
    Preference,
    PreferredClusterSelector,
    PropertyRequirement,
    PropertySelector,
    PropertySorter,
    Toleration,
    TopologySpreadConstraint,
)

AS_OF = datetime(2026, 1, 31, 12, tzinfo=UTC)
NAMES = tuple(f"m{number}" for number in range(8))
KEYS = ("env", "region", "zone")
VALUES = ("a", "b", "c", "")
COST, NODES, CPU = "example.com/cost", "example.com/nodes", f"{RESOURCE_PREFIX}available-cpu"

# Quantities

digits = st.text("0123456789", min_size=1, max_size=12)
decimal_suffixes = st.sampled_from(
    ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "e3", "E-3", "e+2", "e-9"]
)
binary_suffixes = st.sampled_from(["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"])
numbers = st.one_of(digits, st.builds("{}.{}".format, digits, digits), digits.map(".{}".format))
quantities = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "-", "+"]),
    numbers,
    st.one_of(decimal_suffixes, binary_suffixes),
)

# Selectors

keys = st.sampled_from(KEYS)
labels = st.dictionaries(keys, st.sampled_from(VALUES))
some_values = st.lists(st.sampled_from(VALUES), min_size=1, max_size=3).map(tuple)
requirements = st.one_of(
    st.builds(Requirement, keys, st.sampled_from(["In", "NotIn"]), some_values),
    st.builds(Requirement, keys, st.sampled_from(["Exists", "DoesNotExist"])),
)
label_selectors = st.builds(LabelSelector, labels, st.lists(requirements, max_size=2).map(tuple))

# Members

ages = st.sampled_from([0, 299, 300, 301, 3600])
times = ages.map(lambda seconds: AS_OF - timedelta(seconds=seconds))
agents = st.builds(
    Agent,
    joined=st.sampled_from([True, True, True, False]),
    healthy=st.sampled_from([True, True, True, False, None]),
    health_since=times,
    heartbeat=st.one_of(st.none(), times, st.just(AS_OF)),
)
well = st.just(Agent(health_since=AS_OF, heartbeat=AS_OF))
taints = st.builds(Taint, st.sampled_from(["k", "l"]), st.sampled_from(["", "x"]))
amounts = st.sampled_from(["0", "1", "2", "2000m", "2.5", "3", "1Ki", "-1", "1e1"])
namespaces = st.one_of(st.none(), st.dictionaries(st.sampled_from(["app", "other"]), st.just("")))


@st.composite
def clusters(draw: st.DrawFn, name: str) -> Cluster:
    """A member, most often one that can be picked."""
    observed = draw(st.booleans())
    agent = draw(st.one_of(well, well, well, agents, st.none())) if observed else Agent()
    return Cluster(
        name,
        labels=draw(labels),
        taints=tuple(draw(st.lists(taints, max_size=2, unique=True)))
        if draw(st.booleans())
        else (),
        properties=draw(st.dictionaries(st.sampled_from([COST, NODES]), amounts)),
        usage=Usage(available=draw(st.dictionaries(st.just("cpu"), amounts))),
        observed=observed,
        agent=agent,
        leaving=draw(st.sampled_from([False] * 9 + [True])),
        namespaces=draw(namespaces),
        namespaces_collected=draw(st.booleans()),
    )


@st.composite
def fleets(draw: st.DrawFn, names: Iterable[str] = NAMES) -> list[Cluster]:
    """Any of the members of these names, in any order."""
    chosen = draw(st.lists(st.sampled_from(tuple(names)), unique=True))
    return [draw(clusters(name)) for name in chosen]


# Policies

properties = st.sampled_from([COST, NODES, CPU])
property_requirements = st.builds(
    PropertyRequirement,
    properties,
    st.sampled_from(["Gt", "Ge", "Lt", "Le", "Eq", "Ne"]),
    amounts.map(lambda amount: (amount,)),
)
property_selectors = st.builds(
    PropertySelector, st.lists(property_requirements, max_size=2).map(tuple)
)
required_terms = st.builds(
    ClusterSelectorTerm,
    st.none() | label_selectors,
    st.one_of(st.none(), st.none(), property_selectors),
)
sorters = st.builds(PropertySorter, properties, st.sampled_from(["Ascending", "Descending"]))
preferred_terms = st.builds(
    PreferredClusterSelector,
    st.sampled_from([-100, -33, -1, 0, 1, 15, 50, 100]),
    st.builds(Preference, st.none() | label_selectors, st.none() | sorters),
)
tolerations = st.one_of(
    st.builds(Toleration, st.sampled_from(["", "k", "l"]), st.just("Exists"), st.just("")),
    st.builds(
        Toleration, st.sampled_from(["k", "l"]), st.just("Equal"), st.sampled_from(["", "x"])
    ),
)
spreads = st.builds(
    TopologySpreadConstraint,
    keys,
    st.integers(1, 2),
    st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
)


def some(
    elements: st.SearchStrategy[attrs.AttrsInstance], most: int = 2
) -> st.SearchStrategy[tuple[object, ...]]:
    """Often none, else a few."""
    return st.one_of(st.just(()), st.lists(elements, max_size=most).map(tuple))


def affinities(preferred: bool) -> st.SearchStrategy[Affinity | None]:
    """Required terms, and preferred ones where the placement type ranks."""
    selectors = st.one_of(st.none(), st.builds(ClusterSelector, some(required_terms)))
    ranked = some(preferred_terms, 3) if preferred else st.just(())
    return st.one_of(st.none(), st.builds(Affinity, st.builds(ClusterAffinity, selectors, ranked)))


pick_all = st.builds(
    PlacementPolicy, st.just(PICK_ALL), affinity=affinities(False), tolerations=some(tolerations)
)
pick_fixed = st.builds(
    PlacementPolicy,
    st.just(PICK_FIXED),
    cluster_names=st.lists(st.sampled_from([*NAMES, "unknown"]), unique=True, max_size=5).map(
        tuple
    ),
)


def pick_n(spread: bool = True) -> st.SearchStrategy[PlacementPolicy]:
    """PickN policies, with or without topology spread constraints."""
    return st.builds(
        PlacementPolicy,
        st.just(PICK_N),
        number_of_clusters=st.integers(0, len(NAMES) + 1),
        affinity=affinities(True),
        topology_spread_constraints=some(spreads) if spread else st.just(()),
        tolerations=some(tolerations),
    )


policies = st.one_of(pick_all, pick_fixed, pick_n())


# Histories


@attrs.frozen
class Step:
    """One scheduling of a placement, and what the rollout did to its bindings before: full, bindOnly or none."""

    clusters: tuple[Cluster, ...]
    policy: PlacementPolicy
    rollout: str = "full"


@st.composite
def histories(draw: st.DrawFn, longest: int = 4) -> list[Step]:
    """Schedulings of one placement while members, labels, policy and number change. Its type does not."""
    kind = draw(st.sampled_from([pick_all, pick_fixed, pick_n(), pick_n(), pick_n(spread=False)]))
    steps = [Step(tuple(draw(fleets())), draw(kind))]
    for _ in range(draw(st.integers(0, longest - 1))):
        before = steps[-1]
        policy = draw(
            st.one_of(
                st.just(before.policy), kind, st.builds(renumbered, st.just(before.policy), counts)
            )
        )
        members = draw(st.one_of(st.just(before.clusters), fleets().map(tuple)))
        steps.append(Step(members, policy, draw(st.sampled_from(["full", "bindOnly", "none"]))))
    return steps


counts = st.integers(0, len(NAMES))


def renumbered(policy: PlacementPolicy, number: int) -> PlacementPolicy:
    """The same policy for another number of clusters."""
    return (
        attrs.evolve(policy, number_of_clusters=number)
        if policy.placement_type == PICK_N
        else policy
    )
