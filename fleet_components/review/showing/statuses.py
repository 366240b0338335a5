"""Statuses for people: first what went wrong and how to go on, then every placement, member or
object in a row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from fleet_components.model.text import count, few
from fleet_components.plan.ways import NAMES
from fleet_components.review.documents.form import Document, member_of, title_of, to_read
from fleet_components.review.documents.headline import subjects_in_words
from fleet_components.review.showing.markdown import escaped, fitted, folded, table
from fleet_components.review.showing.rows import Row, print_indented, print_rows
from fleet_components.review.showing.words import single_line
from fleet_components.status.stand import Stand

PLACEMENT, MEMBER, OBJECT = "placement", "member", "object"
BY = (PLACEMENT, MEMBER, OBJECT)
_STORIES, _TROUBLES, _WORDS, _LONGEST, _FINE_SHOWN, _SHOWN = 3, 3, 4, 240, 8, 5
"""The most that is told of each, so that it fits a screen of 80 columns and 40 lines."""
_VERBS: Mapping[str, str] = {
    Stand.REFUSED: "was refused",
    Stand.NOT_TAKEN_OVER: "stands there already, and is not taken over",
    Stand.NOT_COMPARED: "could not be compared",
    Stand.UNREACHED: "does not answer",
    Stand.UNFINISHED: "is unfinished",
    Stand.UNREADY: "is not ready",
    Stand.UNDELETED: "was not deleted",
    Stand.MISSING: "is missing",
}
_STYLES: Mapping[str, str] = {
    Stand.HELD: "magenta",
    Stand.NOT_BEGUN: "magenta",
    Stand.LEAVING: "red",
}


def print_statuses(console: Console, document: Document, by: str | None = None) -> None:
    """Print the statuses; without ``by`` a line for each placement."""
    document = to_read(document)
    print_stories(console, document)
    if any(map(_is_broken, document["subjects"])):
        console.print()
    for title, tables in blocks(document, by):
        if title:
            print_indented(console, Text(title, "bold cyan"), 0)
        for header, rows in tables:
            print_rows(console, header, rows)
        if title:
            console.print()
    for line in notes(document):
        print_indented(console, Text(line, "yellow"), 0)
    print_indented(console, Text(summary(document), "bold"), 0)


def statuses_markdown(document: Document, by: str | None = None) -> str:
    """Return the statuses in GitHub's Markdown, always shorter than ``LIMIT``."""
    document = to_read(document)
    parts = ["### Fleet status\n", f"{escaped(summary(document))}\n"]
    parts += (f"> {escaped(line)}\n" for line in notes(document))
    parts += (f"{'  ' * level}- {escaped(line)}" for _, level, line in stories(document))
    folding = [_block(title, tables) for title, tables in blocks(document, by)]
    return fitted("\n".join([*parts, ""]), folding, "fleet status")


def _block(title: str, tables: Sequence[Table]) -> tuple[str, str]:
    lines = []
    for header, rows in tables:
        lines += [
            *table((*header.cells, header.text), [(*row.cells, row.text) for row in rows]),
            "",
        ]
    return (
        ("\n".join(["", *lines]), "placements")
        if not title
        else (folded(escaped(title), lines), escaped(title))
    )


def print_stories(console: Console, document: Document) -> None:
    """Print what went wrong."""
    for style, level, line in stories(to_read(document)):
        print_indented(console, Text(line, style), 2 * level)


def stories(document: Document) -> Iterator[tuple[str, int, str]]:
    """Yield what went wrong with the placements, each line with its style and its level."""
    broken = list(filter(_is_broken, document["subjects"]))
    for subject in broken[:_STORIES]:
        yield from _story(document, subject)
    more = broken[_STORIES:]
    if more:
        yield (
            "red",
            0,
            (
                f"broken too: {few([title_of(item) for item in more], _SHOWN)}; --only shows one of"
                " them"
            ),
        )


def _story(document: Document, subject: Document) -> Iterator[tuple[str, int, str]]:
    """Yield the story of one placement: what broke where, what was said, what stands, what comes,
    how to go back.
    """
    troubles = subject["broken"]
    members = sorted({name for trouble in troubles for name in trouble["members"]})
    what = f"broke in wave {subject['wave']}" if subject["wave"] else "is not as decided"
    yield "bold red", 0, f"{title_of(subject)} {what} on {few(members, _SHOWN)}"
    for item in troubles[:_TROUBLES]:
        yield "red", 1, _trouble(item)
        yield from (("", 2, _cut(line)) for line in item["words"][:_WORDS])
        if not item["words"] and not document["live"]:
            yield "dim", 2, _why_not(document)
    more = troubles[_TROUBLES:]
    if more:
        yield "red", 1, f"and {few([_trouble(item) for item in more], 2)}"
    yield "", 1, f"stands: {'; '.join(subject['stands'])}"
    yield "", 1, f"next: {'; '.join(subject['next'])}"
    yield from (("", 1, f"mend: {line}") for line in subject["mend"])
    yield "", 1, f"back: {subject['back']}"


def _why_not(document: Document) -> str:
    mends = "pulumi up --refresh brings back what somebody has deleted there"
    if document["events"]:
        return f"neither the state nor the events say why: --live asks the members; {mends}"
    asks = "--live asks the members, --events FILE has what the update said"
    return f"the state does not say why: {asks}; {mends}"


def _trouble(document: Document) -> str:
    where = few(document["members"], _SHOWN)
    verb = _VERBS.get(document["state"], document["state"])
    if document["state"] == Stand.UNREACHED and len(document["members"]) > 1:
        verb = "do not answer"
    return f"{document['object']} on {where} {verb}" if document["object"] else f"{where} {verb}"


Table = tuple[Row, list[Row]]
"""A header and the rows below it."""


def blocks(document: Document, by: str | None) -> Iterator[tuple[str, list[Table]]]:
    """Yield what a view shows, a title with its tables; the titles are empty where there is but one
    table.
    """
    yield from _of_hub(document)
    subjects = [
        item
        for item in document["subjects"]
        if not item["undelivered"] and item["delivery"] == "direct"
    ]
    header = Row(("placement", "runs", "state"), "what", "bold")
    match by:
        case None:
            if subjects:
                yield (
                    "",
                    [(Row(("placement", "revision"), "members", "bold"), list(_lines(subjects)))],
                )
        case "placement":
            for subject in subjects:
                yield title_of(subject), list(_of_placement(subject))
        case "object":
            for subject in subjects:
                yield (
                    title_of(subject),
                    [(Row(("object",), "state", "bold"), list(_by_object(subject)))],
                )
        case "member":
            for name in _members(subjects):
                yield name, [(header, list(_on_member(subjects, name)))]


def _of_hub(document: Document) -> Iterator[tuple[str, list[Table]]]:
    """Yield what a hub has made of the subjects that it carries out, beside the forecast."""
    for subject in document["subjects"]:
        found = subject["onHub"]
        if found is None:
            continue
        title = f"{title_of(subject)} on the hub of {NAMES[subject['delivery']]}"
        if found["missing"]:
            yield (
                title,
                [
                    (
                        Row(("it",), "why", "bold"),
                        [Row(("is not there",), "the hub has no such object", "red")],
                    )
                ],
            )
            continue
        wrong = [
            condition for condition in found["conditions"] if condition.get("status") != "True"
        ]
        rows = [
            Row(
                (row["name"], row["forecast"], row["hub"]),
                single_line("; ".join(row["causes"])),
                _style_on_hub(row),
            )
            for row in found["members"]
        ]
        tables = [(Row(("member", "forecast", "hub"), "why", "bold"), rows)]
        if wrong:
            lines = [
                Row(
                    (item["type"].removeprefix(subject["kind"]),),
                    single_line(f"{item.get('reason')}: {item.get('message')}"),
                )
                for item in wrong
            ]
            tables.append((Row(("condition",), "why", "bold"), lines))
        yield title, tables


def _style_on_hub(row: Document) -> str:
    if row["differs"]:
        return "red"
    return "" if row["fine"] else "yellow"


def _of_placement(subject: Document) -> Iterator[Table]:
    if subject["conditions"]:
        yield Row(("condition", "status"), "why", "bold"), list(_conditions(subject))
    yield Row(("member", "runs", "state"), "what", "bold"), list(_by_member(subject))


def _lines(subjects: Sequence[Document]) -> Iterator[Row]:
    """Yield a row for each placement; where some are broken, only a few of the fine ones."""
    broken = any(map(_is_broken, subjects))
    shown = 0
    for subject in sorted(subjects, key=lambda data: not _is_broken(data)) if broken else subjects:
        shown += not _is_broken(subject)
        if broken and shown > _FINE_SHOWN:
            continue
        states = Counter(row["state"] for row in subject["members"])
        style = "red" if _is_broken(subject) else "" if _is_settled(subject) else "yellow"
        words = ", ".join(f"{number} {state}" for state, number in states.items()) or "no member"
        whys = dict.fromkeys(
            row["why"] for row in subject["members"] if row["why"] and not row["broken"]
        )
        held = (
            f": {single_line(next(iter(whys)))}"
            if len(whys) == 1 and not _is_broken(subject)
            else ""
        )
        unfulfilled = f"; {single_line(subject['unfulfilled'])}" if subject["unfulfilled"] else ""
        yield Row(
            (title_of(subject), _text(subject["revision"])), words + held + unfulfilled, style
        )
    if broken and shown > _FINE_SHOWN:
        yield Row((f"and {count(shown - _FINE_SHOWN, 'more')}", ""), "as decided")


def _conditions(subject: Document) -> Iterator[Row]:
    for condition in subject["conditions"]:
        name, style = (
            condition["type"].removeprefix(subject["kind"]),
            "" if condition["status"] == "True" else "yellow",
        )
        yield Row(
            (name, condition["status"]),
            f"{condition['reason']}: {single_line(condition['message'])}",
            style,
        )


def _by_member(subject: Document) -> Iterator[Row]:
    for row in subject["members"]:
        yield Row((row["name"], _runs(row), row["state"]), _what(row), _style(row))


def _on_member(subjects: Iterable[Document], name: str) -> Iterator[Row]:
    for subject in subjects:
        for row in subject["members"]:
            if member_of(subject["ofFleet"], row["name"]) == name:
                yield Row((title_of(subject), _runs(row), row["state"]), _what(row), _style(row))


def _by_object(subject: Document) -> Iterator[Row]:
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in subject["members"]:
        for item in row["objects"]:
            waits = item["state"] == Stand.MISSING and not row["broken"]
            found[item["object"]][row["state"] if waits else item["state"]].append(row["name"])
    for key, states in found.items():
        words = "; ".join(f"{state} on {few(names, _SHOWN)}" for state, names in states.items())
        yield Row((key,), words, "red" if any(Stand(state).broken for state in states) else "")


def _what(row: Document) -> str:
    """Return what is to be said of a placement on a member in a line."""
    parts = [single_line(row["why"])] if row["why"] else []
    for item in row["objects"]:
        if item["broken"] and item["words"] and single_line(item["words"][0]) not in parts:
            parts.append(f"{item['object']}: {single_line(_cut(item['words'][0]))}")
        if item["differences"]:
            fields = [difference["path"] for difference in item["differences"]]
            parts.append(
                f"{item['object']}: {few(fields, 3)} {'differs' if len(fields) == 1 else 'differ'}"
            )
    return "; ".join(parts[:_TROUBLES])


def _runs(row: Document) -> str:
    """Return the revision that runs on a member, and the one that was sent to it: ``0 -> 1``."""
    runs, sent = row["runs"], row["sent"]
    if sent is None or sent == runs:
        return _text(runs)
    return f"{_text(runs)} -> {sent}".strip()


def _style(row: Document) -> str:
    return "red" if row["broken"] else _STYLES.get(row["state"], "")


def notes(document: Document) -> Iterator[str]:
    """Yield what has to be known to read it aright."""
    subjects = document["subjects"]
    new = [title_of(subject) for subject in subjects if subject["undelivered"]]
    changed = [
        title_of(subject)
        for subject in subjects
        if subject["changed"] and not subject["undelivered"]
    ]
    if document["interrupted"]:
        yield (
            "the last update was killed: pulumi cancel if the stack is still locked, then pulumi up"
        )
    unasked = [
        title_of(subject)
        for subject in subjects
        if subject["delivery"] != "direct" and subject["onHub"] is None
    ]
    if unasked:
        yield f"a hub carries out {few(unasked, _SHOWN)}: --hub KUBECONFIG asks it"
    if changed:
        what = "this is of the last update; fleet plan shows the next one"
        yield f"the source has changed since for {few(changed, _SHOWN)}: {what}"
    if new:
        yield f"not delivered by any update yet: {few(new, _SHOWN)}"
    if document["gone"]:
        yield (
            "no longer in the source, and standing until the next update:"
            f" {few(document['gone'], _SHOWN)}"
        )
    yield from (
        f"the next update is refused: {single_line(problem)}" for problem in document["refused"][:1]
    )


def _members(subjects: Iterable[Document]) -> list[str]:
    """Return the members of all subjects, each after its fleet where a program has several."""
    return sorted(
        {
            member_of(subject["ofFleet"], row["name"])
            for subject in subjects
            for row in subject["members"]
        }
    )


def summary(document: Document) -> str:
    """Return the summary: ``2 placements on 3 members: 5 of 6 available``."""
    rows = [row for subject in document["subjects"] for row in subject["members"]]
    members = len(_members(document["subjects"]))
    fine = sum(row["settled"] for row in rows)
    templates = sum(item["kind"] == "Template" for item in document["subjects"])
    placements = subjects_in_words(len(document["subjects"]) - templates, templates)
    on_hub = [
        row
        for subject in document["subjects"]
        if subject["onHub"]
        for row in subject["onHub"]["members"]
    ]
    if on_hub:
        alike = sum(not row["differs"] for row in on_hub)
        counted = (
            f"{alike} of {len(on_hub)} as forecast, {sum(row['fine'] for row in on_hub)} of them"
            " well, as the hub says"
        )
        if not rows:
            return (
                f"{placements} on {count(len({row['name'] for row in on_hub}), 'member')}:"
                f" {counted}"
            )
        placements = f"{placements}: {counted}; directly"
    from_where = "as the members say" if document["live"] else "as the last update left it"
    return (
        f"{placements} on {count(members, 'member')}: {fine} of {len(rows)} as decided,"
        f" {from_where}"
    )


def _is_broken(subject: Document) -> bool:
    return bool(subject["broken"])


def _is_settled(subject: Document) -> bool:
    return all(row["settled"] for row in subject["members"])


def _text(number: int | None) -> str:
    return "" if number is None else str(number)


def _cut(line: str) -> str:
    line = single_line(line)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
