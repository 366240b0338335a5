"""Runs programs against a pretended Azure, and says what an update from one program to the next would do.

The mock monitor of the SDK answers; replacements follow the rules of the Azure provider, which are written down here.
Every program that runs to its end is judged by :func:`objections`: whatever order the engine takes, Azure must take it.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
from google.protobuf.json_format import MessageToDict
from pulumi.runtime import MockCallArgs, MockResourceArgs, set_all_config, set_mocks
from pulumi.runtime.mocks import MockMonitor
from pulumi.runtime.settings import set_root_resource
from pulumi.runtime.stack import run_in_stack

from fleet_components.azure.dynamic import CreateOnlyProvider
from fleet_components.plan.state import reveal
from fleet_components.testing.mocks import OWN_OUTPUTS, FleetMocks, echoed
from fleet_components.testing.program import end_loop, reset_runtime
from tests.azure.answers import answered
from tests.azure.laws import Cloud, Refusal, Thing, principal

SUBSCRIPTION = "11111111-2222-3333-4444-555555555555"
OTHER_SUBSCRIPTION = "66666666-7777-8888-9999-000000000000"
CREATE_ONLY = "pulumi-python:dynamic/fleet:CreateOnly"
PROVIDER = "pulumi:providers:azure-native"

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters:
- {name: it, cluster: {server: "https://it.example"}}
contexts:
- {name: it, context: {cluster: it, user: clusterUser}}
current-context: it
users:
- name: clusterUser
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: kubelogin
      args: [get-token, --environment, AzurePublicCloud, --server-id, aks, --client-id, cli, --tenant-id, ours,
             --login, devicecode]
"""

# What makes the Azure provider replace a resource: its path, and these fields. Source: the provider's tables.
REPLACED_BY = {
    "azure-native:containerservice:ManagedCluster": {
        *("resourceName", "resourceGroupName", "location", "dnsPrefix", "nodeResourceGroup"),
        *(
            f"networkProfile.{field}"
            for field in (
                "networkPlugin",
                "networkPluginMode",
                "networkDataplane",
                "networkPolicy",
                "outboundType",
            )
        ),
        *("networkProfile.podCidr", "networkProfile.serviceCidr", "networkProfile.dnsServiceIP"),
    },
    "azure-native:containerservice:AgentPool": {
        "resourceName",
        "resourceGroupName",
        "agentPoolName",
        "vmSize",
    },
    "azure-native:containerservice:MaintenanceConfiguration": {
        "resourceName",
        "resourceGroupName",
        "configName",
    },
    "azure-native:resources:Resource": {
        *("resourceName", "resourceGroupName", "resourceType", "parentResourcePath", "location")
    },
    "azure-native:resources:ResourceGroup": {"resourceGroupName", "location"},
    "azure-native:authorization:RoleAssignment": {"scope", "principalId", "roleDefinitionId"},
}


@attrs.frozen
class Resource:
    """A resource as it was registered.

    Attributes:
        type: its type token.
        name: its Pulumi name.
        inputs: in wire form, secrets in plain.
        ignored: the paths whose changes are ignored.
        parent: the URN of its parent.
        after: the names of the resources that it depends on.
        needs: the URNs of the resources that it depends on, its provider included.
        subscription: that of its Azure provider.
    """

    type: str
    name: str
    inputs: Mapping[str, Any]
    ignored: tuple[str, ...] = ()
    parent: str = ""
    after: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    subscription: str = SUBSCRIPTION

    @property
    def thing(self) -> Thing | None:
        """What it is in Azure; None for what Azure does not know."""
        known = self.type.startswith("azure-native:")
        return Thing(self.type, self.name, self.subscription, self.inputs) if known else None


@attrs.frozen
class Call:
    """A call of one of Azure's functions: its token, what it was given, and the subscription of its provider."""

    token: str
    args: Mapping[str, Any]
    subscription: str

    @property
    def asked(self) -> str:
        """The ID of the fleet or cluster whose credentials are asked for; empty for any other function."""
        group = f"/subscriptions/{self.subscription}/resourceGroups/{self.args.get('resourceGroupName')}"
        kinds = {"fleetName": "fleets", "resourceName": "managedClusters"}
        return next(
            (
                f"{group}/providers/Microsoft.ContainerService/{kind}/{self.args[field]}"
                for field, kind in kinds.items()
                if field in self.args
            ),
            "",
        )


@attrs.frozen
class Run:
    """What came of a program.

    Attributes:
        resources: by URN.
        messages: what it logged.
        outputs: of the stack.
        error: why it ended early.
        calls: the calls of Azure's functions.
        components: the outputs of components, by URN.
    """

    resources: Mapping[str, Resource]
    messages: tuple[str, ...] = ()
    outputs: Mapping[str, Any] = attrs.field(factory=dict)
    error: BaseException | None = None
    calls: tuple[Call, ...] = ()
    components: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)

    def named(self, name: str, kind: str = "") -> Resource:
        """The one resource of that name and kind."""
        (found,) = (r for r in self.resources.values() if r.name == name and r.type.endswith(kind))
        return found

    def of_azure(self, cluster: str, pool: str | None = None) -> Mapping[str, Any]:
        """The last request for a cluster, or for one of its further pools."""
        kind = ":AgentPool" if pool else ":ManagedCluster"
        found = (r.inputs for r in self.resources.values() if r.type.endswith(kind))
        return next(
            i for i in found if i["resourceName"] == cluster and i.get("agentPoolName") == pool
        )

    def of_type(self, kind: str) -> list[Resource]:
        """All resources whose type ends so, by name."""
        return sorted(
            (r for r in self.resources.values() if r.type.endswith(f":{kind}")),
            key=lambda r: r.name,
        )


class Azure(FleetMocks):
    """Answers as Azure would, as far as components look at the answers."""

    def __init__(self, before: Run | None, moved: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__()
        self.moved = moved
        self.before = before or Run({})
        self.fields = {
            r.name: r.inputs for r in self.before.resources.values() if r.type == CREATE_ONLY
        }
        self.calls: list[Call] = []
        self._subscriptions: dict[str, str] = {}

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        if args.typ == CREATE_ONLY:
            self._check(args)
        if args.typ == PROVIDER:
            self._subscriptions[args.name] = str(args.inputs.get("subscriptionId") or SUBSCRIPTION)
        if not args.typ.startswith("azure-native:"):
            return super().new_resource(args)
        outputs = dict(args.inputs)
        name = next((args.inputs[key] for key in NAMES if key in args.inputs), args.name)
        outputs["name"] = name
        thing = Thing(args.typ, args.name, self.subscription_of(args.provider), reveal(args.inputs))
        if args.typ.endswith("UserAssignedIdentity"):
            outputs["principalId"] = principal(thing.id)
        outputs |= answered(args.typ, args.inputs)
        return thing.id, outputs

    def call(self, args: MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        if args.token == OWN_OUTPUTS:
            return {"outputs": {urn: self._stored(urn) for urn in self.before.resources}}, []
        if args.token.endswith((":getManagedCluster", ":getAgentPool")):
            return self._standing(args), []
        if not args.token.startswith("azure-native:"):
            return super().call(args)
        self.calls.append(Call(args.token, dict(args.args), self.subscription_of(args.provider)))
        if args.token.endswith(":getClientConfig"):
            return {"subscriptionId": self.calls[-1].subscription}, []
        if args.token.endswith("getUserAssignedIdentity"):
            return {"principalId": principal(args.args["resourceName"])}, []
        return {
            "kubeconfigs": [{"name": "it", "value": base64.b64encode(KUBECONFIG.encode()).decode()}]
        }, []

    def subscription_of(self, provider: str | None) -> str:
        """The subscription of a provider, given as ``URN::ID``; that of the default one if there is none."""
        return (
            self._subscriptions.get(provider.split("::")[-2], SUBSCRIPTION)
            if provider
            else SUBSCRIPTION
        )

    def _stored(self, urn: str) -> dict[str, Any]:
        resource = self.before.resources[urn]
        return {
            "type": resource.type,
            "outputs": {**resource.inputs, **self.before.components.get(urn, {})},
        }

    def _standing(self, args: MockCallArgs) -> dict[str, Any]:
        """A cluster or a pool as it stands: as it was sent before, and as Azure moved it since."""
        cluster, pool = args.args["resourceName"], args.args.get("agentPoolName")
        kind = "AgentPool" if pool else "ManagedCluster"
        found = echoed(f"azure-native:containerservice:{kind}", self.before.of_azure(cluster, pool))
        if not pool:
            further = [
                r.inputs
                for r in self.before.of_type("AgentPool")
                if r.inputs["resourceName"] == cluster
            ]
            pools = {each["name"]: each for each in found["agentPoolProfiles"]}
            pools |= {
                each["agentPoolName"]: {**each, "name": each["agentPoolName"]} for each in further
            }
            found["agentPoolProfiles"] = [
                {"orchestratorVersion": "", **pool, **self.moved.get(name, {})}
                for name, pool in pools.items()
            ]
            found |= answered("azure-native:containerservice:ManagedCluster", found)
        return {**found, **self.moved.get(pool or cluster, {})}

    def _check(self, args: MockResourceArgs) -> None:
        result = CreateOnlyProvider().check(dict(self.fields.get(args.name, {})), dict(args.inputs))
        if result.failures:
            raise Refused("; ".join(failure.reason for failure in result.failures))


class Refused(Exception):
    """A ``check`` that refused."""


class SdkMonitor(MockMonitor):
    """The SDK's monitor, which leaves no event loops open."""

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802
        return _with_loop(lambda: super(SdkMonitor, self).RegisterResource(request))  # type: ignore[no-untyped-call]

    def Invoke(self, request: Any) -> Any:  # noqa: N802
        return _with_loop(lambda: super(SdkMonitor, self).Invoke(request))  # type: ignore[no-untyped-call]


class Monitor(SdkMonitor):
    """The SDK's monitor, with a memory."""

    def __init__(self, mocks: Azure) -> None:
        super().__init__(mocks)
        self.azure = mocks
        self.recorded: dict[str, Resource] = {}
        self.outputs: dict[str, Any] = {}
        self.components: dict[str, dict[str, Any]] = {}

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type != "pulumi:pulumi:Stack":
            assert urn not in self.recorded, f"{urn} is registered twice"
            self.recorded[urn] = Resource(
                type=request.type,
                name=request.name,
                inputs=_whole(reveal(MessageToDict(request.object))),
                ignored=tuple(request.ignoreChanges),
                parent=request.parent,
                after=frozenset(urn.rpartition("::")[2] for urn in request.dependencies),
                needs=frozenset(
                    (*request.dependencies, *filter(None, [request.provider.rpartition("::")[0]]))
                ),
                subscription=self.azure.subscription_of(request.provider),
            )
        return super().RegisterResource(request)

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802
        if request.urn in self.recorded:
            self.components[request.urn] = reveal(MessageToDict(request.outputs))
        elif "pulumi:pulumi:Stack" in request.urn:
            self.outputs = MessageToDict(request.outputs)
        return super().RegisterResourceOutputs(request)  # type: ignore[no-untyped-call]


def run(
    program: Callable[[], Any],
    before: Run | None = None,
    config: Mapping[str, str] | None = None,
    moved: Mapping[str, Mapping[str, Any]] | None = None,
) -> Run:
    """Run a program.

    Args:
        program: the program.
        before: the run that made the state.
        config: the configuration of the stack.
        moved: fields of clusters and pools, by their name in Azure, that Azure moved since.
    """
    monitor, messages = Monitor(Azure(before, moved or {})), []
    logger = logging.Logger("azure", logging.INFO)
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    reset_runtime()
    set_all_config({})
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.set_exception_handler(lambda *_: None)
    error: BaseException | None = None
    try:
        set_mocks(monitor.mocks, "project", "stack", False, logger, monitor)
        set_root_resource(None)  # type: ignore[arg-type]
        set_all_config(dict(config or {}))
        loop.run_until_complete(run_in_stack(program))
    except Exception as failure:  # noqa: BLE001 - whatever ended the program is what tests look at
        error = failure
    finally:
        end_loop(loop)
        set_all_config({})
    calls = tuple(monitor.azure.calls)
    made = Run(monitor.recorded, tuple(messages), monitor.outputs, error, calls, monitor.components)
    assert error is not None or not (wrong := list(objections(made))), "\n".join(wrong)
    return made


def objections(run: Run) -> Iterator[str]:
    """What Azure could say against a program, if the engine makes and deletes its resources in the worst order.

    A resource may be made as soon as all that it depends on is there, and deleted as soon as nothing depends on it. So
    all that it needs in Azure must be among what it depends on, directly or not.
    """
    before = {urn: _closure(run.resources, urn) for urn in run.resources}
    things = {urn: thing for urn, each in run.resources.items() if (thing := each.thing)}
    urns = {thing.id.lower(): urn for urn, thing in things.items()}
    granted = tuple(
        str(thing.inputs["principalId"])
        for thing in things.values()
        if thing.kind == "RoleAssignment"
    )
    groups = {
        thing.group.rpartition("/")[2] for thing in things.values() if thing.kind == "ResourceGroup"
    }
    for urn, thing in things.items():
        earlier = Cloud(
            {things[each].id.lower(): things[each] for each in before[urn] if each in things}
        )
        made_here = [each for each in (thing.parent, *thing.uses) if each.lower() in urns]
        nested = "/providers/" in thing.parent
        for needed in (
            *made_here,
            *([thing.parent] if nested or thing.parent.rpartition("/")[2] in groups else ()),
        ):
            if needed.lower() not in earlier.things:
                yield f"{thing.id} can be made before {needed}, or that be deleted first"
        try:
            earlier.existing, earlier.granted = ("/subscriptions/",), granted
            earlier.put(thing)
        except Refusal as refusal:
            yield str(refusal)
    everything = Cloud({thing.id.lower(): thing for thing in things.values()})
    for thing in things.values():
        try:
            everything.join(thing)
        except Refusal as refusal:
            yield str(refusal)
    for call in run.calls:
        made = {identity.partition("/resourcegroups/")[2] for identity in urns}
        if call.asked and call.asked.lower().partition("/resourcegroups/")[2] in made:
            try:
                everything.credentials(call.asked)
            except Refusal as refusal:
                yield str(refusal)


def _closure(resources: Mapping[str, Resource], urn: str) -> set[str]:
    """The URNs of all that a resource depends on, directly or not."""
    found: set[str] = set()
    left = [urn]
    while left:
        for each in resources[left.pop()].needs:
            if each not in found and each in resources:
                found.add(each)
                left.append(each)
    return found


def changes(before: Run, after: Run) -> dict[str, str]:
    """What an update would do, by ``Type name``: create, update, replace or delete; what stays is left out."""
    done = {urn: "delete" for urn in before.resources if urn not in after.resources}
    done |= {urn: "create" for urn in after.resources if urn not in before.resources}
    for urn, new in after.resources.items():
        if urn in before.resources:
            paths = differences(before.resources[urn].inputs, new.inputs, new.ignored)
            if paths:
                done[urn] = "replace" if is_replaced(new.type, paths) else "update"
    everything = {**before.resources, **after.resources}
    return {_title(everything[urn]): what for urn, what in done.items()}


def _title(resource: Resource) -> str:
    return f"{resource.type.rpartition(':')[2]} {resource.name}"


def differences(old: Any, new: Any, ignored: tuple[str, ...], path: str = "") -> set[str]:
    if path in ignored or old == new:
        return set()
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        found = (
            differences(old.get(key), new.get(key), ignored, f"{path}.{key}".lstrip("."))
            for key in {*old, *new}
        )
        return set().union(*found)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return set().union(*(differences(a, b, ignored, f"{path}[{i}]") for i, (a, b) in pairs))
    return {path}


def is_replaced(kind: str, paths: set[str]) -> bool:
    rules = REPLACED_BY.get(kind, set())
    return bool(paths & rules)


NAMES = (
    "fleetName",
    "agentPoolName",
    "configName",
    "resourceName",
    "subnetName",
    "virtualNetworkName",
)


def _with_loop(call: Callable[[], Any]) -> Any:
    """Call with an event loop of this worker thread; the SDK would make one and leave it open."""
    if threading.current_thread() is threading.main_thread():
        return call()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        return call()
    finally:
        loop.close()
        asyncio.set_event_loop(None)


def _whole(value: Any) -> Any:
    """The same value with numbers as a person would write them."""
    if isinstance(value, Mapping):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
