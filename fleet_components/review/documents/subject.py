"""The document of one placement or template."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from fleet_components.content.difference import differences as differences_of
from fleet_components.plan.departures import Departure
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.override_changes import in_words, override_changes
from fleet_components.plan.own_outputs import MODES
from fleet_components.plan.remainder import Remainder, opens
from fleet_components.plan.subject import Decided
from fleet_components.plan.ways import Way
from fleet_components.review.documents.differences import differences
from fleet_components.review.documents.form import EVERYTHING, View
from fleet_components.review.documents.overridden import overridden_members
from fleet_components.review.documents.schema import (
    WORDS,
    ContentDocument,
    DepartureDocument,
    FieldDocument,
    HeldMembers,
    MemberDocument,
    NameAndReason,
    NotPickedDocument,
    OldAndNew,
    RemainderDocument,
    ScoresDocument,
    SkippedDocument,
    SubjectDocument,
    WaitDocument,
)
from fleet_components.review.documents.weight import Weight, weight_of
from fleet_components.rollout.describe import describe
from fleet_components.rollout.rollout import Change, Entry
from fleet_components.scheduler.explain import MemberExplanation

MOST_NOT_PICKED = 20
_pair = lru_cache(2**10)(OldAndNew)  # thousands of members have the same numbers
UNCOMPARED = (
    "the old objects are encrypted in the state; with pulumi stack export --show-secrets their"
    " changes show too"
)
UNCOMPARED_ON_HUB = (
    "the hub did not show the old objects, or keeps them no more; fleet observe --update asks it"
    " again"
)


def subject_document(
    plan: FleetPlan,
    decided: Decided,
    view: View = EVERYTHING,
    standing: Collection[str] = (),
    of_fleet: str | None = None,
) -> SubjectDocument:
    """Return the changes of a placement or template, with their reasons.

    Members that stay, and those that it does not concern, are explained where the view asks for
    all, or where it is a question of who is picked. ``standing`` has the conditions that it is in
    already, and ``of_fleet`` its fleet if a program has several.
    """
    facts, weight, whole = (
        decided.subject.system.facts(decided),
        weight_of(plan, decided, standing),
        view.whole(decided),
    )
    # None for content means that the state hides the old objects.
    old, new, content = decided.before.revision, decided.record.revision, differences(plan, decided)
    others = _others(decided, facts.first_reasons)
    named = others[:MOST_NOT_PICKED] if whole or weight.picks else []
    staying = sorted(name for name, entry in decided.entries.items() if entry.change is Change.KEEP)
    # Ten thousand members may stay: their explanation is only made where it is shown.
    shown = decided.entries.keys() if whole else decided.entries.keys() - staying
    explanation = decided.subject.explain(decided.outcome, {*shown, *named})
    explained = {member.cluster: member for member in explanation.members}
    return SubjectDocument(
        fleet=plan.options.fleet,
        of_fleet=of_fleet,
        name=decided.name,
        kind=decided.subject.kind,
        key=decided.subject.key,
        weight=str(weight),
        as_before=sorted(standing),
        source=decided.subject.origin or None,
        policy=facts.policy,
        policies=facts.policies,
        other_policies=facts.other_policies,
        plugins=decided.subject.plugins,
        decided_by=decided.subject.decided_by or None,
        delivery=decided.hub or Way.DIRECT.value,
        # A negative number stands for no revision.
        revision=OldAndNew(old if old >= 0 else None, new),
        objects=len(decided.subject.objects),
        content=content,
        uncompared=_uncompared(plan, decided, content),
        overridden=overridden_members(decided),
        departures=[
            departure_document(departure) for departure in plan.leaving.get(decided.name, ())
        ],
        clusters=_clusters(decided, shown, explained, plan.remainders[decided.name]),
        staying=staying,
        not_picked=NotPickedDocument(
            len(others),
            [
                NameAndReason(
                    name,
                    explained[name].summary if name in explained else facts.first_reasons[name],
                )
                for name in named
            ],
        ),
        rollout=list(describe(decided.outcome.rollout)),
        division=explanation.division,
        unfulfilled=[decided.outcome.unfulfilled] if decided.outcome.unfulfilled else [],
        hints=facts.hints,
        due=[NameAndReason(name, why) for name, why in facts.due.items()],
        left=facts.left or None,
        remaining=remainder_document(plan.remainders[decided.name]),
        update_run=facts.update_run,
        evictions=facts.evictions,
        notes=[*decided.outcome.notes, *plan.precedence.notes(decided)],
        warnings=warnings_of(decided),
        skipped=[SkippedDocument(name, why) for name, why in facts.skipped],
        required_by=facts.required_by,
        status=facts.status,
        recorded=recorded(plan, decided) if weight is Weight.RECORDED else [],
    )


def _uncompared(
    plan: FleetPlan, decided: Decided, content: list[ContentDocument] | None
) -> str | None:
    """Return why the objects are not compared; None if they are."""
    if content is not None:
        return None
    return UNCOMPARED_ON_HUB if plan.is_by_hub(decided) and plan.options.hub else UNCOMPARED


def recorded(plan: FleetPlan, decided: Decided) -> list[FieldDocument]:
    """Return the fields that change in what is remembered of a subject, and in how it asks to be
    delivered.
    """
    asked = {key: value for key, value in decided.subject.shown().items() if key in MODES}
    old, new = (
        {key: value for key, value in record.to_wire().items() if key in ("decisions", "memory")}
        for record in (decided.before, decided.record)
    )
    # What the record does not have is as the defaults say.
    modes = {**MODES, **plan.past.shown.get(decided.name, {})}
    found = differences_of(
        {**old, **{key: modes[key] for key in asked if key in modes}}, {**new, **asked}
    )
    # The policy comes first: what else is remembered follows from it.
    return [
        FieldDocument(**difference.to_wire())
        for difference in sorted(found, key=lambda difference: "policy" not in difference.path)
    ]


def warnings_of(decided: Decided) -> list[str]:
    """Return what may surprise about a subject."""
    return [*map(str, decided.subject.warnings), *decided.outcome.warnings]


def departure_document(departure: Departure) -> DepartureDocument:
    """Return the document of an object that leaves the subject that brought it to a member."""
    return DepartureDocument(
        departure.subject or None,
        departure.cluster,
        str(departure.key),
        str(departure.fate),
        departure.owner or None,
    )


def remainder_document(remainder: Remainder) -> RemainderDocument:
    """Return the document of what an update leaves to later ones."""
    return RemainderDocument(
        remainder.updates,
        remainder.endless,
        remainder.approvals,
        [
            WaitDocument(why, due.isoformat() if due else None)
            for why, due in remainder.waits.items()
        ],
        [HeldMembers(members, why) for why, members in remainder.held.items()],
        remainder.words or None,
    )


def _clusters(
    decided: Decided,
    shown: Collection[str],
    explained: Mapping[str, MemberExplanation],
    remainder: Remainder,
) -> list[MemberDocument]:
    """Return the members: those that join or are updated, by wave and rank; then those that leave,
    are held or stay.
    """
    order = {change: rank for rank, change in enumerate(WORDS)}
    moves = (Change.ADD, Change.UPDATE)

    def key(item: tuple[str, Entry]) -> tuple[int, int, int, str]:
        name, entry = item
        # In the order of their waves; both kinds of moves are mixed in it.
        if entry.placed and entry.change in moves:
            return (0, entry.placed.wave, entry.placed.rank or 0, name)
        return (0 if entry.change in moves else order[entry.change], 0, 0, name)

    ordered = sorted(((name, decided.entries[name]) for name in shown), key=key)
    return [
        _cluster(decided, name, entry, explained.get(name), remainder) for name, entry in ordered
    ]


def _cluster(
    decided: Decided,
    name: str,
    entry: Entry,
    explained: MemberExplanation | None,
    remainder: Remainder,
) -> MemberDocument:
    placed, done = entry.placed, decided.done(name)
    moves = placed is not None and entry.change in (Change.ADD, Change.UPDATE)
    replicas = _pair(decided.replicas_before(name), decided.replicas_after(name, placed))
    share, number = getattr(placed, "replicas", None), replicas.new
    scores = decided.outcome.scores(name)
    apart = f"an override sets {number}" if number is not None and number != share else ""
    unapplied = decided.outcome.unapplied.get(name)
    whys = [decided.why(name, explained), apart, *_overridden_now(decided, name, entry)]
    return MemberDocument(
        name=name,
        change=WORDS[entry.change],
        wave=placed.wave if placed and moves else None,
        rank=placed.rank if placed else None,
        revision=_pair(done.revision, placed.revision if placed else None),
        replicas=replicas,
        scores=ScoresDocument(scores["affinity"], scores["topologySpread"]) if scores else None,
        why="; ".join(filter(None, whys)),
        opens=_opens(decided, remainder, name),
        unapplied=unapplied.on("there") if unapplied else None,
    )


def _overridden_now(decided: Decided, name: str, entry: Entry) -> Iterable[str]:
    """Return what overrides do from now on to a member that is updated."""
    return in_words(override_changes(decided, name) or ()) if entry.change is Change.UPDATE else ()


def _others(decided: Decided, first_reasons: Mapping[str, str]) -> list[str]:
    """Return the members that the subject does not concern; those that the API's status names come
    first.

    The status may also name members that are wanted and do not exist.
    """
    # The API's status names only the first few; they come first here, too.
    names = [*first_reasons, *decided.subject.inventory.names]
    return [name for name in dict.fromkeys(names) if name not in decided.entries]


def _opens(decided: Decided, remainder: Remainder, name: str) -> str | None:
    opened = opens(decided, remainder, name)
    return str(opened) if opened else None
