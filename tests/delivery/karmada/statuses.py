"""Statuses of bindings, of their copies and of templates, in one form for recordings and for our own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fleet_components.plan.subject import Decided
from fleet_components.systems.karmada.status.bindings import api_objects
from tests.delivery.karmada.comparison import counts, is_bound
from tests.delivery.karmada.members import TOLD, observed
from tests.delivery.karmada.recording import Step
from tests.delivery.recording import Data, Seen


def statuses_there(step: Step) -> Seen:
    """The recorded statuses."""
    bound = {
        (b["resource"]["kind"], b["resource"]["name"]): b
        for b in step.after["bindings"]
        if counts(b)
    }
    templates = {
        (item["kind"], item["name"].rpartition("/")[2]): item for item in step.after["templates"]
    }
    found = (
        _statuses(kind, name, binding, templates.get((kind, name), {}).get("status"))
        for (kind, name), binding in bound.items()
    )
    return {name: status for pairs in found for name, status in pairs}


def statuses_here(step: Step, templates: Iterable[Decided]) -> Seen:
    """Our own, of the templates that have bindings, from what is known of their copies after a step."""
    found = (_ours(step, template) for template in templates if is_bound(template.outcome))
    return {name: status for pairs in found for name, status in pairs}


def _ours(step: Step, decided: Decided) -> Iterator[tuple[str, Data]]:
    binding, template = api_objects(decided, observed(step, decided))
    return _statuses(
        template["kind"], template["metadata"]["name"], binding["status"], template["status"]
    )


def _statuses(
    kind: str, name: str, binding: Data, template: Data | None
) -> Iterator[tuple[str, Data]]:
    conditions = {
        each["type"]: (each["status"], each["reason"], each["message"])
        for each in binding.get("conditions", ())
    }
    yield (
        f"binding of {kind} {name}",
        {kind: conditions.get(kind) for kind in ("Scheduled", "FullyApplied")},
    )
    yield f"template {kind} {name}", {"status": _told(kind, template)}
    for item in binding.get("aggregatedStatus") or ():
        fields = {field: item.get(field) for field in ("applied", "appliedMessage", "health")}
        yield (
            f"{item['clusterName']} of {kind} {name}",
            {**fields, "status": _told(kind, item.get("status"))},
        )


def _told(kind: str, status: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The part of a status that recordings tell; they have no times, and conditions in any order."""
    fields = {field: (status or {}).get(field) for field in TOLD.get(kind, ())}
    conditions = sorted(fields.pop("conditions", None) or (), key=lambda item: str(item["type"]))
    return {**{field: value for field, value in fields.items() if value}, "conditions": conditions}
