"""The fields that are not carried out, as a table, and as the Markdown page of the
documentation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

from fleet_components.model.release import Change, ReleaseTable
from fleet_components.review.documents.deliveries import (
    CARRIED_OUT,
    DeliveredField,
    DeliveriesDocument,
)
from fleet_components.review.documents.fields import OBJECT_MARKS, FieldEffect, FieldsDocument
from fleet_components.review.showing.blocks import (
    Block,
    Fold,
    Gap,
    Paragraph,
    Role,
    Row,
    Table,
)
from fleet_components.systems.registry import SYSTEMS

_STYLES = {"refused": "red", "no effect": "yellow", "not needed": "dim"}
_REST = "All other fields are carried out, or refused as the API servers refuse them."
_PAGE = """\
# Fields that are not carried out

Written by `make docs` from the table that every plan goes by; `fleet fields KIND` shows the part of
one kind.

Of the kinds of KubeFleet and Karmada that steer a fleet every field is carried out, but for those
below. What asks for other members, another content or another deletion than a plan makes is
**refused**, with file, line and what to do instead. What bears on none of these has **no effect**,
and is a warning. What is **not needed** passes in silence: it asks for what happens anyway, or for
what an API server or a hub keeps for itself. A value that equals the default of the API asks for
nothing.

Through a hub, and in the forecast of one that was observed, nothing of this is refused: **on a
hub** says what the hub does with it. "All kinds" are those that are carried out. Kinds that are not
here and would steer a fleet are refused as a whole; what hubs make themselves, as snapshots,
bindings and works, is passed over and counted.
"""

_RELEASES = """\
## Releases of {title}

{subjects} are decided by the rules of one release: {known}. `fleet:{setting}`,
`FleetArgs.{setting}`, and `--{setting}` of a command name it. Without them it is that of an
observed hub, or of the last update, and otherwise {default}.
"""
_KUBEFLEET = """\
`fleet observe` reads the release of a hub from the image of its agent. A hub of Azure shows no
agent: an observation says that its release is not known. `main-2026-08` is the main branch of
2026-08-20 (e160c1cd).

These are the rules in which they differ, each a pull request of kubefleet-dev/kubefleet. What
guards a hub against its users (#682, #702, #708) and what a hub counts in metrics decides nothing,
and is not here. The checks of a ResourcePlacement are those of its webhook under each release,
though hubs do not ask it.
"""
_KARMADA = """\
A control plane does not show its release: `fleet observe --karmada` names it. Each stands for its
newest patch; before 1.17.2 a member of a divided Job may get the completions of another member
(#7387).

These are the rules in which they differ, of all that a plan goes by. Interpreters of third-party
kinds, as that of FlinkDeployment, change with releases: plans have those of 1.19.
"""
_ABOUT = {"kubefleet": _KUBEFLEET, "karmada": _KARMADA}
"""Paragraphs of the page about the releases of each system."""


def fields_view(document: FieldsDocument) -> Iterator[Block]:
    """Yield the table, grouped by kinds with the same fields."""
    header = Row(("", "field"), "why", "bold")
    for kinds, rows in _grouped(document):
        shown = [Row((row.effect, _place(row)), _why(row), _STYLES[row.effect]) for row in rows]
        yield Fold(kinds, [Table(header, shown)])
        yield Gap()
    yield Paragraph(_last(document))


def fields_markdown(document: FieldsDocument) -> str:
    """Return the page of the documentation, or its part about one kind."""
    parts = [] if document.kind else [_PAGE]
    for kinds, rows in _grouped(document):
        on_hub = any(row.on_hub for row in rows)
        lines = [
            f"| `{_place(row)}` | {row.effect} | {_escaped(_why(row))} |{_on_hub(row, on_hub)}"
            for row in rows
        ]
        head = ["| field | | why | on a hub |", "| --- | --- | --- | --- |"]
        head = head if on_hub else ["| field | | why |", "| --- | --- | --- |"]
        parts.append("\n".join([f"## {kinds}", "", *head, *lines, ""]))
    if not document.kind:
        parts.append(_marks())
        parts += (
            _releases(system.releases, f"{system.COMPONENT}s", _ABOUT[system.NAME])
            for system in SYSTEMS.values()
        )
    return "\n".join([*parts, f"{_last(document)}\n"])


def _marks() -> str:
    """Return the part of the page about labels and annotations of the objects that are placed."""
    lines = [
        f"| `{mark.name}` | {mark.system} | {mark.effect} | {_escaped(mark.reason)} |"
        for mark in OBJECT_MARKS
    ]
    head = ["| label or annotation | system | | why |", "| --- | --- | --- | --- |"]
    return "\n".join(["## Labels and annotations of objects", "", *head, *lines, ""])


def _releases(table: ReleaseTable, subjects: str, about: str) -> str:
    """Return the part of the page about the rules in which releases of a system differ."""
    known = ", ".join(table.names)
    title, setting, default = table.title, table.setting, table.default
    text = _RELEASES.format(
        title=title, setting=setting, subjects=subjects, known=known, default=default
    )
    changes: list[Change] = [rule.value for rule in table.rules]
    cells = (
        (change.source, change.since, change.before, change.after, change.left or "the same")
        for change in changes
    )
    lines = [f"| {' | '.join(map(_escaped, row))} |" for row in cells]
    head = ["| change | since | before | after | here |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([text, about, *head, *lines, ""])


def _grouped(document: FieldsDocument) -> Iterator[tuple[str, list[FieldEffect]]]:
    """Yield the rows of each group of kinds, with its heading, in a fixed order."""
    rows = sorted(document.fields, key=lambda row: _order(document, row))
    for _, group in groupby(rows, key=lambda row: row.kinds):
        alike = list(group)
        yield _named(document, alike[0].kinds), alike


def _named(document: FieldsDocument, kinds: Sequence[str]) -> str:
    """Return the kinds in words, or those that are missing if that list is shorter."""
    left = [kind for kind in document.carried_out if kind not in kinds]
    if len(left) >= len(kinds):
        return ", ".join(kinds)
    return f"All kinds but {', '.join(left)}" if left else "All kinds"


def _order(document: FieldsDocument, row: FieldEffect) -> tuple[int, list[int]]:
    """Return a sort key: rows of one or two kinds come first, then kinds in the order of their
    systems.
    """
    return len(row.kinds) > 2, [document.kinds.index(kind) for kind in row.kinds]


def _place(row: FieldEffect) -> str:
    """Return the field with its values: ``spec.strategy.applyStrategy.type: ReportDiff``."""
    place = row.field or "all of it"
    if row.values:
        place += f": {_worded(row.values)}"
    for name, pattern in (row.beside or {}).items():
        place += f" beside {name}" + ("" if pattern == "?*" else f": {_worded([pattern])}")
    return f"{place}: others" if row.others else place


def _worded(patterns: Sequence[str]) -> str:
    return ", ".join(f"not {text[1:]}" if text.startswith("!") else text for text in patterns)


def _why(row: FieldEffect) -> str:
    why = str(row.reason)
    if row.unless:
        why += f"; carried out with {row.unless}: true in a KarmadaSettings"
    elif row.instead:
        why += f" ({row.instead})"
    return why


def _on_hub(row: FieldEffect, on_hub: bool) -> str:
    """Return the cell that says what a hub does with a field; empty for a table without that
    column.
    """
    return (
        f" {_escaped(row.on_hub or ('the same' if row.effect != 'not needed' else ''))} |"
        if on_hub
        else ""
    )


def _last(document: FieldsDocument) -> str:
    if document.kind and any(not row.field for row in document.fields):
        return f"{document.kind} is refused as a whole."
    if document.kind and not document.fields:
        return (
            f"All fields of {document.kind} are carried out, or refused as the API servers"
            " refuse them."
        )
    return _REST


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


# The treatment of the fields of policies by each delivery, as a table and as the page of the
# documentation.


_NAMES = ("direct", "through a hub", "Argo CD", "Flux")
_DELIVERIES_PAGE = """\
# What each delivery does with a field

Written by `make docs` from the table that every plan goes by; `fleet fields --deliveries KIND`
shows a part of it. [Which delivery when](which-delivery.md) says what else they differ in, and
[fields](fields.md) why something is not carried out.

Every field of `spec` is here, of every kind of policy: those that not all deliveries carry out in a
table, all others below it by the highest field of which everything is carried out. "The same" is
what the direct delivery does. A render for Argo CD or Flux refuses what a plan refuses. Whatever a
hub decides, it decides as soon as it sees a reason; the others decide with each update, or with
each render.
"""


def deliveries_view(document: DeliveriesDocument) -> Iterator[Block]:
    """Yield the table, kind by kind, and below each field what each delivery does with it."""
    for policy in document.policies:
        blocks = [line for row in policy.fields for line in _delivered(row)]
        if policy.carried_out:
            blocks.append(Paragraph(f"{_ALL}: {', '.join(policy.carried_out)}", style="dim"))
        yield Fold(", ".join(policy.kinds), blocks)
        yield Gap()


def _delivered(row: DeliveredField) -> Iterator[Paragraph]:
    yield Paragraph(_delivery_place(row), Role.ITEM, "bold")
    names_by_words: dict[str, list[str]] = defaultdict(list)
    for name, words in zip(_NAMES, _cells(row), strict=True):
        names_by_words[words].append(name)
    for words, names in names_by_words.items():
        yield Paragraph(f"{', '.join(names)}: {words}", Role.ITEM, level=1)


def deliveries_markdown(document: DeliveriesDocument, *, whole: bool) -> str:
    """Return the page of the documentation, or its part about one kind."""
    parts = [_DELIVERIES_PAGE] if whole else []
    for policy in document.policies:
        lines = [f"## {', '.join(policy.kinds)}", ""]
        if policy.fields:
            lines += [f"| field | {' | '.join(_NAMES)} |", f"| --- |{' --- |' * len(_NAMES)}"]
            lines += [
                f"| `{_delivery_place(row)}` | {' | '.join(_cells(row))} |" for row in policy.fields
            ]
            lines.append("")
        if policy.carried_out:
            lines += [f"{_ALL}: {', '.join(f'`{item}`' for item in policy.carried_out)}.", ""]
        parts.append("\n".join(lines))
    return "\n".join(parts)


_ALL = "Carried out by every delivery"


def _delivery_place(row: DeliveredField) -> str:
    """Return the field with its values: ``spec.strategy.applyStrategy.type: ReportDiff``."""
    plain = [text for text in row.values if not text.startswith("beside ")]
    beside = [text for text in row.values if text.startswith("beside ")]
    return " ".join([row.field + (f": {', '.join(plain)}" if plain else ""), *beside])


def _cells(row: DeliveredField) -> list[str]:
    first, *others = row.direct, row.hub, row.argocd, row.flux
    return [first, *("the same" if text == first != CARRIED_OUT else text for text in others)]
