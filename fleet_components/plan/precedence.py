"""Order objects across subjects: on each member, what an object lives in comes first.

The phases of a subject order its own objects. Between subjects, a dependency leads from object to
object on one member, so that subjects may need each other. An object that a member has unchanged
delays nothing. An object that this update creates or changes comes in the wave of its subject, and
what needs it waits. A member is held where the object does not come in this update, or would come
after what needs it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain, groupby, pairwise
from typing import Any, NamedTuple, Self

import attrs

from fleet_components.content.catalogue import HUB_NAMESPACES
from fleet_components.content.order import LAST_PHASE, needed, phase, provided
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import NEXT_UPDATE, Phrase
from fleet_components.model.text import few
from fleet_components.plan.departures import old_objects
from fleet_components.plan.guard import Pair
from fleet_components.plan.past import Past
from fleet_components.plan.record import Objects
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Change, Gate, Opens

_MOVES = (Change.ADD, Change.UPDATE)
Node = tuple[Any, ...]
Edge = tuple[Node, Node]


@attrs.frozen(slots=False)
class Content:
    """Objects that one subject brings to a member, as others see them.

    Attributes:
        objects: the objects. They stay alive with it, so that their identity distinguishes
            contents.
        provides: the key of each object, by what it is to those that need it.
        needs: what each object needs.
        phases: the phase of what is provided, and the first in which something else is needed.
    """

    objects: Objects
    provides: Mapping[ObjectKey, ObjectKey]
    needs: Mapping[ObjectKey, tuple[ObjectKey, ...]]
    phases: Mapping[ObjectKey, int]

    @classmethod
    def of(cls, objects: Objects) -> Self:
        """Read what objects provide and need."""
        manifests = [Manifest(data) for data in objects]
        provides = {provided(manifest): manifest.key for manifest in manifests}
        phases = {provided(manifest): phase(manifest) for manifest in manifests}
        needs = {}
        for manifest in manifests:
            needs[manifest.key] = tuple(dict.fromkeys(needed(manifest)))
            for need in set(needs[manifest.key]) - provides.keys():
                phases[need] = min(phase(manifest), phases.get(need, LAST_PHASE))
        return cls(objects, provides, {key: those for key, those in needs.items() if those}, phases)

    @cached_property
    def needed(self) -> tuple[ObjectKey, ...]:
        """All that its objects need and it does not provide, sorted."""
        needs = {need for needs in self.needs.values() for need in needs}
        return tuple(sorted(needs - self.provides.keys()))


class Provider(NamedTuple):
    """A subject that brings an object to a member, with the key of the object."""

    subject: Decided
    key: ObjectKey

    def __str__(self) -> str:
        name = self.subject.name.replace("/", " ", 1)
        return str(self.key) if self.subject.subject.SINGLE else f"{self.key} of {name}"


class Wait(NamedTuple):
    """A subject that needs, on one member, what another creates or changes there in this update."""

    subject: Decided
    cluster: str
    need: ObjectKey
    provider: Provider


class Hold(NamedTuple):
    """A member that is held, with its gate and the subject that it waits for."""

    cluster: str
    gate: Gate
    by: str


class Precedence:
    """Order of the objects of a plan on each member.

    Attributes:
        waits: what each subject waits for in this update, by its name.
    """

    def __init__(
        self,
        subjects: Sequence[Decided] = (),
        past: Past | None = None,
        inventory: Inventory | None = None,
        stands: Collection[Pair] = (),
    ) -> None:
        """Find out what is needed and what brings it.

        Args:
            subjects: the decisions.
            past: what was delivered before.
            inventory: the members.
            stands: the objects that stand before this update, each with its member.
        """
        self._past, self._inventory, self._stands = (
            past or Past(),
            inventory or Inventory(()),
            stands,
        )
        applied = [decided for decided in subjects if not decided.subject.reports]
        self._subjects = {decided.name: decided for decided in applied}
        self._contents: dict[int, Content] = {}
        self._members = {decided.name: self._by_content(decided) for decided in applied}
        self._wanted = {need for content in self._contents.values() for need in content.needed}
        self._brought: dict[ObjectKey, dict[str, Provider]] = defaultdict(dict)
        self._later: dict[ObjectKey, dict[str, Provider]] = defaultdict(dict)
        for decided in self._subjects.values():
            self._index(decided)
        self._settled: dict[tuple[str, str, ObjectKey], bool] = {}
        self._dropped: set[tuple[str, str, ObjectKey]] = set()
        self.waits = {name: list(self._waits_of(name)) for name in self._direct}

    @cached_property
    def _direct(self) -> dict[str, Decided]:
        """The subjects that no hub carries out."""
        return {name: decided for name, decided in self._subjects.items() if not decided.hub}

    def _by_content(self, decided: Decided) -> list[tuple[Content, list[str]]]:
        """Return the distinct contents of a subject, each with its members."""
        found: dict[int, list[str]] = defaultdict(list)
        for cluster, delivery in decided.deliveries.items():
            number = id(delivery.written)
            found[number].append(cluster)
            if number not in self._contents:
                self._contents[number] = Content.of(delivery.written)
        return [(self._contents[number], members) for number, members in found.items()]

    def _index(self, decided: Decided) -> None:
        """Note what a subject brings in this update, and to the members that are held now."""
        for content, members in self._members[decided.name]:
            for need in content.provides.keys() & self._wanted:
                provider = Provider(decided, content.provides[need])
                self._brought[need].update(dict.fromkeys(members, provider))
        # Members that are about to leave get nothing later.
        left = decided.outcome.rollout.held_removals
        keeps = [c for c, entry in decided.entries.items() if entry.change is Change.HELD]
        held = [cluster for cluster in keeps if cluster not in left]
        provides = Content.of(decided.subject.objects).provides if held and self._wanted else {}
        for need in provides.keys() & self._wanted:
            self._later[need].update(dict.fromkeys(held, Provider(decided, provides[need])))

    def _waits_of(self, name: str) -> Iterator[Wait]:
        for content, members in self._members[name]:
            for need in content.needed:
                providers = self._brought.get(need, {})
                for cluster in members if providers else ():
                    provider = providers.get(cluster)
                    # The order within a subject is that of its phases.
                    if provider is None or provider.subject.name == name:
                        continue
                    if not self._is_settled(cluster, provider):
                        yield Wait(self._subjects[name], cluster, need, provider)

    def _is_settled(self, cluster: str, provider: Provider) -> bool:
        """Return whether a member has an object as its subject brings it: nothing waits for it."""
        found = (provider.subject.name, cluster, provider.key)
        # The recursion ends: no objects need each other in a circle (see content/order.py).
        if found not in self._settled:
            self._settled[found] = self._stays(cluster, *provider)
        return self._settled[found]

    def _stays(self, cluster: str, decided: Decided, key: ObjectKey) -> bool:
        here, sent = decided.done(cluster), decided.before.decisions.get(cluster)
        interrupted = here.broken or sent is None or sent.version != here.version
        if decided.hub or interrupted or (cluster, key) not in self._stands:
            return False
        needs = self._content(decided, cluster).needs.get(key, ())
        providers = filter(None, (self._provider(decided.name, cluster, need) for need in needs))
        # Nor does it wait for what it needs itself.
        if not all(self._is_settled(cluster, found) for found in providers):
            return False
        old, now = (
            old_objects(self._past, decided, decided.name, cluster),
            decided.deliveries[cluster].objects,
        )
        # Mostly the same tuple, as members share their content.
        return old is now or [data for data in old if Manifest(data).key == key] == [
            data for data in now if Manifest(data).key == key
        ]

    def _content(self, decided: Decided, cluster: str) -> Content:
        return self._contents[id(decided.deliveries[cluster].written)]

    def settled(self, decided: Decided, cluster: str) -> frozenset[ObjectKey]:
        """Return the objects of a subject that others need on a member and that are unchanged."""
        if decided.name not in self._direct:
            return frozenset()
        keys = self._content(decided, cluster).provides.values()
        return frozenset(key for key in keys if self._settled.get((decided.name, cluster, key)))

    def needs(self, decided: Decided, cluster: str) -> Mapping[ObjectKey, tuple[ObjectKey, ...]]:
        """Return which objects each object depends on beside its phase, on one member."""
        found: dict[ObjectKey, tuple[ObjectKey, ...]] = {}
        is_direct = decided.name in self._direct
        content = self._content(decided, cluster) if is_direct else Content.of(())
        for key, needs in content.needs.items():
            known = (self._provider(decided.name, cluster, need) for need in needs)
            providers = [provider for provider in known if provider]
            # Phases order the objects of one subject, but for those that wait for no phase.
            if not self._settled.get((decided.name, cluster, key)):
                providers = [other for other in providers if other.subject.name != decided.name]
            found[key] = tuple(provider.key for provider in providers)
        return found

    def _provider(self, name: str, cluster: str, need: ObjectKey) -> Provider | None:
        provider = self._brought.get(need, {}).get(cluster)
        if provider is None or provider.subject.hub:
            return None
        return None if (name, cluster, need) in self._dropped else provider

    def held(self) -> Mapping[str, list[Hold]]:
        """Return the members that have to be held, by subject; empty if all has its order."""
        found: dict[str, list[Hold]] = defaultdict(list)
        for name, decided in self._direct.items():
            for content, members in self._members[name]:
                moving = [c for c in members if decided.entries[c].change in _MOVES]
                for need in content.needed if moving else ():
                    # Only members that move need anything: the others have it, or are held already.
                    found[name] += self._missing(decided, moving, need)
        found = {name: holds for name, holds in found.items() if holds}
        return found or self._opposed()

    def _missing(self, decided: Decided, moving: Iterable[str], need: ObjectKey) -> Iterator[Hold]:
        """Yield the members that lack a need in this update and to which it comes later."""
        brought, later = self._brought.get(need, {}), self._later.get(need, {})
        for cluster in moving if brought or later else ():
            provider = brought.get(cluster) or later.get(cluster)
            if provider is None or self._has(decided, cluster, need, provider):
                continue
            subject, what = provider.subject, f"it needs {provider}"
            if subject.hub:
                why: Phrase | str = Phrase(
                    "{need}, which goes through a hub; {update} goes on",
                    need=what,
                    update=NEXT_UPDATE,
                )
                yield Hold(cluster, Gate(why, Opens.UPDATE), subject.name)
            elif cluster not in brought:
                # The member waits for the same that holds the other subject there.
                entry = subject.entries[cluster]
                why = f"{what}, which is held there: {entry.reason}"
                yield Hold(cluster, attrs.evolve(entry.gate or Gate(why), why=why), subject.name)

    def _has(self, decided: Decided, cluster: str, need: ObjectKey, provider: Provider) -> bool:
        """Return whether a member is known to have what is needed before this update."""
        if provider.subject.name == decided.name or (cluster, provider.key) in self._stands:
            return True
        if need[:2] == ("", "Namespace"):
            position = self._inventory.position(cluster)
            # None: the member has reported no namespaces.
            known = None if position is None else self._inventory.clusters[position].namespaces
            if need.name in HUB_NAMESPACES or need.name in (known or ()):
                return True
        # Where an object stands, what it lives in stands too.
        stood = list(map(Manifest, old_objects(self._past, decided, decided.name, cluster)))
        stood = [found for found in stood if (cluster, found.key) in self._stands]
        return any(need in needed(found) for found in stood)

    def _is_new(self, wait: Wait) -> bool:
        moves = wait.subject.entries[wait.cluster].change in _MOVES
        return moves and not self._has(wait.subject, wait.cluster, wait.need, wait.provider)

    def _opposed(self) -> Mapping[str, list[Hold]]:
        """Return the members that are held because waves would wait for each other in a circle."""
        all_waits = chain.from_iterable(self.waits.values())
        waits = [wait for wait in all_waits if not wait.provider.subject.hub]
        by_name: dict[Node, set[Node]] = {
            (name,): {(first,) for first in decided.first} for name, decided in self._direct.items()
        }
        for wait in waits:
            by_name[(wait.subject.name,)].add((wait.provider.subject.name,))
        # The waves of a subject have an order: a circle takes subjects that need each other.
        if not _circle(by_name):
            return {}
        found: dict[str, list[Hold]] = defaultdict(list)
        places = {name: place for place, name in enumerate(self._direct)}

        def last_to_go(wait: Wait) -> tuple[bool, bool, int, str]:
            # An update run stops at a held member; a rolling update goes on with the others.
            name, timed = wait.subject.name, wait.subject.subject.timed
            return not self._is_new(wait), not timed, places[name], wait.cluster

        while True:
            graph, reasons = self._by_phase(waits)
            inside = [reasons[edge] for edge in pairwise(_circle(graph)) if edge in reasons]
            if not inside:
                return found
            # The wait of which it does the least harm that it is given up.
            wait = max(inside, key=last_to_go)
            name, cluster = wait.subject.name, wait.cluster
            waits.remove(wait)
            self.waits[name].remove(wait)
            self._dropped.add((name, cluster, wait.need))
            if self._is_new(wait):
                why = Phrase(
                    "it needs {provider}, whose rollout waits for this one; {update} goes on",
                    provider=wait.provider,
                    update=NEXT_UPDATE,
                )
                provider = wait.provider.subject.name
                found[name].append(Hold(cluster, Gate(why, Opens.UPDATE), provider))

    def _by_phase(self, waits: Iterable[Wait]) -> tuple[dict[Node, set[Node]], dict[Edge, Wait]]:
        """Return what each phase of each subject on each member comes after, and why.

        A node is a subject with its wave; with a member and the last phase that is through; or with
        a member and an object. An edge leads from what comes first.
        """
        graph: dict[Node, set[Node]] = {}
        reasons: dict[Edge, Wait] = {}
        for name, decided in self._direct.items():
            before: set[Node] = set()
            for number, clusters in waves(decided):
                for cluster in clusters:
                    first: set[Node] = {(other, cluster, LAST_PHASE) for other in decided.first}
                    # -1 stands for the time before the first phase.
                    graph[name, cluster, -1] = before | first
                    for step in range(LAST_PHASE + 1):
                        graph[name, cluster, step] = {(name, cluster, step - 1)}
                graph[name, number] = before | {(name, cluster, LAST_PHASE) for cluster in clusters}
                before = {(name, number)}
        offered: dict[tuple[str, str], set[ObjectKey]] = defaultdict(set)
        for wait in waits:
            node = _object(wait.cluster, wait.provider)
            step = self._content(wait.provider.subject, wait.cluster).phases[wait.need]
            graph[node] = {(*node[:2], step - 1)}
            graph[(*node[:2], step)].add(node)
            offered[node[0], node[1]].add(wait.provider.key)
        for wait in waits:
            decided, cluster, need, provider = wait
            content = self._content(decided, cluster)
            # What others need may itself be among the objects that wait.
            offers = offered[decided.name, cluster]
            keys = [key for key in offers if need in content.needs.get(key, ())]
            dependents = [_object(cluster, Provider(decided, key)) for key in keys]
            for node in (*dependents, (decided.name, cluster, content.phases[need])):
                graph[node].add(_object(cluster, provider))
                reasons[_object(cluster, provider), node] = wait
        return graph, reasons

    def notes(self, decided: Decided) -> Iterator[str]:
        """Yield what a subject waits for in this update, with the members."""
        members: dict[str, list[str]] = defaultdict(list)
        for wait in self.waits.get(decided.name, ()):
            if decided.entries[wait.cluster].change in _MOVES:
                members[str(wait.provider)].append(wait.cluster)
        for provider, clusters in members.items():
            yield f"comes after {provider} on {few(sorted(clusters))}"


def ordered(
    subjects: Sequence[Decided], past: Past, inventory: Inventory, stands: Collection[Pair]
) -> tuple[tuple[Decided, ...], Precedence, Mapping[str, frozenset[str]]]:
    """Return the decisions in which members wait, the order, and who waits for whom.

    Args:
        subjects: the decisions, without any such wait.
        past: what was delivered before.
        inventory: the members.
        stands: the objects that stand before this update, each with its member.

    Raises:
        FleetError: a subject cannot be decided while some of its members wait.
    """
    blocked: dict[str, set[str]] = defaultdict(set)
    while True:
        # Ends, since each round holds members that were moving in the one before.
        precedence = Precedence(subjects, past, inventory, stands)
        held = precedence.held()
        if not held:
            return (
                tuple(subjects),
                precedence,
                {name: frozenset(by) for name, by in blocked.items()},
            )
        for name, holds in held.items():
            blocked[name].update(hold.by for hold in holds)
        subjects = [_waiting(decided, held.get(decided.name, ())) for decided in subjects]


def waves(decided: Decided) -> list[tuple[int, list[str]]]:
    """Return the members of a decision by wave: where they stay, the last in which they moved."""
    decisions = decided.record.decisions
    members = sorted(decisions, key=lambda cluster: (decisions[cluster].wave, cluster))
    groups = groupby(members, key=lambda cluster: decisions[cluster].wave)
    return [(number, list(group)) for number, group in groups]


def _waiting(decided: Decided, holds: Sequence[Hold]) -> Decided:
    # A member that waits for several things names the first.
    gates = {hold.cluster: hold.gate for hold in reversed(holds)}
    return decided.waiting(gates) if gates else decided


def _object(cluster: str, provider: Provider) -> Node:
    return provider.subject.name, cluster, "object", provider.key


def _circle(graph: Mapping[Node, set[Node]]) -> Sequence[Node]:
    """Return nodes that come after each other in a circle; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # Each node comes before the next one, and the last one is the first again.
        circle: Sequence[Node] = error.args[1]
        return circle
    return ()
