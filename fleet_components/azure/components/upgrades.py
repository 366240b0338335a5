"""Upgrades of a fleet's members: update strategies, update runs and auto-upgrade profiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import pulumi

from fleet_components.azure.components.arm import children_of, fleet_child
from fleet_components.azure.components.hub import AzureHub
from fleet_components.azure.values.strategy import Strategy
from fleet_components.azure.values.upgrade import AutoUpgrade, Run
from fleet_components.azure.values.upgrades import Upgrades
from fleet_components.components.refusal import Arguments, expect, refuse
from fleet_components.model.problem import Problem


@attrs.frozen(kw_only=True)
class AzureUpgradesArgs(Arguments):
    """Arguments of the upgrades of a fleet.

    Attributes:
        hub: the fleet, with or without a hub cluster.
        strategies: the orders of upgrading that runs and profiles refer to.
        runs: upgrades that people start.
        profiles: upgrades that Azure starts. Members that they touch are declared with ``upgrades: fleet``.
        groups: the update groups of the members, to report groups without members; None to skip that check.
    """

    hub: AzureHub
    strategies: tuple[Strategy, ...] = ()
    runs: tuple[Run, ...] = ()
    profiles: tuple[AutoUpgrade, ...] = ()
    groups: frozenset[str] | None = None

    def problems(self) -> Iterator[Problem]:
        """Return a problem for each value that Azure would reject."""
        together = Upgrades(strategies=self.strategies, runs=self.runs, profiles=self.profiles)
        return together.problems(self.groups)


class AzureUpgrades(pulumi.ComponentResource):
    """Update strategies, update runs and auto-upgrade profiles of a fleet.

    Attributes:
        strategies: the resource IDs of the strategies by name.
    """

    strategies: dict[str, pulumi.Output[str]]

    def __init__(self, name: str, args: AzureUpgradesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        expect(type(self), name, args, AzureUpgradesArgs, opts)
        refuse(args.problems(), f"AzureUpgrades {name}")
        super().__init__("fleet:index:AzureUpgrades", name, None, opts)
        mine = children_of(self, opts)

        def child(kind: str, word: str, of: Strategy | Run | AutoUpgrade, more: dict[str, Any], *ignored: str) -> Any:
            properties = {**of.body(), **more}
            return fleet_child(f"{name}-{word}-{of.name}", kind, of.name, args.hub.address, properties, mine, ignored)

        self.strategies = {each.name: child("updateStrategies", "strategy", each, {}).id for each in args.strategies}
        for run in args.runs:
            # Azure copies the strategy into a run when the run is created, and later uses only the copy.
            child("updateRuns", "run", run, self._following(run.strategy), "strategy")
        for profile in args.profiles:
            child("autoUpgradeProfiles", "profile", profile, self._following(profile.strategy))
        self.register_outputs({"strategies": self.strategies})

    def _following(self, strategy: str) -> dict[str, Any]:
        return {"updateStrategyId": self.strategies[strategy]} if strategy else {}
