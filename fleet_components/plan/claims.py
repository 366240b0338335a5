"""Objects that come to a member, and that the stack has already under URNs that are not the
fleet's.

Without an alias the fleet's resource adopts the live object, and the deletion of the other resource
removes it from the cluster: the Kubernetes provider deletes by name (4.34, ``Deletion`` in
``provider/pkg/await/await.go``). So the old URN becomes an alias, or the update is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.stamp import STACK_ANNOTATION
from fleet_components.model.manifest import ObjectKey, value_at
from fleet_components.model.message import Message, Phrase
from fleet_components.model.observed import SILENT
from fleet_components.model.problem import Problem
from fleet_components.model.text import few, visible
from fleet_components.plan.fleet_plan import FleetPlan, grouped
from fleet_components.plan.guard import Pair
from fleet_components.plan.names import RELEASE
from fleet_components.plan.refusals import Places
from fleet_components.plan.standing import Claim, annotation_in

_HELM = "meta.helm.sh/release-"
_NO_HINT = Phrase("")
_FORGET_HINT = Phrase("{forget}")
_OWN = Message(
    "stands-whose-deletion-delete",
    "stands on {where} as {resource}, whose deletion would delete it",
)
_OWN_HINT = Phrase(
    "take that resource out of the program, and hand the object over: fleet:takesOver: {{{taken}}}"
)
_UNKNOWN = Message(
    "not-known-whether-there",
    "is {resource} as well, and it cannot be known whether that is on {where}: {why}",
)
_UNKNOWN_HINT = Phrase(
    "pulumi refresh, if it was deleted or made anew there; if it is there, take that resource out"
    " of the program, with fleet:takesOver: {{{taken}}}; if it is on another cluster:"
    " fleet:takesOver: {{{left}}}"
)
UNASKED = "no member is asked"
"""Reason for which members are not known in a plan that is made without an engine."""
_NO_UID = "the state has no uid of it"
_OTHER_UID = "another object of that name is there"
_GONE = "nothing of that name is there"
_TWICE = Message(
    "stands-too-whose-deletion",
    "stands on {where} as {resource} too, whose deletion would delete it",
)
_SEVERAL = Message(
    "stands-one-object-under", "stands on {where} as {resource}, one object under several URNs"
)
_FORGET = Phrase(
    "take that resource out of the program, and out of the state, where the object stays as it is:"
    " pulumi state delete '{urn}'"
)
_RELEASE = Message(
    "stands-part-whose-deletion",
    "stands on {where} as a part of {resource}, whose deletion would delete it",
)
_RELEASE_HINT = Phrase(
    "{forget}; if that release is on another cluster: fleet:takesOver: {{{left}}}"
)
_PATCH = Message(
    "sets-fields-once-program",
    "{resource} sets fields of it on {where}: once the program does not declare that patch any"
    " more, those go that only the patch has set",
)
_ANOTHERS = Message(
    "belongs-stack-update-program",
    "is {resource}, and belongs to the stack {owner}: an update of a program that does not declare"
    " it deletes it on its cluster",
)
_BOTH = Message(
    "brought-by-two-fleets-of-program",
    "is brought to {where} by {subject} of the fleet {fleet}, and by {other} of the fleet"
    " {neighbour}",
)
_BOTH_HINT = Phrase(
    "take it out of one of the two fleets, or keep their policies on different clusters"
)


@attrs.frozen
class Contest:
    """An object that comes to a member, and a resource of the stack that may be the same object.

    Attributes:
        cluster: the member.
        key: the object.
        subject: the subject that brings it, as ``Kind/key``.
        claim: the other resource.
    """

    cluster: str
    key: ObjectKey
    subject: str
    claim: Claim

    @property
    def pair(self) -> Pair:
        """The member and the object."""
        return self.cluster, self.key


@attrs.frozen(kw_only=True)
class ClaimFacts:
    """Answers of the members, and what follows from them.

    Attributes:
        uids: the uid of each member's cluster; None of one that does not answer.
        live: returns an object as its member has it; None if it is not there, or not known.
        asked: members that were asked for their objects, and have answered.
        reach: uids of the clusters that providers of the program's own lead to; None if one of them
            is not known.
        others: plans of the other fleets of the program.
        unasked: why members that are not among ``asked`` were not asked, or have not answered.
    """

    uids: Mapping[str, str | None]
    live: Callable[[Pair], Mapping[str, Any] | None]
    asked: Collection[str]
    reach: frozenset[str] | None = None
    others: Sequence[FleetPlan] = ()
    unasked: str = SILENT


@attrs.frozen
class Judgement:
    """Outcome of the contests.

    Attributes:
        taken: URNs under which the stack has objects that the fleet brings from now on.
        refused: why the update must not happen.
        unknown: the same of members that do not answer.
        warnings: what may surprise.
    """

    taken: Mapping[Pair, str]
    refused: tuple[Problem, ...] = ()
    unknown: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def contests(plan: FleetPlan) -> tuple[Contest, ...]:
    """Return the objects that come to members and that other resources of the stack may be."""
    claims = grouped(plan.past.others, lambda claim: claim.key)
    # It goes through all objects of the fleet, and most stacks have no such resource.
    brought = plan.brought if claims else {}
    return tuple(
        Contest(cluster, key, decided.name, claim)
        for (cluster, key), decided in brought.items()
        for claim in claims.get(key, ())
        if not plan.leaves_alone(cluster, claim)
    )


def claimed(plan: FleetPlan) -> tuple[Problem, ...]:
    """Return what is to be known of other resources of the stack where no member is asked."""
    judgement = judge_claims(
        plan, ClaimFacts(uids={}, live=lambda _: None, asked=(), unasked=UNASKED)
    )
    return (*judgement.refused, *judgement.unknown, *judgement.warnings)


def of_other_stacks(plan: FleetPlan) -> Iterator[Problem]:
    """Yield a warning for each object of another stack in the state, as ``pulumi state move`` and
    ``import`` leave it.

    Its deletion is one of the program's own resources, which no plan of a fleet lists.
    """
    taken = {claim.urn for claims in plan.taken_over.values() for claim in claims}
    for claim in plan.past.others:
        owner = annotation_in(claim.outputs, STACK_ANNOTATION)
        if owner and not (claim.patch or claim.urn in taken or plan.is_ours(owner)):
            what = _ANOTHERS.filled(resource=_resource(claim), owner=visible(owner))
            yield Problem(what, subject=str(claim.key), hint=_FORGET.filled(urn=claim.urn))


def judge_claims(plan: FleetPlan, facts: ClaimFacts) -> Judgement:
    """Return what comes of objects that other resources of the stack may be."""
    taken: dict[Pair, str] = {}
    problems = _Problems(plan)
    for pair, found in grouped(contests(plan), lambda contest: contest.pair).items():
        patches = [contest for contest in found if contest.claim.patch]
        for contest in patches:
            if _is_there(plan, contest, facts):
                problems.warn(contest, _PATCH)
        owners = [contest for contest in found if not contest.claim.patch]
        # The fleet has the object already, so that other URNs are further resources of it.
        if pair in plan.standing:
            _judge_twins(plan, owners, facts, problems)
        elif there := [owner for owner in owners if _is_there(plan, owner, facts)]:
            _judge_there(plan, there, facts, problems, taken)
        else:
            _judge_unknown(plan, owners, facts, problems, taken)
    return problems.judgement(taken)


def judge_releases(
    plan: FleetPlan, arriving: Iterable[Pair], facts: ClaimFacts
) -> tuple[Problem, ...]:
    """Return refusals of objects that belong to a Helm release of the stack, which no alias takes
    along.
    """
    releases = {
        (other.key.namespace, other.key.name): other
        for other in plan.past.others
        if other.key.kind == RELEASE
    }
    brought, problems = plan.brought if releases else {}, _Problems(plan)
    for cluster, key in arriving if releases else ():
        marks = value_at(facts.live((cluster, key)) or {}, ("metadata", "annotations")) or {}
        named = str(marks.get(f"{_HELM}namespace")), str(marks.get(f"{_HELM}name"))
        claim = releases.get(named)
        if claim is None or plan.leaves_alone(cluster, claim):
            continue
        contest = Contest(cluster, key, brought[cluster, key].name, claim)
        # None: it may be the same object. Only False rules that out.
        if _leads_elsewhere(contest, facts) is not False:
            problems.refuse(contest, _RELEASE, _RELEASE_HINT)
    return problems.judgement({}).refused


def _is_there(plan: FleetPlan, contest: Contest, facts: ClaimFacts) -> bool | None:
    """Return whether the other resource is the object on the member; None if that is not known."""
    claim, uid = contest.claim, facts.uids.get(contest.cluster)
    # What the state records of both comes first, then what the member answers.
    standing = plan.standing.get(contest.pair)
    if standing and standing.object_uid and claim.uid:
        return standing.object_uid == claim.uid
    # The member of another fleet: by the uid of its cluster, without asking it.
    known = plan.past.neighbours.get((claim.fleet, claim.cluster)) if claim.fleet else None
    if known and known.uid and uid:
        return known.uid == uid
    live = facts.live(contest.pair)
    if claim.uid and live and value_at(live, ("metadata", "uid")) == claim.uid:
        return True
    if claim.fleet:
        return plan.shares(contest.cluster, claim)
    return _leads_elsewhere(contest, facts)


def _leads_elsewhere(contest: Contest, facts: ClaimFacts) -> bool | None:
    """Return False if no provider of the program's own leads to the member; None if one may."""
    # If it is not known where one provider leads, nothing is ruled out.
    uid = facts.uids.get(contest.cluster)
    return False if uid and facts.reach is not None and uid not in facts.reach else None


def _judge_twins(
    plan: FleetPlan, found: Sequence[Contest], facts: ClaimFacts, problems: _Problems
) -> None:
    """Judge an object that the state has as one of the fleet's, and under other URNs too."""
    for contest in found:
        if _is_there(plan, contest, facts) and not _wanted_by(contest.claim, facts):
            problems.refuse(contest, _TWICE, _FORGET_HINT)


def _judge_there(
    plan: FleetPlan,
    there: Sequence[Contest],
    facts: ClaimFacts,
    problems: _Problems,
    taken: dict[Pair, str],
) -> None:
    """Judge an object that stands on its member as other resources."""
    if len({contest.claim.urn for contest in there}) > 1:
        for contest in there[1:]:
            problems.refuse(contest, _SEVERAL, _FORGET_HINT)
        return
    # One is left: each claim has a URN of its own.
    (contest,) = there
    if contest.claim.fleet:
        neighbour = _wanted_by(contest.claim, facts)
        if neighbour is None:
            taken[contest.pair] = contest.claim.urn
        # Else it is refused before members are asked.
        elif not plan.shares(contest.cluster, contest.claim):
            fleets = {"fleet": plan.options.fleet, "neighbour": neighbour.options.fleet}
            problems.refuse(contest, _BOTH, _BOTH_HINT, other=contest.claim.subject, **fleets)
    elif plan.takes_over(contest.cluster, contest.claim):
        # If the program still declares it, the engine refuses the alias ("Duplicate resource
        # alias"): a program cannot see the resources that it declares at its top.
        taken[contest.pair] = contest.claim.urn
    else:
        problems.refuse(contest, _OWN, _OWN_HINT)


def _judge_unknown(
    plan: FleetPlan,
    found: Sequence[Contest],
    facts: ClaimFacts,
    problems: _Problems,
    taken: dict[Pair, str],
) -> None:
    """Judge an object of which it is not known whether other resources are it."""
    unsure = [contest for contest in found if _is_there(plan, contest, facts) is None]
    # Several that are named for one object would contradict each other.
    named = [contest for contest in unsure if plan.takes_over(contest.cluster, contest.claim)]
    if len(named) == 1 and _why(named[0], facts) in (facts.unasked, _NO_UID):
        taken[named[0].pair] = named[0].claim.urn  # the user says so
        return
    for contest in unsure:
        if _wanted_by(contest.claim, facts) is None:
            problems.unsure(
                contest, _why(contest, facts), silent=contest.cluster not in facts.asked
            )


def _why(contest: Contest, facts: ClaimFacts) -> str:
    if contest.cluster not in facts.asked:
        return facts.unasked
    if not contest.claim.uid:
        return _NO_UID
    return _OTHER_UID if facts.live(contest.pair) else _GONE


def _wanted_by(claim: Claim, facts: ClaimFacts) -> FleetPlan | None:
    """Return the plan of the other fleet, if that goes on bringing the object."""
    fleets = (other for other in facts.others if claim.fleet and other.is_called(claim.fleet))
    return next((fleet for fleet in fleets if fleet.brings(claim)), None)


_Found = tuple[Contest, Message, Phrase, tuple[tuple[str, str], ...]]
"""A contest with the templates of what it is and of its hint, and the words for them."""


class _Problems:
    """Collector of problems, each with all members of which the same is to be written."""

    def __init__(self, plan: FleetPlan) -> None:
        self._plan, self._places = plan, Places(plan.subjects, plan.written)
        self._refused: list[_Found] = []
        self._unknown: list[_Found] = []
        self._warned: list[_Found] = []

    def refuse(self, contest: Contest, what: Message, hint: Phrase, **words: str) -> None:
        """Add a refusal."""
        self._refused.append((contest, what, hint, tuple(words.items())))

    def warn(self, contest: Contest, what: Message) -> None:
        """Add a warning."""
        self._warned.append((contest, what, _NO_HINT, ()))

    def unsure(self, contest: Contest, why: str, *, silent: bool) -> None:
        """Add a refusal of what cannot be known."""
        # Apart, because a preview only warns of what a silent member leaves open.
        found = self._unknown if silent else self._refused
        found.append((contest, _UNKNOWN, _UNKNOWN_HINT, (("why", why),)))

    def judgement(self, taken: Mapping[Pair, str]) -> Judgement:
        """Return all of it."""
        kinds = (self._refused, self._unknown, self._warned)
        return Judgement(taken, *(tuple(self._written(found)) for found in kinds))

    def _written(self, found: Iterable[_Found]) -> Iterator[Problem]:
        alike = grouped(found, lambda it: (it[0].key, it[0].subject, it[0].claim.urn, *it[1:]))
        for (key, subject, _, what, hint, more), each in alike.items():
            contest = each[0][0]
            where, name = sorted(item.cluster for item, *_ in each), visible(contest.claim.name)
            words = {
                "where": few(where),
                "resource": _resource(contest.claim),
                "subject": subject,
                "taken": ", ".join(f"{member}: [{name}]" for member in where),
                "left": ", ".join(f'{member}: ["!{name}"]' for member in where),
                "forget": _FORGET.filled(urn=contest.claim.urn),
                **dict(more),
            }
            # The first place is enough: a problem has one location.
            origin = next(iter(self._places.of(subject, key)), None)
            yield Problem(
                what.filled(**words),
                subject=str(key),
                hint=hint.filled(**words),
                file=origin.file if origin else "",
                line=origin.line if origin else None,
            )


def _resource(claim: Claim) -> str:
    if claim.fleet:
        return f"what {claim.subject} of the fleet {claim.fleet} has brought to {claim.cluster}"
    return f'the resource "{visible(claim.name)}" of this stack'
