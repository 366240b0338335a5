"""Describe a plan in words, one line per fact, for the log of a preview and for the text of a
refusal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

import attrs

from fleet_components.model.manifest import by_key
from fleet_components.model.text import count, few
from fleet_components.plan.departures import Departure, Fate, Replacement
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.lost import describe_dropped, describe_returned
from fleet_components.plan.override_changes import in_force_in_words, in_words, override_changes
from fleet_components.plan.subject import Decided
from fleet_components.plan.ways import NAMES
from fleet_components.rollout.describe import describe, describe_stages
from fleet_components.rollout.rollout import Change
from fleet_components.scheduler.explain import MemberExplanation

_OBJECTS_SHOWN = 10
_PLURAL = {"changes": "change", "comes": "come", "goes": "go"}
Weight = Literal["lost", "left", "moved"]


@attrs.frozen
class Line:
    """One line of text with its weight: something is lost, is left behind, or moves."""

    weight: Weight
    text: str


_DELETED_FROM_NOW = (
    "deleted from now on when the source does not bring it any more; kept on the member until now"
)
_KEPT_FROM_NOW = (
    "kept on the member from now on when the source does not bring it any more; deleted until now"
)
_FOUND = "; it stood there before"
# In the order of the lines: what is lost first.
_FATES: dict[Fate, tuple[Weight, str]] = {
    Fate.DELETED: ("lost", "deleted"),
    Fate.SWEPT: ("lost", "deleted: the member is back, and it has moved away meanwhile"),
    Fate.UNDONE: ("lost", "deleted, if the update that was interrupted there has made it"),
    Fate.FORGOTTEN: ("left", "forgotten, as the member is lost"),
    Fate.KEPT: ("left", "kept on the member, no longer managed"),
    Fate.MOVED: ("moved", "moves to {to} and stays alive"),
}


def describe_plan(plan: FleetPlan) -> tuple[Line, ...]:
    """Return what is removed, replaced or moved, losses first; :func:`describe_subject` covers the
    subjects.
    """
    return (
        *_gone(plan),
        *(Line("lost", text) for text in describe_dropped(plan)),
        *_replaced(plan),
        *_departures(plan.departures),
        *_kept_otherwise(plan),
        *(Line("moved", text) for text in describe_returned(plan)),
    )


def heading(decided: Decided) -> str:
    """Return the heading above the lines of a subject: its key, where it is written, and what else
    decides on it.
    """
    subject = decided.subject
    written = f" ({subject.origin})" if subject.origin else ""
    notes = (
        f"forecast of the hub of {NAMES[decided.hub]}" if decided.hub else "",
        subject.decided_by,
    )
    return f"{subject.key}{written}:{''.join(f' {words}' for words in notes if words)}"


def describe_subject(plan: FleetPlan, decided: Decided) -> tuple[list[str], list[str]]:
    """Return what happens to a subject, with a reason for each member concerned; and its
    warnings.
    """
    lines = list(describe(decided.outcome.rollout, _reasons(decided))) if decided.moves else []
    warnings = list(map(str, decided.subject.warnings))
    outcome = decided.outcome
    lines += describe_division(decided) if decided.moves else []
    lines += [f"{cluster}: {words}" for cluster, words in outcome.due.items()]
    lines += [outcome.left] if outcome.left else []
    lines += describe_stages(outcome.rollout.stages) if decided.moves else []
    lines += (*outcome.notes, *plan.precedence.notes(decided))
    # A hub goes on by itself.
    words = "" if decided.hub else plan.remainders[decided.name].words
    lines += [f"left: {words}"] if words else []
    warnings += outcome.warnings
    return lines, [*warnings, *([not_fulfilled(decided)] if outcome.unfulfilled else [])]


def not_fulfilled(decided: Decided) -> str:
    """Return the line that says why the policy of a subject is not fulfilled."""
    return f"not fulfilled: {decided.outcome.unfulfilled}"


def _reasons(decided: Decided) -> dict[str, str]:
    """Return why each member joins, leaves or is updated."""
    chosen = [
        member
        for member, entry in decided.entries.items()
        if entry.change in (Change.ADD, Change.REMOVE)
    ]
    explained = (
        {
            explanation.cluster: explanation
            for explanation in decided.subject.explain(decided.outcome, chosen).members
        }
        if chosen
        else {}
    )
    picked = {member: _joins(decided, member, explained.get(member)) for member in chosen}
    updated = [member for member, entry in decided.entries.items() if entry.change is Change.UPDATE]
    return picked | {member: _what_changes(decided, member) for member in updated}


def _joins(decided: Decided, member: str, explained: MemberExplanation | None) -> str:
    """Return why a member joins or leaves, and what overrides change on one that joins."""
    why, placed = decided.why(member, explained), decided.entries[member].placed
    overridden = placed and decided.subject.deviations(decided.record, member, placed)
    return "; ".join(filter(None, [why, *in_force_in_words(overridden or ())]))


def _what_changes(decided: Decided, member: str) -> str:
    """Return what changes on a member that has the subject already."""
    done, placed = decided.done(member), decided.record.decisions[member]
    if placed.again is not None and placed.again >= placed.revision == done.revision:
        return "written again, since the last update was interrupted there"
    found = ["the last update there broke"] if done.broken else []
    replicas = getattr(placed, "replicas", None)
    # Decisions of KubeFleet have none.
    if replicas is not None and replicas != done.replicas:
        found.append(f"{done.replicas} -> {count(replicas, 'replica')}")
    found += _content(decided, done.revision, placed.revision)
    return "; ".join([*found, *in_words(override_changes(decided, member) or ())])


def _content(decided: Decided, old: int | None, new: int) -> Iterator[str]:
    """Yield the differences between two revisions."""
    if old is None or old == new:
        return
    contents = [
        decided.record.content(number) or decided.before.content(number) for number in (old, new)
    ]
    # The state hides one of the two.
    if None in contents:
        return
    was, now = (by_key(content or ()) for content in contents)
    for what, keys in (
        ("changes", [key for key in was.keys() & now.keys() if was[key] != now[key]]),
        ("comes", now.keys() - was.keys()),
        ("goes", was.keys() - now.keys()),
    ):
        if keys:
            yield f"{few(sorted(map(str, keys)))} {what if len(keys) == 1 else _PLURAL[what]}"


def describe_division(decided: Decided) -> Sequence[str]:
    """Return the replicas of each member, with the present number where it differs."""
    record = decided.record
    if record.left_alone(record.revision):
        return ["replicas: each member keeps those that it has, as a label of the object asks"]
    shares = {
        c: n
        for c, share in record.decisions.items()
        if (n := getattr(share, "replicas", None)) is not None
    }
    before = {cluster: done.replicas for cluster, done in decided.subject.done.items()}
    # A member that is new has no number to compare with.
    words = [
        f"{c} {n}" + (f" (has {before[c]})" if before.get(c, n) != n else "")
        for c, n in shares.items()
    ]
    return [f"replicas: {', '.join(words)}"] if words else []


def _departures(departures: Sequence[Departure]) -> Iterator[Line]:
    """Yield one line for the objects that share fate and members."""
    members: dict[tuple[Fate, str, str, bool, str], list[str]] = defaultdict(list)
    for departure in departures:
        # Only of what stays is it worth a word that it stood there before.
        found = departure.found and departure.fate is Fate.KEPT
        members[
            departure.fate, departure.subject, departure.owner, found, str(departure.key)
        ].append(departure.cluster)
    alike: dict[tuple[int, str, str, bool, tuple[str, ...]], list[str]] = defaultdict(list)
    for (fate, subject, to, found, key), clusters in sorted(members.items()):
        # By the place of the fate, so that sorting puts losses first.
        alike[list(_FATES).index(fate), subject, to, found, tuple(clusters)].append(key)
    for (place, subject, to, found, where), keys in sorted(alike.items()):
        # A place is the position in _FATES, as above.
        weight, text = list(_FATES.values())[place]
        whose, since = f" of {subject}" if subject else "", _FOUND if found else ""
        yield Line(
            weight,
            f"{few(keys, _OBJECTS_SHOWN)}{whose} on {few(where)}: {text.format(to=to)}{since}",
        )


def _gone(plan: FleetPlan) -> Iterator[Line]:
    if plan.gone:
        yield Line("lost", f"no longer in the source: {few(plan.gone)}")
    if plan.members_gone:
        yield Line("lost", f"no longer members: {few(plan.members_gone)}")


def _kept_otherwise(plan: FleetPlan) -> Iterator[Line]:
    """Yield a line for the objects that stay, and of which a later removal makes something else
    than until now.
    """
    members: dict[tuple[bool, str], list[str]] = defaultdict(list)
    for decided in plan.subjects if plan.standing else ():
        for cluster in decided.deliveries:
            for key in decided.keys(cluster):
                standing = plan.standing.get((cluster, key))
                kept = plan.outlives(decided, cluster, key)
                if standing and standing.kept != kept:
                    members[kept, str(key)].append(cluster)
    alike: dict[tuple[bool, tuple[str, ...]], list[str]] = defaultdict(list)
    for (kept, named), clusters in sorted(members.items()):
        alike[kept, tuple(sorted(clusters))].append(named)
    for (kept, where), keys in sorted(alike.items()):
        number = count(len(keys) * len(where), "object")
        text = _KEPT_FROM_NOW if kept else _DELETED_FROM_NOW
        yield Line(
            "moved" if kept else "left",
            f"{few(keys, _OBJECTS_SHOWN)} on {few(where)} ({number}): {text}",
        )


_ON_HUB = (
    "; it is deleted from the hub and created anew there, and the hub takes it off its members in"
    " between"
)


def _replaced(plan: FleetPlan) -> Iterator[Line]:
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    through_hubs = {decided.name for decided in plan.subjects if decided.hub}
    for replacement in plan.replacements:
        why = _why_anew(replacement) + (_ON_HUB if replacement.subject in through_hubs else "")
        found[str(replacement.key), replacement.subject, why].append(replacement.cluster)
    for (key, subject, why), clusters in sorted(found.items()):
        text = f"{key} of {subject} on {few(clusters)}: replaced, because {why}"
        yield Line("lost", text)


def _why_anew(replacement: Replacement) -> str:
    """Return why an object is recreated: fields that no API server changes, else those that the
    provider does not.
    """
    if replacement.refused:
        return f"{', '.join(replacement.refused)} cannot be changed in place"
    return f"Pulumi's provider does not change {', '.join(replacement.fields)} in place"
