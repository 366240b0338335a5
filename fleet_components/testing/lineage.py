"""Inheritance of options, transforms and aliases from parent resources, as on the engine.

Source: ``RegisterResource`` and ``generateAliases`` of the engine (pulumi/pulumi
``pkg/resource/deploy``).
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import attrs
from pulumi import get_project, get_stack

ROOT = "pulumi:pulumi:Stack"


@attrs.frozen
class _Above:
    """Values that a registered resource hands down to its children.

    Attributes:
        parent: URN of its own parent.
        transforms: callbacks of its transforms.
        protect: whether it is protected; None if not set.
        retain: whether it is retained on deletion; None if not set.
        deleted_with: URN of the resource with which it is deleted.
        providers: references of its providers, by package.
        component: True for a component.
        previous: URN under which it was found in the state; empty for a new resource.
    """

    parent: str
    transforms: Sequence[Any]
    protect: bool | None
    retain: bool | None
    deleted_with: str
    providers: Mapping[str, str]
    component: bool
    previous: str


class Lineage:
    """The resources of a run with what they hand down, by URN.

    Args:
        known: URNs in the state before the run.
    """

    def __init__(self, known: Collection[str]) -> None:
        self._known = {_place(urn): urn for urn in known}
        self._above: dict[str, _Above] = {}
        self._stack: list[Any] = []
        self._lock = threading.Lock()

    def transform_all(self, callback: Any) -> None:
        """Add a transform of the whole stack; it applies to resources that are registered from now
        on.
        """
        with self._lock:
            self._stack.append(callback)

    def inherit(self, request: Any) -> None:
        """Set the options that a request does not set itself and its parent hands down."""
        above = self._above.get(request.parent)
        if above is None:
            return
        if not request.HasField("protect") and above.protect is not None:
            request.protect = above.protect
        if not request.HasField("retainOnDelete") and above.retain is not None:
            request.retainOnDelete = above.retain
        request.deletedWith = request.deletedWith or above.deleted_with
        if request.custom and not request.provider:
            # The package of a type is its first part.
            request.provider = above.providers.get(request.type.partition(":")[0], "")

    def transforms(self, request: Any) -> list[Any]:
        """Return the transforms of a resource: its own, then those of its parents, then those of
        the stack.
        """
        found, urn = list(request.transforms), request.parent
        # The stack is not among them, so that the loop ends below it.
        while urn in self._above:
            found += self._above[urn].transforms
            urn = self._above[urn].parent
        with self._lock:
            return [*found, *self._stack]

    def aliases(self, request: Any) -> tuple[str, ...]:
        """Return the URNs, except its own, under which a resource may have been registered
        before.
        """
        spoken = [
            *request.aliasURNs,
            *(alias.urn or self._spelled(alias.spec, request) for alias in request.aliases),
        ]
        found = [*spoken, *self._inherited(spoken, request)]
        own = make_urn(request.parent, request.type, request.name)
        return tuple(urn for urn in dict.fromkeys(found) if urn != own)

    def previous(self, urn: str, aliases: Sequence[str]) -> str:
        """Return the URN under which a resource is in the state; empty for a new resource."""
        return next(
            (self._known[at] for at in map(_place, (urn, *aliases)) if at in self._known), ""
        )

    def enter(self, urn: str, request: Any, previous: str) -> None:
        """Store what a resource hands down to its children."""
        providers = dict(request.providers)
        above = self._above.get(request.parent)
        if above is not None and above.component and not request.custom:
            providers = {**above.providers, **providers}
        # ``inherit`` has set in the request what its own parent hands down.
        entered = _Above(
            parent=request.parent,
            transforms=tuple(request.transforms),
            protect=request.protect if request.HasField("protect") else None,
            retain=request.retainOnDelete if request.HasField("retainOnDelete") else None,
            deleted_with=request.deletedWith,
            providers=providers,
            component=not request.custom,
            previous=previous,
        )
        with self._lock:
            self._above[urn] = entered

    def _inherited(self, aliases: Sequence[str], request: Any) -> Iterator[str]:
        """Yield the aliases that follow from a parent that was itself found under another URN."""
        above = self._above.get(request.parent)
        if above is None or not above.previous:
            return
        for urn in (make_urn(request.parent, request.type, request.name), *aliases):
            yield _below(above.previous, _type(urn), _name(urn), _name(request.parent))

    def _spelled(self, spec: Any, request: Any) -> str:
        """Return the URN that an alias given in parts stands for."""
        parent = request.parent
        if spec.parentUrn:
            above = self._above.get(spec.parentUrn)
            parent = above.previous if above and above.previous else spec.parentUrn
        parent = "" if spec.noParent else parent
        urn = make_urn(parent, spec.type or request.type, spec.name or request.name)
        project, stack = spec.project or get_project(), spec.stack or get_stack()
        return f"urn:pulumi:{stack}::{project}::{_place(urn)}"


def make_urn(parent: str, type_: str, name: str) -> str:
    """Return the URN of a resource, which includes the types of all parents except the stack."""
    # The parts of a URN: stack, project, types and name.
    above = parent.split("::")[2] if parent else ROOT
    types = type_ if above == ROOT else f"{above}${type_}"
    return f"urn:pulumi:{get_stack()}::{get_project()}::{types}::{name}"


def _below(parent: str, type_: str, name: str, parent_name: str) -> str:
    """Return the URN of a child under a former URN of its parent, whose name is replaced in that of
    the child.
    """
    rest = name.removeprefix(parent_name)
    return make_urn(parent, type_, name if rest == name else f"{_name(parent)}{rest}")


def _place(urn: str) -> str:
    """Return a URN without stack and project: in the state they may differ from those that are
    planned.
    """
    return urn.split("::", 2)[-1]


def _type(urn: str) -> str:
    return urn.split("::")[2].rpartition("$")[2]


def _name(urn: str) -> str:
    # The name is the last part, and may contain "::" itself.
    return urn.split("::", 3)[3]
