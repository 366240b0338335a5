"""What a plan does, without any echo of what was asked for: two plans that differ in it do different things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs

from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.plan.delivered import delivered
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.given import Given
from fleet_components.plan.options import Options, Settings
from fleet_components.plan.past import Past
from fleet_components.plan.source import gathered
from fleet_components.plan.subject import Decided
from tests.fields.schemas import RELEASES

Object = Mapping[str, Any]


@attrs.frozen(kw_only=True)
class Step:
    """One update: what is written, and what the plan is told besides."""

    objects: Sequence[Object]
    as_of: datetime | None = None
    approvals: tuple[str, ...] = ()

    @property
    def options(self) -> Options:
        """What the plan is told."""
        return Options(as_of=self.as_of, settings=Settings(approvals=self.approvals))


def seen(steps: Sequence[Step]) -> Any:
    """What the last of some updates does, all before it carried out; or why there is no plan.

    Raises:
        FleetError: the objects are refused one by one, before anything is planned.
    """
    plan = None
    for step in steps:
        source = gathered(Given(tuple(map(Manifest, step.objects)), releases=RELEASES)).sound()
        past = Past.of(delivered(plan, redacted=False), "fleet") if plan else Past()
        try:
            plan = plan_fleet(source, past, step.options)
        except FleetError as error:
            return [f"{problem.subject}: {problem.what}" for problem in error.problems]
    assert plan is not None
    return _seen(plan)


def _seen(plan: FleetPlan) -> dict[str, Any]:
    return {
        "members": dict(plan.members),
        "waiting": sorted(plan.waiting),
        "refused": [(item.subject, item.what) for item in plan.refused],
        "departures": plan.departures,
        "replacements": plan.replacements,
        "subjects": {subject.name: _done(plan, subject) for subject in plan.subjects},
    }


def _done(plan: FleetPlan, decided: Decided) -> dict[str, Any]:
    outcome, status = (
        decided.outcome,
        decided.outcome.decision.status if decided.outcome.decision else None,
    )
    return {
        "entries": dict(decided.entries),
        "waves": outcome.rollout.waves,
        "sent": {
            member: (plan.keeps(decided, member), sent)
            for member, sent in decided.deliveries.items()
        },
        "versions": [
            warning.what
            for warning in decided.subject.warnings
            if "would hand these out" in warning.what
        ],
        "protected": decided.subject.protected,
        "condition": status and status.condition,
        "decisions": getattr(status, "decisions", None),
        "observed": getattr(decided.record.memory, "schedule", None)
        and decided.record.memory.schedule.observed_group,
        "told": [getattr(outcome, name, None) for name in ("due", "left")],
    }
