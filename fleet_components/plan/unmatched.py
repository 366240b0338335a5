"""Warn of what matches nothing, with what was probably meant; real hubs accept it without a
warning.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import attrs

from fleet_components.content.catalogue import HUB_NAMESPACES, Catalogue
from fleet_components.content.eligible import is_reserved, why_skipped
from fleet_components.model.cluster import Cluster
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.quantity import is_quantity
from fleet_components.model.text import Vocabulary, count, few
from fleet_components.plan.no_match import near_name
from fleet_components.plan.planning import SystemPlan
from fleet_components.plan.source import Source
from fleet_components.plan.subject import Decided


def unmatched(
    source: Source,
    parts: Iterable[SystemPlan],
    subjects: Sequence[Decided],
    inventory: Inventory,
) -> Iterator[Problem]:
    """Yield warnings of what matches nothing in the whole source.

    Args:
        source: the parsed fleet.
        parts: what each system has made of it.
        subjects: the decided subjects.
        inventory: the members that are scheduled on.
    """
    parts = tuple(parts)
    for part in parts:
        yield from part.unmatched(subjects)
    alone = [decided for decided in subjects if not decided.subject.finds_namespaces]
    yield from forgotten_namespaces(source.catalogue, alone, inventory)
    yield from no_quantities(inventory.clusters, source.declarations)
    unclaimed = [part.unclaimed for part in parts if part.unclaimed is not None]
    whole = frozenset[str]().union(*(part.whole_namespaces for part in parts))
    # The last system that looks knows what none before it has taken.
    yield from _unselected(source, unclaimed[-1], whole)


def _unselected(
    source: Source, unclaimed: Iterable[Manifest], selected: Collection[str]
) -> Iterator[Problem]:
    """Yield one warning that counts the objects that no policy selects, located at the first of
    them.

    Objects that nobody would miss on a member do not count: definitions of custom kinds, which the
    source needs to know a kind; a namespace with objects in it, which count themselves; objects
    that each cluster makes itself; and objects in system namespaces. The same holds for the
    contents of a namespace that a placement selects but that is not in the
    source: the placement's own warning covers them.
    """
    left = [
        manifest
        for manifest in unclaimed
        if manifest.namespace not in selected and _counts(manifest, source.catalogue)
    ]
    if left:
        what = Message(
            "selected-by-no-policy",
            "{objects} {verb} selected by no policy: {listed}",
            objects=count(len(left), "object"),
            verb="is" if len(left) == 1 else "are",
            listed=few([str(manifest.key) for manifest in left]),
        )
        found = [manifest.problem(what, (), "select them, or take them out") for manifest in left]
        first = min(found, key=lambda problem: (problem.file, problem.line or 0))
        yield attrs.evolve(first, subject="")


def _counts(manifest: Manifest, catalogue: Catalogue) -> bool:
    """Return whether the author of the object probably wants it on a member."""
    if (manifest.group, manifest.kind) == ("", "Namespace"):
        name = manifest.name
        return not catalogue.contents(name) and name not in HUB_NAMESPACES and not is_reserved(name)
    defines = (manifest.group, manifest.kind) == (
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
    )
    return (
        not defines and not is_reserved(manifest.namespace) and not why_skipped(manifest, catalogue)
    )


# Warn of objects that go to members to which nothing brings the namespace that they are in.


Members = set[str]
_UNLESS = "unless it is there already"


def forgotten_namespaces(
    catalogue: Catalogue, subjects: Iterable[Decided], inventory: Inventory
) -> Iterator[Problem]:
    """Yield a problem for each namespace that is missing on some members, as far as that is known.

    Every cluster has ``default`` and the namespaces of Kubernetes itself; an observed member
    reports which others it has.

    Args:
        catalogue: the objects of the source.
        subjects: what is placed where.
        inventory: the members.
    """
    brought: dict[str, Members] = defaultdict(set)
    needed: dict[str, dict[str, Members]] = defaultdict(dict)
    for decided in subjects:
        members = () if decided.subject.reports else decided.record.decisions.keys()
        for manifest in map(Manifest, decided.subject.objects if members else ()):
            if (manifest.group, manifest.kind) == ("", "Namespace"):
                brought[manifest.name].update(members)
            elif manifest.namespace:
                needed[manifest.namespace].setdefault(_called(decided, manifest), set()).update(
                    members
                )
    there = {
        name: set(cluster.namespaces or ())
        for name, cluster in zip(inventory.names, inventory.clusters, strict=True)
    }
    known = Vocabulary(item.name for item in catalogue.alike("", "Namespace").manifests)
    for namespace in sorted(needed.keys() - set(HUB_NAMESPACES)):
        # For each subject that needs it, the members without the namespace.
        lacking = {
            name: _without(members - brought[namespace], namespace, there)
            for name, members in needed[namespace].items()
        }
        who = sorted(name for name, members in lacking.items() if members)
        if who:
            yield _forgotten(
                catalogue, known, namespace, who, sorted(set().union(*lacking.values()))
            )


def _called(decided: Decided, manifest: Manifest) -> str:
    """Return what a message calls the subject of an object: a placement's name, or a template's
    object.
    """
    return str(manifest.key) if decided.subject.SINGLE else decided.name.replace("/", " ", 1)


def _without(members: Members, namespace: str, there: Mapping[str, Members]) -> Members:
    return {name for name in members if namespace not in there.get(name, ())}


def _forgotten(
    catalogue: Catalogue,
    known: Vocabulary,
    namespace: str,
    who: Sequence[str],
    members: Sequence[str],
) -> Problem:
    """Return the problem for a namespace that is not placed on these members, or that the source
    does not have.
    """
    manifest, needs = (
        catalogue.get(ObjectKey("", "Namespace", "", namespace)),
        "needs" if len(who) == 1 else "need",
    )
    if manifest:
        what = Message(
            "does-not-go",
            "does not go to {members}, where {who} {needs} it",
            members=few(members),
            who=few(who),
            needs=needs,
        )
        hint = (
            f"select it with a ClusterResourcePlacement, selectionScope: NamespaceOnly, {_UNLESS}"
        )
        return manifest.problem(what, (), hint)
    what = Message(
        "nobody-brings-namespace",
        "nobody brings namespace {namespace} to {members}, where {who} {needs} it",
        namespace=namespace,
        members=few(members),
        who=few(who),
        needs=needs,
    )
    near = near_name(namespace, known)
    add = f"add a Namespace {namespace} to the manifests, {_UNLESS}"
    hint = f'did you mean "{near}"? else {add}' if near else add
    # The Namespace itself is in no file: an object in it says where to look.
    first = next(iter(catalogue.contents(namespace)), None)
    return (
        first.problem(what, ("metadata", "namespace"), hint)
        if first
        else Problem(what, (), hint, who[0])
    )


# Warn of amounts on members that are not quantities and that no policy has asked for yet.
#
# The first policy that asks for such an amount fails on it.


_PLAIN = re.compile(r"[0-9]+(\.[0-9]+)?([numkMGTPE]|[KMGTPE]i)?")
"""Pattern of nearly all quantities, for speed; only other texts are parsed."""
_ALMOST = re.compile(r"\s*[+-]?[0-9]+([.,][0-9]+)?\s*[A-Za-z%]*\s*")
"""A number, perhaps with a unit: intended as an amount, whatever the property."""
_REPORTED = ("kubernetes-fleet.io/node-count", "kubernetes.azure.com/")
"""Prefixes of properties that property providers report; all of these are amounts."""
_HINT = 'write a quantity, such as "0.05" or 16Gi: the first policy that asks for it fails on it'
Texts = Iterator[tuple[FieldPath, str]]


def no_quantities(
    members: Sequence[Cluster], declarations: Mapping[str, Manifest]
) -> Iterator[Problem]:
    """Yield a problem for each field that is not a quantity on some members.

    Resources must be quantities. A property may have any value; it counts as an amount if it looks
    like one, if it is one on another member, or if property providers report only amounts under its
    name.

    Args:
        members: the members.
        declarations: manifests of the members, by name, for locations; members made in a program
            are not among them.
    """
    for path, texts in _wrong(members, _usage).items():
        yield _problem(path, texts, declarations)
    for path, texts in _wrong(members, _properties).items():
        name = str(path[-1])
        others = (text for member in members if (text := member.properties.get(name)) is not None)
        almost = any(map(_ALMOST.fullmatch, texts.values()))
        if almost or name.startswith(_REPORTED) or any(map(is_quantity, others)):
            yield _problem(path, texts, declarations)


def _wrong(
    members: Sequence[Cluster], texts: Callable[[Cluster], Texts]
) -> dict[FieldPath, dict[str, str]]:
    """Return, by field, the members on which it is not a quantity, with its value there."""
    found: dict[FieldPath, dict[str, str]] = {}
    for member in members:
        for path, text in texts(member):
            if not _PLAIN.fullmatch(text) and not is_quantity(text):
                found.setdefault(path, {})[member.name] = text
    return found


def _usage(member: Cluster) -> Texts:
    """Yield a member's resources as KubeFleet or Karmada has them; values derived from the other's
    are left out.
    """
    usage, summary = member.usage, member.resource_summary
    given = {
        "capacity": usage.capacity,
        "allocatable": usage.allocatable,
        "available": usage.available,
    }
    yield from _amounts("resourceUsage", given)
    if summary and not any(given.values()):
        fields = {
            "allocatable": summary.allocatable,
            "allocated": summary.allocated,
            "allocating": summary.allocating,
        }
        yield from _amounts("resourceSummary", fields)
    for index, model in enumerate(member.resource_models or ()):
        yield from (
            (("spec", "resourceModels", index, "ranges"), text) for text in model.minimum.values()
        )


def _amounts(holder: str, fields: Mapping[str, Mapping[str, str]]) -> Texts:
    for field, amounts in fields.items():
        for resource, text in amounts.items():
            yield ("status", holder, field, resource), text


def _properties(member: Cluster) -> Texts:
    return ((("status", "properties", name), text) for name, text in member.properties.items())


def _problem(
    path: FieldPath, texts: Mapping[str, str], declarations: Mapping[str, Manifest]
) -> Problem:
    """Return the problem, located at the first member; the others are named."""
    first, *others = texts
    what = Message(
        "not-quantity",
        '"{text}" is not a quantity{others}',
        text=texts[first],
        others=f", nor is that of {few(others)}" if others else "",
    )
    if first in declarations:
        return declarations[first].problem(what, path, _HINT)
    return Problem(what, path[1:], _HINT, f"member {first}")
