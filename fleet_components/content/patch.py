"""JSON patch (RFC 6902: add, remove, replace) with the error texts of the real control planes.

Source: ``github.com/evanphx/json-patch/v5`` v5.9.11, which both KubeFleet and Karmada use. As
there, negative indices count from the end of a list, and text before the first slash of a path is
ignored. Documents are never changed in place; a result shares unchanged parts with its input.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from fleet_components.model.digits import integer

_INTEGER = re.compile(r"[+-]?[0-9]+")
_MAX_INT64 = 2**63 - 1
_MISSING = "missing value"


@attrs.frozen
class Operation:
    """One operation of a patch.

    Attributes:
        op: ``add``, ``remove`` or ``replace``.
        path: a JSON pointer (RFC 6901), such as ``/metadata/labels/app.io~1name``; ``-`` appends
            to a list.
        value: the new value; ignored by ``remove``.
    """

    op: str
    path: str
    value: Any = None


class PatchError(Exception):
    """An operation that cannot be applied. The text is the one that users of the real systems see.

    Attributes:
        operation: the operation.
        index: its position in the patch, from 0.
    """

    def __init__(self, text: str, operation: Operation, index: int) -> None:
        super().__init__(text)
        self.operation = operation
        self.index = index


def apply_patch(document: Any, operations: Iterable[Operation]) -> Any:
    """Return the document after all operations, applied in order.

    Raises:
        PatchError: an operation cannot be applied.
    """
    copies = _Copies()
    for index, operation in enumerate(operations):
        try:
            document = _apply(document, operation, copies)
        except _RefusedError as error:
            raise PatchError(str(error), operation, index) from None
    return document


def apply_to_both(stored: Any, written: Any, operations: Iterable[Operation]) -> tuple[Any, Any]:
    """Return two forms of a document after all operations: as it is stored, and as it was
    written.

    An operation applies if it applies to the stored form. The written form gets what it writes,
    inside the maps and lists of the stored form that lead there, and no other default.

    Raises:
        PatchError: an operation cannot be applied to the stored form.
    """
    ours, theirs = _Copies(), _Copies()
    for index, operation in enumerate(operations):
        try:
            reached = _reached(stored, written, operation, theirs)
            stored = _apply(stored, operation, ours)
            written = _apply(reached, operation, theirs) if reached is not None else written
        except _RefusedError as error:
            raise PatchError(str(error), operation, index) from None
    return stored, written


def _reached(stored: Any, written: Any, operation: Operation, copies: _Copies) -> Any:
    """Return the written form with what an operation needs of the stored form; None if it removes
    only a default.
    """
    *way, key = pointer_steps(operation.path) or [""]
    theirs = _walk(stored, way)
    if theirs is None or not operation.path:
        return written  # it fails, or is about the whole document
    made = ours = copies.of(written)
    for step, container in zip(way, theirs[1:], strict=True):
        there = _get(ours, step) if _has(ours, step) else None
        if not isinstance(there, Mapping | list):
            if operation.op == "remove":
                return None
            there = {} if isinstance(container, Mapping) else list(container)
        # Items that a server has added: positions count them.
        elif isinstance(there, list) and len(there) < len(container):
            there = [*there, *container[len(there) :]]
        # A copy, as the stored form may share it, and only the written form changes here.
        inner = copies.of(there)
        _put(ours, step, inner)
        ours = inner
    # What the operation changes may be a default, which only the stored form has.
    if isinstance(ours, Mapping) and key not in ours and _has(theirs[-1], key):
        if operation.op == "remove":
            return None
        _put(ours, key, theirs[-1][key])
    return made


def carried_over(written: Any, before: Any, after: Any) -> Any:
    """Return the written form of a value with what has changed in the stored form."""
    if before is after or (before == after and type(before) is type(after)):
        return written
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        kept = written if isinstance(written, Mapping) else {}
        changed = {
            key: carried_over(kept.get(key), before.get(key), item)
            for key, item in after.items()
            if key in kept or key not in before or before[key] != item
        }
        return {
            **{key: item for key, item in kept.items() if key not in before or key in after},
            **changed,
        }
    if all(isinstance(item, list) and len(item) == len(after) for item in (written, before, after)):
        return [carried_over(*parts) for parts in zip(written, before, after, strict=True)]
    return after


def pointer_steps(pointer: str) -> list[str]:
    """Return the unescaped steps of a JSON pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


class _RefusedError(Exception):
    """The reason why an operation cannot be applied, in the words of the Go library."""


class _Copies:
    """The containers that a patch has copied, so that it changes each of them in place from then
    on.
    """

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}

    def of(self, container: Any) -> Any:
        """Return the container if it is a copy already, else a copy of it."""
        if id(container) in self._known:
            return container
        copy = dict(container) if isinstance(container, Mapping) else list(container)
        self._known[id(copy)] = copy  # kept alive, so that its id stays its own
        return copy


def _apply(document: Any, operation: Operation, copies: _Copies) -> Any:
    op, path = operation.op, operation.path
    if path == "" and op != "remove":
        return _document(operation)
    # A path without a slash has no steps; it is refused below, with its whole text.
    *way, key = pointer_steps(path) or [path]
    containers = _walk(document, way)
    if containers is None or (path and "/" not in path):
        # The library quotes the path for add and remove, but not for replace.
        quoted = path if op == "replace" else f'"{path}"'
        raise _RefusedError(
            f"{op} operation does not apply: doc is missing path: {quoted}: {_MISSING}"
        )
    # An empty key is never missing to the library.
    if op == "replace" and key and not _has(containers[-1], key):
        raise _RefusedError(
            f"replace operation does not apply: doc is missing key: {path}: {_MISSING}"
        )
    try:
        if containers[-1] is None:
            raise _RefusedError("invalid value, expected object")
        changed = copies.of(containers[-1])
        _CHANGES[op](changed, key, operation.value)
    except _RefusedError as error:
        verb = "add" if op == "add" else "remove"  # the library says "remove" for "replace" too
        raise _RefusedError(f"error in {verb} for path: '{path}': {error}") from None
    # From the inside out, each container gets the changed copy of what is in it.
    for container, step in zip(reversed(containers[:-1]), reversed(way), strict=True):
        outer = copies.of(container)
        _put(outer, step, changed)
        changed = outer
    return changed


def _document(operation: Operation) -> Any:
    if not isinstance(operation.value, Mapping | list):
        # The text is the library's, which formats an error that is nil.
        raise _RefusedError(f"{operation.op} operation value must be object or array: %!w(<nil>)")
    return operation.value


def _walk(document: Any, way: Iterable[str]) -> list[Any] | None:
    """Return the containers along the way, starting with the document; None if the way does not
    exist.

    An empty step never exists.
    """
    containers = [document]
    for step in way:
        child = _get(containers[-1], step) if step and _has(containers[-1], step) else None
        if not isinstance(child, Mapping | list):
            return None
        containers.append(child)
    return containers


def _has(container: Any, key: str) -> bool:
    if not isinstance(container, list):
        return container is not None and key in container
    try:
        _index(container, key)
    except _RefusedError:
        return False
    return True


def _get(container: Any, key: str) -> Any:
    return container[key if isinstance(container, Mapping) else _index(container, key)]


def _put(container: Any, key: str, value: Any) -> None:
    container[key if isinstance(container, Mapping) else _index(container, key)] = value


def _add(container: Any, key: str, value: Any) -> None:
    if isinstance(container, Mapping):
        _put(container, key, value)
        return
    if key == "-":
        container.append(value)
        return
    try:
        number = _integer(key)
    except _RefusedError as error:
        raise _RefusedError(f"value was not a proper array index: '{key}': {error}") from None
    container.insert(_bounded(number, len(container) + 1), value)


def _remove(container: Any, key: str, _: Any) -> None:
    if isinstance(container, list):
        del container[_index(container, key)]
    elif key in container:
        del container[key]
    else:
        raise _RefusedError(f"unable to remove nonexistent key: {key}: {_MISSING}")


_CHANGES = {"add": _add, "remove": _remove, "replace": _put}


def _index(container: list[Any], key: str) -> int:
    return _bounded(_integer(key), len(container))


def _integer(text: str) -> int:
    wrong = ""
    if not _INTEGER.fullmatch(text):
        wrong = "invalid syntax"
    elif abs(integer(text)) > _MAX_INT64:
        wrong = "value out of range"
    if wrong:
        raise _RefusedError(
            f"strconv.Atoi: parsing {json.dumps(text, ensure_ascii=False)}: {wrong}"
        )
    return integer(text)


def _bounded(number: int, size: int) -> int:
    if not -size <= number < size:
        raise _RefusedError(f"Unable to access invalid index: {number}: invalid index referenced")
    # A negative number counts from the end.
    return number % size
