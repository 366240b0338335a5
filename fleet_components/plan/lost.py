"""Members that are lost, are back, lead elsewhere, or do not answer: what each has and gets."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from typing import Any

from fleet_components.model.manifest import ObjectKey
from fleet_components.model.message import Message, Phrase, Setting
from fleet_components.model.problem import Problem
from fleet_components.model.text import count, few
from fleet_components.plan.departures import UNRECORDED, Fate
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.guard import loss_token
from fleet_components.plan.known_member import KnownMember
from fleet_components.plan.options import Options
from fleet_components.plan.own_outputs import DECLARED, LOST
from fleet_components.plan.past import Past
from fleet_components.rollout.rollout import Change

_SHOWN = 10
_DELETED = (Fate.DELETED, *UNRECORDED)
_REMEMBERED = (
    "member {member} is lost, nothing is sent to it: {objects} may still be there, and {is_}"
    " remembered for its return; if it is gone for good, drop that with fleet:confirm={token}"
)
_DROPPED = (
    "member {member} is gone for good: {objects} may still be there, and {is_} remembered no longer"
)
_TAKEN_UP = "{objects} on {member}: taken up again, as the member is back"
_BREAKS = Message(
    "silent-member-breaks-update", "{do} not answer: the update breaks there, {where}"
)
_RESTS = Message("silent-member-rests", "{do} not answer: nothing is sent there in this update")
_BREAKS_HINT = (
    "run it when they answer; one that is gone, or stays away: pulumi config set fleet:lost NAME"
)
_ANOTHER = Message(
    "confirmed-other-cluster",
    "leads to another cluster than before, and that is confirmed; on {uid} this update creates: "
    "{created}; updates: {updated}; what the fleet has brought to {old} stays there, managed no "
    "longer{stays}",
)
_STAYS_ON = "; {member} leads there now, and nothing brings it what stays there: {objects}"
_WRITES = (Change.ADD, Change.UPDATE)


def member_states(declared: Collection[str], past: Past, options: Options) -> dict[str, str]:
    """Return the state of every member for the roster: ``LOST`` or ``DECLARED``.

    A lost member need not be declared any more, as long as the state knows it. What it may still
    have is remembered until it is back, also once it is neither declared nor marked lost.

    Args:
        declared: the members in the source.
        past: what the state knows of members.
        options: which members are lost, which have other names, and what is confirmed.
    """
    absent = past.lost.union(options.lost & past.members.keys()).difference(declared)
    absent -= _under_other_names(declared, past, options)
    gone = {name for name in absent if _stays(name, past, options)}
    lost = options.lost | gone
    return {name: LOST if name in lost else DECLARED for name in sorted(gone.union(declared))}


def memory_tokens(plan: FleetPlan) -> dict[str, str]:
    """Return the tokens that let the fleet forget what lost members may still have, by member."""
    known = {
        name: plan.past.members[name]
        # Of members that are back, nothing has to be forgotten.
        for name in sorted(plan.past.lost.difference(plan.inventory.names))
    }
    return {name: item.memory_token(name) for name, item in known.items() if item.remembered}


def describe_remembered(plan: FleetPlan) -> Iterator[str]:
    """Yield a line for each lost member of which something is remembered, with the token that drops
    that.
    """
    for member, token in memory_tokens(plan).items():
        if plan.members.get(member) == LOST and not plan.past.drops(member, plan.options.confirm):
            yield _line(_REMEMBERED, member, plan.past.members[member], token)


def describe_dropped(plan: FleetPlan) -> Iterator[str]:
    """Yield a line for each lost member of which nothing is remembered any more."""
    for member in memory_tokens(plan):
        if plan.past.drops(member, plan.options.confirm):
            yield _line(_DROPPED, member, plan.past.members[member])


def describe_returned(plan: FleetPlan) -> Iterator[str]:
    """Yield a line for each member that is back, with what is taken up there."""
    for member in plan.returned:
        brought = (
            decided.keys(member)
            for decided in plan.subjects
            if member in decided.deliveries and not decided.hub
        )
        wanted = {key for keys in brought for key in keys}
        found = sorted(map(str, wanted & plan.past.members[member].remembered.keys()))
        if found:
            yield _TAKEN_UP.format(member=member, objects=few(found, _SHOWN))


def warn_of_silent(plan: FleetPlan, silent: Iterable[str]) -> Iterator[Problem]:
    """Yield a warning for the members that do not answer, with the waves in which the update breaks
    there.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for name in sorted(silent):
        # Members at which the update breaks in the same waves share one warning.
        alike[few(list(_sent(plan, name)), _SHOWN)].append(name)
    for where, members in alike.items():
        do = "does" if len(members) == 1 else "do"
        what, hint = (_BREAKS, _BREAKS_HINT) if where else (_RESTS, "")
        subject = f"{'member' if len(members) == 1 else 'members'} {few(members)}"
        yield Problem(what.filled(do=do, where=where), subject=subject, hint=hint)


def confirmed_elsewhere(
    past: Past,
    name: str,
    uid: str | None,
    confirm: Collection[str],
) -> bool:
    """Return whether a member's name leads to another cluster than before, and a token confirms
    it.
    """
    known = past.members[name]
    if not uid or not known.uid or uid == known.uid:
        return False
    # The uids differ, so that no refusal means a confirmation.
    return other_cluster({"uid": known.uid}, {"member": name, "uid": uid}, confirm) is None


def warn_of_another(
    plan: FleetPlan,
    name: str,
    uids: Mapping[str, str | None],
    found: Collection[ObjectKey],
    stood: Collection[ObjectKey],
) -> Problem:
    """Return a warning of a member whose name leads to another cluster: what becomes of objects on
    both.

    Args:
        plan: the plan.
        name: the member.
        uids: uids of the clusters to which the names of members lead now.
        found: the objects of the fleet that the other cluster has already.
        stood: the objects that come there and were on the old one.
    """
    old = plan.past.members[name].uid
    created = few(sorted(str(key) for key in stood if key not in found)) or "nothing"
    updated = few(sorted(map(str, found))) or "nothing"
    stays = ""
    # Of exchanged names: what only the other one had.
    for now in sorted(other for other, uid in uids.items() if uid == old):
        there = (stands.key for stands in plan.past.standing if stands.cluster == name)
        left = sorted(str(key) for key in there if (now, key) not in plan.brought)
        stays += _STAYS_ON.format(member=now, objects=few(left, _SHOWN)) if left else ""
    what = _ANOTHER.filled(uid=uids[name], old=old, created=created, updated=updated, stays=stays)
    return Problem(what, subject=f"member {name}")


def _sent(plan: FleetPlan, member: str) -> Iterator[str]:
    """Yield what is sent to a member, each in words."""
    for decided in plan.subjects:
        entry = decided.entries.get(member)
        writes = entry and (entry.change in _WRITES or member in decided.missing)
        if entry and entry.placed and writes and not decided.hub:
            yield f"in wave {entry.placed.wave} of {decided.subject.key}"
    if any(
        departure.cluster == member and departure.fate in _DELETED for departure in plan.departures
    ):
        yield "at the end, where objects are deleted"


def _stays(name: str, past: Past, options: Options) -> bool:
    """Return whether a lost member that is not declared any more stays in the roster."""
    if any(standing.cluster == name for standing in past.standing):
        return True
    if past.members[name].remembered:
        return not past.drops(name, options.confirm)
    return name in options.lost


def _under_other_names(declared: Collection[str], past: Past, options: Options) -> set[str]:
    """Return the members whose clusters have come back under other names."""
    # A cluster that is declared again is not gone, whatever it is called.
    identities = {identity for name, identity in options.identities.items() if name in declared}
    known_by = {
        name: known.identity
        for name, known in past.members.items()
        if known.identity and name not in declared
    }
    renamed = {old for new, old in options.renamed.members.items() if new in declared}
    return renamed.union(name for name, identity in known_by.items() if identity in identities)


def _line(words: str, member: str, known: KnownMember, token: str = "") -> str:
    number = len(known.remembered)
    is_ = "is" if number == 1 else "are"
    return words.format(member=member, objects=count(number, "object"), is_=is_, token=token)


# Check which cluster a member is: Pulumi itself would take swapped kubeconfigs for mere updates
# of the providers.


_OTHER = Message(
    "leads-another-cluster-than",
    "leads to another cluster than before: its uid is {new}, and the fleet was brought to {old}",
)
_HINT = Phrase(
    "check the kubeconfig of the member; if another cluster has taken the name: {token}, and what"
    " stood on the other one is made anew here, and left there as it is"
)


def other_cluster(
    olds: Mapping[str, Any], news: Mapping[str, Any], confirm: Collection[str]
) -> Problem | None:
    """Return a refusal if a member is another cluster than before; None if it is not, is unknown,
    or is confirmed.

    Args:
        olds: what is remembered of the member.
        news: its present properties; ``uid`` is missing if the cluster could not be asked.
        confirm: tokens of intended changes.
    """
    old, new = olds.get("uid"), news.get("uid")
    if not old or not new or old == new:
        return None
    token = loss_token(str(news["member"]), [str(old), str(new)])
    if token in confirm:
        return None
    return Problem(
        _OTHER.filled(old=old, new=new),
        subject=f"member {news['member']}",
        hint=_HINT.filled(token=Setting("confirm", token)),
    )


def same_cluster(members: Mapping[str, Hashable], message: Message) -> Iterator[Problem]:
    """Yield a problem for each member that is the same cluster as an earlier one: both would undo
    each other's changes.

    Args:
        members: a value that identifies each member's cluster, by name.
        message: ``{other}`` is replaced by the earlier member, ``{by}`` by the common
            value.
    """
    # The first one of each cluster counts, in the order of the members.
    first: dict[Hashable, str] = {}
    for name, known_by in members.items():
        other = first.setdefault(known_by, name)
        if other != name:
            hint = "declare it once: two names would undo each other"
            yield Problem(
                message.filled(other=other, by=known_by), subject=f"member {name}", hint=hint
            )


def identity_of(address: str, authority: str) -> str:
    """Return a cluster's identity according to its kubeconfig: a digest of its address and
    certificate authority.
    """
    return hashlib.sha256(f"{address}\n{authority}".encode()).hexdigest()[:16]


# Members that may have been renamed: one leaves, and another one joins and gets the same.


def lookalikes(plan: FleetPlan) -> Iterator[Problem]:
    """Yield a warning for each member that leaves while a single new one gets all that it had.

    A cluster that is known to be the same has been renamed already, and is not among them.
    """
    gone = (name for name in plan.members_gone if plan.past.members[name].state != LOST)
    had = _by_subjects(
        gone, ((decided.name, decided.before.decisions) for decided in plan.subjects)
    )
    wanted = ((decided.name, decided.record.decisions) for decided in plan.subjects)
    gets = _by_subjects(plan.members_new, wanted)
    for subjects, left in had.items():
        joined = gets.get(subjects, [])
        # Of several members, which one became which would be a guess.
        if len(left) == len(joined) == 1:
            old, new = left[0], joined[0]
            what = Message(
                "leaves-new-member-gets",
                "leaves, and the new member {new} gets all that {old} had",
                new=new,
                old=old,
            )
            hint = (
                "if it is the same cluster under another name, nothing has to move: "
                f"fleet:renamed with members: {{{new}: {old}}}"
            )
            yield Problem(what, subject=f"member {old}", hint=hint)


def _by_subjects(
    members: Iterable[str], decisions: Iterable[tuple[str, Collection[str]]]
) -> dict[frozenset[str], list[str]]:
    """Return the members by the subjects that they have, without those that have none."""
    subjects: dict[str, set[str]] = {name: set() for name in members}
    for subject, clusters in decisions:
        for name, those in subjects.items():
            if name in clusters:
                those.add(subject)
    found: dict[frozenset[str], list[str]] = defaultdict(list)
    for name, those in sorted(subjects.items()):
        if those:
            found[frozenset(those)].append(name)
    return found
