"""Mocks for Pulumi programs that use fleet components: placements are really decided."""

from __future__ import annotations

import base64
import threading
from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi.runtime import MockCallArgs, MockResourceArgs, Mocks

from fleet_components import dynamic
from fleet_components.azure.dynamic import CreateOnlyProvider
from fleet_components.plan.state import StackState, is_secret, reveal

PROVIDERS: Mapping[str, dynamic.RecordProvider] = {
    "pulumi-python:dynamic/fleet:Placement": dynamic.PlacementProvider(),
    "pulumi-python:dynamic/fleet:Template": dynamic.TemplateProvider(),
    "pulumi-python:dynamic/fleet:Member": dynamic.MemberProvider(),
    "pulumi-python:dynamic/fleet:Binding": dynamic.BindingProvider(),
    "pulumi-python:dynamic/fleet:Roster": dynamic.RosterProvider(),
    "pulumi-python:dynamic/fleet:Barrier": dynamic.BarrierProvider(),
    "pulumi-python:dynamic/fleet:CreateOnly": CreateOnlyProvider(),
}
READ_OUTPUTS = "pulumi:pulumi:readStackResourceOutputs"
_KUBECONFIG = base64.b64encode(
    b"{apiVersion: v1, kind: Config, current-context: it, clusters: [{name: it, cluster: {server: 'https://127.0.0.1'}}],"
    b" contexts: [{name: it, context: {cluster: it, user: it}}], users: [{name: it, user: {}}]}"
).decode()
"""What a cluster that does not exist yet would be reached with; nothing listens there."""


class CheckFailed(Exception):
    """A provider's ``check`` refused its inputs."""


class FleetMocks(Mocks):
    """Runs the ``check`` of the fleet's own resources, with the old inputs of a state; all else is echoed.

    Use it as any mocks: ``pulumi.runtime.set_mocks(FleetMocks())``, or with :func:`run_program`.

    Args:
        state: the state before the run; empty by default, as for a new stack.
    """

    def __init__(self, state: StackState | None = None) -> None:
        self.state = state or StackState()
        self._olds = {(r.type, r.name): r.inputs for r in self.state.resources.values()}
        self._stood: dict[tuple[str, str], str] = {}
        self._deciding = threading.Lock()

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        """The id and the outputs of a resource."""
        provider = PROVIDERS.get(args.typ)
        if provider is None:
            return args.resource_id or f"{args.name}-id", dict(args.inputs)
        outputs = self.check(provider, args.typ, args.name, reveal(args.inputs))
        # What goes in as a secret stays one, whatever check makes of it.
        shown = {k: pulumi.Output.secret(v) if is_secret(args.inputs.get(k)) else v for k, v in outputs.items()}
        return str(outputs.get("key", args.name)), shown

    def call(self, args: MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        """The outputs of the stack's own resources, as they stood before the run; a kubeconfig where Azure is asked."""
        if args.token.startswith("azure-native:") and args.token.endswith("Credentials"):
            return {"kubeconfigs": [{"name": "kubeconfig", "value": _KUBECONFIG}]}, []
        if args.token != READ_OUTPUTS:
            return {}, []
        stored = self.state.resources.values()
        return {"outputs": {r.urn: {"type": r.type, "outputs": _plain(r.outputs)} for r in stored}}, []

    def olds(self, typ: str, name: str) -> Mapping[str, Any]:
        """The inputs that a resource had before the run; empty for a new one."""
        urn = self._stood.get((typ, name))
        if urn is None:
            return self._olds.get((typ, name), {})
        return self.state.resources[urn].inputs if urn else {}

    def stood(self, typ: str, name: str, urn: str) -> None:
        """Say under which URN of the state a resource stands; empty for a new one."""
        self._stood[typ, name] = urn

    def check(self, provider: dynamic.RecordProvider, typ: str, name: str, news: dict[str, Any]) -> dict[str, Any]:
        """What the engine would take as inputs.

        Raises:
            CheckFailed: the provider refuses; the text is the one that the engine shows.
        """
        with self._deciding:
            result = provider.check(dict(self.olds(typ, name)), news)
        if result.failures:
            reasons = "; ".join(failure.reason for failure in result.failures)
            raise CheckFailed(f"resource '{name}' has a problem: {reasons}")
        return dict(result.inputs)


def _plain(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Outputs without what the engine does not hand over either."""
    return {key: value for key, value in outputs.items() if not isinstance(value, pulumi.output.Unknown)}
