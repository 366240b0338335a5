"""Facts of a KubeFleet placement for documents."""

from __future__ import annotations

from fleet_components.model.kubefleet.placement import PICK_ALL, PICK_N
from fleet_components.model.text import count
from fleet_components.plan.kubefleet.subject import PlacementSubject
from fleet_components.plan.subject import Decided
from fleet_components.review.documents.facts import Facts
from fleet_components.review.documents.label_values import missing_labels
from fleet_components.review.documents.status import cluster_decisions, placement_status


def placement_facts(decided: Decided) -> Facts:
    """Return the facts of a placement."""
    subject, status = decided.subject, decided.outcome.decision.status
    assert isinstance(subject, PlacementSubject)
    shown = placement_status(decided, status)
    return Facts(
        policy=_policy(subject),
        first_told={one.cluster_name: one.reason for one in status.decisions if not one.selected},
        skipped=subject.skipped,
        status={**shown, "clusterDecisions": cluster_decisions(status)},
    )


def unmet_labels(subject: PlacementSubject) -> list[str]:
    """Return hints for required labels that no member has: the values that the members have for them."""
    required = [term.label_selector for term in subject.policy.required_terms] if subject.policy else []
    return missing_labels(required, subject.inventory.clusters)


def _policy(subject: PlacementSubject) -> str:
    """Return the policy in short: ``PickN 3 of 5 members``, or ``PickN 3 (the fleet has only 2 members)``."""
    policy, members = subject.policy, len(subject.inventory)
    kind = policy.placement_type if policy else PICK_ALL
    if policy is None or kind == PICK_ALL:
        return f"{kind} of {count(members, 'member')}"
    wanted = policy.number_of_clusters or 0 if kind == PICK_N else len(policy.cluster_names)
    if wanted > members:
        return f"{kind} {wanted} ({_available(members)})"
    return f"{kind} {wanted} of {count(members, 'member')}"


def _available(members: int) -> str:
    return f"the fleet has only {count(members, 'member')}" if members else "the fleet has no member"
