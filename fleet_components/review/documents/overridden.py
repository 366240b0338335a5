"""Fields that overrides change on the members: members with equal changes together."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable

from fleet_components.plan.deviation import Deviation, WrittenRule
from fleet_components.plan.record import particulars
from fleet_components.plan.subject import Decided
from fleet_components.review.documents.schema import (
    FieldAndRule,
    OverriddenMembers,
    OverriddenObject,
    RuleDocument,
)
from fleet_components.review.documents.wire import as_data
from fleet_components.rollout.rollout import Change

_MOVES = (Change.ADD, Change.UPDATE)


def overridden_members(decided: Decided) -> list[OverriddenMembers]:
    """Return what overrides change on the members that have the subject once the update is over.

    Members with equal changes share an entry; those whose objects the state hides have no objects.
    """
    numbered: dict[str, list[str]] = defaultdict(list)
    for cluster, placed in sorted(decided.record.decisions.items()):
        if placed.overrides is not None:
            # Members of one number have equal objects, as the values of variables are part of the
            # rules.
            numbered[json.dumps([placed.revision, particulars(placed)])].append(cluster)
    alike: dict[str, tuple[list[OverriddenObject] | None, list[str]]] = {}
    for members in numbered.values():
        found = decided.subject.deviations(
            decided.record, members[0], decided.record.decisions[members[0]]
        )
        # None means hidden, an empty tuple that no rule changes anything.
        if found == ():
            continue
        objects = None if found is None else deviation_documents(found)
        alike.setdefault(json.dumps(as_data(objects)), (objects, []))[1].extend(members)
    return [
        OverriddenMembers(
            sorted(members),
            sorted(name for name in members if decided.entries[name].change in _MOVES),
            objects,
        )
        for objects, members in alike.values()
    ]


def deviation_documents(found: Iterable[Deviation]) -> list[OverriddenObject]:
    """Return the objects that overrides change on a member."""
    return [
        OverriddenObject(
            str(deviation.key),
            rule_document(deviation.deleted) if deviation.deleted else None,
            [
                FieldAndRule(**field.difference.to_wire(), by=rule_document(field.rule))
                for field in deviation.fields
            ],
        )
        for deviation in found
    ]


def rule_document(rule: WrittenRule) -> RuleDocument:
    """Return the document of a rule."""
    return RuleDocument(rule.override, rule.position, rule.source or None)
