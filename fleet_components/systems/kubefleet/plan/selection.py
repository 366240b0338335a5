"""The placements of a source: what they select, and what rolls them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import attrs

from fleet_components.content.availability import trackable
from fleet_components.content.envelope import out_of_place, unwrapped
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few
from fleet_components.plan.apply_mode import ApplyMode, TakeOver
from fleet_components.plan.record import Objects
from fleet_components.plan.source import Source, collected
from fleet_components.systems.kubefleet.content.select import Selection, select, surprises
from fleet_components.systems.kubefleet.model.placement import (
    ApplyStrategy,
    Placement,
    RollingUpdate,
)
from fleet_components.systems.kubefleet.plan.update_runs import STRATEGY_OF, is_approved, runs_of
from fleet_components.systems.kubefleet.rollout.strategy import (
    External,
    UpdateRun,
    in_reach,
    read_update_run,
)


@attrs.frozen
class SelectedPlacement:
    """A placement with what it selects.

    Attributes:
        placement: the placement.
        strategy: its rollout strategy.
        selection: the result of its selectors, for explanations.
        objects: the objects of its revision, envelopes as they are.
        untrackable: True if some objects are of kinds whose readiness cannot be determined.
    """

    placement: Placement
    strategy: RollingUpdate | External
    selection: Selection
    objects: Objects
    untrackable: bool

    @property
    def name(self) -> str:
        """Key of the placement, its name in a stack."""
        return self.placement.key


@attrs.frozen(slots=False)
class Placements:
    """The placements of a source.

    Attributes:
        source: the parsed fleet.
    """

    source: Source

    @cached_property
    def runs(self) -> Mapping[tuple[str, str], Sequence[Manifest]]:
        """The update runs of each placement, by the placement's namespace and name."""
        return runs_of(self.source.policies)

    @cached_property
    def approvals(self) -> frozenset[str]:
        """Names of the approval requests that are approved, after their namespace and a slash if
        they have one.
        """
        requests = (policy for policy in self.source.given.manifests if is_approved(policy))
        return frozenset("/".join(filter(None, (item.namespace, item.name))) for item in requests)

    def selections(self) -> tuple[tuple[SelectedPlacement, ...], list[Problem]]:
        """Return every placement with what it selects, and the problems of those without a result.

        A selection may be refused.
        """
        problems: list[Problem] = []
        found = [collected(problems, self._selected, item) for item in self.source.placements]
        # None stands for a placement whose problems were collected.
        return tuple(item for item in found if item), problems

    def _selected(self, placement: Placement) -> SelectedPlacement:
        selection = select(self.source.catalogue, placement)
        manifests = list(unwrapped(selection.manifests))
        # Contents of envelopes only: `select` has checked all other objects.
        inner = [manifest for manifest in manifests if manifest.origin and manifest.origin.envelope]
        problems = list(out_of_place(inner, self.source.definitions))
        if problems:
            raise FleetError(problems)
        warnings = (warning for manifest in inner for warning in surprises(manifest))
        selection = attrs.evolve(selection, warnings=(*selection.warnings, *warnings))
        untrackable = any(trackable(manifest) == "untrackable" for manifest in manifests)
        objects = tuple(manifest.data for manifest in selection.manifests)
        return SelectedPlacement(
            placement, self._strategy(placement), selection, objects, untrackable
        )

    def _strategy(self, placement: Placement) -> RollingUpdate | External:
        strategy = placement.spec.strategy
        if strategy.type != "External":
            return strategy.rolling_update
        runs = self.runs.get((placement.namespace, placement.name), ())
        release = self.source.given.releases.kubefleet
        return External(runs=tuple(map(self._run, runs)), release=release)

    def _run(self, run: Manifest) -> UpdateRun:
        strategy = self.source.by_name.get(_strategy_of(run))
        endless = list(_endless(strategy)) if strategy else []
        if endless:
            raise FleetError(endless)
        return read_update_run(run, strategy)

    def run_faults(self, placement: Placement) -> Mapping[str, Problem]:
        """Return why update runs of a placement cannot begin, by name: their strategy is not
        there.
        """
        found = {}
        for run in self.runs.get((placement.namespace, placement.name), ()):
            kind, namespace, wanted = _strategy_of(run)
            if (kind, namespace, wanted) in self.source.by_name:
                continue
            policies = self.source.policies
            known = [m.name for m in policies if (m.kind, m.namespace) == (kind, namespace)]
            path, what = (
                ("spec", "stagedRolloutStrategyName"),
                Message("no-such-kind", 'there is no {kind} "{wanted}"', kind=kind, wanted=wanted),
            )
            problem = run.problem(what, path, f"there is: {few(known) or 'none'}")
            found[run.name] = attrs.evolve(problem, follows=True)
        return found


def _strategy_of(run: Manifest) -> tuple[str, str, str]:
    """Return kind, namespace and name of the strategy that an update run follows."""
    name = run.data["spec"].get("stagedRolloutStrategyName", "")
    return STRATEGY_OF[run.kind], run.namespace, name


def _endless(strategy: Manifest) -> Iterator[Problem]:
    """Yield problems of waits that no controller can read, though the API server lets them pass."""
    for index, stage in enumerate(strategy.data["spec"].get("stages") or ()):
        for place, task in enumerate(stage.get("afterStageTasks") or ()):
            wait = task.get("waitTime", "0")
            if not in_reach(wait):
                path = ("spec", "stages", index, "afterStageTasks", place, "waitTime")
                yield strategy.problem(
                    Message("time-invalid-duration", 'time: invalid duration "{wait}"', wait=wait),
                    path,
                    "write, for example, waitTime: 1h",
                )


def mode_of(strategy: ApplyStrategy) -> ApplyMode:
    """Return the mode of an apply strategy."""
    config = strategy.server_side_apply_config
    return ApplyMode(
        takes_over=TakeOver(strategy.when_to_take_over),
        # Client-side apply overwrites what others have set, as a forced server-side apply does.
        forces=strategy.type != "ServerSideApply" or (config is not None and config.force),
        reports=strategy.type == "ReportDiff",
        full=strategy.comparison_option == "FullComparison",
        stops_at_drift=strategy.when_to_apply == "IfNotDrifted",
        co_owned=strategy.allow_co_ownership,
    )
