"""Facts that documents show of placements and templates alike, and hints at labels that no member
has.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable

from fleet_components.plan.deviation import Deviation, Rule
from fleet_components.plan.record import particulars
from fleet_components.plan.subject import Decided
from fleet_components.review.documents.form import Document
from fleet_components.rollout.rollout import Change
from fleet_components.status.facts import Facts


def facts_of(decided: Decided) -> Facts:
    """Return the facts of a placement or template."""
    return decided.subject.system.facts(decided)


# Document of the fields that overrides change on the members: members with equal changes
# together.


_MOVES = (Change.ADD, Change.UPDATE)


def overridden_members(decided: Decided) -> list[Document]:
    """Return what overrides change on the members that have the subject once the update is over.

    Members with equal changes share an entry; those whose objects the state hides have no objects.
    """
    numbered: dict[str, list[str]] = defaultdict(list)
    for cluster, placed in sorted(decided.record.decisions.items()):
        if placed.overrides is not None:
            # Members of one number have equal objects, as the values of variables are part of the
            # rules.
            numbered[json.dumps([placed.revision, particulars(placed)])].append(cluster)
    alike: dict[str, Document] = {}
    for members in numbered.values():
        found = decided.subject.deviations(
            decided.record, members[0], decided.record.decisions[members[0]]
        )
        if found == ():
            continue
        objects = None if found is None else deviation_documents(found)
        entry = alike.setdefault(
            json.dumps(objects), {"members": [], "moving": [], "objects": objects}
        )
        entry["members"] += members
        entry["moving"] += [name for name in members if decided.entries[name].change in _MOVES]
    return [
        {**data, "members": sorted(data["members"]), "moving": sorted(data["moving"])}
        for data in alike.values()
    ]


def deviation_documents(found: Iterable[Deviation]) -> list[Document]:
    """Return the objects that overrides change on a member."""
    return [
        {
            "object": str(deviation.key),
            "deleted": rule_document(deviation.deleted) if deviation.deleted else None,
            "fields": [
                {**field.difference.to_wire(), "by": rule_document(field.rule)}
                for field in deviation.fields
            ],
        }
        for deviation in found
    ]


def rule_document(rule: Rule) -> Document:
    """Return the document of a rule."""
    return {"override": rule.override, "rule": rule.position, "source": rule.source or None}
