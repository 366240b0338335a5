"""Members that are lost, are back, or do not answer: what each may have, and what an update does about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from fleet_components.model.problem import Problem
from fleet_components.model.text import count, few
from fleet_components.plan.departures import UNRECORDED, Fate
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.options import Options
from fleet_components.plan.past import DECLARED, LOST, KnownMember, Past
from fleet_components.rollout.rollout import Change

_SHOWN = 10
_DELETED = (Fate.DELETED, *UNRECORDED)
_REMEMBERED = (
    "member {member} is lost, nothing is sent to it: {objects} may still be there, and {is_} remembered for its "
    "return; if it is gone for good, drop that with fleet:confirm={token}"
)
_DROPPED = "member {member} is gone for good: {objects} may still be there, and {is_} remembered no longer"
_TAKEN_UP = "{objects} on {member}: taken up again, as the member is back"
_BREAKS = "{} not answer: the update breaks there, {}"
_RESTS = "{} not answer: nothing is sent there in this update"
_BREAKS_HINT = "run it when they answer; one that is gone, or stays away: pulumi config set fleet:lost NAME"
_WRITES = (Change.ADD, Change.UPDATE)


def member_states(declared: Collection[str], past: Past, options: Options) -> dict[str, str]:
    """Return the state of every member for the roster: ``LOST`` or ``DECLARED``.

    A lost member need not be declared any more, as long as the state knows it. What it may still have is remembered
    until it is back, also once it is neither declared nor marked lost.

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
    known = {name: plan.past.members[name] for name in sorted(plan.past.lost.difference(plan.inventory.names))}
    return {name: one.memory_token(name) for name, one in known.items() if one.remembered}


def describe_remembered(plan: FleetPlan) -> Iterator[str]:
    """Yield a line for each lost member of which something is remembered, with the token that drops that."""
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
        brought = (one.keys(member) for one in plan.subjects if member in one.deliveries and not one.hub)
        wanted = {key for keys in brought for key in keys}
        if found := sorted(map(str, wanted & plan.past.members[member].remembered.keys())):
            yield _TAKEN_UP.format(member=member, objects=few(found, _SHOWN))


def warn_of_silent(plan: FleetPlan, silent: Iterable[str]) -> Iterator[Problem]:
    """Yield a warning for the members that do not answer, with the waves in which the update breaks there."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name in sorted(silent):
        alike[few(list(_sent(plan, name)), _SHOWN)].append(name)
    for where, members in alike.items():
        do = "does" if len(members) == 1 else "do"
        what, hint = (_BREAKS, _BREAKS_HINT) if where else (_RESTS, "")
        subject = f"{'member' if len(members) == 1 else 'members'} {few(members)}"
        yield Problem(what.format(do, where), subject=subject, hint=hint)


def _sent(plan: FleetPlan, member: str) -> Iterator[str]:
    """Yield what is sent to a member, each in words."""
    for one in plan.subjects:
        entry = one.entries.get(member)
        if entry and entry.placed and entry.change in _WRITES and not one.hub:
            yield f"in wave {entry.placed.wave} of {one.subject.key}"
    if any(one.cluster == member and one.fate in _DELETED for one in plan.departures):
        yield "at the end, where objects are deleted"


def _stays(name: str, past: Past, options: Options) -> bool:
    """Return whether a lost member that is not declared any more stays in the roster."""
    if any(one.cluster == name for one in past.standing):
        return True
    if past.members[name].remembered:
        return not past.drops(name, options.confirm)
    return name in options.lost


def _under_other_names(declared: Collection[str], past: Past, options: Options) -> set[str]:
    """Return the members whose clusters have come back under other names."""
    identities = {identity for name, identity in options.identities.items() if name in declared}
    known_by = {name: known.identity for name, known in past.members.items() if known.identity and name not in declared}
    renamed = {old for new, old in options.renamed.members.items() if new in declared}
    return renamed.union(name for name, identity in known_by.items() if identity in identities)


def _line(words: str, member: str, known: KnownMember, token: str = "") -> str:
    number = len(known.remembered)
    is_ = "is" if number == 1 else "are"
    return words.format(member=member, objects=count(number, "object"), is_=is_, token=token)
