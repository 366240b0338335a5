"""Reads the package's own declarations from YAML: camelCase fields, checked types, no unknown
fields.

Every error has the path of its field.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple, Protocol, Union, get_args, get_origin

import attrs
from cattrs import BaseValidationError, Converter, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, override

from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import (
    MisfitError,
    UnlikeError,
    misfits,
    of_a,
    strict_converter,
    wire_name,
)
from fleet_components.model.kinds import BUILT_IN, BUILT_IN_GROUPS
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.model.text import nearest

API_VERSION = "fleet-components/v1"
"""API version of all declarations."""
DECLARATIONS = ("ApplicationHealth", "KarmadaSettings")
"""Kinds of declarations, besides those of guests and of what is built."""
BUILDS = CHART, KUSTOMIZATION = "Chart", "Kustomization"
"""Kinds of declarations of what a tool builds."""

_NOT_DECLARED = ("time_added", "sizes", "kubeconfig")
"""Attributes that YAML cannot set: a recorded time, a table that the caller passes, and a
secret.
"""
_BESIDE = ("apiVersion", "kind", "metadata", "spec")
_HINTS = {"a list": "begin each entry with a dash", "a map": "write key: value"}
_converter = strict_converter()


@cache
def fields_of(kind: type) -> tuple[str, ...]:
    """Return the fields of a declared class by their YAML names."""
    return tuple(
        wire_name(field) for field in attrs.fields(kind) if field.name not in _NOT_DECLARED
    )


def read(kind: Any, data: Any, path: FieldPath = ()) -> Any:
    """Read a value of a type from plain data.

    Raises:
        MisfitError: the data does not fit the type; carries all misfits.
    """
    try:
        return _converter.structure(data, kind)
    except (BaseValidationError, ValueError, FleetError) as error:
        found = [
            problem for where, item in misfits(error, path) for problem in _problems(item, where)
        ]
    # Behind the except clause, so that the converter's error is not its context.
    raise MisfitError(*found)


def stray_fields(manifest: Manifest) -> Iterator[Problem]:
    """Yield a problem for each field of a declaration beside its ``spec`` that does not exist."""
    for name in manifest.data:
        if name not in _BESIDE:
            yield manifest.located(unknown_field(str(name), _BESIDE, ()))


def unknown_field(name: str, known: Collection[str], path: FieldPath) -> Problem:
    """Return the problem for an unknown field, with the most similar known name as its hint."""
    hint = nearest(name, known) or f"one of {', '.join(known)}"
    return Problem(
        Message("no-field", 'there is no field "{name}"', name=name), (*path, name), hint
    )


def _problems(error: BaseException, path: FieldPath) -> Iterator[Problem]:
    """Yield the problems behind one error of the converter."""
    match error:
        case ForbiddenExtraKeysError():
            yield from (
                unknown_field(str(name), fields_of(error.cl), path)
                for name in sorted(map(str, error.extra_fields))
            )
        case KeyError():
            yield Problem(
                Message("header-field-missing", "{path} is missing", path=path[-1]),
                path,
                "write it here",
            )
        case FleetError():
            yield from (
                attrs.evolve(problem, path=(*path, *problem.path)) for problem in error.problems
            )
        case UnlikeError(noun="text", found="a number" | "true or false"):
            yield Problem(
                Message("other-error", "{reason}", reason=error), path, "write it in quotes"
            )
        case UnlikeError():
            yield Problem(
                Message("other-error", "{reason}", reason=error), path, _HINTS.get(error.noun, "")
            )
        case _:
            yield Problem(Message("other-error", "{reason}", reason=error), path)


@_converter.register_structure_hook_factory(attrs.has)
def _structure_fn(kind: Any, converter: Converter) -> Any:
    names: dict[str, Any] = {
        field.name: override(rename=wire_name(field), omit=field.name in _NOT_DECLARED)
        for field in attrs.fields(attrs.resolve_types(kind))
    }
    return of_a(Mapping, "a map", make_dict_structure_fn(kind, converter, **names))


def _is_union(kind: Any) -> bool:
    origin: Any = get_origin(kind)
    return origin in (Union, types.UnionType)


@_converter.register_structure_hook_factory(_is_union)
def _structure_union_fn(kind: Any, converter: Converter) -> Any:
    # YAML cannot express the other options of a union, such as Pulumi outputs.
    first = next(option for option in get_args(kind) if option is not type(None))
    return lambda value, _: None if value is None else converter.structure(value, first)


# Which objects are declarations of this package, and which were probably meant to be.


GROUP = API_VERSION.partition("/")[0]
_ALIKE = 0.8
"""Least similarity of an apiVersion that was probably meant to be ours: two letters may differ."""
_ALIKE_KIND = 0.6
"""Least similarity of a kind; of the three letters of a Hub one may differ."""


def declared_kinds() -> tuple[str, ...]:
    """Return the kinds of all declarations, those of guests included, sorted."""
    return tuple(
        sorted({*DECLARATIONS, *BUILDS, *(kind for guest in guests() for kind in guest.KINDS)})
    )


def meant_kind(manifest: Manifest) -> str:
    """Return the kind of declaration that an object was probably meant to be; empty if it is
    another system's.
    """
    return _meant(manifest.api_version, manifest.group, manifest.kind)


@lru_cache(maxsize=4096)
def _meant(api_version: str, group: str, kind: str) -> str:
    if group == GROUP or nearest(api_version, [API_VERSION], _ALIKE):
        return nearest(kind, declared_kinds(), _ALIKE_KIND)
    # No API server has such a kind in one of Kubernetes' own groups.
    astray = group in BUILT_IN_GROUPS and (group, kind) not in BUILT_IN
    return kind if astray and kind in declared_kinds() else ""


def misdeclared(manifest: Manifest) -> Iterator[Problem]:
    """Yield what is wrong with the apiVersion, the kind and the top-level fields of a declaration.

    An object in our group always counts as one; in a similar group it does if its kind is similar,
    in one of Kubernetes' own if its kind is ours.
    """
    meant = meant_kind(manifest)
    if manifest.group != GROUP and not meant:
        return
    write = f"write kind: {meant}" if meant else f"write one of {', '.join(declared_kinds())}"
    if manifest.api_version != API_VERSION:
        what = Message(
            "no-declaration-apiversion",
            'no declaration has the apiVersion "{api_version}"',
            api_version=manifest.api_version,
        )
        kind = "" if manifest.kind == meant else f", and {write.removeprefix('write ')}"
        yield manifest.problem(what, ("apiVersion",), f"write apiVersion: {API_VERSION}{kind}")
    elif manifest.kind != meant:
        yield manifest.problem(
            Message(
                "no-kind-in-version",
                'there is no kind "{kind}" in {api_version}',
                kind=manifest.kind,
                api_version=API_VERSION,
            ),
            ("kind",),
            write,
        )
    yield from stray_fields(manifest)


# Installed guests: packages whose declarations bring members to a fleet, such as clusters that
# they provision.
#
# A guest is a module, registered as an entry point of the group ``fleet_components.guests``.
# Nothing here imports one by its name, so that a fleet without any loads none.


ENTRY_POINTS = "fleet_components.guests"


class Removals(NamedTuple):
    """Losses of a fleet beside its placements: of what a guest has provisioned for it before.

    Attributes:
        refused: what no token allows.
        allowed: what a token allows, with the token, in words; empty for nothing.
    """

    refused: tuple[Problem, ...] = ()
    allowed: str = ""


class Guest(Protocol):
    """The contract of a guest, for modules and objects alike.

    Attributes:
        KINDS: the kinds of its declarations, of the apiVersion ``fleet-components/v1``.
    """

    KINDS: tuple[str, ...]

    def clusters(
        self, manifests: Iterable[Manifest], subscription: str = ""
    ) -> tuple[Cluster, ...]:
        """Return the members that its declarations among the manifests bring, as the schedulers see
        them.

        Args:
            manifests: the manifests.
            subscription: the subscription of members whose declaration names none; empty if it is
                unknown.

        Raises:
            FleetError: a declaration is wrong; carries all problems, with file and line.
        """

    def problems(self, policy: Manifest, clusters: Iterable[Cluster]) -> Iterator[Problem]:
        """Yield what a policy requires of these members and nobody knows before they exist."""

    def subscription(self, opts: Any) -> str:
        """Return the subscription of what has these options and names none, as the stack is
        configured.

        It is empty if it is unknown before something is provisioned.
        """

    def removals(self, name: str, args: Any, opts: Any) -> Removals:
        """Return what providing for a fleet would delete, before anything is registered; arguments
        as below.

        The declarations are valid: a source with problems is refused before.
        """

    def warnings(self, manifests: Iterable[Manifest], as_of: datetime | None) -> Iterator[Problem]:
        """Yield what has aged by the time of a plan, of its declarations and of what it knows.

        Args:
            manifests: the objects of the fleet, in which no declaration is wrong.
            as_of: the time of the plan; None for now.
        """

    def provision(self, name: str, args: Any, opts: Any) -> Any:
        """Provision the members that are declared, within a Pulumi program.

        Args:
            name: the name of the fleet.
            args: the ``FleetArgs``, whose source holds the declarations.
            opts: ``pulumi.ResourceOptions`` for what is made.

        Returns:
            The ``FleetArgs``, with its members reachable.
        """


@cache
def guests() -> tuple[Guest, ...]:
    """Return the installed guests, in the order of their names."""
    # Imported here, because it takes long and most fleets have no guest.
    from importlib.metadata import (
        entry_points,
    )

    return tuple(
        point.load()
        for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name)
    )


def present(manifests: Iterable[Manifest]) -> tuple[Guest, ...]:
    """Return the guests that have a declaration among the manifests. Without any declaration none
    is looked for.
    """
    # The package's own kinds need no guest, and looking for guests takes long.
    kinds = {manifest.kind for manifest in manifests if manifest.api_version == API_VERSION} - {
        *DECLARATIONS
    }
    return tuple(guest for guest in guests() if kinds.intersection(guest.KINDS)) if kinds else ()
