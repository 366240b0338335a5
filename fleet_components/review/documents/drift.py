"""Drift as a document."""

from __future__ import annotations

from typing import Any

from fleet_components.review.documents.form import VERSION, Document
from fleet_components.review.planning.drift import Delivered, Drift
from fleet_components.review.planning.kubeconfigs import MemberName


def drift_document(found: Drift) -> Document:
    """Return drift as a document: by member, every object that differs or could not be compared."""
    return {
        "version": VERSION,
        "state": found.state,
        "stack": found.stack,
        "drifted": bool(found.drifted),
        "members": [_member(found, name) for name in found.members],
        "totals": {
            "members": len(found.members),
            "unreached": len(found.unreached),
            "objects": len(found.objects),
            "compared": sum(not item.error for item in found.objects),
            "unrecorded": len(found.unrecorded),
            "changed": sum(not delivered.missing for delivered in found.drifted),
            "missing": sum(delivered.missing for delivered in found.drifted),
        },
    }


def _member(found: Drift, name: MemberName) -> dict[str, Any]:
    objects = [item for item in found.objects if item.member == name]
    shown = [
        item for item in objects if item.differences or (item.error and name not in found.unreached)
    ]
    return {
        "fleet": name.fleet,
        "name": name.member,
        "unreached": found.unreached.get(name),
        "compared": sum(not item.error for item in objects),
        "objects": [_object(delivered) for delivered in shown],
    }


def _object(delivered: Delivered) -> dict[str, Any]:
    key = delivered.standing.key
    return {
        "subject": delivered.standing.subject,
        "apiVersion": delivered.standing.api_version,
        "kind": key.kind,
        "namespace": key.namespace,
        "name": key.name,
        "missing": delivered.missing,
        "recorded": delivered.recorded,
        "error": delivered.error or None,
        "then": delivered.then or None,
        "differences": []
        if delivered.missing
        else [
            {"path": each.path, "delivered": each.wanted, "there": each.there}
            for each in delivered.differences
        ],
    }
