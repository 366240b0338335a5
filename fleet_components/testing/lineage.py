"""What a resource has from those above it, as the engine hands it down.

Source: ``RegisterResource`` and ``generateAliases`` of the engine (pulumi/pulumi ``pkg/resource/deploy``).
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
    """What a resource that was registered hands down.

    Attributes:
        parent: the URN of its own parent.
        transforms: the callbacks of its transforms.
        protect: whether it is protected; None where nothing says so.
        retain: whether it is left alone when it goes; None where nothing says so.
        deleted_with: the resource with which it goes.
        providers: the references of its providers, by package.
        component: whether it is a component.
        former: the URN under which it was found in the state; empty for a new one.
    """

    parent: str
    transforms: Sequence[Any]
    protect: bool | None
    retain: bool | None
    deleted_with: str
    providers: Mapping[str, str]
    component: bool
    former: str


class Lineage:
    """The resources of a run, by URN.

    Args:
        known: the URNs of the state before.
    """

    def __init__(self, known: Collection[str]) -> None:
        self._known = {_place(urn): urn for urn in known}
        self._above: dict[str, _Above] = {}
        self._stack: list[Any] = []
        self._lock = threading.Lock()

    def transform_all(self, callback: Any) -> None:
        """Note a transform of the whole stack; it counts for what is registered from now on."""
        with self._lock:
            self._stack.append(callback)

    def inherit(self, request: Any) -> None:
        """Fill in what a resource does not say itself and its parent does."""
        above = self._above.get(request.parent)
        if above is None:
            return
        if not request.HasField("protect") and above.protect is not None:
            request.protect = above.protect
        if not request.HasField("retainOnDelete") and above.retain is not None:
            request.retainOnDelete = above.retain
        request.deletedWith = request.deletedWith or above.deleted_with
        if request.custom and not request.provider:
            request.provider = above.providers.get(request.type.partition(":")[0], "")

    def transforms(self, request: Any) -> list[Any]:
        """The transforms of a resource: its own, then those above it, then those of the stack."""
        found, urn = list(request.transforms), request.parent
        while urn in self._above:
            found += self._above[urn].transforms
            urn = self._above[urn].parent
        with self._lock:
            return [*found, *self._stack]

    def aliases(self, request: Any) -> tuple[str, ...]:
        """The URNs under which a resource may have been registered before, its own left out."""
        spoken = [*request.aliasURNs, *(alias.urn or self._spelled(alias.spec, request) for alias in request.aliases)]
        found = [*spoken, *self._inherited(spoken, request)]
        own = make_urn(request.parent, request.type, request.name)
        return tuple(urn for urn in dict.fromkeys(found) if urn != own)

    def former(self, urn: str, aliases: Sequence[str]) -> str:
        """The URN under which a resource stands in the state; empty for a new one."""
        return next((self._known[at] for at in map(_place, (urn, *aliases)) if at in self._known), "")

    def enter(self, urn: str, request: Any, former: str) -> None:
        """Remember a resource for those below it."""
        providers = dict(request.providers)
        above = self._above.get(request.parent)
        if above is not None and above.component and not request.custom:
            providers = {**above.providers, **providers}
        entered = _Above(
            parent=request.parent,
            transforms=tuple(request.transforms),
            protect=request.protect if request.HasField("protect") else None,
            retain=request.retainOnDelete if request.HasField("retainOnDelete") else None,
            deleted_with=request.deletedWith,
            providers=providers,
            component=not request.custom,
            former=former,
        )
        with self._lock:
            self._above[urn] = entered

    def _inherited(self, aliases: Sequence[str], request: Any) -> Iterator[str]:
        """Those that follow from the parent, which itself was found under another URN."""
        above = self._above.get(request.parent)
        if above is None or not above.former:
            return
        for urn in (make_urn(request.parent, request.type, request.name), *aliases):
            yield _below(above.former, _type(urn), _name(urn), _name(request.parent))

    def _spelled(self, spec: Any, request: Any) -> str:
        """The URN that the parts of an alias come to."""
        parent = request.parent
        if spec.parentUrn:
            above = self._above.get(spec.parentUrn)
            parent = above.former if above and above.former else spec.parentUrn
        parent = "" if spec.noParent else parent
        urn = make_urn(parent, spec.type or request.type, spec.name or request.name)
        project, stack = spec.project or get_project(), spec.stack or get_stack()
        return f"urn:pulumi:{stack}::{project}::{_place(urn)}"


def make_urn(parent: str, type_: str, name: str) -> str:
    """The URN of a resource, with the types of all parents but the stack."""
    above = parent.split("::")[2] if parent else ROOT
    types = type_ if above == ROOT else f"{above}${type_}"
    return f"urn:pulumi:{get_stack()}::{get_project()}::{types}::{name}"


def _below(parent: str, type_: str, name: str, parent_name: str) -> str:
    """The URN of a child when its parent had another: the name of a child often begins with that of its parent."""
    rest = name.removeprefix(parent_name)
    return make_urn(parent, type_, name if rest == name else f"{_name(parent)}{rest}")


def _place(urn: str) -> str:
    """A URN without stack and project: they are the same in the whole state, and not those that it is planned for."""
    return urn.split("::", 2)[-1]


def _type(urn: str) -> str:
    return urn.split("::")[2].rpartition("$")[2]


def _name(urn: str) -> str:
    return urn.split("::", 3)[3]
