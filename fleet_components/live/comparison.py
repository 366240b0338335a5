"""Comparison of an object that is wanted with what a member has.

The API server itself says what would stand if the object were applied, so that its defaults are no
difference. Source: ``drift_detection_takeover.go`` and ``utils.go`` in
``pkg/controllers/workapplier`` of KubeFleet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from http import client as http
from itertools import islice
from typing import Any

import attrs

from fleet_components.content.difference import Difference, differences
from fleet_components.content.replacement import as_sent
from fleet_components.content.secret import PUBLIC, is_secret, secret_fields
from fleet_components.live.connection import Connection, Leftover, UnexpectedAnswer
from fleet_components.live.managed import is_managed
from fleet_components.model.observed import FieldDifference

MOST_DIFFERENCES = 100
WHOLE = FieldDifference("/", "(the whole object)")
REDACTED = "(redacted for security reasons)"
_OWN = (
    "fleet-components/",
    "pulumi.com/",
    "deployment.kubernetes.io/revision",
    "kubectl.kubernetes.io/last-applied",
)
_NOT_COMPARED = (
    *(
        "name",
        "namespace",
        "generateName",
        "uid",
        "resourceVersion",
        "generation",
        "selfLink",
        "managedFields",
    ),
    *(
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "finalizers",
        "ownerReferences",
    ),
)
"""Metadata that identify an object, or that an API server and controllers keep: KubeFleet compares
none of them.
"""
_NAME_OF_NAMESPACE = "kubernetes.io/metadata.name"
"""A label that API servers set."""
# With "-compared" the name stays below the shortest limit of a name, the 52 characters of a
# CronJob.
_LONGEST_NAME = 40


@attrs.frozen
class LiveComparison:
    """An object on a member, beside what is wanted.

    Attributes:
        there: the object as the member has it; None if it has none.
        fields: the fields that differ.
        degraded: True if the API server would not take the object, so that only what is sent was
            compared.
        refused: what the API server says to the object; empty if it takes it.
    """

    there: Mapping[str, Any] | None = attrs.field(repr=False)
    fields: tuple[FieldDifference, ...] = ()
    degraded: bool = False
    refused: str = ""


def compare(
    member: Connection,
    wanted: Mapping[str, Any],
    *,
    manager: str,
    full: bool = False,
    force: bool = True,
) -> LiveComparison:
    """Compare an object with what a member has.

    Args:
        member: the connection to the member.
        wanted: the object as it is sent.
        manager: the field manager that sends it.
        full: True to compare what others have added, too.
        force: False to be refused where others have set a field otherwise.

    Raises:
        TimeoutError: the deadline has passed.
        UnexpectedAnswer: the member does not let the object be read.
    """
    sent = {key: value for key, value in as_sent(wanted).items() if value is not None}
    there = member.get(Leftover.like(sent))
    try:
        applied = member.try_out(sent, manager=manager, force=force)
    except UnexpectedAnswer as error:
        if error.code == http.CONFLICT and not force:
            # Fields that others have set: a trial that overwrites them shows which ones, and their
            # values.
            forced = compare(member, wanted, manager=manager, full=full)
            return attrs.evolve(forced, refused=forced.refused or error.words(sent))
        if there is None:
            return LiveComparison(None, (WHOLE,), refused=error.words(sent))
        # Only a refusal of the content leaves something to compare; other errors concern the
        # request.
        degraded = error.code == http.UNPROCESSABLE_ENTITY
        # Fields that the API server has added cannot be distinguished from those of others.
        fields = (
            (
                difference
                for difference in field_differences(sent, there)
                if difference.wanted is not None
            )
            if degraded
            else ()
        )
        return LiveComparison(there, tuple(fields), degraded, error.words(sent))
    if there is None:
        return LiveComparison(None, (WHOLE,))
    changed = tuple(field_differences(applied, there))
    if not full:
        return LiveComparison(there, changed)
    defaulted = _defaulted(member, sent, manager)
    added = field_differences(defaulted, there, managed=True) if defaulted else ()
    return LiveComparison(
        there,
        tuple(sorted({*changed, *added}, key=_place))[:MOST_DIFFERENCES],
        degraded=not defaulted,
    )


def _defaulted(
    member: Connection, sent: Mapping[str, Any], manager: str
) -> Mapping[str, Any] | None:
    """Return the object with the defaults of the API server; None if a trial does not show them.

    The trial is of another object: a trial of this one would also show what others have added.
    """
    other = {
        **sent,
        "metadata": {
            **sent["metadata"],
            "name": f"{sent['metadata']['name'][:_LONGEST_NAME]}-compared",
        },
    }
    made: Mapping[str, Any] | None = None
    with suppress(UnexpectedAnswer):
        made = member.try_out(other, manager=manager, force=True, create=True)
    return made


def field_differences(
    wanted: Mapping[str, Any], there: Mapping[str, Any], *, managed: bool = False
) -> Iterator[FieldDifference]:
    """Yield the first fields that differ, without what an API server keeps for itself.

    Args:
        wanted: the object as it is wanted.
        there: the object as a member has it.
        managed: True to leave out the fields that nobody manages on the member.
    """
    hidden = secret_fields(wanted) | secret_fields(there)
    if is_secret(wanted):  # a member may call it otherwise
        hidden |= there.keys() - set(PUBLIC)
    found = differences(_compared(wanted), _compared(there))
    if managed:
        found = (difference for difference in found if is_managed(there, difference.path))
    yield from (
        _shown(difference, difference.path[:1] and difference.path[0] in hidden)
        for difference in islice(found, MOST_DIFFERENCES)
    )


def _place(field_difference: FieldDifference) -> list[tuple[int, str]]:
    """Return the order of a field: by the steps of its path, numbers by their value."""
    return [
        (int(step), "") if step.isdecimal() else (-1, step)
        for step in field_difference.path.split("/")
    ]


def _shown(difference: Difference, secret: Any) -> FieldDifference:
    # A JSON pointer, as in the reports of KubeFleet.
    path = "/" + "/".join(
        str(step).replace("~", "~0").replace("/", "~1") for step in difference.path
    )
    values = (
        None if value is None else REDACTED if secret else as_go_prints(value)
        for value in (difference.old, difference.new)
    )
    return FieldDifference(path, *values)


def _compared(data: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = {key: value for key, value in data["metadata"].items() if key not in _NOT_COMPARED}
    notes = {
        key: text
        for key, text in (metadata.get("annotations") or {}).items()
        if not key.startswith(_OWN)
    }
    # Empty maps rather than none: each key is a difference of its own, as KubeFleet reports them.
    labels = {
        key: text
        for key, text in (metadata.get("labels") or {}).items()
        if key != _NAME_OF_NAMESPACE
    }
    metadata |= {"annotations": notes, "labels": labels}
    return {**{key: value for key, value in data.items() if key != "status"}, "metadata": metadata}


def as_go_prints(value: Any) -> str:
    """Return a value as Go's ``fmt.Sprint`` writes it, which the API's texts have."""
    match value:
        case bool():
            return str(value).lower()
        case Mapping():
            pairs = (f"{key}:{as_go_prints(item)}" for key, item in sorted(value.items()))
            return f"map[{' '.join(pairs)}]"
        case list() | tuple():
            return f"[{' '.join(map(as_go_prints, value))}]"
        case None:
            return "<nil>"
    return f"{value:g}" if isinstance(value, float) else str(value)
