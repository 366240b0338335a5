"""A sweep in a terminal and as Markdown: what is lost, what is short then, and where it goes."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from fleet_components.model.text import count, few
from fleet_components.plan.names import TEMPLATE_KIND
from fleet_components.review.documents.form import Document, to_read
from fleet_components.review.documents.headline import refused_as, subjects_in_words
from fleet_components.review.planning.selection import MEMBER
from fleet_components.review.showing.markdown import escaped, fitted, folded, table
from fleet_components.review.showing.rows import Row, print_indented, print_rows

_HEADER = ("lost", "members", "short", "moved", "held")
_TEXT = "what is short, and where it goes"
_MOST_NAMED = 5
_MOST_ROWS = 100


def print_sweep(console: Console, document: Document) -> None:
    """Print a sweep: in short first, then every loss, the worst first."""
    document = to_read(document)
    for line in _first(document):
        print_indented(console, Text(line), 0)
    for line in _already(document):
        print_indented(console, Text(line, "yellow"), 0)
    console.print()
    print_rows(console, Row(_HEADER, _TEXT, "bold"), [_row(loss) for loss in document["losses"]])
    for line in _refused(document):
        print_indented(console, Text(line, "bold red"), 0)


def sweep_markdown(document: Document) -> str:
    """Return a sweep in GitHub's Markdown: the losses as a table, then what each of them leaves
    short, folded.
    """
    document = to_read(document)
    lines = [f"{escaped(line)}\n" for line in (*_first(document), *_already(document))]
    rows = [(*_cells(item), _text(item)) for item in document["losses"][:_MOST_ROWS]]
    whole = "\n".join(table((*_HEADER, _TEXT), rows)) + _further(document)
    refused = [f"- {escaped(line)}" for line in _refused(document)]
    blocks = [
        (
            folded(_title(loss), [f"- {escaped(_whole(short))}" for short in loss["short"]]),
            _title(loss),
        )
        for loss in document["losses"]
        if loss["short"]
    ]
    return fitted(
        "\n".join(["### Fleet sweep\n", *lines, whole, "", *refused]),
        blocks,
        "fleet simulate --sweep",
    )


def _further(document: Document) -> str:
    """Return how many losses the table leaves out, so that a comment is not cut in the middle of
    it.
    """
    more = document["losses"][_MOST_ROWS:]
    short = sum(bool(item["short"]) for item in more)
    return (
        f"\n\nand {count(len(more), 'more loss')}, of which {short} leave something short"
        if more
        else ""
    )


def sweep_words(document: Document) -> str:
    """Return a sweep in one sentence."""
    bad = [loss for loss in document["losses"] if loss["short"]]
    by, number = document["by"], len(document["losses"])
    each = (
        count(number, "member")
        if by == MEMBER
        else count(number, f"value of {by}", f"values of {by}")
    )
    if not bad:
        return f"nothing would be short, whichever of {each} is lost"
    names = {short["subject"] for item in bad for short in item["short"]}
    templates = sum(name.startswith(f"{TEMPLATE_KIND}/") for name in names)
    short = subjects_in_words(len(names) - templates, templates)
    return f"{short} would be short: {len(bad)} of {each} cannot be lost without that"


def _first(document: Document) -> Iterator[str]:
    yield sweep_words(document)
    if document["supposed"]:
        yield f"supposed, and carried out before each loss: {'; '.join(document['supposed'])}"
    never = (
        f"; without a value, and never lost: {few(document['neverLost'])}"
        if document["neverLost"]
        else ""
    )
    yield f"starting from {document['start']}{never}"


def _already(document: Document) -> Iterator[str]:
    for item in document["shortAlready"]:
        yield f"short before any loss: {_whole(item)}"


def _refused(document: Document) -> Iterator[str]:
    for loss in document["losses"]:
        called = refused_as({**loss, "observed": document["observed"]})
        for problem in loss["refused"]:
            where = f"{problem['subject']}: " if problem["subject"] else ""
            hint = f" ({problem['hint']})" if problem["hint"] else ""
            yield f"{called} once {loss['lost']} is lost: {where}{problem['what']}{hint}"


def _row(lost: Document) -> Row:
    return Row(_cells(lost), _text(lost), "red" if lost["short"] else "")


def _cells(lost: Document) -> tuple[str, ...]:
    numbers = (len(lost["short"]), lost["moved"], lost["held"])
    return (
        lost["lost"],
        str(len(lost["members"])),
        *(str(number) if number else "" for number in numbers),
    )


def _text(lost: Document) -> str:
    parts = [few([_shortage(item) for item in lost["short"]], _MOST_NAMED)] if lost["short"] else []
    gains = list(_gains(lost))
    return "; ".join([*parts, *([few(gains, _MOST_NAMED)] if gains else [])])


def _gains(lost: Document) -> Iterator[str]:
    """Yield what each member gets: ``a +2`` for two placements, ``b +3 replicas``, ``c +1 with 4
    replicas``.
    """
    joins, replicas = lost["joins"], lost["replicas"]
    for name in dict.fromkeys((*joins, *replicas)):
        more = count(replicas[name], "replica") if name in replicas else ""
        if name in joins:
            yield f"{name} +{joins[name]}" + (f" with {more}" if more else "")
        else:
            yield f"{name} +{more}"


def _shortage(short: Document) -> str:
    return f"{short['subject'].partition('/')[2]} {_left(short)}"


def _left(short: Document) -> str:
    """Return how much is left: members, and replicas where they are divided."""
    members, replicas = short["members"], short["replicas"]
    if members["new"] == 0:
        return "on no member"
    on = (
        f"on {members['new']} instead of {members['old']}"
        if members["new"] != members["old"]
        else f"on {members['new']}"
    )
    return on + (
        f", {replicas['new']} of {replicas['old']} replicas"
        if replicas and replicas["new"] != replicas["old"]
        else ""
    )


def _whole(short: Document) -> str:
    return f"{short['subject']} {_left(short)}: {short['why']}"


def _title(lost: Document) -> str:
    return f"<b>{escaped(lost['lost'])}</b> lost: {len(lost['short'])} short"
