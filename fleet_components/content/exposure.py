"""Finds changes of an object that make public what was secret in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fleet_components.content.secret import REDACTED, redacted
from fleet_components.content.secret_kind import letters
from fleet_components.model.problem import FieldPath


def exposes(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether a changed object shows at a path what was hidden there, also in another item of the same list.

    Args:
        before: the object.
        after: the object as changed; it shares with the object what was not changed.
    """
    before, after = _changed(before, after)
    hidden = redacted(before)
    if hidden is before:
        return False
    was, now = list(_leaves(before, hidden)), _leaves(after, redacted(after))
    paths = {path for path, _, sealed in was if sealed}
    secret, public = (
        {(_in_lists(path), value) for path, value, sealed in was if sealed is flag} for flag in (True, False)
    )
    shown = ((path, (_in_lists(path), value)) for path, value, sealed in now if not sealed)
    return any((path in paths or leaf in secret) and leaf not in public for path, leaf in shown)


def _changed(before: Any, after: Any) -> tuple[Any, Any]:
    """Return what differs between two values that share parts, with the kinds around it."""
    match before, after:
        case Mapping(), Mapping() if letters(before.get("kind")) == letters(after.get("kind")):
            keys = [key for key in before if key in after and (key == "kind" or before[key] is not after[key])]
            pairs = {key: _changed(before[key], after[key]) for key in keys}
            return {key: pair[0] for key, pair in pairs.items()}, {key: pair[1] for key, pair in pairs.items()}
        case list(), list() if len(before) == len(after):
            items = [_changed(b, a) for b, a in zip(before, after, strict=True) if b is not a]
            return [b for b, _ in items], [a for _, a in items]
    return before, after


def _leaves(value: Any, hidden: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any, bool]]:
    """Yield the path of each value that is not empty, the value, and whether it is hidden."""
    match value:
        case Mapping():
            for key, item in value.items():
                yield from _leaves(item, REDACTED if hidden == REDACTED else hidden[key], (*path, key))
        case list() | tuple():
            for index, item in enumerate(value):
                yield from _leaves(item, REDACTED if hidden == REDACTED else hidden[index], (*path, index))
        case _ if value not in (None, ""):
            yield path, value, hidden == REDACTED


def _in_lists(path: FieldPath) -> FieldPath:
    """Return the path without the positions in lists, which a change of a list moves."""
    return tuple(-1 if isinstance(step, int) else step for step in path)
