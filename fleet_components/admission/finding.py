"""What a stage of admission has against an object, before it is tied to the object's file and line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal

import attrs

from fleet_components.model.problem import FieldPath

Stage = Literal["kind", "strict", "decode", "crd", "webhook"]
"""Who refuses: the API server's list of kinds, kubectl's strict mode, a mutating webhook that cannot decode the
object, the CustomResourceDefinition, or a validating webhook."""


def dotted(path: FieldPath) -> str:
    """A field path as OpenAPI validation writes it: keys behind dots whatever they contain, indices in brackets."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


@attrs.frozen
class Finding:
    """One objection.

    Attributes:
        what: the text as the real system words it, without the field's name.
        path: the field.
        hint: what would do instead.
        stage: who objects.
        clause: what the webhook's text puts before all findings of the same clause, such as
            ``the placement policy field is invalid: ``.
        blocks: rules are not evaluated besides it, as in the API server.
        mismatch: the value has a wrong type.
        follows: an object that could not be read may be what is missing.
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
        """The same finding, its path taken from a field below which it was found."""
        return attrs.evolve(self, path=path + self.path, clause=clause or self.clause)

    @property
    def text(self) -> str:
        """The whole text as the real system shows it."""
        match self.stage:
            case "crd":
                return f"{dotted(self.path) or '<nil>'}: {self.what}"
            case "strict":
                return f"strict decoding error: {self.what}"
        return self.what


@attrs.frozen
class Denial:
    """A webhook's refusal.

    Attributes:
        text: its message.
        findings: what led to it.
    """

    text: str
    findings: tuple[Finding, ...]


def deny(findings: Iterable[Finding], form: str = "%s") -> Denial | None:
    """The refusal that a webhook makes of these findings; None when there are none.

    ``form`` is the webhook's own sentence with one ``%s`` for the findings.
    """
    listed = tuple(attrs.evolve(finding, stage="webhook") for finding in findings)
    return Denial(form % _aggregate(listed), listed) if listed else None


def _aggregate(findings: Sequence[Finding]) -> str:
    texts: list[str] = []
    for clause, members in groupby(findings, key=lambda finding: finding.clause):
        whats = [finding.what for finding in members]
        texts += [clause + _join(whats)] if clause else whats
    return _join(texts)


def _join(texts: Sequence[str]) -> str:
    """Several errors in one, as the API machinery's ``Aggregate`` writes them: each text once."""
    unique = list(dict.fromkeys(texts))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"
