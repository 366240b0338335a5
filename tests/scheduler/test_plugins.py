"""Plug-ins from outside the package: they run as those of the real systems do, and every decision names them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.model.inventory import Inventory
from fleet_components.model.problem import FleetError
from fleet_components.plan.feed import decide, feed_inventory, feed_subject, read_subject
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.options import Options, Settings
from fleet_components.plan.past import Past
from fleet_components.plan.source import source_of
from fleet_components.plan.subject import Decided
from fleet_components.scheduler.framework import Plugin
from fleet_components.scheduler.plugins import load_plugins
from fleet_components.systems.karmada import scheduler as karmada
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.kubefleet import scheduler as kubefleet
from fleet_components.testing import run_program
from tests.cli.fleets import run
from tests.scheduler import outside
from tests.scheduler.karmada.builders import deployment, fleet, placement
from tests.scheduler.kubefleet.builders import affinity, labelled, pick_n, policy, spread
from tests.strategies import AS_OF, fleets, policies

pytestmark = pytest.mark.long

HERE = "tests.scheduler.outside"
PRICES = {"a": {"price": "3"}, "b": {"price": "1"}, "c": {"freeze": "true", "price": "0"}}
MEMBERS = Inventory(labelled(**PRICES))


def scheduled(*plugins: Plugin, number: int = 1, **fields: Any) -> list[str]:
    decision = kubefleet.schedule(MEMBERS, pick_n(number, **fields), plugins=plugins)
    assert decision.error == ""
    return sorted(decision.memory.bindings)


def test_a_filter_and_a_score_decide_with_those_of_kubefleet() -> None:
    assert scheduled() == ["c"]
    assert scheduled(outside.Freeze()) == ["b"]
    assert scheduled(outside.Cheapest()) == ["c"]
    assert scheduled(outside.Freeze(), outside.Cheapest()) == ["b"]


def test_a_filter_and_a_score_decide_with_those_of_karmada() -> None:
    members = Inventory(labelled(**PRICES))
    item = placement(
        spreadConstraints=[{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]
    )

    def chosen(*plugins: Plugin) -> list[str]:
        return list(karmada.schedule(members, deployment(2), item, plugins=plugins).memory.clusters)

    assert chosen() == ["a"]
    assert chosen(outside.Cheapest()) == ["c"]
    assert chosen(outside.Freeze(), outside.Cheapest()) == ["b"]


def test_a_filter_that_lets_what_stands_pass_takes_nothing_away() -> None:
    frozen = Inventory(labelled(a={"freeze": "true"}, b={}))
    here = TemplateMemory(uid="u", clusters={"a": 2}, scheduled=True)
    kept = karmada.schedule(frozen, deployment(2), placement(), here, plugins=[outside.Freeze()])
    assert dict(kept.memory.clusters) == {"a": 2, "b": 2}
    new = karmada.schedule(frozen, deployment(2), placement(), plugins=[outside.Freeze()])
    assert dict(new.memory.clusters) == {"b": 2}
    before = kubefleet.schedule(frozen, pick_n(2)).memory.settled()
    wanted = pick_n(2, **affinity(preferredDuringSchedulingIgnoredDuringExecution=[]))
    again = kubefleet.schedule(frozen, wanted, before, plugins=[outside.Freeze()])
    assert sorted(again.memory.selected) == ["a", "b"]


def test_the_cycle_asks_at_every_extension_point_in_order() -> None:
    outside.ASKED.clear()
    assert scheduled(outside.Recorder(), number=3) == ["a", "b", "c"]
    one_cycle = ["PostBatch", "PreFilter", "Filter", "PreScore", "Score"]
    assert 2 * one_cycle == outside.ASKED  # two members, then one


def test_pick_all_asks_no_score_and_pick_fixed_asks_nobody() -> None:
    outside.ASKED.clear()
    kubefleet.schedule(MEMBERS, policy("PickAll"), plugins=[outside.Recorder()])
    assert outside.ASKED == ["PreFilter", "Filter"]
    outside.ASKED.clear()
    kubefleet.schedule(
        MEMBERS, policy("PickFixed", clusterNames=["a"]), plugins=[outside.Recorder()]
    )
    assert outside.ASKED == []


def test_a_plugin_may_skip_its_own_filter_and_score() -> None:
    assert scheduled(outside.Skipping()) == ["c"]
    decision = kubefleet.schedule(MEMBERS, pick_n(1), plugins=[outside.Skipping()])
    found = kubefleet.explain(MEMBERS, pick_n(1), decision, plugins=[outside.Skipping()])
    assert all(verdict.plugin != "Skipping" for item in found for verdict in item.verdicts)


def test_a_score_of_ones_own_counts_when_members_are_given_up_again() -> None:
    cheap = [outside.Cheapest()]
    members = Inventory(labelled(a={"price": "1"}, b={"price": "9"}))
    both = kubefleet.schedule(members, pick_n(2), plugins=cheap)
    assert {name: binding.affinity_score for name, binding in both.memory.bindings.items()} == {
        "a": -1,
        "b": -9,
    }
    fewer = kubefleet.schedule(members, pick_n(1), both.memory, plugins=cheap)
    assert [
        name for name, binding in fewer.memory.bindings.items() if binding.state != "Unscheduled"
    ] == ["a"]


@given(fleets(), policies)
def test_a_plugin_that_does_not_care_changes_nothing(members: Any, wanted: Any) -> None:
    inventory = Inventory(members, AS_OF)
    alone = kubefleet.schedule(inventory, wanted)
    joined = kubefleet.schedule(inventory, wanted, plugins=[outside.Indifferent()])
    assert joined.error == alone.error
    assert joined.memory.bindings.keys() == alone.memory.bindings.keys()
    assert [decision.cluster_name for decision in joined.status.decisions] == [
        decision.cluster_name for decision in alone.status.decisions
    ]


@given(st.integers(1, 5), st.integers(1, 9))
def test_a_plugin_that_does_not_care_changes_nothing_for_karmada(
    groups: int, replicas: int
) -> None:
    where = placement(
        spreadConstraints=[{"spreadByField": "cluster", "minGroups": 1, "maxGroups": groups}]
    )
    members = fleet("a", "b", "c")
    alone = karmada.schedule(members, deployment(replicas), where)
    joined = karmada.schedule(members, deployment(replicas), where, plugins=[outside.Indifferent()])
    assert attrs.evolve(joined, memory=alone.memory) == alone
    assert joined.memory == alone.memory


def test_a_plugin_can_say_that_nothing_can_be_decided() -> None:
    for plugin in (outside.Undecided(), outside.UndecidedScore()):
        decision = kubefleet.schedule(MEMBERS, pick_n(1), plugins=[plugin])
        assert "the price list is missing" in decision.error
        condition = karmada.schedule(
            fleet("a"), deployment(1), placement(), plugins=[plugin]
        ).status.condition
        assert condition is not None
        assert (condition.status, condition.reason) == ("False", "SchedulerError")
        assert condition.message.endswith("the price list is missing")


@pytest.mark.parametrize(
    ("plugin", "said"),
    [
        (outside.Crashing(), "plug-in Crashing: failed with a KeyError"),
        (outside.Speechless(), "plug-in Speechless: failed with a KeyError"),
        (
            outside.Answering(),
            "plug-in Answering: answers with a bool (mask() returns a set of members, an int)",
        ),
        (
            outside.Column(),
            "plug-in Column: answers with a list (scores() returns sets of members by score, both ints)",
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_broken_plugin_is_named_without_its_values(plugin: Plugin, said: str) -> None:
    for ask in (
        lambda: kubefleet.schedule(MEMBERS, pick_n(1), plugins=[plugin]),
        lambda: karmada.schedule(fleet("a"), deployment(1), placement(), plugins=[plugin]),
    ):
        with pytest.raises(FleetError) as caught:
            ask()
        (problem,) = caught.value.problems
        assert str(problem).endswith(said)
        assert "hunter2" not in str(problem)


def test_a_plugin_that_allows_no_pick_does_not_go_on_for_ever() -> None:
    with pytest.raises(FleetError, match="plug-in Stingy: allows no pick"):
        kubefleet.schedule(MEMBERS, pick_n(1), plugins=[outside.Stingy()])


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("outside", "outside: is not an import path"),
        ("a b:C", "a b:C: is not an import path"),
        ("nowhere_at_all:Cheapest", "nowhere_at_all:Cheapest: there is no module nowhere_at_all"),
        (
            f"{HERE}:Cheapst",
            f"{HERE}:Cheapst: there is no Cheapst in {HERE} (did you mean {HERE}:Cheapest?)",
        ),
        (f"{HERE}:NOT_A_CLASS", "is not a class of plug-ins"),
        ("os:system", "os:system: is not a class of plug-ins"),
        (f"{HERE}:Unfinished", "lacks mask, reason"),
        (f"{HERE}:Demanding", "failed with a TypeError (a plug-in is made without arguments)"),
        (f"{HERE}:Nameless", "has no name"),
        (f"{HERE}:Foreign", "is for no known profile"),
        (f"{HERE}:Batch", 'limits batches, and Karmada has none (set profiles = ("kubefleet",))'),
        (f"{HERE}:Twin", "plug-in TaintToleration: plugins: has the name of another plug-in"),
        (
            f"{HERE}:Weighty",
            'adds to "weight" (the parts of a score are: topologySpread, affinity, obsolete)',
        ),
    ],
)
def test_what_cannot_be_a_plugin_is_refused_before_anything_is_decided(
    path: str, said: str
) -> None:
    with pytest.raises(FleetError) as caught:
        load_plugins([path])
    assert said in str(caught.value)
    with pytest.raises(FleetError) as planned:
        plan_fleet(source_of([]), Past(), Options(settings=Settings(plugins=(path,))))
    assert said in str(planned.value)


def test_all_paths_are_told_at_once_and_one_twice_is_an_error() -> None:
    with pytest.raises(FleetError) as caught:
        load_plugins(["x", f"{HERE}:Freeze", f"{HERE}:Freeze", "y"])
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nothing_like_it", "ModuleNotFoundError"),
        ("def (", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_module_that_fails_is_named_with_its_line(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"broken_{said.lower()}"
    (tmp_path / f"{name}.py").write_text(f"# first line\n{text}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(FleetError) as caught:
        load_plugins([f"{name}:A"])
    assert f"{name}.py:2: plugins: {name}:A: cannot be imported: a {said}" in str(caught.value)


FLEET = """
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: a, labels: {price: "3"}}
spec: {identity: {kind: ServiceAccount, name: a, namespace: fleet-system}}
---
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: b, labels: {price: "1"}}
spec: {identity: {kind: ServiceAccount, name: b, namespace: fleet-system}}
---
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: c, labels: {freeze: "true"}}
spec: {identity: {kind: ServiceAccount, name: c, namespace: fleet-system}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: office}
---
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: shop}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]
  policy: {placementType: PickN, numberOfClusters: 1}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: office, namespace: office}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: settings}]
  placement:
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
"""
BOTH = (f"{HERE}:Freeze", f"{HERE}:Cheapest")
NAMED = [word for path in BOTH for word in ("--plugin", path)]
SAID = f"decided with {', '.join(BOTH)} too, and so no longer as"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fleet.yaml").write_text(FLEET)
    return tmp_path


def test_plans_say_which_plugins_decided_for_both_systems(folder: Path) -> None:
    table = run("plan", folder, *NAMED).stdout
    assert f"{SAID} KubeFleet v0.3.1 decides" in table
    assert f"{SAID} Karmada 1.19 decides" in table
    assert run("plan", folder, *NAMED, "-o", "markdown").stdout.count(SAID) == 2
    document = json.loads(run("plan", folder, *NAMED, "-o", "json").stdout)
    assert [item["plugins"] for item in document["subjects"]] == [list(BOTH)] * 2
    assert [[c["name"] for c in item["clusters"]] for item in document["subjects"]] == [
        ["b"],
        ["b"],
    ]
    assert "no longer as" not in run("plan", folder).stdout


def test_explain_shows_verdicts_reasons_and_remedies(folder: Path) -> None:
    for subject in ("shop", "office/ConfigMap/settings"):
        tree = run("explain", folder, subject, *NAMED).stdout
        assert SAID in tree
        assert "Freeze: is frozen" in tree
        assert "remedy: take the label freeze away" in tree
        assert "Cheapest scores -3: price 3" in tree


def test_those_of_the_guide_work_as_they_stand(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text()
    module, *_ = re.findall(r"```python\n(.*?)```", page, re.S)
    (command,) = re.findall(r"^fleet plan my-fleet (.*)$", page, re.M)
    (tmp_path / "my_plugins.py").write_text(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_plugins", raising=False)
    assert "price 1" in run("plan", folder, *command.split()).stdout


def test_the_state_remembers_them_and_a_plan_without_them_is_refused(
    folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert run("render", folder / "fleet.yaml", *NAMED, "--out", out).exit_code == 0
    state = out / "local" / "state.json"
    refused = run("plan", folder / "fleet.yaml", "--state", state)
    assert refused.exit_code == 1
    assert f"was decided with plug-ins: {', '.join(BOTH)}" in refused.stderr
    assert " ".join(NAMED) in refused.stderr
    again = run("plan", folder / "fleet.yaml", "--state", state, *NAMED, "--detailed-exitcode")
    assert again.exit_code == 0, again.stdout


def test_only_plugins_that_the_command_line_names_are_imported(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "lurking.py").write_text("raise SystemExit('it was imported')")
    out = tmp_path / "out"
    assert run("render", folder / "fleet.yaml", *NAMED, "--out", out).exit_code == 0
    state = out / "local" / "state.json"
    state.write_text(state.read_text().replace(HERE, "lurking"))
    assert "lurking:Freeze" in run("plan", folder / "fleet.yaml", "--state", state).stderr
    assert "lurking" not in sys.modules


def test_the_providers_decide_with_them_again(folder: Path) -> None:
    from fleet_components.plan.source import read_source

    plan = plan_fleet(read_source(str(folder)), Past(), Options(settings=Settings(plugins=BOTH)))
    for decided in plan.subjects:
        feed = feed_subject(
            Decided(decided.subject, decided.before, decided.outcome),
            feed_inventory(plan.inventory),
        )
        subject = read_subject(feed)  # as the process of the providers reads it
        assert subject.plugins == BOTH
        assert subject.decide(decided.before).record.decided() == decided.record.decided()
        assert decide(feed, decided.before.to_wire())["decisions"].keys() == {"b"}


def test_a_program_takes_them_as_an_argument_and_from_the_configuration(folder: Path) -> None:
    def program() -> None:
        from fleet_components import Fleet, FleetArgs

        Fleet("shop", FleetArgs(str(folder / "fleet.yaml"), render_to="out", plugins=BOTH[:1]))

    run_ = run_program(program, project="shop", config={"fleet:plugins": BOTH[1]})
    assert run_.error is None
    inputs = run_.inputs("shop/shop", "dynamic/fleet:Placement")
    assert inputs["plugins"] == list(BOTH)
    assert list(inputs["decisions"]) == ["b"]
    assert any(SAID in text for _, text in run_.messages)
    assert run_.inputs("shop", "dynamic/fleet:Roster")["settings"]["plugins"] == list(BOTH)


def test_a_wrong_path_in_the_configuration_is_told_with_its_key(folder: Path) -> None:
    (folder / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    (folder / "__main__.py").write_text(
        'from fleet_components import Fleet\nFleet.from_config("shop")\n'
    )
    (folder / "Pulumi.dev.yaml").write_text(
        "config:\n  fleet:source: fleet.yaml\n  fleet:render: out\n  fleet:plugins: nope:A\n"
    )
    error = run("plan", folder).stderr
    assert "Pulumi.dev.yaml:4" in error
    assert "nope:A: there is no module nope" in error


def test_spread_verdicts_are_left_out_for_members_that_are_picked() -> None:
    wanted = pick_n(1, topologySpreadConstraints=[spread("price")])
    decision = kubefleet.schedule(MEMBERS, wanted)
    found = {item.cluster: item for item in kubefleet.explain(MEMBERS, wanted, decision)}
    asked = {
        name: "TopologySpreadConstraints" in {v.plugin for v in item.verdicts}
        for name, item in found.items()
    }
    assert asked == {"a": True, "b": True, "c": False}
