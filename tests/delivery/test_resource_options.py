"""The resource options of a fleet: what they do, as on an engine, and which are refused with what would do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pulumi
import pulumi_kubernetes as kubernetes
import pytest
from pulumi import Alias, ResourceOptions
from pulumi.runtime import register_resource_transform

from fleet_components import Fleet, FleetArgs, FleetError, Source, source_of
from fleet_components.testing import (
    ProgramRun,
    StackState,
    config_map,
    member,
    placement,
    run_program,
)

TYPE = "kubernetes:core/v1:ConfigMap"


class App(pulumi.ComponentResource):
    def __init__(self, name: str, opts: ResourceOptions | None = None) -> None:
        super().__init__("my:index:App", name, {}, opts)


def source(data: str) -> Source:
    return source_of([*config_map("shop", "settings", {"k": data}), placement("shop")])


def fleet(
    opts: ResourceOptions | None = None,
    *,
    name: str = "dev",
    members: str = "ab",
    data: str = "one",
    **args: Any,
) -> Fleet:
    return Fleet(
        name, FleetArgs(source(data), members=[member(item) for item in members], **args), opts
    )


def run(make: Callable[[], Any], state: StackState | None = None, **how: Any) -> ProgramRun:
    return run_program(make, state=state, **how)


def went(done: ProgramRun) -> ProgramRun:
    assert done.error is None, done.error
    return done


def refusal(opts: Callable[[], ResourceOptions]) -> str:
    done = run(lambda: fleet(opts()))
    assert isinstance(done.error, pulumi.RunError)
    assert not [
        registration
        for registration in done.registrations
        if registration.type.startswith("fleet:")
    ]
    assert isinstance(done.error, FleetError)
    assert {Path(problem.file).name for problem in done.error.problems} <= {Path(__file__).name}
    return "\n".join(
        str(attrs.evolve(problem, file="", line=None)) for problem in done.error.problems
    )


def labels(done: ProgramRun) -> dict[str, Any]:
    return {
        registration.name: registration.inputs["metadata"].get("labels")
        for registration in done.registrations
        if registration.type == TYPE
    }


def labelled(
    **labels: str,
) -> Callable[[pulumi.ResourceTransformArgs], pulumi.ResourceTransformResult | None]:
    def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        props: Any = args.props
        if args.type_ != TYPE:
            return None
        metadata = {
            **props["metadata"],
            "labels": {**props["metadata"].get("labels", {}), **labels},
        }
        return pulumi.ResourceTransformResult({**props, "metadata": metadata}, args.opts)

    return transform


SOMETHING: dict[str, tuple[Any, str]] = {
    "ignore_changes": (["spec.replicas"], "a transform sets it on single objects"),
    "retain_on_delete": (True, "FleetArgs.keep_cluster_resources keeps namespaces"),
    "delete_before_replace": (
        True,
        "an object of a fleet that is replaced is always deleted first",
    ),
    "replace_on_changes": (["*"], "replaced where a field cannot be changed, and nowhere else"),
    "custom_timeouts": (
        pulumi.CustomTimeouts(create="5m"),
        "FleetArgs.ready_timeout sets it for all objects",
    ),
    "additional_secret_outputs": (["x"], "a transform sets it on single objects"),
    "hide_diffs": (["x"], "a transform sets it on single objects"),
    "import_": ("x", "take up what is there already"),
    "id": ("x", "leave it out: it means nothing for a component"),
    "urn": ("x", "leave it out: it means nothing for a component"),
    "version": ("1.0.0", "leave it out: it means nothing for a component"),
    "plugin_download_url": ("x", "leave it out: it means nothing for a component"),
    "replacement_trigger": ("x", "replaced where a field cannot be changed, and nowhere else"),
}
OF_RESOURCES = ("deleted_with", "replace_with", "hooks", "state_migrations", "env_var_mappings")
CARRIED_OUT = (
    *(
        "parent",
        "depends_on",
        "aliases",
        "protect",
        "provider",
        "providers",
        "transforms",
        "transformations",
    ),
)


@pytest.mark.parametrize("option", SOMETHING)
def test_an_option_that_would_do_nothing_is_refused(option: str) -> None:
    value, hint = SOMETHING[option]
    text = refusal(lambda: ResourceOptions(**{option: value}))
    assert text.startswith(f"Fleet.opts.{option}: is not for a fleet (")
    assert hint in text


def test_every_option_of_the_sdk_is_carried_out_or_refused() -> None:
    """One that a later SDK brings is refused until somebody has looked at it."""
    assert vars(ResourceOptions()).keys() <= {*CARRIED_OUT, *SOMETHING, *OF_RESOURCES}

    def program() -> None:
        other = App("other")
        opts = ResourceOptions(deleted_with=other, replace_with=[other])
        opts.hooks = opts.state_migrations = opts.env_var_mappings = ["x"]  # type: ignore[assignment]
        with pytest.raises(pulumi.RunError) as refused:
            fleet(opts)
        assert isinstance(refused.value, FleetError)
        assert {".".join(map(str, problem.path)) for problem in refused.value.problems} == {
            f"Fleet.opts.{option}" for option in OF_RESOURCES
        }

    went(run(program))


def test_a_provider_of_kubernetes_would_reach_nothing() -> None:
    def own() -> Any:
        return kubernetes.Provider("own", kubeconfig="x")

    for opts in (
        lambda: ResourceOptions(provider=own()),
        lambda: ResourceOptions(providers=[own()]),
        lambda: ResourceOptions(providers={"kubernetes": own()}),
    ):
        text = refusal(opts)
        assert "a provider of Kubernetes reaches none of its objects" in text
        assert "Member(provider=...), or FleetArgs.providers" in text
    wrong = ResourceOptions()
    wrong.provider = "own"  # type: ignore[assignment]
    assert refusal(lambda: wrong).startswith("Fleet.opts.provider: is str, and no provider")


def test_aliases_must_be_plain() -> None:
    late: Any = lambda: pulumi.Output.from_input("x")  # noqa: E731
    text = refusal(lambda: ResourceOptions(aliases=[late(), Alias(name=late()), "x"]))
    assert [line.partition(" (")[0] for line in text.splitlines()] == [
        "Fleet.opts.aliases[0]: is known too late: what stands under the former name is read before anything is planned",
        "Fleet.opts.aliases[1]: is known too late: what stands under the former name is read before anything is planned",
        'Fleet.opts.aliases[2]: "x" is not a URN',
    ]
    wrong = ResourceOptions()
    wrong.aliases = "urn:pulumi:a::b::c::d"
    assert refusal(lambda: wrong).startswith("Fleet.opts.aliases: is a str, not a list")


@pytest.mark.parametrize(
    ("opts", "args", "protected"),
    [
        ({}, True, True),
        ({}, False, False),
        (True, False, True),
        (False, True, False),
        (True, True, True),
    ],
)
def test_protection_is_that_of_the_roster(opts: Any, args: bool, protected: bool) -> None:
    """On everything below, it would stop every departure."""
    given = ResourceOptions(protect=opts) if opts != {} else None
    done = went(run(lambda: fleet(given, protect=args)))
    found = [
        registration.type
        for registration in done.registrations
        if registration.options.get("protect")
    ]
    assert found == (["pulumi-python:dynamic/fleet:Roster"] if protected else [])


def test_protection_does_not_come_down_from_a_parent() -> None:
    done = went(
        run(lambda: fleet(ResourceOptions(parent=App("app", ResourceOptions(protect=True)))))
    )
    assert [
        registration.name
        for registration in done.registrations
        if registration.options.get("protect")
    ] == ["app", "dev"]


def test_transforms_reach_what_is_below() -> None:
    """Those of the resource itself come first, then those above it, then those of the stack."""
    seen: list[str] = []

    def noting(word: str) -> Callable[[pulumi.ResourceTransformArgs], None]:
        return lambda args: seen.append(word) if args.name == "dev/shop@a/shop/settings" else None

    def program() -> None:
        register_resource_transform(noting("stack"))
        app = App("app", ResourceOptions(transforms=[noting("app"), labelled(app="yes")]))
        fleet(ResourceOptions(parent=app, transforms=[noting("fleet"), labelled(fleet="yes")]))

    done = went(run(program))
    assert labels(done) == {
        f"dev/shop@{item}/shop/settings": {"app": "yes", "fleet": "yes"} for item in "ab"
    }
    assert seen == ["fleet", "app", "stack"]
    assert went(run(program, done.state())).state() == done.state()


def test_a_transform_may_wait_and_look_at_everything() -> None:
    """It sees what the engine shows it, and what it changes is what counts."""
    seen: dict[str, pulumi.ResourceTransformArgs] = {}

    async def transform(
        args: pulumi.ResourceTransformArgs,
    ) -> pulumi.ResourceTransformResult | None:
        seen[args.name if args.custom else f"{args.type_} {args.name}"] = args
        if args.type_ != TYPE:
            return None
        opts = ResourceOptions.merge(
            args.opts, ResourceOptions(protect=True, retain_on_delete=True, ignore_changes=["data"])
        )
        return pulumi.ResourceTransformResult(args.props, opts)

    def program(data: str = "one") -> Any:
        return fleet(ResourceOptions(transforms=[transform]), data=data)

    first = went(run(program))
    objects = [registration for registration in first.registrations if registration.type == TYPE]
    assert [item.options for item in objects] == [{"protect": True, "retainOnDelete": True}] * 2
    assert {
        "fleet:index:Fleet dev",
        "fleet:index:Target dev/shop@a",
        "dev/shop@a/shop/settings",
    } <= seen.keys()
    assert seen["dev/shop@a/shop/settings"].opts.provider is not None
    assert seen["fleet:index:Target dev/shop@a"].opts.delete_before_replace is None
    assert len(seen["dev/shop@a/shop/settings"].opts._depends_on_list()) == 1  # type: ignore[arg-type]
    later = went(run(lambda: program("two"), first.state()))
    assert [
        registration.inputs["data"]
        for registration in later.registrations
        if registration.type == TYPE
    ] == [{"k": "one"}] * 2


def test_a_transform_that_fails_ends_the_program() -> None:
    def transform(args: pulumi.ResourceTransformArgs) -> None:
        raise ValueError("no labels today")

    done = run(lambda: fleet(ResourceOptions(transforms=[transform])))
    assert "no labels today" in str(done.error)


def test_a_program_that_runs_again_has_transforms_again() -> None:
    """The SDK keeps where they are served in globals."""
    for _ in range(3):
        assert set(
            map(
                str,
                labels(
                    went(run(lambda: fleet(ResourceOptions(transforms=[labelled(a="b")]))))
                ).values(),
            )
        ) == {"{'a': 'b'}"}


def test_a_fleet_waits_for_what_it_depends_on() -> None:
    def program() -> None:
        first = kubernetes.core.v1.ConfigMap("first", metadata={"name": "first"})
        fleet(ResourceOptions(depends_on=[first]))

    for preview in (True, False):
        done = went(run(program, preview=preview))
        assert [registration.name for registration in done.registrations][:2] == ["first", "dev"]
        assert done.named("dev", "index:Fleet").dependencies == (done.named("first").urn,)
    failed = run(program, preview=False, fails=lambda item: item.name == "first")
    assert failed.error is not None
    assert failed.registrations == ()


def test_what_depends_on_a_fleet_or_a_placement_waits_for_it() -> None:
    def program() -> None:
        made = fleet()
        for name, after in (("all", made), ("one", made.placements["shop"])):
            opts = ResourceOptions(depends_on=[after])
            kubernetes.core.v1.ConfigMap(name, metadata={"name": name}, opts=opts)

    done = went(run(program, preview=False))
    own = {
        registration.urn
        for registration in done.registrations
        if registration.custom and registration.name not in ("all", "one")
    }
    assert set(done.named("all").dependencies) == own
    assert {
        registration.name
        for registration in done.registrations
        if registration.urn in done.named("one").dependencies
    } == {
        *(f"dev/shop@{item}" for item in "ab"),
        *(f"dev/shop@{item}/shop" for item in "ab"),
        *(f"dev/shop@{item}/shop/settings" for item in "ab"),
        "dev/shop",
    }
    failed = run(program, preview=False, fails=lambda item: item.name == "dev/shop@b/shop/settings")
    assert not {"all", "one"} & {registration.name for registration in failed.registrations}


def test_what_was_delivered_is_known_in_previews_too() -> None:
    def program(data: str, members: str) -> None:
        made = fleet(data=data, members=members)
        pulumi.export("fleet", made.delivered)
        pulumi.export("shop", made.placements["shop"].delivered)

    state = StackState()
    for data, members in (("one", ""), ("one", "ab"), ("two", "ab"), ("two", "a")):
        expected = dict.fromkeys(members, int(data == "two"))
        for preview in (True, False):
            done = went(run(partial(program, data, members), state, preview=preview))
            assert done.outputs == {"fleet": {"shop": expected}, "shop": expected}
        state = done.state()


def test_what_was_delivered_is_not_known_when_something_fails() -> None:
    known: list[Any] = []

    def program() -> None:
        made = fleet()
        made.delivered.apply(known.append)
        made.placements["shop"].delivered.apply(known.append)

    failed = run(program, preview=False, fails=lambda item: item.name == "dev/shop@b/shop/settings")
    assert failed.error is not None
    assert known == []


def test_what_takes_it_depends_on_it() -> None:
    def program() -> None:
        data = {"members": fleet().delivered.apply(lambda known: ",".join(sorted(known["shop"])))}
        kubernetes.core.v1.ConfigMap("told", metadata={"name": "told"}, data=data)

    done = went(run(program))
    assert done.inputs("told")["data"] == {"members": "a,b"}
    assert done.named("dev", ":Roster").urn in done.named("told").dependencies


@pytest.mark.parametrize(
    "alias", [Alias(name="dev"), "urn:pulumi:stack::project::fleet:index:Fleet::dev"]
)
def test_an_alias_tells_the_former_name(alias: Any) -> None:
    """What stood under it goes on: nothing is decided anew, and every resource is found again."""
    before = went(run(lambda: fleet(members="ab")))
    renamed = went(
        run(
            lambda: fleet(ResourceOptions(aliases=[alias]), name="prod", members="ab"),
            before.state(),
        )
    )
    found_again(before, renamed)
    assert renamed.messages == ()  # nobody joins
    assert went(run(lambda: fleet(name="third"), before.state())).messages != ()
    other = went(
        run(
            lambda: fleet(ResourceOptions(aliases=[Alias(name="never")]), name="dev"),
            before.state(),
        )
    )
    assert {registration.urn for registration in other.registrations} == {
        registration.urn for registration in before.registrations
    }


def test_an_alias_tells_the_former_name_and_parent() -> None:
    before = went(run(lambda: fleet(ResourceOptions(parent=App("app")))))
    alias = Alias(name="dev", parent="urn:pulumi:stack::project::my:index:App::app")
    after = went(run(lambda: fleet(ResourceOptions(aliases=[alias]), name="prod"), before.state()))
    found_again(before, after)


def test_an_alias_of_something_else_tells_no_name() -> None:
    before = went(run(lambda: fleet()))
    alias = "urn:pulumi:stack::project::my:index:App::dev"
    new = went(run(lambda: fleet(ResourceOptions(aliases=[alias]), name="prod"), before.state()))
    # It is found without a word, and that is said.
    assert [text for _, text in new.messages if "fleet dev: is called prod now" in text]


def test_an_option_that_is_off_is_none() -> None:
    went(run(lambda: fleet(ResourceOptions(retain_on_delete=False, ignore_changes=[], version=""))))


def test_another_parent_needs_no_word() -> None:
    before = went(run(lambda: fleet()))
    inside = went(run(lambda: fleet(ResourceOptions(parent=App("app"))), before.state()))
    found_again(before, inside)
    outside = went(run(lambda: fleet(), inside.state()))
    found_again(inside, outside)


def found_again(before: ProgramRun, after: ProgramRun) -> None:
    stood = {
        registration.urn
        for registration in before.registrations
        if registration.type != "my:index:App"
    }
    for registration in after.registrations:
        if registration.type != "my:index:App":
            assert len(stood & set(registration.aliases)) == 1, registration.urn
    assert len(after.registrations) - len(before.registrations) in (-1, 0, 1)
