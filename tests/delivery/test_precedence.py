"""Objects wait for what they live in, whichever placement or template brings it to their member."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tests.delivery.driver import InProcess
from tests.precedence import (
    APPROVED,
    EXTERNAL,
    ROLLING,
    Files,
    Object,
    Registered,
    before_a_team,
    config,
    definition,
    in_stages,
    named,
    namespace,
    placement,
    select,
    staged,
    with_a_team,
    with_karmada,
)


def driver(objects: Sequence[Object], **config: str) -> InProcess[Files]:
    return InProcess(Files(objects=list(objects), config=config))


def carried_out(stack: InProcess[Files]) -> Registered:
    """One update, whose objects have their order, and after which nothing is left."""
    registered = carried_out_in_order(stack)
    assert stack.preview().changes == {}
    return registered


def carried_out_in_order(stack: InProcess[Files]) -> Registered:
    """One update, whose objects have their order."""
    run = stack.run(preview=False)
    assert run.error is None, run.error
    stack.state = run.state()
    registered = Registered(run.registrations)
    registered.check()
    return registered


def members_of(stack: InProcess[Files], kind: str, name: str) -> str:
    """The members that have an object, as one text."""
    found = (
        resource
        for resource in stack.state.resources.values()
        if resource.type.endswith(f":{kind}")
    )
    return "".join(
        sorted(
            item.name.partition("@")[2][0]
            for item in found
            if item.inputs["metadata"]["name"] == name and "@" in item.name
        )
    )


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    "objects", [in_stages(), with_karmada(), with_a_team()], ids=["staged", "karmada", "rolling"]
)
def test_one_update_brings_a_namespace_and_what_is_in_it(objects: list[Object]) -> None:
    stack = driver(objects)
    registered = carried_out(stack)
    assert members_of(stack, "ConfigMap", "c") == "abc"
    assert registered.check() >= 3


def test_a_team_comes_to_a_placement_that_moves_one_after_the_other() -> None:
    stack = driver(before_a_team())
    carried_out(stack)
    stack.world.objects = with_a_team()
    text = stack.preview().text
    assert "comes after Namespace t5two of ClusterResourcePlacement t5p on a, b, c" in text
    carried_out(stack)
    assert members_of(stack, "ConfigMap", "c") == "abc"
    # From then on the namespace is there, and nothing waits for the waves that change something else.
    stack.world.objects[1]["spec"]["limits"] = [{"type": "Pod", "max": {"cpu": "1"}}]
    stack.world.objects[-2]["data"] = {"k": "2"}
    run = stack.run(preview=False)
    assert "comes after" not in "\n".join(text for _, text in run.messages)
    registered = Registered(run.registrations)
    registered.check()
    (moved,) = (
        item
        for member, item in registered.objects()
        if item.name.endswith("r2@c/t5two/c") or "r2@c" in item.name
    )
    waits_for = {urn.rpartition("::")[2] for urn in _before(registered, moved.urn)}
    assert not [
        name for name in waits_for if name.endswith(("t5p@a", "t5p@b", "wave-2", "wave-3"))
    ], waits_for


def _before(registered: Registered, urn: str) -> set[str]:
    graph, seen, left = registered.graph, set[str](), [urn]
    while left:
        here = left.pop()
        if here not in seen:
            seen.add(here)
            left += graph.get(here, set())
    return seen


def test_an_approval_holds_what_lives_in_the_namespace_and_lets_it_go() -> None:
    stack = driver(in_stages(APPROVED))
    text = stack.preview().text
    held = "it needs Namespace t3 of ClusterResourcePlacement t3p, which is held there: approval t3p-run-after-s0 is missing"
    assert f"held: b, c not added: {held}" in text
    assert "left: approval t3p-run-after-s0 is needed" in text
    carried_out(stack)
    assert members_of(stack, "ConfigMap", "c") == "a"
    stack.world.config["approvals"] = "t3p-run-after-s0"
    carried_out(stack)
    assert members_of(stack, "ConfigMap", "c") == "abc"


def test_a_namespace_without_an_update_run_holds_what_is_in_it() -> None:
    stack = driver([stage for stage in in_stages() if "Staged" not in stage["kind"]])
    carried_out(stack)
    assert members_of(stack, "ConfigMap", "c") == ""
    stack.world.objects = in_stages()
    carried_out(stack)
    assert members_of(stack, "ConfigMap", "c") == "abc"


def test_room_for_the_namespace_counts_as_a_further_update() -> None:
    """The namespace's placement has room for another member once one is left, and so has what is in it."""
    home, inside = namespace("t"), config("c", "t")
    strategy = {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0, "unavailablePeriodSeconds": 1},
    }

    def objects(members: str, also: Sequence[Object]) -> list[Object]:
        return [
            home,
            placement("p", select(home, alone=True), strategy=strategy, members=members),
            *also,
        ]

    stack = driver(objects("a", ()), keepClusterResources="false", confirm="")
    del stack.world.config["confirm"]
    carried_out(stack)
    stack.world.objects = objects(
        "b", [inside, placement("r", select(inside), home="t", strategy=ROLLING, members="b")]
    )
    text = stack.preview().text
    assert "it needs Namespace t of ClusterResourcePlacement p, which is held there" in text
    assert text.count("left: 1 more update") == 2


def test_a_definition_and_its_custom_resources() -> None:
    home, widget = namespace("t"), named("example.com/v1", "Widget", "w", "t", spec={"size": 1})
    crd = definition("Widget")
    stack = driver(
        [
            home,
            crd,
            widget,
            placement("crds", select(crd), strategy=EXTERNAL),
            *staged("crds", "b", "ac", task=APPROVED),
            placement("homes", select(home, alone=True), strategy=ROLLING),
            placement("widgets", select(widget), home="t", strategy=ROLLING),
        ]
    )
    assert (
        "it needs CustomResourceDefinition widgets.example.com of ClusterResourcePlacement crds"
        in stack.preview().text
    )
    carried_out(stack)
    assert members_of(stack, "Widget", "w") == "b"
    stack.world.config["approvals"] = "crds-run-after-s0"
    assert carried_out(stack).check() == 6
    assert members_of(stack, "Widget", "w") == "abc"


def need_each_other(order: Sequence[str], run: str, *, both: bool) -> list[Object]:
    """A staged and a rolling placement; with ``both``, each brings the definition of what the other brings."""
    homes, crds = [namespace("one"), namespace("two")], [definition("Widget"), definition("Gadget")]
    custom = [
        named("example.com/v1", kind, "w", home, spec={})
        for kind, home in (("Widget", "two"), ("Gadget", "one"))
    ]
    rolling = {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0, "unavailablePeriodSeconds": 1},
    }
    selectors = [
        [select(home), *([select(crd)] if both else [])]
        for home, crd in zip(homes, crds, strict=True)
    ]
    strategy, staging = staged("staged", *order)
    staging["metadata"]["name"] = run
    return [
        *(*homes, *((*crds, *custom) if both else ()), strategy, staging),
        placement("staged", *selectors[0], strategy=EXTERNAL),
        placement("rolling", *selectors[1], strategy=rolling),
    ]


@pytest.mark.samples(1)
@pytest.mark.parametrize("order", [("ab", "c"), ("c", "ab"), ("a", "b", "c"), ("c", "b", "a")])
def test_placements_that_need_each_other(order: Sequence[str]) -> None:
    """They move together where their waves allow it; elsewhere one is held, and goes on by itself."""
    stack = driver(need_each_other(order, "first", both=False))
    carried_out(stack)
    stack.world.objects = need_each_other(order, "second", both=True)
    text, left = stack.preview().text, 0
    held = "whose rollout waits for this one; the next update goes on" in text
    assert held is (order in [("c", "ab"), ("c", "b", "a")])
    carried_out_in_order(stack)
    while stack.preview().changes and left < 5:
        carried_out_in_order(stack)
        left += 1
    assert members_of(stack, "Widget", "w") == members_of(stack, "Gadget", "w") == "abc"
    assert bool(left) is held
    assert (f"left: {left} more update" in text) is held


def random_fleet(seed: int) -> list[Object]:
    """Placements of namespaces, definitions and what lives in them, in random waves."""
    pick = random.Random(seed)
    homes = [namespace(f"n{number}") for number in range(3)]
    crds = [definition(kind) for kind in ("Widget", "Gadget")]
    objects: list[Object] = [*homes, *crds]
    strategies = [
        ROLLING,
        {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": 1, "unavailablePeriodSeconds": 1},
        },
        EXTERNAL,
    ]
    parts: list[list[Object]] = [[] for _ in range(3)]
    for item in (*homes, *crds):
        pick.choice(parts).append(
            select(item, alone=True) if item["kind"] == "Namespace" else select(item)
        )
    for number, selectors in enumerate(parts):
        strategy, members = pick.choice(strategies), pick.choice(["abc", "ab", "abc"])
        if selectors:
            objects.append(placement(f"p{number}", *selectors, strategy=strategy, members=members))
        if selectors and strategy is EXTERNAL:
            order = pick.sample("abc", 3)
            objects += staged(f"p{number}", *order, task=pick.choice([None, APPROVED]))
    for home in homes:
        name = home["metadata"]["name"]
        inside = [config(f"c{n}", name) for n in range(pick.randrange(3))]
        inside += [
            named("example.com/v1", k, f"x{k.lower()}", name, spec={})
            for k in ("Widget", "Gadget")
            if pick.random() < 0.5
        ]
        objects += inside
        if inside:
            objects.append(
                placement(
                    f"r-{name}",
                    *map(select, inside),
                    home=name,
                    strategy=pick.choice(strategies[:2]),
                )
            )
    return objects


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 6))]
)
def test_every_plan_has_an_order_on_every_member(seed: int) -> None:
    stack = driver(random_fleet(seed))
    pick = random.Random(seed)
    for _ in range(3):
        carried_out(stack)
        stack.world.config["approvals"] = ",".join(
            f"{data['metadata']['name']}-run-after-s0"
            for data in stack.world.objects
            if "Strategy" in data["kind"]
        )
        for data in stack.world.objects:
            if data["kind"] == "ConfigMap" and pick.random() < 0.5:
                data["data"] = {"k": str(pick.random())}
            if data["kind"] == "Namespace" and pick.random() < 0.3:
                data["metadata"]["labels"] = {"l": str(pick.randrange(9))}
