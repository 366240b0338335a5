"""What holds for every template, whatever was decided before."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.admission import admit
from fleet_components.model.cluster import Cluster, ResourceSummary, Taint
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.rollout.rollout import Change, Done
from fleet_components.systems.karmada.model.override import OverridePolicy
from fleet_components.systems.karmada.model.policy import PropagationPolicy
from fleet_components.systems.karmada.model.settings import KarmadaSettings
from fleet_components.systems.karmada.plan.needs import Needs
from fleet_components.systems.karmada.plan.place import TemplateOutcome, place_template
from fleet_components.systems.karmada.plan.record import TemplateRecord
from fleet_components.systems.karmada.plan.subject import Policies, TemplateSubject
from tests.delivery.karmada.world import WEB, deployment, policy

quick = settings(max_examples=settings().max_examples * 6 // 10)
NAMES = ("a", "b", "c", "d")
BEGAN = datetime(2026, 11, 21, 10, tzinfo=UTC)
TOLERATED = {"clusterTolerations": [{"key": "down", "operator": "Exists", "tolerationSeconds": 60}]}

clusters = st.lists(
    st.builds(
        Cluster,
        st.sampled_from(NAMES),
        region=st.sampled_from(["", "north", "south"]),
        taints=st.sampled_from(
            [(), (), (Taint("sick"),), (Taint("down", effect="NoExecute", time_added=BEGAN),)]
        ),
        leaving=st.sampled_from([False, False, False, True]),
        resource_summary=st.builds(
            ResourceSummary, st.fixed_dictionaries({"pods": st.sampled_from(["3", "9", "30"])})
        ),
    ),
    unique_by=lambda cluster: cluster.name,
)
divisions: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {},
        {"replicaScheduling": {"replicaSchedulingType": "Duplicated"}},
        {"replicaScheduling": {"replicaSchedulingType": "Divided"}},
        {
            "replicaScheduling": {
                "replicaSchedulingType": "Divided",
                "replicaDivisionPreference": "Weighted",
                "weightPreference": {"dynamicWeight": "AvailableReplicas"},
            }
        },
        {
            "replicaScheduling": {
                "replicaSchedulingType": "Divided",
                "replicaDivisionPreference": "Aggregated",
            }
        },
    ]
)
affinities: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {},
        {"clusterAffinity": {"clusterNames": ["a", "b"]}},
        {
            "clusterAffinities": [
                {"affinityName": "x", "clusterNames": ["c"]},
                {"affinityName": "y"},
            ]
        },
    ]
)
extras: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {},
        {"activationPreference": "Lazy"},
        {"suspension": {"dispatching": True}},
        {"suspension": {"dispatchingOnClusters": {"clusterNames": ["a"]}}},
        {"priority": 3},
        {"failover": {"cluster": {"purgeMode": "Directly"}}},
        {
            "propagateDeps": True,
            "failover": {"application": {"decisionConditions": {}, "purgeMode": "Never"}},
        },
    ]
)


def read(data: dict[str, Any]) -> Manifest:
    return admit(Manifest(data)).defaulted


policies = st.builds(
    lambda name, kind, affinity, division, tolerations, extra: PropagationPolicy.from_manifest(
        read(policy(name, kind, placement={**affinity, **division, **tolerations}, **extra))
    ),
    st.sampled_from(["one", "two"]),
    st.sampled_from(["PropagationPolicy", "ClusterPropagationPolicy"]),
    affinities,
    divisions,
    st.sampled_from([{}, TOLERATED]),
    extras,
)
overrides = st.builds(
    lambda cluster, image: OverridePolicy.from_manifest(
        read(
            {
                **policy("image", "OverridePolicy"),
                "spec": {
                    "resourceSelectors": [WEB],
                    "overrideRules": [
                        {
                            "targetCluster": {"clusterNames": [cluster]},
                            "overriders": {
                                "imageOverrider": [
                                    {"component": "Tag", "operator": "replace", "value": image}
                                ]
                            },
                        }
                    ],
                },
            }
        )
    ),
    st.sampled_from(NAMES),
    st.sampled_from(["7", "8"]),
)
requests = st.builds(
    TemplateSubject,
    key=st.just("shop/Deployment/web"),
    manifest=st.builds(
        lambda replicas, image: Manifest(deployment(replicas, image)),
        st.sampled_from([None, 0, 1, 5, 12]),
        st.sampled_from(["web:1", "web:2"]),
    ),
    inventory=st.builds(
        Inventory, clusters, st.sampled_from([None, BEGAN, BEGAN + timedelta(seconds=90)])
    ),
    policies=st.builds(
        Policies,
        st.lists(policies, max_size=2, unique_by=lambda p: p.key).map(tuple),
        st.lists(overrides, max_size=1).map(tuple),
        st.builds(
            KarmadaSettings,
            no_execute_eviction=st.booleans(),
            purge_mode=st.sampled_from(["Gracefully", "Directly"]),
            exact=st.booleans(),
        ),
    ),
    uid=st.sampled_from(["", "x", "y"]),
    rebalances=st.sampled_from([frozenset(), frozenset({"again"})]),
    unhealthy=st.sampled_from([{}, {"a": None}, {"b": BEGAN - timedelta(seconds=260)}]),
    needs=st.sampled_from([Needs(), Needs({"shop/Deployment/other": {"d": 0}})]),
)


def through_the_engine(record: TemplateRecord) -> TemplateRecord:
    """As a state hands it over: numbers as floats, maps in any order, empty values kept."""
    wire = json.loads(json.dumps(record.to_wire()), parse_int=float)
    return TemplateRecord.from_wire(dict(reversed(wire.items())))


def done(outcome: TemplateOutcome) -> dict[str, Done]:
    """What stands after the update went through."""
    decisions = outcome.record.decisions.items()
    return {
        c: Done(s.revision, replicas=s.replicas, completions=s.completions, overrides=s.overrides)
        for c, s in decisions
    }


def run(
    request: TemplateSubject, before: TemplateRecord, stands: dict[str, Done]
) -> TemplateOutcome:
    return place_template(attrs.evolve(request, done=stands), before)


def is_purging(outcome: TemplateOutcome) -> bool:
    """Whether a member has to be emptied before the others get what they are to have."""
    return any("Directly" in reason for reason in outcome.rollout.held.values())


@quick
@given(st.lists(requests, min_size=1, max_size=4))
def test_a_second_run_changes_nothing(history: list[TemplateSubject]) -> None:
    record, stands = TemplateRecord(), dict[str, Done]()
    for request in history:
        outcome = run(request, record, stands)
        record, stands = through_the_engine(outcome.record), done(outcome)
        assert record == outcome.record
    if is_purging(outcome):
        outcome = run(history[-1], record, stands)
        assert not is_purging(outcome)
        record, stands = outcome.record, done(outcome)
    again = run(history[-1], record, stands)
    assert again.record.to_wire() == record.to_wire()
    assert {entry.change for entry in again.rollout.entries.values()} <= {Change.KEEP, Change.HELD}


@quick
@given(st.lists(requests, min_size=1, max_size=4), st.data())
def test_an_update_that_breaks_is_taken_up_again(
    history: list[TemplateSubject], data: st.DataObject
) -> None:
    record, stands = TemplateRecord(), dict[str, Done]()
    for request in history:
        outcome = run(request, record, stands)
        reached = data.draw(st.sets(st.sampled_from(NAMES)))
        after = done(outcome)
        stands = {c: here for c in NAMES if (here := (after if c in reached else stands).get(c))}
        record = through_the_engine(outcome.record)
    last = run(history[-1], record, stands)
    assert {
        c: share
        for c, share in last.record.decisions.items()
        if last.rollout.entries[c].change is Change.KEEP
    } == {
        c: share
        for c, share in last.record.decisions.items()
        if share.stands(stands.get(c, Done(None)))
        and last.rollout.entries[c].change is not Change.HELD
    }
    memory = last.record.memory
    assert set(last.rollout.removals) >= set(stands) - {*memory.targets, *memory.left_later}
    held = last.rollout.held
    assert all(
        last.record.decisions[c].stands(stands[c]) for c in held if c in last.record.decisions
    )
    if not is_purging(last):
        assert run(history[-1], through_the_engine(last.record), done(last)).record == last.record


@quick
@given(st.lists(requests, min_size=1, max_size=4))
def test_what_is_decided_can_be_emitted(history: list[TemplateSubject]) -> None:
    record, stands = TemplateRecord(), dict[str, Done]()
    for request in history:
        outcome, before = run(request, record, stands), stands
        record, stands = outcome.record, done(outcome)
        for cluster, share in record.decisions.items():
            member = request.inventory.clusters[request.inventory.position(cluster) or 0]
            (data,) = record.objects(share, member)
            if not any(
                item.needs.required_by for item in history
            ):  # what others need is not a workload in real fleets
                assert share.replicas in (None, data["spec"].get("replicas"))
            if cluster in outcome.rollout.held:
                assert share.stands(
                    before[cluster]
                )  # it keeps exactly what it runs, replicas or none
            else:
                assert cluster not in record.memory.schedule.clusters or share.replicas is not None


@quick
@given(st.lists(requests, min_size=1, max_size=4))
def test_nothing_stays_where_it_has_to_leave_and_copies_go_last(
    history: list[TemplateSubject],
) -> None:
    record, stands = TemplateRecord(), dict[str, Done]()
    for request in history:
        outcome, before = run(request, record, stands), stands
        record, stands = outcome.record, done(outcome)
        memory, tasks = record.memory.schedule, record.memory.schedule.evictions
        assert not memory.clusters.keys() & tasks.keys()
        if (
            not request.settings.no_execute_eviction
            and not request.unhealthy
            and not request.settings.exact
        ):
            assert not tasks or not outcome.decision  # without a policy nothing is looked at
        for cluster, task in tasks.items() if outcome.decision else ():
            if cluster not in before or cluster in record.memory.targets:
                continue
            if task.purge_mode == "Directly":
                assert cluster not in stands
                assert all(c in before for c in stands)
            elif request.inventory.position(cluster) is not None:
                assert stands[cluster] == before[cluster]
