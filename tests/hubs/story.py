"""Stories of a hub: it is observed, its directory is edited, and what the plan says is what the hub then does.

A story changes one selected object at a time where numbers of revisions are to be compared: a hub that collects no
changes makes a snapshot of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import attrs
import yaml

from fleet_components.content.observed import MEMORY, is_observed
from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.reading import read_hub
from fleet_components.live.hub import ask_hub
from fleet_components.live.kubeconfig_file import context_of
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.reader import API_VERSION
from fleet_components.plan.departures import Fate, unseen
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.past import Past
from fleet_components.plan.record import Record
from fleet_components.plan.remainder import MOST_UPDATES
from fleet_components.plan.subject import Decided
from fleet_components.review.planning.survey import CommandLine, survey
from fleet_components.rollout.rollout import Change, Done
from fleet_components.systems.karmada.plan.record import TemplateRecord
from tests.clusters.documents import Document, judging
from tests.hubs.objects import Objects
from tools.clusters.cluster import Cluster

_STILL = (Change.KEEP, Change.HELD)
_STEERING = (".kubernetes-fleet.io", ".karmada.io")
_STAYS = (Fate.KEPT, Fate.FORGOTTEN)
Words = Callable[[Decided, Objects], Iterator[str]]
"""Yields what a hub says of a subject otherwise than the plan; the subject is as it is once all is carried out."""
Edit = Callable[[Document], object]


class Hub(Protocol):
    """A hub that runs, and its members."""

    @property
    def hub(self) -> Cluster:
        """The API server of the hub."""

    @property
    def members(self) -> Mapping[str, Cluster]:
        """The API servers of the members, by name."""

    def settle(self, seconds: float, /) -> None:
        """Return when nothing has changed for so many seconds."""


@attrs.frozen
class Known:
    """A difference between a plan and what a hub does that is as it has to be.

    Attributes:
        pattern: a regular expression that the whole difference matches.
        cause: the fact, or the source of the real system, that causes it.
    """

    pattern: str
    cause: str


@attrs.define
class Story:
    """An observed directory of a hub that somebody edits.

    Attributes:
        hub: the hub.
        folder: the directory.
        words: compares what the hub says of a subject.
        known: differences that are as they have to be.
        met: those that have occurred.
        rest: seconds in which nothing may change once the hub has come to rest.
        release: the release of its system that the hub is said to run; empty for the one that it shows.
    """

    hub: Hub
    folder: Path
    words: Words
    known: tuple[Known, ...] = ()
    met: set[Known] = attrs.field(factory=set)
    rest: float = 7.0
    release: str = ""
    _seen: dict[str, Document] = attrs.field(factory=dict)
    _open: ExitStack = attrs.field(factory=ExitStack)
    _asked: dict[Path, Objects] = attrs.field(factory=dict)

    def close(self) -> None:
        """Close the connections."""
        self._open.close()

    def objects(self, member: str = "") -> Objects:
        """The objects of the hub, or those of a member."""
        cluster = self.hub.members[member] if member else self.hub.hub
        if cluster.kubeconfig not in self._asked:
            self._asked[cluster.kubeconfig] = Objects(self._open.enter_context(judging(cluster)))
        return self._asked[cluster.kubeconfig]

    def observe(self) -> None:
        """Observe the hub, as ``fleet observe --update`` does."""
        listing = ask_hub(context_of(self.hub.hub.kubeconfig, "", subject="the hub"))
        listing = attrs.evolve(listing, release=self.release)  # no image shows it
        write_observation(
            self.folder, read_hub(listing), update=is_observed(self.folder), secrets=False
        )
        self._seen = self._written()

    def begin(self, *wanted: Document) -> None:
        """Make objects on the hub, observe it when it has come to rest, and see that nothing is left to do."""
        self.objects().apply(wanted)
        for seconds in (1.5, 3.0, self.rest):
            self.hub.settle(seconds)
            self.observe()
            plan = self.plan()
            awaited = any(
                item.awaited for done in plan.past.done.values() for item in done.values()
            )
            if not awaited and not list(changes(plan)):
                break
        self.quiet()

    def plan(self) -> FleetPlan:
        """The plan of the directory, as ``fleet plan`` makes it."""
        (plan,) = survey([self.folder], CommandLine()).plans
        return plan

    def quiet(self) -> FleetPlan:
        """The plan of the directory, which has nothing to do."""
        plan = self.plan()
        found = self._unknown(changes(plan))
        assert not found, "the plan right after an observation has changes:\n" + "\n".join(found)
        return plan

    def edit(self, path: str, change: Edit) -> None:
        """Change an object in its file, as a person would."""
        file = self.folder / path
        (data,) = yaml.safe_load_all(file.read_text())
        change(data)
        self.write(path, data)

    def copy(self, path: str, other: str, *edits: Edit) -> None:
        """Copy a file as a person would, and change the copy."""
        (self.folder / other).write_text((self.folder / path).read_text())
        for change in edits:
            self.edit(other, change)

    def add(self, *wanted: Document) -> None:
        """Add objects, each in a file where an observation would have it."""
        for data in wanted:
            item = Manifest(data)
            steers = item.group.endswith(_STEERING) and not item.kind.endswith("Envelope")
            folder = f"policies/{item.kind}" if steers else f"objects/{item.namespace}"
            name = ".".join(filter(None, (item.namespace if steers else item.kind, item.name)))
            self.write(f"{folder}/{name}.yaml", data)

    def write(self, path: str, data: Document) -> None:
        """Write a file."""
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(yaml.safe_dump(data, sort_keys=False))

    def remove(self, *paths: str) -> None:
        """Remove files."""
        for path in paths:
            (self.folder / path).unlink()

    def carry_out(self) -> None:
        """Do to the hub what was done to the directory since it was observed: that, and nothing else."""
        before, now, hub = self._seen, self._written(), self.objects()
        for name in sorted(
            now.keys() | before.keys(), key=lambda item: ("Namespace" not in item, item)
        ):
            if name not in now:
                hub.delete(hub.judge.path(before[name]))
            elif name not in before:
                hub.apply([{key: value for key, value in now[name].items() if key != "status"}])
            if name in now and now[name] != before.get(name):
                self._change(now[name], before.get(name, {}))
        self._seen = now

    def carried_out(self, rest: float = 0.0) -> FleetPlan:
        """Plan, carry out, wait until the hub has come to rest, and compare; the plan is returned.

        Args:
            rest: seconds in which nothing may change before a difference counts; by default :attr:`rest`.
        """
        plan = self.plan()
        self.carry_out()
        self.compare(plan, rest)
        return plan

    def compare(self, plan: FleetPlan, rest: float = 0.0) -> None:
        """Compare what a plan has said with the hub at rest, and see that nothing is left to do.

        A hub that already is as planned need not rest for long: what it does later, the next comparison sees.

        Raises:
            AssertionError: there are differences of unknown cause.
        """
        unknown: list[str] = []
        at_rest = rest or self.rest
        # What fails on a member, as in a namespace that is still being deleted, is tried again after growing intervals.
        for seconds in (1.5, 3.0, at_rest, 3 * at_rest):
            self.hub.settle(seconds)
            self.observe()
            after = self.plan()
            found = [
                *self.differences(plan, after),
                *(f"left: {words}" for words in changes(after)),
            ]
            if not (unknown := self._unknown(found)):
                return
        raise AssertionError(
            "the hub has done otherwise than the plan said:\n" + "\n".join(unknown)
        )

    def differences(self, plan: FleetPlan, after: FleetPlan) -> Iterator[str]:
        """What a plan has said, against what a hub has done and what stands on its members.

        Args:
            plan: the plan.
            after: the plan of a new observation, whose past is what the hub has now.
        """
        wanted: dict[tuple[str, ObjectKey], Document] = {}
        for decided in map(settled, plan.subjects):
            planned, has = (
                objects_by_member(decided, decided.record),
                after.past.records.get(decided.name),
            )
            if not decided.subject.reports:
                wanted |= {
                    (m, key): data
                    for m, objects in planned.items()
                    for key, data in objects.items()
                }
            if has is None:
                yield f"{decided.name}: the hub does not have it"
            else:
                yield from _otherwise(decided, planned, after.past, has)
                yield from (
                    f"{decided.name}: {said}" for said in self.words(decided, self.objects())
                )
        yield from (
            f"{name}: the hub has it still" for name in plan.gone if name in after.past.records
        )
        for (member, key), data in wanted.items():
            stands = self._on_member(member, data)
            if stands is None:
                yield f"{member}: {key} is not there"
            else:
                yield from (f"{member}: {key}: {wrong}" for wrong in lacking(data, stands))
        stays = {
            (departure.cluster, departure.key)
            for departure in plan.departures
            if departure.fate in _STAYS
        }
        stays |= {(item.cluster, item.key) for item in unseen(plan.subjects, plan.past)}
        for item in plan.past.standing:
            place = item.cluster, item.key
            header = {"apiVersion": item.api_version, "kind": item.key.kind, "metadata": item.key}
            there = item.cluster in self.hub.members and self._on_member(item.cluster, header)
            if place not in wanted and bool(there) != (place in stays):
                yield f"{item.cluster}: {item.key} is {'there still' if there else 'gone'}"

    def _on_member(self, member: str, data: Mapping[str, Any]) -> Document | None:
        objects, metadata = self.objects(member), data["metadata"]
        if isinstance(metadata, ObjectKey):
            metadata = {
                "name": metadata.name,
                **({"namespace": metadata.namespace} if metadata.namespace else {}),
            }
        found = objects.get(objects.judge.path({**data, "metadata": metadata}))
        return None if found is None or "deletionTimestamp" in found["metadata"] else found

    def _written(self) -> dict[str, Document]:
        """The objects of the directory by kind and names, without what is remembered and what no hub knows."""
        files = (
            file
            for file in self.folder.rglob("*.yaml")
            if file.relative_to(self.folder).parts[0] != MEMORY
        )
        found = (data for file in files for data in yaml.safe_load_all(file.read_text()) if data)
        return {
            "|".join(Manifest(data).key): data
            for data in found
            if data["apiVersion"] != API_VERSION
        }

    def _change(self, data: Document, before: Document) -> None:
        """Change of an object what was changed of its file."""
        judge = self.objects().judge
        for part in ("", "status"):
            old, new = (
                {k: v for k, v in item.items() if (k == "status") == bool(part)}
                for item in (before, data)
            )
            if part and "conditions" in new.get(part, {}):
                new = {
                    part: {
                        "conditions": [{**_CONDITION, **item} for item in new[part]["conditions"]]
                    }
                }
            if (patch := merged(old, new)) and (before or part):
                kind = {"Content-Type": "application/merge-patch+json"}
                answer = judge.client.patch(
                    f"{judge.path(data)}{part and f'/{part}'}", json=patch, headers=kind
                )
                assert answer.is_success, answer.json()["message"]

    def _unknown(self, found: Iterable[str]) -> list[str]:
        """The differences of which the cause is not known."""
        unknown = []
        for difference in found:
            causes = {
                item for item in self.known if re.fullmatch(item.pattern, difference, re.DOTALL)
            }
            self.met |= causes
            unknown += [] if causes else [difference]
        return unknown


_CONDITION = {
    "reason": "ByHand",
    "message": "",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
    "observedGeneration": 1,
}
"""What an API server asks of a condition that nobody writes in a directory."""


def put(value: object, *path: str | int) -> Edit:
    """The edit that sets a value."""
    *above, last = path

    def change(data: Any) -> None:
        for step in above:
            data = data.setdefault(step, {}) if isinstance(data, dict) else data[step]
        data[last] = value

    return change


def changes(plan: FleetPlan) -> Iterator[str]:
    """What a plan would do, in words."""
    yield from (f"refused: {problem}" for problem in plan.refused)
    yield from (
        f"{departure.subject}: {departure.key} leaves {departure.cluster}: {departure.fate}"
        for departure in plan.departures
    )
    yield from (
        f"{replacement.subject}: {replacement.key} is made anew on {replacement.cluster}"
        for replacement in plan.replacements
    )
    yield from (f"{name} goes" for name in plan.gone)
    for subject in plan.subjects:
        moves = {
            name: entry for name, entry in subject.entries.items() if entry.change not in _STILL
        }
        yield from (
            f"{subject.name}: {name}: {entry.change} {entry.placed}"
            for name, entry in moves.items()
        )
        if not moves and subject.changes:
            before, now = subject.before.to_wire(), subject.record.to_wire()
            parts = [
                f"{key}: {before.get(key)} -> {now[key]}"
                for key in now
                if now[key] != before.get(key)
            ]
            yield f"{subject.name}: remembers otherwise: {'; '.join(parts)}"
        if plan.asks_otherwise(subject):
            yield f"{subject.name}: is asked for otherwise"
    members: object = {name: member.state for name, member in plan.past.members.items()}
    remembered: tuple[tuple[str, object, object], ...] = (
        ("members", members, plan.members),
        ("what waits", plan.past.waiting, plan.waiting),
        ("fixed fields", plan.past.held, plan.held),
        ("settings", plan.past.settings, plan.options.settings),
    )
    yield from (f"{what}: {then} -> {now}" for what, then, now in remembered if then != now)


def settled(decided: Decided) -> Decided:
    """The decision once its update and all that need nothing but another update are carried out."""
    last = decided
    for _ in range(MOST_UPDATES):
        done = {name: last.settled(name) for name in last.record.decisions}
        subject: Any = last.subject
        following = attrs.evolve(subject, done=done)
        next_one = Decided(following, last.record, following.decide(last.record))
        if not next_one.changes:
            return next_one
        last = next_one
    raise AssertionError(f"{decided.name} does not come to rest")


def objects_by_member(
    decided: Decided, record: Record[Any, Any]
) -> dict[str, dict[ObjectKey, Document]]:
    """The objects of each member of a record."""
    clusters, position = decided.subject.inventory.clusters, decided.subject.inventory.position
    found = {}
    for member, placed in record.decisions.items():
        objects = record.objects(placed, clusters[position(member) or 0])
        found[member] = {Manifest(data).key: dict(data) for data in objects}
    return found


def lacking(wanted: Any, found: Any, path: str = "") -> Iterator[str]:
    """Where something is not found that is wanted; more may be there."""
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for key, value in wanted.items():
            yield from lacking(value, found.get(key), f"{path}.{key}")
    elif (
        isinstance(wanted, (list, tuple)) and isinstance(found, list) and len(wanted) == len(found)
    ):
        for number, value in enumerate(wanted):
            yield from lacking(value, found[number], f"{path}[{number}]")
    elif wanted != found and not (not wanted and found is None):
        yield f"{path} is {found!r}, not {wanted!r}"


def merged(before: Any, now: Any) -> Any:
    """The JSON merge patch between two objects."""
    changed = {key: value for key, value in now.items() if value != before.get(key)}
    both = {
        key
        for key, value in changed.items()
        if isinstance(value, dict) and isinstance(before.get(key), dict)
    }
    return {
        **{
            key: merged(before[key], value) if key in both else value
            for key, value in changed.items()
        },
        **{key: None for key in before if key not in now},
    }


def _otherwise(
    decided: Decided,
    planned: Mapping[str, Mapping[ObjectKey, Document]],
    past: Past,
    has: Record[Any, Any],
) -> Iterator[str]:
    """What a hub has decided and sent otherwise than planned."""
    there, name = objects_by_member(decided, has), decided.name
    for member in sorted(planned.keys() - there.keys()):
        yield f"{name}: {member} does not have it"
    for member in sorted(there.keys() - planned.keys()):
        yield f"{name}: {member} has it, and should not"
    numbered = not isinstance(has, TemplateRecord)  # Karmada numbers nothing
    if numbered and has.revision != decided.record.revision:
        yield f"{name}: revision {has.revision}, not {decided.record.revision}"
    for member in sorted(planned.keys() & there.keys()):
        old, new = decided.record.decisions[member], has.decisions[member]
        if numbered and old.revision != new.revision:
            yield f"{name}: {member} has revision {new.revision}, not {old.revision}"
        # A new object of a directory has no defaults yet, so more may be there.
        yield from (
            f"{name}: {member}: {wrong}" for wrong in _other_objects(planned[member], there[member])
        )
        if past.done.get(name, {}).get(member, Done(None)).awaited:
            yield f"{name}: {member} is not ready"


def _other_objects(
    planned: Mapping[ObjectKey, Document], there: Mapping[ObjectKey, Document]
) -> Iterator[str]:
    yield from (
        f"{key} is sent, and should not be" for key in sorted(there.keys() - planned.keys())
    )
    for key, data in sorted(planned.items()):
        if key not in there:
            yield f"{key} is not sent"
        else:
            yield from (f"{key} as sent: {wrong}" for wrong in lacking(data, there[key]))
