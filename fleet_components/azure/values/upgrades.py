"""All upgrades of a fleet that are declared together: strategies, and the runs and profiles that
follow them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from fleet_components.azure.values import checks
from fleet_components.azure.values.upgrade import AutoUpgrade, Run, Strategy
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Typed


@attrs.frozen(kw_only=True)
class Upgrades(Typed):
    """Upgrades of the members of a fleet.

    Attributes:
        strategies: the orders of upgrading that runs and profiles refer to.
        runs: upgrades that people start.
        profiles: upgrades that Azure starts.
    """

    strategies: tuple[Strategy, ...] = ()
    runs: tuple[Run, ...] = ()
    profiles: tuple[AutoUpgrade, ...] = ()

    @property
    def strategy_names(self) -> tuple[str, ...]:
        """The names of the strategies."""
        return tuple(strategy.name for strategy in self.strategies)

    def problems(
        self,
        groups: Iterable[str] | None = None,
        strategies: Iterable[str] = (),
        path: FieldPath = (),
    ) -> Iterator[Problem]:
        """Yield Azure validation errors.

        Args:
            groups: the update groups of the members, to find groups without members; None to skip
                that check.
            strategies: the names of strategies that are declared elsewhere.
            path: path of the upgrades.
        """
        yield from checks.unique(self.strategy_names, "strategy", (*path, "strategies"))
        yield from checks.unique((run.name for run in self.runs), "update run", (*path, "runs"))
        yield from checks.unique(
            (profile.name for profile in self.profiles), "profile", (*path, "profiles")
        )
        known = (*self.strategy_names, *strategies)
        for position, strategy in enumerate(self.strategies):
            yield from strategy.problems(groups, (*path, "strategies", position))
        for position, run in enumerate(self.runs):
            yield from run.problems(known, (*path, "runs", position))
        for position, profile in enumerate(self.profiles):
            yield from profile.problems(known, (*path, "profiles", position))
