"""Tools for tests of one's own: rules for a fleet, and Pulumi programs that are run in process.

A rule for a fleet, with the fixtures of the plug-in for pytest that comes with this package::

    from fleet_components.testing import at_least

    def test_tier_0_survives_the_loss_of_a_region(fleet_plan):
        at_least(fleet_plan.placements(label="tier=0"), 2, by="region")

A test of a program::

    from fleet_components.testing import run_program

    def test_the_shop_stays_in_europe():
        run = run_program(my_program)
        decisions = run.inputs("production/shop", "dynamic/fleet:Placement")["decisions"]
        assert all(cluster.startswith("eu-") for cluster in decisions)

Nothing is loaded before it is used: pytest loads the plug-in in every project, and rules need no
Pulumi.
"""

# ruff: noqa: I001  a name is exported to type checkers where it is imported as itself
from typing import TYPE_CHECKING

from fleet_components.lazy import exported, lazily

if TYPE_CHECKING:
    from fleet_components.plan.state import (
        StackState as StackState,
        StoredResource as StoredResource,
        redact as redact,
        reveal as reveal,
    )
    from fleet_components.testing.builders import (
        config_map as config_map,
        kubeconfig as kubeconfig,
        member as member,
        placement as placement,
    )
    from fleet_components.testing.mocks import CheckFailed as CheckFailed, FleetMocks as FleetMocks
    from fleet_components.testing.monitor import (
        RecordingMonitor as RecordingMonitor,
        Refused as Refused,
        Registration as Registration,
    )
    from fleet_components.testing.planned_fleet import PlannedFleet as PlannedFleet
    from fleet_components.testing.planned_member import PlannedMember as PlannedMember
    from fleet_components.testing.planned_placement import PlannedPlacement as PlannedPlacement
    from fleet_components.testing.planning import plan_fleet_of as plan_fleet_of
    from fleet_components.testing.program import (
        ProgramRun as ProgramRun,
        run_program as run_program,
    )
    from fleet_components.testing.rules import (
        Broken as Broken,
        BrokenRuleError as BrokenRuleError,
        Violation as Violation,
        at_least as at_least,
        deletes_nothing as deletes_nothing,
        fulfilled as fulfilled,
        loses_at_most as loses_at_most,
        never_together as never_together,
        not_only_together as not_only_together,
        rule as rule,
        stays_in as stays_in,
    )

_HOMES = {
    "plan.state": ("StackState", "StoredResource", "redact", "reveal"),
    "testing.builders": ("config_map", "kubeconfig", "member", "placement"),
    "testing.mocks": ("CheckFailed", "FleetMocks"),
    "testing.monitor": ("RecordingMonitor", "Refused", "Registration"),
    "testing.planned_fleet": ("PlannedFleet",),
    "testing.planned_member": ("PlannedMember",),
    "testing.planned_placement": ("PlannedPlacement",),
    "testing.planning": ("plan_fleet_of",),
    "testing.program": ("ProgramRun", "run_program"),
    "testing.rules": (
        "Broken",
        "BrokenRuleError",
        "Violation",
        "at_least",
        "deletes_nothing",
        "fulfilled",
        "loses_at_most",
        "never_together",
        "not_only_together",
        "rule",
        "stays_in",
    ),
}
__all__ = exported(_HOMES)
__getattr__ = lazily(__name__, _HOMES)
