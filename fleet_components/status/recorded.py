"""Objects as the stack knows them: by its state and the events of its last update, without a
cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.availability import trackable
from fleet_components.content.difference import Difference, amounts_alike, differences
from fleet_components.content.replacement import as_sent
from fleet_components.model.manifest import Manifest, ObjectKey, by_key
from fleet_components.model.observed import (
    Available,
    Compared,
    FieldDifference,
    ObservedMember,
    ObservedObject,
)
from fleet_components.plan import names
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.names import Urn
from fleet_components.plan.record import particulars
from fleet_components.plan.state import ENCRYPTED, StackState, StoredResource
from fleet_components.plan.subject import Decided, Delivery
from fleet_components.status.events import Events

_UNREACHABLE = "cluster is unreachable"
"""Words of the Kubernetes provider for a member that does not answer."""
_INTERRUPTED = (
    "an update was killed while {} it: what is there is not known, and the next update {} it again"
)
_GONE = "it is gone: it was deleted to be replaced and not created; the next update creates it"
_FORGOTTEN = "the state does not have it any more, as after a refresh: the next update creates it"
_VANISHED = re.compile(r'"(?P<name>[^"]+)" not found$')
"""Words of an API server for an object that an update was to change, and that is not there."""
# Words of the Kubernetes provider, around those of the API server or the workload.
_FRAME = re.compile(
    r"\s*(\d+ errors? occurred:|\* |"
    r"(update|creation) of resource \S+( with kind \S+)? failed:?( because the Kubernetes API"
    r" server)?|"
    r"resource \S+ was not successfully created by the Kubernetes API server:|"
    r"(resource \S+ was successfully created, but )?the Kubernetes API server reported that"
    r' ("[^"]*"|it) failed to '
    r"fully initialize or become live:)\s*"
)
_WRITTEN = re.compile(
    r"was successfully|timed out waiting|Minimum number of live Pods|Resource operation was"
    r" cancelled"
)
"""Words for an object that was written and then did not become ready."""


def recorded(
    plan: FleetPlan, decided: Decided, state: StackState, events: Events | None = None
) -> dict[str, ObservedMember]:
    """Return what is known of the objects of a placement or template, by member.

    Args:
        plan: the plan that starts from the state.
        decided: the placement or template, as the last update has decided it.
        state: the state after that update.
        events: the events of that update; None where nobody has kept them.
    """
    reader = _Reader(plan, decided, state, events or Events())
    standing = (found.cluster for found in plan.past.standing if found.subject == decided.name)
    members = [*decided.entries, *decided.record.decisions, *standing]
    return {cluster: reader.member(cluster) for cluster in sorted(dict.fromkeys(members))}


class _Reader:
    """Reader of what the stack knows of one placement or template."""

    def __init__(
        self, plan: FleetPlan, decided: Decided, state: StackState, events: Events
    ) -> None:
        self._plan, self._decided, self._state, self._events = plan, decided, state, events
        self._reports = {
            resource.name: resource.outputs
            for resource in state.resources.values()
            if resource.type == names.REPORT
        }
        component = names.component_type(decided.subject.COMPONENT)
        # Errors of the update as a whole are under the empty URN.
        urns = {*events.errors, *events.failed, *events.begun, *state.pending} - {""}
        parsed = (Urn.parse(text) for text in urns if names.is_urn(text))
        self._urns: dict[tuple[str, ObjectKey], str] = {
            (place.cluster, place.object): urn.text
            for urn in parsed
            if component in urn.types
            and (place := names.place_of(plan.options.fleet, urn))
            and place.key == decided.subject.key
        }

    def member(self, cluster: str) -> ObservedMember:
        """Return what is known of a member."""
        standing = {
            item.key: item.urn for item in self._plan.past.standing_on(self._decided.name, cluster)
        }
        delivery = self._decided.deliveries.get(cluster)
        # Such a member gets no objects: only the last report of their comparison is in the state.
        if delivery and delivery.mode.reports:
            return ObservedMember(
                {observed.key: observed for observed in self._reported(cluster, delivery)}
            )
        wanted = by_key(delivery.objects) if delivery else {}
        found = {}
        # What is wanted comes first, in the order of its content.
        for key in dict.fromkeys((*wanted, *standing)):
            stored = self._state.resources.get(standing.get(key, ""))
            # One that was deleted to be replaced, and not created again, does not exist.
            stands = stored is not None and not stored.pending_replacement
            if key in wanted or stands:
                found[key] = self._object(cluster, key, wanted.get(key), stored, delivery)
        unreached = next(
            (observed.error for observed in found.values() if _UNREACHABLE in observed.error), ""
        )
        return ObservedMember(found, unreached)

    def _reported(self, cluster: str, delivery: Delivery) -> Iterator[ObservedObject]:
        """Yield the objects that are compared only, as the last report has them."""
        name = names.target_name(self._plan.options.fleet, self._decided.subject.key, cluster)
        report = self._reports.get(name, {})
        # differences is None if no report was made yet, and empty if nothing differs.
        differences, failures = report.get("differences"), report.get("failures") or {}
        for data in delivery.objects:
            key = Manifest(data).key
            found = ObservedObject(key, str(data["apiVersion"]))
            if str(key) in failures:
                yield attrs.evolve(found, compared="FailedToReportDiff", error=failures[str(key)])
            elif differences is None:
                yield found
            elif fields := differences.get(str(key)):
                shown = (
                    FieldDifference(path, field.get("wanted"), field.get("there"))
                    for path, field in fields.items()
                )
                degraded = str(key) in (report.get("degraded") or ())
                compared: Compared = "FoundDiffInDegradedMode" if degraded else "FoundDiff"
                yield attrs.evolve(
                    found,
                    compared=compared,
                    differences=tuple(sorted(shown, key=lambda it: it.path)),
                )
            else:
                yield attrs.evolve(found, compared="NoDiffFound")

    def _object(
        self,
        cluster: str,
        key: ObjectKey,
        wanted: Mapping[str, Any] | None,
        stored: StoredResource | None,
        delivery: Delivery | None,
    ) -> ObservedObject:
        # An object that was to be created has events, but no resource in the state.
        urn = self._urns.get((cluster, key)) or (stored.urn if stored else "")
        outputs = stored.outputs if stored else {}
        version = str(
            (wanted or {}).get("apiVersion")
            or (names.api_version_of(stored.type) if stored else "")
        )
        found = ObservedObject(
            key, version, generation=_generation(outputs), status=_status(outputs)
        )
        # If the state hides what was decided, a missing object does not mean that it is to go.
        leaving = wanted is None and self._knows(cluster)
        if urn in self._state.pending:
            goes_on = "deletes" if leaving else "writes"
            interrupted = _INTERRUPTED.format(self._state.pending[urn], goes_on)
            return attrs.evolve(found, causes=(interrupted,), leaving=leaving)
        # What the state remembers of the last error; the events, if given, are of the last update
        # alone.
        kept = "\n".join(stored.init_errors) if stored else ""
        stated = self._events.error(urn) if urn else ""
        error = words_of(stated or kept)
        if leaving:
            # What was wrong when it was written last says nothing of its deletion.
            return attrs.evolve(found, causes=words_of(stated), leaving=True)
        if stored and stored.pending_replacement:
            words = "; ".join((*error, _GONE))
            return attrs.evolve(found, applied="ManifestApplyFailed", error=words)
        # Begun and not ended: the engine was stopped in the middle, or still waits for it.
        if urn in self._events.begun:
            return attrs.evolve(
                found, causes=tuple(filter(None, (*error, self._events.notes.get(urn, ""))))
            )
        written = stored is not None and (
            self._settled(cluster) or _is_sent(stored, wanted, delivery)
        )
        # The provider keeps the former inputs of an object that was updated and did not become
        # ready.
        written = written or (stored is not None and bool(kept) and _is_live(stored, wanted))
        # The binding says that all objects were written, so that this one was there once.
        if stored is None and wanted and self._runs(cluster):
            return attrs.evolve(found, causes=(*error, _FORGOTTEN), absent=True)
        if stored and not written and _vanished(error, key):
            return attrs.evolve(found, causes=error, absent=True)
        if not error:
            return (
                attrs.evolve(found, applied="Applied", available=_available(wanted, stored))
                if written
                else found
            )
        if written:
            return attrs.evolve(
                found, applied="Applied", available="ManifestNotAvailableYet", causes=error
            )
        if _UNREACHABLE in error[0]:
            return attrs.evolve(found, error=error[0])
        if _WRITTEN.search("\n".join(error)) or _WRITTEN.search(kept):
            return attrs.evolve(
                found, causes=error if stated else ("when it was written last:", *error)
            )
        return attrs.evolve(found, applied="ManifestApplyFailed", error=" ".join(error))

    def _knows(self, cluster: str) -> bool:
        """Return whether it is known what the last update has decided for a member."""
        placed = self._decided.record.decisions.get(cluster)
        return placed is None or self._decided.record.knows(placed)

    def _runs(self, cluster: str) -> bool:
        """Return whether all objects were on a member once, as they were decided."""
        return self._decided.done(cluster).revision is not None and self._settled(cluster)

    def _settled(self, cluster: str) -> bool:
        """Return whether the binding of a member, which follows its objects, is as was decided."""
        placed, done = self._decided.record.decisions.get(cluster), self._decided.done(cluster)
        if placed is None:
            return True
        return done.version == placed.version and particulars(done) == particulars(placed)


def words_of(error: str) -> tuple[str, ...]:
    """Return what the API server, the workload or the engine itself said, without the provider's
    words around it.
    """
    lines = (_FRAME.sub("", line).strip() for line in error.splitlines())
    return tuple(dict.fromkeys(filter(None, lines)))


def _vanished(error: Sequence[str], key: ObjectKey) -> bool:
    """Return whether an update failed because the object that it was to change is not there."""
    found = (_VANISHED.search(line) for line in error)
    return any(match["name"] == key.name for match in found if match)


def _available(wanted: Mapping[str, Any] | None, stored: StoredResource | None) -> Available:
    """Return the availability of an object that the engine has waited for."""
    data = wanted or (stored.inputs if stored else {})
    return "NotTrackable" if trackable(Manifest(data)) == "untrackable" else "Available"


def _is_sent(
    stored: StoredResource, wanted: Mapping[str, Any] | None, delivery: Delivery | None
) -> bool:
    """Return whether an object was written as it is wanted: the provider keeps the former inputs
    otherwise.
    """
    if wanted is None:
        return True
    left_alone = delivery.left_alone if delivery else ()
    old, new = (_unstamped(as_sent(data)) for data in (stored.inputs, wanted))
    # Both sides: encrypted data cannot be compared, and would always differ.
    if ENCRYPTED in (old.get("data"), old.get("stringData")):
        old, new = ({**data, "data": None, "stringData": None} for data in (old, new))
    return not any(_counts(difference, left_alone) for difference in differences(old, new))


def _is_live(stored: StoredResource, wanted: Mapping[str, Any] | None) -> bool:
    """Return whether an object was, when the provider read it last, as it is wanted; what is
    defaulted is left out.
    """
    live, new = (
        {**_unstamped(data), "data": None, "stringData": None}
        for data in (stored.outputs, wanted or {})
    )
    return not any(
        difference.new is not None and _counts(difference, ())
        for difference in differences(live, new)
    )


def _counts(difference: Difference, left_alone: Sequence[str]) -> bool:
    """Return whether a difference is one of content, not of form, or of what the state hides."""
    # API servers drop empty fields, and the state then has none.
    formal = difference.old is None and difference.new in ("", {}, [])
    return not (
        formal
        or difference.old == ENCRYPTED
        or difference.field in left_alone
        or amounts_alike(difference)
    )


def _unstamped(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object without the annotations that it gets on its way, and without an empty map of
    them.
    """
    metadata = data.get("metadata") or {}
    kept = {
        k: value
        for k, value in (metadata.get("annotations") or {}).items()
        if not k.startswith(_STAMPS)
    }
    return {**data, "metadata": {**metadata, "annotations": kept or None}}


_STAMPS = ("fleet-components/", "pulumi.com/")


def _generation(outputs: Mapping[str, Any]) -> int:
    metadata = outputs.get("metadata")
    generation = metadata.get("generation") if isinstance(metadata, Mapping) else None
    return int(generation) if isinstance(generation, (int, float)) else 0


def _status(outputs: Mapping[str, Any]) -> Mapping[str, Any] | None:
    status = outputs.get("status")
    return status if isinstance(status, Mapping) else None
