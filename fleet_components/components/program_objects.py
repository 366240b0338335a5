"""Manifests of objects made in a program: from plain data, input types of ``pulumi_kubernetes``, or
its resources.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import partial
from importlib import import_module
from typing import Any

import attrs
import pulumi
from pulumi._types import is_input_type

from fleet_components.components.recorder import record
from fleet_components.components.refusal import refusing
from fleet_components.content.header import check_header, fill_nulls
from fleet_components.content.load import objects_in
from fleet_components.model.manifest import PROGRAM, Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.model.text import article
from fleet_components.plan.names import type_token

_INSIDE = (
    "make it in a function and give objects_of(function): as it is, it goes to a cluster of the"
    " program's own"
)
_FORMS = (
    "an object is a dict as in YAML, an input type such as DeploymentInitArgs, or comes of"
    " objects_of"
)


@refusing()
def objects_of(make: Callable[[], Any]) -> tuple[Manifest, ...]:
    """Return the Kubernetes objects that a function makes as resources of ``pulumi_kubernetes``;
    none is registered.

    Pass them to a fleet as ``FleetArgs(objects=...)``, or to :func:`source_of`. Resources of the
    function may refer to each other; of components, the resources in them count. An object without
    a name gets that of its resource, without a random suffix: it needs the same name on all
    clusters. ``depends_on`` among them has no effect: a fleet has its own order.

    Args:
        make: makes the resources; its return value is ignored.

    Raises:
        FleetError: a resource is not a Kubernetes object, or a value is not known at once.
    """
    made = record(make)
    if not made.manifests and not made.problems:
        raise FleetError(
            [
                Problem(
                    Message(
                        "function-makes-no-kubernetes", "the function makes no Kubernetes object"
                    ),
                    hint=_FORMS,
                )
            ]
        )
    return _checked(made.manifests, made.problems)


def manifests_of(objects: Iterable[Any]) -> tuple[Manifest, ...]:
    """Return the manifests of the objects that a program passes to a fleet.

    Raises:
        FleetError: an item is not an object, or one of its values is not known at once.
    """
    given = [_Given.of(value, position) for position, value in enumerate(objects)]
    problems = [problem for item in given for problem in item.problems]
    waiting = [item for item in given if item.make and not item.problems]
    if waiting:
        # These resources are named after their position in ``objects``, which must not become the
        # name of an object.
        made = record(partial(_register, waiting), naming=False)
        problems += (*made.problems, *(problem for item in waiting for problem in item.problems))
        given += [_Given(manifest=manifest) for manifest in made.manifests]
    return _checked((item.manifest for item in given if item.manifest), problems)


@attrs.define
class _Given:
    """One item of ``objects``.

    Attributes:
        manifest: the object; None if it is not an object, or has to be made as a resource first.
        make: makes it as a resource, for values that only the SDK can serialize.
        problems: why it is not an object.
    """

    manifest: Manifest | None = None
    make: Callable[[], Any] | None = None
    problems: list[Problem] = attrs.field(factory=list)

    @classmethod
    def of(cls, value: Any, position: int) -> _Given:
        """Read the item at a position of ``objects``."""
        path, name = ("objects", position), f"objects[{position}]"
        if isinstance(value, Manifest):
            return cls(value)
        if isinstance(value, pulumi.Resource):
            return cls(
                problems=[
                    Problem(
                        Message("is-a-resource", "is a resource: {name}", name=value._name),
                        path,
                        _INSIDE,
                    )
                ]
            )
        if is_input_type(type(value)):
            kind = _resource_of(type(value))
            if kind is None:
                return cls(
                    problems=[
                        Problem(
                            Message(
                                "resource-not-object",
                                "{type} is not an object",
                                type=type(value).__name__,
                            ),
                            path,
                            _FORMS,
                        )
                    ]
                )
            # An input type has its fields in ``__dict__``, by the names of the arguments of its
            # resource.
            return cls(make=partial(kind, name, **vars(value)))
        if isinstance(value, Mapping):
            return cls._of_data(value, path, name)
        hint = (
            "put a star before it: *objects_of(...)" if isinstance(value, tuple | list) else _FORMS
        )
        return cls(
            problems=[
                Problem(
                    Message(
                        "value-not-object",
                        "{article} is not an object",
                        article=article(type(value).__name__),
                    ),
                    path,
                    hint,
                )
            ]
        )

    @classmethod
    def _of_data(cls, value: Mapping[str, Any], path: FieldPath, name: str) -> _Given:
        problems: list[Problem] = []
        data = _plain(value, path, problems)
        if not any(_inputs(data)):
            return cls(Manifest(data), problems=problems)
        for field in ("apiVersion", "kind"):
            if not isinstance(data.get(field), str):
                problems.append(
                    Problem(
                        Message("not-text", "{field} is not text", field=field),
                        (*path, field),
                        "write it out",
                    )
                )
        # ``make`` is not called if there are problems, such as a kind that is no text.
        return cls(
            make=lambda: pulumi.CustomResource(type_token(data), name, data), problems=problems
        )


def _register(waiting: Iterable[_Given]) -> None:
    """Make the items as resources; a field that the resource does not have becomes a problem of its
    item.
    """
    for given in waiting:
        try:
            # manifests_of passes only items that have ``make``.
            assert given.make
            given.make()
        except TypeError as error:
            given.problems.append(
                Problem(
                    Message("other-error", "{reason}", reason=error),
                    hint="give what you want of it: a status is what comes of that",
                )
            )


def _plain(value: Any, path: FieldPath, problems: list[Problem]) -> Any:
    """Return a value as YAML holds it; values that are not known yet stay as they are."""
    # First, since an Enum of the SDK is also a text.
    if isinstance(value, Enum):
        return _plain(value.value, path, problems)
    if isinstance(value, Mapping):
        problems += (
            Problem(Message("key-not-text", "{key!r} is not a key", key=key), path, "write text")
            for key in value
            if not isinstance(key, str)
        )
        return {
            key: _plain(item, (*path, key), problems)
            for key, item in value.items()
            if isinstance(key, str)
        }
    if isinstance(value, list | tuple):
        return [_plain(item, (*path, position), problems) for position, item in enumerate(value)]
    if not (value is None or isinstance(value, str | bool | int | float) or _is_input(value)):
        problems.append(
            Problem(
                Message(
                    "not-value", "{article} is not a value", article=article(type(value).__name__)
                ),
                path,
                "write text, a number, a list or a dict",
            )
        )
    # Integers have 64 bits at most; the comparison also finds nan and infinity.
    if isinstance(value, int | float) and not -(2**64) < value < 2**64 and not _is_float(value):
        problems.append(
            Problem(
                Message(
                    "number-no-field-object", "is a number that no field of an object can have"
                ),
                path,
                "write a smaller one",
            )
        )
    return value


def _is_float(value: float) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _inputs(value: Any) -> Iterator[Any]:
    """Yield every value that is not plain."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _inputs(item)
    elif _is_input(value):
        yield value


def _is_input(value: Any) -> bool:
    return (
        isinstance(value, pulumi.Output | pulumi.Resource)
        or inspect.isawaitable(value)
        or is_input_type(type(value))
    )


def _resource_of(kind: type) -> type[pulumi.CustomResource] | None:
    """Return the resource class of an input type, which is in the same package; None if there is
    none.
    """
    # The input type of the resource Deployment is called DeploymentInitArgs.
    package = import_module(kind.__module__.rpartition(".")[0] or kind.__module__)
    found = getattr(package, kind.__name__.removesuffix("Args").removesuffix("Init"), None)
    return found if isinstance(found, type) and issubclass(found, pulumi.CustomResource) else None


def _checked(manifests: Iterable[Manifest], problems: Iterable[Problem]) -> tuple[Manifest, ...]:
    """Return the objects, with the items of lists as objects of their own.

    Raises:
        FleetError: there are problems, or an object lacks one of the fields that every object has.
    """
    found = [
        Manifest(fill_nulls(data), item.origin or PROGRAM)
        for item in manifests
        for _, data in objects_in(item.data)
    ]
    problems = [*problems, *(problem for manifest in found for problem in check_header(manifest))]
    if problems:
        raise FleetError(problems)
    return tuple(found)
