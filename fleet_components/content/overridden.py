"""The outcome of override rules for an object on its way to a member, and the checks that both
systems share.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.difference import differences
from fleet_components.content.exposure import exposes
from fleet_components.content.header import check_header, fill_nulls
from fleet_components.content.patch import Operation, PatchError, apply_patch, apply_to_both
from fleet_components.content.secret import is_secret
from fleet_components.content.stored import without_texts
from fleet_components.model.manifest import Manifest
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
        patch: position of the JSON patch operation that fails; None if it is the rule as a whole.
    """

    def __init__(self, text: str, shown: str = "", patch: int | None = None) -> None:
        super().__init__(text)
        self.shown = shown or text
        self.patch = patch


@attrs.frozen
class Step:
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
        return ((),) if self.data is None else tuple(item.path for item in differences(self.before, self.data))


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
    steps: tuple[Step, ...] = ()
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
    if problems := check_header(Manifest(filled)):
        what = f"makes an object that no member takes: {show_path(problems[0].path)}: {problems[0].what}"
        raise OverrideError(what)
    return filled
