"""Facts that documents show of placements and templates alike, and hints at labels that no member
has.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import encode
from fleet_components.model.selector import LabelIndex, LabelSelector
from fleet_components.model.text import count
from fleet_components.plan.deviation import Deviation, Rule
from fleet_components.plan.no_match import values_of_label
from fleet_components.plan.record import particulars
from fleet_components.plan.subject import Decided
from fleet_components.review.documents.schema import (
    EvictionDocument,
    FieldAndRule,
    OverriddenMembers,
    OverriddenObject,
    PolicyDocument,
    RuleDocument,
    StageDocument,
    UpdateRunDocument,
)
from fleet_components.review.documents.wire import as_data
from fleet_components.rollout.describe import describe_stages
from fleet_components.rollout.rollout import Change
from fleet_components.scheduler.explain import show_requirement
from fleet_components.systems.karmada import status as karmada
from fleet_components.systems.karmada.model.policy import Placement
from fleet_components.systems.karmada.plan.place import TemplateOutcome
from fleet_components.systems.karmada.plan.subject import TemplateSubject
from fleet_components.systems.kubefleet import status as kubefleet
from fleet_components.systems.kubefleet.model.placement import PICK_ALL, PICK_N
from fleet_components.systems.kubefleet.plan.place import PlacementOutcome
from fleet_components.systems.kubefleet.plan.subject import PlacementSubject


@attrs.frozen(kw_only=True)
class Facts:
    """Facts of one subject, in the form that documents show.

    Attributes:
        policy: the policy in short.
        policies: the policies that match a template, and a few that do not: policy, wins, matches,
            why.
        other_policies: the number of all others.
        hints: if no member has a required label, the values that the members have for it.
        first_reasons: members that are not picked and that the API's status names, each with its
            reason.
        due: members that it has to leave later, each with the reason and the time.
        left: why it stays as it was placed; empty if it does not.
        skipped: objects that are selected and never placed, each with the reason.
        required_by: the members of the templates that require it, by key.
        status: the decision in the form of the API.
        update_run: the update run that is or was in force; None if there is none.
        evictions: the evictions that a placement remembers: name, member, whether this update has
            checked it, and the conditions.
    """

    policy: str
    policies: tuple[PolicyDocument, ...] = ()
    other_policies: int = 0
    hints: tuple[str, ...] = ()
    first_reasons: Mapping[str, str] = attrs.field(factory=dict)
    due: Mapping[str, str] = attrs.field(factory=dict)
    left: str = ""
    skipped: tuple[tuple[str, str], ...] = ()
    required_by: Mapping[str, Any] = attrs.field(factory=dict)
    status: Mapping[str, Any] = attrs.field(factory=dict)
    evictions: tuple[EvictionDocument, ...] = ()
    update_run: UpdateRunDocument | None = None


def facts_of(decided: Decided) -> Facts:
    """Return the facts of a placement or template."""
    is_placement = isinstance(decided.subject, PlacementSubject)
    return _of_placement(decided) if is_placement else _of_template(decided)


def _of_placement(decided: Decided) -> Facts:
    """Return the facts of a placement."""
    subject, status = decided.subject, decided.outcome.decision.status
    assert isinstance(subject, PlacementSubject)
    shown = kubefleet.scheduling_status(decided, status)
    return Facts(
        policy=_policy(subject),
        first_reasons={
            decision.cluster_name: decision.reason
            for decision in status.decisions
            if not decision.selected
        },
        skipped=subject.skipped,
        status={**shown, "clusterDecisions": kubefleet.cluster_decisions(status)},
        evictions=tuple(_evictions(decided)),
        update_run=_update_run(decided),
    )


def _update_run(decided: Decided) -> UpdateRunDocument | None:
    """Return the update run that is or was in force, with its stages."""
    assert isinstance(decided.outcome, PlacementOutcome)
    runs = decided.outcome.runs
    if runs is None or runs.last is None:
        return None
    record = decided.outcome.record.runs.records[runs.latest]
    stages = runs.stages(decided.outcome.rollout)
    return UpdateRunDocument(
        name=runs.latest,
        revision=record.revision if record.revision >= 0 else None,
        state=runs.run.state if runs.run else None,
        outcome=record.outcome or None,
        message=record.message or None,
        approvals=record.approvals,
        stages=[
            StageDocument(
                stage.name,
                stage.parts,
                stage.done,
                stage.moves,
                stage.before or None,
                stage.after or None,
            )
            for stage in stages
        ],
        words=list(describe_stages(stages)),
    )


def _evictions(decided: Decided) -> Iterator[EvictionDocument]:
    assert isinstance(decided.outcome, PlacementOutcome)
    checked = {check.eviction.name for check, _ in decided.outcome.evictions}
    for name, handled in decided.outcome.record.memory.evictions.items():
        conditions = [encode(condition) for condition in handled.conditions]
        yield EvictionDocument(name, handled.cluster, name in checked, conditions)


def unmet_labels(subject: PlacementSubject) -> list[str]:
    """Return hints for required labels that no member has: the values that the members have for
    them.
    """
    required = (
        [term.label_selector for term in subject.policy.required_terms] if subject.policy else []
    )
    return missing_labels(required, subject.inventory.clusters)


def _policy(subject: PlacementSubject) -> str:
    """Return the policy in short: ``PickN 3 of 5 members``, or ``PickN 3 (the fleet has only 2
    members)``.
    """
    policy, members = subject.policy, len(subject.inventory)
    kind = policy.placement_type if policy else PICK_ALL
    if policy is None or kind == PICK_ALL:
        return f"{kind} of {count(members, 'member')}"
    wanted = policy.number_of_clusters or 0 if kind == PICK_N else len(policy.cluster_names)
    if wanted > members:
        return f"{kind} {wanted} ({_available(members)})"
    return f"{kind} {wanted} of {count(members, 'member')}"


def _available(members: int) -> str:
    return (
        f"the fleet has only {count(members, 'member')}" if members else "the fleet has no member"
    )


def _of_template(decided: Decided) -> Facts:
    """Return the facts of a template."""
    subject, outcome = decided.subject, decided.outcome
    assert isinstance(subject, TemplateSubject)
    assert isinstance(outcome, TemplateOutcome)
    verdicts, memory = subject.verdicts(outcome), outcome.record.memory
    policy = memory.policy
    return Facts(
        policy=f"{policy.kind} {policy}" if policy else "no policy",
        policies=tuple(
            PolicyDocument(f"{v.policy.kind} {v.policy}", v.wins, v.matches, v.words)
            for v in verdicts
        ),
        other_policies=len(subject.policies.propagation) - len(verdicts),
        hints=tuple(_hints(subject, outcome)) if outcome.unscheduled else (),
        due=outcome.due,
        left=outcome.left,
        required_by=encode(memory.schedule.required_by),
        status=karmada.scheduling_status(outcome.decision, memory),
    )


def _hints(subject: TemplateSubject, outcome: TemplateOutcome) -> list[str]:
    bound = outcome.record.memory.claim.bound
    placement = bound.placement if bound else Placement()
    affinities = placement.cluster_affinities or (placement.cluster_affinity,)
    return missing_labels(
        [affinity.label_selector if affinity else None for affinity in affinities],
        subject.inventory.clusters,
    )


def missing_labels(
    selectors: Iterable[LabelSelector | None], members: Sequence[Cluster]
) -> list[str]:
    """Return a line for each unmet requirement: ``no member has region=asia; the members have
    europe (2)``.

    Args:
        selectors: the selectors, one of which must match; None matches every member.
        members: the members.

    Returns:
        The lines; empty if a selector matches a member.
    """
    asked = [selector.requirements() if selector else () for selector in selectors]
    if not members or any(
        all(requirement.met_by(member.labels) for requirement in every)
        for every in asked
        for member in members
    ):
        return []
    unmet = dict.fromkeys(
        requirement
        for every in asked
        for requirement in every
        if not any(requirement.met_by(m.labels) for m in members)
    )
    labels = LabelIndex([member.labels for member in members])
    return [
        f"no member has {show_requirement(requirement)}; {values_of_label(requirement.key, labels)}"
        for requirement in unmet
    ]


# Document of the fields that overrides change on the members: members with equal changes
# together.


_MOVES = (Change.ADD, Change.UPDATE)


def overridden_members(decided: Decided) -> list[OverriddenMembers]:
    """Return what overrides change on the members that have the subject once the update is over.

    Members with equal changes share an entry; those whose objects the state hides have no objects.
    """
    numbered: dict[str, list[str]] = defaultdict(list)
    for cluster, placed in sorted(decided.record.decisions.items()):
        if placed.overrides is not None:
            # Members of one number have equal objects, as the values of variables are part of the
            # rules.
            numbered[json.dumps([placed.revision, particulars(placed)])].append(cluster)
    alike: dict[str, tuple[list[OverriddenObject] | None, list[str]]] = {}
    for members in numbered.values():
        found = decided.subject.deviations(
            decided.record, members[0], decided.record.decisions[members[0]]
        )
        if found == ():
            continue
        objects = None if found is None else deviation_documents(found)
        alike.setdefault(json.dumps(as_data(objects)), (objects, []))[1].extend(members)
    return [
        OverriddenMembers(
            sorted(members),
            sorted(name for name in members if decided.entries[name].change in _MOVES),
            objects,
        )
        for objects, members in alike.values()
    ]


def deviation_documents(found: Iterable[Deviation]) -> list[OverriddenObject]:
    """Return the objects that overrides change on a member."""
    return [
        OverriddenObject(
            str(deviation.key),
            rule_document(deviation.deleted) if deviation.deleted else None,
            [
                FieldAndRule(**field.difference.to_wire(), by=rule_document(field.rule))
                for field in deviation.fields
            ],
        )
        for deviation in found
    ]


def rule_document(rule: Rule) -> RuleDocument:
    """Return the document of a rule."""
    return RuleDocument(rule.override, rule.position, rule.source or None)
