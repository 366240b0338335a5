"""Marks of the objects that a hub sends, and the change by which it lets them stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.model.manifest import Manifest, ObjectKey

Work = Mapping[str, Any]
"""An object of a hub that holds what it sends to a member."""


@attrs.frozen(kw_only=True)
class HubMarks:
    """Marks of the hub of one system.

    Attributes:
        left: annotations that it leaves on objects that it lets go.
        space: begin of the namespaces in which it has the Works of members.
        works: API group of its Works.
        labels: labels of Works; each Work of a subject has one of them.
        takes: returns whether its agent takes an object for its own, given the metadata.
        owner: returns whether an owner of an object is its agent; None if objects have no owner.
        subjects: returns the keys of what a Work is of, given the Work and what is in it.
        held: returns whether a Work says that nothing is taken over, or deleted, any more.
        hold: version of what steers it, and the change by which it lets objects stay.
    """

    left: tuple[str, ...]
    space: str
    works: str
    labels: tuple[str, ...]
    takes: Callable[[Mapping[str, Any]], bool]
    owner: Callable[[Mapping[str, Any]], bool] | None = None
    subjects: Callable[[Work, Sequence[Manifest]], set[ObjectKey]]
    held: Callable[[Work], bool]
    hold: tuple[str, Mapping[str, Any]]
