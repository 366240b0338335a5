"""Facts of a subject that only its system knows, in the form that documents show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

Fact = dict[str, Any]


@attrs.frozen(kw_only=True)
class SubjectFacts:
    """Facts of one subject, in the form that documents show.

    Attributes:
        policy: the policy in short.
        policies: the policies that match a template, and a few that do not: policy, wins, matches,
            why.
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
        evictions: the evictions that a placement remembers: name, member, whether this update has
            checked it, and the conditions.
    """

    policy: str
    policies: tuple[Fact, ...] = ()
    other_policies: int = 0
    hints: tuple[str, ...] = ()
    first_reasons: Mapping[str, str] = attrs.field(factory=dict)
    due: Mapping[str, str] = attrs.field(factory=dict)
    left: str = ""
    skipped: tuple[tuple[str, str], ...] = ()
    required_by: Mapping[str, Any] = attrs.field(factory=dict)
    status: Fact = attrs.field(factory=dict)
    evictions: tuple[Fact, ...] = ()
    update_run: Fact | None = None
