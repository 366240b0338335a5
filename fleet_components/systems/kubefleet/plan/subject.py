"""Implement the subject interface for placements: members, revisions and waves of one placement."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Self

import attrs

from fleet_components.content.envelope import unwrapped
from fleet_components.content.stored import Shape
from fleet_components.model.cluster import Taint
from fleet_components.model.codec import decode, encode
from fleet_components.model.decision import Decision
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey, Origin
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.release import Release
from fleet_components.plan.apply_mode import ApplyMode
from fleet_components.plan.edits import with_edits
from fleet_components.plan.no_match import missing_labels
from fleet_components.plan.record import Objects
from fleet_components.plan.standing import StandingOn, nothing_on
from fleet_components.plan.subject import Delivery, Explanation, Subject, SubjectPolicy
from fleet_components.rollout.rollout import Done, Gate, Gates
from fleet_components.scheduler.cycle import Proposals
from fleet_components.scheduler.edit import POLICY, Edits
from fleet_components.scheduler.explain import MemberExplanation
from fleet_components.scheduler.plugins import load_plugins
from fleet_components.systems.kubefleet.model.eviction import EVICTION, DisruptionBudget, Eviction
from fleet_components.systems.kubefleet.model.memory import UNSCHEDULED, PlacementMemory
from fleet_components.systems.kubefleet.model.override import ResourceOverride
from fleet_components.systems.kubefleet.model.placement import (
    GROUP,
    PICK_ALL,
    PICK_FIXED,
    PlacementPolicy,
    RollingUpdate,
)
from fleet_components.systems.kubefleet.model.release import RELEASE, RELEASES, Rule
from fleet_components.systems.kubefleet.plan.overrides import Shapes, reader, rule_path
from fleet_components.systems.kubefleet.plan.place import (
    MOVED_STATUS_HINT,
    PlacementOutcome,
    moves_from,
    picked,
    place,
)
from fleet_components.systems.kubefleet.plan.record import PlacementRecord
from fleet_components.systems.kubefleet.plan.stickiness import sticky
from fleet_components.systems.kubefleet.rollout.strategy import External
from fleet_components.systems.kubefleet.scheduler import schedule
from fleet_components.systems.kubefleet.scheduler.comparison import compare, proposals
from fleet_components.systems.kubefleet.scheduler.explain import explain
from fleet_components.systems.kubefleet.scheduler.profile import PROFILE
from fleet_components.systems.kubefleet.scheduler.state import tolerated

_FIXED = "its policy is PickFixed; take the member out of clusterNames"
_NO_EVICTION = (
    "KubeFleet evicts from ClusterResourcePlacements only; a ResourcePlacement leaves when its"
    " policy does"
)
_STAYS = Message(
    "hub-keeps-status-namespace",
    "chooses the namespace {reported} instead of {namespace}: with statusReportingScope"
    " NamespaceAccessible the hub sets Scheduled to False, and everything stays as it was",
)


@attrs.frozen
class PlacementSubject(Subject[PlacementRecord]):
    """A placement with all that its decision depends on.

    Attributes:
        key: the placement's key, ``namespace/name`` or the name alone.
        policy: its policy; None means PickAll.
        strategy: its rollout strategy.
        mode: how objects are written to members.
        abandons: True if its objects stay on their members when it goes.
        inventory: the members.
        content: the objects that it selects, as a resource snapshot has them: envelopes as they
            are.
        namespace: the namespace of a ResourcePlacement.
        done: what really runs, by member.
        waits: members that wait for an object of another placement or template, each with the gate.
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
        shapes: the custom kinds of its objects whose definition is known.
        history: how many of its newest revisions are kept.
        run_faults: why update runs cannot begin, by name.
        reports_in: the namespace in which its status can be read too; empty if there is none.
        moves_to: the other namespace that it is to report in, which a hub refuses; empty if there
            is none.
        labels: labels of the placement itself, which nothing is decided by.
        standing_on: returns its objects that stand on a member.
        release: the release of KubeFleet.
    """

    RECORD = PlacementRecord
    COMPONENT = "Placement"
    PROFILE = PROFILE
    EVICTION = EVICTION
    KEEPS_REVISIONS = True

    key: str
    policy: PlacementPolicy | None
    strategy: RollingUpdate | External
    inventory: Inventory
    content: Objects
    namespace: str = ""
    mode: ApplyMode = ApplyMode()
    abandons: bool = False
    done: Mapping[str, Done] = attrs.field(factory=dict)
    waits: Mapping[str, Gate] = attrs.field(factory=dict)
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
    shapes: Shapes = attrs.field(factory=dict, eq=False, repr=False)
    history: int = 10
    run_faults: Mapping[str, Problem] = attrs.field(factory=dict)
    reports_in: str = ""
    moves_to: str = ""
    labels: Mapping[str, str] = attrs.field(factory=dict, eq=False)
    standing_on: StandingOn = attrs.field(default=nothing_on, eq=False, repr=False)
    release: Release = RELEASE

    @property
    def opens(self) -> bool:
        """True if overrides change what is in envelopes, False if they change envelopes."""
        return self.release.has(Rule.OVERRIDES_IN_ENVELOPES)

    @property
    def kind(self) -> str:
        """``ClusterResourcePlacement`` or ``ResourcePlacement``."""
        return "ResourcePlacement" if self.namespace else "ClusterResourcePlacement"

    @property
    def timed(self) -> bool:
        """True if update runs roll it out."""
        return isinstance(self.strategy, External)

    @property
    def reports(self) -> bool:
        """True if its apply strategy is ``ReportDiff``."""
        return self.mode.reports

    @property
    def origins(self) -> Mapping[ObjectKey, tuple[Origin, ...]]:
        """Where each object that members get is written: in several places if it is selected in
        several envelopes.
        """
        found: dict[ObjectKey, list[Origin]] = defaultdict(list)
        for manifest in unwrapped(self.selected):
            found[manifest.key] += [manifest.origin] if manifest.origin else []
        return {key: tuple(origins) for key, origins in found.items()}

    @property
    def hub_key(self) -> ObjectKey:
        """Key of the placement."""
        return ObjectKey(GROUP, self.kind, self.namespace, self.key.rpartition("/")[2])

    def policy_of(self, record: PlacementRecord) -> SubjectPolicy:
        """Return the placement itself."""
        spreads = self.policy.topology_spread_constraints if self.policy else ()
        return SubjectPolicy(
            name=self.name,
            origin=self.origin,
            labels=self.labels,
            placement_type=self.policy.placement_type if self.policy else PICK_ALL,
            spread_over=tuple(constraint.topology_key for constraint in spreads),
        )

    def label_hints(self, outcome: PlacementOutcome) -> list[str]:
        """Return hints at labels that the required terms of the affinity ask for."""
        terms = self.policy.required_terms if self.policy else ()
        return missing_labels([term.label_selector for term in terms], self.inventory.clusters)

    def eviction(self, name: str, member: str) -> str:
        """Return the YAML of a ClusterResourcePlacementEviction."""
        return (
            f"apiVersion: {GROUP}/v1beta1\n"
            f"kind: {EVICTION}\n"
            f"metadata: {{name: {name}}}\n"
            f"spec: {{placementName: {self.key}, clusterName: {member}}}\n"
        )

    def stays_on(self, taint: Taint) -> str:
        """Return why no eviction empties the member of it for good."""
        if self.policy and self.policy.placement_type == PICK_FIXED:
            return _FIXED
        if self.policy and tolerated(taint, self.policy.tolerations):
            return f"it tolerates the taint {taint.key}"
        return _NO_EVICTION if self.namespace else ""

    def last_decided(
        self, outcome: PlacementOutcome, record: PlacementRecord, shown: Mapping[str, Any]
    ) -> tuple[PlacementSubject, PlacementOutcome]:
        """Return it with the policy and the objects that the last update has recorded."""
        # Recorded objects have no origin, so the objects of the source are used where nothing
        # differs.
        content = record.contents.get(record.revision, self.content)
        same = content == self.content
        selected = self.selected if same else tuple(map(Manifest, content))
        found = attrs.evolve(self, content=content, selected=selected)
        policy = shown.get("policy")
        if isinstance(policy, Mapping):
            # An empty map stands for no policy: see `shown`.
            found = attrs.evolve(found, policy=decode(PlacementPolicy, policy) if policy else None)
        return found, attrs.evolve(outcome, decision=found.schedule(record.memory))

    @property
    def override_manifests(self) -> Iterable[Manifest]:
        """The overrides that select any of its objects."""
        return (override.manifest for override in self.overrides)

    @staticmethod
    def rule_path(override: Manifest, position: int) -> FieldPath:
        """Return the path of a rule in its override."""
        return rule_path(override, position)

    def decide(self, before: PlacementRecord) -> PlacementOutcome:
        """Schedule the placement and plan its rollout."""
        return place(self, before.completed(self.content))

    def on_hub(self, before: PlacementRecord) -> Self:
        """Return the placement as a hub rolls it out.

        It sees no change in what it stores alike. Where the namespace of the status would be
        another one it ignores selectors and policy.
        """
        namespace = moves_from(self, before)
        if not namespace:
            return attrs.evolve(self, content=before.settled(self.content, reader(self.shapes)))
        what = _STAYS.filled(reported=self.reports_in, namespace=namespace)
        warning = Problem(what, ("spec", "resourceSelectors"), MOVED_STATUS_HINT, subject=self.key)
        return attrs.evolve(
            self,
            # Present: `moves_from` has read the old namespace in it.
            content=before.contents[before.revision],
            policy=before.memory.policy,
            reports_in=namespace,
            moves_to=self.reports_in,
            selected=(),
            skipped=(),
            warnings=(*self.warnings, warning),
        )

    def schedule(self, memory: PlacementMemory) -> Decision[PlacementMemory]:
        """Return the scheduler's decision."""
        plugins = load_plugins(self.plugins)
        return schedule(
            self.inventory, self.policy, memory, namespace=self.namespace, plugins=plugins
        )

    def explain(
        self, outcome: PlacementOutcome, members: Collection[str] | None = None
    ) -> Explanation:
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

    def choice(self, before: PlacementRecord) -> frozenset[str]:
        """Return the members that are picked."""
        return picked(self, before.completed(self.content))

    def proposals(self, outcome: PlacementOutcome, cluster: str) -> Proposals:
        """Return changes of the member and of the policy."""
        plugins = load_plugins(self.plugins)
        ours = _picked(outcome)
        return proposals(
            self.inventory,
            self.policy,
            ours,
            cluster,
            namespace=self.namespace,
            plugins=plugins,
            # Only ClusterResourcePlacements pass the webhook that refuses PickFixed without names.
            needs_names=not (self.namespace or self.release.has(Rule.NO_NAMES_PICKED)),
        )

    def comparison(self, before: PlacementRecord, outcome: PlacementOutcome, cluster: str) -> str:
        """Return how many points the member is behind the last that was picked, or ahead of the
        next.
        """
        found = compare(
            self.inventory,
            self.policy,
            before.memory,
            _picked(outcome),
            cluster,
            namespace=self.namespace,
            plugins=load_plugins(self.plugins),
        )
        return found.words if found else ""

    def changed(self, change: Edits, outcome: PlacementOutcome) -> Self:
        """Return the placement in a fleet with a change of members, or of its policy."""
        inventory, edits = (
            with_edits(self.inventory, change),
            [item for item in change if item.of == POLICY],
        )
        if not edits:
            return attrs.evolve(self, inventory=inventory)
        # Edits have paths from the root of the placement, in the names of the API.
        written = {"spec": {"policy": encode(self.policy or PlacementPolicy())}}
        for edit in edits:
            written = edit.on(written)
        return attrs.evolve(
            self, inventory=inventory, policy=decode(PlacementPolicy, written["spec"]["policy"])
        )

    def anew(self) -> Self:
        """Return the placement as if nothing had been delivered."""
        return attrs.evolve(self, done={})

    def sticky(self, outcome: PlacementOutcome) -> str:
        """Return what the members that were picked before could change."""
        return sticky(self, outcome)

    def reason(self, cluster: str, explained: MemberExplanation | None) -> str:
        """Return why the member is picked or not, in the words of the plug-ins."""
        if explained is None or not explained.selected:
            return explained.summary if explained else ""
        # Not falsy: the verdict of a score has None.
        failing = [verdict.words for verdict in explained.verdicts if verdict.passed is False]
        if failing:
            return f"stays although {failing[0]}"
        # Only PickFixed has this verdict, and it comes first.
        if explained.verdicts[:1] and explained.verdicts[0].plugin == "ClusterNames":
            return explained.verdicts[0].words
        return (
            "; ".join(verdict.words for verdict in explained.verdicts if verdict.score)
            or "passes every filter"
        )

    def delivery(self, outcome: PlacementOutcome, cluster: str) -> Delivery:
        """Return the objects of the member's revision."""
        position = self.inventory.position(cluster)
        member = self.inventory.clusters[position or 0]
        objects = outcome.record.objects(outcome.record.decisions[cluster], member)
        return Delivery(objects, mode=self.mode, keeps=self.abandons)

    def shown(self) -> dict[str, Any]:
        """Return policy and strategy, and what says how drift is treated, unless it is
        overwritten.
        """
        # An empty map stands for no policy, which means PickAll: see `last_decided`.
        asked = {
            "policy": encode(self.policy) if self.policy else {},
            "strategy": encode(self.strategy),
        }
        if self.reports:
            return {**asked, "reports": True}
        apply = encode(self.mode.at_drift)
        return {**asked, "apply": apply} if apply else asked

    def to_wire(self) -> dict[str, Any]:
        """Return the form for a feed, without the inventory and what only messages need."""
        strategy = self.strategy
        return {
            "key": self.key,
            "policy": encode(self.policy) if self.policy else None,
            # Exactly one of the two is set, which tells `from_wire` the type.
            "external": encode(strategy) if isinstance(strategy, External) else None,
            "rolling": encode(strategy) if isinstance(strategy, RollingUpdate) else None,
            "content": list(self.content),
            "namespace": self.namespace,
            "mode": encode(self.mode),
            "abandons": self.abandons,
            "done": {cluster: encode(done) for cluster, done in self.done.items()},
            "waits": {cluster: encode(gate) for cluster, gate in self.waits.items()},
            "gates": encode(self.gates),
            "untrackable": self.untrackable,
            "plugins": list(self.plugins),
            "overrides": [override.manifest.data for override in self.overrides],
            "shapes": (
                {kind: shape.to_wire() for kind, shape in self.shapes.items()}
                if self.overrides
                else {}
            ),
            "history": self.history,
            "evictions": [encode(eviction) for eviction in self.evictions],
            "budget": encode(self.budget) if self.budget else None,
            "release": self.release.name,
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any], inventory: Inventory) -> Self:
        """Read the subject back from :meth:`to_wire`."""
        rolling, external = wire["rolling"], wire["external"]
        return cls(
            key=wire["key"],
            policy=None if wire["policy"] is None else decode(PlacementPolicy, wire["policy"]),
            strategy=(
                decode(External, external) if rolling is None else decode(RollingUpdate, rolling)
            ),
            inventory=inventory,
            content=tuple(wire["content"]),
            namespace=wire["namespace"],
            mode=decode(ApplyMode, wire["mode"]),
            abandons=wire["abandons"],
            done={cluster: decode(Done, done) for cluster, done in wire["done"].items()},
            waits={cluster: decode(Gate, gate) for cluster, gate in wire["waits"].items()},
            gates=decode(Gates, wire["gates"]),
            untrackable=wire["untrackable"],
            plugins=tuple(wire["plugins"]),
            overrides=tuple(
                ResourceOverride.from_manifest(Manifest(data)) for data in wire["overrides"]
            ),
            shapes={kind: Shape.from_wire(item) for kind, item in wire["shapes"].items()},
            history=wire["history"],
            evictions=tuple(decode(Eviction, eviction) for eviction in wire["evictions"]),
            budget=None if wire["budget"] is None else decode(DisruptionBudget, wire["budget"]),
            release=RELEASES[wire["release"]],
        )


def _picked(outcome: PlacementOutcome) -> list[str]:
    """Return the picked members in the order in which they were picked."""
    bindings = outcome.decision.memory.bindings
    return sorted(
        (n for n, b in bindings.items() if b.state != UNSCHEDULED),
        key=lambda name: bindings[name].rank,
    )


def located(problem: Problem, members: Mapping[str, Any], policy: Any) -> Problem:
    """Return the problem of a failed cycle with its location: the member that causes it, else the
    placement.
    """
    if problem.file:
        return problem
    found = _PROPERTY.search(problem.what)
    if found and (member := members.get(found["member"])):
        field = ("properties", found["name"]) if found["name"] else ("resourceUsage",)
        at_member: Problem = member.problem(problem.message, ("status", *field), _QUANTITY_HINT)
        return at_member
    path = problem.path or ("spec", "policy")
    at_policy: Problem = policy.problem(problem.message, path, problem.advice)
    return at_policy


# Source: kubefleet-dev/kubefleet v0.3.1, pkg/scheduler/framework/plugins/clusteraffinity/types.go.
_PROPERTY = re.compile(r"(?:property (?P<name>\S+) )?from cluster (?P<member>[^\s:]+)")
_QUANTITY_HINT = (
    'write a quantity, such as "0.05" or 16Gi: the whole scheduling cycle fails on it, here as on'
    " a hub"
)
