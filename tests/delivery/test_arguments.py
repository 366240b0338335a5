"""Whatever is given to a public class where it does not belong, is refused by the name of the argument."""

# Wrong types are what it is about.
# mypy: disable-error-code="arg-type,call-overload,dict-item,list-item"

from __future__ import annotations

import runpy
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from itertools import chain
from pathlib import Path
from typing import Any

import attrs
import pulumi
import pulumi_kubernetes as kubernetes
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pulumi_azure_native")

from fleet_components import (
    Cluster,
    Estimates,
    Fleet,
    FleetArgs,
    FleetError,
    Inventory,
    Member,
    Options,
    Renamed,
    Taint,
    Template,
    explain,
    karmada,
    kubefleet,
    schedule,
    source_of,
)
from fleet_components.azure.components.fleet import AzureFleet, AzureFleetArgs
from fleet_components.azure.components.hub import AzureHub, AzureHubArgs, OwnHub
from fleet_components.azure.components.hub_network import (
    AzureAccess,
    AzureAccessArgs,
    Grant,
    HubNetwork,
)
from fleet_components.azure.components.kubeconfig import Login
from fleet_components.azure.components.member import (
    AzureMember,
    AzureMemberArgs,
    AzureUpgrades,
    AzureUpgradesArgs,
)
from fleet_components.azure.declarations.unobserved import provision
from fleet_components.azure.values.aks_member import AksMember, Entra
from fleet_components.azure.values.autoscaler import Autoscaler
from fleet_components.azure.values.features import (
    HttpProxy,
    ImageCleaner,
    KeyVaultSecrets,
    MaintenanceWindow,
)
from fleet_components.azure.values.member import JoinedMember
from fleet_components.azure.values.monitoring import ContainerInsights, Defender, Prometheus
from fleet_components.azure.values.network import ApiServer, Network, ServiceMesh, WebAppRouting
from fleet_components.azure.values.node_pool import NodePool
from fleet_components.azure.values.pool_upgrade import PoolUpgrade
from fleet_components.azure.values.properties import Observation
from fleet_components.azure.values.upgrade import AutoUpgrade, Group, Run, Stage, Strategy
from fleet_components.azure.values.upgrades import Upgrades
from fleet_components.azure.values.vm_size import read_sizes
from fleet_components.components.config import FromConfig
from fleet_components.components.refusal import RefusedError
from fleet_components.kubefleet import PlacementPolicy
from fleet_components.model.cluster import Agent, ResourceModel, ResourceSummary, Usage
from fleet_components.model.codec import MisfitError, decode
from fleet_components.model.manifest import Manifest
from fleet_components.model.typed import TRUSTED, Typed
from fleet_components.option_values import MOST_WAIT
from fleet_components.plan.options import Settings
from fleet_components.systems.karmada.model.policy import DecisionConditions
from fleet_components.testing import config_map, kubeconfig, placement, reveal, run_program

CLASSES: list[type[Any]] = [
    *(
        FleetArgs,
        Member,
        Cluster,
        Taint,
        Agent,
        Usage,
        ResourceModel,
        ResourceSummary,
        Options,
        Renamed,
        Settings,
    ),
    *(AzureFleetArgs, AzureHubArgs, AzureMemberArgs, AzureUpgradesArgs, AzureAccessArgs, OwnHub),
    *(
        Grant,
        HubNetwork,
        Login,
        AksMember,
        JoinedMember,
        NodePool,
        Network,
        ApiServer,
        Entra,
        MaintenanceWindow,
    ),
    *(Observation, Group, Stage, Strategy, Run, AutoUpgrade),
    *(
        PoolUpgrade,
        Autoscaler,
        ContainerInsights,
        Prometheus,
        Defender,
        KeyVaultSecrets,
        ImageCleaner,
    ),
    *(WebAppRouting, ServiceMesh, HttpProxy, Upgrades),
    *(
        kind
        for system in (kubefleet, karmada)
        for name in system.__all__
        for kind in [getattr(system, name)]
    ),
    *(Template, Estimates, DecisionConditions),
]
COMPONENTS: list[tuple[type[Any], type[Any]]] = [
    (Fleet, FleetArgs),
    (AzureFleet, AzureFleetArgs),
    (AzureHub, AzureHubArgs),
    (AzureMember, AzureMemberArgs),
    (AzureAccess, AzureAccessArgs),
    (AzureUpgrades, AzureUpgradesArgs),
]
TAKES_OUTPUTS = {
    "hub",
    *(
        "kubeconfig",
        "subnet",
        "identity",
        "principal",
        "scope",
        "agent_subnet",
        "api_server_subnet",
    ),
    *("pod_subnet", "disk_encryption_set", "workspace", "trusted_ca"),
}
EMPTY = source_of([])


class Wrong:
    """What no argument takes."""


WRONG: dict[str, Callable[[], Any]] = {
    "an object": Wrong,
    "a list of them": lambda: [Wrong()],
    "a dict of them": lambda: {"a": Wrong()},
    "a set of them": lambda: {Wrong()},
    "a function": lambda: Wrong,
}


def below(kind: type[Any]) -> Iterator[type[Any]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from below(subclass)


def refusal(make: Callable[[], Any]) -> FleetError:
    with pytest.raises(FleetError) as refused:
        make()
    return refused.value


def said(error: FleetError) -> str:
    """Without the place in the program, which is this file."""
    own = {Path(problem.file).name for problem in error.problems}
    assert own <= {Path(__file__).name, ""}
    return "\n".join(str(attrs.evolve(problem, file="", line=None)) for problem in error.problems)


def test_none_is_forgotten() -> None:
    made = {
        item
        for item in below(Typed)
        if attrs.has(item) and item.__module__.startswith("fleet_components.")
    }
    bases = {base for item in made for base in item.__mro__[1:]}
    assert made - bases - {FromConfig} <= set(CLASSES) <= made  # nobody but us makes that one


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("kind", CLASSES)
def test_all_wrong_arguments_are_named_at_once(kind: type[Any], wrong: str) -> None:
    named = {field.name for field in attrs.fields(kind)}
    given: dict[str, Any] = {name: WRONG[wrong]() for name in named}
    if kind is OwnHub and wrong in ("a function", "an object"):
        given["member_identity"] = 5
    if kind is FleetArgs:
        source = refusal(lambda: FleetArgs(source=given["source"]))
        assert {problem.path[:2] for problem in source.problems} == {("FleetArgs", "source")}
        given, named = {**given, "source": EMPTY}, named - {"source"}
        if wrong == "a list of them":
            named.remove(
                "objects"
            )  # what is not an object is named by the fleet, with its place in the list
    problems = refusal(lambda: kind(**given)).problems
    assert {problem.path[:2] for problem in problems} == {(kind.__name__, name) for name in named}
    assert not [problem for problem in problems if not problem.what or not problem.hint]


@pytest.mark.parametrize("kind", CLASSES)
def test_an_output_where_plain_values_are_needed(kind: type[Any]) -> None:
    """What takes an output takes one; all else says that it comes too late."""
    run = run_program(lambda: too_late(kind))
    assert run.error is None, run.error


def too_late(kind: type[Any]) -> None:
    given: dict[str, Any] = {
        field.name: pulumi.Output.from_input("a") for field in attrs.fields(kind)
    }
    if kind is FleetArgs:
        text = said(refusal(lambda: FleetArgs(given["source"])))
        assert (
            text
            == "FleetArgs.source: is an Output (the plan is made before any resource, so give a plain value)"
        )
        given["source"] = EMPTY
    late = {field.name for field in attrs.fields(kind)} - TAKES_OUTPUTS - {"source"}
    problems = (
        {problem.path[1]: problem for problem in refusal(lambda: kind(**given)).problems}
        if late
        else {}
    )
    assert late <= problems.keys()
    assert {problems[name].what for name in late} <= {"is an Output"}
    hints = {name: problems[name].hint for name in late}
    if kind is FleetArgs:
        assert hints.pop("kubeconfigs").endswith(
            "each of its values may be an output, the dict itself may not"
        )
    assert set(hints.values()) <= {"the plan is made before any resource, so give a plain value"}


class Silent:
    """What cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError


ODD: list[Any] = [
    *(
        None,
        True,
        5,
        -1,
        5.5,
        10**400,
        float("nan"),
        "",
        "x",
        "\ud800",
        "a\0b",
        b"x",
        ...,
        Silent(),
        Wrong,
        range(3),
    ),
    *([], [None], [5], ["x"], [[]], [{}], (), ("x", 5), set(), frozenset({"x"}), iter([])),
    *({}, {"a": None}, {"a": 5}, {5: "a"}, {"a": "b"}, {"": ""}, {"\ud800": "\ud800"}),
]


@pytest.mark.samples(20)
@pytest.mark.parametrize("kind", CLASSES)
def test_a_value_is_taken_or_refused_and_nothing_else(kind: type[Any]) -> None:
    """For every argument alone: never an error of Python, of attrs or of an SDK."""
    missing = {
        field.name: Wrong() for field in attrs.fields(kind) if field.default is attrs.NOTHING
    }
    for field in attrs.fields(kind):
        for value in ODD:
            named: set[Any] = set()
            try:
                kind(**{**missing, field.name: value})
            except FleetError as error:
                named = {problem.path[1] for problem in error.problems if len(problem.path) > 1}
            assert named >= missing.keys() - {field.name} or kind is FleetArgs, (
                field.name,
                type(value),
            )


@pytest.mark.parametrize("wrong", [5, None, Wrong()])
@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (lambda wrong: AzureFleet.from_file("shop", wrong, AzureFleetArgs()), {"path"}),
        (lambda wrong: AzureFleet.from_file("shop", "fleet.yaml", wrong), {"args"}),
        (lambda wrong: AzureFleet.from_manifests("shop", wrong, AzureFleetArgs()), {"manifests"}),
        (lambda wrong: AzureFleet.from_manifests("shop", [wrong], AzureFleetArgs()), {"manifests"}),
        (lambda wrong: AzureFleet.from_manifests(wrong, [], wrong), {"name", "args"}),
        (lambda wrong: provision(wrong, wrong), {"name", "args"}),
        (read_sizes, {"path"}),
    ],
)
def test_functions_name_their_arguments(
    call: Callable[[Any], Any], arguments: set[str], wrong: Any
) -> None:
    assert {problem.path[1] for problem in refusal(lambda: call(wrong)).problems} == arguments


@pytest.mark.parametrize("wrong", [5, [], Wrong()])
@pytest.mark.parametrize(("component", "args"), COMPONENTS)
def test_components_name_their_arguments(component: type[Any], args: type[Any], wrong: Any) -> None:
    error = refusal(lambda: component(wrong, wrong, wrong))
    assert isinstance(error, RefusedError)
    assert {problem.path for problem in error.problems} == {
        (component.__name__, name) for name in ("name", "args", "opts")
    }
    assert args.__name__ in str(error)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Cluster(5), "Cluster.name: is an int, not text (write it in quotes)"),
        (
            lambda: Cluster("a", labels={"zone": 1}),
            "Cluster.labels.zone: is an int, not text (write it in quotes)",
        ),
        (
            lambda: Cluster("a", taints=Taint("k")),
            "Cluster.taints: is a Taint, not a list of Taint values (write it as a list: [Taint(...)])",
        ),
        (
            lambda: Cluster("a", taints=["k"]),
            "Cluster.taints[0]: is a str, not a Taint (give Taint(...))",
        ),
        (
            lambda: Cluster("a", zones="ab"),
            'Cluster.zones: is a str, not a list of text (write it as a list: ["..."])',
        ),
        (
            lambda: Cluster("a", observed=1),
            "Cluster.observed: is an int, not True or False (without quotes)",
        ),
        (
            lambda: Cluster("a", observed=0),
            "Cluster.observed: is an int, not True or False (without quotes)",
        ),
        (
            lambda: Cluster("a", api_enablements=[("v1",)]),
            'Cluster.api_enablements[0]: has 1 items, not 2 (write it as a list: ["..."])',
        ),
        (
            lambda: Taint("k", time_added=datetime(2026, 1, 31)),
            "Taint.time_added: has no time zone"
            " (a datetime with a time zone: datetime(2026, 1, 31, tzinfo=timezone.utc))",
        ),
        (lambda: Member("a"), "Member.cluster: is a str, not a Cluster (give Cluster(...))"),
        (
            lambda: Member(Cluster("a"), 5),
            "Member.kubeconfig: is an int, not text or an Output (write it in quotes)",
        ),
        (
            lambda: FleetArgs(EMPTY, limit="half"),
            "FleetArgs.limit: is a str, not a number (give a share from 0 to 1, 0.5 for a half)",
        ),
        (
            lambda: FleetArgs(EMPTY, kubeconfigs={"a": None}),
            "FleetArgs.kubeconfigs.a: is None, not text or an Output "
            "(give a value, or leave it out; an environment variable that is not set comes as None)",
        ),
        (
            lambda: FleetArgs(EMPTY, kubeconfigs={"a": Path("a.yaml")}),
            "FleetArgs.kubeconfigs.a: is a PosixPath, not text or an Output (write str(...) around it)",
        ),
        (
            lambda: FleetArgs(EMPTY, limit=1.5),
            "FleetArgs.limit: is 1.5 (give a share from 0 to 1, 0.5 for a half)",
        ),
        (lambda: FleetArgs(EMPTY, limit=float("nan")), "FleetArgs.limit: is nan"),
        (lambda: Settings(limit=-0.1), "Settings.limit: is -0.1"),
        (lambda: Settings(limit=True), "Settings.limit: is a bool, not a number"),
        (
            lambda: FleetArgs(EMPTY, max_wait=True),
            "FleetArgs.max_wait: is a bool, not a whole number (for example 1)",
        ),
        (
            lambda: FleetArgs(EMPTY, max_wait=1.5),
            "FleetArgs.max_wait: is a float, not a whole number (for example 1)",
        ),
        (
            lambda: FleetArgs(EMPTY, max_wait=-1),
            "FleetArgs.max_wait: is -1 (give whole seconds, 900 for a quarter of an hour, 31536000 at most)",
        ),
        (
            lambda: FleetArgs(EMPTY, ready_timeout=0),
            "FleetArgs.ready_timeout: is 0 (give whole seconds, 1 or more, 600 for ten minutes, 31536000 at most)",
        ),
        (
            lambda: FleetArgs(EMPTY, confirm="1a2b3c4d"),
            'FleetArgs.confirm: is a str, not a list of text (write it as a list: ["..."])',
        ),
        (
            lambda: FleetArgs(EMPTY, protect="no"),
            "FleetArgs.protect: is a str, not True or False (without quotes)",
        ),
        (
            lambda: FleetArgs(5),
            "FleetArgs.source: is an int, not text, a Path, a list of str or Path values or a Source",
        ),
        (lambda: FleetArgs(["fleet", 5]), "FleetArgs.source[1]: is an int, not text or a Path"),
        (lambda: FleetArgs(""), 'source: names no file and no directory (for example "fleet/")'),
        (lambda: FleetArgs([]), 'source: names no file and no directory (for example "fleet/")'),
        (
            lambda: Stage("one", groups="canary"),
            'Stage.groups: is a str, not a list of Group values (for example ["can',
        ),
    ],
)
def test_what_is_said(make: Callable[[], Any], text: str) -> None:
    assert said(refusal(make)).startswith(text)


def test_the_line_of_the_program_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it is called from: a function, a comprehension, the constructor of a class of the program's own."""
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "program.py"
    program.write_text(
        "import attrs\n"
        "from fleet_components import Cluster, FleetArgs, Taint\n"
        "@attrs.frozen\n"
        "class Own(Taint):\n"
        "    more: int = 0\n"
        "MAKE = {\n"
        "    7: lambda: [Cluster(name) for name in (5,)],\n"
        "    8: lambda: attrs.evolve(Cluster('a'), labels=5),\n"
        "    9: lambda: FleetArgs('nowhere', limit=5) if False else FleetArgs(5),\n"
        "    10: lambda: Own('key', more='x'),\n"
        "}\n"
    )
    for line, make in runpy.run_path("program.py")["MAKE"].items():
        assert {(problem.file, problem.line) for problem in refusal(make).problems} == {
            ("program.py", line)
        }


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: PlacementPolicy("PickM"),
            'PlacementPolicy.placement_type: there is no type "PickM" (PickN)',
        ),
        (
            lambda: PlacementPolicy("PickN"),
            "PlacementPolicy.number_of_clusters: is missing (say how many members to",
        ),
        (
            lambda: PlacementPolicy(number_of_clusters=-1),
            "PlacementPolicy.number_of_clusters: is -1 (0 or more)",
        ),
        (
            lambda: schedule([Cluster("a")], None),
            "schedule.inventory: is a list, not an Inventory (give Inventory(...))",
        ),
        (
            lambda: schedule(Inventory([Cluster("a")]), "PickAll"),
            "schedule.wanted: is a str, not a PlacementPolicy or a Template",
        ),
        (
            lambda: explain(5, None, None),
            "explain.inventory: is an int, not an Inventory (give Inventory(...))",
        ),
    ],
)
def test_what_nothing_can_be_scheduled_by(make: Callable[[], Any], text: str) -> None:
    assert said(refusal(make)).startswith(text)


@given(st.floats(-1, 2), st.integers(-10, MOST_WAIT * 2))
def test_what_is_taken_can_be_read_back(limit: float, max_wait: int) -> None:
    """What one update remembers, the next one reads."""
    try:
        taken = Settings(limit=limit, max_wait=max_wait)
    except FleetError:
        with pytest.raises(MisfitError):
            decode(Settings, {"limit": limit, "maxWait": max_wait})
    else:
        assert decode(Settings, taken.to_wire()) == taken


def test_values_are_never_shown() -> None:
    """They may be secret."""
    assert "SWORDFISH" not in str(refusal(lambda: FleetArgs(EMPTY, kubeconfigs="SWORDFISH")))


def test_what_was_checked_before_is_not_checked_again() -> None:
    """Of a state and of admitted YAML there may be ten thousand; other threads go on checking."""
    elsewhere: list[FleetError] = []
    with TRUSTED:
        with TRUSTED:
            assert str(Taint(5).key) == "5"
        assert str(Taint(5).key) == "5"
        thread = threading.Thread(target=lambda: elsewhere.append(refusal(lambda: Taint(5))))
        thread.start()
        thread.join()
    assert len(elsewhere) == 1
    refusal(lambda: Taint(5))
    with pytest.raises(MisfitError):  # a state is checked where it is read
        decode(Taint, {"key": 5, "effect": 5})


def test_lists_are_taken_where_tuples_are_kept() -> None:
    made = Cluster("a", taints=[Taint("k")], zones=["1"], api_enablements=[["v1", "Pod"]])
    assert made == Cluster(
        "a", taints=(Taint("k"),), zones=("1",), api_enablements=frozenset({("v1", "Pod")})
    )
    assert Options(lost=["a"]).lost == frozenset({"a"})


def test_whole_numbers_are_numbers() -> None:
    assert FleetArgs(EMPTY, limit=1, as_of=datetime(2026, 1, 31, tzinfo=timezone.utc)).limit == 1  # noqa: UP017


@pytest.mark.parametrize("given", [str, Path, lambda path: [path], lambda path: (str(path),)])
def test_a_fleet_is_read_from_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Any
) -> None:
    (tmp_path / "fleet").mkdir()
    objects = chain(config_map("shop", "settings"), [placement("shop")])
    (tmp_path / "fleet" / "all.yaml").write_text(
        "\n---\n".join(str(dict(data.data)) for data in objects)
    )
    monkeypatch.chdir(tmp_path)
    args = FleetArgs(given(Path("fleet")))
    assert [placed.key for placed in args.source.placements] == ["shop"]
    assert attrs.evolve(args, limit=1).source is args.source


def test_a_path_that_leads_nowhere_is_told_with_all_else() -> None:
    def program() -> None:
        error = refusal(
            lambda: Fleet("dev", FleetArgs(["nowhere/", "neither/"], lost=["a"], confirm=["all"]))
        )
        assert isinstance(error, RefusedError)
        assert [Path(problem.file).name for problem in error.problems] == [
            "nowhere",
            "neither",
            Path(__file__).name,
        ]
        assert error.problems[-1].path == ("confirm",)

    assert run_program(program).error is None


def test_a_member_has_a_kubeconfig_or_a_provider_of_kubernetes() -> None:
    def program() -> None:
        provider = kubernetes.Provider("own", kubeconfig=kubeconfig("a"))
        both = refusal(lambda: Member(Cluster("a"), kubeconfig("a"), provider=provider))
        assert (
            said(both)
            == 'Member.provider: the member "a" has a kubeconfig as well (give one of the two)'
        )
        other = pulumi.ProviderResource("azure-native", "azure", {})
        wrong = refusal(lambda: Member(Cluster("a"), provider=other))
        assert said(wrong).startswith(
            "Member.provider: is a provider of azure-native (give a pulumi_kubernetes.Provi"
        )
        twice = refusal(
            lambda: FleetArgs(EMPTY, kubeconfigs={"a": "x"}, providers={"a": provider, "b": other})
        )
        assert [line.partition(" (")[0] for line in said(twice).splitlines()] == [
            'FleetArgs.providers.a: the member "a" has a kubeconfig as well',
            "FleetArgs.providers.b: is a provider of azure-native",
        ]

    assert run_program(program).error is None


@pytest.mark.parametrize(
    ("comes_to", "text"),
    [(5, "member a: the kubeconfig is not text"), (None, "member a: has no kubeconfig")],
)
def test_an_output_that_comes_to_no_kubeconfig(comes_to: Any, text: str) -> None:
    def program() -> None:
        source = source_of([*config_map("shop", "settings"), placement("shop")])
        Fleet(
            "dev",
            FleetArgs(source, members=[Member(Cluster("a"), pulumi.Output.from_input(comes_to))]),
        )

    run = run_program(program)
    assert run.error is None  # in process no cluster is touched, and it is only said
    assert any(
        level == "warning" and said.startswith(text) and "would be refused" in said
        for level, said in run.messages
    )


def test_a_kubeconfig_that_is_awaited() -> None:
    """It is used by two providers: of a placement, and of a policy that refuses what is there already."""

    async def coming() -> str:
        return kubeconfig("a")

    def program() -> None:
        mine, other = config_map("shop", "settings"), config_map("other", "settings")
        policy = {
            "apiVersion": "policy.karmada.io/v1alpha1",
            "kind": "PropagationPolicy",
            "metadata": {"name": "other", "namespace": "other"},
            "spec": {
                "resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "settings"}]
            },
        }
        source = source_of([*mine, placement("shop"), *other, Manifest(policy)])
        made = Fleet("dev", FleetArgs(source, members=[Member(Cluster("a"), coming())]))
        template = made.templates["other/ConfigMap/settings"]
        opts = pulumi.ResourceOptions(depends_on=[template])
        data = template.delivered.apply(str)
        kubernetes.core.v1.ConfigMap(
            "after", metadata={"name": "after"}, data={"delivered": data}, opts=opts
        )

    run = run_program(program)
    assert run.error is None, run.error
    reached = [
        registration
        for registration in run.registrations
        if registration.type == "pulumi:providers:kubernetes"
    ]
    assert {item.name: reveal(item.inputs["kubeconfig"]) for item in reached} == {
        name: kubeconfig("a") for name in ("dev/a", "dev/a/abort")
    }
    assert run.inputs("after")["data"] == {"delivered": "{'a': 0}"}
    order = [registration.name for registration in run.registrations]
    assert order.index("dev/other/ConfigMap/settings@a/other/settings") < order.index("after")
