"""Values of override rules that reach a Secret somewhere in the fleet are secret in every object
that gets them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from fleet_components.content.secret import SecretPatch, secret_patches
from fleet_components.plan.past import Past
from fleet_components.plan.record import Record
from fleet_components.plan.subject import Decided


def sealed(subjects: Iterable[Decided], past: Past) -> tuple[tuple[Decided, ...], Past]:
    """Return the subjects and the past with the secret patches in each of their records."""
    subjects = tuple(subjects)
    records = [
        record
        for decided in subjects
        for record in (decided.before, decided.record, decided.outcome.goal)
    ]
    secret = frozenset(_secret((*records, *past.records.values())))
    if not secret:
        return subjects, past
    known = {name: attrs.evolve(record, secret=secret) for name, record in past.records.items()}
    return tuple(_sealed(decided, secret) for decided in subjects), attrs.evolve(
        past, records=known
    )


def _secret(records: Iterable[Record[Any, Any]]) -> Iterable[SecretPatch]:
    for record in records:
        for rules in record.overrides.values():
            for rule in rules:
                yield from secret_patches(rule)


def _sealed(decided: Decided, secret: frozenset[SecretPatch]) -> Decided:
    outcome = attrs.evolve(
        decided.outcome,
        record=attrs.evolve(decided.record, secret=secret),
        goal=attrs.evolve(decided.outcome.goal, secret=secret),
    )
    return attrs.evolve(
        decided, outcome=outcome, before=attrs.evolve(decided.before, secret=secret)
    )
