"""Whatever the fleet, the policy and the memory: each flip that is told comes true, done to the YAML."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

from fleet_components.model.codec import encode
from fleet_components.model.problem import FleetError
from fleet_components.model.selector import LabelSelector
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.systems.kubefleet.model.placement import (
    PICK_N,
    Affinity,
    ClusterAffinity,
    ClusterSelector,
    PlacementPolicy,
    Preference,
    PreferredClusterSelector,
)
from tests import strategies
from tests.plan.flipped import (
    OBJECT,
    Data,
    after,
    chosen,
    flips,
    karmada_member,
    member,
    placement,
    planned,
    propagation,
    written,
    written_with,
)

pytestmark = pytest.mark.long
OPTIONS = Options(as_of=strategies.AS_OF)
thorough = settings(max_examples=150)


def plan_of(documents: Sequence[Data], past: Past | None = None) -> FleetPlan:
    """The plan; what cannot be planned is drawn anew."""
    try:
        return planned(documents, past, OPTIONS)
    except FleetError:
        reject()


def come_true(documents: Sequence[Data], past: Past | None) -> None:
    """Do what each flip says, one after the other, and plan again."""
    plan = plan_of(documents, past)
    before = chosen(plan)
    for name in plan.inventory.names:
        told = flips(plan, name)
        found = told.flips
        for note in told.notes:
            if "newly decided" in note:
                assert (name in chosen(planned(documents, None, OPTIONS))) == (
                    name not in before
                ), note
        event(f"{'chosen' if name in before else 'left'}: {len(found)} flips")
        for flip in found:
            then = chosen(planned(written_with(documents, flip.change), past, OPTIONS))
            assert flip.chosen == (name not in before), flip.words
            assert (name in then) == flip.chosen, flip.words
            event(f"{flip.change[0].operation} {flip.change[0].field[:2]}")


# KubeFleet

FEW = strategies.NAMES[:5]
any_members = strategies.fleets(FEW).map(lambda found: [written(item) for item in found])
"""Members as ill as they may be."""
costs = st.integers(0, 12).map(str)
well_members = st.tuples(
    *(
        st.builds(
            member,
            st.just(name),
            st.dictionaries(st.sampled_from(strategies.KEYS), st.sampled_from("ab")),
            st.sampled_from([[], [], [], [{"key": "k", "effect": "NoSchedule"}]]),
            properties=st.fixed_dictionaries(
                {strategies.COST: costs}, optional={strategies.NODES: costs}
            ),
            resourceUsage=st.fixed_dictionaries(
                {"available": st.fixed_dictionaries({"cpu": costs})}
            ),
        )
        for name in FEW
    )
).map(list)
"""Members that can be picked and ranked."""
kubefleet_members = any_members | well_members
weights = st.integers(1, 100) | st.integers(-100, -1)
preferred = st.builds(
    PreferredClusterSelector,
    weights,
    st.builds(Preference, property_sorter=strategies.sorters)
    | st.builds(Preference, st.builds(LabelSelector, strategies.labels)),
)


def ranking(spread: bool) -> st.SearchStrategy[PlacementPolicy]:
    """Policies that pick a few of the members by their points."""
    asked = st.none() | st.builds(ClusterSelector, st.tuples(strategies.required_terms))
    ranked = st.lists(preferred, min_size=1, max_size=3).map(tuple)
    return st.builds(
        PlacementPolicy,
        st.just(PICK_N),
        number_of_clusters=st.integers(1, 3),
        affinity=st.builds(Affinity, st.builds(ClusterAffinity, asked, ranked)),
        topology_spread_constraints=strategies.some(strategies.spreads) if spread else st.just(()),
    )


policies = strategies.policies | ranking(spread=True)


def placed(policy: PlacementPolicy) -> list[Data]:
    """A placement with a policy."""
    found = placement(**{"placementType": policy.placement_type, **encode(policy)})
    for term in _preferred(found) if policy.preferred_terms else ():
        if sorter := term.get("preference", {}).get("propertySorter"):
            sorter.setdefault("sortOrder", "Descending")
    return found


def _preferred(documents: Sequence[Data]) -> list[Data]:
    """The preferred terms of a policy, to be added to."""
    affinity = (
        documents[-1]["spec"]["policy"].setdefault("affinity", {}).setdefault("clusterAffinity", {})
    )
    terms: list[Data] = affinity.setdefault("preferredDuringSchedulingIgnoredDuringExecution", [])
    return terms


def placed_in_a_namespace(policy: PlacementPolicy) -> list[Data]:
    """A ResourcePlacement with a policy."""
    _, found = placed(policy)
    configuration = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x", "namespace": "app"},
    }
    selector = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "x"}
    metadata = {"name": "app", "namespace": "app"}
    spec = {**found["spec"], "resourceSelectors": [selector]}
    return [
        OBJECT,
        configuration,
        {**found, "kind": "ResourcePlacement", "metadata": metadata, "spec": spec},
    ]


places = st.sampled_from([placed, placed, placed_in_a_namespace])


@thorough
@given(st.data(), kubefleet_members, policies, places)
def test_of_a_placement(
    data: st.DataObject, members: list[Data], policy: PlacementPolicy, place: Any
) -> None:
    past = None
    if data.draw(st.booleans()):
        past = after(plan_of([*members, *place(policy)]))
        members = data.draw(st.just(members) | kubefleet_members)
        policy = data.draw(st.just(policy) | policies)
    come_true([*members, *place(policy)], past)


@thorough
@given(well_members, ranking(spread=False))
def test_the_points_that_a_member_lost_by_are_those_that_it_lacks(
    members: list[Data], policy: PlacementPolicy
) -> None:
    """A preference for it alone that is worth one point more lets it win, and one point less does not."""
    documents = [*members, *placed(policy)]
    plan = plan_of(documents)
    for name in plan.inventory.names:
        for note in flips(plan, name).notes:
            if lost := re.match(r"lost to \S+ by (\d+) point", note):
                points = int(lost[1])
                assert name in chosen(plan_of(preferring(documents, name, points + 1))), note
                assert name not in chosen(plan_of(preferring(documents, name, points - 1))), note
                event("lost by points")
            elif note.startswith("lost to"):
                assert name in chosen(plan_of(preferring(documents, name, 1))), note
                event("lost by name")


def preferring(documents: Sequence[Data], name: str, points: int) -> list[Data]:
    """The documents with preferences for one member, none of them worth more than a hub admits."""
    found = copy.deepcopy(list(documents))
    for item in found:
        if item["metadata"]["name"] == name:
            item["metadata"]["labels"]["preferred"] = "yes"
    terms = _preferred(found)
    only = {"labelSelector": {"matchLabels": {"preferred": "yes"}}}
    for weight in [100] * (points // 100) + [points % 100]:
        terms.append({"weight": weight, "preference": only})
    return found


@thorough
@given(well_members, strategies.label_selectors, st.sampled_from(FEW))
def test_one_label_is_always_found(members: list[Data], selector: LabelSelector, name: str) -> None:
    """A member that lacks nothing but labels is told which, unless no labels would do."""
    term = {"labelSelector": encode(selector)}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [term]}}
    documents = [
        *members,
        *placement(placementType="PickAll", affinity={"clusterAffinity": required}),
    ]
    everywhere = [*members, *placement(placementType="PickAll")]
    plan = plan_of(documents)
    if name in chosen(plan) or name not in chosen(plan_of(everywhere)):
        return
    keys = {requirement.key for requirement in selector.requirements()}
    found = flips(plan, name).flips
    possible = any(
        selector.matches(
            {key: value for key, value in zip(keys, values, strict=True) if value is not None}
        )
        for values in product((*strategies.VALUES, None, "other"), repeat=len(keys))
    )
    event(f"possible: {possible}")
    assert bool(found) == possible
    assert all(edit.field[:2] == ("metadata", "labels") for flip in found for edit in flip.change)


# Karmada

NAMES = ("m0", "m1", "m2", "m3")
SERVES = [{"groupVersion": "apps/v1", "resources": [{"kind": "Deployment"}]}]
amounts = st.fixed_dictionaries(
    {"cpu": st.sampled_from(["0", "1", "2500m", "4"]), "pods": st.sampled_from(["1", "10"])}
)
rooms = st.builds(
    lambda allocatable, used, serves: {
        "apiEnablements": serves,
        "resourceSummary": {"allocatable": allocatable, "allocated": {"cpu": used}},
    },
    amounts,
    st.sampled_from(["0", "500m", "1"]),
    st.sampled_from([SERVES, SERVES, []]),
)
env = st.dictionaries(st.just("env"), st.sampled_from(["prod", "test"]))
taints = st.sampled_from(
    [
        [],
        [],
        [{"key": "gpu", "effect": "NoSchedule"}],
        [{"key": "gpu", "value": "a", "effect": "NoExecute"}],
    ]
)
regions = st.fixed_dictionaries(
    {"region": st.sampled_from(["x", "y"]), "provider": st.sampled_from(["p", "q"])},
    optional={"zones": st.lists(st.sampled_from(["x1", "y1"]), max_size=2, unique=True)},
)


@st.composite
def karmada_members(draw: st.DrawFn) -> list[Data]:
    """Members of both kinds."""
    found = []
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True)):
        if draw(st.integers(0, 3)):
            status, fields = draw(st.none() | rooms), draw(st.just({}) | regions)
            found.append(karmada_member(name, draw(env), status, taints=draw(taints), **fields))
        else:
            region = st.dictionaries(
                st.just("topology.kubernetes.io/region"), st.sampled_from(["x", "y"])
            )
            usage = {
                "allocatable": draw(amounts),
                **({"available": draw(amounts)} if draw(st.booleans()) else {}),
            }
            labels = {**draw(env), **draw(region)}
            found.append(
                member(
                    name,
                    labels,
                    draw(st.sampled_from([[], [{"key": "gpu", "effect": "NoSchedule"}]])),
                    resourceUsage=usage,
                )
            )
    return found


def asks(field: str, operator: str, *values: str) -> Data:
    """An expression."""
    return {"key": field, "operator": operator, **({"values": list(values)} if values else {})}


expressions = st.sampled_from(
    [
        asks("region", "In", "x"),
        asks("region", "NotIn", "y"),
        asks("provider", "In", "p"),
        asks("provider", "Exists"),
        asks("zone", "In", "x1"),
        asks("zone", "NotIn", "x1"),
        asks("region", "DoesNotExist"),
    ]
)
affinities = st.fixed_dictionaries(
    {},
    optional={
        "labelSelector": st.sampled_from(
            [{"matchLabels": {"env": "prod"}}, {"matchExpressions": [asks("env", "NotIn", "prod")]}]
        ),
        "fieldSelector": st.lists(expressions, min_size=1, max_size=2).map(
            lambda found: {"matchExpressions": found}
        ),
        "clusterNames": st.lists(st.sampled_from(NAMES), unique=True, min_size=1),
        "exclude": st.lists(st.sampled_from(NAMES), unique=True, max_size=2),
    },
)
groups = st.lists(affinities, min_size=1, max_size=3).map(
    lambda found: [
        {"affinityName": f"group{number}", **affinity} for number, affinity in enumerate(found)
    ]
)


def by(field: str, least: int, most: int) -> Data:
    """A spread constraint."""
    return {"spreadByField": field, "minGroups": least, "maxGroups": most}


def divided(preference: str, **weights: Any) -> Data:
    """Replicas that are divided."""
    found = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": preference}
    return {**found, **({"weightPreference": weights} if weights else {})}


RULES = [
    {"targetCluster": {"clusterNames": ["m0"]}, "weight": 2},
    {"targetCluster": {"labelSelector": {"matchLabels": {"env": "prod"}}}, "weight": 1},
]
schedulings = st.sampled_from(
    [
        {"replicaSchedulingType": "Duplicated"},
        divided("Aggregated"),
        divided("Weighted", dynamicWeight="AvailableReplicas"),
        divided("Weighted", staticWeightList=RULES),
    ]
)
spreads = st.sampled_from(
    [
        [by("cluster", 1, 1)],
        [by("cluster", 1, 2)],
        [by("region", 1, 1), by("cluster", 1, 2)],
        [by("cluster", 2, 3)],
    ]
)
where = st.fixed_dictionaries(
    {},
    optional={
        "replicaScheduling": schedulings,
        "spreadConstraints": spreads,
        "clusterTolerations": st.just(
            [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]
        ),
    },
)
placements = st.builds(
    lambda common, affinity: {**common, **affinity},
    where,
    st.just({})
    | affinities.map(lambda affinity: {"clusterAffinity": affinity})
    | groups.map(lambda some: {"clusterAffinities": some}),
)
requests = st.sampled_from([None, {"cpu": "500m"}, {"cpu": "1"}])


@thorough
@given(st.data(), karmada_members(), placements, st.integers(0, 5), requests)
def test_of_a_template(
    data: st.DataObject,
    members: list[Data],
    where: Data,
    replicas: int,
    requests: dict[str, str] | None,
) -> None:
    past = None
    if data.draw(st.booleans()):
        past = after(plan_of([*members, *propagation(replicas, requests, **where)]))
        members = data.draw(st.just(members) | karmada_members())
        where, replicas = (
            data.draw(st.just(where) | placements),
            data.draw(st.just(replicas) | st.integers(0, 5)),
        )
    come_true([*members, *propagation(replicas, requests, **where)], past)
