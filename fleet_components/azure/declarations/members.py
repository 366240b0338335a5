"""Reads many members from one YAML object, with defaults for all of them and for each region.

::

    apiVersion: fleet-components/v1
    kind: Members
    metadata: {name: production}
    spec:
      defaults:
        resourceGroup: rg-fleet
        systemPool: {name: system, vmSize: Standard_D4s_v5, minCount: 3, maxCount: 6}
      regions:
        westeurope:
          labels: {geo: eu}
      members:
      - {name: weu-1, region: westeurope, group: canary}
      - {name: edge, region: westeurope, clusterId: /subscriptions/...}

A member's own fields override those of its region, which override the defaults, each as a whole: a
member that says something of ``autoscaler`` says everything of it. Only labels and tags are merged
key by key. A member with ``clusterId`` or ``kubeconfigFile`` is an existing cluster; any other one
is an AKS cluster to be created. Fields are those of :class:`AksMember` and :class:`JoinedMember`,
in camelCase.

For the whole fleet, ``existingResourceGroups`` lists resource groups that are not created, the
hub's included, and ``login`` says how kubeconfigs of members sign in, with the fields of
:class:`Login`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from fleet_components.azure.declarations.together import lists_among
from fleet_components.azure.values import names
from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.member import FleetMember, JoinedMember
from fleet_components.azure.values.together import clashes
from fleet_components.azure.values.vm_size import SizeTable
from fleet_components.model.codec import MisfitError
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.model.reader import fields_of, read, unknown_field

_SPEC = ("existingResourceGroups", "login", "defaults", "regions", "members")
_MERGED = ("labels", "tags")
_JOINED_BY = ("clusterId", "kubeconfigFile")
_DEFAULTABLE = tuple(dict.fromkeys((*fields_of(AksMember), *fields_of(JoinedMember))))


@attrs.frozen
class _Layer:
    """Fields from one location of the file, with the path of that location."""

    data: Mapping[str, Any]
    path: FieldPath


def read_member_list(manifest: Manifest, table: SizeTable) -> tuple[FleetMember, ...]:
    """Return the members of an object of kind ``Members``, in its order.

    Raises:
        FleetError: the object is invalid; carries all problems, with file and line.
    """
    problems = list(_shape_problems(manifest.data))
    # ``_members`` adds to the problems while it is read.
    members = [] if problems else list(_members(manifest.data["spec"], table, problems))
    if problems:
        # A problem of a shared field is reported by each member that has it.
        distinct = dict.fromkeys(problems)
        raise FleetError(
            manifest.problem(problem.message, ("spec", *problem.path), problem.advice)
            for problem in distinct
        )
    return tuple(members)


def read_member_lists(manifests: Iterable[Manifest], table: SizeTable) -> tuple[FleetMember, ...]:
    """Return the members of all ``Members`` objects among the manifests; other objects are ignored.

    Raises:
        FleetError: an object is invalid, a member is in two of them, or members cannot stand in one
            fleet.
    """
    members: dict[str, FleetMember] = {}
    places: list[tuple[Manifest, int, FleetMember]] = []
    problems: list[Problem] = []
    for manifest in lists_among(manifests):
        try:
            listed = read_member_list(manifest, table)
        except FleetError as error:
            problems += error.problems
            continue
        twice = [member.name for member in listed if member.name in members]
        problems += [
            manifest.problem(
                Message(
                    "member-another-list-too",
                    'the member "{name}" is in another list too',
                    name=name,
                ),
                ("spec",),
            )
            for name in twice
        ]
        members |= {member.name: member for member in listed}
        places += [(manifest, position, member) for position, member in enumerate(listed)]
    # A position counts across the members of all objects.
    for place, problem in clashes([member for _, _, member in places]):
        manifest, position, _ = places[place]
        problems.append(
            manifest.located(_placed(problem, _layers(manifest.data["spec"], position)), "spec")
        )
    if problems:
        raise FleetError(dict.fromkeys(problems))
    return tuple(members.values())


def existing_groups(manifests: Iterable[Manifest]) -> frozenset[str]:
    """Return the resource groups that are not created, from all ``Members`` objects; these must be
    valid.
    """
    lists = (
        manifest.data["spec"].get("existingResourceGroups", [])
        for manifest in lists_among(manifests)
    )
    return frozenset(group for groups in lists for group in groups)


def _members(
    spec: Mapping[str, Any], table: SizeTable, problems: list[Problem]
) -> Iterator[FleetMember]:
    seen: list[str] = []
    for position in range(len(spec["members"])):
        layers = _layers(spec, position)
        try:
            member = _member(layers)
        except MisfitError as misfit:
            problems += (_placed(problem, layers) for problem in misfit.problems)
            continue
        problems += (_placed(problem, layers) for problem in member.problems(table))
        if member.name in seen:
            hint = "give each its own name"
            problems.append(
                Problem(
                    Message(
                        "member-declared-twice",
                        'the member "{name}" is declared twice',
                        name=member.name,
                    ),
                    (*layers[0].path, "name"),
                    hint,
                )
            )
        seen.append(member.name)
        yield member


def _shape_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    spec = data.get("spec")
    if not isinstance(spec, Mapping) or not isinstance(spec.get("members"), list):
        yield Problem(
            Message("no-members", "there are no members"),
            ("members",),
            "a list of them; members: [] if there are none",
        )
        return
    yield from (unknown_field(name, _SPEC, ()) for name in spec if name not in _SPEC)
    yield from _group_problems(spec.get("existingResourceGroups", []))
    for path, fields, is_shared in _field_maps(spec):
        if not isinstance(fields, Mapping):
            yield Problem(
                Message("not-map-fields", "is not a map of fields"), path, "write field: value"
            )
        elif is_shared:
            yield from (
                unknown_field(name, _DEFAULTABLE, path)
                for name in fields
                if name not in _DEFAULTABLE
            )


def _group_problems(groups: Any) -> Iterator[Problem]:
    at = ("existingResourceGroups",)
    if not isinstance(groups, list):
        yield Problem(
            Message("not-list-resource-groups", "is not a list of resource groups"),
            at,
            "for example [rg-shop]",
        )
        return
    for position, group in enumerate(groups):
        if isinstance(group, str):
            yield from names.RESOURCE_GROUP.problems(group, (*at, position))
        else:
            yield Problem(
                Message("not-name-resource-group", "is not the name of a resource group"),
                (*at, position),
                "write it in quotes",
            )


def _field_maps(spec: Mapping[str, Any]) -> Iterator[tuple[FieldPath, Any, bool]]:
    """Yield each value that must be a map: its path, the value, and whether several members share
    its fields.
    """
    regions = spec.get("regions") or {}
    yield ("defaults",), spec.get("defaults") or {}, True
    yield ("regions",), regions, False
    if isinstance(regions, Mapping):
        yield from ((("regions", region), fields, True) for region, fields in regions.items())
    yield from (
        (("members", position), fields, False) for position, fields in enumerate(spec["members"])
    )


def _layers(spec: Mapping[str, Any], position: int) -> tuple[_Layer, ...]:
    member, defaults = spec["members"][position], spec.get("defaults") or {}
    # Without a region this is the text "None", which matches no region; reading the member reports
    # it.
    region = str(member.get("region") or defaults.get("region"))
    return (
        _Layer(member, ("members", position)),
        _Layer((spec.get("regions") or {}).get(region) or {}, ("regions", region)),
        _Layer(defaults, ("defaults",)),
    )


def _member(layers: tuple[_Layer, ...]) -> FleetMember:
    own, *shared = layers
    kind = JoinedMember if any(field in own.data for field in _JOINED_BY) else AksMember
    known = fields_of(kind)
    # Defaults serve both kinds: fields that this kind does not have are dropped.
    usable = [
        {name: value for name, value in layer.data.items() if name in known} for layer in shared
    ]
    member: FleetMember = read(kind, _merged([own.data, *usable]))
    return member


def _merged(layers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    # From the weakest layer to the strongest.
    for layer in reversed(tuple(layers)):
        for name, value in layer.items():
            both = (
                name in _MERGED
                and isinstance(value, Mapping)
                and isinstance(merged.get(name), Mapping)
            )
            merged[name] = {**merged[name], **value} if both else value
    return merged


def _placed(problem: Problem, layers: tuple[_Layer, ...]) -> Problem:
    """Return the problem with the path where the value is written: that of the member, its region
    or the defaults.
    """
    # Labels and tags may come from several layers, so the key decides where one is written.
    depth = 2 if problem.path[0] in _MERGED else 1
    layer = next((layer for layer in layers if _has(layer.data, problem.path[:depth])), layers[0])
    return attrs.evolve(problem, path=(*layer.path, *problem.path))


def _has(data: Any, path: FieldPath) -> bool:
    for step in path:
        if not isinstance(data, Mapping) or step not in data:
            return False
        data = data[step]
    return True
