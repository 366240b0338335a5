"""A program that says what its fleet is made of hears the configuration of its stack as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pulumi
import pulumi_kubernetes as k8s
import pytest

from fleet_components import Fleet, FleetArgs, FleetError, Member, Renamed, source_of
from fleet_components.components.config import configured
from fleet_components.content.secret import REDACTED
from fleet_components.model.manifest import Manifest
from fleet_components.options import KEYS
from fleet_components.testing import ProgramRun, kubeconfig, member, placement, run_program

NAMES = ("a", "b")


DECLARED = Manifest(
    {
        "apiVersion": "cluster.kubernetes-fleet.io/v1",
        "kind": "MemberCluster",
        "metadata": {"name": "a"},
        "spec": {"identity": {"kind": "ServiceAccount", "name": "a", "namespace": "fleet-system"}},
    }
)


def args(**more: Any) -> FleetArgs:
    return FleetArgs(
        source_of([placement("shop"), DECLARED]), members=[Member(member("b").cluster)], **more
    )


def heard(given: Callable[[], FleetArgs], config: dict[str, str]) -> FleetArgs:
    """What comes of the arguments of a program, and of the configuration of its stack."""
    found: list[FleetArgs] = []
    done = run_program(
        lambda: found.append(configured(given())),
        config={f"fleet:{key}": value for key, value in config.items()},
    )
    if done.error:
        raise done.error
    return found[0]


def test_a_provider_of_the_hub_stays_and_the_key_is_named() -> None:
    given = lambda: args(hub=k8s.Provider("mine"), delivery="kubefleet")  # noqa: E731
    said = heard(given, {"hub": "secret-of-the-hub"})
    assert isinstance(said.hub, k8s.Provider)
    (warning,) = map(str, said.source.warnings)
    assert (
        "fleet:hub: is ignored (the program reaches the hub itself, by a provider of its own)"
        in warning
    )
    assert "secret-of-the-hub" not in warning
    assert heard(given, {}).source.warnings == ()


SAID: list[tuple[str, str, dict[str, Any], Any]] = [
    ("asOf", "2026-01-31T12:00:00Z", {}, "2026-01-31T12:00:00+00:00"),
    ("approvals", "go", {"approvals": ["stay"]}, ("stay", "go")),
    ("lost", "b", {"lost": ["a"]}, ("a", "b")),
    ("limit", "0.25", {"limit": 1}, 0.25),
    ("confirm", '["0badcafe"]', {"confirm": ["1a2b3c4d", "0badcafe"]}, ("1a2b3c4d", "0badcafe")),
    ("keepClusterResources", "false", {}, False),
    ("keepFound", "false", {}, False),
    ("maxWait", "5", {"max_wait": 7}, 5),
    ("moving", "true", {}, True),
    ("delivery", "karmada", {"delivery": "kubefleet"}, "karmada"),
    ("kubefleet", "main-2026-08", {"kubefleet": "0.3.1"}, "main-2026-08"),
    ("karmada", "1.17", {"karmada": "1.18"}, "1.17"),
    ("hub", "hub.yaml", {"hub": "other.yaml"}, "hub.yaml"),
    ("readyTimeout", "20", {"ready_timeout": 60}, 20),
    (
        "renamed",
        '{"members": {"b": "old"}, "placements": {"shop": "s"}}',
        {"renamed": Renamed(fleet="was", members={"a": "x"})},
        Renamed(fleet="was", members={"a": "x", "b": "old"}, placements={"shop": "s"}),
    ),
    ("takesOver", '{"b": "web"}', {"takes_over": {"a": ["*"]}}, {"a": ["*"], "b": ["web"]}),
    ("takesFrom", "o/p/s, o/p/t", {"takes_from": ["o/p/r"]}, ("o/p/r", "o/p/s", "o/p/t")),
    ("passOver", "Widget", {}, ("Widget",)),
    ("skipChecks", "digests", {}, ("digests",)),
    ("plugins", "own:Two", {"plugins": ["own:One"]}, ("own:One", "own:Two")),
    ("protect", "false", {"protect": True}, False),
    ("kubeconfigs", '{"a": "a.yaml"}', {}, {"a": "a.yaml"}),
]


def test_every_key_has_a_case() -> None:
    assert {key for key, *_ in SAID} | {"source", "render"} == set(KEYS)
    assert {key.name for key in KEYS.values()} <= set(attrs.fields_dict(FleetArgs))


@pytest.mark.parametrize(("key", "text", "given", "expected"), SAID, ids=[key for key, *_ in SAID])
def test_what_the_configuration_says_is_heard(
    key: str, text: str, given: dict[str, Any], expected: Any
) -> None:
    found = heard(lambda: args(**given), {key: text})
    value = getattr(found, KEYS[key].name)
    assert (value.isoformat() if key == "asOf" else value) == expected
    assert (found.source.warnings, found.source.problems) == ((), ())


def test_a_kubeconfig_reaches_a_member_of_the_program() -> None:
    found = heard(args, {"kubeconfigs": '{"b": "b.yaml"}'})
    assert ([item.kubeconfig for item in found.members], found.kubeconfigs) == (["b.yaml"], {})


def test_without_the_passphrase_what_the_program_does_not_reach_is_unseen() -> None:
    found = heard(args, {"kubeconfigs": REDACTED})
    assert ([item.kubeconfig for item in found.members], found.kubeconfigs) == (
        [REDACTED],
        {"a": REDACTED},
    )

    def reached() -> FleetArgs:
        provider = k8s.Provider("own", kubeconfig="", cluster_identifier="a")
        return attrs.evolve(args(providers={"a": provider}), members=[member("b")])

    found = heard(reached, {"kubeconfigs": REDACTED})
    assert (found.members[0].kubeconfig, found.kubeconfigs) == (member("b").kubeconfig, {})


def test_what_the_program_reaches_itself_stays() -> None:
    def reached() -> FleetArgs:
        provider = k8s.Provider("own", kubeconfig="", cluster_identifier="a")
        return attrs.evolve(
            args(providers={"a": provider}), members=[Member(member("b").cluster, "mine.yaml")]
        )

    found = heard(reached, {"kubeconfigs": '{"a": "a.yaml", "b": "b.yaml"}'})
    assert (found.members[0].kubeconfig, found.kubeconfigs) == ("mine.yaml", {})
    assert [(warning.path[-1], warning.hint) for warning in found.source.warnings] == [
        (f"fleet:kubeconfigs.{name}", "the program reaches the member itself") for name in NAMES
    ]

    def made_of_it() -> FleetArgs:
        given = pulumi.Config("fleet").require_object("kubeconfigs")
        return args(kubeconfigs={name: pulumi.Output.secret(text) for name, text in given.items()})

    found = heard(made_of_it, {"kubeconfigs": '{"a": "a.yaml"}'})
    assert isinstance(found.kubeconfigs["a"], pulumi.Output)
    assert found.source.warnings == ()


@pytest.mark.parametrize("key", [name for name, key in KEYS.items() if key.by_member])
def test_members_of_another_fleet_are_named_and_left_out(key: str) -> None:
    text = {"lost": "east", "renamed": '{"members": {"east": "old"}}'}.get(key, '{"east": "x"}')
    found = heard(args, {key: text})
    assert getattr(found, KEYS[key].name) == getattr(args(), KEYS[key].name) or not list(found.lost)
    (warning,) = found.source.warnings
    assert (warning.what, warning.hint) == (
        'this fleet has no member "east"',
        "its members are: a, b",
    )
    assert warning.path == ("config", f"fleet:{key}")


def test_what_is_wrong_ends_the_plan() -> None:
    found = heard(args, {"limit": "2", "approvals": '{"run1": true}', "lost": '[["a"]]'})
    assert {problem.path[-1] for problem in found.source.problems} == {
        "fleet:limit",
        "fleet:approvals",
        "fleet:lost",
    }


def test_an_unknown_release_of_kubefleet_is_refused_with_those_that_are_known() -> None:
    (problem,) = heard(args, {"kubefleet": "0.9"}).source.problems
    assert (problem.what, problem.hint) == (
        'KubeFleet "0.9" is not known here',
        "write one of 0.3.1, main-2026-08",
    )


def test_a_key_that_is_misspelt_is_said_and_any_other_is_the_programs() -> None:
    found = heard(args, {"limti": "1", "colour": "red", "source": "elsewhere", "render": "out"})
    assert sorted(
        (warning.path[-1], warning.hint.partition(",")[0]) for warning in found.source.warnings
    ) == [
        ("fleet:limti", "did you mean fleet:limit?"),
        ("fleet:render", "the program says it itself"),
        ("fleet:source", "the program says it itself"),
    ]


def up(config: dict[str, str], names: tuple[str, ...] = NAMES) -> ProgramRun:
    def program() -> None:
        members = [Member(member(name).cluster, kubeconfig(name)) for name in names]
        Fleet("dev", FleetArgs(source_of([placement("shop")]), members=members))

    return run_program(program, config=config)


def test_a_fleet_of_a_program_does_as_the_configuration_says() -> None:
    done = up({"fleet:lost": "b"})
    assert done.error is None
    assert done.inputs("dev", "dynamic/fleet:Roster")["members"] == {"a": "member", "b": "lost"}
    assert isinstance(up({"fleet:limit": "many"}).error, FleetError)


def test_each_of_two_fleets_hears_what_is_its_own() -> None:
    def program() -> None:
        for name in NAMES:
            Fleet(
                name,
                FleetArgs(source_of([placement("shop")]), members=[Member(member(name).cluster)]),
            )

    done = run_program(
        program, config={"fleet:kubeconfigs": '{"a": "x", "b": "y"}', "fleet:lost": "b"}
    )
    warnings = [text for level, text in done.messages if level == "warning"]
    assert sum('this fleet has no member "a"' in text for text in warnings) == 1
    assert sum('this fleet has no member "b"' in text for text in warnings) == 1
    assert sum('lost: there is no member "b"' in text for text in warnings) == 1


def test_a_placement_that_there_is_not_is_told_with_those_that_there_are() -> None:
    def program() -> None:
        fleet = Fleet("dev", FleetArgs(source_of([placement("shop")]), members=[member("a")]))
        with pytest.raises(KeyError):
            fleet.templates["shop"]
        assert fleet.placements.get("shpo") is None
        fleet.placements["shpo"]

    error = run_program(program).error
    assert isinstance(error, FleetError)
    (problem,) = error.problems
    assert (problem.what, problem.hint) == (
        'there is no "shpo" in this fleet',
        'did you mean "shop"? there is: shop',
    )
    assert problem.file.endswith("test_configured.py")
    assert problem.line
