"""The plan as a comment on a pull request: a summary, and the details of each placement folded away."""

from __future__ import annotations

from collections.abc import Iterable

from fleet_components.cli.documents.form import Document
from fleet_components.cli.showing import words

LIMIT = 60_000
"""GitHub cuts comments at 65,536 characters."""

_RESERVE = 500
_HEADER = ("| member | what | wave | revision | score | why |", "| --- | --- | --- | --- | --- | --- |")
_TEMPLATE_HEADER = ("| member | what | replicas | revision | why |", "| --- | --- | --- | --- | --- |")
_SIGNS = {"create": "+", "delete": "-", "update": "~"}
_VALUE_SHOWN = 200


def to_markdown(document: Document, *, diff: bool = False) -> str:
    """The plan in GitHub's markdown, always shorter than ``LIMIT``; what is left out is said at the end."""
    parts = [f"### Fleet plan\n\n{_escaped(words.summary(document))}\n"]
    if counts := document["totals"].get("resources"):
        parts.append(f"Resources: {words.resource_counts(counts)}\n")
    parts += [f"> {m['level']}: {_escaped(m['text'])}\n" for m in document.get("messages", ())]
    if line := words.confirmation(document):
        parts.append(f"> {_escaped(line)}\n")
    blocks = [(_block(placement, diff), _title(placement)) for placement in document["placements"]]
    blocks += [(_template_block(template), _title(template)) for template in document.get("templates", ())]
    return _fitted("\n".join(parts), blocks)


def _fitted(text: str, blocks: Iterable[tuple[str, str]]) -> str:
    """The text with each block, or else with its title alone, as far as they fit."""
    room = LIMIT - _RESERVE
    text = text[:room]
    folded = dropped = 0
    for block, title in blocks:
        line = f"\n- {title}\n"
        if len(text) + len(block) <= room:
            text += block
        elif len(text) + len(line) <= room:
            text += line
            folded += 1
        else:
            dropped += 1
    notes = ((folded, "the details of {}"), (dropped, "{} altogether"))
    cut = " and ".join(note.format(words.count(number, "placement")) for number, note in notes if number)
    return text + (f"\n_Cut to {LIMIT:,} characters: left out {cut}; `fleet plan` shows all._\n" if cut else "")


def _title(placement: Document) -> str:
    changes = dict.fromkeys(("joins", "updated", "leaves", "held", "stays"), 0)
    for cluster in placement["clusters"]:
        changes[cluster["change"]] += 1
    kind = placement.get("kind", "Template")
    return f"{_escaped(kind)} <b>{_escaped(placement['key'])}</b>: {words.changes(changes)}"


def _block(placement: Document, diff: bool) -> str:
    lines = [_escaped(words.headline(placement)), ""]
    if placement["clusters"]:
        lines += [*_HEADER, *(_row(cluster) for cluster in placement["clusters"]), ""]
    for change in placement["content"] or ():
        lines += _content(change, diff)
    return _folded(_title(placement), [*lines, *(f"- {_escaped(note)}" for note in _notes(placement))])


def _template_block(template: Document) -> str:
    lines = [f"- {_escaped(line)}" for line in words.holders(template)] + [""]
    if template["clusters"]:
        lines += [*_TEMPLATE_HEADER, *(_template_row(cluster) for cluster in template["clusters"]), ""]
    return _folded(_title(template), [*lines, *(f"- {_escaped(note)}" for _, note in words.template_notes(template))])


def _folded(title: str, lines: Iterable[str]) -> str:
    return "\n".join(["", f"<details><summary>{title}</summary>", "", *lines, "", "</details>", ""])


def _template_row(cluster: Document) -> str:
    shown = words.show_revision(cluster["replicas"]), words.show_revision(cluster["revision"])
    return "| " + " | ".join(map(_escaped, (cluster["name"], cluster["change"], *shown, cluster["why"]))) + " |"


def _row(cluster: Document) -> str:
    cells = (*words.cells(cluster), words.why(cluster))
    return "| " + " | ".join(map(_escaped, cells)) + " |"


def _notes(placement: Document) -> list[str]:
    return [
        *(f"not fulfilled: {message}" for message in words.unfulfilled(placement)),
        *words.waits(placement),
        *words.unseen(placement),
        *(f"not picked: {line}" for line in words.not_picked(placement)),
        *(f"warning: {warning}" for warning in placement["warnings"]),
        *(f"skipped: {skipped['object']}: {skipped['why']}" for skipped in placement["skipped"]),
    ]


def _content(change: Document, diff: bool) -> list[str]:
    fields = change["fields"]
    names = "" if diff or not fields else ": " + ", ".join(field["field"] for field in fields)
    lines = [f"- `{_SIGNS[change['change']]}` {_escaped(change['object'] + names)}"]
    return lines + [f"  - {_escaped(_cut(words.show_field(field)))}" for field in fields if diff]


def _cut(text: str) -> str:
    return text if len(text) <= _VALUE_SHOWN else f"{text[:_VALUE_SHOWN]}..."


def _escaped(text: str) -> str:
    """Text that neither ends a cell nor begins a tag."""
    plain = words.one_line(text).replace("&", "&amp;").replace("<", "&lt;")
    return plain.replace("|", "\\|").replace("`", "'")
