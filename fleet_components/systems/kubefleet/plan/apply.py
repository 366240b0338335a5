"""Mode in which an apply strategy of KubeFleet writes objects."""

from __future__ import annotations

from fleet_components.plan.apply_mode import ApplyMode, TakeOver
from fleet_components.systems.kubefleet.model.placement import ApplyStrategy


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
