"""Amounts of members that are none, and that no policy has asked for yet: the first one that does will fail on them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.quantity import is_quantity
from fleet_components.model.text import few

_PLAIN = re.compile(r"[0-9]+(\.[0-9]+)?([numkMGTPE]|[KMGTPE]i)?")
"""What nearly all amounts look like; only the others are parsed."""
_ALMOST = re.compile(r"\s*[+-]?[0-9]+([.,][0-9]+)?\s*[A-Za-z%]*\s*")
"""A number, perhaps with a unit: meant as an amount, whatever the property."""
_REPORTED = ("kubernetes-fleet.io/node-count", "kubernetes.azure.com/")
"""How the properties begin that property providers report: amounts, all of them."""
_HINT = 'write a quantity, such as "0.05" or 16Gi: the first policy that asks for it fails on it'
Texts = Iterator[tuple[FieldPath, str]]


def no_quantities(members: Sequence[Cluster], declarations: Mapping[str, Manifest]) -> Iterator[Problem]:
    """A problem for each field that is no quantity on some members.

    Resources are nothing but quantities. A property may say anything: it is taken for an amount where it looks like
    one, where it is one on another member, and where property providers report nothing else.

    Args:
        members: the members.
        declarations: as they are written, by name; those made in a program are not among them.
    """
    for path, texts in _wrong(members, _usage).items():
        yield _problem(path, texts, declarations)
    for path, texts in _wrong(members, _properties).items():
        name = str(path[-1])
        others = (text for one in members if (text := one.properties.get(name)) is not None)
        almost = any(map(_ALMOST.fullmatch, texts.values()))
        if almost or name.startswith(_REPORTED) or any(map(is_quantity, others)):
            yield _problem(path, texts, declarations)


def _wrong(members: Sequence[Cluster], texts: Callable[[Cluster], Texts]) -> dict[FieldPath, dict[str, str]]:
    """By field: the members on which it is no quantity, with what it says there."""
    found: dict[FieldPath, dict[str, str]] = {}
    for member in members:
        for path, text in texts(member):
            if not _PLAIN.fullmatch(text) and not is_quantity(text):
                found.setdefault(path, {})[member.name] = text
    return found


def _usage(member: Cluster) -> Texts:
    """Its resources, as KubeFleet or as Karmada has them; what is derived of the one for the other is left out."""
    usage, summary = member.usage, member.resource_summary
    given = {"capacity": usage.capacity, "allocatable": usage.allocatable, "available": usage.available}
    yield from _amounts("resourceUsage", given)
    if summary and not any(given.values()):
        fields = {"allocatable": summary.allocatable, "allocated": summary.allocated, "allocating": summary.allocating}
        yield from _amounts("resourceSummary", fields)
    for index, model in enumerate(member.resource_models or ()):
        yield from ((("spec", "resourceModels", index, "ranges"), text) for text in model.minimum.values())


def _amounts(holder: str, fields: Mapping[str, Mapping[str, str]]) -> Texts:
    for field, amounts in fields.items():
        for resource, text in amounts.items():
            yield ("status", holder, field, resource), text


def _properties(member: Cluster) -> Texts:
    return ((("status", "properties", name), text) for name, text in member.properties.items())


def _problem(path: FieldPath, texts: Mapping[str, str], declarations: Mapping[str, Manifest]) -> Problem:
    """Where the first of the members says so; the others are named."""
    first, *others = texts
    what = f'"{texts[first]}" is no quantity' + (f", nor is that of {few(others)}" if others else "")
    if first in declarations:
        return declarations[first].problem(what, path, _HINT)
    return Problem(what, path[1:], _HINT, f"member {first}")
