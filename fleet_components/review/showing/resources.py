"""The tree of resources, as ``pulumi preview`` shows it: those that change, below their parents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from fleet_components.model.text import few
from fleet_components.review.documents.schema import FieldDocument, ResourceDocument
from fleet_components.review.showing.blocks import Block, Branch, Drawing, Gap, Paragraph, Span
from fleet_components.review.showing.words import show_field

_UNKNOWN = (
    "what changes among the resources is known with the output of pulumi stack export as --state"
)
_SIGNS = {
    "create": ("+", "green"),
    "update": ("~", "yellow"),
    "replace": ("+-", "red"),
    "delete": ("-", "red"),
    "same": (" ", "dim"),
}
_FIELDS_SHOWN = 3
_ALIKE_SHOWN = 3


def resources_view(
    resources: Sequence[ResourceDocument], *, diff: bool, whole: bool
) -> Iterator[Block]:
    """Yield the resources that change, below their parents.

    Args:
        resources: all resources of the stack.
        diff: whether the values of the fields that change are shown.
        whole: whether siblings that change alike are shown one by one.
    """
    if any(resource.change is None for resource in resources):
        yield Paragraph(_UNKNOWN, style="dim")
    elif any(resource.change != "same" for resource in resources):
        yield Drawing("Resources", list(_Drawn(resources, diff, whole).roots()))
        yield Gap()


class _Drawn:
    """Trees of the resources that change.

    Args:
        resources: all resources of the stack.
        diff: whether the values of the fields that change are shown.
        whole: whether siblings that change alike are shown one by one.
    """

    def __init__(self, resources: Sequence[ResourceDocument], diff: bool, whole: bool) -> None:
        self._diff, self._most = diff, len(resources) if whole else _ALIKE_SHOWN
        urns, moving = {resource.urn for resource in resources}, _moving(resources)
        self._children: dict[str, list[ResourceDocument]] = defaultdict(list)
        for resource in resources:
            if resource.urn in moving:
                parent = resource.parent if resource.parent in urns else None
                self._children[parent or ""].append(resource)

    def roots(self) -> Iterator[Branch]:
        """Yield a tree for each resource without a parent."""
        for root in self._children[""]:
            yield self._branch(root, _short(root.name, ()), ())

    def _branch(
        self, resource: ResourceDocument, name: str, above: tuple[ResourceDocument, ...]
    ) -> Branch:
        """Return a resource with its children; many that change alike share a branch, which is that
        of the first.
        """
        inside = (*above, resource)
        alike: dict[Hashable, list[ResourceDocument]] = defaultdict(list)
        for child in self._children.get(resource.urn, ()):
            alike[self._shape(child, inside)].append(child)
        below = []
        for found in alike.values():
            names = [_short(child.name, inside) for child in found]
            if len(found) > self._most:
                found, names = found[:1], [few(names, self._most)]
            below += [
                self._branch(child, of, inside) for child, of in zip(found, names, strict=True)
            ]
        return Branch(_label(resource, name, self._diff), below)

    def _shape(self, resource: ResourceDocument, above: tuple[ResourceDocument, ...]) -> Hashable:
        """Return what is shown of a resource and of all below it, without its own name."""
        inside = (*above, resource)
        below = [
            (_short(child.name, inside), self._shape(child, inside))
            for child in self._children.get(resource.urn, ())
        ]
        label = _label(resource, "", self._diff)
        return tuple(text for line in label for text, _ in line), tuple(below)


def _moving(resources: Sequence[ResourceDocument]) -> set[str]:
    """Return the URNs of the resources that change, and of all their parents."""
    parents = {resource.urn: resource.parent for resource in resources}
    found: set[str] = set()
    for resource in resources:
        urn = resource.urn if resource.change != "same" else ""
        while urn and urn not in found:
            found.add(urn)
            urn = parents.get(urn) or ""
    return found


def _label(resource: ResourceDocument, name: str, diff: bool) -> list[list[Span]]:
    """Return the lines of a resource: ``~ Deployment shop/storefront  spec.replicas``."""
    sign, style = _SIGNS[resource.change or "same"]
    first = [(f"{sign} {_kind(resource.type)} {name}".rstrip(), style)]
    if resource.change == "delete" and resource.options.get("retainOnDelete"):
        first.append(("  forgotten, not deleted", "dim"))
    hidden = resource.options.get("hideDiffs", ())
    differences = [FieldDocument(**each) for each in resource.differences]
    fields = [each for each in differences if each.field.split(".")[0] not in hidden]
    if fields and not diff:
        first.append((f"  {_some(fields)}", "dim"))
    further = fields if diff else ()
    return [first, *([(f"  {show_field(field)}", "default")] for field in further)]


def _short(name: str, above: Sequence[ResourceDocument]) -> str:
    """Return a name without that of the nearest parent with which it begins; empty for that of its
    own parent.
    """
    if above and name == above[-1].name:
        return ""
    begins = (f"{data.name}/" for data in reversed(above))
    return name.removeprefix(next((begin for begin in begins if name.startswith(begin)), ""))


def _some(fields: Sequence[FieldDocument]) -> str:
    return few([field.field for field in fields], _FIELDS_SHOWN)


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
