"""Members that bring a provider of their own: what is asked of it before anything is written, and what it is used for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pulumi
import pulumi_kubernetes as kubernetes
import pytest

from fleet_components import NO_CLUSTER, Cluster, Fleet, FleetArgs, FleetError, Member, source_of
from fleet_components.components.own_provider import Demands, ProviderSettings, demands_of
from fleet_components.components.stack_members import member_exports
from fleet_components.model.manifest import Manifest
from fleet_components.testing import (
    ProgramRun,
    StackState,
    config_map,
    kubeconfig,
    member,
    placement,
    run_program,
)

ENOUGH: dict[str, Any] = {
    "cluster_identifier": "mine",
    "enable_config_map_mutable": True,
    "enable_secret_mutable": True,
    "upsert_existing_objects": True,
    "enable_patch_force": True,
}
POLICY = Manifest(
    {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": "shop", "namespace": "shop"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "settings"}],
            "placement": {"clusterAffinity": {"clusterNames": ["a", "b"]}},
        },
    }
)


def objects(*policies: Manifest) -> Any:
    return source_of([*config_map("shop", "settings"), *policies])


def provider(name: str = "own", **settings: Any) -> kubernetes.Provider:
    told = {"kubeconfig": kubeconfig("own"), **ENOUGH, **settings}
    return kubernetes.Provider(
        name, **{field: value for field, value in told.items() if value is not None}
    )


def lets_go() -> kubernetes.Provider:
    """The provider of a lost member."""
    return provider(delete_unreachable=True, kubeconfig=NO_CLUSTER)


def program(
    *policies: Manifest,
    own: Callable[[], pulumi.ProviderResource] = provider,
    lost: bool = False,
    **args: Any,
) -> Callable[[], None]:
    """Member a brings its own provider, member b has a kubeconfig."""

    def run() -> None:
        members = [Member(Cluster("a"), provider=own(), lost=lost), member("b")]
        Fleet(
            "dev", FleetArgs(objects(*(policies or (placement("shop"),))), members=members, **args)
        )

    return run


def ours(state: StackState | None = None) -> ProgramRun:
    """The same members, both with kubeconfigs."""
    args = FleetArgs(objects(placement("shop")), members=[member("a"), member("b")])
    return went(run_program(lambda: Fleet("dev", args), state=state))


def went(done: ProgramRun) -> ProgramRun:
    assert done.error is None, done.error
    return done


def refused(make: Callable[[], None], state: StackState | None = None) -> list[str]:
    """What is said, each without the hint; nothing but the empty components were registered."""
    done = run_program(make, state=state)
    assert isinstance(done.error, pulumi.RunError), done.error
    assert not [
        registration
        for registration in done.registrations
        if registration.custom and registration.name.startswith("dev/")
    ]
    assert isinstance(done.error, FleetError)
    return [
        str(attrs.evolve(problem, file="", line=None, hint="")) for problem in done.error.problems
    ]


def warnings(done: ProgramRun) -> list[str]:
    return [text for level, text in done.messages if level == "warning"]


def test_it_brings_the_objects_of_its_member_and_of_no_other() -> None:
    done = went(run_program(program()))
    used = {
        registration.name: registration.provider.split("::")[3]
        for registration in done.registrations
        if registration.provider
    }
    assert {name: by for name, by in used.items() if "@" in name} == {
        "dev/shop@a/shop": "own",
        "dev/shop@a/shop/settings": "own",
        "dev/shop@b/shop": "dev/b",
        "dev/shop@b/shop/settings": "dev/b",
    }
    assert {
        registration.name
        for registration in done.registrations
        if registration.type.startswith("pulumi:providers:")
    } == {
        "own",
        "dev/b",
    }
    assert warnings(done) == []


def test_nothing_is_written_before_it_is_known() -> None:
    """The records of all members come first, and that of this member after its provider."""
    done = went(run_program(program()))
    assert done.named("own").urn in done.named("dev/a", ":Member").dependencies
    order = [registration.name for registration in done.registrations]
    assert order.index("own") < order.index("dev/a") < order.index("dev/shop@a")


def test_what_it_calls_its_cluster_is_remembered() -> None:
    """A kubeconfig in its place calls it the same, so that nothing is made anew."""
    done = went(run_program(program()))
    assert done.inputs("dev/a", ":Member")["identifier"] == "mine"
    assert done.inputs("dev/b", ":Member")["identifier"] == "b"
    after = ours(done.state())
    assert after.inputs("dev/a", "kubernetes")["clusterIdentifier"] == "mine"
    assert after.inputs("dev/a", ":Member")["identifier"] == "mine"


def test_from_ours_to_its_own() -> None:
    before = ours()
    done = went(
        run_program(program(own=lambda: provider(cluster_identifier="a")), state=before.state())
    )
    gone = before.state().resources.keys() - done.state().resources.keys()
    assert {urn.rpartition("::")[2] for urn in gone} == {"dev/a"}
    assert refused(program(), before.state()) == [
        'member a: its provider calls the cluster "mine", and it was called "a"'
    ]
    own = went(run_program(program()))
    assert refused(program(own=lambda: provider(cluster_identifier=None)), own.state()) == [
        'member a: its provider lacks cluster_identifier="mine"'
    ]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"cluster_identifier": None}, 'member a: its provider lacks cluster_identifier="a"'),
        (
            {"enable_config_map_mutable": None},
            "member a: its provider lacks enable_config_map_mutable=True",
        ),
        (
            {"enable_config_map_mutable": False},
            "member a: its provider lacks enable_config_map_mutable=True",
        ),
        (
            {"enable_secret_mutable": None},
            "member a: its provider lacks enable_secret_mutable=True",
        ),
        (
            {"enable_server_side_apply": False},
            "member a: its provider has enable_server_side_apply=False",
        ),
    ],
)
def test_what_would_delete_or_overwrite_is_refused(settings: dict[str, Any], said: str) -> None:
    assert refused(program(own=lambda: provider(**settings))) == [said]


def test_all_that_is_wrong_with_all_providers_is_said_at_once() -> None:
    def run() -> None:
        members = [
            Member(Cluster(item), provider=kubernetes.Provider(item, kubeconfig=kubeconfig("x")))
            for item in "ab"
        ]
        Fleet("dev", FleetArgs(objects(placement("shop")), members=members))

    lacking = ("cluster_identifier", "enable_config_map_mutable", "enable_secret_mutable")
    assert [line.partition("=")[0] for line in refused(run)] == [
        f"member {item}: its provider lacks {setting}" for item in "ab" for setting in lacking
    ]


def test_a_lost_member_needs_a_provider_that_lets_go() -> None:
    before = went(run_program(program()))
    reaches = "member a: is lost, and its provider may still reach the cluster: objects would be deleted there if it answers"
    lacking = ["member a: its provider lacks delete_unreachable=True", reaches]
    assert refused(program(lost=True), before.state()) == lacking
    done = went(run_program(program(own=lets_go, lost=True), state=before.state()))
    assert not [
        registration
        for registration in done.registrations
        if registration.name.startswith("dev/shop@a")
    ]
    assert done.inputs("dev/a", ":Member")["forgotten"] == ["v1|ConfigMap|shop|settings"]


@pytest.mark.parametrize("text", [None, "no kubeconfig"])
def test_a_member_that_is_back_is_rid_of_what_has_moved_by_its_kubeconfig_alone(
    text: str | None,
) -> None:
    """Where the provider names none that can be read, the update is refused rather than the object forgotten."""
    both, pick = (
        placement("shop", {"placementType": "PickFixed", "clusterNames": list(names)})
        for names in ("ab", "b")
    )
    before = went(run_program(program(both)))
    lost = program(both, own=lets_go, lost=True)
    state = went(run_program(lost, state=before.state())).state()
    assert refused(program(pick, own=lambda: provider(kubeconfig=text)), state) == [
        "member a: its provider names no kubeconfig to delete ConfigMap shop/settings with"
    ]
    back = went(run_program(program(pick), state=state))
    assert back.inputs("dev/a", ":Member")["forgotten"] == []


def test_what_is_there_already() -> None:
    """A placement takes it up and a policy of Karmada refuses it: a provider of its own does either, for both."""
    careful = lambda: provider(upsert_existing_objects=False)  # noqa: E731
    assert warnings(went(run_program(program(own=careful)))) == [
        "member a: its provider refuses what is there already, where a fleet takes it up (upsert_existing_objects=True)"
    ]
    assert refused(program(POLICY)) == [
        "member a: its provider takes up what is there already, and a policy refuses it"
    ]
    # A Namespace is taken up whatever the policy says of the objects in it.
    assert len(warnings(went(run_program(program(POLICY, own=careful))))) == 1
    elsewhere = placement("shop", {"placementType": "PickFixed", "clusterNames": ["b"]})
    assert warnings(went(run_program(program(elsewhere, own=careful)))) == []
    overwriting = Manifest(
        {**POLICY.data, "spec": {**POLICY.data["spec"], "conflictResolution": "Overwrite"}}
    )
    assert warnings(went(run_program(program(overwriting)))) == []


def test_fields_that_others_have_set() -> None:
    """A provider overwrites them like ours, and has to see which objects belong to other stacks."""
    assert warnings(went(run_program(program(own=lambda: provider(enable_patch_force=None))))) == [
        "member a: its provider fails on fields that others have set (enable_patch_force=True)"
    ]
    assert warnings(went(run_program(program(own=lambda: provider(kubeconfig=None))))) == [
        "member a: its provider names no kubeconfig to see objects of other stacks with, and would take them over"
        " (give that provider one, or leave out enable_patch_force)"
    ]


def test_where_objects_are_only_rendered_it_is_not_used(tmp_path: Path) -> None:
    done = went(
        run_program(program(own=lambda: provider(cluster_identifier=None), render_to=str(tmp_path)))
    )
    assert done.inputs("dev/a", "kubernetes")["renderYamlToDirectory"] == str(tmp_path / "a")
    assert "::dev/a::" in done.named("dev/shop@a/shop/settings").provider


def test_one_provider_is_one_cluster() -> None:
    def run() -> None:
        own = provider()
        members = [Member(Cluster(item), provider=own) for item in "ab"]
        Fleet("dev", FleetArgs(objects(placement("shop")), members=members))

    assert refused(run) == ["member b: has the provider of member a: they are the same cluster"]


def test_members_of_the_source_get_theirs_by_name() -> None:
    def run(*named: str) -> None:
        declared = [
            Manifest(
                {
                    "apiVersion": "cluster.kubernetes-fleet.io/v1",
                    "kind": "MemberCluster",
                    "metadata": {"name": item},
                    **SPEC,
                }
            )
            for item in "ab"
        ]
        source = source_of([*declared, *config_map("shop", "settings"), placement("shop")])
        providers = {item: provider(f"own-{item}", cluster_identifier=item) for item in named}
        Fleet("dev", FleetArgs(source, kubeconfigs={"b": kubeconfig("b")}, providers=providers))

    done = went(run_program(lambda: run("a")))
    assert "::own-a::" in done.named("dev/shop@a/shop").provider
    assert refused(lambda: run("a", "c")) == ['providers: there is no member "c"']


def test_what_is_given_by_name_to_a_member_of_the_program_is_not_lost() -> None:
    def run() -> None:
        given: dict[str, Any] = {
            "kubeconfigs": {"a": kubeconfig("a")},
            "providers": {"b": provider(cluster_identifier="b")},
        }
        Fleet(
            "dev",
            FleetArgs(objects(placement("shop")), members=[member("a"), member("b")], **given),
        )

    assert refused(run) == [
        'kubeconfigs.a: the member "a" is declared in the program',
        'providers.b: the member "b" is declared in the program',
    ]


SPEC = {
    "spec": {"identity": {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}}
}


def test_no_other_stack_can_use_it() -> None:
    def run() -> None:
        member_exports([Member(Cluster("a"), provider=provider()), member("b")])

    assert refused(run) == ["member a: has a provider, which no other stack can use"]


def test_two_members_of_one_name() -> None:
    """Whatever else is said of them: the later one must not take the place of the first in silence."""

    def run() -> None:
        members = [
            Member(Cluster("a"), kubeconfig("a")),
            Member(Cluster("a", labels={"b": "c"}), kubeconfig("b")),
        ]
        Fleet("dev", FleetArgs(objects(placement("shop")), members=members))

    assert refused(run) == ['the member "a" is declared twice']


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"enablePatchForce": "true"},
            ["overwrites fields that others have set", "no kubeconfig to compare with"],
        ),
        ({"enablePatchForce": "false"}, ["no kubeconfig to compare with"]),
    ],
)
def test_a_mode_that_its_settings_do_not_have_is_refused(
    given: dict[str, str], told: list[str]
) -> None:
    on = dict.fromkeys(
        ("enableConfigMapMutable", "enableSecretMutable", "upsertExistingObjects"), "true"
    )
    demands = Demands("a", "a", "a", frozenset({True}), forces=frozenset({False}), compares=True)
    settings = ProviderSettings({**on, "clusterIdentifier": "a", **given})
    problems = list(demands.problems(settings))
    assert [
        words in problem.what and bool(problem.hint)
        for words, problem in zip(told, problems, strict=True)
    ] == [True] * len(told)
    assert not [
        warning for warning in demands.warnings(settings) if "fails on fields" in warning.what
    ]


def test_settings_that_are_not_known_yet_are_not_judged() -> None:
    demands = Demands(
        member="a", identifier="a", wanted="a", adopts=frozenset({True}), swept=["ConfigMap a/b"]
    )
    names = (
        "clusterIdentifier",
        "enableConfigMapMutable",
        "enableSecretMutable",
        "enablePatchForce",
        "kubeconfig",
    )
    settings = ProviderSettings({"upsertExistingObjects": "true"}, frozenset(names))
    assert list(demands.problems(settings)) == []
    assert list(demands.warnings(settings)) == []


@pytest.mark.parametrize(
    ("given", "context", "cluster"),
    [
        ({}, "one", "one"),
        ({"context": "two"}, "two", "two"),
        ({"cluster": "two"}, "one", "two"),
        ({"context": "two", "cluster": "one"}, "two", "one"),
    ],
)
def test_its_kubeconfig_with_the_context_and_cluster_of_its_choice(
    tmp_path: Path, given: dict[str, str], context: str, cluster: str
) -> None:
    import yaml

    both = {
        "kind": "Config",
        "current-context": "one",
        "clusters": [
            {"name": item, "cluster": {"server": f"https://{item}"}} for item in ("one", "two")
        ],
        "contexts": [
            {"name": item, "context": {"cluster": item, "user": "me"}} for item in ("one", "two")
        ],
        "users": [{"name": "me", "user": {}}],
    }
    file = tmp_path / "config"
    file.write_text(yaml.safe_dump(both))
    for text in (str(file), file.read_text()):
        config = yaml.safe_load(ProviderSettings({"kubeconfig": text, **given}).kubeconfig("a"))
        assert config["current-context"] == context
        assert {item["name"]: item["context"]["cluster"] for item in config["contexts"]}[
            context
        ] == cluster
        assert all(item["context"]["user"] == "me" for item in config["contexts"])


def test_demands_follow_the_plan() -> None:
    made: list[Fleet] = []

    def run() -> None:
        members = [member("a"), member("b"), member("c")]
        placed = [*config_map("other", "settings"), placement("other")]
        source = source_of([*config_map("shop", "settings"), POLICY, *placed])
        made.append(Fleet("dev", FleetArgs(source, members=members)))

    went(run_program(run))
    plan = made[0].plan
    asked = {item: demands_of(plan, Member(Cluster(item))).adopts for item in "abc"}
    assert asked == {
        "a": frozenset({True, False}),
        "b": frozenset({True, False}),
        "c": frozenset({True}),
    }
