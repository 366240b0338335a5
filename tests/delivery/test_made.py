"""Objects made in the program: they come out as YAML would have them, are registered by the fleet alone, or refused."""

from __future__ import annotations

import asyncio
import datetime
import enum
import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pulumi
import pulumi_kubernetes as k8s
import pytest

from fleet_components import Fleet, FleetArgs, FleetError, Source, objects_of, source_of
from fleet_components.components import recorder
from fleet_components.content.load import load_text
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.plan.names import is_object
from fleet_components.plan.source import gather
from fleet_components.testing import ProgramRun, member, placement, redact, run_program
from tests.delivery.driver import kubeconfigs

Options = pulumi.ResourceOptions
apps: Any = k8s.apps.v1
core: Any = k8s.core.v1
meta: Any = k8s.meta.v1
extensions: Any = k8s.apiextensions
"""Without their types: they would not let through what is refused here."""
NAMESPACE: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
MAP: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "prices", "namespace": "shop"},
    "data": {"a": "b"},
}
PAY: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "pay", "namespace": "shop"},
    "stringData": {"token": "hunter2-planted"},
}
WEB: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "web",
                        "image": "nginx:1.27",
                        "envFrom": [{"configMapRef": {"name": "prices"}}],
                        "resources": {"limits": {"cpu": "500m"}},
                    }
                ]
            },
        },
    },
}
WIDGET: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "one", "namespace": "shop"},
    "spec": {"snake_case": 1.5, "size": 3, "on": True, "nested": {"list": [1, "a", {"b": False}]}},
}
SHOP = (NAMESPACE, MAP, PAY, WEB, WIDGET)


class Thing(pulumi.CustomResource):
    """A resource of the program's own; nobody knows its host before it stands."""

    host: pulumi.Output[str]
    size: pulumi.Output[str]

    def __init__(self, name: str, opts: Options | None = None, **inputs: Any) -> None:
        super().__init__("test:index:Thing", name, {**inputs, "host": None}, opts)


class Storefront(pulumi.ComponentResource):
    """A component that somebody has already."""

    def __init__(self, name: str, opts: Options | None = None) -> None:
        super().__init__("test:index:Storefront", name, {}, opts)
        self.map = core.ConfigMap(f"{name}-map", data={"a": "b"}, opts=Options(parent=self))
        self.register_outputs({"map": self.map.metadata})


def in_program(make: Callable[[], Any], *, preview: bool = True, **config: str) -> Any:
    """What a function gives within a program."""
    given: list[Any] = []
    settings = {f"shop:{key}": value for key, value in config.items()}
    done = run_program(
        lambda: given.append(make()),
        preview=preview,
        project="shop",
        config=settings,
        secret_keys=list(settings),
    )
    if done.error:
        raise done.error
    return given[0]


def web(config: Any = None) -> Any:
    name = config.metadata["name"] if config else "prices"
    container = core.ContainerArgs(
        name="web",
        image=pulumi.Output.concat("nginx:", "1.27"),
        env_from=[core.EnvFromSourceArgs(config_map_ref=core.ConfigMapEnvSourceArgs(name=name))],
        resources={"limits": {"cpu": "500m"}},
    )
    return apps.DeploymentSpecArgs(
        replicas=3,
        selector=meta.LabelSelectorArgs(match_labels={"app": "web"}),
        template={
            "metadata": {"labels": {"app": "web"}},
            "spec": core.PodSpecArgs(containers=[container]),
        },
    )


def resources() -> None:
    """The shop, as a program for one cluster has it."""
    space = core.Namespace("shop")
    inside = {"namespace": space.metadata["name"]}
    prices = core.ConfigMap("prices", metadata=inside, data={"a": pulumi.Output.from_input("b")})
    core.Secret(
        "pay", metadata=inside, string_data={"token": pulumi.Config("shop").require_secret("token")}
    )
    labels = {"app": "web"}
    options = Options(depends_on=[space])
    about = meta.ObjectMetaArgs(name="web", namespace=space.id, labels=labels)
    apps.Deployment("the-web", metadata=about, spec=web(prices), opts=options)
    extensions.CustomResource(
        "one", api_version="example.com/v1", kind="Widget", metadata=inside, spec=WIDGET["spec"]
    )


def inputs() -> Sequence[Any]:
    """The shop as input types."""
    secret = {"token": pulumi.Config("shop").require_secret("token")}
    inside = meta.ObjectMetaArgs(name="prices", namespace="shop")
    about = {"name": "web", "namespace": "shop", "labels": {"app": "web"}}
    return [
        core.NamespaceInitArgs(metadata={"name": "shop"}),
        core.ConfigMapArgs(metadata=inside, data={"a": "b"}),
        core.SecretInitArgs(metadata={"name": "pay", "namespace": "shop"}, string_data=secret),
        apps.DeploymentInitArgs(metadata=about, spec=web()),
        extensions.CustomResourceArgs(
            api_version="example.com/v1",
            kind="Widget",
            metadata=WIDGET["metadata"],
            spec=WIDGET["spec"],
        ),
    ]


def dicts() -> Sequence[Any]:
    """The shop in plain, but for one value."""
    secret = {"token": pulumi.Config("shop").require_secret("token")}
    return [
        NAMESPACE,
        MAP,
        {**PAY, "stringData": secret},
        WEB,
        {**WIDGET, "metadata": dict(WIDGET["metadata"])},
    ]


FORMS: Mapping[str, Callable[[], Sequence[Any]]] = {
    "resources": lambda: objects_of(resources),
    "input types": inputs,
    "dicts": dicts,
    "manifests": lambda: [Manifest(data) for data in SHOP],
    "a list": lambda: [{"apiVersion": "v1", "kind": "List", "items": list(SHOP)}],
    "all together": lambda: [*dicts()[:2], *inputs()[2:4], Manifest(WIDGET)],
}


def fleet(
    objects: Callable[[], Sequence[Any]], source: Source | None = None, *, preview: bool = True
) -> ProgramRun:
    """A run of a fleet with these objects, all of them placed on one member."""
    done = run_program(
        lambda: Fleet(
            "dev",
            FleetArgs(
                source=source or source_of([placement("shop")]),
                members=[member("a")],
                objects=objects(),
            ),
        ),
        project="shop",
        config={"shop:token": "hunter2-planted"},
        secret_keys=["shop:token"],
        preview=preview,
    )
    if done.error:
        raise done.error
    return done


def placed(done: ProgramRun) -> dict[str, Any]:
    """What is registered on the member."""
    found = {r.name: redact(r.inputs) for r in done.registrations if is_object(r.type)}
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_whatever_they_are_made_as_the_fleet_is_that_of_the_yaml(form: str, preview: bool) -> None:
    text = "\n---\n".join(map(json.dumps, SHOP))
    wanted = fleet(lambda: (), source_of([placement("shop"), *load_text(text)]), preview=preview)
    found = fleet(FORMS[form], preview=preview)
    assert len(placed(wanted)) == 5
    assert placed(found) == placed(wanted)
    assert sorted(r.urn for r in found.registrations) == sorted(r.urn for r in wanted.registrations)
    assert "hunter2" not in json.dumps([redact(r.inputs) for r in found.registrations])


def test_policies_of_either_select_objects_of_both() -> None:
    item = [placement("shop"), Manifest(NAMESPACE), Manifest(MAP)]
    for split in range(4):
        found = fleet(partial(list, item[split:]), source_of(item[:split]))
        assert sorted(placed(found)) == ["dev/shop@a/shop", "dev/shop@a/shop/prices"]


def test_what_the_source_lacks_may_be_made() -> None:
    """A placement that selects a custom kind by name is fine once its definition is made in the program."""
    names = {"kind": "Widget", "plural": "widgets", "singular": "widget"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": names,
            "scope": "Cluster",
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {}}}
            ],
        },
    }
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "one"}}
    selector = {"group": "example.com", "version": "v1", "kind": "Widget", "name": "one"}
    asking = attrs.evolve(
        placement("widgets"),
        data={**placement("widgets").data, "spec": {"resourceSelectors": [selector]}},
    )
    with pytest.raises(FleetError, match="no matches for kind"):
        source_of([asking])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "placement.yaml").write_text(json.dumps(asking.data))
        found = fleet(lambda: [definition, widget], gather(folder))
    assert sorted(placed(found)) == ["dev/widgets@a/one"]


def test_what_was_said_of_the_source_is_said_once() -> None:
    said = Problem(Message("hooks", "3 hooks passed over"))
    done = fleet(lambda: [NAMESPACE], source_of([placement("shop")], [said]))
    assert [text for level, text in done.messages if level == "warning"] == ["3 hooks passed over"]


def test_members_may_be_made_too() -> None:
    declared = {
        "apiVersion": "cluster.kubernetes-fleet.io/v1",
        "kind": "MemberCluster",
        "metadata": {"name": "b"},
        "spec": {"identity": {"kind": "ServiceAccount", "name": "b", "namespace": "fleet-system"}},
    }

    def program() -> None:
        args = FleetArgs(
            source_of([placement("shop")]),
            kubeconfigs=kubeconfigs(["b"]),
            objects=[declared, NAMESPACE],
        )
        assert [cluster.name for cluster in Fleet("dev", args).inventory.clusters] == ["b"]

    assert run_program(program).error is None


def test_nothing_is_registered_but_what_is_made_outside() -> None:
    seen: list[Any] = []

    def program() -> None:
        before = Thing("before", size="1")
        seen.extend(objects_of(resources))
        Thing("after", size=before.size)
        Storefront("mine")

    done = run_program(
        program, project="shop", config={"shop:token": "x"}, secret_keys=["shop:token"]
    )
    assert done.error is None
    assert len(seen) == 5
    assert {r.name for r in done.registrations} == {"before", "after", "mine", "mine-map"}
    assert done.named("after").dependencies == (done.named("before").urn,)


def test_what_the_function_raises_comes_through_and_the_program_goes_on() -> None:
    def broken() -> None:
        core.Namespace("shop")
        raise LookupError("no such region")

    def program() -> None:
        with pytest.raises(LookupError, match="no such region"):
            objects_of(broken)
        core.Namespace("mine")

    done = run_program(program)
    assert done.error is None
    assert [r.name for r in done.registrations] == ["mine"]


def test_outside_of_any_program() -> None:
    """As a library: for a plan without an engine."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        (found,) = objects_of(
            lambda: core.Secret("pay", string_data={"token": pulumi.Output.secret("x")})
        )
    finally:
        loop.close()
        asyncio.set_event_loop(None)
    assert found.data["stringData"] == {"token": "x"}


NAMES: Mapping[str, tuple[Callable[[], Any], list[str]]] = {
    "that of the resource": (lambda: core.Namespace("shop"), ["Namespace shop"]),
    "one's own": (
        lambda: core.Namespace("shop", metadata={"name": "market"}),
        ["Namespace market"],
    ),
    "beside labels": (
        lambda: core.Namespace("shop", metadata=meta.ObjectMetaArgs(labels={"a": "b"})),
        ["Namespace shop"],
    ),
    "known inside": (
        lambda: core.ConfigMap(
            "m", metadata={"namespace": core.Namespace("shop").metadata["name"]}
        ),
        ["ConfigMap shop/m", "Namespace shop"],
    ),
    "in a component": (lambda: Storefront("store"), ["ConfigMap store-map"]),
    "in a list": (
        lambda: core.ConfigMapList(
            "all", items=[{"metadata": {"name": "x"}}, core.ConfigMapArgs(metadata={"name": "y"})]
        ),
        ["ConfigMap x", "ConfigMap y"],
    ),
}


@pytest.mark.parametrize(("make", "wanted"), NAMES.values(), ids=NAMES)
def test_objects_are_called_as_their_resources(make: Callable[[], Any], wanted: list[str]) -> None:
    found = in_program(lambda: objects_of(make))
    assert [str(manifest.key) for manifest in found] == wanted
    assert all(manifest.data["metadata"]["name"] == manifest.name for manifest in found)


def test_transformations_are_carried_out() -> None:
    def add(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult:
        return pulumi.ResourceTransformationResult({**args.props, "data": {"more": "x"}}, args.opts)

    (found,) = in_program(
        lambda: objects_of(lambda: core.ConfigMap("m", opts=Options(transformations=[add])))
    )
    assert found.data["data"] == {"more": "x"}


BEFORE = "(the plan is made before any resource: take what is known at once, a name or a setting of the stack)"
SOURCE = "(give the path as a source of the fleet: it takes files, directories, Helm charts and kustomizations)"
OWN = "(keep it out of the function: it is the program's own, and not the fleet's)"
VALUE = "(write text, a number, a list or a dict)"


def waiting() -> None:
    database = Thing("database", size="1")
    core.ConfigMap("m", data={"host": database.host})


def of(outer: Callable[[], Any], make: Callable[[Any], Any]) -> Callable[[], Any]:
    """A program that makes something outside before."""

    def program() -> Any:
        made = outer()
        return objects_of(lambda: make(made))

    return program


REFUSED: Mapping[str, tuple[Callable[[], Any], str]] = {
    "nothing": (lambda: objects_of(lambda: None), "the function makes no Kubernetes object"),
    "a field that is not known": (
        of(
            lambda: Thing("db", size="1"),
            lambda db: core.ConfigMap("m", data={"a": "b", "host": db.host}),
        ),
        f"ConfigMap m: data.host: is not known before db stands {BEFORE}",
    ),
    "a nested field that is not known": (
        of(
            lambda: Thing("db", size="1"),
            lambda db: core.Service(
                "s", spec={"ports": [{"port": 80}], "external_ips": ["1.2.3.4", db.host]}
            ),
        ),
        f"Service s: spec.externalIPs[1]: is not known before db stands {BEFORE}",
    ),
    "a field of a resource that is known": (
        of(lambda: Thing("db", size="1"), lambda db: core.ConfigMap("m", data={"size": db.size})),
        f"ConfigMap m: data: comes of db {BEFORE}",
    ),
    "a field that a cluster makes": (
        lambda: objects_of(
            lambda: core.ConfigMap(
                "m", data={"ip": core.Service("s").status.apply(lambda status: str(status))}
            )
        ),
        f"ConfigMap m: data.ip: is not known {BEFORE}",
    ),
    "a resource to wait for": (
        of(
            lambda: Thing("db", size="1"),
            lambda db: core.ConfigMap("m", opts=Options(depends_on=[db])),
        ),
        "ConfigMap m: cannot wait for db by itself (let the fleet wait for it: Fleet(..., opts=ResourceOptions(",
    ),
    "a resource as a value": (
        lambda: objects_of(lambda: core.ConfigMap("m", data={"a": core.Namespace("n")})),
        "ConfigMap m: data.a: is a resource or a file, and no value (take one of its fields, as namespace.metadata",
    ),
    "a file as a value": (
        lambda: objects_of(lambda: core.ConfigMap("m", data={"a": pulumi.StringAsset("x")})),
        "ConfigMap m: data.a: is a resource or a file, and no value",
    ),
    "a secret where none is kept": (
        lambda: objects_of(
            lambda: core.ConfigMap("m", data={"a": "b", "token": pulumi.Output.secret("x")})
        ),
        "ConfigMap m: data.token: is secret, and would be told to all who may see the object (put it into the data of",
    ),
    "a secret beside the data of a Secret": (
        lambda: objects_of(
            lambda: core.Secret("m", metadata={"labels": {"a": pulumi.Output.secret("x")}})
        ),
        "Secret m: metadata.labels.a: is secret, and would be told",
    ),
    "a resource of another kind": (
        lambda: objects_of(lambda: Thing("db", size="1")),
        f"test:index:Thing db: is not a Kubernetes object {OWN}",
    ),
    "a provider": (
        lambda: objects_of(lambda: core.Namespace("n", opts=Options(provider=k8s.Provider("p")))),
        "Namespace n: has options that do nothing here: provider (leave them out",
    ),
    "options": (
        lambda: objects_of(
            lambda: core.Namespace(
                "n",
                opts=Options(
                    protect=True,
                    import_="n",
                    ignore_changes=["metadata"],
                    replace_on_changes=["metadata"],
                    retain_on_delete=True,
                    delete_before_replace=False,
                    custom_timeouts=pulumi.CustomTimeouts(create="1m"),
                    hide_diffs=["metadata"],
                    deleted_with=core.Namespace("m"),
                    transforms=[lambda _: None],
                ),
            )
        ),
        "Namespace n: has options that do nothing here: custom_timeouts, delete_before_replace, deleted_with, hide_diffs, "
        "ignore_changes, import_, protect, replace_on_changes, retain_on_delete, transforms (",
    ),
    "a patch": (
        lambda: objects_of(lambda: core.ConfigMapPatch("m", metadata={"name": "prices"})),
        "ConfigMap prices: kubernetes:core/v1:ConfigMapPatch changes an object that is there already (make the whole",
    ),
    "what is read": (
        lambda: objects_of(lambda: core.Namespace.get("n", "default")),
        f"kubernetes:core/v1:Namespace n: is read, and not made {OWN}",
    ),
    "files by the provider": (
        lambda: objects_of(lambda: k8s.yaml.v2.ConfigFile("f", file="a.yaml")),
        f"kubernetes:yaml/v2:ConfigFile f: is not a Kubernetes object {SOURCE}",
    ),
    "YAML by the provider": (
        lambda: objects_of(lambda: k8s.yaml.ConfigGroup("g", yaml=["a: b"])),
        f"kubernetes:yaml:decode makes objects of files {SOURCE}",
    ),
    "a chart by the provider": (
        lambda: objects_of(lambda: k8s.helm.v4.Chart("c", chart="c")),
        f"kubernetes:helm.sh/v4:Chart c: is not a Kubernetes object {SOURCE}",
    ),
    "a release": (
        lambda: objects_of(lambda: k8s.helm.v3.Release("r", chart="c")),
        f"kubernetes:helm.sh/v3:Release r: is not a Kubernetes object {SOURCE}",
    ),
    "a kustomization by the provider": (
        lambda: objects_of(lambda: k8s.kustomize.v2.Directory("k", directory="k")),
        f"kubernetes:kustomize/v2:Directory k: is not a Kubernetes object {SOURCE}",
    ),
    "a value of another type": (
        lambda: objects_of(lambda: core.ConfigMap("m", data={"a": datetime.date(2026, 1, 1)})),
        f"unexpected input of type date for a in ConfigMap {VALUE}",
    ),
    "a label that is not text": (
        lambda: objects_of(lambda: core.ConfigMap("m", metadata={"labels": {"a": 1}})),
        'ConfigMap m: metadata.labels.a: must be text, not 1 (write it in quotes: "1")',
    ),
}


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize(("make", "what"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused(make: Callable[[], Any], what: str, preview: bool) -> None:
    """In a preview as in an update, with object and field, and with what would do."""
    with pytest.raises(FleetError) as caught:
        in_program(make, preview=preview)
    texts = list(map(str, caught.value.problems))
    what = (
        what
        if re.match(r"(the function|kubernetes:|test:|unexpected)", what)
        else f"the program: {what}"
    )
    if (
        not preview
    ):  # By then it is known, and the SDK says of which field it is, but not where in it.
        what = re.sub(r"(\S+: \w+)\S*: is not known before db stands", r"\1: comes of db", what)
    assert any(text.startswith(what) for text in texts), texts
    assert len(texts) == len(set(texts))
    assert isinstance(caught.value, pulumi.RunError)


def test_all_that_cannot_be_comes_at_once() -> None:
    def make() -> None:
        core.ConfigMap("m", data={"token": pulumi.Output.secret("x")})
        Thing("db", size="1")
        core.Namespace("n", opts=Options(protect=True))

    with pytest.raises(FleetError) as caught:
        in_program(lambda: objects_of(make))
    assert len(caught.value.problems) == 3


def test_what_is_not_known_for_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "SECONDS", 0.2)

    async def never() -> str:
        await asyncio.sleep(60)
        return "x"

    with pytest.raises(FleetError, match=r"what an object is made of is not known after 0\.2 s"):
        in_program(lambda: objects_of(lambda: core.ConfigMap("m", data={"a": never()})))


class Color(enum.StrEnum):
    """An input as SDKs have it."""

    RED = "red"


def test_values_as_programs_have_them() -> None:
    data = {**MAP, "data": {"color": Color.RED, "none": None}, "extra": (1, 2.5, True)}
    found = fleet(lambda: [NAMESPACE, data])
    inputs = placed(found)["dev/shop@a/shop/prices"]
    assert inputs["data"]["color"] == "red"
    assert inputs["extra"] == [1, 2.5, True]


def outer() -> Any:
    return Thing("db", size="1")


GIVEN: Mapping[str, tuple[Callable[[], Any], str]] = {
    "a number": (lambda: 3, "objects[1]: an int is not an object (an object is a dict as in YAML"),
    "text": (lambda: "shop.yaml", "objects[1]: a str is not an object ("),
    "a resource": (
        lambda: core.Namespace("n"),
        "objects[1]: is a resource: n (make it in a function and give objects_of(",
    ),
    "no star": (
        lambda: objects_of(lambda: core.Namespace("n")),
        "objects[1]: a tuple is not an object (put a star before it",
    ),
    "a part of an object": (
        lambda: apps.DeploymentSpecArgs(selector={}, template={}),
        "objects[1]: DeploymentSpecArgs is no",
    ),
    "a status": (
        lambda: core.NamespaceArgs(
            metadata={"name": "x"}, status=core.NamespaceStatusArgs(phase="Active")
        ),
        "Namespace._internal_init() got an unexpected keyword argument 'status' (give what you want of it",
    ),
    "an output": (lambda: pulumi.Output.from_input(MAP), "objects[1]: an Output is not an object"),
    "no kind": (
        lambda: {"apiVersion": "v1", "metadata": {"name": "x"}},
        "x: kind: kind is missing",
    ),
    "no name": (
        lambda: {"apiVersion": "v1", "kind": "ConfigMap"},
        "ConfigMap: metadata: metadata is missing",
    ),
    "no name in an input type": (
        lambda: core.ConfigMapInitArgs(data={}),
        "ConfigMap: metadata: metadata is missing",
    ),
    "a kind to come": (
        lambda: {**MAP, "kind": pulumi.Output.from_input("ConfigMap")},
        "objects[1].kind: kind is not text (write it out)",
    ),
    "a name to come": (
        lambda: {**MAP, "metadata": {"name": outer().host}},
        f"ConfigMap [unknown]: metadata.name: is not known before db stands {BEFORE}",
    ),
    "a value to come": (
        lambda: {**MAP, "data": {"host": outer().host}},
        f"ConfigMap shop/prices: data.host: is not known before db stands {BEFORE}",
    ),
    "a secret value": (
        lambda: {**MAP, "data": {"token": pulumi.Output.secret("x")}},
        "ConfigMap shop/prices: data.token: is secret, and would be told",
    ),
    "a date": (
        lambda: {**MAP, "data": {"day": [datetime.date(2026, 1, 1)]}},
        f"objects[1].data.day[0]: a date is not a value {VALUE}",
    ),
    "a number of five thousand digits": (
        lambda: {**MAP, "data": {"most": 10**5000}},
        "objects[1].data.most: is a number that no field of an object can have (write a smaller one)",
    ),
    "no number": (
        lambda: {**MAP, "data": {"most": float("nan")}},
        "objects[1].data.most: is a number that no field of an object can have (write a smaller one)",
    ),
    "a set": (
        lambda: {**MAP, "data": {"all": {1}}},
        f"objects[1].data.all: a set is not a value {VALUE}",
    ),
    "a key that is not text": (
        lambda: {**MAP, "data": {1: "x"}},
        "objects[1].data: 1 is not a key (write text)",
    ),
    "the same twice": (
        lambda: NAMESPACE,
        "Namespace shop: metadata.name: given twice, first in the program",
    ),
    "what the source has": (
        lambda: placement("shop").data,
        "ClusterResourcePlacement shop: metadata.name: given twice, first in an object made in the program",
    ),
    "a chart": (
        lambda: {
            "apiVersion": "fleet-components/v1",
            "kind": "Chart",
            "metadata": {"name": "c"},
            "spec": {"path": "c"},
        },
        "Chart c: kind: is carried out only where a file of a source says it (write it to a file",
    ),
    "a policy that is refused": (
        lambda: placement("shop", {"placementType": "PickSome"}, name="more"),
        "ClusterResourcePlacement more: spec.policy.placementType: ",
    ),
}


@pytest.mark.parametrize(("make", "what"), GIVEN.values(), ids=GIVEN)
def test_what_is_given_as_an_object_and_is_none(make: Callable[[], Any], what: str) -> None:
    with pytest.raises(FleetError) as caught:
        fleet(lambda: [NAMESPACE, make()])
    texts = list(map(str, caught.value.problems))
    what = what if what.startswith(("objects[", "Namespace._")) else f"the program: {what}"
    assert any(text.startswith(what) for text in texts), texts
