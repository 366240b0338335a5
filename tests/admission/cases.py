"""Recorded validations: the outcome of one in the form of the recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet_components.admission import Admission, Existing, admit
from fleet_components.model.manifest import Manifest
from tests.vectors import releases_of

Case = Mapping[str, Any]
_DECODE = "decode (mutating webhook): "


def run(case: Case) -> Admission:
    """Admit the case's object, by the rules of the release that it was measured on."""
    old = Manifest(case["oldObject"]) if case.get("oldObject") else None
    context = Existing(tuple(map(Manifest, _context(case))), releases_of(case["release"]))
    return admit(Manifest(case["object"]), old=old, context=context)


def _context(case: Case) -> list[dict[str, Any]]:
    """What exists. A budget was recorded with its placement at hand, whatever the names; a hub goes by the name."""
    context = [dict(it) for it in case.get("context") or ()]
    if case["kind"] == "ClusterResourcePlacementDisruptionBudget":
        return [
            {**it, "metadata": {**it["metadata"], **case["object"]["metadata"]}} for it in context
        ]
    return context


def outcome(case: Case) -> dict[str, Any]:
    """What we say, in the form of the recording; a hub by itself drops unknown fields, so ``strict`` is left out."""
    admission = run(case)
    refusals = [it for it in admission.refusals if it.stage != "strict"]
    definition = [
        _DECODE + it.text if it.stage == "decode" else it.text
        for it in refusals
        if it.stage != "webhook"
    ]
    return {
        "valid": not refusals,
        "crdErrors": sorted(definition),
        "webhook": next((it.text for it in refusals if it.stage == "webhook"), ""),
        "afterDefaulting": admission.defaulted.data if case.get("afterDefaulting") else None,
    }


def expected(case: Case) -> dict[str, Any]:
    """What was recorded; webhooks are asked only about what the definition lets through."""
    asked = not case["crdErrors"] and case["webhook"] == "denied"
    return {
        "valid": case["valid"],
        "crdErrors": sorted(case["crdErrors"]),
        "webhook": case["webhookMessage"] if asked else "",
        "afterDefaulting": case.get("afterDefaulting"),
    }
