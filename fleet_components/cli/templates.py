"""The templates that Karmada's policies place: planned, as documents, and printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs
from rich.console import Console
from rich.text import Text

from fleet_components.cli.console import STYLES
from fleet_components.cli.document import WORDS, Document
from fleet_components.cli.rows import Row, print_indented, print_rows
from fleet_components.cli.words import one_line, show_revision
from fleet_components.model.claims import Claims, template_key
from fleet_components.model.codec import encode
from fleet_components.model.inventory import Inventory
from fleet_components.plan.karmada.feed import guarded
from fleet_components.plan.karmada.needs import needs_of
from fleet_components.plan.karmada.place import TemplateOutcome, TemplateRequest, place_template
from fleet_components.plan.karmada.record import TemplateRecord
from fleet_components.plan.karmada.templates import Templates
from fleet_components.rollout.plan import Done
from fleet_components.scheduler.karmada.explain import TemplateExplanation, explain
from fleet_components.scheduler.karmada.match_explanation import PolicyVerdict, explain_match

_MEMBERS = Row(("member", "what", "replicas", "revision"), "why", "bold")
_POLICIES = Row(("policy", "has it"), "why", "bold")


@attrs.frozen
class DecidedTemplate:
    """One template, decided."""

    request: TemplateRequest
    before: TemplateRecord
    outcome: TemplateOutcome

    @property
    def policies(self) -> list[PolicyVerdict]:
        """Which policy has it, and why."""
        request, memory = self.request, self.outcome.record.memory
        claims = Claims({template_key(request.manifest): memory.claim})
        return explain_match(request.manifest, request.policies, claims, frozenset(p.key for p in request.overrides))

    @property
    def explanation(self) -> TemplateExplanation:
        """Why each member has it; empty where no policy's placement was scheduled."""
        bound, decision = self.outcome.record.memory.claim.bound, self.outcome.decision
        if bound is None or decision is None:
            return TemplateExplanation(())
        return explain(self.request.inventory, self.outcome.template, bound.placement, decision)


def plan_templates(
    templates: Templates,
    inventory: Inventory,
    stack: str,
    records: Mapping[str, TemplateRecord],
    done: Mapping[str, Mapping[str, Done]],
) -> tuple[DecidedTemplate, ...]:
    """Decide every template, those first that need others."""
    from fleet_components.plan.karmada.uid import template_uid

    decided: dict[str, DecidedTemplate] = {}
    for workload in templates.workloads:
        parents = {key: decided[key].outcome.record.memory.to_wire() for key in workload.needed_by}
        needs = needs_of(parents, {key for key, always in workload.needed_by.items() if always})
        request = TemplateRequest(
            key=workload.key,
            manifest=workload.manifest,
            inventory=inventory,
            policies=templates.propagation,
            overrides=templates.overrides,
            uid=template_uid(stack, workload.key),
            rebalances=workload.rebalances,
            required_by=needs.required_by,
            done=done.get(workload.key, {}),
        )
        before = records.get(workload.key, TemplateRecord())
        decided[workload.key] = DecidedTemplate(request, before, place_template(request, before))
    return tuple(decided.values())


def chosen_templates(templates: Iterable[DecidedTemplate], key: str | None) -> list[DecidedTemplate]:
    """The template of that key; all without one."""
    return [one for one in templates if key is None or key == one.request.key]


def template_document(decided: DecidedTemplate) -> Document:
    """A template as a document: policies, division and members."""
    outcome, explanation = decided.outcome, decided.explanation
    refusal = guarded(decided.request.key, decided.before, outcome.record)
    why = {member.cluster: member.summary for member in explanation.members}
    return {
        "key": decided.request.key,
        "policies": [
            {"policy": f"{verdict.policy.kind} {verdict.policy}", "wins": verdict.wins, "why": verdict.words}
            for verdict in decided.policies
        ],
        "failure": outcome.failure or None,
        "division": list(explanation.division),
        "revision": outcome.record.revision,
        "clusters": [_cluster(decided, name, why.get(name, "")) for name in outcome.rollout.entries],
        "notPicked": [
            {"name": member.cluster, "why": member.summary}
            for member in explanation.members
            if member.cluster not in outcome.rollout.entries
        ],
        "warnings": [f"pulumi up would refuse this: {refusal.what} ({refusal.hint})"] if refusal else [],
        "requiredBy": encode(outcome.record.memory.schedule.required_by),
    }


def print_templates(console: Console, documents: Iterable[Document]) -> None:
    """Print templates: who has them, where they go, and why."""
    for document in documents:
        print_indented(console, Text("Template ") + Text(document["key"], "bold cyan"), 0)
        if document["policies"]:
            print_rows(console, _POLICIES, [_policy_row(policy) for policy in document["policies"]])
        if document["clusters"]:
            print_rows(console, _MEMBERS, [_member_row(cluster) for cluster in document["clusters"]])
        for style, line in _notes(document):
            print_indented(console, Text(one_line(line), style))
        console.print()


def _cluster(decided: DecidedTemplate, name: str, why: str) -> Document:
    entry, done = decided.outcome.rollout.entries[name], decided.request.done.get(name, Done(None))
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


def _policy_row(policy: Document) -> Row:
    wins = policy["wins"]
    return Row((policy["policy"], "yes" if wins else "no"), one_line(policy["why"]), "green" if wins else "")


def _member_row(cluster: Document) -> Row:
    cells: Sequence[str] = (
        cluster["name"],
        cluster["change"],
        show_revision(cluster["replicas"]),
        show_revision(cluster["revision"]),
    )
    return Row(cells, one_line(cluster["why"]), STYLES[cluster["change"]])


def _notes(document: Document) -> Iterator[tuple[str, str]]:
    if document["failure"]:
        yield "red", f"not fulfilled: {document['failure']}"
    yield from (("", line) for line in document["division"])
    yield from (("yellow", f"warning: {warning}") for warning in document["warnings"])
    yield from (("dim", f"not picked: {one['name']}: {one['why']}") for one in document["notPicked"])
