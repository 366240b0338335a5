"""Warn of amounts on members that are not quantities and that no policy has asked for yet.

The first policy that asks for such an amount fails on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.quantity import is_quantity
from fleet_components.model.text import few

_PLAIN = re.compile(r"[0-9]+(\.[0-9]+)?([numkMGTPE]|[KMGTPE]i)?")
"""Pattern of nearly all quantities, for speed; only other texts are parsed."""
_ALMOST = re.compile(r"\s*[+-]?[0-9]+([.,][0-9]+)?\s*[A-Za-z%]*\s*")
"""A number, perhaps with a unit: intended as an amount, whatever the property."""
_REPORTED = ("kubernetes-fleet.io/node-count", "kubernetes.azure.com/")
"""Prefixes of properties that property providers report; all of these are amounts."""
_HINT = 'write a quantity, such as "0.05" or 16Gi: the first policy that asks for it fails on it'
Texts = Iterator[tuple[FieldPath, str]]


def no_quantities(members: Sequence[Cluster], declarations: Mapping[str, Manifest]) -> Iterator[Problem]:
    """Yield a problem for each field that is not a quantity on some members.

    Resources must be quantities. A property may have any value; it counts as an amount if it looks like one, if it is
    one on another member, or if property providers report only amounts under its name.

    Args:
        members: the members.
        declarations: manifests of the members, by name, for locations; members made in a program are not among them.
    """
    for path, texts in _wrong(members, _usage).items():
        yield _problem(path, texts, declarations)
    for path, texts in _wrong(members, _properties).items():
        name = str(path[-1])
        others = (text for member in members if (text := member.properties.get(name)) is not None)
        almost = any(map(_ALMOST.fullmatch, texts.values()))
        if almost or name.startswith(_REPORTED) or any(map(is_quantity, others)):
            yield _problem(path, texts, declarations)


def _wrong(members: Sequence[Cluster], texts: Callable[[Cluster], Texts]) -> dict[FieldPath, dict[str, str]]:
    """Return, by field, the members on which it is not a quantity, with its value there."""
    found: dict[FieldPath, dict[str, str]] = {}
    for member in members:
        for path, text in texts(member):
            if not _PLAIN.fullmatch(text) and not is_quantity(text):
                found.setdefault(path, {})[member.name] = text
    return found


def _usage(member: Cluster) -> Texts:
    """Yield a member's resources as KubeFleet or Karmada has them; values derived from the other's are left out."""
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
    """Return the problem, located at the first member; the others are named."""
    first, *others = texts
    what = f'"{texts[first]}" is not a quantity' + (f", nor is that of {few(others)}" if others else "")
    if first in declarations:
        return declarations[first].problem(what, path, _HINT)
    return Problem(what, path[1:], _HINT, f"member {first}")
