"""What stands after an update that broke: members are asked, losses are listed once, and the lists guard the tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from fleet_components.components import past as program_past
from fleet_components.live.connection import Answer, Leftover
from fleet_components.model.cluster import Cluster
from fleet_components.model.problem import FleetError
from fleet_components.plan import names
from fleet_components.plan.departures import Fate
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.past import Past
from fleet_components.plan.standing import Standing
from fleet_components.review.planning.preview import _agreed
from fleet_components.review.planning.resource import DELETE, REPLACE, SAME, UPDATE, ChangedResource
from tests.plan.stack import FLEET, Pair, pair_of
from tests.plan.test_broken import CLAIM, CONFIG, WEB, Break, BreakingStack, Source, checked, of

DATA = of(CLAIM, "data")
ASKED = Leftover("v1", CLAIM, "shop", "data")


@attrs.frozen
class Asked:
    """A member of a program, as far as it is asked."""

    name: str
    kubeconfig: str = "text"
    lost: bool = False

    @property
    def cluster(self) -> Cluster:
        return Cluster(self.name)


def as_asked(past: Past, members: list[Any]) -> Past:
    return program_past.as_members_say(past, members, ())


def stood(past: Past, pair: Pair) -> Standing:
    (found,) = [item for item in past.standing if (item.cluster, item.key) == pair]
    return found


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("answer", "gone"),
    [
        (Answer(uid="u", objects={}), True),
        (Answer(uid="u", objects={ASKED: {"metadata": {"uid": "1"}}}), False),
        (Answer(), False),
    ],
    ids=["absent", "there", "silent"],
)
def test_members_say_what_was_deleted_and_not_created_again(
    answer: Answer, gone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine does not say it to a program; what does not answer counts as standing."""
    world, questions = BreakingStack(), list[tuple[str, list[Leftover]]]()
    there = Answer(uid="v", objects={ASKED: {"metadata": {"uid": "2"}}})
    checked(world, Source().documents())
    checked(world, Source(claim=2).documents(), DATA, Break.DENIED)
    assert DATA not in world.objects
    resources = [
        attrs.evolve(resource, pending_replacement=False)
        for resource in world.state.resources.values()
    ]
    past = Past.of(resources, FLEET)
    assert not stood(past, DATA).gone

    def ask(kubeconfig: str, objects: list[Leftover]) -> Answer:
        questions.append((kubeconfig, objects))
        return answer if kubeconfig == "a" else there

    monkeypatch.setattr(program_past, "in_process", lambda: False)
    monkeypatch.setattr(program_past, "read_kubeconfig", lambda _, name: name)
    monkeypatch.setattr(program_past, "ask_cluster", ask)
    known = as_asked(past, [Asked("a"), Asked("b")])
    assert sorted(questions) == [("a", [ASKED]), ("b", [ASKED])]
    assert [(item.cluster, item.key) for item in known.standing if item.gone] == (
        [DATA] if gone else []
    )
    # Of a lost member, and of one whose kubeconfig is not known yet, the object counts as standing.
    assert as_asked(past, [Asked("a", lost=True)]) == past


def test_losses_of_a_member_that_was_lost_in_an_update_that_broke_are_listed_once() -> None:
    world = BreakingStack()
    checked(world, Source().documents())
    seen = world.program(
        Source().documents(), {"lost": "a"}, breaks=lambda document: document.type == names.ROSTER
    )
    assert seen.run.error is not None
    world.state = seen.run.state()
    assert {stood.cluster for stood in Past.of(world.state.resources.values(), FLEET).standing} == {
        "a",
        "b",
    }
    assert Past.of(world.state.resources.values(), FLEET).members["a"].forgotten
    plan = world.program(Source(config=0).documents(), {}).plan
    assert plan is not None
    leaving = Counter((departure.cluster, departure.key) for departure in plan.departures)
    assert leaving == {of(CONFIG, "c", member): 1 for member in "ab"}
    assert {departure.fate for departure in plan.departures} <= {Fate.DELETED, Fate.SWEPT}


@pytest.fixture(scope="module")
def plan() -> FleetPlan:
    """A plan that deletes a ConfigMap, replaces a claim, and leaves the rest."""
    world = BreakingStack()
    checked(world, Source().documents())
    return world.directory(Source(claim=2, config=0).documents())


def tree(plan: FleetPlan, changes: Mapping[Pair, str]) -> list[ChangedResource]:
    """A tree in which objects change so."""
    urns = {pair_of(item.urn): item.urn for item in plan.past.standing}
    return [
        ChangedResource(
            urns[pair],
            names.Urn.parse(urns[pair]).type,
            names.Urn.parse(urns[pair]).name,
            {},
            change=change,
        )
        for pair, change in changes.items()
    ]


def test_a_tree_that_agrees_with_the_lists(plan: FleetPlan) -> None:
    changes = {
        DATA: REPLACE,
        of(CONFIG, "c"): DELETE,
        of(WEB, "web"): UPDATE,
        of(WEB, "web", "b"): SAME,
    }
    assert [item.change for item in _agreed(tree(plan, changes), [plan])] == list(changes.values())


@pytest.mark.parametrize(
    "changes",
    [
        {of(WEB, "web"): REPLACE},
        {of(WEB, "web"): DELETE},
        {DATA: DELETE},
        {of(CONFIG, "c"): REPLACE},
    ],
)
def test_planning_fails_where_the_tree_has_what_no_list_has(
    plan: FleetPlan, changes: dict[Pair, str]
) -> None:
    with pytest.raises(FleetError) as caught:
        list(_agreed(tree(plan, changes), [plan]))
    (problem,) = caught.value.problems
    (change,) = changes.values()
    assert problem.what.startswith("internal error:")
    assert f"the change {change}" in problem.what
    assert [pair_of(problem.subject)] == list(changes)


@pytest.mark.samples(1)
@pytest.mark.parametrize("once_more", [False, True])
def test_killed_twice_at_an_object_that_goes_back(once_more: bool) -> None:
    """A later update drops the note of the engine that it was killed: what goes back is written, and called unknown."""
    world, web, config = BreakingStack(), of(WEB, "web"), of(CONFIG, "c")

    def source(version: int) -> list[Mapping[str, Any]]:
        return Source(1, version, 2 if version > 1 else 1, sealed=False).documents()

    checked(world, source(1))
    checked(world, source(2), web)
    checked(world, source(3), config, Break.KILLED)
    if once_more:
        checked(world, source(2), web)
        checked(world, source(3), config, Break.KILLED)
    # Denied, which says nothing of what stands.
    checked(world, source(3), config, Break.DENIED)
    said = checked(world, source(2))
    assert said is not None
    assert config in said.updated & said.unknown
    assert world.objects[config].data["data"] == {"k": "2"}


def test_killed_and_denied_at_one_object() -> None:
    world, at = BreakingStack(), of(WEB, "web", "b")
    checked(world, Source(1, 2, 1, members=("b",)).documents())
    checked(world, Source(1, 1, 2, members=("b",)).documents(), at, Break.KILLED)
    checked(world, Source(2, 1, 2, sealed=False, members=("b",)).documents(), at, Break.DENIED)
    said = checked(world, Source(1, 2, 1, members=("b",)).documents())
    assert said is not None
    assert at in said.updated & said.unknown
