"""Implement the subject interface for placements: members, revisions and waves of one placement."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Self

import attrs

from fleet_components.content.envelope import unwrapped
from fleet_components.content.kubefleet.override import RULES
from fleet_components.model.codec import decode, encode
from fleet_components.model.decision import Decision, Status
from fleet_components.model.inventory import Inventory
from fleet_components.model.kubefleet.eviction import EXECUTED, DisruptionBudget, Eviction
from fleet_components.model.kubefleet.memory import UNSCHEDULED, PlacementMemory
from fleet_components.model.kubefleet.override import ResourceOverride
from fleet_components.model.kubefleet.placement import PlacementPolicy, RollingUpdate
from fleet_components.model.manifest import Manifest, ObjectKey, Origin
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.plan.again import written_where_interrupted
from fleet_components.plan.kubefleet.evictions import Check, carried_out, guards_only_evictions, held_clusters, told_of
from fleet_components.plan.kubefleet.overrides import PlacementOverrides
from fleet_components.plan.kubefleet.record import PlacementRecord
from fleet_components.plan.kubefleet.update_runs import RunMemory, RunsInForce, runs_in_force
from fleet_components.plan.overriding import InForce, in_force, rules_in_use
from fleet_components.plan.record import LACKS_HINT, Objects
from fleet_components.plan.subject import Delivery, Explanation, Outcome, Subject
from fleet_components.rollout.planner import plan_rollout
from fleet_components.rollout.rollout import Change, Done, Gates, Rollout, Wanted
from fleet_components.rollout.run_record import Scheduled
from fleet_components.rollout.situation import stopped_at
from fleet_components.rollout.strategy import External, UpdateRun, target_of
from fleet_components.scheduler.explain import MemberExplanation
from fleet_components.scheduler.kubefleet import schedule
from fleet_components.scheduler.kubefleet.explain import explain
from fleet_components.scheduler.kubefleet.profile import PROFILE
from fleet_components.scheduler.plugins import load_plugins

_FAILED_HINT = "the whole scheduling cycle fails on it, here as on a hub, and nothing is decided"


@attrs.frozen(kw_only=True)
class PlacementOutcome(Outcome[PlacementRecord]):
    """Outcome of deciding one placement.

    Attributes:
        decision: the scheduler's decision, with the status that the real one would show.
        evictions: the evictions that were checked, each with what comes of it in words.
        notes: sentences about evictions, budgets and update runs.
        runs: its update runs; None if it rolls out by itself.
    """

    decision: Decision[PlacementMemory]
    runs: RunsInForce | None = None
    evictions: tuple[tuple[Check, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The overrides that fail, the evictions that are not carried out, and the update run that has failed."""
        vain = (words for check, words in self.evictions if check.handled.result != EXECUTED)
        failed = [self.runs.held] if self.runs and self.runs.failing else []
        return (*super().warnings, *vain, *failed)

    @property
    def unfulfilled(self) -> str:
        """Message of the ``Scheduled`` condition; empty if the condition is True."""
        condition = self.decision.status.placement_condition("")
        return condition.message if condition.status != "True" else ""

    def scores(self, cluster: str) -> Mapping[str, int] | None:
        """Return the scores for affinity and topology spread; None if the member was not scored."""
        binding = self.decision.memory.bindings.get(cluster)
        if binding is None or binding.affinity_score is None:
            return None
        return {"affinity": binding.affinity_score, "topologySpread": binding.topology_spread_score or 0}


@attrs.frozen
class PlacementSubject(Subject[PlacementRecord]):
    """A placement with all that its decision depends on.

    Attributes:
        key: the placement's key, ``namespace/name`` or the name alone.
        policy: its policy; None means PickAll.
        strategy: its rollout strategy.
        inventory: the members.
        content: the objects that it selects, as a resource snapshot has them: envelopes as they are.
        namespace: the namespace of a ResourcePlacement.
        done: what really runs, by member.
        gates: approvals and time for staged updates.
        untrackable: True if the content has objects whose readiness cannot be determined.
        protected: True if its removal has to be confirmed.
        origin: file and line of the placement.
        warnings: warnings about what may surprise the user.
        skipped: objects that the selectors match but that are not placed, each with the reason.
        selected: the same objects, each with its origin.
        plugins: import paths of the plug-ins that decide with KubeFleet's.
        evictions: the evictions that name it.
        budget: the disruption budget of its name; None if there is none.
        overrides: the overrides that select any of its objects.
        history: how many of its newest revisions are kept.
        run_faults: why update runs cannot begin, by name.
    """

    RECORD = PlacementRecord
    COMPONENT = "Placement"
    PROFILE = PROFILE

    key: str
    policy: PlacementPolicy | None
    strategy: RollingUpdate | External
    inventory: Inventory
    content: Objects
    namespace: str = ""
    done: Mapping[str, Done] = attrs.field(factory=dict)
    gates: Gates = Gates()
    untrackable: bool = False
    protected: bool = False
    origin: str = ""
    warnings: tuple[Problem, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    selected: tuple[Manifest, ...] = attrs.field(default=(), eq=False, repr=False)
    plugins: tuple[str, ...] = ()
    evictions: tuple[Eviction, ...] = ()
    budget: DisruptionBudget | None = None
    overrides: tuple[ResourceOverride, ...] = ()
    history: int = 10
    run_faults: Mapping[str, Problem] = attrs.field(factory=dict)

    @property
    def kind(self) -> str:
        """``ClusterResourcePlacement`` or ``ResourcePlacement``."""
        return "ResourcePlacement" if self.namespace else "ClusterResourcePlacement"

    @property
    def origins(self) -> Mapping[ObjectKey, tuple[Origin, ...]]:
        """Where each object that members get is written: in several places if it is selected in several envelopes."""
        found: dict[ObjectKey, list[Origin]] = defaultdict(list)
        for manifest in unwrapped(self.selected):
            found[manifest.key] += [manifest.origin] if manifest.origin else []
        return {key: tuple(origins) for key, origins in found.items()}

    @property
    def override_manifests(self) -> Iterable[Manifest]:
        """The overrides that select any of its objects."""
        return (override.manifest for override in self.overrides)

    @staticmethod
    def rule_path(override: Manifest, position: int) -> FieldPath:
        """Return the path of a rule in its override."""
        return (*RULES, position)

    def decide(self, before: PlacementRecord) -> PlacementOutcome:
        """Schedule the placement and plan its rollout."""
        before = before.completed(self.content)
        # The record is as after a successful update: where one failed, members that it did not reach have nothing.
        standing = {cluster for cluster, here in self.done.items() if here.revision is not None}
        held = held_clusters(before.memory, self.done, before.decisions, self.inventory)
        delivered = before.memory.delivered(standing)
        memory, checks = carried_out(self.evictions, self.policy, self.budget, delivered, held)
        decision = self.schedule(memory)
        if decision.error:
            raise FleetError([Problem(_plain(decision.error), subject=self.key, hint=_FAILED_HINT)])
        newest, stopped = before.next_revision(self.content), stopped_at(self.done, before.decisions)
        wanted = self._wanted(decision, newest)
        runs = self._runs(before, decision, wanted, stopped)
        revision = newest if runs is None else runs.record.revision if runs.record else before.revision
        objects = self.content if revision == newest else None
        found = self._in_force(before, runs, wanted, (revision, objects))
        runs = runs and runs.with_overrides({c: found.numbers.get(c) for c in wanted.ranks if c not in found.failing})
        rollout = plan_rollout(
            self.done,
            attrs.evolve(wanted, revision=revision, overrides=found.numbers, blocked=found.reasons),
            External(runs.run, held=runs.held) if runs else self.strategy,
            before.decisions,
            gates=runs.gates(self.gates) if runs else self.gates,
            untrackable=self.untrackable,
        )
        contents = before.in_use(revision, objects, rollout.placed, self.done.values(), self.history)
        rules = rules_in_use(before, found, rollout.placed, self.done.values())
        # As after a successful update, so that the next run, which changes nothing, remembers the same.
        settled = decision.memory.settled(rollout.held_removals)
        remembered = runs.remembered(rollout) if runs else RunMemory()
        record = PlacementRecord(revision, rollout.placed, settled, *contents, *rules, runs=remembered)
        _check_known(record, rollout)
        rollout = written_where_interrupted(rollout, stopped, record, before, self.done, self.inventory)
        record = attrs.evolve(record, decisions=rollout.placed)
        told = tuple(told_of(checks, self.policy, self.budget, decision.memory, rollout))
        return PlacementOutcome(
            record=record,
            rollout=rollout,
            failing=found.failing,
            runs=runs,
            decision=decision,
            evictions=told,
            notes=(*self._notes(before, told, rollout), *self._changed(record, runs)),
        )

    def schedule(self, memory: PlacementMemory) -> Decision[PlacementMemory]:
        """Return the scheduler's decision."""
        plugins = load_plugins(self.plugins)
        return schedule(self.inventory, self.policy, memory, namespace=self.namespace, plugins=plugins)

    def explain(self, outcome: PlacementOutcome, members: Collection[str] | None = None) -> Explanation:
        """Return what each plug-in says of each member."""
        found: tuple[MemberExplanation, ...] = explain(
            self.inventory,
            self.policy,
            outcome.decision,
            namespace=self.namespace,
            members=members,
            plugins=load_plugins(self.plugins),
        )
        return Explanation(found)

    def reason(self, cluster: str, explained: MemberExplanation | None) -> str:
        """Return why the member is picked or not, in the words of the plug-ins."""
        if explained is None or not explained.selected:
            return explained.summary if explained else ""
        failing = [verdict.words for verdict in explained.verdicts if verdict.passed is False]
        if failing:
            return f"stays although {failing[0]}"
        if explained.verdicts[:1] and explained.verdicts[0].plugin == "ClusterNames":
            return explained.verdicts[0].words
        return "; ".join(verdict.words for verdict in explained.verdicts if verdict.score) or "passes every filter"

    def delivery(self, outcome: PlacementOutcome, cluster: str) -> Delivery:
        """Return the objects of the member's revision."""
        position = self.inventory.position(cluster)
        member = self.inventory.clusters[position or 0]
        return Delivery(outcome.record.objects(outcome.record.decisions[cluster], member))

    def shown(self) -> dict[str, Any]:
        """Return policy and strategy."""
        return {"policy": encode(self.policy) if self.policy else {}, "strategy": encode(self.strategy)}

    def to_wire(self) -> dict[str, Any]:
        """Return the form for a feed, without the inventory and what only messages need."""
        strategy = self.strategy
        return {
            "key": self.key,
            "policy": encode(self.policy) if self.policy else None,
            "external": encode(strategy) if isinstance(strategy, External) else None,
            "rolling": encode(strategy) if isinstance(strategy, RollingUpdate) else None,
            "content": list(self.content),
            "namespace": self.namespace,
            "done": {cluster: encode(done) for cluster, done in self.done.items()},
            "gates": encode(self.gates),
            "untrackable": self.untrackable,
            "plugins": list(self.plugins),
            "overrides": [one.manifest.data for one in self.overrides],
            "history": self.history,
            "evictions": [encode(eviction) for eviction in self.evictions],
            "budget": encode(self.budget) if self.budget else None,
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any], inventory: Inventory) -> Self:
        """Read the subject back from :meth:`to_wire`."""
        rolling, external = wire["rolling"], wire["external"]
        return cls(
            key=wire["key"],
            policy=None if wire["policy"] is None else decode(PlacementPolicy, wire["policy"]),
            strategy=decode(External, external) if rolling is None else decode(RollingUpdate, rolling),
            inventory=inventory,
            content=tuple(wire["content"]),
            namespace=wire["namespace"],
            done={cluster: decode(Done, done) for cluster, done in wire["done"].items()},
            gates=decode(Gates, wire["gates"]),
            untrackable=wire["untrackable"],
            plugins=tuple(wire["plugins"]),
            overrides=tuple(ResourceOverride.from_manifest(Manifest(data)) for data in wire["overrides"]),
            history=wire["history"],
            evictions=tuple(decode(Eviction, eviction) for eviction in wire["evictions"]),
            budget=None if wire["budget"] is None else decode(DisruptionBudget, wire["budget"]),
        )

    def _runs(
        self,
        before: PlacementRecord,
        decision: Decision[PlacementMemory],
        wanted: Wanted,
        stopped: Collection[str],
    ) -> RunsInForce | None:
        """Return the update runs; None if the placement rolls out by itself."""
        if not isinstance(self.strategy, External):
            return None
        if faults := [self.run_faults[run.name] for run in self.strategy.runs if self._is_faulty(run, before)]:
            raise FleetError(faults)
        leaving = {name for name, here in self.done.items() if here.revision is not None and not here.lost}
        return runs_in_force(
            self.strategy.runs,
            before.runs,
            Scheduled(
                placement=self.key,
                wanted=wanted,
                leaving=frozenset(leaving.difference(wanted.ranks)),
                snapshot=decision.memory.snapshot,
            ),
            newest=wanted.revision,
            kept=before.digests.keys(),
            stopped=stopped,
            given=self.gates.approvals,
        )

    def _is_faulty(self, run: UpdateRun, before: PlacementRecord) -> bool:
        """Return whether a run cannot begin; one that has begun needs its strategy no more."""
        return run.name in self.run_faults and run.name not in before.runs.records

    def _in_force(
        self,
        before: PlacementRecord,
        runs: RunsInForce | None,
        wanted: Wanted,
        now: tuple[int, Objects | None],
    ) -> InForce:
        """Return the override rules that are in force on the picked members.

        An update run keeps to those that it took when it began, and without a run all members keep what they have.
        """
        taken: Mapping[str, int | None] = {}
        if runs:
            standing = {name: here.overrides for name, here in self.done.items()}
            taken = runs.record.overrides if runs.record else {name: standing.get(name) for name in wanted.ranks}
        revision, objects = now
        content = before.contents.get(revision, ()) if objects is None else objects
        picked = ((name, self.inventory.position(name)) for name in wanted.ranks if name not in taken)
        clusters = self.inventory.clusters
        asked = {name: (clusters[at], revision, content) for name, at in picked if at is not None}
        found = in_force(PlacementOverrides(self.key, self.overrides), before, asked, self.done)
        kept = {name: number for name, number in taken.items() if number is not None}
        return attrs.evolve(found, numbers={**kept, **found.numbers})

    def _wanted(self, decision: Decision[PlacementMemory], revision: int) -> Wanted:
        live = {n: b for n, b in decision.memory.bindings.items() if b.state != UNSCHEDULED}
        clusters = self.inventory.clusters
        positions = {name: self.inventory.position(name) for name in live}
        return Wanted(
            ranks={name: binding.rank for name, binding in live.items()},
            revision=revision,
            target=target_of(self.policy),
            labels={name: clusters[p].labels for name, p in positions.items() if p is not None},
            unscheduled=_unscheduled(decision.status, self.key, decision.memory.snapshot),
        )

    def _changed(self, record: PlacementRecord, runs: RunsInForce | None) -> Iterator[str]:
        """Yield a note if what is selected is not what the last update run took."""
        last = max(record.digests, default=-1)
        if runs is None or last < 0 or record.holds(last, self.content):
            return
        takes = (
            f"update run {runs.latest} does not take it, a new one does" if runs.run else "a new update run takes it"
        )
        yield f"what is selected has changed since revision {last}: {takes}"

    def _notes(self, before: PlacementRecord, told: tuple[tuple[Check, str], ...], rollout: Rollout) -> tuple[str, ...]:
        """Return what is said of evictions that are carried out or forgotten, and of a budget that does not count."""
        done = [words for check, words in told if check.handled.result == EXECUTED]
        gone = sorted(before.memory.evictions.keys() - {eviction.name for eviction in self.evictions})
        done += [f"eviction {name} is taken out: its name may be used again" for name in gone]
        vain = guards_only_evictions(self.budget, rollout, [check for check, _ in told]) if self.budget else ""
        return (*done, *([vain] if vain else []))


def _check_known(record: PlacementRecord, rollout: Rollout) -> None:
    """Refuse to send a revision that the state hides.

    Raises:
        FleetError: it does.
    """
    moving = (Change.ADD, Change.UPDATE)
    for entry in rollout.entries.values():
        if entry.change in moving and entry.placed and not record.knows(entry.placed):
            what = f"revision {entry.placed.revision} is to be rolled out, and the state does not show its content"
            raise FleetError([Problem(what, hint=LACKS_HINT)])


def located(problem: Problem, members: Mapping[str, Any], policy: Any) -> Problem:
    """Return the problem of a failed cycle with its location: the member that causes it, else the placement."""
    if problem.file:
        return problem
    found = _PROPERTY.search(problem.what)
    if found and (member := members.get(found["member"])):
        field = ("properties", found["name"]) if found["name"] else ("resourceUsage",)
        return member.problem(problem.what, ("status", *field), _QUANTITY_HINT)  # type: ignore[no-any-return]
    return policy.problem(problem.what, ("spec", "policy"), problem.hint)  # type: ignore[no-any-return]


# Source: kubefleet-dev/kubefleet v0.3.1, pkg/scheduler/framework/plugins/clusteraffinity/types.go.
_PROPERTY = re.compile(r"(?:property (?P<name>\S+) )?from cluster (?P<member>[^\s:]+)")
_QUANTITY_HINT = 'write a quantity, such as "0.05" or 16Gi: the whole scheduling cycle fails on it, here as on a hub'


def _plain(error: str) -> str:
    """Return the error without the prefix that KubeFleet adds.

    Source: kubefleet-dev/kubefleet v0.3.1, pkg/scheduler/framework/status.go.
    """
    return error.partition("returned an error InternalError, ")[2] or error


def _unscheduled(status: Status, key: str, snapshot: int) -> str:
    fulfilled = status.condition and status.condition.status == "True"
    return "" if fulfilled else f"{key.rpartition('/')[2]}-{snapshot}"
