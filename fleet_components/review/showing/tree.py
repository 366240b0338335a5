"""The tree of resources, as ``pulumi preview`` shows it: resources that change, below their parents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from fleet_components.model.text import few
from fleet_components.review.documents.form import Document
from fleet_components.review.showing.words import show_field

_SIGNS = {
    "create": ("+", "green"),
    "update": ("~", "yellow"),
    "replace": ("+-", "red"),
    "delete": ("-", "red"),
    "same": (" ", "dim"),
}
_FIELDS_SHOWN = 3


def print_resources(console: Console, resources: Sequence[Document], *, diff: bool) -> None:
    """Print the resources that change, below their parents."""
    if any(resource["change"] is None for resource in resources):
        note = "what changes among the resources is known with the output of pulumi stack export as --state"
        console.print(Text(note, "dim"))
        return
    if all(resource["change"] == "same" for resource in resources):
        return
    console.print(Text("Resources", "bold"))
    urns = {resource["urn"] for resource in resources}
    children: dict[str, list[Document]] = defaultdict(list)
    for resource in resources:
        children[resource["parent"] if resource["parent"] in urns else ""].append(resource)
    moving = _moving(resources)
    for root in children[""]:
        if root["urn"] in moving:
            tree = Tree(_label(root, (), diff), guide_style="dim")
            _grow(tree, (root,), children, moving, diff)
            console.print(tree)
    console.print()


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


def _grow(
    tree: Tree, above: tuple[Document, ...], children: Mapping[str, Sequence[Document]], moving: set[str], diff: bool
) -> None:
    for child in children.get(above[-1]["urn"], ()):
        if child["urn"] in moving:
            _grow(tree.add(_label(child, above, diff)), (*above, child), children, moving, diff)


def _label(resource: Document, above: Sequence[Document], diff: bool) -> Text:
    """Return the line of a resource: ``~ Deployment shop/storefront  spec.replicas``."""
    sign, style = _SIGNS[resource["change"]]
    label = Text(f"{sign} {_kind(resource['type'])} {_short(resource['name'], above)}", style)
    if resource["change"] == "delete" and resource["options"].get("retainOnDelete"):
        label.append("  forgotten, not deleted", "dim")
    hidden = resource["options"].get("hideDiffs", ())
    fields = [field for field in resource["differences"] if field["field"].split(".")[0] not in hidden]
    if diff:
        for field in fields:
            label.append(f"\n  {show_field(field)}", "default")
    elif fields:
        label.append(f"  {_some(fields)}", "dim")
    return label


def _short(name: str, above: Sequence[Document]) -> str:
    """Return a name without that of the nearest parent with which it begins."""
    begins = (f"{one['name']}/" for one in reversed(above))
    return name.removeprefix(next((begin for begin in begins if name.startswith(begin)), ""))


def _some(fields: Sequence[Document]) -> str:
    return few([field["field"] for field in fields], _FIELDS_SHOWN)


def _kind(token: str) -> str:
    """Return a type for people: ``Deployment``, ``kubernetes provider``, ``fleet:Binding``; a foreign one as token."""
    package, _, kind = token.rpartition(":")
    if package == "pulumi:providers":
        return f"{kind} provider"
    if package == "pulumi-python:dynamic/fleet":
        return f"fleet:{kind}"
    ours = package in ("pulumi:pulumi", "fleet:index") or package.startswith("kubernetes:")
    return kind if ours else token
