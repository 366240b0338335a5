"""Observation of all members at once: what each has of what it was sent, or is to get."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, TypeVar

import attrs

from fleet_components.content.availability import availability
from fleet_components.content.secret import secret_values
from fleet_components.live.causes import causes, finalizers_of
from fleet_components.live.comparison import WHOLE, LiveComparison, compare
from fleet_components.live.connection import (
    Connection,
    Leftover,
    UnexpectedAnswer,
    connected,
    within,
)
from fleet_components.live.credentials import without, without_in
from fleet_components.live.exchange import member_room
from fleet_components.model.manifest import Manifest, ObjectKey, value_at
from fleet_components.model.observed import (
    Applied,
    Compared,
    FieldDifference,
    ObservedMember,
    ObservedObject,
)
from fleet_components.model.text import count
from fleet_components.model.watch import Watch, unwatched
from fleet_components.plan.apply_mode import ApplyMode

K = TypeVar("K", bound=Hashable)
_AT_ONCE = 64
_UNUSABLE = (
    "cannot be asked: its kubeconfig or its credential plugin does not work, or takes longer than"
    " {:g} s"
)
_DELETING = "is being deleted since {since}{finalizers}"
_SILENT = "does not answer in {:g} s, or not as Kubernetes does"


@attrs.frozen
class WantedObject:
    """An object that a member was sent, or is to get.

    Attributes:
        data: the object, as it is sent.
        mode: how it is written.
        manager: the field manager that sends it.
        causes: True to ask why it is not available.
        leaving: True for an object that is to be deleted: ``data`` has its version and name alone.
    """

    data: Mapping[str, Any]
    mode: ApplyMode
    manager: str
    causes: bool = False
    leaving: bool = False


def observe(
    kubeconfigs: Mapping[K, str],
    wanted: Mapping[K, Sequence[WantedObject]],
    *,
    timeout: float = 10.0,
    watch: Watch = unwatched,
) -> Mapping[K, ObservedMember]:
    """Ask members for objects, all of them at once. Nothing is written.

    Args:
        kubeconfigs: the texts of their kubeconfigs, by member.
        wanted: the objects, by member.
        timeout: limit for each member, in seconds; a quarter of a second is added for each object.
        watch: reports how many have answered.

    Returns:
        By member, the objects that it has answered for, and why it has not answered for the others.
    """
    if not kubeconfigs:
        return {}
    # Each call ends in time, see ``_observe``, so that the end of the block does not wait for long.
    with ThreadPoolExecutor(min(_AT_ONCE, len(kubeconfigs))) as pool:
        asked = {
            name: pool.submit(_observe, text, wanted.get(name, ()), timeout)
            for name, text in kubeconfigs.items()
        }
        completed = as_completed(asked.values())
        with watch(f"asking {count(len(asked), 'member')}"):
            for number in range(len(asked)):
                with watch(f"{number} answered"):
                    next(completed)
        return {name: future.result() for name, future in asked.items()}


def _observe(kubeconfig: str, wanted: Sequence[WantedObject], timeout: float) -> ObservedMember:
    found: dict[ObjectKey, ObservedObject] = {}
    # The last reason counts, wherever the thread is when it is abandoned.
    reasons = [_UNUSABLE.format(timeout)]

    def ask(deadline: float) -> None:
        with connected(kubeconfig, deadline, member_room(len(wanted))) as member:
            reasons.append(_SILENT.format(timeout))
            member.secrets = secret_values(item.data for item in wanted)
            for item in wanted:
                observed = observed_object(member, item)
                found[observed.key] = observed
            reasons.append("")

    within(timeout + len(wanted) / 4, ask)
    # A copy, because an abandoned thread may still change it.
    return ObservedMember(dict(found), reasons[-1])


def observed_object(member: Connection, wanted: WantedObject) -> ObservedObject:
    """Return what a member says of one object.

    Raises:
        TimeoutError: the deadline has passed.
    """
    manifest, mode = Manifest(wanted.data), wanted.mode
    nothing = ObservedObject(manifest.key, manifest.api_version)
    try:
        if wanted.leaving:
            return _leaving(nothing, member.get(Leftover.like(wanted.data)))
        found = compare(
            member,
            wanted.data,
            manager=wanted.manager,
            full=mode.full,
            # A report shows fields that others have set as differences, not as conflicts.
            force=mode.forces or mode.reports,
        )
    except UnexpectedAnswer as error:
        return attrs.evolve(
            nothing,
            error=error.words(wanted.data),
            compared="FailedToReportDiff" if mode.reports else "",
        )
    known = attrs.evolve(
        nothing,
        differences=_without(found.fields, member.secrets),
        degraded=found.degraded,
        error=found.refused,
        there=found.there,
    )
    if mode.reports:
        return attrs.evolve(known, compared=_compared(found), generation=_generation(found))
    # Nothing is there, so it is neither applied nor available.
    if found.there is None:
        return known
    known = attrs.evolve(
        known,
        applied=_applied(found, mode),
        available=availability(found.there),
        generation=_generation(found),
        status=without_in(found.there.get("status"), member.secrets),
    )
    if not wanted.causes or known.available != "ManifestNotAvailableYet":
        return known
    try:
        return attrs.evolve(known, causes=tuple(map(member.words, causes(member, found.there))))
    except UnexpectedAnswer as error:
        return attrs.evolve(known, causes=(error.words(wanted.data),))


def _without(
    fields: Iterable[FieldDifference], secrets: Collection[str]
) -> tuple[FieldDifference, ...]:
    """Return differences in which no value of a Secret is shown, wherever the member has put it."""
    return tuple(
        attrs.evolve(
            field,
            path=without(field.path, secrets),
            there=field.there and without(field.there, secrets),
        )
        for field in fields
    )


def _leaving(nothing: ObservedObject, there: Mapping[str, Any] | None) -> ObservedObject:
    """Return an object that is to be deleted, as the member has it."""
    found = attrs.evolve(nothing, leaving=True, absent=there is None, there=there)
    since = value_at(there or {}, ("metadata", "deletionTimestamp"))
    if not since:
        return found
    words = _DELETING.format(since=since, finalizers=finalizers_of(there))
    return attrs.evolve(found, causes=(words,))


def _compared(found: LiveComparison) -> Compared:
    if found.refused and not found.degraded and found.there is not None:
        return "FailedToReportDiff"
    if found.fields == (WHOLE,) or not found.degraded:
        return "FoundDiff" if found.fields else "NoDiffFound"
    return "FoundDiffInDegradedMode" if found.fields else "NoDiffFound"


def _applied(found: LiveComparison, mode: ApplyMode) -> Applied:
    if found.refused and not found.degraded:
        return "ManifestApplyFailed"
    if found.fields and mode.stops_at_drift:
        return "FoundDriftsInDegradedMode" if found.degraded else "FoundDrifts"
    return "ManifestApplyFailed" if found.refused else "Applied"


def _generation(found: LiveComparison) -> int:
    return int(((found.there or {}).get("metadata") or {}).get("generation") or 0)
