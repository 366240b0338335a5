"""The record of a template, kept between runs: what each member gets of it, and its stable uid."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.overridden import Overridden
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import below, checked, decode, encode, ranged
from fleet_components.model.manifest import ObjectKey, value_at
from fleet_components.plan.record import Objects, Record, digest
from fleet_components.rollout.rollout import Done
from fleet_components.systems.karmada.content.prune import pruned
from fleet_components.systems.karmada.model.memory import TemplateMemory
from fleet_components.systems.karmada.model.policy import (
    DIRECTLY,
    POLICY_GROUP,
    Failover,
    Placement,
    PolicyKey,
    Suspension,
    is_policy_path,
)
from fleet_components.systems.karmada.model.template import PolicyClaim, SeenPolicy
from fleet_components.systems.karmada.plan.content import (
    Share,
    check_part,
    is_custom,
    retained,
    shape_in,
    shared,
)
from fleet_components.systems.karmada.plan.overrides import apply_rules, check_rules


def template_uid(stack: str, key: str) -> str:
    """Return a stable uid derived from stack and key; ties between members depend on it."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{stack}/{key}"))


def _no_policies(seen: Mapping[str, SeenPolicy]) -> str:
    """Return what is wrong with the keys of policies, of the form ``kind/namespace/name``; empty if
    nothing is.
    """
    return "" if all(map(is_policy_path, seen)) else "has a key that is not the name of a policy"


@attrs.frozen(kw_only=True)
class TemplateState:
    """State of a template for the next run: claim, binding and schedule.

    Attributes:
        claim: the policy that has claimed it, and its binding.
        policies: the policies that concern it, as seen by the last run.
        seen: a digest of the object as seen by the last run, without the data of Secrets.
        generation: a number that grows with every change of the object.
        replicas: the replicas that the object asked for when its binding was made.
        data_written: when the data of a Secret was last written on its hub, in RFC 3339; empty if
            that is not known.
        schedule: what the scheduler remembers.
    """

    claim: PolicyClaim = PolicyClaim()
    policies: Mapping[str, SeenPolicy] = attrs.field(factory=dict, metadata=checked(_no_policies))
    seen: str = ""
    generation: int = attrs.field(default=0, metadata=ranged(0))
    replicas: int = attrs.field(default=0, metadata=ranged(0))
    data_written: str = ""
    schedule: TemplateMemory = TemplateMemory()

    @property
    def targets(self) -> tuple[str, ...]:
        """Members that are to have the template, on its own account or because others need it."""
        needed = {cluster for parent in self.schedule.required_by.values() for cluster in parent}
        return tuple(sorted({*self.schedule.clusters, *needed}))

    @property
    def left_later(self) -> tuple[str, ...]:
        """Members that the template is leaving but whose copy stays for now.

        Source: karmada-io/karmada 1.19, pkg/util/helper/binding.go,
        ObtainBindingSpecExistingClusters.
        """
        tasks = self.schedule.evictions
        return tuple(
            # With purge mode Directly the copy does not stay.
            sorted(cluster for cluster, task in tasks.items() if task.purge_mode != DIRECTLY)
        )

    @property
    def suspension(self) -> Suspension:
        """The ``suspension`` of its policy."""
        found: Suspension = decode(Suspension, self.spec.get("suspension") or {})
        return found

    @property
    def own(self) -> tuple[str, ...]:
        """Members that have the template on its own account."""
        return tuple(sorted({*self.schedule.clusters, *self.left_later}))

    @property
    def policy(self) -> PolicyKey | None:
        """Policy that the binding belongs to; None if there is no binding, or if it was
        released.
        """
        return self.claim.bound.policy if self.claim.bound else None

    @property
    def frozen(self) -> bool:
        """True if no policy follows the object as it is now, so that it stays as it was placed."""
        bound = self.claim.bound
        return bound is not None and (bound.policy is None or bound.revision != self.generation)

    @property
    def spec(self) -> Mapping[str, Any]:
        """Values that the binding has from the policy, in API form; they stay when the policy is
        deleted.
        """
        return self.claim.bound.spec if self.claim.bound else {}

    def renamed(self, cluster: Callable[[str], str]) -> TemplateState:
        """Return the state with the members under other names."""
        return attrs.evolve(self, schedule=self.schedule.renamed(cluster))

    def to_wire(self) -> dict[str, object]:
        """Return the form in the stack's state."""
        return {**encode(self), "schedule": self.schedule.to_wire()}

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any] | None) -> TemplateState:
        """Read it back from :meth:`to_wire`; None and the empty map stand for a template that was
        never seen.
        """
        # `TemplateMemory` has a wire form of its own, which is read below.
        state = decode(cls, wire or {})
        with below("claim", "bound", "spec"):
            check_policy(state.spec)
        with below("schedule"):
            return attrs.evolve(
                state, schedule=TemplateMemory.from_wire((wire or {}).get("schedule"))
            )


def check_policy(spec: Mapping[str, Any]) -> None:
    """Check the values that a binding has from a policy.

    Raises:
        MisfitError: they cannot come from a policy.
    """
    parts: tuple[tuple[str, type], ...] = (
        ("placement", Placement),
        ("failover", Failover),
        ("suspension", Suspension),
    )
    for field, kind in parts:
        with below(field):
            decode(kind, spec.get(field) or {})


@attrs.frozen
class TemplateRecord(Record[Share, TemplateState]):
    """Record of a template. A content is the object, then its kind if that is custom.

    If replicas are divided, the object in the content has none: they are set for each member, so
    that scaling makes no new revision.
    """

    COMPONENT = "Template"
    DECISION = Share
    MEMORY = TemplateState

    @classmethod
    def check_content(cls, number: int, data: Any) -> None:
        """Check one part of a content: first the object, then custom kinds."""
        if number == 0 or not is_custom(data):
            super().check_content(number, data)
        if number > 0:
            check_part(data)

    @classmethod
    def check_rules(cls, data: Any) -> None:
        """Check the override rules of one policy."""
        check_rules(data)

    def plain(self, placed: Share) -> Objects:
        """Return the object with the replicas of the member."""
        return (shared(self.contents[placed.revision], placed),)

    def replicas(self, placed: Share, member: Cluster) -> int | None:
        """Return the replicas that a member gets, after overrides; None if they are not set for
        each member, or if an override deletes the object. Where the object is hidden, they are
        those of the share.
        """
        if placed.replicas is None or placed.overrides is None or not self.knows(placed):
            return placed.replicas
        shape = shape_in(self.contents[placed.revision])
        path = shape.replicas if shape else None
        found = [value_at(data, path) for data in self.objects(placed, member)] if path else []
        return next((number for number in found if isinstance(number, int)), None)

    @staticmethod
    def apply(objects: Objects, rules: Objects, member: Cluster) -> Sequence[Overridden]:
        """Return the object after the rules of override policies."""
        return apply_rules(objects, rules, member)

    @staticmethod
    def opened(objects: Objects) -> Objects:
        """Return the objects as Karmada sends them."""
        return tuple(map(pruned, objects))

    def standing(self, done: Done) -> Share:
        """Return a share with all that the member has."""
        return Share.of(done)

    def left_alone(self, revision: int) -> tuple[str, ...]:
        """Return the replicas, if the object asks for that."""
        content = self.contents.get(revision)
        return retained(content) if content else ()

    def content(self, revision: int) -> Objects | None:
        """Return the object alone."""
        content = self.contents.get(revision)
        # The custom kind that follows the object in a content goes to no member.
        return self.opened(content[:1]) if content else None

    def guarded_as(self, name: str) -> str:
        """Return its policy, or its own name if it has none; empty if it only goes along with
        others.
        """
        if self.memory.policy:
            return f"{self.memory.policy.kind} {self.memory.policy}"
        return name if self.memory.schedule.clusters else ""

    def steered_by(self, name: str) -> ObjectKey | None:
        """Return the key of the policy that has claimed the template."""
        policy = self.memory.policy
        return (
            ObjectKey(POLICY_GROUP, policy.kind, policy.namespace, policy.name) if policy else None
        )

    def failed_alike(self, now: TemplateRecord) -> bool:
        """Return whether the binding is the same, and could not be scheduled."""
        before, bound = self.memory, self.memory.claim.bound
        failed = before.schedule.retries or not before.schedule.clusters
        return bool(failed) and bound is not None and bound == now.memory.claim.bound

    def to_wire(self) -> dict[str, Any]:
        """Return the wire form with the policy's name, and with a digest that shows changes of
        hidden fields.
        """
        policy, needing = self.memory.policy, sorted(self.memory.schedule.required_by)
        nobody = f"none: needed by {', '.join(needing)}" if needing else "none"
        wire = super().to_wire()
        # Through JSON, so that an engine that turns 1 into 1.0 shows no change.
        remembered = digest((json.loads(json.dumps(wire["memory"]), parse_float=_whole),))
        return {
            **wire,
            "policy": f"{policy.kind} {policy}" if policy else nobody,
            "remembered": remembered,
        }


def _whole(number: str) -> float:
    """Return a number from JSON; whole floats become integers, since engines turn integers into
    floats.
    """
    return int(float(number)) if float(number).is_integer() else float(number)
