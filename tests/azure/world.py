"""Runs programs against a pretended Azure, and says what an update from one program to the next would do.

The mock monitor of the SDK answers; replacements follow the rules of the Azure provider, which are written down here.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

import attrs
from google.protobuf.json_format import MessageToDict
from pulumi.runtime import MockCallArgs, MockResourceArgs, Mocks, set_mocks
from pulumi.runtime.mocks import MockMonitor
from pulumi.runtime.settings import set_root_resource
from pulumi.runtime.stack import run_in_stack

from fleet_components.azure.dynamic import CreateOnlyProvider
from fleet_components.plan.state import reveal
from fleet_components.testing.mocks import FleetMocks
from fleet_components.testing.program import end_loop, reset_runtime

SUBSCRIPTION = "11111111-2222-3333-4444-555555555555"
CREATE_ONLY = "pulumi-python:dynamic/fleet:CreateOnly"

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
            for field in ("networkPlugin", "networkPluginMode", "networkDataplane", "networkPolicy", "outboundType")
        ),
        *("networkProfile.podCidr", "networkProfile.serviceCidr", "networkProfile.dnsServiceIP"),
    },
    "azure-native:containerservice:AgentPool": {"resourceName", "resourceGroupName", "agentPoolName", "vmSize"},
    "azure-native:containerservice:MaintenanceConfiguration": {"resourceName", "resourceGroupName", "configName"},
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
    """

    type: str
    name: str
    inputs: Mapping[str, Any]
    ignored: tuple[str, ...] = ()
    parent: str = ""
    after: frozenset[str] = frozenset()


@attrs.frozen
class Run:
    """What came of a program.

    Attributes:
        resources: by URN.
        messages: what it logged.
        outputs: of the stack.
        error: why it ended early.
    """

    resources: Mapping[str, Resource]
    messages: tuple[str, ...] = ()
    outputs: Mapping[str, Any] = attrs.field(factory=dict)
    error: BaseException | None = None

    def named(self, name: str, kind: str = "") -> Resource:
        """The one resource of that name and kind."""
        (found,) = (r for r in self.resources.values() if r.name == name and r.type.endswith(kind))
        return found

    def of_type(self, kind: str) -> list[Resource]:
        """All resources whose type ends so, by name."""
        return sorted((r for r in self.resources.values() if r.type.endswith(f":{kind}")), key=lambda r: r.name)


class Azure(FleetMocks):
    """Answers as Azure would, as far as components look at the answers."""

    def __init__(self, before: Run | None) -> None:
        super().__init__()
        self.fields = {r.name: r.inputs for r in before.resources.values() if r.type == CREATE_ONLY} if before else {}

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        if args.typ == CREATE_ONLY:
            self._check(args)
        elif not args.typ.startswith("azure-native:"):
            return super().new_resource(args)
        outputs = dict(args.inputs)
        name = next((args.inputs[key] for key in NAMES if key in args.inputs), args.name)
        outputs["name"] = name
        if identities := (args.inputs.get("identity") or {}).get("userAssignedIdentities"):
            outputs["identity"] = {**args.inputs["identity"], "userAssignedIdentities": {i: {} for i in identities}}
        if args.typ.endswith("UserAssignedIdentity"):
            outputs["principalId"] = _guid(name)
        if args.typ.endswith("ManagedCluster"):
            outputs["identity"] = {**outputs["identity"], "principalId": _guid(name)}
        group = args.inputs.get("resourceGroupName", "none")
        return f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/Mock/{args.typ}/{name}", outputs

    def call(self, args: MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        if not args.token.startswith("azure-native:"):
            return super().call(args)
        if args.token.endswith("getUserAssignedIdentity"):
            return {"principalId": _guid(args.args["resourceName"])}, []
        return {"kubeconfigs": [{"name": "it", "value": base64.b64encode(KUBECONFIG.encode()).decode()}]}, []

    def _check(self, args: MockResourceArgs) -> None:
        result = CreateOnlyProvider().check(dict(self.fields.get(args.name, {})), dict(args.inputs))
        if result.failures:
            raise Refused("; ".join(failure.reason for failure in result.failures))


class Refused(Exception):
    """A ``check`` that refused."""


class Monitor(MockMonitor):
    """The SDK's monitor, with a memory."""

    def __init__(self, mocks: Mocks) -> None:
        super().__init__(mocks)
        self.recorded: dict[str, Resource] = {}
        self.outputs: dict[str, Any] = {}

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
            )
        return _with_loop(lambda: super(Monitor, self).RegisterResource(request))  # type: ignore[no-untyped-call]

    def Invoke(self, request: Any) -> Any:  # noqa: N802
        return _with_loop(lambda: super(Monitor, self).Invoke(request))  # type: ignore[no-untyped-call]

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802
        if "pulumi:pulumi:Stack" in request.urn:
            self.outputs = MessageToDict(request.outputs)
        return super().RegisterResourceOutputs(request)  # type: ignore[no-untyped-call]


def run(program: Callable[[], Any], before: Run | None = None) -> Run:
    """Run a program; ``before`` is the run that made the state."""
    monitor, messages = Monitor(Azure(before)), []
    logger = logging.Logger("azure", logging.INFO)
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    reset_runtime()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.set_exception_handler(lambda *_: None)
    error: BaseException | None = None
    try:
        set_mocks(monitor.mocks, "project", "stack", False, logger, monitor)
        set_root_resource(None)  # type: ignore[arg-type]
        loop.run_until_complete(run_in_stack(program))
    except Exception as failure:  # noqa: BLE001 - whatever ended the program is what tests look at
        error = failure
    finally:
        end_loop(loop)
    return Run(monitor.recorded, tuple(messages), monitor.outputs, error)


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
        found = (differences(old.get(key), new.get(key), ignored, f"{path}.{key}".lstrip(".")) for key in {*old, *new})
        return set().union(*found)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return set().union(*(differences(a, b, ignored, f"{path}[{i}]") for i, (a, b) in pairs))
    return {path}


def is_replaced(kind: str, paths: set[str]) -> bool:
    rules = REPLACED_BY.get(kind, set())
    return bool(paths & rules)


NAMES = ("fleetName", "agentPoolName", "configName", "resourceName", "subnetName", "virtualNetworkName")


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


def principal(seed: str) -> str:
    """The principal ID of an identity, or of the identity of a cluster, by its name."""
    return _guid(seed)


def _guid(seed: str) -> str:
    digits = (seed.encode().hex() + "0" * 32)[:32]
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
