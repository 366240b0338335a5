"""What is renamed stays alive: over random renames of members and placements, and updates that break between them."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fleet_components.plan.departures import Fate
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.testing import StackState
from tests.plan.stack import Seen, Stack
from tests.plan.test_histories import Written

CLUSTERS = ("one", "two", "three")
MEMBERS = ("a", "b", "c", "d")
PLACEMENTS = ("p", "q", "r")
ALL = {"placementType": "PickAll"}
thorough = settings(phases=[Phase.explicit, Phase.generate], max_examples=10, deadline=None)


@attrs.frozen
class Names:
    """What everything is called.

    Attributes:
        members: the name of each cluster's member.
        placements: the name of each namespace's placement.
        image: the content.
    """

    members: tuple[str, ...] = ("a", "b", "c")
    placements: tuple[str, ...] = ("p", "q")
    image: str = "web:1"

    def written(self) -> Written:
        spaces = ("one", "two")
        return Written(
            {name: {} for name in self.members},
            {name: (space, ALL) for name, space in zip(self.placements, spaces, strict=True)},
            {},
            {(space, "web"): self.image for space in spaces},
        )

    def renamed(self, before: Names) -> dict[str, dict[str, str]]:
        """What has to be said of these names, after those."""
        return {
            field: {new: old for old, new in zip(olds, news, strict=True) if old != new}
            for field, olds, news in (
                ("members", before.members, self.members),
                ("placements", before.placements, self.placements),
            )
        }

    @property
    def called(self) -> dict[str, str]:
        """The cluster behind each member's name."""
        return dict(zip(self.members, CLUSTERS, strict=True))


def ran(
    stack: Stack, names: Names, renamed: dict[str, dict[str, str]], fails: set[str] | None = None
) -> Seen:
    """Run the program with these names."""
    stack.called = {**stack.called, **names.called}
    documents = list(names.written().documents())
    return stack.program(
        documents, {"limit": "1", "renamed": json.dumps(renamed)}, fails=fails or set()
    )


def plan_of(seen: Seen) -> FleetPlan:
    assert seen.plan is not None, seen.run.error
    return seen.plan


def lost(plan: FleetPlan) -> list[Any]:
    return [departure for departure in plan.departures if departure.fate is not Fate.MOVED]


started = Names()


def another(names: Names, change: tuple[str, int, str]) -> Names:
    """The names after a change; a name that something else has is taken by nobody."""
    field, position, name = change
    values = list(getattr(names, field))
    if name not in values:
        values[position % len(values)] = name
    new: Any = {field: tuple(values)}
    return attrs.evolve(names, **new)


changed = st.one_of(
    st.tuples(st.just("members"), st.integers(0, 2), st.sampled_from(MEMBERS)),
    st.tuples(st.just("placements"), st.integers(0, 1), st.sampled_from(PLACEMENTS)),
)
steps = st.lists(
    st.tuples(
        st.lists(changed, max_size=2),
        st.sampled_from(["web:1", "web:2"]),
        st.one_of(st.none(), st.sampled_from(CLUSTERS)),
        st.sampled_from(["go on", "go back"]),
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


def is_free(names: Names, *used: Names) -> bool:
    """Whether no name is given to anything else than before."""
    for other in used:
        for field in ("members", "placements"):
            olds, news = getattr(other, field), getattr(names, field)
            if any(new != old and new in olds for old, new in zip(olds, news, strict=True)):
                return False
    return True


@pytest.mark.long
@thorough
@given(steps, st.booleans())
def test_no_object_is_ever_lost(history: list[Any], shown: bool) -> None:
    """Whatever is renamed, said or found, wherever an update breaks, and whether the source then goes on or back."""
    stack = Stack(shown=shown)
    stack.carry_out(ran(stack, started, {}).run)
    live, names, tried = dict(stack.live), started, [started]
    assert len(live) == len(CLUSTERS) * 4
    said: dict[str, dict[str, str]] = {"members": {}, "placements": {}}
    for changes, image, broken, after, stays in history:
        wanted = attrs.evolve(names if after == "go back" else tried[-1], image=image)
        for change in changes:
            wanted = another(wanted, change)
        if not is_free(wanted, *tried):
            continue
        new = wanted.renamed(tried[-1])
        said = {field: {**(said[field] if stays else {}), **new[field]} for field in said}
        config = {**said, "members": {}} if shown and not stays else said
        fails = {wanted.members[CLUSTERS.index(broken)]} if broken else set()
        seen = ran(stack, wanted, config, fails)
        assert not lost(plan_of(seen))
        stack.carry_out(seen.run)
        assert stack.live == live
        tried.append(wanted)
        if seen.run.error is None:
            names, tried = wanted, [wanted]
            # What was said may stay, and may go.
            for rest in (config, {}):
                again = plan_of(ran(stack, names, rest))
                assert not again.departures
                assert not [subject for subject in again.subjects if subject.changes]
                assert not [
                    warning for warning in again.warnings if "was ever called" in warning.what
                ]


@pytest.mark.samples(2)
@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("stays", [True, False])
@pytest.mark.parametrize("broken", ["two", "three"])
@pytest.mark.parametrize("field", ["members", "placements"])
def test_a_rename_that_breaks_and_goes_back(
    field: str, broken: str, stays: bool, shown: bool
) -> None:
    """Also where the old and the new name are in the state together, and the roster knows the old one alone."""
    stack = Stack(shown=shown)
    stack.carry_out(ran(stack, started, {}).run)
    live = dict(stack.live)
    wanted = another(
        attrs.evolve(started, image="web:2"), (field, 1, "d" if field == "members" else "r")
    )
    said = wanted.renamed(started)
    said = {**said, "members": {}} if shown and not stays else said
    for fails in ({wanted.members[CLUSTERS.index(broken)]}, {wanted.members[2]}):
        stack.carry_out(ran(stack, wanted, said, fails).run)
        assert stack.live == live
    back = ran(stack, started, said if stays else {})
    assert not plan_of(back).departures
    stack.carry_out(back.run)
    assert stack.live == live
    again = plan_of(ran(stack, started, said if stays else {}))
    assert not [subject for subject in again.subjects if subject.changes]


def renamed_stack(stack: Stack, name: str) -> None:
    """What ``pulumi stack rename`` does: all URNs have the new name, and nothing else is changed."""
    old, new = f"urn:pulumi:{stack.name}::", f"urn:pulumi:{name}::"
    text = {urn.replace(old, new): resource for urn, resource in stack.state.resources.items()}
    stack.state = StackState(
        {
            urn: attrs.evolve(
                item,
                urn=urn,
                parent=item.parent.replace(old, new),
                provider=item.provider.replace(old, new),
                dependencies=tuple(each.replace(old, new) for each in item.dependencies),
            )
            for urn, item in text.items()
        }
    )
    stack._retained = {urn.replace(old, new) for urn in stack._retained}
    stack.name = stack.fleet = name


@pytest.mark.samples(1)
@pytest.mark.parametrize("broken", [None, "both"])
def test_a_stack_that_is_renamed_takes_its_fleet_along(broken: str | None) -> None:
    """The name of the fleet follows that of the stack; an update may have broken before, and another one after it."""
    stack = Stack(name="dev")
    stack.carry_out(ran(stack, started, {}).run)
    live, wanted = dict(stack.live), attrs.evolve(started, image="web:2")
    if broken in ("before", "both"):
        stack.carry_out(ran(stack, wanted, {}, {"b"}).run)
    for name in ("prod", "live"):
        renamed_stack(stack, name)
        seen = ran(stack, wanted, {}, {"b"} if broken in ("after", "both") else set())
        assert not plan_of(seen).departures
        assert any(f"is called {name} now" in warning.what for warning in plan_of(seen).warnings)
        stack.carry_out(seen.run)
        assert stack.live == live
        if seen.run.error is not None:
            again = ran(stack, wanted, {})
            assert not plan_of(again).departures
            stack.carry_out(again.run)
            assert stack.live == live
        rest = plan_of(ran(stack, wanted, {}))
        assert not rest.changes
        assert not [warning for warning in rest.warnings if warning.subject.startswith("fleet ")]
        assert {
            urn.rpartition("::")[2].partition("/")[0] for urn in stack.state.resources if "$" in urn
        } == {name}
        wanted = attrs.evolve(wanted, image=f"web:{name}")


def test_a_rename_of_a_fleet_that_breaks_and_goes_back() -> None:
    stack = Stack()
    stack.carry_out(ran(stack, started, {}).run)
    live, wanted = dict(stack.live), attrs.evolve(started, image="web:2")
    stack.fleet = "prod"
    stack.carry_out(ran(stack, wanted, {}, {"b"}).run)
    stack.fleet = "third"
    stack.carry_out(ran(stack, wanted, {}, {"b"}).run)
    stack.fleet = "dev"
    back = ran(stack, started, {})
    assert not plan_of(back).departures
    stack.carry_out(back.run)
    assert stack.live == live
    assert not plan_of(ran(stack, started, {})).changes


def stray(stack: Stack, *urns: str) -> None:
    """What ``pulumi state rename`` does to objects, which have uids on their clusters."""
    found = {}
    for urn, resource in stack.state.resources.items():
        outputs = dict(resource.outputs)
        if resource.type.startswith("kubernetes:"):
            outputs["metadata"] = {**outputs["metadata"], "uid": urn}
        new = f"{urn.rpartition('::')[0]}::other-{urns.index(urn)}" if urn in urns else urn
        found[new] = attrs.evolve(resource, urn=new, outputs=outputs)
    stack.state = StackState(found)


def test_an_object_with_another_name_in_the_state_is_the_same_object() -> None:
    stack = Stack()
    stack.carry_out(ran(stack, started, {}).run)
    objects = [urn for urn in stack.state.resources if urn.endswith("@b/one/web")]
    before = stack.state
    stray(stack, *objects)
    seen = ran(stack, started, {})
    assert not plan_of(seen).changes
    (found,) = (
        registration for registration in seen.run.registrations if registration.urn == objects[0]
    )
    assert f"{objects[0].rpartition('::')[0]}::other-0" in found.aliases
    # Where two members lack it, the state does not say which of them has it.
    stack.state = before
    both = [urn for urn in before.resources if urn.endswith(("@b/one/web", "@c/one/web"))]
    stray(stack, *both)
    error = str(ran(stack, started, {}).run.error)
    assert error.count("under a name that no fleet gives it") == len(both)
    assert "pulumi state rename" in error


@pytest.mark.samples(2)
@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize(
    "after",
    [
        Names(members=("b", "a", "c")),
        Names(members=("b", "c", "a")),
        Names(members=("b", "d", "c")),
        Names(placements=("q", "p")),
        Names(placements=("q", "r")),
    ],
)
def test_names_are_not_exchanged(after: Names, shown: bool) -> None:
    """The engine would find a resource by its own name first; plan and program say so, before anything is registered."""
    stack = Stack(shown=shown)
    stack.carry_out(ran(stack, started, {}).run)
    seen = ran(stack, after, after.renamed(started))
    assert "names are not exchanged in one update" in str(seen.run.error)
    assert seen.run.registrations == ()


def test_a_rename_that_was_carried_out_says_nothing_more() -> None:
    stack = Stack()
    stack.carry_out(ran(stack, started, {}).run)
    there = Names(members=("d", "b", "c"), placements=("r", "q"))
    said = there.renamed(started)
    stack.carry_out(ran(stack, there, said).run)
    live = dict(stack.live)
    # The names go back, and the setting stays; of a member that has to be said.
    back = started.renamed(there)
    stack.carry_out(
        ran(stack, started, {field: {**said[field], **back[field]} for field in said}).run
    )
    assert stack.live == live
    assert not plan_of(ran(stack, started, said)).changes
    # What was renamed leaves, and the setting stays.
    stack.carry_out(ran(stack, there, said).run)
    left = Written({"b": {}, "c": {}}, {"q": ("two", ALL)}, {}, {("two", "web"): "web:1"})
    seen = stack.program(list(left.documents()), {"limit": "1", "renamed": json.dumps(said)})
    assert seen.run.error is None
    assert not [warning for warning in plan_of(seen).warnings if "called" in warning.what]
