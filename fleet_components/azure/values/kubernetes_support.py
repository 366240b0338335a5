"""Support of Kubernetes versions by AKS: a dated table in the package, and warnings of versions that are past it.

A version out of support is a warning and no error: a cluster that has it keeps running, and Azure moves the dates.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from importlib.resources import files

import attrs

from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.kubernetes_version import numbers
from fleet_components.azure.values.member import FleetMember
from fleet_components.azure.values.notes import dates_in, notes_in
from fleet_components.model.problem import Problem
from fleet_components.model.text import few

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
        """Return the minor versions that are supported on a day without long-term support, oldest first."""
        return [_text(minor) for minor, support in sorted(self.versions.items()) if support.ends >= today]

    def warnings(self, members: Iterable[FleetMember], today: date) -> Iterator[Problem]:
        """Yield one warning for each declared version that is out of support on a day, with the members that have it.

        A version that is newer than the table says nothing.
        """
        found: dict[str, list[str]] = defaultdict(list)
        for member in members:
            if isinstance(member, AksMember) and member.kubernetes_version:
                minor = numbers(member.kubernetes_version)[:2]
                if what := self._ended(minor, today, long_term=member.long_term_support):
                    found[f"Kubernetes {_text(minor)} is {what}, as of {self.as_of}"].append(member.name)
        for what, names in found.items():
            hint = f"in support: {', '.join(self.supported(today)) or 'none that this package knows: upgrade it'}"
            yield Problem(f"{what}: {few(names, _SHOWN)}", hint=hint)

    def _ended(self, minor: _Minor, today: date, *, long_term: bool) -> str:
        """Return what has become of a version's support; empty if it is supported or unknown."""
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
        numbers(row["version"]): Support(*(date.fromisoformat(row[end]) for end in ("supported", "longTermSupported")))
        for row in rows
    }
    return SupportTable(versions, dates_in(notes_in(lines))["versions"])


def _text(minor: _Minor) -> str:
    return ".".join(map(str, minor))
