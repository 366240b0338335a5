"""Implement the subject interface for templates of Karmada's policies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import Any, Self

import attrs

from fleet_components.content.custom_kinds import CustomKind
from fleet_components.content.outline import outlines_of
from fleet_components.content.secret import redacted, redacted_content
from fleet_components.content.strip import as_sent
from fleet_components.model.cluster import NO_LABELS, read_time
from fleet_components.model.codec import decode, encode
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey, Origin, WorkloadShape, shape_of
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.text import count
from fleet_components.plan.apply_mode import ABORTS, OVERWRITES
from fleet_components.plan.edits import with_edits
from fleet_components.plan.names import TEMPLATE_KIND as TEMPLATE
from fleet_components.plan.no_match import missing_labels
from fleet_components.plan.record import Objects
from fleet_components.plan.standing import StandingOn, nothing_on
from fleet_components.plan.subject import Delivery, Explanation, Subject, SubjectPolicy
from fleet_components.rollout.rollout import Done, Gate, Placed
from fleet_components.scheduler.cycle import Proposals
from fleet_components.scheduler.edit import OBJECT, POLICY, SET, Edits, FieldEdit, Ladder
from fleet_components.scheduler.explain import MemberExplanation
from fleet_components.scheduler.plugins import load_plugins
from fleet_components.systems.karmada.content.override import OverrideIndex
from fleet_components.systems.karmada.content.template import as_matched
from fleet_components.systems.karmada.model.override import OverridePolicy
from fleet_components.systems.karmada.model.policy import (
    PROPAGATION,
    Placement,
    PolicyKey,
    PropagationPolicy,
)
from fleet_components.systems.karmada.model.settings import KarmadaSettings
from fleet_components.systems.karmada.model.template import Claims, template_key
from fleet_components.systems.karmada.plan.content import Share, content_of, forced
from fleet_components.systems.karmada.plan.needs import Needs
from fleet_components.systems.karmada.plan.overrides import rule_path
from fleet_components.systems.karmada.plan.place import TemplateOutcome, chosen, place_template
from fleet_components.systems.karmada.plan.record import TemplateRecord
from fleet_components.systems.karmada.plan.stickiness import sticky
from fleet_components.systems.karmada.scheduler.explain import compare, explain
from fleet_components.systems.karmada.scheduler.match_explanation import (
    PolicyIndex,
    PolicyVerdict,
    explain_match,
)
from fleet_components.systems.karmada.scheduler.profile import PROFILE
from fleet_components.systems.karmada.scheduler.proposals import ScheduledTemplate, proposals

_MOST_REPLICAS = 50
"""Number of further replicas that are proposed."""
MOST_OTHER_POLICIES = 20
"""The most policies that are listed as selecting other objects."""


# Compared by identity: all templates of a plan share one, which is the key of the cache of
# ``feed_policies``.
@attrs.frozen(eq=False, slots=False)
class Policies:
    """Input that all templates of a fleet have in common.

    Attributes:
        propagation: the propagation policies.
        overrides: the override policies.
        settings: how the control plane would be set up.
    """

    propagation: tuple[PropagationPolicy, ...] = ()
    overrides: tuple[OverridePolicy, ...] = ()
    settings: KarmadaSettings = KarmadaSettings()

    @cached_property
    def index(self) -> PolicyIndex:
        """The propagation policies by what they may match."""
        return PolicyIndex(self.propagation)

    def edited(self, key: PolicyKey, edit: FieldEdit) -> Policies:
        """Return the policies with a change of one of them."""
        return Policies(
            tuple(
                PropagationPolicy.from_manifest(
                    attrs.evolve(policy.manifest, data=edit.on(policy.manifest.data))
                )
                if policy.key == key
                else policy
                for policy in self.propagation
            ),
            self.overrides,
            self.settings,
        )

    @cached_property
    def override_index(self) -> OverrideIndex:
        """The override policies by what they may select."""
        return OverrideIndex(self.overrides)


@attrs.frozen
class TemplateSubject(Subject[TemplateRecord]):
    """An object to be placed, with all that its decision depends on.

    Attributes:
        key: the template's key, ``namespace/Kind/name``.
        manifest: the object as it was written.
        inventory: the members.
        policies: the policies, and how the control plane would be set up.
        uid: the template's stable uid; ties between members depend on it.
        rebalances: names of the rebalancers that ask for it.
        waited: digest of the object from when no policy had claimed it; empty if it is new or was
            claimed.
        unhealthy: members on which it was observed to be Unhealthy, and since when; None for long
            enough.
        custom: its kind if that is custom; None if its definition is unknown.
        needs: what it takes over from the templates that need it.
        done: what really runs, by member.
        waits: members that wait for an object of another placement or template, each with the gate.
        protected: True if its removal has to be confirmed.
        origin: file and line of the object.
        warnings: warnings about what may surprise the user.
        plugins: import paths of the plug-ins that decide with Karmada's.
        standing_on: returns its objects that stand on a member.
        by_hub: True if a hub brings it to members, which sees no change in what it stores alike.
    """

    RECORD = TemplateRecord
    COMPONENT = "Template"
    PROFILE = PROFILE
    SINGLE = True

    key: str
    manifest: Manifest
    inventory: Inventory
    policies: Policies = Policies()
    uid: str = ""
    rebalances: frozenset[str] = frozenset()
    waited: str = ""
    unhealthy: Mapping[str, datetime | None] = attrs.field(factory=dict)
    custom: CustomKind | None = None
    needs: Needs = Needs()
    done: Mapping[str, Done] = attrs.field(factory=dict)
    waits: Mapping[str, Gate] = attrs.field(factory=dict)
    protected: bool = False
    origin: str = ""
    warnings: tuple[Problem, ...] = ()
    plugins: tuple[str, ...] = ()
    standing_on: StandingOn = attrs.field(default=nothing_on, eq=False, repr=False)
    by_hub: bool = False

    @property
    def kind(self) -> str:
        """``Template``, whatever the kind of its object."""
        return TEMPLATE

    @property
    def matched(self) -> Manifest:
        """The object as policies select it, and as it is interpreted."""
        return as_matched(self.manifest, self.custom)

    @property
    def finds_namespaces(self) -> bool:
        """True if the settings say so of the control plane."""
        return self.settings.brings_namespaces

    @property
    def required_by(self) -> Mapping[str, Mapping[str, int]]:
        """Members of the templates that need it, by key of these templates."""
        return self.needs.required_by

    @property
    def workload_shapes(self) -> tuple[WorkloadShape, ...]:
        """Custom kinds that the settings declare."""
        return self.settings.shapes

    @property
    def hub_key(self) -> ObjectKey:
        """Key of the template."""
        return self.manifest.key

    @property
    def selected(self) -> tuple[Manifest, ...]:
        """The object."""
        return (self.manifest,)

    @property
    def origins(self) -> Mapping[ObjectKey, tuple[Origin, ...]]:
        """Place where the object is written."""
        origin = self.manifest.origin
        return {self.manifest.key: (origin,)} if origin else {}

    def policy_of(self, record: TemplateRecord) -> SubjectPolicy:
        """Return the policy that has claimed the template; its name is empty if none has."""
        key, bound = record.memory.policy, record.memory.claim.bound
        policy = self.policies.index.named(key) if key else None
        written = policy.manifest if policy else None
        spreads = bound.placement.spread_constraints if bound else ()
        return SubjectPolicy(
            name=f"{key.kind} {key}" if key else "",
            origin=written.origin.location if written and written.origin else self.origin,
            labels=written.labels if written else NO_LABELS,
            spread_over=tuple(
                spread.spread_by_field or spread.spread_by_label for spread in spreads
            ),
        )

    def label_hints(self, outcome: TemplateOutcome) -> list[str]:
        """Return hints at labels that the affinities ask for, if the template is not scheduled."""
        if not outcome.unscheduled:
            return []
        bound = outcome.record.memory.claim.bound
        placement = bound.placement if bound else Placement()
        affinities = placement.cluster_affinities or (placement.cluster_affinity,)
        selectors = [affinity.label_selector if affinity else None for affinity in affinities]
        return missing_labels(selectors, self.inventory.clusters)

    def feed_policies(self) -> Mapping[str, str]:
        """Write the policies and the settings."""
        # It writes by ``plan.feed``, which is not needed where a subject is only decided.
        from fleet_components.systems.karmada.plan.feed import feed_policies

        return feed_policies(self.policies)

    @property
    def overrides(self) -> tuple[OverridePolicy, ...]:
        """The override policies."""
        return self.policies.overrides

    @property
    def override_manifests(self) -> Iterable[Manifest]:
        """The override policies, as written."""
        return (policy.manifest for policy in self.policies.overrides)

    @staticmethod
    def rule_path(override: Manifest, position: int) -> FieldPath:
        """Return the path of a rule in its policy, which may have the deprecated form of a single
        rule.
        """
        return rule_path(override, position)

    @property
    def settings(self) -> KarmadaSettings:
        """Settings of the control plane, as it would be set up."""
        return self.policies.settings

    @property
    def eviction_timeout(self) -> timedelta | None:
        """The longest time that an eviction without a grace period may take; None if none takes too
        long.
        """
        ends = self.settings.exact and self.inventory.as_of
        return timedelta(seconds=self.settings.graceful_eviction_timeout) if ends else None

    @property
    def content(self) -> Objects:
        """The object."""
        return (as_sent(self.manifest),)

    def decide(self, before: TemplateRecord) -> TemplateOutcome:
        """Find the policy, schedule the template, and plan what is sent."""
        return place_template(self, _completed(self, before))

    def explain(
        self, outcome: TemplateOutcome, members: Collection[str] | None = None
    ) -> Explanation:
        """Return what each plug-in says of each member; without verdicts if no policy's placement
        was scheduled.
        """
        bound, decision = outcome.record.memory.claim.bound, outcome.decision
        if bound is None or decision is None or _is_left(outcome):
            asked = (name for name in self.inventory.names if members is None or name in members)
            return Explanation(tuple(self._unscheduled(outcome, name) for name in asked))
        plugins = load_plugins(self.plugins)
        explained = explain(
            self.inventory, outcome.template, bound.placement, decision, plugins=plugins
        )
        return Explanation(
            tuple(m for m in explained.members if members is None or m.cluster in members),
            explained.division,
        )

    def choice(self, before: TemplateRecord) -> frozenset[str]:
        """Return the members that are chosen."""
        return chosen(self, _completed(self, before))

    def proposals(self, outcome: TemplateOutcome, cluster: str) -> Proposals:
        """Return changes of the member, of the policy and of the object's replicas."""
        scheduled, number = self._scheduled(outcome), outcome.template.replicas
        if scheduled is None:
            return Proposals(stopped="no policy's placement is scheduled")
        found = proposals(scheduled, cluster)
        if not (number and scheduled.placement.divided):
            return found
        more, less = range(number + 1, number + 1 + _MOST_REPLICAS), range(number)[::-1]
        boosting, losing = (
            (*found.boosting, self._replicas(more)),
            (*found.losing, self._replicas(less)),
        )
        return attrs.evolve(
            found, boosting=tuple(filter(None, boosting)), losing=tuple(filter(None, losing))
        )

    def comparison(self, before: TemplateRecord, outcome: TemplateOutcome, cluster: str) -> str:
        """Return what the member lost to by rank, or that its share of the replicas is none."""
        scheduled, decision = self._scheduled(outcome), outcome.decision
        return (
            compare(scheduled, decision.status.divisions, cluster) if scheduled and decision else ""
        )

    def _scheduled(self, outcome: TemplateOutcome) -> ScheduledTemplate | None:
        """Return the decision with what it depended on; None if no policy's placement was
        scheduled.
        """
        bound, decision = outcome.record.memory.claim.bound, outcome.decision
        if bound is None or decision is None or bound.policy is None:
            return None
        return ScheduledTemplate(
            self.inventory,
            outcome.template,
            bound.placement,
            decision.before,
            decision.memory.observed_group,
            decision.memory.clusters,
            load_plugins(self.plugins),
        )

    def changed(self, change: Edits, outcome: TemplateOutcome) -> Self:
        """Return the template in a fleet with a change of members, of the policy that has claimed
        it, or of itself.
        """
        manifest, policies, claimed = (
            self.manifest,
            self.policies,
            outcome.record.memory.claim.policy,
        )
        # Edits of members have no place here: `with_edits` takes them below.
        for edit in change:
            if edit.of == OBJECT:
                manifest = attrs.evolve(manifest, data=edit.on(manifest.data))
            elif edit.of == POLICY and claimed:
                policies = policies.edited(claimed, edit)
        inventory = with_edits(self.inventory, change)
        return attrs.evolve(self, inventory=inventory, manifest=manifest, policies=policies)

    def anew(self) -> Self:
        """Return the template as if nothing had been delivered."""
        return attrs.evolve(self, done={})

    def _replicas(self, numbers: Iterable[int]) -> Ladder:
        """Return other numbers of replicas."""
        shape = shape_of(self.matched, self.settings.shapes)
        if shape is None or shape.replicas is None:
            return ()
        return tuple(
            (FieldEdit(OBJECT, SET, shape.replicas, n, f"with {count(n, 'replica')}"),)
            for n in numbers
        )

    def verdicts(self, outcome: TemplateOutcome) -> list[PolicyVerdict]:
        """Return why policies have claimed the template or not: those that may match it, and a few
        others.
        """
        claim, index = outcome.record.memory.claim, self.policies.index
        owner = index.named(claim.policy) if claim.policy else None
        concerned = {
            policy.key: policy
            for policy in (*index.candidates(self.matched), *([owner] if owner else []))
        }
        others = (
            item
            for item in index.best_first
            if item.key not in concerned and self._reaches(item.key)
        )
        listed = (*concerned.values(), *islice(others, MOST_OTHER_POLICIES))
        claims = Claims({template_key(self.manifest): claim})
        return explain_match(self.matched, listed, claims, self.policies.override_index.keys)

    def _reaches(self, policy: PolicyKey) -> bool:
        """Return whether a policy could select the object at all: one of another namespace never
        does.
        """
        return policy.kind != PROPAGATION or policy.namespace == self.manifest.namespace

    def _unscheduled(self, outcome: TemplateOutcome, name: str) -> MemberExplanation:
        """Return why a member has the template or not although no policy's placement was
        scheduled.
        """
        has_it = name in outcome.record.decisions
        needed = any(name in members for members in self.needs.required_by.values())
        words = "stays as it was placed" if has_it and not needed else self.reason(name, None)
        return MemberExplanation(name, has_it, words)

    def sticky(self, outcome: TemplateOutcome) -> str:
        """Return what the policy, the members and the replicas of before could change."""
        return sticky(self, outcome)

    def reason(self, cluster: str, explained: MemberExplanation | None) -> str:
        """Return what the scheduler says of the member, or which templates need this one there."""
        if explained and explained.summary:
            return explained.summary
        if self.inventory.position(cluster) is None:
            return "no longer a member of the fleet"
        needing = [
            parent for parent, members in self.needs.required_by.items() if cluster in members
        ]
        if needing:
            return f"goes along with {', '.join(needing)}"
        done = self.done.get(cluster)
        stands = done is not None and done.revision is not None
        return f"nothing asks for it there{' any more' if stands else ''}"

    def delivery(self, outcome: TemplateOutcome, cluster: str) -> Delivery:
        """Return the object with its replicas and overrides."""
        record, memory = outcome.record, outcome.record.memory
        share, member = (
            record.decisions[cluster],
            self.inventory.clusters[self.inventory.position(cluster) or 0],
        )
        overwrite = self.needs.overwrites(memory, self.manifest)
        objects = record.objects(share, member)
        return Delivery(
            tuple(map(forced, objects)) if overwrite else objects,
            # Cluster-scoped objects outlive what brought them (``keep_cluster_resources``): they
            # are taken up again.
            mode=OVERWRITES if overwrite or not self.manifest.namespace else ABORTS,
            keeps=self.needs.preserves(memory),
            left_alone=record.left_alone(share.revision),
        )

    def replicas(self, record: TemplateRecord, cluster: str, placed: Placed) -> int | None:
        """Return the replicas that a member gets, after overrides."""
        position = self.inventory.position(cluster)
        share = placed if isinstance(placed, Share) else None
        if share is None or position is None:
            return share.replicas if share else None
        return record.replicas(share, self.inventory.clusters[position])

    def shown(self) -> dict[str, Any]:
        """Return a placeholder for ``policy``: the record has the policy that has claimed the
        template.
        """
        return {"policy": None}

    def to_wire(self) -> dict[str, Any]:
        """Return the form for a feed, without inventory, policies, and what only messages need."""
        return {
            "key": self.key,
            "manifest": self.manifest.data,
            "uid": self.uid,
            "rebalances": sorted(self.rebalances),
            "waited": self.waited,
            # None stays None: Unhealthy for long enough.
            "unhealthy": {
                cluster: since and since.isoformat() for cluster, since in self.unhealthy.items()
            },
            "custom": self.custom.to_wire() if self.custom else None,
            "needs": encode(self.needs),
            "done": {cluster: encode(done) for cluster, done in self.done.items()},
            "waits": {cluster: encode(gate) for cluster, gate in self.waits.items()},
            "plugins": list(self.plugins),
        }

    @classmethod
    def from_wire(
        cls, wire: Mapping[str, Any], inventory: Inventory, policies: Policies = Policies()
    ) -> Self:
        """Read the subject back from :meth:`to_wire`."""
        return cls(
            key=wire["key"],
            manifest=Manifest(wire["manifest"]),
            inventory=inventory,
            policies=policies,
            uid=wire["uid"],
            rebalances=frozenset(wire["rebalances"]),
            waited=wire["waited"],
            unhealthy={cluster: read_time(since) for cluster, since in wire["unhealthy"].items()},
            custom=CustomKind.from_wire(wire["custom"]) if wire["custom"] else None,
            needs=decode(Needs, wire["needs"]),
            done={cluster: decode(Done, done) for cluster, done in wire["done"].items()},
            waits={cluster: decode(Gate, gate) for cluster, gate in wire["waits"].items()},
            plugins=tuple(wire["plugins"]),
        )


def _is_left(outcome: TemplateOutcome) -> bool:
    """Return whether no policy has the template and the scheduler leaves it where it is."""
    decision = outcome.decision
    return (
        outcome.record.memory.policy is None
        and decision is not None
        and decision.memory.clusters == decision.before.clusters
    )


def _completed(request: TemplateSubject, before: TemplateRecord) -> TemplateRecord:
    """Return the record with hidden contents that are known to be unchanged: all of them, or the
    data of a Secret.
    """
    if not before.contents:
        # Whether replicas were part of the content is not recorded; only the right one has the
        # digest.
        for divided in (False, True):
            content = content_of(request.manifest, request.settings.workloads, divided=divided)
            before = before.completed(content)
        return before
    # The same object means that nothing in it is secret.
    if redacted(request.manifest.data) is request.manifest.data:
        return before
    whole = content_of(request.manifest, request.settings.workloads, divided=False)
    known = [
        ((hidden, *outlines_of(hidden)), plain)
        for hidden, plain in zip(redacted_content(whole), whole, strict=True)
    ]
    # A part that is in no form of the object, hidden or outlined, stays as it is recorded.
    contents = {
        revision: tuple(
            next((plain for hidden, plain in known if part in hidden), part) for part in parts
        )
        for revision, parts in before.contents.items()
    }
    return attrs.evolve(before, contents=contents)
