"""Mocks for Pulumi programs with fleet components; unlike plain mocks they make the placement
decisions.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, get_args, get_origin

import pulumi
from pulumi import _types
from pulumi.runtime import MockCallArgs, MockResourceArgs, Mocks

from fleet_components import dynamic
from fleet_components.azure.dynamic import CreateOnlyProvider, ProvisionedProvider
from fleet_components.components.refusal import RefusedError
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.plan.state import (
    INTERRUPTED,
    PENDING_REPLACEMENT,
    StackState,
    StoredResource,
    is_marked_secret,
    reveal,
)
from fleet_components.testing import azure
from fleet_components.testing.other_stacks import READ_OUTPUTS, REFERENCE, OtherStacks, referenced

PROVIDERS: Mapping[str, dynamic.RecordProvider] = {
    "pulumi-python:dynamic/fleet:Placement": dynamic.PlacementProvider(),
    "pulumi-python:dynamic/fleet:Template": dynamic.TemplateProvider(),
    "pulumi-python:dynamic/fleet:Member": dynamic.MemberProvider(),
    "pulumi-python:dynamic/fleet:Binding": dynamic.BindingProvider(),
    "pulumi-python:dynamic/fleet:Roster": dynamic.RosterProvider(),
    "pulumi-python:dynamic/fleet:Report": dynamic.ReportProvider(),
    "pulumi-python:dynamic/fleet:Barrier": dynamic.BarrierProvider(),
    "pulumi-python:dynamic/fleet:CreateOnly": CreateOnlyProvider(),
    "pulumi-python:dynamic/fleet:Provisioned": ProvisionedProvider(),
}
OWN_OUTPUTS = "pulumi:pulumi:readStackResourceOutputs"
_STANDING = (":getManagedCluster", ":getAgentPool")


class CheckFailed(Exception):
    """A provider's ``check`` rejected its inputs."""


class FleetMocks(Mocks):
    """Mocks that run the ``check`` of the fleet's own resources against the state before, and echo
    all other resources.

    Use them like any mocks: ``pulumi.runtime.set_mocks(FleetMocks())``, or with
    :func:`run_program`.

    Args:
        state: the state before the run; empty by default, as for a new stack.

    Attributes:
        stacks: what is known of other stacks; nothing by default.
    """

    def __init__(self, state: StackState | None = None) -> None:
        self.state = state or StackState()
        self.stacks = OtherStacks()
        # By type and name, because mocks do not get the URN; a monitor that knows it calls
        # ``stood``.
        self._olds = {(r.type, r.name): r.inputs for r in self.state.resources.values()}
        self._stood: dict[tuple[str, str], str] = {}
        self._deciding = threading.Lock()

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        """Return the id and the outputs of a resource."""
        if args.typ == REFERENCE:
            stack = args.inputs.get("name", args.resource_id or args.name)
            outputs = self.stacks.of(stack)
            return stack, dict(args.inputs) if outputs is None else referenced(stack, outputs)
        provider = PROVIDERS.get(args.typ)
        if provider is None:
            made_up = azure.resource_id(args.typ, args.name, args.inputs) or f"{args.name}-id"
            outputs = echoed(args.typ, args.inputs)
            new = computed(args.typ, args.name, outputs) if self.computes() else {}
            return args.resource_id or made_up, {**outputs, **new}
        # The dynamic host does not accept secrets, so the engine hands them over in plain (Pulumi
        # SDK 3.272.0, pulumi/dynamic/__main__.py, Configure).
        outputs = self.check(provider, args.typ, args.name, reveal(args.inputs))
        # Secret inputs stay secret, whatever `check` returns for them.
        shown = {
            k: pulumi.Output.secret(v) if is_marked_secret(args.inputs.get(k)) else v
            for k, v in outputs.items()
        }
        return str(outputs.get("key", args.name)), shown

    def computes(self) -> bool:
        """Return whether outputs that no input gives are made up: not in a preview, where they are
        unknown.
        """
        return not pulumi.runtime.is_dry_run()

    def call(self, args: MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        """Return outputs of this stack before the run or of another one, or what Azure's functions
        would return.

        Credential functions give a kubeconfig; of clusters and node pools the state says what
        stands.

        Raises:
            RefusedError: the outputs of another stack are asked for, and nothing is known of it.
        """
        credentials = azure.answer(args.token)
        if credentials is not None:
            return credentials, []
        if args.token.endswith(_STANDING):
            return self._as_stored(args.token.rpartition(":get")[2], args.args), []
        if args.token == READ_OUTPUTS:
            return {"outputs": self._outputs_of(args.args["name"])}, []
        if args.token != OWN_OUTPUTS:
            return {}, []
        stored = self.state.resources.values()
        return {"outputs": {r.urn: _answered(r) for r in stored}}, []

    def _as_stored(self, kind: str, sought: Mapping[str, Any]) -> dict[str, Any]:
        """Return the outputs of the resource of a kind with these inputs as the state has them."""
        same_kind = (
            resource
            for resource in self.state.resources.values()
            if resource.type.endswith(f":{kind}")
        )
        # A run keeps what was given; a function returns what a provider makes of it.
        found = (
            echoed(stored.type, stored.outputs)
            for stored in same_kind
            if sought.items() <= stored.inputs.items()
        )
        return _plain(next(found, {}))

    def lacking(self, stack: str) -> Problem:
        """Return the problem of another stack whose outputs a program needs, and of which nothing
        is known.
        """
        hint = (
            f'run_program(..., stacks={{"{stack}": run.exports}}) takes them from a run of its'
            " program"
        )
        return Problem(
            Message(
                "outputs-stack-not-known-run",
                'the outputs of the stack "{stack}" are not known to this run',
                stack=stack,
            ),
            hint=hint,
        )

    def _outputs_of(self, stack: str) -> Mapping[str, Any]:
        outputs = self.stacks.known_of(stack)
        if outputs is None:
            raise RefusedError([self.lacking(stack)])
        return outputs

    def olds(self, typ: str, name: str) -> Mapping[str, Any]:
        """Return the inputs that a resource had before the run; empty for a new resource."""
        urn = self._stood.get((typ, name))
        if urn is None:
            return self._olds.get((typ, name), {})
        return self.state.resources[urn].inputs if urn else {}

    def stood(self, typ: str, name: str, urn: str) -> None:
        """Set the URN under which a resource is in the state; empty for a new resource."""
        self._stood[typ, name] = urn

    def check(
        self, provider: dynamic.RecordProvider, typ: str, name: str, news: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the inputs that the engine would use.

        Raises:
            CheckFailed: the provider rejects the inputs; the text is the engine's.
        """
        with self._deciding:
            result = provider.check(dict(self.olds(typ, name)), news)
        if result.failures:
            reasons = "; ".join(failure.reason for failure in result.failures)
            raise CheckFailed(f"resource '{name}' has a problem: {reasons}")
        return dict(result.inputs)


def _answered(stored: StoredResource) -> dict[str, Any]:
    """Return a resource as the engine returns it; and what the engine knows but does not return."""
    known = {PENDING_REPLACEMENT: stored.pending_replacement, INTERRUPTED: stored.interrupted}
    more = {key: value for key, value in known.items() if value}
    return {"type": stored.type, "outputs": _plain(stored.outputs), **more}


def _plain(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return outputs without unknown values, which the engine does not return either."""
    return {
        key: value for key, value in outputs.items() if not isinstance(value, pulumi.output.Unknown)
    }


# Outputs that mocks make of inputs: in the form in which a provider would return them, which may
# be another one.
#
# The Azure provider takes a list of identities and returns a map of them; other fields take one
# kind of value and return another. The SDK refuses a value of another form than its class
# declares.


_NOTHING = object()
"""Stands for a value that says nothing of the output."""


def echoed(token: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of a resource as its outputs.

    A list of names where the class declares a map becomes the map of these names. An input that is
    of another form
    than the output is left out: unknown in a preview, as where a provider computes it.

    Args:
        token: type token of the resource.
        inputs: its inputs, as the SDK's mock monitor hands them over.
    """
    return _fields(inputs, _declared(token))


def computed(token: str, name: str, outputs: Mapping[str, Any]) -> dict[str, str]:
    """Return texts for the outputs that a resource always has and that no input gives:
    ``NAME-OUTPUT``, made up.

    Args:
        token: type token of the resource.
        name: its logical name, which is its ``name`` as well.
        outputs: the outputs that are known.
    """
    missing = (key for key, kind in _declared(token).items() if kind is str and key not in outputs)
    return {key: name if key == "name" else f"{name}-{key}" for key in missing}


@cache
def _declared(token: str) -> Mapping[str, Any]:
    """Return the types of the outputs of a resource; empty if no class that is loaded declares
    them.
    """
    # The class is there, since the program has made an instance of it.
    found = next(
        (kind for kind in _classes(pulumi.Resource) if pulumi.get_type_token(kind) == token), None
    )
    return _types.resource_types(found) if found else {}


def _classes(base: type[Any]) -> Iterator[type[Any]]:
    for subclass in base.__subclasses__():
        yield subclass
        yield from _classes(subclass)


def _fields(given: Mapping[str, Any], types: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: _formed(value, types.get(key)) for key, value in given.items()}
    return {key: value for key, value in found.items() if value is not _NOTHING}


def _formed(value: Any, declared: Any) -> Any:
    """Return a value in the declared form; :data:`_NOTHING` if it has another one."""
    if is_marked_secret(value):
        inner = _formed(value["value"], declared)
        return _NOTHING if inner is _NOTHING else {**value, "value": inner}
    wanted = _types.unwrap_optional_type(declared) if declared else None
    # Nothing is declared from which the value could differ.
    if wanted in (None, Any, object) or value is None or _types.is_discriminated_union(wanted):
        return value
    kind, parts = get_origin(wanted), get_args(wanted)
    if isinstance(value, Mapping):
        if _types.is_output_type(wanted):
            return _fields(value, _types.output_type_types(wanted))
        if wanted is dict or _is(kind, Mapping):
            return _fields(value, dict.fromkeys(value, parts[1] if parts else None))
        return _NOTHING
    if isinstance(value, (list, tuple)):
        if wanted is list or (_is(kind, Sequence) and not _is(kind, str)):
            items = (_formed(item, parts[0] if parts else None) for item in value)
            return [item for item in items if item is not _NOTHING]
        if _is(kind, Mapping) and all(isinstance(item, str) for item in value):
            return {item: {} for item in value}
        return _NOTHING
    return value


def _is(kind: Any, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)
