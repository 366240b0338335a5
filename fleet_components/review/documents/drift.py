"""Drift as a document: by member, every object that differs or could not be compared."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from fleet_components.review.documents.schema import VERSION
from fleet_components.review.planning.drift import Delivered, Drift
from fleet_components.review.planning.kubeconfigs import MemberName


@attrs.frozen
class DriftedField:
    """A field that somebody has changed; None where it is absent."""

    path: str
    delivered: str | None
    there: str | None


@attrs.frozen(kw_only=True)
class DriftedObject:
    """An object that differs, or could not be compared."""

    subject: str
    api_version: str
    kind: str
    namespace: str
    name: str
    missing: bool
    recorded: bool
    error: str | None
    then: str | None
    differences: Sequence[DriftedField]


@attrs.frozen
class DriftedMember:
    """Drift on a member, or the reason for which it has not answered."""

    fleet: str
    name: str
    unreached: str | None
    compared: int
    objects: Sequence[DriftedObject]


@attrs.frozen(kw_only=True)
class DriftTotals:
    """Numbers of members and objects."""

    members: int
    unreached: int
    objects: int
    compared: int
    unrecorded: int
    changed: int
    missing: int

    @property
    def uncompared(self) -> int:
        """The number of objects that could not be compared."""
        return self.objects - self.compared


@attrs.frozen
class DriftDocument:
    """The drift of a stack."""

    version: int
    state: str
    stack: str
    drifted: bool
    members: Sequence[DriftedMember]
    totals: DriftTotals


def drift_document(found: Drift) -> DriftDocument:
    """Return the document."""
    return DriftDocument(
        VERSION,
        found.state,
        found.stack,
        bool(found.drifted),
        [_member(found, name) for name in found.members],
        DriftTotals(
            members=len(found.members),
            unreached=len(found.unreached),
            objects=len(found.objects),
            compared=sum(not item.error for item in found.objects),
            unrecorded=len(found.unrecorded),
            changed=sum(not delivered.missing for delivered in found.drifted),
            missing=sum(delivered.missing for delivered in found.drifted),
        ),
    )


def _member(found: Drift, name: MemberName) -> DriftedMember:
    objects = [item for item in found.objects if item.member == name]
    # If the whole member does not answer, that is said once and not for each object.
    shown = [
        item for item in objects if item.differences or (item.error and name not in found.unreached)
    ]
    compared = sum(not item.error for item in objects)
    unreached = found.unreached.get(name)
    return DriftedMember(name.fleet, name.member, unreached, compared, [*map(_object, shown)])


def _object(delivered: Delivered) -> DriftedObject:
    key = delivered.standing.key
    # The difference of what is missing is the whole object.
    differences = () if delivered.missing else delivered.differences
    return DriftedObject(
        subject=delivered.standing.subject,
        api_version=delivered.standing.api_version,
        kind=key.kind,
        namespace=key.namespace,
        name=key.name,
        missing=delivered.missing,
        recorded=delivered.recorded,
        error=delivered.error or None,
        then=delivered.then or None,
        differences=[DriftedField(each.path, each.wanted, each.there) for each in differences],
    )
