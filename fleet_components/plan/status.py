"""Check the status of a member as written.

An API server accepts any status from users who may write it; here it is read, so its types and
fields are checked.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.admission import KINDS
from fleet_components.admission.schema import Schema, struct
from fleet_components.admission.structure import check, filled, unknown_fields
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem


def misread(member: Manifest) -> list[Problem]:
    """Return problems of values in a status that cannot be read: wrong types and missing values."""
    schema = _schema(member)
    return [
        member.problem(it.message(), it.path, it.hint)
        for it in check(schema, filled(schema, _written(member)))
    ]


def unread(member: Manifest) -> Iterator[Problem]:
    """Yield warnings of unknown fields in a status, most likely misspelt."""
    for finding in unknown_fields(_schema(member), _written(member)):
        yield member.problem(
            Message("no-effect", "{what}: it has no effect", what=finding.what),
            finding.path,
            finding.hint,
        )


def _written(member: Manifest) -> dict[str, object]:
    return {"status": member.data["status"]} if "status" in member.data else {}


def _schema(member: Manifest) -> Schema:
    kind = KINDS[member.api_version, member.kind]
    return struct({"status": kind.status} if kind.status else {})
