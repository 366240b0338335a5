"""The view of a plan: what happens and what is lost, then each placement and template, then what is
left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence

import attrs

from fleet_components.model.text import count, few
from fleet_components.review.documents.headline import subjects_in_words
from fleet_components.review.documents.schema import (
    FieldDocument,
    PlanDocument,
    ResourceDocument,
    ResourceTotals,
    SubjectDocument,
)
from fleet_components.review.documents.weight import is_as_before
from fleet_components.review.showing import words
from fleet_components.review.showing.blocks import (
    Block,
    Branch,
    Drawing,
    Gap,
    Page,
    Paragraph,
    Role,
    Span,
)
from fleet_components.review.showing.subject import subject_view
from fleet_components.review.showing.words import show_field

_HIDDEN = "Not compared, as the state or the configuration hides it"
_SHOWS = "pulumi stack export --show-secrets and the passphrase show them"
_COUNTS = {
    "create": "+ {} to create",
    "update": "~ {} to update",
    "replace": "+- {} to replace",
    "delete": "- {} to delete",
    "same": "{} unchanged",
}
_MOST_NAMES = 10


def plan_view(document: PlanDocument, *, diff: bool = False, command: str = "plan") -> Page:
    """Return what is shown of a plan, refusals and losses first.

    Args:
        document: the plan.
        diff: whether differences are shown whole.
        command: the command of ``fleet`` that has made it.
    """
    return Page(f"Fleet {command}", list(_blocks(document, diff)), f"fleet {command}")


def _blocks(document: PlanDocument, diff: bool) -> Iterator[Block]:
    whole = document.view.all
    yield from _first(document)
    for subject in in_full(document):
        yield subject_view(subject, diff=diff, whole=whole, narrow=document.view.narrow)
        yield Gap()
    yield from resources_view(document.shown_resources, diff=diff, whole=whole)
    yield from (Paragraph(line, style="dim") for line in left_out(document))
    for warning in new_warnings(document):
        yield Paragraph(f"warning: {warning}", Role.NOTE, "yellow")
    for message in document.logged:
        yield Paragraph(f"{message.level}: {message.text}", Role.NOTE, multiline=True)
    yield Paragraph(words.summary(document), Role.LAST, "bold")
    if isinstance(document.totals.resources, ResourceTotals):
        counts = resource_counts(document.totals.resources)
        yield Paragraph(f"Resources: {counts}", style="bold")
    hidden = uncompared(document.shown_resources)
    if hidden:
        yield Paragraph(hidden, style="dim")


def _first(document: PlanDocument) -> Iterator[Block]:
    """Yield what a reader must see first: what happens, why it is refused, and what is lost."""
    yield from (Paragraph(line, Role.ALERT, "bold red") for line in document.disregarded)
    happens, *more = document.headline
    yield Paragraph(happens, Role.HEADLINE, "bold red" if document.refused else "bold")
    yield from map(Paragraph, more)
    yield Gap()
    refusals, leaving = list(words.refusals(document)), list(words.leaving(document))
    yield from (Paragraph(line, Role.ALERT, "bold red") for line in refusals)
    confirmation = words.confirmation(document)
    if confirmation:
        yield Paragraph(confirmation, Role.COMMAND, "yellow")
    yield from (Paragraph(line, Role.ITEM, style) for style, line in leaving)
    if refusals or leaving:
        yield Gap()


def resource_counts(totals: ResourceTotals) -> str:
    """Return the number of changes in the words of ``pulumi preview``: ``+ 3 to create, 68
    unchanged``.
    """
    counts = attrs.asdict(totals)
    shown = (text.format(counts[change]) for change, text in _COUNTS.items() if counts[change])
    return ", ".join(shown) or "none"


def uncompared(resources: Iterable[ResourceDocument]) -> str:
    """Return what is not compared, because the state or the configuration hides it; empty if all
    is.
    """
    found = {resource.name: resource.uncompared for resource in resources if resource.uncompared}
    reaching = [name for name, fields in found.items() if "kubeconfig" in fields]
    others = sum(map(len, found.values())) - len(reaching)
    parts = [f"the kubeconfigs of {few(sorted(reaching))}"] if reaching else []
    parts += [count(others, "other value" if reaching else "value")] if others else []
    return f"{_HIDDEN}: {', '.join(parts)}; {_SHOWS}" if parts else ""


# Parts of a plan that are counted and not shown: what changes elsewhere, what does not, and what
# is as before.


def left_out(document: PlanDocument) -> Iterator[str]:
    """Yield lines that count what is not shown: what changes elsewhere, and what does not
    change.
    """
    more = document.left_out
    if more:
        yield f"{count(more, 'more placement')} {'changes' if more == 1 else 'change'}: not shown"
    # All is shown, so that nothing is left to be counted.
    if document.view.all:
        return
    shown = in_full(document)
    others = [subject for subject in document.subjects if subject not in shown]
    folded, due = (
        [other for other in others if other.pending is pending] for pending in (False, True)
    )
    templates = sum(item.kind == "Template" for item in folded)
    same = document.unchanged
    # Folded subjects are counted in lines of their own below.
    quiet = same.placements - len(folded) + templates, same.templates - templates
    if any(quiet):
        yield f"{subjects_in_words(*quiet)} unchanged: --all shows them"
    if due:
        yield (
            f"due already, as what is compared with changes the same: {_named(due, '')}: --all"
            " shows them"
        )
    warnings = 0 if _all_asked(document) else len(document.as_before.warnings)
    before = [*_as_before(folded), *([count(warnings, "warning")] if warnings else [])]
    if before:
        yield f"as before: {', '.join(before)}: --all shows them"


def in_full(document: PlanDocument) -> list[SubjectDocument]:
    """Return the subjects that are shown in full; those to which nothing new happens are, if it is
    asked for.
    """
    asked = _all_asked(document)
    return [
        subject
        for subject in document.subjects
        if asked or not (subject.pending or is_as_before(subject.weight, subject.as_before))
    ]


def new_warnings(document: PlanDocument) -> list[str]:
    """Return the warnings that are shown; those that are there without the change are, if it is
    asked for.
    """
    known = () if _all_asked(document) else document.as_before.warnings
    return [warning for warning in document.warnings if warning not in known]


def _all_asked(document: PlanDocument) -> bool:
    return document.view.all or document.view.narrow


def _as_before(subjects: Sequence[SubjectDocument]) -> Iterator[str]:
    """Yield the subjects that are as before by their gravest condition: ``2 placements held (shop,
    till)``.
    """
    # The document has its subjects by weight, so that the gravest condition comes first.
    for weight in dict.fromkeys(subject.weight for subject in subjects):
        alike = [subject for subject in subjects if subject.weight == weight]
        yield _named(alike, f" {weight}")


def _named(subjects: Sequence[SubjectDocument], what: str) -> str:
    templates = sum(subject.kind == "Template" for subject in subjects)
    number = subjects_in_words(len(subjects) - templates, templates)
    return f"{number}{what} ({few([subject.key for subject in subjects], _MOST_NAMES)})"


# The tree of resources, as ``pulumi preview`` shows it: those that change, below their parents.


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
                # A resource whose parent is not registered is drawn as a root.
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
            # Children of one shape look alike but for their names: the first stands for all.
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
        # Stops at a parent that is in the set: those above it are, too.
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
