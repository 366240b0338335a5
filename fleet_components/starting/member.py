"""The members of a new fleet, as they are given by hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import attrs

from fleet_components.model.labels import key_errors, label_errors, value_errors
from fleet_components.model.problem import FleetError, Problem

LONGEST = {"kubefleet": 63, "karmada": 48}
"""Largest number of characters of a member's name, by system: that of a DNS label, and what Karmada's webhook takes."""
_FORM = "--member NAME or --member NAME:label=value,label=value"


@attrs.frozen
class NewMember:
    """A member to be written.

    Attributes:
        name: its name, a DNS label.
        labels: its labels.
        kubeconfig: the file that reaches it; None for a member that was given by hand.
        context: the context of that file.
        current: whether the file is used with that context where none is chosen.
    """

    name: str
    labels: Mapping[str, str] = attrs.field(factory=dict)
    kubeconfig: Path | None = None
    context: str = ""
    current: bool = False


def by_hand(given: Iterable[str], system: str) -> list[NewMember]:
    """Return the members that the texts NAME:label=value,... describe.

    Raises:
        FleetError: a name or a label is not one of Kubernetes.
    """
    problems: list[Problem] = []
    members = [_member(text, system, problems) for text in given]
    if problems:
        raise FleetError(problems)
    return members


def twice(members: Iterable[NewMember]) -> Iterator[Problem]:
    """Yield a problem for each name that several members have."""
    seen: set[str] = set()
    for member in members:
        if member.name in seen:
            yield Problem(f'there are two members "{member.name}"', hint="give each a name of its own")
        seen.add(member.name)


def usable_name(text: str, longest: int) -> str:
    """Return the name that is nearest to a text; ``member`` where no character of it can stay."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return plain[:longest].strip("-") or "member"


def _member(text: str, system: str, problems: list[Problem]) -> NewMember:
    name, colon, labels = text.partition(":")
    longest = LONGEST[system]
    if label_errors(name) or len(name) > longest:
        what = f'"{name}" cannot be the name of a member: lower case letters, digits and -, at most {longest} of them'
        hint = f"write {usable_name(name, longest)}" if name else _FORM
        problems.append(Problem(what, hint=hint))
    return NewMember(name, dict(_labels(name, labels, problems)) if colon else {})


def _labels(name: str, text: str, problems: list[Problem]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for label in text.split(","):
        key, equals, value = label.partition("=")
        wrong = [*key_errors(key), *value_errors(value)] if equals else ["it is not label=value"]
        wrong += ["it is there twice"] if key in seen else []
        seen.add(key)
        problems += [Problem(f'label "{label}": {item}', subject=f"member {name}", hint=_FORM) for item in wrong]
        yield key, value
