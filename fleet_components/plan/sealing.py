"""Values of override rules that reach a Secret somewhere in the fleet are secret in every object
that gets them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from fleet_components.content.secret import SecretPatch, secret_patches
from fleet_components.plan.past import Past
from fleet_components.plan.record import Record
from fleet_components.plan.subject import Decided


def sealed(subjects: tuple[Decided, ...], past: Past) -> tuple[tuple[Decided, ...], Past]:
    """Return the subjects and the past with the secret patches in each of their records."""
    records = [
        record
        for decided in subjects
        for record in (decided.before, decided.record, decided.outcome.goal)
    ]
    secret = frozenset(_secret((*records, *past.records.values())))
    if not secret:
        return subjects, past
    known = {name: attrs.evolve(record, secret=secret) for name, record in past.records.items()}
    past = attrs.evolve(past, records=known)
    return tuple(_sealed(decided, secret) for decided in subjects), past


def _secret(records: Iterable[Record[Any, Any]]) -> Iterator[SecretPatch]:
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
