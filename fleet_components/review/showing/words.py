"""Texts about a plan that its view and the commands share."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import attrs

from fleet_components.model.problem import Problem
from fleet_components.model.text import count, few
from fleet_components.plan.ways import NAMES, Way
from fleet_components.review.documents.form import after_fleet, title_of
from fleet_components.review.documents.headline import (
    REFUSED,
    gone_in_view,
    newly_left,
    refused_as,
    subjects_in_words,
)
from fleet_components.review.documents.schema import (
    FieldAndRule,
    FieldDocument,
    FilesDocument,
    OverriddenObject,
    PlanDocument,
    RuleDocument,
    SubjectDocument,
)
from fleet_components.status.facts import PolicyDocument, UpdateRunDocument

_SUMMARY = {
    "joins": ("joins", "join"),
    "updated": ("is updated", "are updated"),
    "leaves": ("leaves", "leave"),
    "held": ("is held", "are held"),
    "stays": ("stays", "stay"),
}
# A token is eight hexadecimal digits: see loss_token.
_HIDDEN_OVERRIDES = (
    "hidden in what the plan starts from; of a state, pulumi stack export --show-secrets shows it"
)


def summary(document: PlanDocument) -> str:
    """Return a summary: ``3 placements and 1 template on 5 members: 9 join, 1 is held; 2 objects
    are deleted``.
    """
    subjects = subjects_in_words(document.placements, document.templates)
    happens = changes(attrs.asdict(document.totals))
    placed = f"{subjects} on {count(document.members, 'member')}: {happens}"
    return "; ".join([placed, *_losses(document)])


def _losses(document: PlanDocument) -> Iterator[str]:
    """Yield what is lost, and whether the update is refused or leaves something to later ones.

    They end the summary, since the last line is what a reader of a long plan sees first.
    """
    gone = document.gone.subjects
    if gone:
        templates = sum(name.startswith("Template/") for name in gone)
        yield (
            f"{subjects_in_words(len(gone) - templates, templates)}"
            f" {'go' if len(gone) > 1 else 'goes'}"
        )
    # What a member that is back still has from before is swept: deleted as well.
    deleted = sum(item.fate in ("deleted", "swept") for item in document.gone.objects)
    if deleted:
        yield f"{count(deleted, 'object')} {'are' if deleted > 1 else 'is'} deleted"
    left = newly_left(document)
    if document.refused:
        needed = f"{count(len(document.refused), 'confirmation')} needed"
        yield "the update is refused" if refused_as(document) == REFUSED else needed
    elif left:
        yield f"left: {left}"


def changes(totals: Mapping[str, int]) -> str:
    """Return the totals of changes in words: ``2 join, 1 leaves``."""
    happens = [
        # False is index 0, the singular.
        f"{totals[word]} {forms[totals[word] != 1]}"
        for word, forms in _SUMMARY.items()
        if totals[word]
    ]
    return ", ".join(happens) or "nothing is placed"


class Claimed(Protocol):
    """A subject in a document, with what decides on it."""

    @property
    def policies(self) -> Sequence[PolicyDocument]:
        """The policies that match it, and a few that do not."""

    @property
    def other_policies(self) -> int:
        """The number of all others."""

    @property
    def decided_by(self) -> str | None:
        """The plug-ins from outside that decide on it."""


def holders(subject: Claimed, *, delivery: str = Way.DIRECT, whole: bool = True) -> Iterator[str]:
    """Yield what decides on a subject: plug-ins from outside, the hub that delivers it, and each
    policy that selects a template, with why.

    With ``whole`` also policies that do not select it.
    """
    if subject.decided_by:
        yield subject.decided_by
    if delivery != Way.DIRECT:
        yield f"forecast of the hub of {NAMES[delivery]}"
    for policy in subject.policies:
        if whole or policy.wins or policy.matches:
            claims = "claims it" if policy.wins else "does not claim it"
            yield f"{policy.policy} {claims}: {policy.why}"
    if whole and subject.other_policies:
        yield f"{count(subject.other_policies, 'more policy')} of other objects"


def update_run(run: UpdateRunDocument | None) -> list[str]:
    """Return the lines of the update run in force: each stage with its members; one line for a run
    that is over.
    """
    if run is None or run.outcome == "Failed":
        return []
    what = f"update run {run.name}"
    if run.outcome == "Succeeded" and not any(stage.moves for stage in run.stages):
        return [f"{what} is over: revision {run.revision} in all of its stages"]
    return [f"{what} rolls out revision {run.revision}", *run.words]


def deviations(objects: Sequence[OverriddenObject] | None) -> Iterator[tuple[int, str]]:
    """Yield what overrides change on a member, field by field, each line with its level."""
    if objects is None:
        yield 0, _HIDDEN_OVERRIDES
    for item in objects or ():
        if item.deleted:
            yield 0, f"{item.object}: deleted ({_rule(item.deleted)})"
        else:
            yield 0, f"{item.object}:"
            yield from ((1, f"{show_field(field)} ({_rule(field.by)})") for field in item.fields)


def shortly(objects: Sequence[OverriddenObject] | None) -> str:
    """Return the objects that overrides change on a member, each with the overrides, in one
    line.
    """
    return _HIDDEN_OVERRIDES if objects is None else ", ".join(map(_shortly, objects))


def _shortly(item: OverriddenObject) -> str:
    rules = [item.deleted] if item.deleted else [field.by for field in item.fields]
    # Each override once, in the order of the fields.
    names = dict.fromkeys(rule.override for rule in rules)
    return f"{item.object}{' deleted' if item.deleted else ''} by {few(list(names))}"


def _rule(rule: RuleDocument) -> str:
    """Return a rule with the place where it is written: ``ResourceOverride shop/edge, rule [0],
    edge.yaml:12``.
    """
    return ", ".join(filter(None, [rule.override, f"rule [{rule.rule}]", rule.source]))


def refusals(document: PlanDocument) -> Iterator[str]:
    """Yield the reasons why the update is refused, or what has to be confirmed."""
    called = refused_as(document)
    for refusal in document.refused:
        where = refusal.file if refusal.line is None else f"{refusal.file}:{refusal.line}"
        subject = refusal.subject and after_fleet(refusal.of_fleet, refusal.subject)
        parts = [part for part in (where, subject, refusal.field, refusal.what) if part]
        yield f"{called}: {': '.join(parts)}" + (f" ({refusal.hint})" if refusal.hint else "")


def leaving(document: PlanDocument) -> Iterator[tuple[str, str]]:
    """Yield a line for everything that is lost, replaced or moved, losses first, each with its
    style.

    A narrow view shows them with its subjects; only those of subjects that go are here.
    """
    if document.view.narrow:
        yield from _going(document)
        return
    yield from ((_WEIGHTS[line.weight], line.text) for line in document.gone.summary)


_WEIGHTS = {"lost": "red", "left": "yellow", "moved": ""}


def _going(document: PlanDocument) -> Iterator[tuple[str, str]]:
    """Yield a line for each fate of the objects of subjects that go, as far as the view is about
    them.
    """
    view, gone = document.view, {name for _, name in gone_in_view(document)}
    # Objects as keys of a dict: each once, in their order.
    alike: dict[tuple[str, str, str], dict[str, None]] = defaultdict(dict)
    for item in document.gone.objects:
        if item.subject in gone and view.member in (None, item.member):
            to = f" to {item.to}" if item.to else ""
            alike[item.subject or "", item.member, item.fate + to][item.object] = None
    for (subject, member, fate), objects in alike.items():
        yield _WEIGHTS["lost"], f"{few(list(objects))} of {subject} on {member}: {fate}"


def warnings(document: PlanDocument) -> Iterator[tuple[str, str]]:
    """Yield warnings and unfulfilled policies, each with its subject and its text.

    The subject is empty for warnings about the whole fleet, whose texts name what they are about.
    """
    for subject in document.subjects:
        title = title_of(subject)
        yield from ((title, text) for text in (*subject.unfulfilled, *subject.warnings))
    yield from (("", text) for text in document.warnings)
    yield from (("program", text) for text in _logged(document))


def is_about(subject: SubjectDocument, text: str) -> bool:
    """Return whether a warning of a fleet names a subject, or the policy that has it."""
    # A warning about a policy names the policy, not the templates that it claims.
    claims = [policy.policy for policy in subject.policies if policy.wins]
    names = (subject.name, f"{subject.kind} {subject.key}", *claims)
    # Whole names only: a warning about shop-eu is not about shop.
    return any(re.search(rf"(?<!\S){re.escape(name)}(?![\w/.-])", text) for name in names)


def warned(document: PlanDocument) -> int:
    """Return the number of warnings, those that a program logged included."""
    return len(_logged(document)) + document.warned


def _logged(document: PlanDocument) -> list[str]:
    """Return the warnings and errors that a program logged."""
    return [item.text for item in document.logged if item.level in ("warning", "error")]


def confirmation(document: PlanDocument) -> str:
    """Return how to allow all refused losses at once; empty unless there are several."""
    tokens = list(dict.fromkeys(each.token for each in document.refused if each.token))
    # A directory has options, a stack has configuration.
    if isinstance(document.fleet, FilesDocument):
        return _meant(tokens, " ".join(f"--confirm {token}" for token in tokens))
    return _meant(tokens, _configured(tokens))


def confirming(problems: Iterable[Problem]) -> str:
    """Return the same for errors."""
    tokens = list(dict.fromkeys(problem.token for problem in problems if problem.token))
    return _meant(tokens, _configured(tokens))


def _configured(tokens: Sequence[str]) -> str:
    return f"pulumi config set fleet:confirm {','.join(tokens)}"


def _meant(tokens: Sequence[str], how: str) -> str:
    return f"if all of them are meant: {how}" if len(tokens) > 1 else ""


def show_field(field: FieldDocument | FieldAndRule) -> str:
    """Return a field with its old and its new value: ``spec.replicas: 3 -> 5``."""
    return f"{field.field}: {show_value(field.old)} -> {show_value(field.new)}"


def show_value(value: Any) -> str:
    """Return a value in one line."""
    if value is None:
        return "(none)"
    return single_line(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    )


def single_line(text: str) -> str:
    """Return the text in one line, with single spaces."""
    return " ".join(text.split())
