"""The plan in a terminal: what happens to each member, then why others are left out, then
totals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from fleet_components.model.text import few
from fleet_components.review.documents.form import Document, is_narrow, kind_of, to_read
from fleet_components.review.showing import words
from fleet_components.review.showing.console import STYLES
from fleet_components.review.showing.diffs import (
    diff_lines,
    in_full,
    left_out,
    new_warnings,
    notes,
    shown_changes,
)
from fleet_components.review.showing.rows import Row, print_indented, print_rows, print_tree
from fleet_components.review.showing.words import show_field

_HEADER = Row(words.HEADER, "why", "bold")


def plan_table(console: Console, document: Document, *, diff: bool = False) -> None:
    """Print a plan, refusals and losses first; with ``diff``, with the values of every field that
    changes.
    """
    document = to_read(document)
    whole = document["view"]["all"]
    _first(console, document)
    for subject in in_full(document):
        _subject(console, subject, diff=diff, whole=whole, narrow=is_narrow(document))
    resources = document.get("resources")
    if resources:
        print_resources(console, resources, diff=diff, whole=whole)
    for line in left_out(document):
        print_indented(console, Text(line, "dim"), 0)
    for warning in new_warnings(document):
        print_indented(console, Text(f"warning: {warning}", "yellow"), 0)
    for message in document.get("messages", ()):
        print_indented(console, Text(f"{message['level']}: {message['text']}"), 0)
    print_indented(console, Text(words.summary(document), "bold"), 0)
    counts = document["totals"].get("resources")
    if counts:
        print_indented(console, Text(f"Resources: {words.resource_counts(counts)}", "bold"), 0)
    line = words.uncompared(document.get("resources") or ())
    if line:
        print_indented(console, Text(line, "dim"), 0)


def _first(console: Console, document: Document) -> None:
    """Print what a reader must see first: what happens, why it is refused, and what is lost."""
    for line in document["disregarded"]:
        print_indented(console, Text(line, "bold red"), 0)
    happens, *more = document["headline"]
    print_indented(console, Text(happens, "bold red" if document["refused"] else "bold"), 0)
    for line in more:
        print_indented(console, Text(line), 0)
    console.print()
    refusals, leaving = list(words.refusals(document)), list(words.leaving(document))
    for line in refusals:
        print_indented(console, Text(line, "bold red"), 0)
    line = words.confirmation(document)
    if line:
        console.print(Text(line, "yellow"), soft_wrap=True)  # not wrapped, so that it can be copied
    for style, line in leaving:
        print_indented(console, Text(line, style), 0)
    if refusals or leaving:
        console.print()


def _subject(console: Console, subject: Document, *, diff: bool, whole: bool, narrow: bool) -> None:
    print_indented(console, Text(f"{kind_of(subject)} ") + Text(subject["key"], "bold cyan"), 0)
    print_indented(console, Text(words.headline(subject), "dim"))
    for line in words.holders(subject, whole=whole or narrow):
        print_indented(console, Text(words.single_line(line)))
    if subject["clusters"]:
        rows = [
            Row(cells, why, STYLES[change])
            for change, cells, why in words.rows(subject, whole=whole)
        ]
        print_rows(console, _HEADER, rows)
    for change in shown_changes(subject, whole=diff, narrow=narrow):
        _content(console, change, diff)
    for level, line in words.overridden(subject, diff=diff, whole=whole or narrow):
        print_indented(console, Text(words.single_line(line)), 2 + 2 * level)
    for style, line in notes(subject):
        print_indented(console, Text(words.single_line(line), style))
    console.print()


def _content(console: Console, change: Document, diff: bool) -> None:
    """Print how an object changes; with ``diff``, all of it."""
    for style, line in diff_lines(change, whole=diff):
        print_indented(console, Text(line, style))


# The tree of resources, as ``pulumi preview`` shows it: resources that change, below their
# parents.


_SIGNS = {
    "create": ("+", "green"),
    "update": ("~", "yellow"),
    "replace": ("+-", "red"),
    "delete": ("-", "red"),
    "same": (" ", "dim"),
}
_FIELDS_SHOWN = 3
_ALIKE_SHOWN = 3


def print_resources(
    console: Console, resources: Sequence[Document], *, diff: bool, whole: bool
) -> None:
    """Print the resources that change, below their parents.

    Args:
        console: where they are printed.
        resources: all resources of the stack.
        diff: whether the values of the fields that change are shown.
        whole: whether siblings that change alike are shown one by one.
    """
    if any(resource["change"] is None for resource in resources):
        note = (
            "what changes among the resources is known with the output of pulumi stack export as"
            " --state"
        )
        console.print(Text(note, "dim"))
        return
    if all(resource["change"] == "same" for resource in resources):
        return
    console.print(Text("Resources", "bold"))
    drawn = _Drawn(resources, diff=diff, most=len(resources) if whole else _ALIKE_SHOWN)
    for tree in drawn.roots():
        print_tree(console, tree)
    console.print()


class _Drawn:
    """Trees of the resources that change.

    Args:
        resources: all resources of the stack.
        diff: whether the values of the fields that change are shown.
        most: largest number of siblings that change alike and are shown one by one.
    """

    def __init__(self, resources: Sequence[Document], *, diff: bool, most: int) -> None:
        self._diff, self._most = diff, most
        urns, moving = {resource["urn"] for resource in resources}, _moving(resources)
        self._children: dict[str, list[Document]] = defaultdict(list)
        for resource in resources:
            if resource["urn"] in moving:
                self._children[resource["parent"] if resource["parent"] in urns else ""].append(
                    resource
                )

    def roots(self) -> Iterator[Tree]:
        """Yield a tree for each resource without a parent."""
        for root in self._children[""]:
            tree = Tree(_label(root, _short(root["name"], ()), self._diff), guide_style="dim")
            self._grow(tree, (root,))
            yield tree

    def _grow(self, tree: Tree, above: tuple[Document, ...]) -> None:
        """Add the children of a resource; many that change alike share a branch, which is that of
        the first.
        """
        alike: dict[Hashable, list[Document]] = defaultdict(list)
        for child in self._children.get(above[-1]["urn"], ()):
            alike[self._shape(child, above)].append(child)
        for found in alike.values():
            names = [_short(data["name"], above) for data in found]
            if len(found) <= self._most:
                shown = list(zip(found, names, strict=True))
            else:
                shown = [(found[0], few(names, self._most))]
            for child, name in shown:
                self._grow(tree.add(_label(child, name, self._diff)), (*above, child))

    def _shape(self, resource: Document, above: tuple[Document, ...]) -> Hashable:
        """Return what is shown of a resource and of all below it, without its own name."""
        inside = (*above, resource)
        below = [
            (_short(child["name"], inside), self._shape(child, inside))
            for child in self._children.get(resource["urn"], ())
        ]
        return _label(resource, "", self._diff).plain, tuple(below)


def _moving(resources: Sequence[Document]) -> set[str]:
    """Return the URNs of the resources that change, and of all their parents."""
    parents = {resource["urn"]: resource["parent"] for resource in resources}
    found: set[str] = set()
    for resource in resources:
        urn = resource["urn"] if resource["change"] != "same" else ""
        while urn and urn not in found:
            found.add(urn)
            urn = parents.get(urn) or ""
    return found


def _label(resource: Document, name: str, diff: bool) -> Text:
    """Return the line of a resource: ``~ Deployment shop/storefront  spec.replicas``."""
    sign, style = _SIGNS[resource["change"]]
    label = Text(f"{sign} {_kind(resource['type'])} {name}".rstrip(), style)
    if resource["change"] == "delete" and resource["options"].get("retainOnDelete"):
        label.append("  forgotten, not deleted", "dim")
    hidden = resource["options"].get("hideDiffs", ())
    fields = [
        field for field in resource["differences"] if field["field"].split(".")[0] not in hidden
    ]
    if diff:
        for field in fields:
            label.append(f"\n  {show_field(field)}", "default")
    elif fields:
        label.append(f"  {_some(fields)}", "dim")
    return label


def _short(name: str, above: Sequence[Document]) -> str:
    """Return a name without that of the nearest parent with which it begins; empty for that of its
    own parent.
    """
    if above and name == above[-1]["name"]:
        return ""
    begins = (f"{data['name']}/" for data in reversed(above))
    return name.removeprefix(next((begin for begin in begins if name.startswith(begin)), ""))


def _some(fields: Sequence[Document]) -> str:
    return few([field["field"] for field in fields], _FIELDS_SHOWN)


def _kind(token: str) -> str:
    """Return a type for people: ``Deployment``, ``kubernetes provider``, ``fleet:Binding``; a
    foreign one as token.
    """
    package, _, kind = token.rpartition(":")
    if package == "pulumi:providers":
        return f"{kind} provider"
    if package == "pulumi-python:dynamic/fleet":
        return f"fleet:{kind}"
    ours = package in ("pulumi:pulumi", "fleet:index") or package.startswith("kubernetes:")
    return kind if ours else token
