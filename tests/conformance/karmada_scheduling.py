"""Subject ``karmada/scheduling``: one binding on a fleet that changes, everything carried from step to step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.model.codec import decode
from fleet_components.model.inventory import Inventory
from fleet_components.systems.karmada.model.cluster import read_karmada_cluster
from fleet_components.systems.karmada.model.memory import EvictionTask, TemplateMemory
from fleet_components.systems.karmada.model.policy import WEIGHTED, Placement, SpreadConstraint
from fleet_components.systems.karmada.model.template import Estimates, Template
from fleet_components.systems.karmada.scheduler.status import BindingStatus, TemplateDecision
from tests.scheduler.karmada.events import Changes, next_run

Case = Mapping[str, Any]
COMPARED = ("evaluated", "scheduled", "clusters", "observedAffinity", "condition", "events")
_JOINED = " || "
_ONE_OF_SEVERAL = "<one of several texts>"


def run(case: Case) -> Iterator[tuple[Any, Any]]:
    """Expected and found outcome of the initial input and of every step."""
    texts: list[str] = []
    for expected, found in zip(case["outcomes"], outcomes(case), strict=True):
        if expected["scheduled"]:  # else the texts of an earlier run stand
            texts = each_text(expected.get("errorVariants", []))
        if variants := expected.get("variants"):
            yield True, found["clusters"] in variants
        else:
            any_order = found["listedInAnyOrder"]
            yield (
                comparable(expected, texts, any_order=any_order),
                comparable(found, texts, any_order=any_order),
            )


def comparable(outcome: Case, texts: list[str], *, any_order: bool) -> dict[str, Any]:
    """What is compared. Of what is random in the real scheduler, only that it is one of the possible outcomes."""
    compared: dict[str, Any] = {key: outcome.get(key) for key in COMPARED}
    events = outcome.get("events", [])
    if any_order:
        events = [_in_order(event) for event in events]
    condition = {**outcome["condition"], "message": _hidden(outcome["condition"]["message"], texts)}
    events = list(dict.fromkeys(_hidden(event, texts) for event in events))
    return {**compared, "condition": condition, "events": events}


def each_text(variants: list[str]) -> list[str]:
    """The texts of a run; those of several affinity groups are joined, and each group has any of its own."""
    return list(dict.fromkeys(text for variant in variants for text in variant.split(_JOINED)))


def _hidden(text: str, variants: list[str]) -> str:
    for variant in sorted(variants, key=len, reverse=True):
        text = text.replace(variant, _ONE_OF_SEVERAL)
    return text


def _in_order(event: str) -> str:
    head, _, listed = event.partition("{")
    return f"{head}{{{', '.join(sorted(listed.rstrip('}').split(', ')))}}}"


def outcomes(case: Case) -> Iterator[dict[str, Any]]:
    """What our scheduler answers, in the form of the vectors."""
    world = ControlPlane.of(case)
    yield outcome(world.run(Changes(binding=True, fleet=Inventory(()))))
    for step in case.get("steps", ()):
        before = world.inventory
        changed = world.apply(step)
        yield outcome(world.run(Changes(binding=changed, fleet=before)))


@attrs.define
class ControlPlane:
    """A control plane with one binding."""

    template: Template
    placement: Placement
    estimates: Estimates
    clusters: dict[str, Case]
    empty_workloads: bool = False
    leaving: set[str] = attrs.field(factory=set)
    suspended: bool = False
    rebalances: list[str] = attrs.field(factory=list)
    decision: TemplateDecision = attrs.field(kw_only=True)

    @classmethod
    def of(cls, case: Case) -> ControlPlane:
        """The world before the first run."""
        requirements = case.get("replicaRequirements")
        template = Template(
            api_version=case["apiVersion"],
            kind=case["kind"],
            name=case["resourceName"],
            namespace=case.get("namespace", ""),
            replicas=case.get("replicas", 0),
            requests=None if requirements is None else requirements.get("resourceRequest") or {},
        )
        return cls(
            template,
            read_placement(case["placement"]),
            read_estimates(case, Estimates()),
            {cluster["metadata"]["name"]: cluster for cluster in case["clusters"]},
            case.get("enableEmptyWorkloadPropagation", False),
            decision=TemplateDecision(TemplateMemory(uid=case["uid"]), BindingStatus()),
        )

    @property
    def inventory(self) -> Inventory:
        """The fleet."""
        read = {name: read_karmada_cluster(cluster) for name, cluster in self.clusters.items()}
        return Inventory(
            attrs.evolve(cluster, leaving=cluster.leaving or name in self.leaving)
            for name, cluster in read.items()
        )

    def run(self, changes: Changes) -> TemplateDecision:
        """Schedule once; a member that is leaving is gone when it is not a target any more."""
        self.decision = next_run(
            self.inventory,
            self.template,
            self.placement,
            self.decision,
            changes,
            suspended=self.suspended,
            estimates=self.estimates,
            rebalances=self.rebalances,
            empty_workloads=self.empty_workloads,
        )
        for name in self.leaving - self.decision.memory.clusters.keys():
            self.leaving.remove(name)
            del self.clusters[name]
        return self.decision

    def apply(self, step: Case) -> bool:
        """Change the world; whether the binding's spec changed."""
        self.clusters |= {
            cluster["metadata"]["name"]: cluster for cluster in step.get("clusters", ())
        }
        self.leaving |= self.clusters.keys() & step.get("removeClusters", ())
        self.estimates = read_estimates(step, self.estimates)
        before = self._spec()
        if "placement" in step:
            self.placement = read_placement(step["placement"])
        if "replicas" in step:
            self.template = attrs.evolve(self.template, replicas=step["replicas"])
        if step.get("reschedule"):
            self.rebalances.append(f"rebalance-{len(self.rebalances)}")
        self.suspended = step.get("suspendScheduling", self.suspended)
        self._evict(step)
        return self._spec() != before

    def _evict(self, step: Case) -> None:
        memory = self.decision.memory
        for eviction in step.get("evict", ()):
            before = memory.evictions
            memory = memory.evict(eviction["cluster"], EvictionTask(eviction.get("purgeMode", "")))
            if eviction.get("immediate"):
                memory = attrs.evolve(memory, evictions=before)
        done = step.get("evictionDone", ())
        tasks = {name: task for name, task in memory.evictions.items() if name not in done}
        self.decision = attrs.evolve(self.decision, memory=attrs.evolve(memory, evictions=tasks))

    def _spec(self) -> tuple[object, ...]:
        memory = self.decision.memory
        return (
            self.placement,
            self.template.replicas,
            len(self.rebalances),
            self.suspended,
            dict(memory.clusters),
            set(memory.evictions),
        )


def outcome(decision: TemplateDecision) -> dict[str, Any]:
    """A decision in the form of the vectors."""
    memory, status = decision.memory, decision.status
    condition = status.condition
    return {
        "evaluated": status.evaluated,
        "scheduled": bool(status.trigger),
        "clusters": [
            {"name": name, "replicas": replicas}
            for name, replicas in sorted(memory.clusters.items())
        ],
        "observedAffinity": memory.observed_group or None,
        "condition": condition
        and {key: getattr(condition, key) for key in ("status", "reason", "message")},
        "events": [str(event) for event in status.events],
        # Targets that only keep what they have are listed in the order of a Go map.
        "listedInAnyOrder": any(
            len(part.kept.keys() - part.shares.keys()) > 1 for part in status.divisions
        ),
    }


def read_placement(data: Case) -> Placement:
    """A placement as users write it, defaulted as the mutating webhook does."""
    placement = decode(Placement, data)
    scheduling = placement.replica_scheduling
    if scheduling and placement.divided and not scheduling.replica_division_preference:
        scheduling = attrs.evolve(scheduling, replica_division_preference=WEIGHTED)
    constraints = tuple(map(_defaulted_constraint, placement.spread_constraints))
    return attrs.evolve(placement, spread_constraints=constraints, replica_scheduling=scheduling)


def _defaulted_constraint(constraint: SpreadConstraint) -> SpreadConstraint:
    by_field = constraint.spread_by_field or ("" if constraint.spread_by_label else "cluster")
    return attrs.evolve(constraint, spread_by_field=by_field, min_groups=constraint.min_groups or 1)


def read_estimates(data: Case, standing: Estimates) -> Estimates:
    """The estimator's answers; a new kind replaces the other."""
    if "availableReplicas" in data:
        return Estimates(available=data["availableReplicas"])
    return Estimates(capacity=data["capacity"]) if "capacity" in data else standing
