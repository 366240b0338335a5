"""Facts that documents show of placements and templates alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.review.documents.form import Document


@attrs.frozen(kw_only=True)
class Facts:
    """Facts of one subject, in the form that documents show.

    Attributes:
        policy: the policy in short.
        policies: the policies that match a template: policy, wins, why.
        hints: if no member has a required label, the values that the members have for it.
        first_told: members that are not picked and that the API's status names, each with its reason.
        due: members that it has to leave later, each with the reason and the time.
        left: why it stays as it was placed; empty if it does not.
        skipped: objects that are selected and never placed, each with the reason.
        required_by: the members of the templates that require it, by key.
        status: the decision in the form of the API.
    """

    policy: str
    policies: tuple[Document, ...] = ()
    hints: tuple[str, ...] = ()
    first_told: Mapping[str, str] = attrs.field(factory=dict)
    due: Mapping[str, str] = attrs.field(factory=dict)
    left: str = ""
    skipped: tuple[tuple[str, str], ...] = ()
    required_by: Mapping[str, Any] = attrs.field(factory=dict)
    status: Document = attrs.field(factory=dict)
