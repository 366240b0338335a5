"""Warn of objects that go to members to which nothing brings the namespace that they are in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from fleet_components.content.catalogue import Catalogue
from fleet_components.content.select import HUB_NAMESPACES
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.problem import Problem
from fleet_components.model.text import Vocabulary, few
from fleet_components.plan.names import TEMPLATE_KIND
from fleet_components.plan.subject import Decided
from fleet_components.plan.vain import near_name

Members = set[str]
_UNLESS = "unless it is there already"


def forgotten_namespaces(catalogue: Catalogue, subjects: Iterable[Decided], inventory: Inventory) -> Iterator[Problem]:
    """Yield a problem for each namespace that is missing on some members, as far as that is known.

    Every cluster has ``default`` and the namespaces of Kubernetes itself; an observed member reports which others it
    has.

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
                needed[manifest.namespace].setdefault(_called(decided, manifest), set()).update(members)
    there = {
        name: set(cluster.namespaces or ()) for name, cluster in zip(inventory.names, inventory.clusters, strict=True)
    }
    known = Vocabulary(item.name for item in catalogue.alike("", "Namespace").manifests)
    for namespace in sorted(needed.keys() - set(HUB_NAMESPACES)):
        lacking = {
            name: _without(members - brought[namespace], namespace, there)
            for name, members in needed[namespace].items()
        }
        if who := sorted(name for name, members in lacking.items() if members):
            yield _forgotten(catalogue, known, namespace, who, sorted(set().union(*lacking.values())))


def _called(decided: Decided, manifest: Manifest) -> str:
    """Return what a message calls the subject of an object: a placement's name, or a template's object."""
    return str(manifest.key) if decided.subject.kind == TEMPLATE_KIND else decided.name.replace("/", " ", 1)


def _without(members: Members, namespace: str, there: Mapping[str, Members]) -> Members:
    return {name for name in members if namespace not in there.get(name, ())}


def _forgotten(
    catalogue: Catalogue, known: Vocabulary, namespace: str, who: Sequence[str], members: Sequence[str]
) -> Problem:
    """Return the problem for a namespace that is not placed on these members, or that the source does not have."""
    manifest, needs = catalogue.get(ObjectKey("", "Namespace", "", namespace)), "needs" if len(who) == 1 else "need"
    if manifest:
        what = f"does not go to {few(members)}, where {few(who)} {needs} it"
        hint = f"select it with a ClusterResourcePlacement, selectionScope: NamespaceOnly, {_UNLESS}"
        return manifest.problem(what, (), hint)
    what = f"nobody brings namespace {namespace} to {few(members)}, where {few(who)} {needs} it"
    near = near_name(namespace, known)
    add = f"add a Namespace {namespace} to the manifests, {_UNLESS}"
    hint = f'did you mean "{near}"? else {add}' if near else add
    first = next(iter(catalogue.contents(namespace)), None)
    return first.problem(what, ("metadata", "namespace"), hint) if first else Problem(what, (), hint, who[0])
