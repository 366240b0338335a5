"""Every member's verdicts, and the division in words."""

from __future__ import annotations

import attrs

from fleet_components.systems.karmada.model.template import Estimates
from fleet_components.systems.karmada.scheduler.explain import explain
from tests.scheduler.karmada.builders import (
    DUPLICATED,
    DYNAMIC,
    decide,
    deployment,
    fleet,
    member,
    placement,
    spread,
    static,
)

ROOM = {"a": 6, "b": 12, "c": 18, "d": 9}
MEMBERS = fleet(
    member("a", env="prod"),
    member("b", env="prod"),
    "c",
    member("d", taint="gpu:NoSchedule", env="prod"),
)
WHERE = placement(DYNAMIC, clusterAffinity={"labelSelector": {"matchLabels": {"env": "prod"}}})


def test_each_member_says_why() -> None:
    decision = decide(MEMBERS, deployment(6), WHERE, available=ROOM)
    explanation = explain(MEMBERS, deployment(6), WHERE, decision, estimates=Estimates(ROOM))
    assert [(m.cluster, m.selected, m.summary) for m in explanation.members] == [
        ("a", True, "has 2 of 6 replicas"),
        ("b", True, "has 4 of 6 replicas"),
        ("c", False, "cluster(s) did not match the placement cluster affinity constraint"),
        ("d", False, "cluster(s) had untolerated taint {gpu:NoSchedule}"),
    ]
    assert explanation.division == ("6 replicas over a, b by available replicas 6:12 -> 2, 4",)
    plugins = [verdict.plugin for verdict in explanation.members[0].verdicts]
    assert plugins == [
        "APIEnablement",
        "TaintToleration",
        "ClusterAffinity",
        "SpreadConstraint",
        "ClusterEviction",
        "ClusterLocality",
        "Capacity",
    ]
    remedies = {m.cluster: [v.remedy for v in m.verdicts if v.remedy] for m in explanation.members}
    assert remedies["c"] == ["with env=prod"]
    assert remedies["d"] == [
        "without the taint gpu:NoSchedule, or with a toleration of gpu:NoSchedule"
    ]


def test_a_second_run_says_that_nothing_was_divided() -> None:
    first = decide(MEMBERS, deployment(6), WHERE, available=ROOM)
    second = decide(MEMBERS, deployment(6), WHERE, first.memory, available=ROOM)
    explanation = explain(MEMBERS, deployment(6), WHERE, second, estimates=Estimates(ROOM))
    assert explanation.division == ("6 replicas over a, b as before: 2, 4",)


def test_scores_are_those_that_it_was_decided_by() -> None:
    """What a member gets now was not there when it was chosen."""
    first = decide(MEMBERS, deployment(6), WHERE, available=ROOM)
    second = decide(MEMBERS, deployment(6), WHERE, first.memory, available=ROOM)
    said = [
        [
            verdict.words
            for verdict in explain(MEMBERS, deployment(6), WHERE, item, estimates=room)
            .members[0]
            .verdicts
        ]
        for item, room in ((first, Estimates(ROOM)), (second, Estimates(ROOM)))
    ]
    assert [words[-2:] for words in said] == [
        ["does not have the object yet", "can take 6 replicas"],
        ["has the object", "can take 6 more replicas"],
    ]


def test_scaling_up_tells_what_is_added() -> None:
    first = decide("abc", deployment(6), placement(static(a=1, b=2)))
    assert [d.words for d in first.status.divisions] == [
        "6 replicas over a, b by static weights 1:2 -> 2, 4"
    ]
    where = placement(DYNAMIC)
    more = decide("abc", deployment(9), where, first.memory, available=dict.fromkeys("abc", 5))
    assert [d.words for d in more.status.divisions] == [
        "3 more replicas over a, b, c by available replicas 5:5:5 -> 1, 1, 1"
    ]


def test_targets_that_would_not_be_chosen_now() -> None:
    where = placement(DYNAMIC)
    first = decide("ab", deployment(6), where, available=ROOM)
    tainted = fleet(member("a", taint="gpu:NoSchedule"), "b", "c")
    again = decide(tainted, deployment(6), where, first.memory, available=ROOM)
    summaries = [
        m.summary
        for m in explain(tainted, deployment(6), where, again, estimates=Estimates(ROOM)).members
    ]
    assert summaries == [
        "has 2 of 6 replicas; stays although cluster(s) had untolerated taint {gpu:NoSchedule}",
        "has 4 of 6 replicas",
        "could take it, but 2 others are chosen",
    ]


def test_members_beyond_the_constraint_failures_and_members_that_are_gone() -> None:
    where = placement(DUPLICATED, spreadConstraints=[spread("cluster", 1, 1)])
    decision = decide("ab", deployment(1), where, available={"a": 2, "b": 1})
    assert explain(fleet("a", "b"), deployment(1), where, decision).members[1].summary == (
        "could take it, but 1 other is chosen"
    )
    bad = placement(DYNAMIC)
    failed = decide("b", deployment(9), bad, decision.memory, available={"b": 1})
    summaries = [
        (m.cluster, m.selected, m.summary)
        for m in explain(fleet("b"), deployment(9), bad, failed).members
    ]
    assert summaries[0][2].startswith(
        "could take it, but nothing could be decided: failed to assign replicas:"
    )
    assert summaries[1] == (
        "a",
        True,
        "gone from the fleet; what it held cannot be placed elsewhere yet",
    )


def test_what_an_affinity_misses() -> None:
    affinity = {
        "fieldSelector": {
            "matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["z1"]}]
        },
        "labelSelector": {
            "matchExpressions": [{"key": "env", "operator": "In", "values": ["prod", "test"]}]
        },
        "clusterNames": ["b"],
        "exclude": ["a"],
    }
    members = fleet(attrs.evolve(member("a", env="dev"), zones=("z1", "z2")))
    where = placement(clusterAffinity=affinity)
    explanation = explain(members, deployment(1), where, decide(members, deployment(1), where))
    assert [v.remedy for v in explanation.members[0].verdicts if v.remedy] == [
        'with env=prod (is "dev") and without a zone and with a in the policy\'s clusterNames'
        " and without a in the policy's exclude"
    ]
