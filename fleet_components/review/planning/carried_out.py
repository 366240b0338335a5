"""The state that a plan would leave behind: for a plan of what comes after it, before anything is
carried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fleet_components.plan.delivered import delivered
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.state import SECRET_MARK, is_marked_secret
from fleet_components.review.planning.past import MADE_UP
from fleet_components.review.planning.resource import DELETE, Resource
from fleet_components.review.planning.resources import STACK, secret_inputs, stored_in
from fleet_components.testing.monitor import Registration
from fleet_components.testing.program import ProgramRun

_SAYS = (
    "by fleet plan --save-state: nothing was carried out; IDs and what Azure would answer stand for"
    " real ones"
)
_HIDDEN: Mapping[str, Any] = {**SECRET_MARK, "ciphertext": "not saved"}


def after_project(
    run: ProgramRun,
    resources: Iterable[Resource],
    plans: Iterable[FleetPlan],
    export: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the state after the plan of a project, in the form of ``pulumi stack export``, without
    its secrets.

    Args:
        run: a run whose mocks answer as after an update.
        resources: what the plan shows of each resource.
        plans: the plans of its fleets.
        export: the state before.
    """
    # These records have the contents without the data of Secrets: the next plan tells from them
    # which fields change.
    records = {
        stored.urn: dict(stored.outputs)
        for plan in plans
        for stored in delivered(plan, redacted=True)
    }
    registered = {
        registration.urn: _stored(registration, run, records) for registration in run.registrations
    }
    before = {data["urn"]: _without_secrets(data) for data in stored_in(export)}
    found = []
    for resource in resources:
        if resource.type == STACK:
            found.append(
                {
                    "urn": resource.urn,
                    "type": resource.type,
                    "outputs": _without_secrets(run.exports),
                }
            )
        elif resource.change != DELETE:
            found.append(registered.get(resource.urn) or before[resource.urn])
    return {"version": 3, MADE_UP: _SAYS, "deployment": {"resources": found}}


def _stored(
    registration: Registration, run: ProgramRun, records: Mapping[str, Any]
) -> dict[str, Any]:
    identity, outputs = run.answers[registration.urn]
    answered = outputs if registration.custom else run.registered.get(registration.urn, {})
    return {
        "urn": registration.urn,
        "type": registration.type,
        "custom": registration.custom,
        **({"id": identity} if registration.custom else {}),
        "inputs": _hiding(registration.type, registration.inputs),
        "outputs": records.get(registration.urn) or _hiding(registration.type, answered),
        "parent": registration.parent,
        "provider": registration.provider,
        "dependencies": list(registration.dependencies),
        **{key: True for key in ("protect", "retainOnDelete") if registration.options.get(key)},
    }


def _hiding(token: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs or outputs without what is secret in them, whether a program has marked it or
    not.
    """
    secret = secret_inputs(token, values) - {"metadata"}
    return {
        key: _HIDDEN if key in secret else _without_secrets(value) for key, value in values.items()
    }


def _without_secrets(value: Any) -> Any:
    if is_marked_secret(value):
        return _HIDDEN
    if isinstance(value, Mapping):
        return {key: _without_secrets(item) for key, item in value.items() if item is not None}
    return [_without_secrets(item) for item in value] if isinstance(value, list) else value
