"""A template of Karmada's policies as a document."""

from __future__ import annotations

from collections.abc import Iterable

from fleet_components.cli.documents.form import WORDS, Document
from fleet_components.cli.documents.label_values import missing_labels
from fleet_components.cli.planning.templates import DecidedTemplate
from fleet_components.model.codec import encode
from fleet_components.model.karmada import Placement
from fleet_components.plan.karmada.feed import guarded
from fleet_components.rollout.plan import Done

_NOTHING = Done(None)


def template_document(decided: DecidedTemplate, clashes: Iterable[str] = ()) -> Document:
    """A template: policies, division and members.

    Args:
        decided: the template.
        clashes: warnings of objects that others bring too.
    """
    outcome, explanation = decided.outcome, decided.explanation
    refusal = guarded(decided.name, decided.before, outcome.record)
    why = {member.cluster: member.summary for member in explanation.members}
    return {
        "key": decided.name,
        "policies": [
            {"policy": f"{verdict.policy.kind} {verdict.policy}", "wins": verdict.wins, "why": verdict.words}
            for verdict in decided.policies
        ],
        "failure": outcome.failure or None,
        "hints": _hints(decided) if outcome.failure else [],
        "division": list(explanation.division),
        "revision": outcome.record.revision,
        "clusters": [_cluster(decided, name, why.get(name, "")) for name in outcome.rollout.entries],
        "notPicked": [
            {"name": member.cluster, "why": member.summary}
            for member in explanation.members
            if member.cluster not in outcome.rollout.entries
        ],
        "left": outcome.left or None,
        "due": [{"name": name, "why": words} for name, words in outcome.due.items()],
        "warnings": [
            *([f"pulumi up would refuse this: {refusal.what} ({refusal.hint})"] if refusal else []),
            *clashes,
        ],
        "requiredBy": encode(outcome.record.memory.schedule.required_by),
    }


def _hints(decided: DecidedTemplate) -> list[str]:
    bound = decided.outcome.record.memory.claim.bound
    placement = bound.placement if bound else Placement()
    affinities = placement.cluster_affinities or (placement.cluster_affinity,)
    return missing_labels(
        [one.label_selector if one else None for one in affinities], decided.request.inventory.clusters
    )


def _cluster(decided: DecidedTemplate, name: str, why: str) -> Document:
    entry, done = decided.outcome.rollout.entries[name], decided.request.done.get(name, _NOTHING)
    share = decided.outcome.record.decisions.get(name)
    needing = [
        parent for parent, members in decided.outcome.record.memory.schedule.required_by.items() if name in members
    ]
    taken = f"goes along with {', '.join(needing)}" if needing else ""
    return {
        "name": name,
        "change": WORDS[entry.change],
        "replicas": {"old": done.replicas, "new": share.replicas if share else None},
        "revision": {"old": done.revision, "new": share.revision if share else None},
        "why": entry.reason or why or taken,
    }
