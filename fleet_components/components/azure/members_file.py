"""Members from a YAML file; see :mod:`fleet_components.model.azure.member_list` for its form."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from fleet_components.content.load import load
from fleet_components.model.azure.member import FleetMember
from fleet_components.model.azure.member_list import API_VERSION, KIND, read_member_list
from fleet_components.model.azure.vm_size import SizeTable
from fleet_components.model.problem import FleetError, Problem


def read_members(path: str | Path, table: SizeTable) -> tuple[FleetMember, ...]:
    """The members of every object of kind ``Members`` in a file or directory; other objects are passed over.

    Raises:
        FleetError: there is no such object, or something in one is wrong; with file and line.
    """
    lists = [manifest for manifest in load(path) if manifest.kind == KIND and manifest.api_version == API_VERSION]
    if not lists:
        hint = f"apiVersion: {API_VERSION}, kind: {KIND}"
        raise FleetError([Problem("there is no list of members", hint=hint, file=str(path))])
    members: list[FleetMember] = []
    problems: list[Problem] = []
    for manifest in lists:
        try:
            members += read_member_list(manifest, table)
        except FleetError as error:
            problems += error.problems
    counts = Counter(member.name for member in members)
    twice = [name for name, count in counts.items() if count > 1]
    problems += [Problem(f'the member "{name}" is declared twice', file=str(path)) for name in twice]
    if problems:
        raise FleetError(problems)
    return tuple(members)
