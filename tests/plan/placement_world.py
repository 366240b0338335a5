"""A placement over successive updates, which may break anywhere; it watches what must hold in every one of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.selector import LabelSelector
from fleet_components.rollout.rollout import Change, Done, Gates, Wave
from fleet_components.systems.kubefleet.model.eviction import DisruptionBudget, Eviction
from fleet_components.systems.kubefleet.model.override import ResourceOverride
from fleet_components.systems.kubefleet.model.placement import (
    PICK_ALL,
    PICK_FIXED,
    PICK_N,
    PlacementPolicy,
    RollingUpdate,
)
from fleet_components.systems.kubefleet.plan.place import PlacementOutcome
from fleet_components.systems.kubefleet.plan.record import PlacementRecord
from fleet_components.systems.kubefleet.plan.subject import PlacementSubject
from fleet_components.systems.kubefleet.rollout.run_record import FAILED, RunRecord
from fleet_components.systems.kubefleet.rollout.strategy import (
    External,
    RolloutBudget,
    RolloutStage,
    Task,
    UpdateRun,
    target_of,
)

NAMES = "abcdef"
BEGAN = datetime(2026, 11, 21, 10, tzinfo=UTC)
TAINT = Taint("drained")
LONG = timedelta(hours=1)
APPROVAL = Task("Approval")
Data = Mapping[str, str]

ANYWHERE = LabelSelector()
CANARY = LabelSelector({"stage": "canary"})
REST = LabelSelector({"stage": "rest"})
STRATEGIES = {
    "flat": (RolloutStage("all", ANYWHERE, max_concurrency=2),),
    "asked": (
        RolloutStage("canary", CANARY, after=(APPROVAL,)),
        RolloutStage("rest", REST, max_concurrency="50%"),
    ),
    "slow": (
        RolloutStage("canary", CANARY, after=(Task("TimedWait", LONG),)),
        RolloutStage("rest", REST, before=(APPROVAL,)),
    ),
}


@attrs.frozen
class Asked:
    """An override of the ConfigMap ``x``, in the words of this test.

    Attributes:
        name: its name, by which overrides are ordered.
        what: ``patch``, ``name`` or ``label`` (variables), ``same`` (changes nothing), ``colour`` (fails where the
            content has none), ``fail``, or ``delete``.
        label: the value of the label ``stage`` of the members that it is for; empty for all.
        value: the value that it writes.
    """

    name: str
    what: str
    label: str = ""
    value: str = ""

    @property
    def override(self) -> ResourceOverride:
        """The override as a fleet has it."""
        wanted = [{"labelSelector": {"matchLabels": {"stage": self.label}}}] if self.label else []
        rule: dict[str, Any] = {"clusterSelector": {"clusterSelectorTerms": wanted}}
        if self.what == "delete":
            rule["overrideType"] = "Delete"
        else:
            rule["jsonPatchOverrides"] = [self._operation()]
        target = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "x"}
        data = {
            "apiVersion": "placement.kubernetes-fleet.io/v1",
            "kind": "ResourceOverride",
            "metadata": {"name": self.name, "namespace": "shop"},
            "spec": {"resourceSelectors": [target], "policy": {"overrideRules": [rule]}},
        }
        return ResourceOverride.from_manifest(Manifest(data))

    def _operation(self) -> dict[str, Any]:
        add = {"op": "add", "path": f"/data/{self.name}"}
        return {
            "patch": {**add, "value": self.value},
            "name": {**add, "value": "on ${MEMBER-CLUSTER-NAME}"},
            "label": {**add, "value": "in ${MEMBER-CLUSTER-LABEL-KEY-stage}"},
            "same": {"op": "add", "path": "/data/kept", "value": "yes"},
            "colour": {"op": "replace", "path": "/data/colour", "value": self.value},
            "fail": {"op": "remove", "path": "/data/none"},
        }[self.what]

    def done_to(self, data: Data | None, name: str, stage: str) -> Data | None:
        """What it makes of the data of ``x`` on a member.

        Raises:
            LookupError: it fails there.
        """
        if self.label not in ("", stage):
            return data
        if self.what == "delete":
            return None
        if self.what == "label" and not stage:
            raise LookupError
        if data is None:
            return None
        if self.what == "fail" or (self.what == "colour" and "colour" not in data):
            raise LookupError
        values = {
            "patch": self.value,
            "name": f"on {name}",
            "label": f"in {stage}",
            "colour": self.value,
        }
        if self.what == "same":
            return data
        return {**data, "colour" if self.what == "colour" else self.name: values[self.what]}


def content(number: int) -> tuple[Mapping[str, Any], ...]:
    """What is selected: every third content lacks what an override changes."""
    return made({"n": str(number), "kept": "yes", **({} if number % 3 == 2 else {"colour": "red"})})


def made(data: Data | None) -> tuple[Mapping[str, Any], ...]:
    """The objects of a member; with the ConfigMap ``x`` unless it is deleted."""
    header = {"apiVersion": "v1", "kind": "ConfigMap"}
    x = {**header, "metadata": {"name": "x", "namespace": "shop"}, "data": data}
    return (
        *([x] if data is not None else []),
        {**header, "metadata": {"name": "z", "namespace": "shop"}},
    )


def through_the_engine(record: PlacementRecord) -> PlacementRecord:
    """As a state hands it over: numbers as floats, maps in any order."""
    wire = json.loads(json.dumps(record.to_wire()), parse_int=float)
    return PlacementRecord.from_wire(dict(reversed(wire.items())))


@attrs.frozen
class Taken:
    """What an update run has taken when it began, as this test saw it.

    Attributes:
        record: its record.
        content: number of the content that it rolls out.
        asked: the overrides of that time.
        stages: the label ``stage`` of each member of that time.
    """

    record: RunRecord
    content: int
    asked: tuple[Asked, ...]
    stages: Mapping[str, str]


@attrs.define
class PlacementWorld:
    """A placement on a fleet.

    Attributes:
        policy: its policy.
        rolling: its rolling update.
        stages: the label ``stage`` of each member that there is; empty for none.
        tainted: members that have a taint.
        lost: members that are marked lost.
        asked: its overrides.
        evictions: the evictions in the source.
        budget: its disruption budget.
        runs: its update runs.
        external: whether only they roll it out.
        approvals: the approvals that are given.
        as_of: the time.
        content: number of the content.
        history: how many revisions are kept.
        record: what is remembered.
        done: what really runs.
        broken: members that an update has broken, as far as anything can tell: nothing does once a member is held at
            what stands there, or goes back to it.
        contents: number of the content of each revision, as this test saw it.
        taken: what each update run has taken.
        over: update runs whose last update went through.
    """

    policy: PlacementPolicy = PlacementPolicy(PICK_ALL)
    rolling: RollingUpdate = RollingUpdate(1, 1)
    stages: dict[str, str] = attrs.field(
        factory=lambda: {n: "canary" if n in "ab" else "rest" for n in NAMES}
    )
    tainted: set[str] = attrs.field(factory=set)
    lost: set[str] = attrs.field(factory=set)
    asked: tuple[Asked, ...] = ()
    evictions: list[Eviction] = attrs.field(factory=list)
    budget: DisruptionBudget | None = None
    runs: dict[str, UpdateRun] = attrs.field(factory=dict)
    external: bool = False
    approvals: set[str] = attrs.field(factory=set)
    as_of: datetime = BEGAN
    content: int = 0
    history: int = 3
    record: PlacementRecord = PlacementRecord()
    done: dict[str, Done] = attrs.field(factory=dict)
    broken: set[str] = attrs.field(factory=set)
    contents: dict[int, int] = attrs.field(factory=dict)
    taken: dict[str, Taken] = attrs.field(factory=dict)
    over: set[str] = attrs.field(factory=set)

    # What changes between updates.

    def select(self, number: int) -> None:
        """Other objects are selected."""
        self.content = number

    def override(self, *asked: Asked) -> None:
        """Other overrides."""
        self.asked = tuple(sorted(asked, key=lambda item: item.name))

    def join(self, member: str, stage: str) -> None:
        """A member joins, or gets another label."""
        self.stages[member] = stage

    def leave(self, member: str) -> None:
        """A member is not declared any more."""
        self.stages.pop(member, None)

    def taint(self, members: Collection[str]) -> None:
        """Other members have a taint."""
        self.tainted = set(members)

    def lose(self, members: Collection[str]) -> None:
        """Other members are marked lost."""
        self.lost = set(members)

    def pick(self, policy: PlacementPolicy) -> None:
        """Another policy of the same type, which nobody can change."""
        kind = self.policy.placement_type
        number = policy.number_of_clusters if kind == PICK_N else None
        names, affinity = (
            (policy.cluster_names, None) if kind == PICK_FIXED else ((), policy.affinity)
        )
        self.policy = PlacementPolicy(kind, names, number, affinity)

    def roll(self, rolling: RollingUpdate, history: int) -> None:
        """Other budgets, and another length of the history."""
        self.rolling, self.history = rolling, history

    def evict(self, member: str) -> None:
        """A further eviction."""
        self.evictions.append(Eviction(f"e{len(self.evictions)}", "shop", member))

    def run(self, name: str, strategy: str, state: Any, index: str) -> None:
        """An update run: a new one, or one in another state; from the first on, only they roll anything out."""
        self.external = True
        known = self.runs.get(name)
        self.runs[name] = (
            attrs.evolve(known, state=state if state != "Initialize" else known.state)
            if known
            else UpdateRun(name, f"/{strategy}", STRATEGIES[strategy], state, index)
        )

    def release(self, number: int, strategy: str, approved: bool) -> None:
        """Other objects are selected, and a new update run rolls them out."""
        name = f"r{4 + len(self.runs)}"
        self.select(number)
        self.run(name, strategy, "Run", "")
        self.approvals |= {f"{name}-after-canary", f"{name}-before-rest"} if approved else set()

    def drop(self, name: str) -> None:
        """An update run is taken out."""
        self.runs.pop(name, None)

    def approve(self, approvals: Collection[str]) -> None:
        """Other approvals are given; those of before are withdrawn."""
        self.approvals = set(approvals)

    def wait(self, minutes: int) -> None:
        """Time passes."""
        self.as_of += timedelta(minutes=minutes)

    # What an update does.

    @property
    def reached(self) -> set[str]:
        """The members that can be reached."""
        return self.stages.keys() - self.lost

    def subject(self) -> PlacementSubject:
        """The placement as it is asked for now."""
        clusters = [
            Cluster(
                name,
                {"stage": stage} if stage else {},
                taints=(TAINT,) if name in self.tainted else (),
            )
            for name, stage in sorted(self.stages.items())
            if name in self.reached
        ]
        runs = tuple(run for _, run in sorted(self.runs.items()))
        return PlacementSubject(
            "shop",
            self.policy,
            External(runs=runs) if self.external else self.rolling,
            Inventory(clusters, self.as_of),
            content(self.content),
            done={
                name: attrs.evolve(here, lost=name not in self.reached)
                for name, here in self.done.items()
            },
            gates=Gates(frozenset(self.approvals), self.as_of),
            evictions=tuple(self.evictions),
            budget=self.budget,
            overrides=tuple(item.override for item in self.asked),
            history=self.history,
        )

    def decide(self) -> PlacementOutcome:
        """Decide what an update does."""
        return self.subject().decide(self.record)

    def update(self, fails: Collection[str] = ()) -> PlacementOutcome:
        """Update; it ends in the first wave in which it fails, or while members are left."""
        outcome = self.decide()
        before = self.record
        self._remember(outcome)
        self._watch_history(before, outcome)
        if self.external:
            self._watch_runs(before, outcome)
        self._watch_contents(before, outcome)
        self.record = through_the_engine(outcome.record)
        assert self.record == outcome.record
        done, serving = set(self.done), self.serving
        if not self._carry_out(outcome, fails):
            assert done - set(outcome.rollout.removals) <= self.done.keys()
            return outcome
        self.broken &= self.done.keys()
        if (
            outcome.runs
            and outcome.runs.run
            and outcome.record.runs.records[outcome.runs.run.name].over
        ):
            self.over.add(outcome.runs.run.name)
        self._watch_replacements(outcome, serving)
        self._watch_rest()
        return outcome

    @property
    def serving(self) -> set[str]:
        """Members that serve."""
        return {name for name in self.done if name in self.reached} - self.broken

    def _carry_out(self, outcome: PlacementOutcome, fails: Collection[str]) -> bool:
        rollout = outcome.rollout
        self.broken -= rollout.held.keys()
        for wave in rollout.waves:
            if not self.external:
                self._watch_wave(outcome, wave)
            for name in wave.clusters:
                placed = rollout.entries[name].placed
                assert placed
                here = self.done.get(name)
                if name in fails:
                    if here is None or here.version != placed.version:
                        self.broken.add(name)
                    continue
                since = here.since if here and here.version == placed.version else self.as_of
                self.done[name] = Done(placed.revision, since=since, overrides=placed.overrides)
                self.broken.discard(name)
            if not set(fails).isdisjoint(wave.clusters):
                return False
        if not self.external:
            self._watch_removals(outcome)
        stays = set(fails).intersection(rollout.removals) & self.reached
        for name in rollout.removals:
            if name not in stays:
                self.done.pop(name, None)
        self.broken |= stays
        return not stays

    # What must hold.

    def _remember(self, outcome: PlacementOutcome) -> None:
        for revision in outcome.record.digests:
            self.contents.setdefault(revision, self.content)
        for name, record in outcome.record.runs.records.items():
            if (
                name not in self.taken
                or self.taken[name].record.spec != record.spec
                or name not in self._remembered
            ):
                self.over.discard(name)
                number = self.contents.get(record.revision, self.content)
                self.taken[name] = Taken(record, number, self.asked, dict(self.stages))
                self._began(outcome, name, record)
        self._remembered = set(outcome.record.runs.records)

    _remembered: set[str] = attrs.field(factory=set)

    def _began(self, outcome: PlacementOutcome, name: str, record: RunRecord) -> None:
        """A run takes what was selected when it began, or exactly the revision that it names."""
        if record.outcome == FAILED:  # it cannot begin, or another one takes over at once
            return
        index = self.runs[name].index
        assert (
            str(record.revision) == index
            if index
            else self.contents[record.revision] == self.content
        )
        assert {c for part in record.clusters for c in part} == set(outcome.record.memory.selected)

    def _watch_history(self, before: PlacementRecord, outcome: PlacementOutcome) -> None:
        """The newest revisions are kept, with those that run or are sent; nothing goes while nothing moves."""
        record = outcome.record
        assert record.contents.keys() == record.digests.keys()
        used = {placed.revision for placed in record.decisions.values()} | {record.revision}
        used |= {here.revision for here in self.done.values() if here.revision is not None}
        used |= {run.revision for run in outcome.runs.live.values()} if outcome.runs else set()
        known = {*before.digests, *record.digests}
        exact = used | set(sorted(known)[-self.history :])
        assert record.digests.keys() in (exact, before.digests.keys()), (record.digests, exact)
        for revision, objects in record.contents.items():
            assert objects == content(self.contents[revision])
        assert {sent.overrides for sent in record.decisions.values()} - {
            None
        } <= record.overrides.keys()

    def _watch_contents(self, before: PlacementRecord, outcome: PlacementOutcome) -> None:
        """What is emitted is what the overrides make of the content, reckoned here without the package."""
        record = outcome.record
        for name, entry in outcome.rollout.entries.items():
            if entry.change is Change.REMOVE or entry.placed is None:
                continue
            member = Cluster(name)
            emitted = record.objects(attrs.evolve(entry.placed, again=None), member)
            if entry.change is Change.HELD:
                assert emitted == before.objects(before.standing(self.done[name]), member)
                continue
            wanted = self.wanted(outcome, name)
            if wanted is not None:
                assert emitted == wanted, (name, entry)

    def wanted(self, outcome: PlacementOutcome, name: str) -> Any:
        """The objects that a member is to have; a text where an override fails, None if nobody asks."""
        if not self.external:
            return results(self.content, self.asked, name, self.stages[name])
        if not outcome.runs or not outcome.runs.run:
            return None
        taken = self.taken[outcome.runs.run.name]
        if name in taken.record.overrides:
            return results(taken.content, taken.asked, name, taken.stages[name])
        return results(taken.content, self.asked, name, self.stages[name])

    def _budget(self, outcome: PlacementOutcome) -> tuple[RolloutBudget, set[str]]:
        picked = set(outcome.record.memory.selected)
        target = target_of(self.policy)
        return RolloutBudget.of(self.rolling, len(picked) if target is None else target), picked

    def _watch_wave(self, outcome: PlacementOutcome, wave: Wave) -> None:
        """Even while nothing of a wave serves, no more are unavailable, and none more are there, than is allowed."""
        budget, picked = self._budget(outcome)
        entries = outcome.rollout.entries
        broken = self.broken & picked & self.done.keys()
        updated = {name for name in wave.clusters if entries[name].change is Change.UPDATE} - broken
        added = {name for name in wave.clusters if entries[name].change is Change.ADD}
        if updated:
            assert len(updated) + len(broken) <= budget.unavailable
            assert len(self.serving - updated) >= budget.needed
        if added:
            assert len(self.reached & self.done.keys()) + len(added) <= budget.target + budget.surge

    def _watch_removals(self, outcome: PlacementOutcome) -> None:
        budget, _ = self._budget(outcome)
        leaving = self.serving.intersection(outcome.rollout.removals)
        assert not leaving or len(self.serving - leaving) >= budget.needed

    def _watch_replacements(self, outcome: PlacementOutcome, serving: set[str]) -> None:
        """Nothing was left before what takes its place stood; an override that fails holds its member alone."""
        if self.external or not RolloutBudget.of(self.rolling, 9).surge:
            return
        rollout = outcome.rollout
        live = {
            name for name, entry in rollout.entries.items() if entry.change is not Change.REMOVE
        }
        able = (live & set(outcome.record.memory.selected)) - outcome.failing.keys()
        assert len(self.serving) >= min(len(able), len(serving & self.reached))

    def _watch_rest(self) -> None:
        """Once nothing moves, the same decision is made again, in the program and in the provider."""
        subject = self.subject()
        there = PlacementSubject.from_wire(
            json.loads(json.dumps(subject.to_wire())), subject.inventory
        )
        outcome = there.decide(self.record)
        if not outcome.rollout.waves and not outcome.rollout.removals:
            assert outcome.record.to_wire() == self.record.to_wire()
            assert outcome.evictions == ()

    def _watch_runs(self, before: PlacementRecord, outcome: PlacementOutcome) -> None:
        """A run moves its own clusters to its own revision in its own order, and is over once."""
        assert outcome.runs
        run, rollout, records = outcome.runs.run, outcome.rollout, outcome.record.runs.records
        for name, record in records.items():
            self._watch_record(name, before, record)
        moving = {
            c: entry
            for c, entry in rollout.entries.items()
            if entry.change in (Change.ADD, Change.UPDATE)
        }
        left = {c for c in rollout.removals if c in self.done and c in self.reached}
        if run is None:
            assert not moving
            assert not left
            return
        assert run.name not in self.over
        record = records[run.name]
        assert record.outcome != FAILED
        clusters = {c for part in record.clusters for c in part}
        assert moving.keys() <= clusters
        assert left <= set(record.leaving)
        assert {entry.placed.revision for entry in moving.values() if entry.placed} <= {
            record.revision
        }
        assert not (left and rollout.held)
        if run.state == "Initialize":
            assert not moving
        self._watch_order(run, record, outcome, set(moving))

    def _watch_record(self, name: str, before: PlacementRecord, record: RunRecord) -> None:
        begun = self.taken[name].record
        course: dict[str, Any] = {"updated": (), "updating": (), "taken": False}
        mutable: dict[str, Any] = {
            "approvals": (),
            "outcome": "",
            "message": "",
            "since": None,
            **course,
        }
        assert record.outcome == FAILED or record == attrs.evolve(record, **course)
        assert {*record.updated, *record.updating} <= record.concerned
        assert attrs.evolve(record, **mutable) == attrs.evolve(begun, **mutable)
        known = before.runs.records.get(name)
        if known and known.spec == record.spec:
            assert set(known.approvals) <= set(record.approvals)
            assert known.since in (None, record.since)
            assert known.outcome != FAILED or record == known
            assert name not in self.over or record == known

    def _watch_order(
        self, run: UpdateRun, record: RunRecord, outcome: PlacementOutcome, moving: set[str]
    ) -> None:
        """A stage begins once all before it are done, approved, and waited for."""
        known = self.record.runs.records.get(run.name)
        given = self.approvals - set(outcome.record.runs.spent)
        given |= set(known.approvals) if known and known.spec == record.spec else set()
        assert set(record.approvals) <= given
        entries = outcome.rollout.entries
        waves = [
            {outcome.record.decisions[c].wave for c in part if c in moving} or {0}
            for part in record.clusters
        ]
        for index, stage in enumerate(record.stages):
            beyond = [c for part in record.clusters[index + 1 :] for c in part]
            mine = record.clusters[index]
            if not mine:
                continue
            if moving.intersection((*mine, *beyond)) and run.state == "Run" and stage.before:
                assert run.approval("before", stage) in given
            begun = moving.intersection(beyond)
            if not begun or run.state != "Run":
                continue
            assert all(entries[c].change in (Change.ADD, Change.UPDATE, Change.KEEP) for c in mine)
            assert max(waves[index]) < min(outcome.record.decisions[c].wave for c in begun)
            if stage.after and stage.after[0] == APPROVAL:
                assert run.approval("after", stage) in given
            if stage.after and stage.after[0].wait:
                assert not moving.intersection(mine)
                since = [here for c in mine if (here := self.done[c].since)]
                assert self.as_of >= max(since) + stage.after[0].wait - timedelta(minutes=15)


def results(number: int, asked: Collection[Asked], name: str, stage: str) -> Any:
    """What a member is to have; the text ``fails`` where an override does."""
    data: Data | None = content(number)[0]["data"]
    try:
        for item in asked:
            data = item.done_to(data, name, stage)
    except LookupError:
        return "fails"
    return made(data)


def tried(world: PlacementWorld, most: int = 20) -> Iterator[PlacementOutcome]:
    """Update until nothing moves; every rollout ends."""
    for number in range(most):
        before = world.record.to_wire()
        outcome = world.update()
        yield outcome
        if not outcome.rollout.waves and not outcome.rollout.removals:
            assert number == 0 or outcome.record.to_wire() == before
            return
    raise AssertionError("the rollout never comes to an end")
