"""Tables and constants of Azure that age, with the day as of which Azure's own text or price list
said so.

A plan warns once per fleet of what is older than :data:`PATIENCE`.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from importlib.resources import files

import attrs

from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.kubernetes_version import numbers
from fleet_components.azure.values.member import FleetMember
from fleet_components.azure.values.vm_size import SizeTable, dates_in, notes_in
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.text import few

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
    ROLES: date(2026, 11, 22),  # components/arm.py: "Azure built-in roles"
    # components/arm.py: the newest one without "preview" in Azure's own API types.
    FLEET_API: date(2026, 8, 20),
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


def age_warnings(
    members: Iterable[FleetMember], table: SizeTable, today: date
) -> Iterator[Problem]:
    """Yield warnings of what has aged at the time of a plan: of the tables one, and one per
    Kubernetes version.

    Args:
        members: the declared members; without any, nothing is warned of.
        table: the table of sizes in use.
        today: the day of the plan.
    """
    members = tuple(members)
    old = [each for each in dated(table) if today - each.as_of > PATIENCE]
    if members and old:
        own = (
            ", or give a table of your own: sizes=read_sizes(PATH)"
            if any(each.own for each in old)
            else ""
        )
        what = Message(
            "azure-tables-outdated",
            "what is known of Azure is more than {days} days old on {today}: {old}",
            days=PATIENCE.days,
            today=today,
            old=", ".join(map(str, old)),
        )
        yield Problem(what, hint=f"upgrade fleet-components{own}")
    yield from kubernetes_support().warnings(members, today)


# Support of Kubernetes versions by AKS: a dated table in the package, and warnings of versions
# that are past it.
#
# A version out of support is a warning and no error: a cluster that has it keeps running, and
# Azure moves the dates.


_SHOWN = 5
_Minor = tuple[int, ...]


@attrs.frozen
class Support:
    """The support of a minor version.

    Attributes:
        ends: its last day.
        long_term_ends: its last day with long-term support.
    """

    ends: date
    long_term_ends: date


@attrs.frozen
class SupportTable:
    """The minor versions that the package knows.

    Attributes:
        versions: their support.
        as_of: the day of the vendor's text.
    """

    versions: Mapping[_Minor, Support]
    as_of: date

    def supported(self, today: date) -> list[str]:
        """Return the minor versions that are supported on a day without long-term support, oldest
        first.
        """
        return [
            _text(minor)
            for minor, support in sorted(self.versions.items())
            if support.ends >= today
        ]

    def warnings(self, members: Iterable[FleetMember], today: date) -> Iterator[Problem]:
        """Yield one warning for each declared version that is out of support on a day, with the
        members that have it.

        A version that is newer than the table says nothing.
        """
        found: dict[str, list[str]] = defaultdict(list)
        for member in members:
            if isinstance(member, AksMember) and member.kubernetes_version:
                minor = numbers(member.kubernetes_version)[:2]
                what = self._ended(minor, today, long_term=member.long_term_support)
                if what:
                    found[f"Kubernetes {_text(minor)} is {what}, as of {self.as_of}"].append(
                        member.name
                    )
        for what, names in found.items():
            hint = (
                "in support:"
                f" {', '.join(self.supported(today)) or 'none that this package knows: upgrade it'}"
            )
            yield Problem(
                Message(
                    "azure-version-unknown", "{what}: {names}", what=what, names=few(names, _SHOWN)
                ),
                hint=hint,
            )

    def _ended(self, minor: _Minor, today: date, *, long_term: bool) -> str:
        """Return what has become of a version's support; empty if it is supported or unknown."""
        # Older than every version in the table: the day of its end is not known.
        if minor < min(self.versions):
            return "out of support"
        support = self.versions.get(minor)
        if support is None or support.ends >= today:
            return ""
        if support.long_term_ends < today:
            return f"out of support since {support.long_term_ends}, also with longTermSupport"
        if long_term:
            return ""
        until = f"until {support.long_term_ends} it is supported only with longTermSupport"
        return f"out of support since {support.ends} ({until})"


@lru_cache(maxsize=1)
def kubernetes_support() -> SupportTable:
    """Return the table of the package. Its header names source and date."""
    data = files("fleet_components.azure") / "data" / "kubernetes_versions.csv"
    lines = data.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    versions = {
        numbers(row["version"]): Support(
            *(date.fromisoformat(row[end]) for end in ("supported", "longTermSupported"))
        )
        for row in rows
    }
    # The table of the package always has this note.
    return SupportTable(versions, dates_in(notes_in(lines))["versions"])


def _text(minor: _Minor) -> str:
    return ".".join(map(str, minor))
