"""Findings of the admission stages on an object, before they are tied to its location."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath

Stage = Literal["kind", "strict", "decode", "crd", "webhook"]
"""Source of a refusal: the API server's list of kinds, kubectl's strict mode, a mutating webhook
that cannot decode the object, the CustomResourceDefinition, or a validating webhook.
"""


def dotted(path: FieldPath) -> str:
    """Format a field path as OpenAPI validation does: keys after dots whatever they contain,
    indices in brackets.
    """
    return "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in path
    ).removeprefix(".")


@attrs.frozen
class Finding:
    """One objection to an object.

    Attributes:
        what: the text in the words of the real system, without the field's name.
        path: the field.
        hint: what to write instead.
        stage: the stage that objects.
        clause: the text that the webhook puts before all findings of the same clause, such as
            ``the placement policy field is invalid: ``.
        blocks: whether it prevents the evaluation of rules, as in the API server.
        mismatch: whether the value has a wrong type.
        follows: whether its cause may be an object that could not be read.
    """

    what: str
    path: FieldPath = ()
    hint: str = ""
    stage: Stage = "crd"
    clause: str = ""
    blocks: bool = False
    mismatch: bool = False
    follows: bool = False

    def under(self, *path: str | int, clause: str = "") -> Finding:
        """Return the same finding with its path and clause prefixed by those of the enclosing
        field.
        """
        return attrs.evolve(self, path=path + self.path, clause=clause or self.clause)

    def message(self) -> Message:
        """Return it for a problem: the words are those of the real system."""
        return Message("field-invalid", "{objection}", objection=self.what)

    @property
    def text(self) -> str:
        """Complete text as the real system shows it."""
        match self.stage:
            case "crd":
                return f"{dotted(self.path) or '<nil>'}: {self.what}"
            case "strict":
                return f"strict decoding error: {self.what}"
        return self.what


@attrs.frozen
class Denial:
    """Refusal by a webhook.

    Attributes:
        text: the message of the webhook.
        findings: the findings that led to it.
    """

    text: str
    findings: tuple[Finding, ...]


def deny(findings: Iterable[Finding], form: str = "%s") -> Denial | None:
    """Return the refusal that a webhook makes of these findings; None if there are none.

    ``form`` is the webhook's own sentence with one ``%s`` for the findings.
    """
    listed = tuple(attrs.evolve(finding, stage="webhook") for finding in findings)
    return Denial(form % _aggregate(listed), listed) if listed else None


def _aggregate(findings: Sequence[Finding]) -> str:
    texts: list[str] = []
    # Not sorted before: the order is that of the webhook, which checks clause by clause.
    for clause, members in groupby(findings, key=lambda finding: finding.clause):
        whats = [finding.what for finding in members]
        texts += [clause + _join(whats)] if clause else whats
    return _join(texts)


def _join(texts: Sequence[str]) -> str:
    """Join several errors like the API machinery's ``Aggregate``, which shows each text once."""
    unique = list(dict.fromkeys(texts))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"
