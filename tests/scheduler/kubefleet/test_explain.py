"""Every member explained: selected or not, by which plug-in, with what would change it."""

from __future__ import annotations

from typing import Any

import attrs

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.inventory import Inventory
from fleet_components.scheduler.explain import MemberExplanation
from fleet_components.systems.kubefleet.model.memory import PlacementMemory
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy
from fleet_components.systems.kubefleet.scheduler.explain import explain
from tests.scheduler.kubefleet.builders import (
    NOW,
    affinity,
    by,
    label,
    labelled,
    member,
    pick_n,
    policy,
    preferring,
    requiring,
    run,
    spread,
    usage,
    valued,
    where,
)


def explained(
    fleet: list[Cluster],
    wanted: PlacementPolicy | None,
    memory: PlacementMemory = PlacementMemory(),
    **options: Any,
) -> dict[str, MemberExplanation]:
    decision = run(fleet, wanted, memory, namespace=options.get("namespace", ""))
    found = explain(Inventory(fleet, NOW), wanted, decision, **options)
    assert len({entry.cluster for entry in found}) == len(found)
    return {entry.cluster: entry for entry in found}


def verdicts(entry: MemberExplanation) -> dict[str, tuple[Any, ...]]:
    return {
        v.plugin: (v.words, v.remedy) if v.passed is False else (v.words, v.score)
        for v in entry.verdicts
    }


def test_a_picked_member_shows_its_scores_and_where_they_come_from() -> None:
    terms = [(20, label(env="prod")), (-5, {}), (10, by("p", "Ascending")), (0, label(x="y"))]
    members = [
        Cluster("a", labels={"env": "prod"}, properties={"p": "1"}),
        Cluster("b", properties={"p": "2"}),
    ]
    found = explained(members, preferring(1, *terms))
    assert found["a"].selected
    assert (
        found["a"].summary
        == "picked (affinity score 25, topology spread score 0 when it was picked)"
    )
    assert verdicts(found["a"])["ClusterAffinity"] == (
        "20 of 20 for env=prod; -5 of -5 for any member; 10 of 10 for less p",
        25,
    )
    assert [v.passed for v in found["a"].verdicts] == [True, True, True, True, None]


def test_an_outscored_member_shows_what_it_would_get() -> None:
    found = explained(labelled(a={}, b={"env": "prod"}), preferring(1, (20, label(env="prod"))))
    assert (
        found["a"].summary
        == "could take it, but 1 other is picked (affinity score 0 if it were picked now)"
    )
    assert verdicts(found["a"])["ClusterAffinity"] == ("0 of 20 for env=prod", 0)
    assert verdicts(explained(labelled(a={}, b={}), pick_n(1))["a"])["ClusterAffinity"] == (
        "no preferred terms",
        0,
    )
    prod = {
        "matchLabels": {"env": "prod"},
        "matchExpressions": [{"key": "old", "operator": "DoesNotExist"}],
    }
    both = {"labelSelector": prod, **by("p")}
    members = [
        Cluster(n, labels={"env": "prod"}, properties={"p": p})
        for n, p in (("a", "0"), ("b", "2"), ("c", "4"))
    ]
    found = explained(members, preferring(1, (20, both)))
    assert verdicts(found["b"])["ClusterAffinity"] == (
        "10 of 20 for env=prod and no label old and more p",
        10,
    )


def test_when_nobody_is_wanted() -> None:
    assert explained(labelled(a={}), pick_n(0))["a"].summary.startswith(
        "could take it, but 0 others are picked"
    )


def test_a_filtered_member_shows_every_filter_with_what_would_do() -> None:
    prod = requiring("PickAll", None, label(env="prod"), where("p", "Ge", "3"))
    wrong = Cluster(
        "m", labels={"env": "test"}, properties={"p": "1"}, taints=(Taint("k", "v"),), leaving=True
    )
    entry = explained([wrong], attrs.evolve(prod, placement_type="PickAll"))["m"]
    assert not entry.selected
    assert entry.summary == "cluster does not match with any of the required cluster affinity terms"
    assert verdicts(entry) == {
        "ClusterAffinity": (entry.summary, 'with env=prod (is "test"), or with p 3 (is 1)'),
        "ClusterEligibility": ("cluster has left the fleet", "it is leaving the fleet for good"),
        "NamespaceAffinity": ("passes", None),
        "TaintToleration": (
            "taint &{Key:k Value:v Effect:NoSchedule} cannot be tolerated",
            "without the taint k=v:NoSchedule, or with a toleration of k=v:NoSchedule",
        ),
    }


def test_what_a_term_misses_is_shown_as_the_member_has_it() -> None:
    expressions = [
        {"key": "region", "operator": "In", "values": ["a", "b"]},
        {"key": "region", "operator": "NotIn", "values": ["c"]},
        {"key": "gpu", "operator": "Exists"},
        {"key": "old", "operator": "DoesNotExist"},
    ]
    cpu = "resources.kubernetes-fleet.io/available-cpu"
    term = {"labelSelector": {"matchExpressions": expressions}, **where(cpu, "Gt", "8")}
    members = [
        member("m", labels={"region": "c", "old": "yes"}, usage=usage(cpu="2000m")),
        member("n"),
    ]
    found = explained(members, requiring("PickAll", None, term))
    assert verdicts(found["m"])["ClusterAffinity"][1] == (
        'with region=a (is "c") and gpu=true and without the label old and with 9 CPUs available (is 2000m)'
    )
    assert "and 9 more CPUs available (9, not 0)" in verdicts(found["n"])["ClusterAffinity"][1]


def test_what_a_term_does_not_miss_is_not_shown() -> None:
    members = [Cluster("m", labels={"env": "prod"}, properties={"p": "3", "q": "1"})]
    both = where("p", "Ge", "3")["propertySelector"]["matchExpressions"]
    both += where("q", "Ge", "3")["propertySelector"]["matchExpressions"]
    not_in = {
        "matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["prod", "x"]}],
    }
    term = {"labelSelector": not_in, "propertySelector": {"matchExpressions": both}}
    assert verdicts(explained(members, requiring("PickAll", None, term))["m"])["ClusterAffinity"][
        1
    ] == ("without the label env and with q 3 (is 1)")


def test_what_no_member_meets_has_no_remedy() -> None:
    never = {
        "matchLabels": {"env": "a"},
        "matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["a"]}],
    }
    found = explained(
        labelled(m={"env": "a"}), requiring("PickAll", None, {"labelSelector": never})
    )
    assert verdicts(found["m"])["ClusterAffinity"][1] == ""


def test_what_an_unwell_member_needs() -> None:
    entry = explained([Cluster("m", observed=True, agent=None)], policy("PickAll"))["m"]
    assert verdicts(entry)["ClusterEligibility"][1] == "its member agent reports again, healthy"


def test_cluster_scoped_placements_look_at_no_namespace() -> None:
    entry = explained([member("m", namespaces={}, namespaces_collected=True)], policy("PickAll"))[
        "m"
    ]
    assert verdicts(entry)["NamespaceAffinity"] == ("passes", None)


def test_a_namespace_that_is_missing() -> None:
    entry = explained(
        [member("m", namespaces={}, namespaces_collected=True)], policy("PickAll"), namespace="app"
    )["m"]
    assert verdicts(entry)["NamespaceAffinity"] == (
        "target namespace does not exist on cluster",
        'place the namespace "app" there first, with a ClusterResourcePlacement',
    )


def test_spread_shows_the_counts() -> None:
    members = labelled(a={"zone": "1"}, b={"zone": "1"}, c={"zone": "2"}, d={})
    members[2] = Cluster("c", labels={"zone": "2"}, leaving=True)
    constraints = [spread("zone"), spread("rack"), spread("zone", 1, "ScheduleAnyway")]
    found = explained(members, pick_n(2, topologySpreadConstraints=constraints[:1]))
    assert {name for name, entry in found.items() if entry.selected} == {"b", "d"}
    found = explained(members, pick_n(3, topologySpreadConstraints=constraints))
    assert verdicts(found["a"])["TopologySpreadConstraints"] == (
        'zone: "1" has 1 picked, -1000; rack: has no such label, 0; zone: "1" has 1 picked, -1000',
        -2000,
    )
    assert verdicts(found["c"])["TopologySpreadConstraints"][0] == (
        'zone: "2" has 0 picked, +1; rack: has no such label, 0; zone: "2" has 0 picked, +1'
    )
    filtering = next(v for v in found["a"].verdicts if v.plugin == "TopologySpreadConstraints")
    assert (
        filtering.words == 'violated doNotSchedule topology spread constraint "zone" (max skew 1)'
    )
    assert filtering.remedy == (
        'a higher maxSkew, or picks elsewhere first: zone has picks in {"1": 1, "2": 0}; rack has picks in {}'
    )


def test_the_constraint_that_a_member_violates_is_named() -> None:
    members = labelled(
        a={"zone": "1", "rack": "1"},
        b={"zone": "2", "rack": "1"},
        c={"zone": "2", "rack": "1"},
        d={"rack": "2"},
    )
    members[3] = Cluster("d", labels={"rack": "2", "zone": "3"}, leaving=True)
    constraints = [spread("zone"), spread("rack")]
    found = explained(members, pick_n(9, topologySpreadConstraints=constraints))
    assert [name for name, entry in found.items() if entry.selected] == ["c"]
    assert 'constraint "rack"' in found["a"].summary
    assert 'constraint "zone"' in found["b"].summary
    assert verdicts(found["a"])["TopologySpreadConstraints"][0] == (
        'zone: "1" has 0 picked, +0; rack: "1" has 1 picked, -1000'
    )


def test_spread_scores_of_what_could_be_picked() -> None:
    members = labelled(a={"zone": "1"}, b={"zone": "1"}, c={"zone": "2"})
    found = explained(members, pick_n(1, topologySpreadConstraints=[spread("zone")]))
    assert found["c"].selected
    assert "TopologySpreadConstraints" not in verdicts(found["c"])
    assert found["a"].summary == (
        "could take it, but 1 other is picked (affinity score 0, topology spread score 1 if it were picked now)"
    )
    assert [v.words for v in found["a"].verdicts][-1] == 'zone: "1" has 0 picked, +1'


def test_what_stays_although_it_could_not_be_picked_any_more() -> None:
    before = run(labelled(a={}), pick_n(1)).memory.settled()
    entry = explained([Cluster("a", taints=(Taint("k"),))], pick_n(1), before)["a"]
    assert entry.selected
    assert entry.summary == (
        "picked (affinity score 0, topology spread score 0 when it was picked); "
        "stays although taint &{Key:k Value: Effect:NoSchedule} cannot be tolerated"
    )


def test_named_members() -> None:
    members = [Cluster("a"), Cluster("b", leaving=True), Cluster("c")]
    found = explained(members, policy("PickFixed", clusterNames=["a", "b"]))
    assert [entry.summary for entry in found.values()] == [
        "named by the policy",
        "cluster has left the fleet",
        "not named by the policy",
    ]
    assert verdicts(found["c"]) == {
        "ClusterNames": ("not named by the policy", 'add "c" to clusterNames')
    }
    assert verdicts(found["b"])["ClusterEligibility"][0] == "cluster has left the fleet"
    assert verdicts(found["a"])["ClusterNames"] == ("named by the policy", None)
    assert [v.remedy for v in found["a"].verdicts] == ["", ""]
    assert [entry.selected for entry in found.values()] == [True, False, False]


def test_an_empty_list_of_names_keeps_and_says_so() -> None:
    before = run(labelled(a={}), policy("PickFixed", clusterNames=["a"])).memory.settled()
    entry = explained(labelled(a={}), policy("PickFixed"), before)["a"]
    assert (entry.selected, entry.summary) == (True, "stays although not named by the policy")


def test_members_that_are_given_up_or_gone() -> None:
    before = run(labelled(a={}, b={}, c={}), pick_n(3)).memory.settled()
    found = explained(labelled(b={}, c={}), pick_n(1), before)
    assert list(found) == ["b", "c", "a"]
    assert found["a"].summary == "no longer a member of the fleet, so it cannot be picked"
    assert found["a"].selected is False
    assert found["b"].selected is False
    assert found["b"].summary.startswith("could take it, but 1 other is picked")
    listless = explained(labelled(a={}, b={}), policy("PickAll"))
    assert all(entry.selected for entry in listless.values())


def test_only_the_members_asked_for() -> None:
    before = run(labelled(a={}, b={}, z={}), pick_n(3)).memory.settled()
    assert list(explained(labelled(a={}, b={}), pick_n(3), before, members=["b", "z"])) == [
        "b",
        "z",
    ]


def test_a_new_member_that_the_next_scheduling_takes() -> None:
    decision = run(labelled(a={}), None)
    entries = explain(Inventory(labelled(a={}, b={}), NOW), None, decision)
    assert [entry.summary for entry in entries] == [
        "picked (affinity score 0, topology spread score 0 when it was picked)",
        "not picked yet; it would be with the next scheduling",
    ]


def test_a_short_placement_says_that_nothing_more_was_picked() -> None:
    decision = run(labelled(a={}), pick_n(3))
    entries = explain(Inventory(labelled(a={}, b={}), NOW), pick_n(3), decision)
    assert entries[1].summary.startswith("could take it, but nothing more was picked")


def test_a_cycle_that_fails_is_the_reason_for_all() -> None:
    members = valued(a="1", b="x")
    found = explained(members, preferring(1, (1, by("p"))))
    assert {entry.summary[:37] for entry in found.values()} == {
        "nothing could be decided: unexpected "
    }
    assert {entry.selected for entry in found.values()} == {False}


def test_pick_all_shows_no_scores() -> None:
    wanted = policy("PickAll", **affinity(preferredDuringSchedulingIgnoredDuringExecution=[]))
    assert [v.score for v in explained(labelled(a={}), wanted)["a"].verdicts] == [None] * 4
