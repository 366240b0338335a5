"""What a plan says is what happens: over random fleets of both systems, and random histories.

The plan of the directory, the plan of the program, and what the program registers are compared with each other, and
with what then lives on the clusters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from fleet_components.model.manifest import ObjectKey
from fleet_components.model.problem import Problem
from fleet_components.plan.departures import Fate
from fleet_components.plan.describe import describe_subject
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.remainder import together
from fleet_components.review.planning.survey import Survey
from fleet_components.rollout.rollout import Change
from fleet_components.testing import reveal
from tests.plan.stack import Seen, Stack, changes, pair_of

pytestmark = pytest.mark.long

MEMBERS = ("a", "b", "c", "d")
SPACES = ("one", "two", "three")
thorough = settings(
    phases=[Phase.explicit, Phase.generate],
    max_examples=8,
)


@attrs.define
class Written:
    """What the user has written.

    Attributes:
        members: the labels of each member.
        placements: by name: the namespace that it selects, and its policy.
        policies: the Karmada policies by name: the namespace, and the members that it takes.
        objects: the images by namespace and name.
        lost: the members that are marked lost.
    """

    members: dict[str, dict[str, str]]
    placements: dict[str, tuple[str, dict[str, Any]]]
    policies: dict[str, tuple[str, list[str]]]
    objects: dict[tuple[str, str], str]
    lost: set[str] = attrs.field(factory=set)

    def documents(self) -> Iterator[dict[str, Any]]:
        """All documents."""
        identity = {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}
        for name, labels in self.members.items():
            metadata = {"name": name, "labels": labels}
            kind = {"apiVersion": "cluster.kubernetes-fleet.io/v1", "kind": "MemberCluster"}
            yield {**kind, "metadata": metadata, "spec": {"identity": identity}}
        for name, (space, policy) in self.placements.items():
            selector = {"group": "", "version": "v1", "kind": "Namespace", "name": space}
            spec = {"resourceSelectors": [selector], "policy": policy}
            kind = {
                "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
                "kind": "ClusterResourcePlacement",
            }
            yield {**kind, "metadata": {"name": name}, "spec": spec}
        for name, (space, members) in self.policies.items():
            spec = {
                "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
                "placement": {"clusterAffinity": {"clusterNames": members}},
            }
            kind = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy"}
            yield {**kind, "metadata": {"name": name, "namespace": space}, "spec": spec}
        for space in SPACES:
            yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}
        for (space, name), image in self.objects.items():
            yield deployment(space, name, image)


def deployment(space: str, name: str, image: str) -> dict[str, Any]:
    labels = {"app": name}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "it", "image": image}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": space},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": pod},
    }


picks = st.one_of(
    st.just({"placementType": "PickAll"}),
    st.builds(lambda n: {"placementType": "PickN", "numberOfClusters": n}, st.integers(1, 3)),
    st.lists(st.sampled_from(MEMBERS), min_size=1, unique=True).map(
        lambda names: {"placementType": "PickFixed", "clusterNames": sorted(names)}
    ),
)


def typed(
    placements: dict[str, tuple[str, dict[str, Any]]],
) -> dict[str, tuple[str, dict[str, Any]]]:
    """The type of a placement cannot be changed: another type is another placement."""
    return {f"{name}-{it[1]['placementType'].lower()}": it for name, it in placements.items()}


taken = st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=3, unique=True).map(sorted)
images = st.sampled_from(["web:1", "web:2", "web:3"])
labels = st.sampled_from([{}, {"env": "prod"}])
# Placements and policies share namespaces, so that objects change hands, and two sometimes claim one object.
worlds = st.builds(
    Written,
    st.dictionaries(st.sampled_from(MEMBERS), labels, min_size=2),
    st.dictionaries(
        st.sampled_from(["p", "q"]), st.tuples(st.sampled_from(SPACES[:2]), picks), max_size=2
    ).map(typed),
    st.dictionaries(st.just("k"), st.tuples(st.sampled_from(SPACES[1:]), taken), max_size=1),
    st.dictionaries(
        st.tuples(st.sampled_from(SPACES), st.sampled_from(["x", "y"])),
        images,
        min_size=1,
        max_size=5,
    ),
    st.sets(st.sampled_from(MEMBERS), max_size=1),
)


def surveys(history: Iterable[Written]) -> Iterator[Survey]:
    """Yield what is planned of each world, from what the worlds before have left; any loss is allowed."""
    stack = Stack()
    for world in history:
        config = {"limit": "1", "lost": ",".join(sorted(world.lost & world.members.keys()))}
        seen = stack.program(list(world.documents()), config)
        if seen.plan is None:
            continue
        yield Survey((seen.plan,), "", {"paths": ["fleet"], "stack": "stack"}, after=dict)
        if seen.run.error is None:
            stack.carry_out(seen.run)


@thorough
@given(st.lists(worlds, min_size=2, max_size=4), st.data())
def test_the_plan_is_what_happens(history: list[Written], data: st.DataObject) -> None:
    stack = Stack()
    for world in history:
        assume(
            world.placements or world.policies or stack.state.resources
        )  # a directory without any is not a fleet
        world.lost &= world.members.keys()
        stack.unreachable = set(world.lost)
        happens(stack, world, fails=data.draw(st.sets(st.sampled_from(MEMBERS), max_size=1)))


def happens(stack: Stack, world: Written, fails: set[str]) -> None:
    """Preview, update, perhaps fail, update again; whatever is refused is confirmed."""
    seen = previewed(stack, world)
    if seen is None:
        return
    told = promises(stack, seen)
    before = dict(stack.live)
    if fails:
        config = {"lost": sorted(world.lost), "confirm": ",".join(tokens_of(stack, world))}
        broken = stack.program(list(world.documents()), config, fails=fails)
        stack.carry_out(broken.run)
        survivors(before, stack, told)
        if broken.run.error is None:
            return
        seen = previewed(stack, world)
        assert seen is not None
        told = promises(stack, seen) | told
    stack.carry_out(seen.run)
    survivors(before, stack, told)
    left = updates_left(seen)
    again = stack.program(list(world.documents()), {"lost": sorted(world.lost)})
    assert again.run.error is None
    if left:
        assert changes(stack, again.run)
        assert updates_left(again) == left - 1
        happens(stack, world, fails=set())
        return
    assert changes(stack, again.run) == {}
    assert again.plan is not None
    assert not [
        departure for departure in again.plan.departures if departure.fate is not Fate.MOVED
    ]


def updates_left(seen: Seen) -> int:
    """How many updates the plan says are left after it."""
    assert seen.plan is not None
    return together(seen.plan.remainders.values()).updates


def tokens_of(stack: Stack, world: Written) -> list[str]:
    """What has to be confirmed for an update to the world."""
    found: list[str] = []
    while problems := stack.directory(list(world.documents()), found, world.lost).refused:
        tokens = [p.hint[-8:] for p in problems if "confirm" in p.hint]
        if not tokens or set(tokens) <= set(found):
            break
        found += tokens
    return found


def previewed(stack: Stack, world: Written) -> Seen | None:
    """What the program would do once its losses are confirmed; None where two claim one object."""
    documents, lost = list(world.documents()), sorted(world.lost)
    seen = stack.program(documents, {"lost": lost})
    alike(stack.directory(documents, lost=lost), seen)
    if not seen.refused:
        return seen
    assert seen.plan is not None
    assert seen.run.registrations == ()  # nothing is registered of what is refused
    confirm = tokens_of(stack, world)
    seen = stack.program(documents, {"lost": lost, "confirm": ",".join(confirm)})
    alike(stack.directory(documents, confirm, lost), seen)
    return None if seen.refused else seen


def alike(directory: FleetPlan, seen: Seen) -> None:
    """The directory says what the program says."""
    assert seen.plan is not None, seen.run.error
    program = seen.plan
    assert list(map(refusal, directory.refused)) == list(map(refusal, program.refused))
    assert list(map(warning, directory.warnings)) == list(map(warning, program.warnings))
    assert directory.departures == program.departures
    assert directory.replacements == program.replacements
    assert (directory.gone, directory.members_gone) == (program.gone, program.members_gone)
    assert directory.waiting == program.waiting
    assert [subject.name for subject in directory.subjects] == [
        subject.name for subject in program.subjects
    ]
    for here, there in zip(directory.subjects, program.subjects, strict=True):
        assert here.entries == there.entries
        assert here.outcome.rollout == there.outcome.rollout
        assert here.record.to_wire() == there.record.to_wire()


def refusal(problem: Problem) -> tuple[str, str, str]:
    """What is refused, with the token; how it is given is told in the words of each door."""
    return problem.subject, problem.what, problem.hint[-8:]


def warning(problem: Problem) -> Problem:
    """What is warned of; each door has its own copy of the file."""
    return attrs.evolve(problem, file=Path(problem.file).name)


def promises(stack: Stack, seen: Seen) -> set[Any]:
    """The plan is what the program registers. Returns the objects that the plan calls lost or made anew."""
    plan = seen.plan
    assert plan is not None
    found = changes(stack, seen.run)
    by_change = {
        change: {pair_of(urn) for urn, what in found.items() if what == change}
        for change in ("create", "update", "delete")
    }
    leaving = {(departure.cluster, departure.key): departure.fate for departure in plan.departures}
    # What is swept left the state long ago: the program deletes it itself.
    assert by_change["delete"] == {
        p for p, fate in leaving.items() if fate not in (Fate.MOVED, Fate.SWEPT, Fate.UNDONE)
    }
    standing = set(plan.standing)
    wanted = {
        (cluster, key)
        for subject in plan.subjects
        for cluster in subject.deliveries
        for key in subject.keys(cluster)
    }
    assert by_change["create"] == wanted - standing
    moved = {pair for pair, fate in leaving.items() if fate is Fate.MOVED}
    moving = {
        (cluster, key)
        for subject in plan.subjects
        for cluster, entry in subject.entries.items()
        if entry.change in (Change.ADD, Change.UPDATE)
        for key in subject.keys(cluster)
    }
    assert by_change["update"] <= moving | moved
    waves(seen)
    reasoned(seen)
    return {
        pair
        for pair, fate in leaving.items()
        if fate in (Fate.DELETED, Fate.FORGOTTEN, Fate.SWEPT, Fate.UNDONE)
    }


def reasoned(seen: Seen) -> None:
    """The log of the program says of each member to which anything happens what it is, and why, in one line.

    It says too whose policy is not fulfilled.
    """
    assert seen.plan is not None
    log = [line for _, text in seen.run.messages for line in text.splitlines()]
    for subject in seen.plan.subjects:
        told = [
            line
            for line in describe_subject(seen.plan, subject)[0]
            if not line.startswith("left: ")
        ]
        for member, entry in subject.entries.items():
            lines = [line for line in told if re.search(rf"[ ,]{member}\b.*: \S", line)]
            assert (len(lines) == 1) is (entry.change is not Change.KEEP), (member, entry, told)
            assert set(lines) <= set(log)
        said = f"not fulfilled: {subject.outcome.unfulfilled}"
        assert (said in log) or not subject.outcome.unfulfilled


def waves(seen: Seen) -> None:
    """Bindings say the revisions of the plan, and what goes in a later wave waits for the wave before."""
    assert seen.plan is not None
    registered = {r.urn: r for r in seen.run.registrations}
    bindings = {
        (reveal(r.inputs)["subject"], reveal(r.inputs)["cluster"]): r
        for r in registered.values()
        if r.type.endswith("fleet:Binding")
    }
    assert bindings.keys() == {
        (subject.name, cluster)
        for subject in seen.plan.subjects
        for cluster in subject.record.decisions
    }
    for subject in seen.plan.subjects:
        decisions = subject.record.decisions
        for cluster, placed in decisions.items():
            assert reveal(bindings[subject.name, cluster].inputs)["revision"] == placed.revision
            earlier = [other for other in decisions if decisions[other].wave < placed.wave]
            last = max((decisions[other].wave for other in earlier), default=None)
            before = {
                bindings[subject.name, other].urn
                for other in earlier
                if decisions[other].wave == last
            }
            assert before <= behind(bindings[subject.name, cluster].urn, registered)


def behind(urn: str, registered: dict[str, Any]) -> set[str]:
    """All that has to stand before a resource is registered."""
    found: set[str] = set()
    left = [urn]
    while left:
        for other in registered[left.pop()].dependencies:
            if other not in found and other in registered:
                found.add(other)
                left.append(other)
    return found


def survivors(before: dict[Any, int], stack: Stack, lost: set[Any]) -> None:
    """No object that the plan does not call lost or made anew ever changes its uid."""
    assert {pair: uid for pair, uid in before.items() if pair not in lost} == {
        pair: stack.live.get(pair) for pair in before if pair not in lost
    }


@pytest.mark.parametrize("fails", [set(), {"b"}])
def test_an_object_changes_hands_both_ways(fails: set[str]) -> None:
    members = {name: dict[str, str]() for name in "abc"}
    objects = {("two", "x"): "web:1"}
    placed = Written(members, {"p": ("two", {"placementType": "PickAll"})}, {}, objects)
    steered = Written(members, {}, {"k": ("two", ["a", "b", "c"])}, objects)
    stack = Stack()
    happens(stack, placed, fails)
    first = dict(stack.live)
    for world in (steered, placed, steered):
        happens(stack, world, fails)
        assert stack.live == first


@pytest.mark.parametrize(("image", "fails"), [("web:1", set()), ("web:2", {"b"})])
@pytest.mark.parametrize(
    ("members", "placements"),
    [({"e": "a"}, {}), ({}, {"store": "p"}), ({"e": "a", "f": "b"}, {"store": "p"})],
)
def test_what_is_renamed_stays_alive(
    members: dict[str, str], placements: dict[str, str], image: str, fails: set[str]
) -> None:
    stack, names = Stack(), {old: new for new, old in members.items()}
    labels = {name: dict[str, str]() for name in "abcd"}
    policy = {"placementType": "PickN", "numberOfClusters": 3}
    before = Written(
        labels,
        {"p": ("one", policy)},
        {"k": ("two", ["a"])},
        {("one", "x"): "web:1", ("two", "y"): "web:1"},
    )
    happens(stack, before, set())
    live, picked = dict(stack.live), picks_of(stack, before)
    stack.called = members
    after = attrs.evolve(
        before,
        members={names.get(name, name): label for name, label in labels.items()},
        placements={"store" if placements else "p": ("one", policy)},
        policies={"k": ("two", [names.get("a", "a")])},
        objects={("one", "x"): image, ("two", "y"): "web:1"},
    )
    config = {"renamed": json.dumps({"members": members, "placements": placements})}
    for failing in (fails, set[str](), set[str]()):
        seen = stack.program(list(after.documents()), config, fails=failing)
        assert seen.plan is not None, seen.run.error
        assert not seen.plan.departures
        allowed = (
            {"update", "delete"} if seen.run.error else {"update"}
        )  # what it did not reach is not registered
        assert set(changes(stack, seen.run).values()) <= allowed
        stack.carry_out(seen.run)
        assert stack.live == live
    assert picks_of(stack, after, config) == {names.get(name, name) for name in picked}
    # What was said may stay, and may go.
    assert changes(stack, stack.program(list(after.documents()), config).run) == {}
    assert changes(stack, stack.program(list(after.documents()), {}).run) == {}


def picks_of(stack: Stack, world: Written, config: dict[str, Any] | None = None) -> set[str]:
    """The members that the only placement has."""
    plan = stack.program(list(world.documents()), config or {}).plan
    assert plan is not None
    return set(plan.of("Placement")[0].record.decisions)


@pytest.mark.parametrize("system", ["kubefleet", "karmada"])
def test_what_was_interrupted_is_written_again(system: str) -> None:
    """The engine was killed: it has recorded what was decided, and nothing of what it wrote."""
    members = {name: dict[str, str]() for name in "ab"}
    placed = {"p": ("one", {"placementType": "PickAll"})} if system == "kubefleet" else {}
    steered = {} if placed else {"k": ("one", ["a", "b"])}
    world = Written(members, placed, steered, {("one", "x"): "web:1"})
    stack = Stack()
    happens(stack, world, set())
    bad = attrs.evolve(world, objects={("one", "x"): "web:2", ("one", "y"): "web:2"})
    stack.carry_out(stack.program(list(bad.documents()), {}, fails={"a", "b"}).run)
    reached = "a" if system == "kubefleet" else "ab"  # the second wave was never begun
    seen = stack.program(list(world.documents()), {})
    assert seen.plan is not None, seen.run.error
    found = changes(stack, seen.run)
    updated = {pair_of(urn) for urn, what in found.items() if what == "update"}
    assert {(cluster, DEPLOYMENT_X) for cluster in reached} <= updated
    undone = {
        (departure.cluster, departure.key.name)
        for departure in seen.plan.departures
        if departure.fate is Fate.UNDONE
    }
    assert undone == {(cluster, "y") for cluster in reached}
    stack.carry_out(seen.run)
    assert changes(stack, stack.program(list(world.documents()), {}).run) == {}
    marks = [r for r in seen.run.registrations if "written-again" in str(r.inputs)]
    assert marks


DEPLOYMENT_X = ObjectKey("apps", "Deployment", "one", "x")
