"""YAML says all that Python says: every field of every public class, or the reason why not; upgrades, groups, logins."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs
import pytest
import yaml
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

pytest.importorskip("pulumi_azure_native")

from fleet_components import azure
from fleet_components.azure import (
    AksMember,
    AutoUpgrade,
    AzureFleet,
    AzureFleetArgs,
    AzureHubArgs,
    Group,
    JoinedMember,
    Login,
    Run,
    Stage,
    Strategy,
)
from fleet_components.azure.values.upgrades import Upgrades
from fleet_components.content.files import Text
from fleet_components.content.load import load_text
from fleet_components.model.codec import camel
from fleet_components.model.reader import read
from fleet_components.model.typed import Later, Typed
from fleet_components.plan.source import gather
from tests.azure import world
from tests.azure.build import GUID, aks

pytestmark = pytest.mark.long

ROOTS = (AzureHubArgs, AksMember, JoinedMember, Upgrades, Login)
"""What the objects of YAML hold: ``Hub.spec``, members, ``Upgrades.spec``, ``Members.spec.login``."""
BY_PROGRAMS = {
    "AzureFleetArgs": "the objects together are one; see test_every_argument_of_a_fleet_is_written_somewhere",
    "AzureMemberArgs": "its member is an entry of Members, all else follows from the fleet",
    "AzureUpgradesArgs": "its strategies, runs and profiles are those of Upgrades, all else follows from the fleet",
    "AzureAccessArgs": "its scope is the ID of another resource; the grants of a hub are in Hub",
    "OwnHub": "its provider is a resource of the program, its identities a function",
}
NOT_WRITTEN = {
    ("AzureHubArgs", "sizes"): "a table is a file that a program reads",
    ("AzureHubArgs", "kubeconfig"): "it is a secret, or an output; kubeconfigFile names a file",
    ("JoinedMember", "kubeconfig"): "it is a secret, or an output; kubeconfigFile names a file",
    ("Taint", "time_added"): "it is recorded when a taint is seen, not declared",
}
WRITTEN = {
    "members": "Members.spec.members",
    "hub": "Hub",
    "existing_resource_groups": "Members.spec.existingResourceGroups",
    "strategies": "Upgrades.spec.strategies",
    "runs": "Upgrades.spec.runs",
    "profiles": "Upgrades.spec.profiles",
    "confirm": "fleet:confirm of the configuration",
    "providers": "Members.spec.members[].subscription; providers are made of it",
    "login": "Members.spec.login",
    "sizes": "not at all: a table is a file that a program reads",
    "as_of": "fleet:asOf of the configuration",
}


def classes_in(kind: Any) -> Iterator[type[Any]]:
    """The attrs classes that a type names."""
    if isinstance(kind, type) and attrs.has(kind):
        yield kind
    for inner in get_args(kind):
        yield from classes_in(inner)


def hints_of(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind, localns=dict(kind.NAMES))


@cache
def reached() -> frozenset[type[Any]]:
    seen: set[type[Any]] = set()
    ahead: list[type[Any]] = list(ROOTS)
    while ahead:
        kind = ahead.pop()
        if kind in seen:
            continue
        seen.add(kind)
        for field in attrs.fields(kind):
            if (kind.__name__, field.name) not in NOT_WRITTEN:
                ahead += classes_in(hints_of(kind)[field.name])
    return frozenset(seen)


def test_no_public_class_is_forgotten() -> None:
    public = [getattr(azure, name) for name in azure.__all__]
    values = {
        kind.__name__ for kind in public if isinstance(kind, type) and issubclass(kind, Typed)
    }
    assert values - {kind.__name__ for kind in reached()} == set(BY_PROGRAMS)


def test_every_argument_of_a_fleet_is_written_somewhere() -> None:
    assert {field.name for field in attrs.fields(AzureFleetArgs)} == set(WRITTEN)


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a type, of those that YAML can hold."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, types.UnionType):
        return st.one_of([values(item) for item in inner if item is not Later])
    if origin is tuple:
        return st.lists(values(inner[0]), max_size=2).map(tuple)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return st.dictionaries(values(inner[0]), values(inner[1]), max_size=2)
    if isinstance(origin, type) and attrs.has(origin):
        return instances(origin)
    plain = {
        str: st.text("abc1.-", min_size=1),
        int: st.integers(0, 9),
        float: st.floats(0, 9),
        bool: st.booleans(),
    }
    return {**plain, type(None): st.none()}[origin]


def instances(kind: type[Any]) -> st.SearchStrategy[Any]:
    written = [
        field.name for field in attrs.fields(kind) if (kind.__name__, field.name) not in NOT_WRITTEN
    ]
    return st.builds(kind, **{name: values(hints_of(kind)[name]) for name in written})


def wire(value: Any) -> Any:
    """The value as somebody would write it: all fields, in camelCase."""
    if attrs.has(type(value)):
        fields = {field.name: getattr(value, field.name) for field in attrs.fields(type(value))}
        skipped = {name for kind, name in NOT_WRITTEN if kind == type(value).__name__}
        return {camel(name): wire(each) for name, each in fields.items() if name not in skipped}
    if isinstance(value, Mapping):
        return {key: wire(each) for key, each in value.items()}
    return [wire(each) for each in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("kind", sorted(reached(), key=str))
@settings(
    max_examples=10, phases=(Phase.generate,)
)  # the field is in the message; making it smaller takes minutes
@given(st.data())
def test_every_field_that_python_has_is_written_and_read_back(
    kind: type[Any], data: st.DataObject
) -> None:
    value = data.draw(instances(kind))
    assert read(kind, yaml.safe_load(yaml.safe_dump(wire(value)))) == value


@pytest.mark.parametrize(("kind", "field"), NOT_WRITTEN)
def test_what_cannot_be_written_is_refused_as_no_field(kind: str, field: str) -> None:
    (found,) = (each for each in reached() if each.__name__ == kind)
    with pytest.raises(Exception, match="there is no field"):
        read(found, {camel(field): "x"})


HUB = "apiVersion: fleet-components/v1\nkind: Hub\nmetadata: {name: shop}\nspec: {resourceGroup: rg, region: westeurope}\n"
MEMBERS = """\
apiVersion: fleet-components/v1
kind: Members
metadata: {name: shop}
spec:
  existingResourceGroups: [rg]
  login: {mode: msi}
  defaults:
    resourceGroup: rg
    systemPool: {name: system, vmSize: Standard_D4s_v5, count: 3, upgrade: {surge: 33%}}
    containerInsights: {entraAuth: false, workspace: &logs WORKSPACE}
  members:
  - {name: weu-1, region: westeurope, group: canary, keda: true}
  - {name: weu-2, region: westeurope, group: second, containerInsights: {workspace: *logs}}
""".replace(
    "WORKSPACE",
    f"/subscriptions/{GUID}/resourceGroups/rg/providers/Microsoft.OperationalInsights/workspaces/logs",
)
UPGRADES = """\
apiVersion: fleet-components/v1
kind: Upgrades
metadata: {name: shop}
spec:
  strategies:
  - name: rings
    stages:
    - {name: canary, groups: [canary], waitSeconds: 3600, approveAfter: [fine?]}
    - {name: rest, groups: [{name: second, atOnce: "25%"}]}
  runs:
  - {name: to-1-33-5, kubernetesVersion: 1.33.5, strategy: rings}
  profiles:
  - {name: stable, strategy: rings}
"""
ALL = f"{HUB}---\n{MEMBERS}---\n{UPGRADES}"


def made(text: str, **args: Any) -> world.Run:
    return world.run(
        lambda: AzureFleet.from_manifests(
            "shop", load_text(text, "fleet.yaml"), AzureFleetArgs(**args)
        )
    )


def test_a_fleet_in_yaml_is_the_same_as_in_python() -> None:
    declared = made(ALL)
    assert declared.error is None, declared.error
    strategy = Strategy(
        "rings",
        (
            Stage("canary", ("canary",), wait_seconds=3600, approve_after=("fine?",)),
            Stage("rest", (Group("second", at_once="25%"),)),
        ),
    )
    rest = declared.resources
    upgrades = (strategy,), (Run("to-1-33-5", kubernetes_version="1.33.5", strategy="rings"),)
    program = made(
        f"{HUB}---\n{MEMBERS}",
        strategies=upgrades[0],
        runs=upgrades[1],
        profiles=(AutoUpgrade("stable", strategy="rings"),),
    )
    assert program.error is None, program.error
    assert program.resources == rest
    assert declared.named("shop-strategy-rings").inputs["resourceType"] == "updateStrategies"


def test_the_features_of_a_member_replace_those_of_the_defaults_as_a_whole() -> None:
    run = made(ALL)
    add_ons = [
        run.named(f"weu-{number}-cluster").inputs["addonProfiles"]["omsagent"] for number in (1, 2)
    ]
    assert [each["config"]["useAADAuth"] for each in add_ons] == ["false", "true"]
    assert [
        each.inputs["agentPoolProfiles"][0]["upgradeSettings"]
        for each in run.of_type("ManagedCluster")
    ] == [{"maxSurge": "33%"}] * 2


def test_groups_that_are_there_are_not_created() -> None:
    assert made(ALL).of_type("ResourceGroup") == []
    assert [
        group.name
        for group in made(ALL.replace("  existingResourceGroups: [rg]\n", "")).of_type(
            "ResourceGroup"
        )
    ] == ["rg"]


def test_members_sign_in_as_their_list_says(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []

    def note(self: AzureFleet, args: AzureFleetArgs, _table: Any) -> dict[str, Any]:
        used.append(args.login.mode)
        return {}

    monkeypatch.setattr(AzureFleet, "_tell_cost", note)
    made(ALL)
    made(ALL, login=Login("azd"))
    made(ALL.replace("  login: {mode: msi}\n", ""))
    assert used == ["msi", "azd", "azurecli"]


def test_upgrades_may_be_in_several_objects_and_in_the_program() -> None:
    other = "apiVersion: fleet-components/v1\nkind: Upgrades\nmetadata: {name: more}\nspec: {runs: [RUN]}\n"
    run = "{name: images, kind: NodeImageOnly, strategy: %s}"
    both = f"{ALL}---\n{other.replace('RUN', run % 'rings')}"
    assert made(both).error is None
    own = Strategy("own", (Stage("all", ("canary", "second")),))
    assert made(f"{ALL}---\n{other.replace('RUN', run % 'own')}", strategies=(own,)).error is None
    assert "fleet.yaml" in str(made(f"{ALL}---\n{other.replace('RUN', run % 'own')}").error)


def test_the_groups_of_a_programs_members_count() -> None:
    text = ALL.replace("group: second", "group: third")
    assert 'no member is in the update group "second"' in str(made(text).error)
    assert made(text, members=(aks("eus-1", group="second"),)).error is None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "strategy: rings}\n  profiles",
            "strategy: ring}\n  profiles",
            "fleet.yaml:30: Upgrades shop: spec.runs[0].strategy",
        ),
        (
            "kubernetesVersion: 1.33.5, ",
            "",
            "fleet.yaml:30: Upgrades shop: spec.runs[0].kubernetesVersion",
        ),
        (
            "groups: [canary]",
            "groups: [Canary]",
            "fleet.yaml:27: Upgrades shop: spec.strategies[0].stages[0].groups[0]",
        ),
        ("groups: [canary]", "groups: canary", "spec.strategies[0].stages[0].groups: "),
        (
            "atOnce:",
            "atonce:",
            "fleet.yaml:28: Upgrades shop: spec.strategies[0].stages[1].groups[0].atonce: there is no",
        ),
        (
            "- {name: stable, strategy",
            "- {name: stable, channel: Slow, strategy",
            "fleet.yaml:32: Upgrades shop: spec.profiles[0].channel",
        ),
        ("  runs:", "  run:", 'there is no field "run" (runs)'),
        ("[rg]", "[rg.]", "fleet.yaml:10: Members shop: spec.existingResourceGroups[0]"),
        ("[rg]", "rg", "fleet.yaml:10: Members shop: spec.existingResourceGroups: is not a list"),
        ("{mode: msi}", "{mode: devicecode}", "fleet.yaml:11: Members shop: spec.login.mode"),
        (
            "{mode: msi}",
            "{mod: msi}",
            'fleet.yaml:11: Members shop: spec.login.mod: there is no field "mod" (mode)',
        ),
        ("keda: true", "keda: always", "fleet.yaml:17: Members shop: spec.members[0].keda"),
        (
            "surge: 33%",
            "surge: lots",
            "fleet.yaml:14: Members shop: spec.defaults.systemPool.upgrade.surge",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(old: str, new: str, words: str) -> None:
    assert ALL.count(old) == 1
    broken = ALL.replace(old, new)
    assert words in str(made(broken).error)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            f"{MEMBERS}---\n{UPGRADES}",
            "upgrades are made by an Azure fleet, and no hub is declared",
        ),
        (f"{ALL}---\n{UPGRADES}", '"rings" is in another object of kind Upgrades too'),
        (
            ALL.replace(UPGRADES, UPGRADES[: UPGRADES.index("spec")] + "spec: {}\n"),
            "nothing is declared",
        ),
        (
            f"{ALL}---\n{MEMBERS.replace('msi', 'azd').replace('weu-', 'eus-')}",
            "another list of members says something else",
        ),
        (
            ALL.replace("existingResourceGroups: [rg]", "existingResourceGroups: [rgg]"),
            'in the resource group "rgg"',
        ),
    ],
)
def test_what_does_not_go_together_is_refused(text: str, words: str) -> None:
    assert words in str(made(text).error)


@pytest.mark.parametrize(
    ("old", "words"),
    [("strategy: rings}\n  profiles", "spec.runs[0].strategy"), (HUB, "no hub is declared")],
)
def test_a_plan_without_the_sdk_says_it_too(old: str, words: str) -> None:
    assert gather(Text("fleet.yaml", ALL)).problems == ()
    text = (
        ALL.replace(f"{HUB}---\n", "")
        if old == HUB
        else ALL.replace(old, old.replace("rings", "ring"))
    )
    assert words in str(gather(Text("fleet.yaml", text)).problems[0])


def test_a_hub_of_the_program_upgrades_what_yaml_declares() -> None:
    run = made(
        f"{MEMBERS}---\n{UPGRADES}",
        hub=AzureHubArgs(resource_group="rg", region="westeurope", kind="hubless"),
    )
    assert run.error is None, run.error
    assert run.named("shop-profile-stable")
