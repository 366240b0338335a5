"""What is kept of a template from run to run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from fleet_components.model.claims import Claim, SeenPolicy
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import below, decode, encode
from fleet_components.model.karmada import DIRECTLY, Failover, Placement, PolicyKey, Suspension
from fleet_components.model.memory import TemplateMemory
from fleet_components.plan.again import written_again
from fleet_components.plan.karmada.content import check_part, emitted, is_custom
from fleet_components.plan.karmada.share import Share
from fleet_components.plan.record import Objects, Record, digest
from fleet_components.rollout.plan import Done


@attrs.frozen(kw_only=True)
class TemplateState:
    """What is remembered of a template.

    Attributes:
        claim: the policy that has it, and its binding.
        policies: the policies that concern it, as they were seen last.
        seen: a digest of the object as it was seen last, without the data of Secrets.
        generation: grows with every change of the object.
        replicas: the replicas that the object asked for when its binding was made.
        schedule: what the scheduler remembers.
    """

    claim: Claim = Claim()
    policies: Mapping[str, SeenPolicy] = attrs.field(factory=dict)
    seen: str = ""
    generation: int = 0
    replicas: int = 0
    schedule: TemplateMemory = TemplateMemory()

    @property
    def targets(self) -> tuple[str, ...]:
        """The members that are to have it, on its own account or because others need it."""
        needed = {cluster for parent in self.schedule.required_by.values() for cluster in parent}
        return tuple(sorted({*self.schedule.clusters, *needed}))

    @property
    def left_later(self) -> tuple[str, ...]:
        """The members that it is leaving, where its copy stays for a while."""
        tasks = self.schedule.evictions
        return tuple(sorted(cluster for cluster, task in tasks.items() if task.purge_mode != DIRECTLY))

    @property
    def own(self) -> tuple[str, ...]:
        """The members that have it on its own account."""
        return tuple(sorted({*self.schedule.clusters, *self.left_later}))

    @property
    def policy(self) -> PolicyKey | None:
        """The policy that its binding belongs to; None when there is none, or when it was released."""
        return self.claim.bound.policy if self.claim.bound else None

    @property
    def frozen(self) -> bool:
        """No policy follows the object as it is now: it stays as it was placed."""
        bound = self.claim.bound
        return bound is not None and (bound.policy is None or bound.revision != self.generation)

    @property
    def spec(self) -> Mapping[str, Any]:
        """What the binding has from the policy, in API form; it stays when the policy goes."""
        return self.claim.bound.spec if self.claim.bound else {}

    def renamed(self, cluster: Callable[[str], str]) -> TemplateState:
        """The same with the members under other names."""
        return attrs.evolve(self, schedule=self.schedule.renamed(cluster))

    def to_wire(self) -> dict[str, object]:
        """Its form in the state."""
        return {**encode(self), "schedule": self.schedule.to_wire()}

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any] | None) -> TemplateState:
        """Read it back; None and the empty map stand for a template that was never looked at."""
        state = decode(cls, wire or {})
        with below("claim", "bound", "spec"):
            check_policy(state.spec)
        with below("schedule"):
            return attrs.evolve(state, schedule=TemplateMemory.from_wire((wire or {}).get("schedule")))


def check_policy(spec: Mapping[str, Any]) -> None:
    """Refuse what a binding cannot have from a policy.

    Raises:
        MisfitError: it does not fit.
    """
    parts: tuple[tuple[str, type], ...] = (("placement", Placement), ("failover", Failover), ("suspension", Suspension))
    for field, kind in parts:
        with below(field):
            decode(kind, spec.get(field) or {})


@attrs.frozen
class TemplateRecord(Record[Share, TemplateState]):
    """The record of a template. A content is the object, then the override policies that concern it.

    The object is without its replicas where these are divided: they are set for each member, and so scaling makes
    no new revision.
    """

    DECISION = Share
    MEMORY = TemplateState

    @classmethod
    def check_content(cls, number: int, data: Any) -> None:
        """Refuse what is no object, and behind it what is neither a custom workload nor an override policy."""
        if number == 0 or not is_custom(data):
            super().check_content(number, data)
        if number > 0:
            check_part(data)

    def objects(self, placed: Share, member: Cluster) -> Objects:
        """The object as the member gets it; nothing where the content of its revision is not known."""
        content = self.contents.get(placed.revision)
        return (written_again(emitted(content, placed, member), placed),) if content else ()

    def standing(self, done: Done) -> Share:
        """With the replicas and the completions that it has."""
        revision = -1 if done.revision is None else done.revision
        return Share(revision=revision, replicas=done.replicas, completions=done.completions)

    def content(self, revision: int) -> Objects | None:
        """The object alone, without the policies that concern it."""
        content = self.contents.get(revision)
        return content[:1] if content else None

    def guarded_as(self, name: str) -> str:
        """The policy that has it; itself where none has it any more; nothing for what goes along with others."""
        if self.memory.policy:
            return f"{self.memory.policy.kind} {self.memory.policy}"
        return name if self.memory.schedule.clusters else ""

    def to_wire(self) -> dict[str, Any]:
        """As for any record, with the policy in words, and with what shows that something hidden has changed."""
        policy, needing = self.memory.policy, sorted(self.memory.schedule.required_by)
        nobody = f"none: needed by {', '.join(needing)}" if needing else "none"
        wire = super().to_wire()
        remembered = digest((json.loads(json.dumps(wire["memory"]), parse_float=_whole),))
        return {**wire, "policy": f"{policy.kind} {policy}" if policy else nobody, "remembered": remembered}


def _whole(number: str) -> float:
    """A number as it was before an engine made it a float."""
    return int(float(number)) if float(number).is_integer() else float(number)
