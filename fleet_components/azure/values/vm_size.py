"""VM sizes and their list prices: a dated table in the package, or a table of the user."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from datetime import date
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count
from fleet_components.model.typed import fitted

_COLUMNS = ("size", "vcpus", "memoryMiB", "gpus", "arch")
_HEADER_HINT = f"begin the header with {','.join(_COLUMNS)} and go on with one column a region"


@attrs.frozen
class VmSize:
    """A VM size.

    Attributes:
        name: as Azure writes it, and as nodes have it in the label
            ``beta.kubernetes.io/instance-type``.
        vcpus: usable virtual CPUs.
        memory_mib: nominal memory in MiB; a node reports a few percent less.
        gpus: number of GPUs.
        arch: ``amd64`` or ``arm64``.
        prices: USD per hour by region, on demand, Linux; regions without a price are missing.
    """

    name: str
    vcpus: int
    memory_mib: int
    gpus: int = 0
    arch: str = "amd64"
    prices: Mapping[str, float] = attrs.field(factory=dict, repr=False)


class SizeTable:
    """VM sizes by name, case-insensitive.

    Attributes:
        notes: metadata from the comments of the file: ``sizes-as-of``, ``prices-as-of``, the
            sources, and lists of regions, as ``regions-without-zones``.
    """

    def __init__(
        self, rows: Mapping[str, list[str]], regions: tuple[str, ...], notes: Mapping[str, str]
    ) -> None:
        # Rows remain texts until one is looked up: a program needs a few of many hundred.
        self._rows = rows
        self._regions = regions
        self.notes = notes

    @property
    def complete(self) -> bool:
        """True for a table that has a price of every size wherever it is offered, as that of the
        package.
        """
        return bool(self.notes.get("complete"))

    @property
    def priced(self) -> frozenset[str]:
        """The regions that the table has prices of."""
        return frozenset(self._regions)

    @property
    def regions(self) -> frozenset[str]:
        """The regions that the table knows, with prices or without."""
        return self.priced | frozenset(self.notes.get("regions-without-prices", "").split())

    @property
    def without_zones(self) -> frozenset[str]:
        """The regions that the table says to have no availability zones."""
        return frozenset(self.notes.get("regions-without-zones", "").split())

    def offered_like(self, size: VmSize, region: str) -> list[str]:
        """Return up to three sizes of a region, with as many vCPUs and as much memory as another
        one, by price.
        """
        # Columns 1 to 4 have vCPUs, memory, GPUs and architecture, see ``_COLUMNS``.
        same = [
            found
            # Compared as texts, so that only rows that match are parsed.
            for row in self._rows.values()
            if row[1:5] == [str(size.vcpus), str(size.memory_mib), str(size.gpus), size.arch]
            if region in (found := _size(row, self._regions)).prices
        ]
        return [found.name for found in sorted(same, key=lambda found: found.prices[region])[:3]]

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, name: str) -> VmSize | None:
        """Return the VM size with this name; None if it is not in the table."""
        row = self._rows.get(name.lower())
        return _size(row, self._regions) if row else None

    def similar(self, name: str) -> list[str]:
        """Return up to three similar names of the table."""
        # Keys are in lower case; the first column has the spelling of Azure.
        return [self._rows[key][0] for key in get_close_matches(name.lower(), self._rows, n=3)]

    @property
    def prices_as_of(self) -> str:
        """The date of the prices, as written in the file; empty if missing."""
        return self.notes.get("prices-as-of", "")


@lru_cache(maxsize=1)
def built_in_sizes() -> SizeTable:
    """Return the table of the package: some 1,400 sizes in 57 regions. Its header names sources and
    dates.
    """
    data = files("fleet_components.azure") / "data" / "vm_sizes.csv"
    return parse_sizes(data.read_text(encoding="utf-8"), "vm_sizes.csv")


def read_sizes(path: str | Path) -> SizeTable:
    """Read a user's table, which replaces the built-in one and has the same format.

    Raises:
        FleetError: it cannot be read, has no header, a row has an invalid number, or a date in its
            head is none; with file and line.
    """
    path = fitted(str | Path, path, ("read_sizes", "path"))
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise FleetError(
            [
                Problem(
                    Message(
                        "cannot-read-table-vm",
                        "cannot read the table of VM sizes: {error}",
                        error=error,
                    ),
                    file=str(path),
                )
            ]
        ) from None
    return parse_sizes(text, str(path))


def parse_sizes(text: str, file: str) -> SizeTable:
    """Parse a table from its text; ``file`` is its name in errors.

    Raises:
        FleetError: as :func:`read_sizes`.
    """
    lines = list(enumerate(text.splitlines(), 1))
    notes = notes_in(line for _, line in lines)
    table = [(number, line) for number, line in lines if line.strip() and not line.startswith("#")]
    header = table[0][1].split(",") if table else []
    if tuple(header[: len(_COLUMNS)]) != _COLUMNS:
        raise FleetError(
            [
                Problem(
                    Message("table-vm-sizes-no", "the table of VM sizes has no header"),
                    hint=_HEADER_HINT,
                    file=file,
                    line=1,
                )
            ]
        )
    # Each line by itself: a quotation that is not closed is the problem of its own line.
    rows = [(number, next(csv.reader([line]))) for number, line in table[1:]]
    problems = [*_date_problems(lines, file)]
    problems += [
        problem for number, row in rows for problem in _row_problems(row, len(header), file, number)
    ]
    if problems:
        raise FleetError(problems)
    # Keys in lower case, since ``find`` takes any.
    return SizeTable(
        {row[0].lower(): row for _, row in rows}, tuple(header[len(_COLUMNS) :]), notes
    )


def _date_problems(lines: Iterable[tuple[int, str]], file: str) -> Iterable[Problem]:
    for number, line in lines:
        for name, text in notes_in([line]).items():
            if name.endswith(AS_OF) and day_of(text) is None:
                yield Problem(
                    Message("not-date", '"{text}" is not a date', text=text),
                    (name,),
                    "as in 2026-01-31",
                    file=file,
                    line=number,
                )


def _row_problems(row: list[str], width: int, file: str, line: int) -> Iterable[Problem]:
    if len(row) != width:
        yield Problem(
            Message(
                "row-header",
                "the row has {count}, the header {width}",
                count=count(len(row), "column"),
                width=width,
            ),
            file=file,
            line=line,
        )
        return
    # A size may have no GPU, but always has CPU and memory.
    for column, text in zip(_COLUMNS[1:4], row[1:4], strict=True):
        if not _is_whole(text) or (int(text) == 0 and column != "gpus"):
            yield Problem(
                Message(
                    "column-invalid", '"{text}" is not a valid {column}', text=text, column=column
                ),
                (row[0], column),
                "a whole number",
                file=file,
                line=line,
            )
    # An empty column: the region has no price.
    for price in filter(None, row[len(_COLUMNS) :]):
        if not _is_price(price):
            yield Problem(
                Message("not-price", '"{price}" is not a price', price=price),
                (row[0],),
                "USD an hour, as in 0.192",
                file=file,
                line=line,
            )


def _is_whole(text: str) -> bool:
    # ``isdigit`` alone accepts digits that ``int`` does not, such as a superscript two.
    return text.isascii() and text.isdigit()


def _is_price(text: str) -> bool:
    # ``float`` would also accept signs, exponents and "nan".
    return _is_whole(text.replace(".", "", 1))


def _size(row: list[str], regions: tuple[str, ...]) -> VmSize:
    prices = {
        region: float(price)
        for region, price in zip(regions, row[len(_COLUMNS) :], strict=True)
        if price
    }
    return VmSize(row[0], int(row[1]), int(row[2]), int(row[3]), row[4], prices)


# Notes in the head of a table of the package or of a user: lines such as ``# prices-as-of:
# 2026-06-18``.


_NOTE = re.compile(r"# ([a-z-]+): (.*)")
AS_OF = "-as-of"


def notes_in(lines: Iterable[str]) -> dict[str, str]:
    """Return the notes among the lines of a table, by name."""
    return {note[1]: note[2].strip() for line in lines if (note := _NOTE.match(line))}


def dates_in(notes: Mapping[str, str]) -> dict[str, date]:
    """Return the days as of which a table says what it says, by what they are of; without those
    that are no dates.
    """
    given = {name.removesuffix(AS_OF): text for name, text in notes.items() if name.endswith(AS_OF)}
    return {of: day for of, text in given.items() if (day := day_of(text))}


def day_of(text: str) -> date | None:
    """Return the day that a text such as ``2026-06-18`` is; None if it is none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
