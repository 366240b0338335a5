"""Tables and constants of Azure that age, with the day as of which Azure's own text or price list said so.

A plan warns once per fleet of what is older than :data:`PATIENCE`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta

import attrs

from fleet_components.azure.values.kubernetes_support import kubernetes_support
from fleet_components.azure.values.member import FleetMember
from fleet_components.azure.values.notes import dates_in
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.model.problem import Problem

PATIENCE = timedelta(days=365)
IN_TABLES = {"sizes": "VM sizes", "prices": "list prices", "zones": "regions without zones"}
"""Names of what tables of sizes have dates of."""


@attrs.frozen
class Dated:
    """Something that ages.

    Attributes:
        name: its name, for messages.
        as_of: the day as of which it was right.
        own: whether a table of the user's own can take its place.
    """

    name: str
    as_of: date
    own: bool = False

    def __str__(self) -> str:
        return f"{self.name} of {self.as_of}"


FEES, ROLES, FLEET_API = "fees of control planes", "built-in roles", "API version of fleets"
CONSTANTS: Mapping[str, date] = {
    FEES: date(2026, 11, 22),  # values/cost.py: Azure's price list of AKS
    ROLES: date(2026, 11, 22),  # components/roles.py: "Azure built-in roles"
    FLEET_API: date(2026, 8, 20),  # components/arm.py: the newest one without "preview" in Azure's own API types
}
"""Facts that are written in code, with their days."""


def dated(table: SizeTable) -> list[Dated]:
    """Return everything that ages, with the dates of a table of sizes as far as it has any."""
    dates = dates_in(table.notes)
    return [
        *(Dated(name, dates[of], own=True) for of, name in IN_TABLES.items() if of in dates),
        Dated("Kubernetes versions", kubernetes_support().as_of),
        *(Dated(name, as_of) for name, as_of in CONSTANTS.items()),
    ]


def day_of_plan(as_of: datetime | None) -> date:
    """Return the day of a plan, in UTC; without a time of its own that of the clock."""
    return (as_of or datetime.now(UTC)).astimezone(UTC).date()


def age_warnings(members: Iterable[FleetMember], table: SizeTable, today: date) -> Iterator[Problem]:
    """Yield warnings of what has aged at the time of a plan: of the tables one, and one per Kubernetes version.

    Args:
        members: the declared members; without any, nothing is warned of.
        table: the table of sizes in use.
        today: the day of the plan.
    """
    members = tuple(members)
    old = [each for each in dated(table) if today - each.as_of > PATIENCE]
    if members and old:
        own = ", or give a table of your own: sizes=read_sizes(PATH)" if any(each.own for each in old) else ""
        what = f"what is known of Azure is more than {PATIENCE.days} days old on {today}: {', '.join(map(str, old))}"
        yield Problem(what, hint=f"upgrade fleet-components{own}")
    yield from kubernetes_support().warnings(members, today)
