"""Owners of the objects that a member has before the stack writes them: another stack, or somebody
else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.replacement import as_sent
from fleet_components.content.stamp import STACK_ANNOTATION
from fleet_components.model.manifest import Manifest, ObjectKey, Origin, value_at
from fleet_components.model.message import Message
from fleet_components.model.observed import FieldDifference, ObservedObject
from fleet_components.model.problem import FieldPath, Problem, show_path
from fleet_components.model.text import few, visible
from fleet_components.plan import names
from fleet_components.plan.apply_mode import ApplyMode, TakeOver
from fleet_components.plan.fleet_plan import FleetPlan, grouped
from fleet_components.plan.guard import Pair
from fleet_components.plan.standing import was_found
from fleet_components.plan.subject import Decided, Delivery
from fleet_components.rollout.rollout import Change

_REFUSED = "ManifestApplyFailed"
_WRITES = (Change.ADD, Change.UPDATE)
_SHOWN = 10
_LONGEST_NAME = 200
_LONGEST_VALUE = 60
_ANOTHERS = Message(
    "belongs-to-other-stack", "is on {where} already, and belongs to the stack {owner}"
)
_HINT = (
    "let one of the two stacks bring it. To hand it over, let go of it there (deleteStrategy"
    " Abandon, or preserveResourcesOnDeletion), then name that stack in fleet:takesFrom here; where"
    " that stack is gone, take the annotation {annotation} off the object"
)
_HELD = Message(
    "held-by-other-stack",
    "on {where} the stack {owner} still manages it, and would delete or change it",
)
_HELD_HINT = (
    "let go of it there first: an update with deleteStrategy Abandon, or"
    " preserveResourcesOnDeletion, then one without what brings it"
)
_TAKEN = Message(
    "somebody-else-made-taken", "somebody else has made it on {where}: it is taken over{changes}"
)
_NOT_TAKEN = "is on {where} already, somebody else has made it, and %s of {subject} is %s"
_NEVER = Message("never-taken-over", _NOT_TAKEN % ("whenToTakeOver", "Never"))
_NEVER_HINT = (
    "whenToTakeOver: Always takes it over, IfNoDiff does where nothing differs; or delete it there"
)
_ABORT = Message("aborts-on-conflict", _NOT_TAKEN % ("conflictResolution", "Abort"))
_ABORT_HINT = "conflictResolution: Overwrite takes it over; or delete it there"
_LEFT = Message(
    "left-there",
    "is on {where} already: this stack has left it there, and {subject} takes nothing over",
)
_LEFT_HINT = (
    "let it take over what is there for one update, with whenToTakeOver: Always, or"
    " conflictResolution: Overwrite; or delete it there"
)
_IF_NO_DIFF = _NOT_TAKEN % ("whenToTakeOver", "IfNoDiff")
_DIFFERS = Message("differs-from-live", f"{_IF_NO_DIFF}, and it differs: {{fields}}")
_DIFFERS_HINT = (
    "write the values that are there into the source, or an override for that member; Always takes"
    " it over"
)
_UNCOMPARED = Message("not-comparable", f"{_IF_NO_DIFF}, and it could not be compared: {{error}}")
_OWNED = Message(
    "already-owners-allowcoownership-false",
    "is on {where} already, and has owners there: {owners}; allowCoOwnership of {subject} is false",
)
_OWNED_HINT = (
    "allowCoOwnership: true writes it all the same; what owns it may take it along when it goes"
)
_CONFLICT = Message(
    "already-does-not-force",
    "is on {where} already, and {subject} does not force what others have set: {error}",
)
_OVERWRITTEN = Message(
    "overwritten-by-others",
    "on {where} somebody has changed it, and {subject} does not force what others have set:"
    " {error}",
)
_NOT_OURS = Message(
    "not-brought-there",
    "would be deleted on {where}, whose name leads to another cluster now: this stack has not"
    " brought it there",
)
_NOT_OURS_HINT = "leave it in the source for this update, which takes it over; or delete it there"
_CONFLICT_HINT = (
    "serverSideApplyConfig: {force: true} overwrites it; or leave these fields out of the source"
)

_VANISHING = Message(
    "being-deleted", "is being deleted on {where}: it would vanish once that has ended"
)
_CLOSED = Message(
    "namespace-being-deleted",
    "comes into a Namespace that is being deleted on {where}: nothing can be created in it",
)
VANISHING_HINT = (
    "run again when it is gone; if it stays, take its finalizers away or mend what handles them"
)
_CLOSED_HINT = (
    "when it is gone, pulumi up --refresh creates it again with all that was in it; if it stays, "
    "its status says what holds it"
)
_GONE = Message(
    "gone-from-member", "is gone from {where}, and the state still has it: nothing would create it"
)
_GONE_HINT = "pulumi refresh, which notices that, then pulumi up, which creates it"


@attrs.frozen
class Arrival:
    """An object that a member gets, and that the stack does not have there yet.

    Attributes:
        cluster: the member.
        data: the object as it is wanted.
        mode: how it is written.
        subject: the placement or template that brings it, as ``Kind/key``.
    """

    cluster: str
    data: Mapping[str, Any]
    mode: ApplyMode
    subject: str = ""

    @property
    def key(self) -> ObjectKey:
        """The object's key."""
        return Manifest(self.data).key

    @property
    def pair(self) -> Pair:
        """The member and the object."""
        return self.cluster, self.key


Live = Callable[[Arrival], Mapping[str, Any] | None]
"""Returns an object as its member has it; None if it is not there, or could not be asked for."""
Compared = Callable[[Arrival], ObservedObject | None]
"""Returns how an object on its member differs from what is wanted; None if it was not compared."""


def arrivals(plan: FleetPlan, cluster: str, *, elsewhere: bool = False) -> tuple[Arrival, ...]:
    """Return the objects that are new to the fleet on a member, or come back before they are gone.

    Other resources of the stack may be them.

    Args:
        plan: the plan.
        cluster: the member.
        elsewhere: True if its name leads to another cluster than before: then nothing of the fleet
            stands there.
    """
    deliveries = _deliveries(plan.subjects, cluster)
    found = (
        Arrival(cluster, data, delivery.mode, name)
        for name, delivery in deliveries
        for data in delivery.written
    )
    # What the state records of another cluster does not stand on this one.
    stood = set() if elsewhere else plan.standing.keys() - plan.unsettled
    known = stood - set(_returning(plan, cluster))
    return tuple(arrival for arrival in found if (cluster, arrival.key) not in known)


def _returning(plan: FleetPlan, cluster: str) -> Iterator[Pair]:
    """Yield what the last update was to delete from a member, did not get rid of, and is wanted
    again.
    """
    position = plan.inventory.position(cluster)
    # Without the member, what it was sent before cannot be made again.
    if position is None:
        return
    for decided in (decided for decided in plan.subjects if cluster in decided.entries):
        placed = decided.before.decisions.get(cluster)
        if decided.entries[cluster].change not in _WRITES or placed is None:
            continue
        if decided.before.knows(placed):
            sent = decided.before.objects(placed, plan.inventory.clusters[position])
            before = {Manifest(data).key for data in sent}
            # The last decision did not send these: what stands of them was still to be deleted.
            pairs = ((cluster, key) for key in decided.keys(cluster) if key not in before)
            yield from (pair for pair in pairs if pair in plan.standing)


def left_over(plan: FleetPlan) -> Mapping[str, Sequence[Arrival]]:
    """Return what is wanted on members where the last update broke, and stands there in some form.

    That update may have deleted it, or the member may be deleting it. What is replaced now is left
    out, as is what is known to be gone: both are created. So is what was sent to another cluster.

    Returns:
        The objects by member.
    """
    doubtful = {
        pair
        for pair, standing in plan.standing.items()
        if not standing.gone and not standing.hub and standing.recorded is not None
    }
    doubtful.update(pair for cluster in plan.inventory.names for pair in _returning(plan, cluster))
    # These are created anyway, or stand on another cluster.
    doubtful -= plan.replaced.keys() | plan.unsettled
    members = {cluster for cluster, _ in doubtful}
    found = (
        Arrival(cluster, data, delivery.mode, subject.name)
        for subject in plan.subjects
        for cluster, delivery in subject.deliveries.items()
        if cluster in members
        for data in delivery.written
    )
    left = (arrival for arrival in found if arrival.pair in doubtful and not _ends(arrival))
    return grouped(left, lambda arrival: arrival.cluster)


def _ends(arrival: Arrival) -> bool:
    """Return whether an object is deleted by its member once it is done."""
    return value_at(arrival.data, ("spec", "ttlSecondsAfterFinished")) is not None


def vanished(
    left: Sequence[Arrival],
    live: Live,
    written: Mapping[ObjectKey, Origin],
) -> Iterator[Problem]:
    """Yield a problem for each object that the state has and its member does not have any more.

    The engine leaves it as it is, or updates it, which fails.

    Args:
        left: such objects of :func:`left_over`, of members that answer.
        live: returns them as their members have them.
        written: where the objects are written.
    """
    gone = (arrival for arrival in left if live(arrival) is None)
    yield from _problems_of(((arrival, _GONE, _GONE_HINT) for arrival in gone), written)


def rewritten(plan: FleetPlan, cluster: str) -> tuple[Arrival, ...]:
    """Return the objects that stand on a member, and that an update writes again without force."""
    moving = (
        decided
        for decided in plan.subjects
        if cluster in decided.entries and decided.entries[cluster].change in _WRITES
    )
    written = (
        Arrival(cluster, data, delivery.mode, name)
        for name, delivery in _deliveries(moving, cluster)
        # With force, nothing that others have set is in the way.
        if not delivery.mode.forces
        for data in delivery.written
    )
    return tuple(arrival for arrival in written if arrival.pair in plan.standing)


def _deliveries(subjects: Iterable[Decided], cluster: str) -> Iterator[tuple[str, Delivery]]:
    """Yield what subjects deliver to a member, each with the name of its subject."""
    for decided in subjects:
        delivery = decided.deliveries.get(cluster)
        if delivery:
            yield decided.name, delivery


def overwriting(
    standing: Sequence[Arrival], compared: Compared, written: Mapping[ObjectKey, Origin]
) -> Iterator[Problem]:
    """Yield a problem for each object of the stack in which others have set fields that are not to
    be overwritten.

    The Kubernetes provider takes over what ``kubectl`` has set before it writes, so that the API
    server does not refuse it (4.34, ``fixCSAFieldManagers`` in ``provider/pkg/await/await.go``).

    Args:
        standing: the objects, as :func:`rewritten` returns them.
        compared: returns what the API server says to them.
        written: where the objects are written.
    """
    answers = ((arrival, compared(arrival)) for arrival in standing)
    refused = (
        (arrival, found.error) for arrival, found in answers if found and found.applied == _REFUSED
    )
    described = (
        (arrival, _OVERWRITTEN.filled(error=_plain(error)), _CONFLICT_HINT)
        for arrival, error in refused
    )
    yield from _problems_of(described, written)


def anothers(
    arriving: Sequence[Arrival], live: Live, plan: FleetPlan, written: Mapping[ObjectKey, Origin]
) -> Iterator[Problem]:
    """Yield a problem for each object that another stack has brought.

    Args:
        arriving: the objects that are new to the stack.
        live: returns them as their members have them.
        plan: the plan.
        written: where the objects are written.
    """
    owned = ((arrival, _owner(there)) for arrival, there in _there(arriving, live))
    foreign = ((arrival, owner) for arrival, owner in owned if owner and not plan.is_ours(owner))
    hint = _HINT.format(annotation=STACK_ANNOTATION)
    yield from _problems_of(
        ((arrival, _ANOTHERS.filled(owner=_plain(owner)), hint) for arrival, owner in foreign),
        written,
    )


def held(
    arriving: Sequence[Arrival], live: Live, plan: FleetPlan, holds: Callable[[str, Arrival], bool]
) -> Iterator[Problem]:
    """Yield a problem for each object that is to be taken from another stack and that this one
    still manages.

    Args:
        arriving: the objects that are new to the stack.
        live: returns them as their members have them.
        plan: the plan.
        holds: returns whether a stack still manages an object.
    """
    owned = ((arrival, _owner(live(arrival) or {})) for arrival in arriving)
    still = (
        (arrival, owner)
        for arrival, owner in owned
        if owner in plan.options.takes_from and holds(owner, arrival)
    )
    described = (
        (arrival, _HELD.filled(owner=_plain(owner)), _HELD_HINT) for arrival, owner in still
    )
    yield from _problems_of(described, {})


def vanishing(
    arriving: Sequence[Arrival], live: Live, written: Mapping[ObjectKey, Origin]
) -> Iterator[Problem]:
    """Yield a problem for each object that its member is deleting, or whose Namespace is.

    No update can stop that.

    Args:
        arriving: the objects that are new to the stack.
        live: returns them, and their Namespaces, as their members have them.
        written: where the objects are written.
    """

    def leaves(arrival: Arrival) -> bool:
        return bool(value_at(live(arrival) or {}, ("metadata", "deletionTimestamp")))

    leaving = [(arrival, _VANISHING, VANISHING_HINT) for arrival in arriving if leaves(arrival)]
    # An object is reported once: its own deletion before that of its Namespace.
    named = {arrival.pair for arrival, *_ in leaving}
    closed = {space.pair for space in spaces_of(arriving) if leaves(space)} - named
    staying = (arrival for arrival in arriving if arrival.pair not in named)
    inside = ((arrival, _CLOSED, _CLOSED_HINT) for arrival in staying if _space(arrival) in closed)
    yield from _problems_of([*leaving, *inside], written)


def spaces_of(arriving: Iterable[Arrival]) -> tuple[Arrival, ...]:
    """Return the Namespaces of objects, in the form in which members are asked for them."""
    # Each Namespace once, in the order of the objects: many of them share one.
    found = dict.fromkeys(_space(arrival) for arrival in arriving if arrival.key.namespace)
    kind = {"apiVersion": "v1", "kind": "Namespace"}
    named = ((name, {**kind, "metadata": {"name": key.name}}) for name, key in found)
    return tuple(Arrival(name, data, ApplyMode()) for name, data in named)


def _space(arrival: Arrival) -> Pair:
    """Return the member of an object and the Namespace that it is in."""
    return arrival.cluster, ObjectKey("", "Namespace", "", arrival.key.namespace)


def compared_first(arriving: Sequence[Arrival], live: Live) -> tuple[Arrival, ...]:
    """Return the objects that have to be compared with what somebody else has made before they are
    taken over.
    """
    return tuple(
        arrival
        for arrival in _made(arriving, live)
        if arrival.mode.takes_over is TakeOver.IF_NO_DIFF or _may_conflict(arrival)
    )


def not_taken_over(
    arriving: Sequence[Arrival],
    live: Live,
    compared: Compared,
    plan: FleetPlan,
    written: Mapping[ObjectKey, Origin],
) -> Iterator[Problem]:
    """Yield a problem for each object that is there, is not another stack's, and is not to be taken
    over.

    Args:
        arriving: the objects that are new to the stack.
        live: returns them as their members have them.
        compared: returns how those of :func:`compared_first` differ there.
        plan: the plan.
        written: where the objects are written.
    """
    made = _made(arriving, live)
    # The provider that refuses what is there cannot tell who has made it.
    # What the state has of another cluster is updated where it is there, and not created.
    new = (arrival for arrival in arriving if (arrival.cluster, arrival.key) not in plan.standing)
    sparing = (arrival for arrival in new if not arrival.mode.adopts)
    left = (arrival for arrival in sparing if plan.is_ours(_owner(live(arrival) or {})))
    yield from _problems_of(((arrival, _LEFT, _LEFT_HINT) for arrival in left), written)
    yield from _problems_of(
        (
            (arrival, *words)
            for arrival in made
            for words in _standing_against(arrival, live(arrival) or {}, compared(arrival))
        ),
        written,
    )


def not_ours(leaving: Iterable[Arrival], live: Live, plan: FleetPlan) -> Iterator[Problem]:
    """Yield a problem for each object that would be deleted on another cluster than that to which
    the stack sent it.

    Args:
        leaving: the objects that the engine deletes.
        live: returns them as their members have them.
        plan: the plan.
    """
    yield from _problems_of(
        (
            (arrival, _NOT_OURS, _NOT_OURS_HINT)
            for arrival, found in _there(leaving, live)
            if not plan.is_ours(_owner(found))
        ),
        {},
    )


def found_there(arriving: Sequence[Arrival], live: Live) -> frozenset[Pair]:
    """Return the objects that stood on their members before any placement of the stack took them
    over.
    """
    marked = (
        arrival
        for arrival, there in _there(arriving, live)
        # The mark of an earlier stack says that the object was older than that one, too.
        if not _owner(there) or was_found(there)
    )
    return frozenset((arrival.cluster, arrival.key) for arrival in marked)


def taken_over(arriving: Sequence[Arrival], live: Live) -> Iterator[Problem]:
    """Yield a warning for each object that somebody else has made, with the fields that change."""
    made = [
        (arrival, tuple(map(show_path, _overwritten(_wanted(arrival.data), live(arrival)))))
        for arrival in _made(arriving, live)
        if arrival.mode.adopts
    ]
    # Members on which the same fields change share one warning.
    for (key, fields), found in sorted(grouped(made, lambda it: (it[0].key, it[1])).items()):
        changes = f", and changed in {few(fields, _SHOWN)}" if fields else ""
        where = few(sorted(arrival.cluster for arrival, _ in found))
        yield Problem(_TAKEN.filled(where=where, changes=changes), subject=str(key))


def _made(arriving: Sequence[Arrival], live: Live) -> list[Arrival]:
    """Return the objects that somebody else has made, and not a stack."""
    return [arrival for arrival, there in _there(arriving, live) if not _owner(there)]


def _there(arrivals: Iterable[Arrival], live: Live) -> Iterator[tuple[Arrival, Mapping[str, Any]]]:
    """Yield the objects that their members have, each as it is there."""
    for arrival in arrivals:
        there = live(arrival)
        if there:
            yield arrival, there


def _may_conflict(arrival: Arrival) -> bool:
    return arrival.mode.adopts and not arrival.mode.forces


def _standing_against(
    arrival: Arrival, there: Mapping[str, Any], compared: ObservedObject | None
) -> Iterator[tuple[Message, str]]:
    """Yield why an object must not be taken over, and what would allow it."""
    mode = arrival.mode
    # Nothing else matters then, not even whether it differs.
    if mode.takes_over is TakeOver.NEVER:
        of_karmada = arrival.subject.startswith(f"{names.TEMPLATE_KIND}/")
        yield (_ABORT, _ABORT_HINT) if of_karmada else (_NEVER, _NEVER_HINT)
        return
    owners = value_at(there, ("metadata", "ownerReferences"))
    if owners and not mode.co_owned:
        named = [_plain(f"{each.get('kind')} {each.get('name')}") for each in owners]
        yield _OWNED.filled(owners=few(named)), _OWNED_HINT
    # Only the objects of compared_first() are compared, and only if their member answers.
    if compared is None:
        return
    if mode.takes_over is TakeOver.IF_NO_DIFF and compared.differences:
        yield (
            _DIFFERS.filled(fields=few(list(map(_difference, compared.differences)), _SHOWN)),
            _DIFFERS_HINT,
        )
    # Without a comparison, IfNoDiff does not allow to take it over.
    elif mode.takes_over is TakeOver.IF_NO_DIFF and compared.error:
        yield _UNCOMPARED.filled(error=_plain(compared.error)), _NEVER_HINT
    elif _may_conflict(arrival) and compared.error:
        yield _CONFLICT.filled(error=_plain(compared.error)), _CONFLICT_HINT


def _difference(field_difference: FieldDifference) -> str:
    wanted, there = (_value(text) for text in (field_difference.wanted, field_difference.there))
    return f"{_plain(field_difference.path)}: {there} there, {wanted} wanted"


def _value(text: str | None) -> str:
    plain = "nothing" if text is None else _plain(text)
    return plain if len(plain) <= _LONGEST_VALUE else f"{plain[:_LONGEST_VALUE]}..."


def _plain(text: str) -> str:
    """Return a text of a member in a form that can stand in a message."""
    # A member may answer with a text of any length, and with control characters.
    return visible(text[:_LONGEST_NAME])


def _problems_of(
    found: Iterable[tuple[Arrival, Message, str]], written: Mapping[ObjectKey, Origin]
) -> Iterator[Problem]:
    """Yield one problem of an object for all members that have it alike."""
    alike = grouped(found, lambda it: (it[0].key, it[0].subject, *it[1:]))
    for (key, subject, message, hint), each in alike.items():
        where, origin = few(sorted(arrival.cluster for arrival, *_ in each)), written.get(key)
        yield Problem(
            message.filled(where=where, subject=subject),
            subject=str(key),
            hint=hint,
            file=origin.file if origin else "",
            line=origin.line if origin else None,
        )


def _owner(live: Mapping[str, Any]) -> str:
    """Return the stack that has brought an object; empty if none has."""
    owner = value_at(live, ("metadata", "annotations", STACK_ANNOTATION))
    return owner if isinstance(owner, str) else ""


def _wanted(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object as it is compared: in the fields that are sent, without those that name
    it.
    """
    return {key: value for key, value in as_sent(data).items() if key not in ("apiVersion", "kind")}


def _overwritten(wanted: Any, live: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """Yield the fields that have another value now; those that are only added are left out."""
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        for key in sorted(wanted.keys() & live.keys()):
            yield from _overwritten(wanted[key], live[key], (*path, key))
    # Items of lists with different lengths cannot be paired: such a list differs as a whole.
    elif isinstance(wanted, list) and isinstance(live, list) and len(wanted) == len(live):
        for index, (item, there) in enumerate(zip(wanted, live, strict=True)):
            yield from _overwritten(item, there, (*path, index))
    elif wanted is not None and wanted != live:
        yield path
