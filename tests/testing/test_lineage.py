"""What resources get from those above them, in programs without any fleet; ``tests/engine`` asks the engine the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from pulumi import Alias, ResourceOptions

from fleet_components.testing import (
    FleetMocks,
    ProgramRun,
    RecordingMonitor,
    StackState,
    run_program,
)
from fleet_components.testing.program import end_loop

STACK = "urn:pulumi:stack::project::"


class App(pulumi.ComponentResource):
    """A component with a component and two resources in it, one of which is called after it."""

    def __init__(self, name: str, opts: ResourceOptions | None = None, kind: str = "App") -> None:
        super().__init__(f"my:index:{kind}", name, {}, opts)
        part = Part(f"{name}-part", ResourceOptions(parent=self))
        thing(f"{name}-part-thing", part)
        thing("other", part)


class Part(pulumi.ComponentResource):
    def __init__(self, name: str, opts: ResourceOptions) -> None:
        super().__init__("my:index:Part", name, {}, opts)


def thing(name: str, parent: pulumi.Resource | None = None, **opts: Any) -> pulumi.CustomResource:
    return pulumi.CustomResource(
        "cloud:index:Thing", name, {"a": "b"}, ResourceOptions(parent=parent, **opts)
    )


def went(program: Callable[[], Any], state: StackState | None = None) -> ProgramRun:
    done = run_program(program, state=state)
    assert done.error is None, done.error
    return done


def former(before: ProgramRun, after: ProgramRun) -> dict[str, str]:
    """Where each resource was found, by name; empty for a new one. As the engine looks: its own URN first."""
    stood = {registration.urn for registration in before.registrations}
    return {
        registration.name: next(
            (urn for urn in (registration.urn, *registration.aliases) if urn in stood), ""
        ).removeprefix(STACK)
        for registration in after.registrations
    }


def test_a_component_that_is_renamed_takes_along_what_is_below() -> None:
    before = went(lambda: App("old"))
    after = went(lambda: App("new", ResourceOptions(aliases=[Alias(name="old")])), before.state())
    below = "my:index:App$my:index:Part"
    assert former(before, after) == {
        "new": "my:index:App::old",
        "new-part": f"{below}::old-part",
        "new-part-thing": f"{below}$cloud:index:Thing::old-part-thing",
        "other": f"{below}$cloud:index:Thing::other",
    }


def test_an_alias_that_leads_nowhere_takes_nothing_along() -> None:
    """What is below is looked for where the parent was found, and nowhere else."""
    before = went(lambda: App("old"))
    after = went(lambda: App("new", ResourceOptions(aliases=[Alias(name="older")])), before.state())
    assert former(before, after) == {
        "new": "",
        "new-part": "",
        "new-part-thing": "",
        "other": "my:index:App$my:index:Part$cloud:index:Thing::other",
    }


def test_a_component_of_another_type() -> None:
    before = went(lambda: App("app", kind="Old"))
    after = went(
        lambda: App("app", ResourceOptions(aliases=[Alias(type_="my:index:Old")])), before.state()
    )
    assert former(before, after)["other"] == "my:index:Old$my:index:Part$cloud:index:Thing::other"
    again = went(lambda: App("app"), before.state())
    assert set(former(before, again).values()) == {""}


def test_into_a_component_and_out_of_it() -> None:
    alone = went(lambda: thing("one"))
    inside = went(lambda: thing("one", App("app"), aliases=[Alias(parent=None)]), alone.state())
    assert former(alone, inside)["one"] == "cloud:index:Thing::one"
    outside = went(
        lambda: thing("one", aliases=[Alias(parent=f"{STACK}my:index:App::app")]), inside.state()
    )
    assert former(inside, outside)["one"] == "my:index:App$cloud:index:Thing::one"


def test_a_parent_that_is_named_goes_by_where_it_was_found() -> None:
    def program() -> None:
        new = App("new", ResourceOptions(aliases=[Alias(name="old", type_="my:index:Old")]))
        thing("one", aliases=[Alias(parent=new)])

    before = went(lambda: thing("one", App("old", kind="Old")))
    assert (
        former(before, went(program, before.state()))["one"]
        == "my:index:Old$cloud:index:Thing::one"
    )


def test_own_aliases_below_a_parent_that_is_renamed_as_well() -> None:
    def program(app: str, name: str, **opts: Any) -> None:
        thing(
            name,
            App(app, ResourceOptions(aliases=[Alias(name="old")] if app == "new" else None)),
            **opts,
        )

    before = went(lambda: program("old", "old-one"))
    after = went(lambda: program("new", "new-two", aliases=[Alias(name="new-one")]), before.state())
    assert former(before, after)["new-two"] == "my:index:App$cloud:index:Thing::old-one"


def test_of_another_stack_and_project() -> None:
    """Their URNs are known, and nothing of them is in this state; its own is none."""
    aliases = [
        Alias(name="one"),
        Alias(stack="prod", project="shop"),
        "urn:pulumi:x::y::t:t:t::one",
    ]
    done = went(lambda: thing("one", aliases=aliases))
    assert done.named("one").aliases == (
        "urn:pulumi:prod::shop::cloud:index:Thing::one",
        "urn:pulumi:x::y::t:t:t::one",
    )


@pytest.mark.parametrize("option", ["protect", "retain_on_delete"])
def test_what_comes_down_unless_it_is_said_otherwise(option: str) -> None:
    shown = {"protect": "protect", "retain_on_delete": "retainOnDelete"}[option]

    def program() -> None:
        above = App("app", ResourceOptions(**{option: True}))  # type: ignore[arg-type]
        thing("one", above)
        thing("two", above, **{option: False})

    done = went(program)
    assert {
        registration.name for registration in done.registrations if registration.options.get(shown)
    } == {
        *("app", "app-part", "app-part-thing", "other", "one"),
    }


@pytest.mark.parametrize("kind", ["App", "Part"])
def test_a_transform_hands_its_options_down(kind: str) -> None:
    """What a transform makes of a component counts for what is below it, however deep."""

    def protecting(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        if args.type_ != f"my:index:{kind}":
            return None
        own = [pulumi.ProviderResource(package, package, {}) for package in ("cloud", "my")]
        opts = ResourceOptions.merge(
            args.opts, ResourceOptions(retain_on_delete=True, providers=own)
        )
        return pulumi.ResourceTransformResult(args.props, opts)

    done = went(lambda: App("app", ResourceOptions(transforms=[protecting])))
    assert {
        registration.name
        for registration in done.registrations
        if registration.options.get("retainOnDelete")
    } == {
        *({"app"} if kind == "App" else set()),
        *("app-part", "app-part-thing", "other"),
    }
    assert done.named("app-part").provider == ""
    assert done.named("other").provider.startswith(f"{STACK}pulumi:providers:cloud::cloud::")


def test_the_dependencies_of_a_transform_of_one_s_own() -> None:
    """The engine notes what such a transform adds, and not what one from above adds."""

    def waiting(
        for_: pulumi.Resource,
    ) -> Callable[[pulumi.ResourceTransformArgs], pulumi.ResourceTransformResult]:
        def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
            opts = ResourceOptions.merge(args.opts, ResourceOptions(depends_on=[for_]))
            return pulumi.ResourceTransformResult(args.props, opts)

        return transform

    def program() -> None:
        first = thing("first")
        thing("own", transforms=[waiting(first)])
        thing("below", Part("part", ResourceOptions(transforms=[waiting(first)])))

    done = went(program)
    assert done.named("own").dependencies == (done.named("first").urn,)
    assert done.named("part").dependencies == (done.named("first").urn,)
    assert done.named("below").dependencies == ()


def test_a_transform_takes_options_away() -> None:
    def freeing(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
        return pulumi.ResourceTransformResult(args.props, ResourceOptions())

    def program() -> None:
        opts: dict[str, Any] = {
            "protect": True,
            "retain_on_delete": True,
            "depends_on": [thing("first")],
        }
        thing("freed", transforms=[freeing], aliases=[Alias(name="old")], **opts)

    freed = went(program).named("freed")
    assert (freed.options, freed.dependencies, freed.aliases) == ({}, (), ())


def test_two_of_one_urn() -> None:
    """The names of parents are not in it."""

    def program() -> None:
        thing("one", App("first"))
        thing("one", App("second"))

    # The components have a child of one name as well: whichever the monitor hears of first.
    urns = [
        f"{STACK}my:index:App${kind}"
        for kind in ("cloud:index:Thing::one", "my:index:Part$cloud:index:Thing::other")
    ]
    said = {f"Duplicate resource URN '{urn}'; try giving it a unique name" for urn in urns}
    assert str(run_program(program).error) in said


def test_the_mocks_of_pulumi_know_it_with_this_monitor() -> None:
    """As the documentation says; with the SDK's own they run no transform."""

    def labelled(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
        return pulumi.ResourceTransformResult({**args.props, "label": "yes"}, args.opts)

    @pulumi.runtime.test  # type: ignore[untyped-decorator]
    def program() -> pulumi.Output[Any]:
        made = Labelled("one", ResourceOptions(transforms=[labelled]))
        return made.label.apply(seen.append)

    seen: list[Any] = []
    mocks = FleetMocks()
    monitor = RecordingMonitor(mocks)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        pulumi.runtime.set_mocks(mocks, preview=False, monitor=monitor)
        program()
    finally:
        end_loop(loop)
        monitor.close()
    assert seen == ["yes"]


class Labelled(pulumi.CustomResource):
    label: pulumi.Output[str]

    def __init__(self, name: str, opts: ResourceOptions) -> None:
        super().__init__("cloud:index:Labelled", name, {"label": None}, opts)
