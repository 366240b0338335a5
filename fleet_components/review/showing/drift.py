"""Drift for people: in a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import Console
from rich.text import Text

from fleet_components.live.comparison import REDACTED
from fleet_components.model.text import count, visible
from fleet_components.review.documents.form import Document, to_read
from fleet_components.review.planning.adoption import Adoption
from fleet_components.review.showing.markdown import table
from fleet_components.review.showing.rows import print_indented
from fleet_components.review.showing.words import single_line

_ABSENT = "(absent)"
_SECRET = "has another value, which is secret"


def print_drift(console: Console, document: Document) -> None:
    """Print what differs, member by member."""
    document = to_read(document)
    called = _called(document)
    for member in document["members"]:
        if not member["objects"] and not member["unreached"]:
            continue
        print_indented(console, Text(called(member), "bold"), 0)
        if member["unreached"]:
            print_indented(console, Text(f"! {single_line(member['unreached'])}", "red"))
        for item in member["objects"]:
            print_indented(
                console,
                Text(
                    f"{_mark(item)} {_name(item)} of {item['subject']}{_fate(item)}", _style(item)
                ),
            )
            for each in item["differences"]:
                print_indented(console, Text(f"{each['path']}: {_values(each)}"), 4)
    for line in (summary(document), *_caution(document)):
        print_indented(console, Text(line), 0)


def print_adoption(console: Console, adopted: Adoption) -> None:
    """Print what could not be written into the source."""
    for name, why in adopted.by_hand.items():
        print_indented(console, Text(f"{visible(name)}: {single_line(visible(why))}"), 0)
    if not adopted.edits and not adopted.by_hand:
        print_indented(console, Text("nothing has drifted: there is nothing to adopt"), 0)
    console.print()


def drift_markdown(document: Document) -> str:
    """Return what differs as Markdown, for a comment or a summary."""
    document = to_read(document)
    called = _called(document)
    rows = [row for member in document["members"] for row in _rows(member, called(member))]
    lines = table(("member", "object", "field", "delivered", "there", "what"), rows) if rows else ()
    above = [line for text in (summary(document), *_caution(document)) for line in (text, "")]
    return "\n".join(["### Drift", "", *above, *lines]).rstrip() + "\n"


def _called(document: Document) -> Callable[[Document], str]:
    """Return what members are called: by their names, in a stack of several fleets after that of
    the fleet.
    """
    several = len({member["fleet"] for member in document["members"]}) > 1
    return lambda member: f"{member['fleet']}/{member['name']}" if several else str(member["name"])


def _rows(member: Document, name: str) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a member: one for each field, each object that could not be compared, and
    its own silence.
    """
    if member["unreached"]:
        yield name, "", "", "", "", member["unreached"]
    for item in member["objects"]:
        if not item["differences"]:
            yield name, _name(item), "", "", "", _fate(item).removeprefix(": ")
        for each in item["differences"]:
            yield name, _name(item), each["path"], *_sides(each), _fate(item).removeprefix(": ")


def summary(document: Document) -> str:
    """Return the outcome in a line."""
    totals = document["totals"]
    parts = [f"{count(totals['changed'], 'object')} changed by hand"] if totals["changed"] else []
    parts += [f"{count(totals['missing'], 'object')} missing"] if totals["missing"] else []
    of = (
        f"of {count(totals['compared'], 'object')} compared on {count(totals['members'], 'member')}"
    )
    uncompared = totals["objects"] - totals["compared"]
    rest = f"; {count(uncompared, 'object')} not compared" if uncompared else ""
    return f"{', '.join(parts) or 'no drift'}, {of}{rest}"


def _caution(document: Document) -> Iterator[str]:
    """Yield how far the comparison can be relied on, where that has to be said."""
    number = document["totals"]["unrecorded"]
    if number:
        why = "an update broke there, or the state hides what it recorded"
        what = "what a pulumi refresh has taken over is not seen"
        yield f"{count(number, 'object')} compared with the state alone: {why}; {what}"


def _name(document: Document) -> str:
    return (
        f"{document['kind']} {document['namespace']}/{document['name']}"
        if document["namespace"]
        else f"{document['kind']} {document['name']}"
    )


def _fate(document: Document) -> str:
    if document["missing"]:
        return ": missing, somebody has deleted it"
    words = document["error"] or document["then"]
    return f": {single_line(words)}" if words else ""


def _mark(document: Document) -> str:
    return "-" if document["missing"] else "~" if document["differences"] else "!"


def _style(document: Document) -> str:
    return "yellow" if document["differences"] else "red"


def _values(each: Document) -> str:
    return _SECRET if each["delivered"] == each["there"] == REDACTED else " -> ".join(_sides(each))


def _sides(each: Document) -> tuple[str, str]:
    wanted, there = (
        _ABSENT if each[side] is None else single_line(each[side])
        for side in ("delivered", "there")
    )
    return wanted, there
