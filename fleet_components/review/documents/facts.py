"""What is told of a placement and of a template alike, each in its own words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.review.documents.form import Document


@attrs.frozen(kw_only=True)
class Facts:
    """What one kind of subject has to tell.

    Attributes:
        policy: the policy in short.
        policies: the policies that match it: policy, wins, why.
        hints: where no member has a label that is asked for: the values that the members have for it.
        first_told: members that are not picked and that the API itself tells of, each with its reason.
        due: members that it has to leave later, each with the reason and the time.
        left: why it is left as it was placed; empty where it is not.
        skipped: objects that are selected and never placed, each with the reason.
        required_by: the members of what takes it along, by key.
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
