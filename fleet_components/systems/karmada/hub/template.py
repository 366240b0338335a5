"""A template with its binding, as the state that the planner keeps of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from fleet_components.content.outline import data_written
from fleet_components.hub.listing import Object
from fleet_components.hub.observation import ObservedSubject
from fleet_components.model.codec import decode
from fleet_components.model.manifest import replicas_of
from fleet_components.model.problem import FleetError
from fleet_components.plan.record import digest
from fleet_components.systems.karmada.hub.binding import (
    Binding,
    as_written,
    is_leaving,
    plain,
    policy_of,
)
from fleet_components.systems.karmada.model.cluster import DEFAULT_MODELS
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.model.policy import (
    Failover,
    Placement,
    PolicyKey,
    PropagationPolicy,
    Suspension,
)
from fleet_components.systems.karmada.model.template import (
    BoundPolicy,
    PolicyClaim,
    SeenPolicy,
    Template,
)
from fleet_components.systems.karmada.plan.place import bound_to, scheduled_form
from fleet_components.systems.karmada.plan.record import TemplateRecord, TemplateState
from fleet_components.systems.karmada.plan.subject import TemplateSubject
from fleet_components.systems.karmada.scheduler.matching import CARRIED, matches, missing_overrides
from fleet_components.systems.karmada.scheduler.rest import looked_at
from fleet_components.systems.karmada.scheduler.state import KarmadaState

_TYPED: Mapping[str, type[Any]] = {
    "placement": Placement,
    "failover": Failover,
    "suspension": Suspension,
}
FIRST = 1
"""The revision that an observed template has: what it was before is not known."""


@attrs.frozen(slots=False)
class BoundTemplate:
    """A template that has a binding.

    Attributes:
        subject: the template as the planner sees it, with what it takes over from those that need
            it.
        binding: its binding.
        original: the template as the control plane has it.
        rebalances: names of the rebalancers whose rebalance was carried out for it.
    """

    subject: TemplateSubject
    binding: Binding
    original: Object = attrs.field(repr=False)
    rebalances: tuple[str, ...] = ()

    @property
    def depends(self) -> bool:
        """True if it only goes along with others: its binding has no placement."""
        return self.binding.spec.get("placement") is None

    @cached_property
    def claimed(self) -> PolicyKey | None:
        """The policy that has claimed it, if that is still there."""
        return self._there(policy_of(self.original))

    @cached_property
    def policy(self) -> PolicyKey | None:
        """The policy that its binding belongs to, if that is still there."""
        return None if self.depends else self._there(self.binding.policy)

    @cached_property
    def follows(self) -> bool:
        """False if changes of the object do not reach the binding: no policy has it, or its policy
        no longer selects it.
        """
        if self.depends:
            return True
        owner = self.subject.policies.index.named(self.claimed) if self.claimed else None
        return self.policy is not None and (owner is None or matches(owner, self.subject.manifest))

    @cached_property
    def state(self) -> TemplateState:
        """The state as the planner keeps it."""
        memory, bound, subject = self._memory, self._bound, self.subject
        if bound:
            asked = (subject.inventory, self.template, bound.placement, memory)
            scheduler = KarmadaState(*asked, rebalances=subject.rebalances)
            memory = attrs.evolve(memory, looked=looked_at(scheduler, bound_to(bound)))
        return TemplateState(
            claim=PolicyClaim(self.claimed, bound, FIRST),
            policies=seen_policies(subject, {self.claimed, self.policy}),
            seen=digest((subject.manifest.data,)),
            generation=FIRST,
            replicas=self.replicas,
            data_written=data_written(self.original),
            schedule=memory,
        )

    @cached_property
    def fresh(self) -> bool:
        """True if the object is delivered as it is now."""
        needed = bool(self._memory.required_by) and not any(self._memory.clusters.values())
        return self.follows or needed

    @cached_property
    def replicas(self) -> int:
        """The replicas that are divided, or that each member gets."""
        if self.fresh:
            return replicas_of(self.subject.manifest, self.subject.settings.shapes)
        return self.binding.spec.get("replicas") or 0

    @property
    def template(self) -> Template:
        """The object as the scheduler sees it."""
        return scheduled_form(self.subject.manifest, self.replicas, self.subject.settings.shapes)

    @cached_property
    def _memory(self) -> TemplateMemory:
        binding, clusters = self.binding, self.binding.clusters
        # The order counts where there are replicas, and is not kept elsewhere.
        ordered = clusters if any(clusters.values()) else dict(sorted(clusters.items()))
        required = sorted(self.subject.needs.required_by.items())
        return TemplateMemory(
            uid=self.original.get("metadata", {}).get("uid")
            or binding.spec["resource"].get("uid")
            or "",
            placement=binding.applied,
            clusters=ordered,
            observed_group=binding.status.get("schedulerObservingAffinityName") or "",
            scheduled=binding.scheduled is not None,
            rebalances=self.rebalances,
            evictions=binding.tasks,
            required_by={parent: dict(members) for parent, members in required if members},
            retries=binding.failing,
        )

    @cached_property
    def _bound(self) -> BoundPolicy | None:
        if self.depends:
            return None
        owner = self.subject.policies.index.named(self.policy) if self.policy else None
        # A revision before that of the object marks the binding as frozen.
        return BoundPolicy(self.policy, self._carried(owner), FIRST if self.follows else FIRST - 1)

    def _carried(self, owner: PropagationPolicy | None) -> dict[str, Any]:
        """Return what the binding has from its policy: as the policy has it written, where it means
        the same.
        """
        found = {}
        for part in CARRIED:
            here, there = self.binding.spec.get(part), owner.data.get(part) if owner else None
            value = there if _is_same(part, here, there) else here
            if value is not None:
                found[part] = value
        return found

    def _there(self, key: PolicyKey | None) -> PolicyKey | None:
        return key if key and self.subject.policies.index.named(key) else None


def seen_policies(
    subject: TemplateSubject, holders: Collection[PolicyKey | None]
) -> dict[str, SeenPolicy]:
    """Return the policies that hold or match a template, as the control plane has seen them."""
    index, manifest, overrides = (
        subject.policies.index,
        subject.manifest,
        subject.policies.override_index.keys,
    )
    named = (policy for key in holders if key and (policy := index.named(key)))
    concerned = {policy.key: policy for policy in (*index.candidates(manifest), *named)}
    # A policy that waits for its override policies is looked at until they are there, unless it has
    # the template.
    waits = not any(holders)
    return {
        policy.key.path: SeenPolicy(
            "" if waits and missing_overrides(policy, overrides) else policy.digest,
            policy.spec.priority,
        )
        for policy in sorted(concerned.values(), key=lambda policy: policy.key.path)
        if policy.key in holders or matches(policy, manifest)
    }


def _is_same(part: str, here: Any, there: Any) -> bool:
    """Return whether a binding's field means what the policy's field means."""
    if part in _TYPED:
        return bool(decode(_TYPED[part], here or {}) == decode(_TYPED[part], there or {}))
    # The binding has the number of a priority class, the policy its name.
    return (
        bool(here or None) == bool(there or None)
        if part == "schedulePriority"
        else (here or None) == (there or None)
    )


# Members in the form in which users declare them.


_SPEC = ("syncMode", "provider", "region", "zone", "zones", "taints", "resourceModels")
_SUMMARY = ("allocatable", "allocated", "allocating", "allocatableModelings")
_CONDITIONS = ("Ready", "CompleteAPIEnablements")


def member_as_written(data: Object) -> dict[str, Any]:
    """Return a ``Cluster`` with what the scheduler reads, and without what changes from minute to
    minute.

    Addresses and references to Secrets are left out, and so are resource models that are the
    default ones.
    """
    written, given, status = as_written(data), data.get("spec") or {}, data.get("status")
    spec = plain({field: given.get(field) for field in _SPEC})
    if _is_default(given.get("resourceModels")):
        # Present: the default models are not empty, so `plain` has kept them.
        del spec["resourceModels"]
    if is_leaving(data):
        written["metadata"]["deletionTimestamp"] = data["metadata"]["deletionTimestamp"]
    # No status differs from an empty one: without any, a Cluster is taken to serve all APIs.
    seen = {} if status is None else {"status": _status(status)}
    head = {field: written[field] for field in ("apiVersion", "kind", "metadata")}
    return {**head, "spec": {"syncMode": "Push", **spec}, **seen}


def _status(status: Mapping[str, Any]) -> dict[str, Any]:
    summary = status.get("resourceSummary")
    counted = None if summary is None else plain({field: summary.get(field) for field in _SUMMARY})
    # Sorted, so that two observations differ only if the Cluster does.
    conditions = [
        {
            "type": condition["type"],
            "status": condition["status"],
            "reason": condition.get("reason", ""),
        }
        for condition in sorted(status.get("conditions") or (), key=lambda item: str(item["type"]))
        if condition["type"] in _CONDITIONS
    ]
    served = [
        {
            "groupVersion": group["groupVersion"],
            "resources": _resources(group.get("resources") or ()),
        }
        for group in sorted(
            status.get("apiEnablements") or (), key=lambda group: str(group["groupVersion"])
        )
    ]
    summed = {} if counted is None else {"resourceSummary": counted}
    return {**plain({"conditions": conditions}), "apiEnablements": served, **summed}


def _resources(resources: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return sorted(
        ({"name": resource["name"], "kind": resource["kind"]} for resource in resources),
        key=lambda data: str(data["name"]),
    )


def _is_default(models: Sequence[Mapping[str, Any]] | None) -> bool:
    """Return whether the resource models are those that every joined member gets."""
    if not models:
        return False
    given = [
        (data["grade"], {part["name"]: str(part["min"]) for part in data["ranges"]})
        for data in models
    ]
    return given == [(model.grade, dict(model.minimum)) for model in DEFAULT_MODELS]


# Templates that policies select and that have no binding.


def unbound(subject: TemplateSubject, original: Object) -> ObservedSubject | None:
    """Return a template without a binding as it was observed; None if it is still to get one.

    Args:
        subject: the template as the planner sees it.
        original: the template as the control plane has it.
    """
    key = policy_of(original)
    claimed = key if key and subject.policies.index.named(key) else None
    memory = TemplateState(
        claim=PolicyClaim(claimed, None, FIRST),
        policies=seen_policies(subject, {claimed}) if claimed else {},
        seen=digest((subject.manifest.data,)),
        generation=FIRST,
        schedule=TemplateMemory(uid=original["metadata"].get("uid") or ""),
    )
    try:
        record = subject.decide(TemplateRecord(memory=memory)).record
    except FleetError:
        return None  # the plan has the same problem
    # The control plane would bind it as well, and has not yet.
    if record.memory.claim.bound or record.decisions:
        return None
    return ObservedSubject(name=subject.name, record=record, protected=subject.protected)
