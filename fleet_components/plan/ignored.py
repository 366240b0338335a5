"""Restores the old values of fields whose changes are ignored, as the engine does.

Source: ``PropertyPath.Reset`` of the engine (pulumi/pulumi
``sdk/go/common/resource/properties_path.go``). A path that cannot be applied leaves the inputs
unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fleet_components.plan.state import is_marked_secret

Path = tuple[str | int, ...]
_EVERY = "*"
_STEP = re.compile(r'\.?(?:\[(?:"((?:\\"|[^"])*)"|([0-9]+)|(\*))\]|([^.\[]+))')


def ignore(inputs: dict[str, Any], olds: Mapping[str, Any], paths: Iterable[str]) -> None:
    """Set fields back to their old values.

    Args:
        inputs: the new inputs in wire form; changed in place.
        olds: the old inputs.
        paths: paths of the fields, as ``spec.replicas`` or ``spec.containers[0]["image"]``.
    """
    for text in paths:
        path = _parsed(text)
        if path:
            _reset(inputs, olds, path)


def _parsed(text: str) -> Path:
    """Return the steps of a path; empty if the text is not a path."""
    steps: list[str | int] = []
    place = 0
    while place < len(text):
        found = _STEP.match(text, place)
        if found is None:
            return ()
        quoted, index, every, name = found.groups()
        # One of the groups has matched. They are texts, so that the index 0 counts as well.
        steps.append(
            quoted.replace('\\"', '"')
            if quoted is not None
            else int(index)
            if index
            else every or name
        )
        place = found.end()
    return tuple(steps)


def _reset(new: Any, old: Any, path: Path) -> None:
    first, *rest = path
    new, old = _opened(new), _opened(old)
    for step in _steps(first, new, old):
        if rest:
            if _has(new, step) and (_has(old, step) or isinstance(new, dict)):
                _reset(new[step], old[step] if _has(old, step) else {}, tuple(rest))
        # A map may get a field back; a list gets no further item.
        elif _has(old, step) and (_has(new, step) or isinstance(new, dict)):
            new[step] = _kept(old[step], new[step] if _has(new, step) else None)
        elif isinstance(new, dict):
            new.pop(step, None)


def _steps(step: str | int, new: Any, old: Any) -> Sequence[str | int]:
    if step != _EVERY:
        return [step]
    if isinstance(new, dict) and isinstance(old, Mapping):
        # Each key once, in the order of the old value.
        return [*dict.fromkeys([*old, *new])]
    # Positions that only one of the lists has cannot be set back.
    return range(min(len(new), len(old))) if isinstance(new, list) and isinstance(old, list) else []


def _has(value: Any, step: str | int) -> bool:
    if isinstance(value, Mapping):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and step < len(value)


def _opened(value: Any) -> Any:
    """Return the value inside a secret; other values as they are."""
    return value["value"] if is_marked_secret(value) and "value" in value else value


def _kept(old: Any, new: Any) -> Any:
    """Return the old value, as a secret if the new one is a secret."""
    return {**new, "value": old} if is_marked_secret(new) and not is_marked_secret(old) else old
