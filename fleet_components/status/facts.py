"""Facts of a subject that only its system knows, in the form that documents show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import attrs


@attrs.frozen
class StageDocument:
    """A stage of an update run."""

    name: str
    clusters: Sequence[Sequence[str]]
    done: Sequence[str]
    moves: Sequence[str]
    waits_before: str | None
    waits_after: str | None


@attrs.frozen
class UpdateRunDocument:
    """The update run that is or was in force."""

    DEFINITION: ClassVar = "updateRun"
    name: str
    revision: int | None
    state: str | None
    outcome: Literal["Succeeded", "Failed"] | None
    message: str | None
    approvals: Sequence[str]
    stages: Sequence[StageDocument]
    words: Sequence[str]


@attrs.frozen
class PolicyDocument:
    """A policy that may claim a template."""

    policy: str
    wins: bool
    matches: bool
    why: str


@attrs.frozen
class EvictionDocument:
    """An eviction that a placement remembers."""

    name: str
    member: str
    checked_now: bool
    conditions: Sequence[Mapping[str, Any]]


@attrs.frozen(kw_only=True)
class SubjectFacts:
    """Facts of one subject, in the form that documents show.

    Attributes:
        policy: the policy in short.
        policies: the policies that match a template, and a few that do not.
        other_policies: the number of all others.
        hints: if no member has a required label, the values that the members have for it.
        first_reasons: members that are not picked and that the API's status names, each with its
            reason.
        due: members that it has to leave later, each with the reason and the time.
        left: why it stays as it was placed; empty if it does not.
        skipped: objects that are selected and never placed, each with the reason.
        required_by: the members of the templates that require it, by key.
        status: the decision in the form of the API.
        update_run: the update run that is or was in force; None if there is none.
        evictions: the evictions that a placement remembers.
    """

    policy: str
    policies: tuple[PolicyDocument, ...] = ()
    other_policies: int = 0
    hints: tuple[str, ...] = ()
    first_reasons: Mapping[str, str] = attrs.field(factory=dict)
    due: Mapping[str, str] = attrs.field(factory=dict)
    left: str = ""
    skipped: tuple[tuple[str, str], ...] = ()
    required_by: Mapping[str, Any] = attrs.field(factory=dict)
    status: dict[str, Any] = attrs.field(factory=dict)
    evictions: tuple[EvictionDocument, ...] = ()
    update_run: UpdateRunDocument | None = None
