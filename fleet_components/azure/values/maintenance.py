"""Maintenance windows: when AKS and update runs may upgrade a cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from fleet_components.azure.values import checks
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Typed

CONFIGURATIONS = {"cluster": "aksManagedAutoUpgradeSchedule", "nodeImages": "aksManagedNodeOSUpgradeSchedule"}
"""The names that AKS reserves for the schedules of Kubernetes upgrades and of node image upgrades."""

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@attrs.frozen
class MaintenanceWindow(Typed):
    """A weekly maintenance window.

    Attributes:
        upgrades: what it applies to: ``cluster`` (Kubernetes versions) or ``nodeImages``.
        day: the day of the week, as ``Monday``.
        start: the time of day at which it opens, as HH:MM; 01:00 by default.
        hours: its length in hours, 4 to 24; 4 by default.
        every_weeks: the interval in weeks, 1 to 4; 1 by default.
        utc_offset: UTC offset of ``start``, as +HH:MM or -HH:MM; +00:00 by default.
    """

    upgrades: str
    day: str
    start: str = "01:00"
    hours: int = 4
    every_weeks: int = 1
    utc_offset: str = "+00:00"

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        yield from checks.choice_of(self.upgrades, CONFIGURATIONS, (*path, "upgrades"))
        yield from checks.choice_of(self.day, _DAYS, (*path, "day"))
        if not re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9]", self.start):
            yield Problem(f'"{self.start}" is not a time of day', (*path, "start"), "HH:MM, for example 01:00")
        yield from checks.in_range(self.hours, 4, 24, (*path, "hours"))
        yield from checks.in_range(self.every_weeks, 1, 4, (*path, "everyWeeks"))
        if not re.fullmatch("[+-](0[0-9]|1[0-4]):[0-5][0-9]", self.utc_offset):
            yield Problem(f'"{self.utc_offset}" is not an offset', (*path, "utcOffset"), "for example +01:00")
