"""Validation that several declarations share: choices, ranges, duplicates, labels, taints,
networks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network

from fleet_components.model.cluster import Taint
from fleet_components.model.labels import key_errors, value_errors
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem

LONGEST_ROLE_WAIT = 60
"""Minutes after which a role assignment has reached, whatever else is wrong."""

_MOST_TAGS = 50
_LONGEST_TAG_NAME, _LONGEST_TAG_VALUE = 512, 256
_NOT_IN_TAG_NAMES = r"<>%&\?/"
_RESERVED_TAGS = ("microsoft", "azure", "windows")
RESERVED_NETWORKS = tuple(
    map(IPv4Network, ("169.254.0.0/16", "172.30.0.0/16", "172.31.0.0/16", "192.0.2.0/24"))
)
"""Ranges that AKS keeps for itself (Microsoft, "CNI networking in AKS", on prerequisites,
2026-08).
"""


def choice_of(value: str, choices: Iterable[str], path: FieldPath) -> Iterator[Problem]:
    """Yield a problem if the value is not one of the choices."""
    # May be an iterator, and is read twice.
    choices = tuple(choices)
    if value not in choices:
        yield Problem(
            Message("not-known-here", '"{value}" is not known here', value=value),
            path,
            f"one of {', '.join(choices)}",
        )


def in_range(value: int | None, low: int, high: int, path: FieldPath) -> Iterator[Problem]:
    """Yield a problem if the number is given and not between ``low`` and ``high``, both
    included.
    """
    if value is not None and not low <= value <= high:
        yield Problem(
            Message("out-range", "{value} is out of range", value=value), path, f"{low} to {high}"
        )


def role_wait(minutes: int, path: FieldPath) -> Iterator[Problem]:
    """Yield a problem if new roles cannot be waited for so long."""
    if not 0 <= minutes <= LONGEST_ROLE_WAIT:
        yield Problem(
            Message("minutes-out-of-range", "{minutes} minutes", minutes=minutes),
            path,
            f"0 to {LONGEST_ROLE_WAIT}",
        )


def unique(
    names: Iterable[str], what: str, path: FieldPath, field: str = "name"
) -> Iterator[Problem]:
    """Yield a problem for each name that occurs more than once."""
    seen: set[str] = set()
    for position, name in enumerate(names):
        if name in seen:
            yield Problem(
                Message(
                    "declared-twice", 'the {what} "{name}" is declared twice', what=what, name=name
                ),
                (*path, position, field),
                "give each its own name",
            )
        seen.add(name)


def labels(
    values: Mapping[str, str], reserved: Iterable[str], path: FieldPath
) -> Iterator[Problem]:
    """Yield problems for invalid Kubernetes label keys and values, and for keys with a reserved
    prefix.
    """
    for key, value in values.items():
        prefix = next((prefix for prefix in reserved if key.startswith(prefix)), None)
        if prefix:
            yield Problem(
                Message(
                    "labels-begin-set-azure",
                    'labels that begin with "{prefix}" are set by Azure',
                    prefix=prefix,
                ),
                (*path, key),
                "leave it out",
            )
        yield from (
            Problem(
                Message(
                    "not-label-key", '"{key}" is not a label key: {error}', key=key, error=error
                ),
                (*path, key),
            )
            for error in key_errors(key)
        )
        yield from (
            Problem(
                Message(
                    "not-label-value",
                    '"{value}" is not a label value: {error}',
                    value=value,
                    error=error,
                ),
                (*path, key),
            )
            for error in value_errors(value)
        )


def taints(values: Iterable[Taint], effects: Iterable[str], path: FieldPath) -> Iterator[Problem]:
    """Yield problems for invalid taint keys, values and effects, and for repeated pairs of key and
    effect.
    """
    # May be an iterator, and is read twice.
    values = tuple(values)
    for position, taint in enumerate(values):
        at = (*path, position)
        yield from (
            Problem(
                Message(
                    "not-taint-key",
                    '"{key}" is not a taint key: {error}',
                    key=taint.key,
                    error=error,
                ),
                (*at, "key"),
            )
            for error in key_errors(taint.key)
        )
        yield from (
            Problem(
                Message(
                    "not-taint-value",
                    '"{value}" is not a taint value: {error}',
                    value=taint.value,
                    error=error,
                ),
                (*at, "value"),
            )
            for error in value_errors(taint.value)
        )
        yield from choice_of(taint.effect, effects, (*at, "effect"))
    yield from unique((f"{taint.key}:{taint.effect}" for taint in values), "taint", path, "key")


def tags(values: Mapping[str, str], path: FieldPath) -> Iterator[Problem]:
    """Yield problems for Azure tags.

    Source: "Use tags to organize your Azure resources", section on limitations (Microsoft), and the
    reference of ``Tags_CreateOrUpdate`` for reserved prefixes. Names are compared without case
    ("Use Azure tags in AKS").
    """
    if len(values) > _MOST_TAGS:
        yield Problem(
            Message("too-many-tags", "{values} tags", values=len(values)),
            path,
            f"{_MOST_TAGS} at most",
        )
    spelled: dict[str, str] = {}
    for name, value in values.items():
        at = (*path, name)
        if not 1 <= len(name) <= _LONGEST_TAG_NAME:
            yield Problem(
                Message(
                    "name-tag-characters", "the name of a tag has {name} characters", name=len(name)
                ),
                at,
                f"1 to {_LONGEST_TAG_NAME}",
            )
        if len(value) > _LONGEST_TAG_VALUE:
            yield Problem(
                Message("value-characters", "its value has {value} characters", value=len(value)),
                at,
                f"{_LONGEST_TAG_VALUE} at most",
            )
        wrong = sorted(set(name) & {*_NOT_IN_TAG_NAMES})
        if wrong:
            yield Problem(
                Message(
                    "tag-s-name-no", "a tag's name has no {wrong}", wrong=" and no ".join(wrong)
                ),
                at,
                f"none of {_NOT_IN_TAG_NAMES}",
            )
        if name.lower().startswith(_RESERVED_TAGS):
            hint = f"no name begins with {', '.join(_RESERVED_TAGS)}"
            yield Problem(
                Message("names-begin-azure-s", "names that begin so are Azure's own"), at, hint
            )
        # The spelling that came first: the other one is reported.
        first = spelled.setdefault(name.lower(), name)
        if first != name:
            yield Problem(
                Message(
                    "azure-tag-one-two",
                    'for Azure it is the tag "{first}", and one of the two would be lost',
                    first=first,
                ),
                at,
                "keep one",
            )


def network(text: str) -> IPv4Network | None:
    """Parse an IPv4 range such as ``10.1.0.0/16``; None if it is invalid or has bits set beyond its
    prefix.
    """
    try:
        return IPv4Network(text)
    except ValueError:
        return None


def networks_apart(ranges: Mapping[str, str], path: FieldPath) -> Iterator[Problem]:
    """Yield problems for ranges that are not IPv4 networks or overlap. ``ranges`` are by field."""
    known = {field: network(text) for field, text in ranges.items()}
    for field, found in known.items():
        if found is None:
            yield Problem(
                Message("not-ipv4-range", '"{ranges}" is not an IPv4 range', ranges=ranges[field]),
                (*path, field),
                "for example 10.1.0.0/16",
            )
    # Each pair once: a range is compared with those before it.
    valid = [(field, found) for field, found in known.items() if found]
    for position, (field, found) in enumerate(valid):
        for other_field, other in valid[:position]:
            if found.overlaps(other):
                yield Problem(
                    Message(
                        "overlaps-of",
                        "{found} overlaps {other} of {other_field}",
                        found=found,
                        other=other,
                        other_field=other_field,
                    ),
                    (*path, field),
                    "give each its own range",
                )
