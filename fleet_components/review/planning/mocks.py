"""Mocks that collect the plan of every fleet, and answer for existing resources with the values in the state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pulumi.runtime import MockResourceArgs

from fleet_components import dynamic
from fleet_components.model.problem import Problem
from fleet_components.plan.feed import plan_at_hand
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.state import StackState, is_secret, reveal
from fleet_components.testing.mocks import PROVIDERS, CheckFailed, FleetMocks


class PlanMocks(FleetMocks):
    """Mocks that decide like :class:`FleetMocks`, and collect all refusals instead of stopping at the first.

    Args:
        state: the state before the run.
        stored: the outputs of the resources in the state by URN, with secrets marked.
    """

    def __init__(self, state: StackState, stored: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__(state)
        self.problems: list[Problem] = []
        self.plans: list[FleetPlan] = []
        self._stored = {(r.type, r.name): (r.id, stored.get(r.urn, {})) for r in state.resources.values()}

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        """Return the id and the outputs of a resource: those in the state for an existing one, no id for a new one."""
        identity, outputs = super().new_resource(args)
        if args.typ in PROVIDERS or not args.custom:
            return identity, outputs
        identity, stored = self._stored.get((args.typ, args.name), (args.resource_id or "", {}))
        return identity, {**{key: _on_the_wire(value) for key, value in stored.items()}, **outputs}

    def check(self, provider: dynamic.RecordProvider, typ: str, name: str, news: dict[str, Any]) -> dict[str, Any]:
        """Run the ``check`` of a provider; a refusal is collected, and the old inputs are returned in its place."""
        if isinstance(provider, dynamic.RosterProvider) and (plan := plan_at_hand(news[dynamic.FEED])):
            self.plans.append(plan)
        try:
            return super().check(provider, typ, name, news)
        except CheckFailed as failed:
            self.problems.append(Problem(str(failed)))
            return {**news, **self.olds(typ, name)}


def _on_the_wire(value: Any) -> Any:
    """Return a value of the state as a provider returns it to the program: secrets stay marked."""
    if not is_secret(value):
        return reveal(value)
    return {**{k: v for k, v in value.items() if k not in ("plaintext", "ciphertext")}, "value": reveal(value)}
