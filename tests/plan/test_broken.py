"""After an update that broke anywhere, a plan says what the next one changes, and all of it.

An engine with its Kubernetes provider, in process: what an object becomes on its member, and what
the state records of
it, when its creation, update, replacement or deletion breaks before, in the middle or after.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any

import attrs
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fleet_components.content.replacement import immutable, replacement
from fleet_components.content.stamp import MARKS
from fleet_components.model.manifest import ObjectKey
from fleet_components.plan import names
from fleet_components.plan.departures import UNRECORDED, Fate
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.names import Urn
from fleet_components.plan.state import StackState, StoredResource
from fleet_components.review.documents.differences import differences
from fleet_components.review.documents.wire import as_data
from fleet_components.testing import Registration, reveal
from tests.plan.stack import Pair, Seen, Stack, pair_of
from tests.plan.test_histories import alike

Data = Mapping[str, Any]
MEMBERS = ("a", "b")


class Break(StrEnum):
    """How the write of an object ends at which an update breaks."""

    REFUSED = "refused"
    """Nothing changes there; the provider records what it was to send, beside what it has found."""
    DENIED = "denied"
    """Nothing changes there, and the provider cannot read the object either: the state stays."""
    TIMEOUT = "timeout"
    """It is written, and does not become ready."""
    KILLED = "killed"
    """It is written, and the engine does not live to record it."""


@attrs.frozen
class Live:
    """An object on a member."""

    uid: int
    data: Data


@attrs.define
class BreakingStack(Stack):
    """A stack with its members, on which an update may break at any object.

    Attributes:
        objects: what members have.
        asked: objects that the program asks the engine to replace.
        broken: whether a deletion at the end of the last update has broken.
        killed: objects at which an update was killed.
    """

    objects: dict[Pair, Live] = attrs.field(factory=dict)
    asked: frozenset[Pair] = frozenset()
    broken: bool = False
    killed: set[Pair] = attrs.field(factory=set)

    def copy(self) -> BreakingStack:
        """Return a stack with the same history, and a future of its own."""
        return attrs.evolve(
            self,
            objects=dict(self.objects),
            killed=set(self.killed),
            retained=set(self._retained),
        )

    def update(
        self,
        documents: list[Data],
        config: Data,
        at: Pair | None = None,
        how: Break = Break.DENIED,
        planned: Seen | None = None,
    ) -> Seen:
        """Run the program, and carry it out, up to the object at which it breaks.

        Args:
            documents: the source.
            config: the configuration.
            at: the object at which the update breaks.
            how: how it breaks.
            planned: the preview of the same source and configuration; made here by default.
        """
        broken: list[Registration] = []
        planned = planned or self.program(documents, config)
        if planned.refused:
            return planned
        assert planned.plan is not None, planned.run.error
        self.asked, self.broken = frozenset(planned.plan.replaced), False

        def breaks(registration: Registration) -> bool:
            if (
                not broken
                and names.is_object(registration.type)
                and pair_of(registration.urn) == at
                and self.writes(registration)
            ):
                broken.append(registration)
            return bool(broken) and registration.custom

        # The run of a preview registers the same resources where nothing breaks.
        seen = self.program(documents, config, breaks=breaks) if at else planned
        # Every update drops the operations that were under way when the last one was killed, unless
        # they create something (pulumi/pulumi v3.260.0, pkg/backend/journal.go).
        self.state = StackState(
            {
                urn: attrs.evolve(resource, interrupted="")
                for urn, resource in self.state.resources.items()
            }
        )
        before = self.state.resources
        after = {
            urn: attrs.evolve(resource, interrupted="")
            for urn, resource in seen.run.state().resources.items()
        }
        gone = {self._old(registration) for registration in seen.run.registrations} - {
            registration.urn for registration in seen.run.registrations
        }
        for item in seen.run.registrations:
            if names.is_object(item.type):
                after[item.urn] = self.write(item)
        for item in broken:
            after |= self.breaking(item, how)
        self._retained |= {
            registration.urn
            for registration in seen.run.registrations
            if registration.options.get("retainOnDelete")
        }
        for urn in gone:
            after.pop(urn, None)
        if not seen.run.error:
            known = {registration.urn for registration in seen.run.registrations} | gone
            after |= self.delete(sorted(before.keys() - known), at, how)
        self.state = StackState(after)
        return seen

    def delete(self, urns: list[str], at: Pair | None, how: Break) -> dict[str, StoredResource]:
        """Delete what is registered no more; return what is left if that breaks."""
        objects = [urn for urn in urns if names.is_object(Urn.parse(urn).type)]
        for number, urn in enumerate(objects):
            old, pair = self.state.resources[urn], pair_of(urn)
            acts = urn not in self._retained and not old.pending_replacement
            breaks = acts and pair == at and pair in self.objects
            if acts and (not breaks or how is Break.KILLED):
                self.objects.pop(pair, None)
            if breaks:
                self.broken = True
                self.killed |= {pair} if how is Break.KILLED else set()
                left = {data: self.state.resources[data] for data in objects[number:]}
                return left | (
                    {urn: attrs.evolve(old, interrupted="deleting")} if how is Break.KILLED else {}
                )
        return {}

    def writes(self, registration: Registration) -> bool:
        """Whether the engine asks the provider to write an object."""
        old, new = self.state.resources.get(self._old(registration)), reveal(registration.inputs)
        return (
            old is None
            or old.pending_replacement
            or bool(old.init_errors)
            or seen_by_provider(old) != new
        )

    def replaces(self, registration: Registration) -> bool:
        """Whether the object is deleted and created anew."""
        old, new = self.state.resources.get(self._old(registration)), reveal(registration.inputs)
        if old is None or old.pending_replacement:
            return False
        fixed = immutable(old.outputs, new)
        assert not fixed or pair_of(registration.urn) in self.asked, (
            f"the API server refuses {fixed} of {registration.name}"
        )
        return bool(replacement(seen_by_provider(old), new) or fixed)

    def write(self, registration: Registration) -> StoredResource:
        """Write an object as the provider does, and return what the state records of it."""
        pair, data = pair_of(registration.urn), reveal(registration.inputs)
        if not self.writes(registration):
            return attrs.evolve(self.state.resources[self._old(registration)], urn=registration.urn)
        keeps = pair in self.objects and not self.replaces(registration)
        self.objects[pair] = Live(self.objects[pair].uid if keeps else next(self._uids), data)
        return StoredResource(registration.urn, registration.type, data, {**data, "__inputs": data})

    def breaking(self, registration: Registration, how: Break) -> dict[str, StoredResource]:
        """Write an object as far as it goes, and return what the state records of it."""
        old, data = self.state.resources.get(self._old(registration)), reveal(registration.inputs)
        if how is Break.TIMEOUT:
            return {
                registration.urn: attrs.evolve(self.write(registration), init_errors=("not ready",))
            }
        if old is not None and self.replaces(registration):
            old = attrs.evolve(old, pending_replacement=True)
            self.objects.pop(pair_of(registration.urn), None)
        if how is Break.KILLED:
            self.killed.add(pair_of(registration.urn))
            known = {old.urn: attrs.evolve(old, interrupted="updating")} if old else {}
            self.write(registration)
            return known
        if old is None or old.pending_replacement:
            return {old.urn: old} if old else {}
        found = {**old.outputs, "__inputs": data}
        refused = StoredResource(
            registration.urn, registration.type, data, found, init_errors=("refused",)
        )
        return {registration.urn: refused} if how is Break.REFUSED else {old.urn: old}


def seen_by_provider(old: StoredResource) -> Any:
    """What the provider compares: the object as it has seen it last, limited to what was sent."""

    def limited(live: Any, sent: Any) -> Any:
        if isinstance(live, Mapping) and isinstance(sent, Mapping):
            return {key: limited(live[key], sent[key]) for key in sent if key in live}
        return live

    return limited(old.outputs, old.outputs["__inputs"])


@attrs.frozen
class Says:
    """What a plan says of objects on members."""

    deleted: set[Pair]
    replaced: set[Pair]
    created: set[Pair]
    updated: set[Pair]
    unknown: set[Pair]

    @classmethod
    def of(cls, plan: FleetPlan) -> Says:
        found: dict[str, set[Pair]] = {
            "create": set(),
            "update": set(),
            "replace": set(),
            "delete": set(),
        }
        unknown = set[Pair]()
        for decided in plan.subjects:
            for entry in as_data(differences(plan, decided)) or ():
                pairs = (
                    {(member, known(entry["object"])) for member in entry["members"]}
                    if not entry["later"]
                    else set()
                )
                if entry["fate"] not in (Fate.KEPT, Fate.FORGOTTEN):
                    found[entry["change"]] |= pairs
                unknown |= pairs if entry["unknown"] else set()
        replaced = set(plan.replaced)
        deleted = {
            (departure.cluster, departure.key)
            for departure in plan.departures
            if departure.fate in (Fate.DELETED, *UNRECORDED)
        }
        assert found["replace"] - unknown == replaced - unknown
        assert found["delete"] <= deleted
        unknown |= {
            (departure.cluster, departure.key)
            for departure in plan.departures
            if departure.fate is Fate.UNDONE
        }
        unknown |= {(item.cluster, item.key) for item in plan.past.standing if item.interrupted}
        return cls(deleted, replaced, found["create"], found["update"], unknown)


GROUPS = {"Deployment": "apps"}


def known(text: str) -> ObjectKey:
    """The key of an object that a plan names."""
    kind, _, name = text.partition(" ")
    space, _, name = name.rpartition("/")
    return ObjectKey(GROUPS.get(kind, ""), kind, space, name)


def plain(live: Live) -> Data:
    """An object without the marks of its stack."""
    metadata = live.data["metadata"]
    annotations = {
        key: value for key, value in (metadata.get("annotations") or {}).items() if key not in MARKS
    }
    return {**live.data, "metadata": {**metadata, "annotations": annotations}}


def checked(
    world: BreakingStack, documents: list[Data], at: Pair | None = None, how: Break = Break.DENIED
) -> Says | None:
    """Plan and update, and hold what happens against what the plan has said."""
    config: dict[str, Any] = {}
    seen = world.program(documents, config)
    alike(world.directory(documents), seen)
    if seen.refused:
        assert seen.plan is not None
        config["confirm"] = ",".join(item.hint[-8:] for item in seen.plan.refused)
        seen = world.program(documents, config)
        assert not seen.refused, seen.run.error
    assert seen.plan is not None, seen.run.error
    said, before = Says.of(seen.plan), dict(world.objects)
    # A kill leaves a state that is not true, and the next update drops what says so: only the member
    # knows that such an object is gone. Then it is not deleted either, nor replaced.
    absent = {pair for pair in world.killed if pair not in before}
    done = world.update(documents, config, at, how, seen)
    after, complete = world.objects, done.run.error is None and not world.broken
    vanished = before.keys() - after.keys()
    anew = {pair for pair in before.keys() & after.keys() if before[pair].uid != after[pair].uid}
    came = after.keys() - before.keys()
    changed = {
        pair
        for pair in before.keys() & after.keys() - anew
        if plain(before[pair]) != plain(after[pair])
    }
    assert vanished <= said.deleted | said.replaced, "gone, and not called so"
    assert anew <= said.replaced | said.unknown, "made anew, and not called so"
    assert came <= said.created | said.replaced | said.unknown | absent, "new, and not called so"
    assert changed <= said.updated | said.created | said.unknown, "changed, and not called so"
    if complete:
        known = said.unknown | absent | {pair for pair in said.created if pair in before}
        assert said.deleted - known == vanished - known, "called deleted"
        assert said.replaced - known == anew - known, "called replaced"
        assert said.created - known == came - known, "called created"
        assert said.updated - known == changed - known, "called updated"
        again = world.program(documents, {})
        assert again.plan is not None, again.run.error
        assert Says.of(again.plan) == Says(set(), set(), set(), set(), set())
    return said


CLAIM, CONFIG, WEB = "PersistentVolumeClaim", "ConfigMap", "Deployment"


@attrs.frozen
class Source:
    """What the user has written: the version of each object, 0 where it is not."""

    claim: int = 1
    config: int = 1
    web: int = 1
    sealed: bool = True
    members: tuple[str, ...] = MEMBERS

    def documents(self) -> list[Data]:
        """All documents."""
        identity = {"kind": "ServiceAccount", "name": "agent", "namespace": "fleet-system"}
        found: list[Data] = [
            {
                "apiVersion": "cluster.kubernetes-fleet.io/v1",
                "kind": "MemberCluster",
                "metadata": {"name": name},
                "spec": {"identity": identity},
            }
            for name in MEMBERS
        ]
        selector = {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}
        policy = {"placementType": "PickFixed", "clusterNames": list(self.members)}
        found += [
            {
                "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
                "kind": "ClusterResourcePlacement",
                "metadata": {"name": "shop"},
                "spec": {"resourceSelectors": [selector], "policy": policy},
            },
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        ]
        if self.claim:
            spec: dict[str, Any] = {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": f"class-{self.claim}",
            }
            storage = {"resources": {"requests": {"storage": "1Gi"}}}
            found.append(made("v1", CLAIM, "data", spec={**spec, **storage}))
        if self.config:
            fixed = {"immutable": True} if self.sealed else {}
            found.append(made("v1", CONFIG, "c", data={"k": str(self.config)}, **fixed))
        if self.web:
            labels = {"app": "web"}
            pod = {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "it", "image": f"web:{self.web}"}]},
            }
            spec = {"replicas": self.web, "selector": {"matchLabels": labels}, "template": pod}
            found.append(made("apps/v1", WEB, "web", spec=spec))
        return found


def made(version: str, kind: str, name: str, **fields: Any) -> Data:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop"},
        **fields,
    }


def of(kind: str, name: str, member: str = "a") -> Pair:
    return member, ObjectKey(GROUPS.get(kind, ""), kind, "shop", name)


POINTS = [
    of(*item, member)
    for item in ((CLAIM, "data"), (CONFIG, "c"), (WEB, "web"))
    for member in MEMBERS
]
BREAKS = [(point, how) for point in POINTS[::2] for how in Break]


@cache
def started() -> BreakingStack:
    """A stack after its first update; tests change copies of it."""
    world = BreakingStack()
    checked(world, Source().documents())
    return world


@pytest.mark.samples(2)
@pytest.mark.parametrize(("at", "how"), BREAKS)
def test_there_and_back(at: Pair, how: Break) -> None:
    """An update that replaces, and changes a Deployment, breaks, and the source goes back."""
    world = started().copy()
    checked(world, Source(2, 2, 2).documents(), at, how)
    assert checked(world, Source().documents()) is not None


@pytest.mark.long
@pytest.mark.parametrize(("at", "how"), BREAKS)
def test_there_and_on(at: Pair, how: Break) -> None:
    """The same, and the next update goes on, or somewhere else."""
    broken = started().copy()
    checked(broken, Source(2, 2, 2).documents(), at, how)
    for then in (Source(2, 2, 2), Source(3, 2, 1), Source(0, 1, 2)):
        checked(broken.copy(), then.documents())


versions, there = st.integers(0, 2), st.integers(1, 2)
sources = st.builds(
    Source,
    there,
    there,
    versions,
    st.booleans(),
    st.sampled_from([MEMBERS, MEMBERS[:1], MEMBERS[1:]]),
)
steps = st.tuples(sources, st.one_of(st.none(), st.sampled_from(POINTS)), st.sampled_from(Break))


@pytest.mark.long
def test_what_was_not_deleted_returns_in_another_form() -> None:
    """A claim leaves the source, its deletion breaks elsewhere, and it returns with another size."""
    world, elsewhere = BreakingStack(), of(CONFIG, "c")
    checked(world, Source(1, 2, 1).documents())
    checked(world, Source(0, 0, 1, members=("b",)).documents(), elsewhere, Break.TIMEOUT)
    checked(world, Source(2, 2, 1, members=("b",)).documents())


@pytest.mark.long
@settings(phases=[Phase.explicit, Phase.generate], max_examples=60)
@given(st.lists(steps, min_size=2, max_size=5))
def test_any_history(history: list[tuple[Source, Pair | None, Break]]) -> None:
    world = BreakingStack()
    for source, at, how in history:
        checked(world, source.documents(), at, how)
    checked(world, history[0][0].documents())
