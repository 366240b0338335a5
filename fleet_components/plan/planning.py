"""Input of a system for its part of a plan, and the part that it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey, Origin
from fleet_components.model.problem import Problem
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import Source
from fleet_components.plan.subject import Decided
from fleet_components.plan.ways import Ways

Taken = Mapping[ObjectKey, tuple[str, Origin | None]]
"""Objects that a system brings, each with ``Kind key`` of a subject, and where it is written."""


@attrs.frozen
class Planning:
    """Input of a system for its part of a plan.

    Attributes:
        source: the parsed fleet.
        inventory: the members that are scheduled on.
        past: what was decided and what stands.
        options: the limits of the update.
        ways: how placements and policies are delivered.
        taken: objects that the systems before it have taken; no object belongs to two of them.
    """

    source: Source
    inventory: Inventory
    past: Past
    options: Options
    ways: Ways
    taken: Taken = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class SystemPlan:
    """Part of a plan that one system has made.

    Attributes:
        subjects: its placements or templates, decided.
        unselectable: problems of what policies select; without these there is no decision.
        problems: what cannot be carried out.
        warnings: input that is accepted but probably not meant.
        unmatched: yields warnings of what matches nothing, given all subjects of the plan.
        taken: objects that its subjects bring.
        unclaimed: objects that neither it nor a system before it takes; None if it does not look.
        whole_namespaces: namespaces that are selected by name with all that is in them.
        waiting: a digest of each object that waits for a policy, by key.
        refused: refusals of objects that no subject can have.
    """

    subjects: tuple[Decided, ...]
    unselectable: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    unmatched: Callable[[Sequence[Decided]], Iterator[Problem]]
    taken: Taken = attrs.field(factory=dict)
    unclaimed: tuple[Manifest, ...] | None = None
    whole_namespaces: frozenset[str] = frozenset()
    waiting: Mapping[str, str] = attrs.field(factory=dict)
    refused: tuple[Problem, ...] = ()
