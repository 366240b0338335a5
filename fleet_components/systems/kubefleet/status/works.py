"""Objects of a placement on one member: what KubeFleet's agent and its hub would say of them.

Source: ``pkg/controllers/workgenerator`` and ``pkg/controllers/workapplier`` of KubeFleet 0.3.1. A
hub sends the objects of a placement in one work, and those of each envelope in one of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.envelope import is_envelope, unwrap
from fleet_components.model.decision import Condition
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.observed import FieldDifference, ObservedMember, ObservedObject
from fleet_components.model.release import Release
from fleet_components.plan.record import Objects
from fleet_components.systems.kubefleet.model.release import RELEASE, Rule
from fleet_components.systems.kubefleet.status.conditions import (
    APPLIED,
    AVAILABLE,
    DIFF_REPORTED,
    FALSE,
    TRUE,
)

_LIMIT = 100
"""The most objects that are listed, and the most fields of each."""
_UNAVAILABLE = "Manifest is not yet available; Fleet will check again later"
_DRIFTS = (
    "cannot apply manifest: drifts are found between the manifest and the object from the member"
    " cluster"
)
_REASONS: Mapping[str, str] = {
    "FoundDrifts": _DRIFTS,
    "FoundDriftsInDegradedMode": _DRIFTS,
    "FailedToTakeOver": (
        "cannot take over object: configuration differences are found between the manifest object "
        "and the corresponding object in the member cluster"
    ),
    "NotTakenOver": "no ownership of the object in the member cluster; takeover is needed",
}
_STANDING_IN_THE_WAY = ("FailedToTakeOver", "NotTakenOver")


@attrs.frozen
class Work:
    """Objects that a hub sends together.

    Attributes:
        name: its name.
        objects: what is known of its objects, in their order.
        envelope: the envelope that holds them; None if they are selected themselves.
    """

    name: str
    objects: tuple[ObservedObject, ...]
    envelope: Manifest | None = None


def works_of(
    placement: str, objects: Objects, observed: ObservedMember, release: Release = RELEASE
) -> tuple[Work, ...]:
    """Return the works of a placement on a member.

    Args:
        placement: the placement, as ``name`` or ``namespace/name``.
        objects: the objects that were sent to the member, envelopes as they are; empty if that is
            unknown.
        observed: what is known of them.
        release: the release of KubeFleet, which names the works of envelopes.
    """
    name = f"{placement.replace('/', '.')}-work"
    if not objects:
        # Which objects are in envelopes is unknown, so all of them count as selected themselves.
        return (Work(name, tuple(observed.objects.values())),)
    manifests = [Manifest(data) for data in objects]
    plain = (manifest for manifest in manifests if not is_envelope(manifest))
    return (
        Work(name, _known(plain, observed)),
        *(
            Work(f"{name}-envelope-{_end(item, release)}", _known(unwrap(item), observed), item)
            for item in manifests
            if is_envelope(item)
        ),
    )


def _end(envelope: Manifest, release: Release) -> str:
    """Return the end of the name of an envelope's work.

    Without a hash it is drawn, and unknown: the name of the envelope stands in its place.

    Source: ``envelopeWorkNameSuffix`` in ``pkg/controllers/workgenerator/envelope.go``.
    """
    if not release.has(Rule.WORK_NAMES_HASHED):
        return envelope.name
    identity = f"{envelope.kind}/{envelope.namespace}/{envelope.name}"
    return hashlib.sha256(identity.encode()).digest()[:8].hex()


def _known(manifests: Iterable[Manifest], observed: ObservedMember) -> tuple[ObservedObject, ...]:
    # What was known of a member that is not reached may be out of date.
    known: Mapping[ObjectKey, ObservedObject] = {} if observed.unreached else observed.objects
    return tuple(
        known.get(manifest.key) or ObservedObject(manifest.key, manifest.api_version)
        for manifest in manifests
    )


def written(works: Sequence[Work]) -> tuple[list[Condition], dict[str, Any]]:
    """Return the conditions ``Applied`` and ``Available`` of a member, and the lists of what has
    failed or drifted.
    """
    # From the worst case to the best: the first that concerns any object decides.
    drifted = list(_drifted(works))
    # The engine ends with what fails, and what comes after it is not tried: an agent tries all.
    work = _first(works, lambda observed: observed.applied not in ("", "Applied"))
    if work:
        failed = {
            "failedPlacements": _cut(_failed(works)),
            "diffedPlacements": _cut(_in_the_way(works)),
        }
        return [_not_applied(f"{work.name} has failed to apply")], {
            **failed,
            "driftedPlacements": _cut(drifted),
        }
    work = _first(works, lambda observed: not observed.applied)
    if work:
        return [_not_applied(f"{work.name} has not yet completed the apply op")], {}
    applied = Condition(
        APPLIED, TRUE, "AllWorkHaveBeenApplied", "All corresponding work objects are applied"
    )
    details = {"driftedPlacements": _cut(drifted)}
    work = _first(works, lambda observed: not observed.available)
    if work:
        return [
            applied,
            _unavailable(f"{work.name} has not yet completed availability check"),
        ], details
    work = _first(works, lambda observed: observed.available == "ManifestNotAvailableYet")
    if work:
        details = {"failedPlacements": _cut(_failed(works)), **details}
        return [applied, _unavailable(f"{work.name} is not yet available")], details
    work = _first(works, lambda observed: observed.available == "NotTrackable")
    if work:
        message = f"The availability of work object {work.name} is not trackable"
        return [
            applied,
            Condition(AVAILABLE, TRUE, "NotAllWorkAreAvailabilityTrackable", message),
        ], details
    available = Condition(
        AVAILABLE, TRUE, "AllWorkAreAvailable", "All corresponding work objects are available"
    )
    return [applied, available], details


def compared(works: Sequence[Work]) -> tuple[list[Condition], dict[str, Any]]:
    """Return the condition ``DiffReported`` of a member, and the list of what differs."""
    work = _first(works, lambda observed: not observed.compared)
    if work:
        return [_not_reported(f"{work.name} has not yet completed diff reporting")], {}
    # What was compared in degraded mode does not count as reported, as on a hub.
    work = _first(works, lambda observed: observed.compared not in ("NoDiffFound", "FoundDiff"))
    if work:
        return [_not_reported(f"{work.name} has failed to report diff")], {}
    message = "All corresponding work objects have reported diff"
    reported = Condition(DIFF_REPORTED, TRUE, "AllWorkHaveDiffReported", message)
    return [reported], {"diffedPlacements": _cut(_differing(works))}


def identifier(manifest: Manifest) -> dict[str, str]:
    """Return what names an object in a status."""
    return _identifier(manifest.key, manifest.version)


def _identifier(key: ObjectKey, version: str) -> dict[str, str]:
    fields = {
        "group": key.group,
        "version": version,
        "kind": key.kind,
        "namespace": key.namespace,
        "name": key.name,
    }
    return {field: value for field, value in fields.items() if value}


def _of(work: Work, found: ObservedObject) -> dict[str, Any]:
    named: dict[str, Any] = _identifier(found.key, found.api_version.rpartition("/")[2])
    if work.envelope is None:
        return named
    place = {"namespace": work.envelope.namespace} if work.envelope.namespace else {}
    return {**named, "envelope": {"name": work.envelope.name, **place, "type": work.envelope.kind}}


def _first(works: Iterable[Work], test: Callable[[ObservedObject], bool]) -> Work | None:
    return next((work for work in works if any(map(test, work.objects))), None)


def _all(works: Iterable[Work]) -> Iterator[tuple[Work, ObservedObject]]:
    return ((work, item) for work in works for item in work.objects)


def _failed(works: Iterable[Work]) -> Iterator[dict[str, Any]]:
    """Yield the objects that were not written, or are not available, each with its condition."""
    for work, observed in _all(works):
        generation = {"observedGeneration": observed.generation} if observed.generation else {}
        if observed.applied not in ("", "Applied"):
            message = f"Failed to apply the manifest (error: {_error(observed)})"
            yield {
                **_of(work, observed),
                "condition": _condition(APPLIED, observed.applied, message, generation),
            }
        elif observed.available == "ManifestNotAvailableYet":
            yield {
                **_of(work, observed),
                "condition": _condition(AVAILABLE, observed.available, _UNAVAILABLE, generation),
            }


def _condition(
    name: str, reason: str, message: str, generation: Mapping[str, int]
) -> dict[str, Any]:
    return {"type": name, "status": FALSE, **generation, "reason": reason, "message": message}


def _error(found: ObservedObject) -> str:
    """Return why an object was not written, as the agent says it."""
    if found.applied == "ManifestApplyFailed":
        return f"failed to apply the manifest: {found.error}"
    return found.error or _REASONS.get(found.applied, "")


def _drifted(works: Iterable[Work]) -> Iterator[dict[str, Any]]:
    """Yield the objects that somebody has changed since they were written."""
    for work, observed in _all(works):
        # With one of these reasons, the differences are why the object was not written, and no
        # drift.
        if observed.differences and observed.applied not in _STANDING_IN_THE_WAY:
            yield {
                **_of(work, observed),
                **_generation(observed),
                "observedDrifts": _fields(observed.differences),
            }


def _in_the_way(works: Iterable[Work]) -> Iterator[dict[str, Any]]:
    """Yield the objects that are not taken over because they differ."""
    return (
        {
            **_of(work, observed),
            **_generation(observed),
            "observedDiffs": _fields(observed.differences),
        }
        for work, observed in _all(works)
        if observed.differences and observed.applied in _STANDING_IN_THE_WAY
    )


def _differing(works: Iterable[Work]) -> Iterator[dict[str, Any]]:
    """Yield the objects that differ from what they would be, where nothing is written."""
    for work, observed in _all(works):
        if observed.differences:
            # The difference of an object that is missing is the object as a whole.
            missing = observed.differences[0].path == "/"
            place = {} if missing else _generation(observed)
            yield {**_of(work, observed), **place, "observedDiffs": _fields(observed.differences)}


def _generation(found: ObservedObject) -> dict[str, int]:
    return {"targetClusterObservedGeneration": found.generation}


def _fields(differences: Iterable[FieldDifference]) -> list[dict[str, str]]:
    return _cut(
        {
            "path": difference.path,
            **({"valueInMember": difference.there} if difference.there is not None else {}),
            **({"valueInHub": difference.wanted} if difference.wanted is not None else {}),
        }
        for difference in differences
    )


def _cut(found: Iterable[Any]) -> list[Any]:
    return list(found)[:_LIMIT]


def _not_applied(what: str) -> Condition:
    return Condition(APPLIED, FALSE, "NotAllWorkHaveBeenApplied", f"Work object {what}")


def _unavailable(what: str) -> Condition:
    return Condition(AVAILABLE, FALSE, "NotAllWorkAreAvailable", f"Work object {what}")


def _not_reported(what: str) -> Condition:
    return Condition(DIFF_REPORTED, FALSE, "NotAllWorkHaveDiffReported", f"Work object {what}")
