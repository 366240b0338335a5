"""The outcome of override rules for an object on its way to a member, and the checks that both
systems share.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.difference import differences
from fleet_components.content.header import check_header, fill_nulls
from fleet_components.content.patch import Operation, PatchError, apply_patch, apply_to_both
from fleet_components.content.secret import REDACTED, is_secret, redacted
from fleet_components.content.secret_text import letters
from fleet_components.content.stored import without_texts
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem, show_path

Object = Mapping[str, Any]


@attrs.frozen
class Forms:
    """The two forms of an object: rules change both.

    Attributes:
        written: the object as its user wrote it, which members get.
        stored: the object as a hub reads it from its API server; decides which rules apply.
    """

    written: Object = attrs.field(repr=False)
    stored: Object = attrs.field(repr=False)

    @classmethod
    def alike(cls, data: Object) -> Forms:
        """Return the forms of an object that is written as it is stored."""
        return cls(data, data)


class OverrideError(Exception):
    """A rule that cannot be applied. The text is the one that the real system logs.

    Attributes:
        shown: the text without values of the object, which may be secret.
        message: the same, for a problem.
        patch: position of the JSON patch operation that fails; None if it is the rule as a whole.
    """

    def __init__(self, text: str, shown: str = "", patch: int | None = None) -> None:
        super().__init__(text)
        self.shown = shown or text
        self.message = Message("rule-fails", "{reason}", reason=self.shown)
        self.patch = patch


@attrs.frozen
class AppliedRule:
    """One rule that was applied.

    Attributes:
        override: the override, as ``Kind namespace/name``.
        rule: position of the rule in the override, from 0.
        before: the object before the rule.
        data: the object after the rule; None if the rule deletes it.
    """

    override: str
    rule: int
    before: Object = attrs.field(repr=False)
    data: Object | None = attrs.field(repr=False)

    @property
    def fields(self) -> tuple[FieldPath, ...]:
        """The fields that the rule has changed, as plans show them; the empty path if it deletes
        the object.
        """
        return (
            ((),)
            if self.data is None
            else tuple(item.path for item in differences(self.before, self.data))
        )


@attrs.frozen
class Overridden:
    """Result of the override rules for an object on one member.

    Attributes:
        data: the object; None if a rule deletes it, or if one failed, which keeps all objects
            from this member only.
        problem: why a rule failed; None if none did.
        steps: the rules that were applied, in order; empty if one failed.
        logged: why a rule failed as the real system logs it, which may quote values of the
            object; never shown.
    """

    data: Object | None
    problem: Problem | None = None
    steps: tuple[AppliedRule, ...] = ()
    logged: str = attrs.field(default="", repr=False)


def patched(forms: Forms, operations: Iterable[Operation]) -> Forms:
    """Return the object after a patch.

    Raises:
        OverrideError: an operation does not apply, or what it makes is no object that a member
            takes.
    """
    try:
        made = _patched(forms, list(operations))
    except PatchError as error:
        raise OverrideError(str(error), patch=error.index) from None
    except ValueError as error:
        raise OverrideError(str(error)) from None
    check_hidden(forms.written, made.written)
    return made


def _patched(forms: Forms, operations: Sequence[Operation]) -> Forms:
    if forms.stored is forms.written:
        return Forms.alike(_object(apply_patch(forms.stored, operations)))
    written = forms.written
    # The hub has these texts in data, and that is where the rule looks for them.
    if any(item.path.startswith("/data") for item in operations):
        written = without_texts(written)
    kept, written = apply_to_both(forms.stored, written, operations)
    return Forms(_object(written), _object(kept))


def check_hidden(before: Object, after: Object) -> None:
    """Refuse a rule that takes the mark off a secret object, also one inside another: its data
    would be public.

    Raises:
        OverrideError: it does.
    """
    if is_secret(before) and not is_secret(after):
        raise OverrideError("makes another kind of a Secret, and its data would be public")
    if after is not before and exposes(before, after):
        raise OverrideError("makes public what was secret")


def _object(made: Any) -> Object:
    """Return what a patch has made, which is an object of any content."""
    if not isinstance(made, Mapping):
        raise OverrideError("makes something else of the object than an object")
    # The real systems decode the result as an unstructured object, which must have a kind.
    if not made.get("kind"):
        missing = "Object 'Kind' is missing"
        raise OverrideError(f"{missing} in '{json.dumps(made, separators=(',', ':'))}'", missing)
    filled = fill_nulls(made)
    problems = check_header(Manifest(filled))
    if problems:
        what = (
            f"makes an object that no member takes: {show_path(problems[0].path)}:"
            f" {problems[0].what}"
        )
        raise OverrideError(what)
    return filled


# Finds changes of an object that make public what was secret in it.


def exposes(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether a changed object shows at a path what was hidden there, also in another item
    of the same list.

    Args:
        before: the object.
        after: the object as changed; it shares with the object what was not changed.
    """
    before, after = _changed(before, after)
    hidden = redacted(before)
    # redacted returns the same object if nothing in it is secret.
    if hidden is before:
        return False
    was, now = list(_leaves(before, hidden)), _leaves(after, redacted(after))
    paths = {path for path, _, sealed in was if sealed}
    secret, public = (
        {(_in_lists(path), value) for path, value, sealed in was if sealed is flag}
        for flag in (True, False)
    )
    shown = ((path, (_in_lists(path), value)) for path, value, sealed in now if not sealed)
    # A value that stood there in public before gives nothing away.
    return any((path in paths or leaf in secret) and leaf not in public for path, leaf in shown)


def _changed(before: Any, after: Any) -> tuple[Any, Any]:
    """Return what differs between two values that share parts, with the kinds around it."""
    match before, after:
        case Mapping(), Mapping() if letters(before.get("kind")) == letters(after.get("kind")):
            # The kind stays in any case: it decides what is secret.
            keys = [
                key
                for key in before
                if key in after and (key == "kind" or before[key] is not after[key])
            ]
            pairs = {key: _changed(before[key], after[key]) for key in keys}
            return {key: pair[0] for key, pair in pairs.items()}, {
                key: pair[1] for key, pair in pairs.items()
            }
        case list(), list() if len(before) == len(after):
            items = [_changed(b, a) for b, a in zip(before, after, strict=True) if b is not a]
            return [b for b, _ in items], [a for _, a in items]
    return before, after


def _leaves(value: Any, hidden: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any, bool]]:
    """Yield the path of each value that is not empty, the value, and whether it is hidden."""
    match value:
        case Mapping():
            # Where a part is hidden as a whole, so is all that is in it.
            for key, item in value.items():
                yield from _leaves(
                    item, REDACTED if hidden == REDACTED else hidden[key], (*path, key)
                )
        case list() | tuple():
            for index, item in enumerate(value):
                yield from _leaves(
                    item, REDACTED if hidden == REDACTED else hidden[index], (*path, index)
                )
        case _ if value not in (None, ""):
            yield path, value, hidden == REDACTED


def _in_lists(path: FieldPath) -> FieldPath:
    """Return the path without the positions in lists, which a change of a list moves."""
    return tuple(-1 if isinstance(step, int) else step for step in path)
