"""Moves between ways of delivery: from every place where one may stop, the same command ends in the same place."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import NoReturn

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.model.manifest import ObjectKey
from fleet_components.model.problem import FleetError
from fleet_components.plan.guard import Pair
from fleet_components.plan.transfer import Deed, MoveStep, SeenObject, Standpoint, carry_out, steps
from fleet_components.plan.ways import Way

WAYS = [(Way.KUBEFLEET, Way.KUBEFLEET), (Way.KARMADA, Way.KARMADA), (Way.DIRECT, Way.KUBEFLEET)]
WAYS += [(Way.DIRECT, Way.KARMADA)]
DEPLOYMENT = ObjectKey("apps", "Deployment", "shop", "web")
NAMESPACE = ObjectKey("", "Namespace", "", "shop")
PAIRS: tuple[Pair, ...] = (("east", DEPLOYMENT), ("east", NAMESPACE), ("west", DEPLOYMENT))


class Interrupted(Exception):
    """Somebody has ended the command."""


@attrs.define(slots=False)
class MovingStack:
    """A stack, a hub and two members that behave as the real ones do, with the deletions that they would carry out."""

    to: Way
    hub: Way
    declared: bool = False
    kept: bool = False
    held: bool = False
    moved: bool = False
    objects: dict[Pair, SeenObject] = attrs.field(factory=dict)
    left: int | None = None
    """How many more half steps succeed; None for all."""
    steps: list[Deed] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        theirs = self.to is Way.DIRECT
        seen = SeenObject("", taken=theirs, marked=theirs, ours=not theirs)
        self.objects = {
            pair: attrs.evolve(seen, uid=f"uid-{number}") for number, pair in enumerate(PAIRS)
        }

    def look(self) -> Standpoint:
        """Return where the move stands."""
        let_go = self.held and not any(data.taken for data in self.objects.values())
        words = {
            name: getattr(self, name) for name in ("to", "hub", "declared", "kept", "held", "moved")
        }
        return Standpoint(**words, let_go=let_go, objects=dict(self.objects))

    def do(self, deed: Deed) -> None:
        """Carry out a step, in parts between which it may be interrupted."""
        self.steps.append(deed)
        self._half()
        match deed:
            case Deed.DECLARE:
                self.declared = True
            case Deed.KEEP:
                self.kept = True
            case Deed.HOLD:
                self.held = True
            case Deed.RELEASE:
                for pair in PAIRS:
                    self._mark(pair, taken=self.hub is Way.KARMADA or not self.held, ours=True)
                    self._half()
            case Deed.SWITCH:
                self._switch()
            case Deed.SETTLE:
                for pair in PAIRS:
                    self._mark(pair, taken=self.to is not Way.DIRECT)
                    self._half()
        self._half()

    def _switch(self) -> None:
        if self.to is not Way.DIRECT and not self.kept:
            self._lose(PAIRS)
        if self.to is Way.DIRECT:
            protected = self.held and self.hub is Way.KARMADA
            self._lose(pair for pair in PAIRS if self.objects[pair].taken and not protected)
            self._lose(PAIRS[1:2] if not self.kept else ())
            for pair in PAIRS if protected else ():
                self.objects[pair] = attrs.evolve(self.objects[pair], taken=False)
        self.moved = True

    def _mark(self, pair: Pair, *, taken: bool, ours: bool | None = None) -> None:
        seen = self.objects[pair]
        self.objects[pair] = attrs.evolve(
            seen, taken=taken, marked=taken, ours=seen.ours if ours is None else ours
        )

    def _lose(self, pairs: Iterable[Pair]) -> None:
        for pair in tuple(pairs):
            self.objects[pair] = attrs.evolve(
                self.objects[pair], uid=f"{self.objects[pair].uid}-anew"
            )

    def _half(self) -> None:
        if self.left is not None:
            if self.left == 0:
                raise Interrupted
            self.left -= 1


@pytest.mark.parametrize(("to", "hub"), WAYS)
def test_each_step_is_done_once_and_in_order(to: Way, hub: Way) -> None:
    world, said = MovingStack(to, hub), list[MoveStep]()
    before = {pair: seen.uid for pair, seen in world.objects.items()}
    end = carry_out(world, said.append)
    assert all(step.done for step in steps(end))
    assert [item.deed for item in said] == world.steps == list(dict.fromkeys(world.steps))
    assert {pair: seen.uid for pair, seen in end.objects.items()} == before
    assert carry_out(world, said.append) == end


@given(way=st.sampled_from(WAYS), stops=st.lists(st.integers(0, 14), max_size=4))
def test_a_move_that_was_stopped_ends_where_one_that_was_not_ends(
    way: tuple[Way, Way], stops: list[int]
) -> None:
    whole = carry_out(MovingStack(*way), lambda _: None)
    world = MovingStack(*way)
    for stop in stops:
        world.left = stop
        with suppress(Interrupted):
            carry_out(world, lambda _: None)
    world.left = None
    assert carry_out(world, lambda _: None) == whole


@pytest.mark.parametrize(("to", "hub"), WAYS)
def test_nothing_goes_on_once_an_object_is_lost(to: Way, hub: Way) -> None:
    world = MovingStack(to, hub)
    done = world.do

    def loses(deed: Deed) -> None:
        done(deed)
        if deed is Deed.KEEP:
            world.objects[PAIRS[0]] = SeenObject("another")

    world.do = loses  # type: ignore[method-assign]
    with pytest.raises(FleetError) as refused:
        carry_out(world, lambda _: None)
    assert "had uid uid-0, and has another: it was deleted and made anew" in str(refused.value)
    assert world.steps[-1] is Deed.KEEP


@pytest.mark.parametrize(
    ("now", "words"), [(None, "is gone"), (SeenObject("uid-0", deleting=True), "is being deleted")]
)
def test_an_object_that_goes_is_told(now: SeenObject | None, words: str) -> None:
    world = MovingStack(Way.KUBEFLEET, Way.KUBEFLEET)

    def say(_: MoveStep) -> None:
        if now:
            world.objects[PAIRS[0]] = now
        else:
            del world.objects[PAIRS[0]]

    with pytest.raises(FleetError, match=words):
        carry_out(world, say)


def test_a_step_that_does_not_help_ends_the_move() -> None:
    world = MovingStack(Way.DIRECT, Way.KUBEFLEET)
    world.do = lambda deed: None  # type: ignore[method-assign]
    with pytest.raises(FleetError, match="step declare"):
        carry_out(world, lambda _: None)


def test_what_is_being_deleted_before_the_first_step_stops_it() -> None:
    world = MovingStack(Way.DIRECT, Way.KUBEFLEET)
    world.objects[PAIRS[0]] = attrs.evolve(world.objects[PAIRS[0]], deleting=True)

    def never(_: object) -> NoReturn:
        raise AssertionError

    with pytest.raises(FleetError, match="is being deleted"):
        carry_out(world, never)


def test_nothing_is_released_while_an_agent_has_it_as_its_own() -> None:
    ours = {("east", ObjectKey("", "ConfigMap", "shop", "c")): SeenObject("u", ours=True)}
    for let_go in (False, True):
        now = Standpoint(
            "direct", "kubefleet", declared=True, kept=True, held=True, let_go=let_go, objects=ours
        )
        assert {step.deed: step.done for step in steps(now)} == {
            Deed.DECLARE: True, Deed.KEEP: True, Deed.HOLD: True, Deed.RELEASE: let_go,
            Deed.SWITCH: False, Deed.SETTLE: False,
        }  # fmt: skip


def test_objects_without_marks_are_not_settled_before_the_stack_has_them() -> None:
    assert not steps(Standpoint("direct", "karmada"))[-1].done
    assert steps(Standpoint("direct", "karmada", moved=True))[-1].done
