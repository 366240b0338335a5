"""What a plan from nothing says of other memories: where it is silent, every history leads to the same."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.systems.karmada.model.policy import PropagationPolicy
from fleet_components.systems.karmada.plan.place import TemplateOutcome
from fleet_components.systems.karmada.plan.record import TemplateRecord
from fleet_components.systems.karmada.plan.subject import Policies, TemplateSubject
from fleet_components.systems.kubefleet.model.memory import BOUND, Binding, PlacementMemory
from fleet_components.systems.kubefleet.model.placement import (
    PICK_ALL,
    PICK_FIXED,
    PICK_N,
    PlacementPolicy,
    RollingUpdate,
    TopologySpreadConstraint,
)
from fleet_components.systems.kubefleet.plan.record import PlacementRecord
from fleet_components.systems.kubefleet.plan.subject import PlacementSubject
from fleet_components.systems.kubefleet.scheduler import schedule
from tests.delivery.karmada.test_properties import TOLERATED, done, read, requests, run
from tests.delivery.karmada.world import WEB, policy
from tests.scheduler.kubefleet.test_properties import decide
from tests.strategies import AS_OF, NAMES, Step, histories

many = settings(max_examples=150)
TAINTED = Cluster("m9", taints=(Taint("maintenance"),))
GONE = Cluster("m8", leaving=True)


def placement(
    clusters: tuple[Cluster, ...], asked: PlacementPolicy | None, **fields: Any
) -> PlacementSubject:
    return PlacementSubject(
        "shop", asked, RollingUpdate(), Inventory(clusters, AS_OF), (), **fields
    )


def said(subject: PlacementSubject) -> str:
    return subject.sticky(subject.decide(PlacementRecord()))


def hard(key: str) -> TopologySpreadConstraint:
    return TopologySpreadConstraint(key, 1, "DoNotSchedule")


TWO = (Cluster("a"), Cluster("b"))


@pytest.mark.parametrize(
    ("clusters", "asked"),
    [
        (TWO, None),
        (TWO, PlacementPolicy(PICK_ALL)),
        ((*TWO, GONE), PlacementPolicy(PICK_ALL)),
        (TWO, PlacementPolicy(PICK_FIXED, cluster_names=("a", "unknown"))),
        (TWO, PlacementPolicy(PICK_N, number_of_clusters=2)),
        ((*TWO, GONE), PlacementPolicy(PICK_N, number_of_clusters=7)),
        (TWO, PlacementPolicy(PICK_N, number_of_clusters=0)),
        ((), PlacementPolicy(PICK_N, number_of_clusters=1)),
    ],
)
def test_a_placement_that_every_memory_leaves_alone(
    clusters: tuple[Cluster, ...], asked: PlacementPolicy
) -> None:
    assert said(placement(clusters, asked)) == ""


@pytest.mark.parametrize(
    ("clusters", "asked", "words"),
    [
        (
            (*TWO, TAINTED),
            None,
            "PickAll keeps members that it could not pick now: with --state m9 may have it",
        ),
        (
            TWO,
            PlacementPolicy(PICK_N, number_of_clusters=1),
            "PickN 1 keeps members that it has picked: with --state others than b may have it",
        ),
        (
            (TAINTED,),
            PlacementPolicy(PICK_N, number_of_clusters=1),
            "PickN 1 keeps members that it has picked: with --state others than none may have it",
        ),
        (
            TWO,
            PlacementPolicy(
                PICK_N, number_of_clusters=2, topology_spread_constraints=(hard("zone"),)
            ),
            "PickN 2 keeps members that it has picked: with --state others than a, b may have it",
        ),
        (
            (*TWO, Cluster("c", agent=None)),
            PlacementPolicy(PICK_FIXED, cluster_names=("a", "c")),
            "PickFixed keeps members that it could not pick now: with --state c may have it",
        ),
    ],
)
def test_a_placement_that_keeps_members(
    clusters: tuple[Cluster, ...], asked: PlacementPolicy, words: str
) -> None:
    assert said(placement(clusters, asked)) == words


@pytest.mark.long
@many
@given(histories(), st.sampled_from(["", "app"]))
def test_no_history_picks_other_members_in_silence(history: list[Step], namespace: str) -> None:
    last = history[-1]
    subject = placement(last.clusters, last.policy, namespace=namespace)
    try:
        outcome = subject.decide(PlacementRecord())
    except FleetError:
        return  # no subject, and nothing to be silent of
    if subject.sticky(outcome):
        return
    event("silent")
    memory = decide(history[:-1]).memory if len(history) > 1 else PlacementMemory()
    again = subject.schedule(memory)
    assert sorted(again.memory.selected) == sorted(outcome.decision.memory.selected)


@pytest.mark.long
@many
@given(histories(longest=1))
def test_what_is_marked_is_kept_by_some_memory(history: list[Step]) -> None:
    (last,) = history
    subject = placement(last.clusters, last.policy)
    try:
        outcome = subject.decide(PlacementRecord())
    except FleetError:
        assume(False)
    words, selected = subject.sticky(outcome), set(outcome.decision.memory.selected)
    spread = any(
        constraint.when_unsatisfiable == "DoNotSchedule"
        for constraint in last.policy.topology_spread_constraints
    )
    assume((words and last.policy.cluster_names != ()) or last.policy.placement_type != PICK_FIXED)
    assume(words and not spread and "PickFixed without" not in words and "anew" not in words)
    able = [cluster.name for cluster in last.clusters if not cluster.leaving]
    others = [name for name in able if name not in selected]
    listed = last.policy.cluster_names if last.policy.placement_type == PICK_FIXED else NAMES
    kept = [name for name in (*others, *selected) if name in listed][
        : last.policy.number_of_clusters
    ]
    memory = PlacementMemory(
        0, last.policy, {name: Binding(BOUND, 0, rank) for rank, name in enumerate(kept)}
    )
    again = schedule(subject.inventory, last.policy, memory)
    assert set(again.memory.selected) != selected


ANY_TWO = {"spreadByField": "cluster", "maxGroups": 2}
LABELS: list[dict[str, str]] = [{}, {"tier": "web"}]
selecting = st.builds(
    lambda name, labels, priority: PropagationPolicy.from_manifest(
        read(
            policy(
                name,
                resourceSelectors=[{**WEB, "name": "", "labelSelector": {"matchLabels": labels}}],
                priority=priority,
            )
        )
    ),
    st.sampled_from(["three", "four"]),
    st.sampled_from(LABELS[1:]),
    st.sampled_from([0, 5]),
)


calm = st.builds(
    lambda name, where, tolerations, extra: PropagationPolicy.from_manifest(
        read(policy(name, placement={**where, **tolerations}, **extra))
    ),
    st.sampled_from(["one", "two"]),
    st.sampled_from(
        [
            {},
            {"clusterAffinity": {"clusterNames": ["a", "b"]}},
            {"spreadConstraints": [{**ANY_TWO, "minGroups": 1}]},
        ]
    ),
    st.sampled_from([{}, TOLERATED]),
    st.sampled_from(
        [
            {},
            {"priority": 3},
            {"suspension": {"dispatching": True}},
            {"activationPreference": "Lazy"},
        ]
    ),
)
"""Policies of which a decision may well be the same after every history."""


@st.composite
def pasts(draw: st.DrawFn) -> list[TemplateSubject]:
    """Requests for one template: often of the last one's policies, while members, labels and replicas change."""
    last = draw(requests)
    if draw(st.sampled_from([True, True, True, False])):
        settings = attrs.evolve(
            last.policies.settings, exact=draw(st.sampled_from([False, False, True]))
        )
        held = attrs.evolve(last.policies, propagation=(draw(calm),), settings=settings)
        last = attrs.evolve(last, policies=held)
    if draw(st.booleans()):
        more = draw(st.lists(selecting, max_size=1))
        held = attrs.evolve(last.policies, propagation=(*last.policies.propagation, *more))
        last = attrs.evolve(last, policies=held)
    before = draw(st.lists(requests, min_size=1, max_size=3))
    kept = [
        attrs.evolve(item, policies=last.policies, rebalances=last.rebalances)
        if draw(st.booleans())
        else item
        for item in before
    ]
    return [labelled(item, draw(st.sampled_from(LABELS))) for item in (*kept, last)]


def labelled(request: TemplateSubject, labels: dict[str, str]) -> TemplateSubject:
    data = {**request.manifest.data, "metadata": {**request.manifest.metadata, "labels": labels}}
    return attrs.evolve(request, manifest=Manifest(data))


def lands(outcome: TemplateOutcome) -> dict[str, int]:
    state = outcome.record.memory
    return {name: state.schedule.clusters.get(name, 0) for name in state.targets}


@pytest.mark.long
@many
@given(pasts())
def test_no_history_places_a_template_otherwise_in_silence(history: list[TemplateSubject]) -> None:
    *earlier, last = history
    new = run(last, TemplateRecord(), {})
    if last.sticky(new):
        return
    event("silent")
    record, stands = TemplateRecord(), dict[str, Any]()
    for request in earlier:
        outcome = run(request, record, stands)
        record, stands = outcome.record, done(outcome)
    assert lands(run(last, record, stands)) == lands(new)


def template(
    *clusters: Cluster, selectors: list[dict[str, Any]] | None = None, **where: Any
) -> str:
    claims = [PropagationPolicy.from_manifest(read(policy("one", placement=where)))]
    if selectors:
        claims.append(
            PropagationPolicy.from_manifest(read(policy("two", resourceSelectors=selectors)))
        )
    manifest = {**DEPLOYMENT, "spec": {"replicas": 2}}
    subject = TemplateSubject(
        "shop/Deployment/web", Manifest(manifest), Inventory(clusters), Policies(tuple(claims))
    )
    return subject.sticky(subject.decide(TemplateRecord()))


DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop"},
}
DIVIDED: dict[str, Any] = {"replicaScheduling": {"replicaSchedulingType": "Divided"}}
ONE_OF = [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]
GROUPS = [{"affinityName": "x", "clusterNames": ["a"]}, {"affinityName": "y"}]


def test_templates() -> None:
    assert template(*TWO) == ""
    assert template() == ""
    assert template(*TWO, clusterAffinity={"clusterNames": ["a"]}) == ""
    assert (
        template(
            *TWO, spreadConstraints=[{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}]
        )
        == ""
    )
    assert "with --state it may be on m9" in template(*TWO, TAINTED)
    assert template(*TWO, TAINTED, clusterAffinity={"clusterNames": ["a"]}) == ""
    assert "with --state not as a 1, b 1" in template(*TWO, **DIVIDED)
    assert "chosen first: with --state these may be others than a" in template(
        *TWO, spreadConstraints=ONE_OF
    )
    assert "affinity group" in template(*TWO, clusterAffinities=GROUPS)
    assert "may have it instead of" in template(*TWO, selectors=[{**WEB, "name": ""}])
    assert template(*TWO, selectors=[{**WEB, "name": "other"}]) == ""
    too_many = [{"spreadByField": "cluster", "minGroups": 3, "maxGroups": 5}]
    assert "chosen first" in template(*TWO, spreadConstraints=too_many)


def test_a_template_that_no_policy_follows_any_more() -> None:
    claim = PropagationPolicy.from_manifest(read(policy("one", placement={})))
    subject = TemplateSubject(
        "shop/Deployment/web", Manifest(DEPLOYMENT), Inventory(TWO), Policies((claim,))
    )
    record = subject.decide(TemplateRecord()).record
    left = attrs.evolve(subject, policies=Policies())
    assert left.sticky(left.decide(record)).startswith("no policy follows it")


def test_a_lazy_policy() -> None:
    claim = PropagationPolicy.from_manifest(
        read(policy("one", placement={}, activationPreference="Lazy"))
    )
    subject = TemplateSubject(
        "shop/Deployment/web", Manifest(DEPLOYMENT), Inventory(TWO), Policies((claim,))
    )
    assert "is Lazy" in subject.sticky(subject.decide(TemplateRecord()))
