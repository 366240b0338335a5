"""Derive the resources that a stack holds once a plan is delivered: the form in which a render keeps its past."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.content.secret import redacted_content
from fleet_components.content.stamp import FOUND, FOUND_ANNOTATION, annotated
from fleet_components.plan import names
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.past import MODES
from fleet_components.plan.record import FORMAT, Record, particulars
from fleet_components.plan.state import StoredResource
from fleet_components.plan.subject import Decided


def delivered(plan: FleetPlan, *, redacted: bool) -> list[StoredResource]:
    """Return the resources of the stack, as far as the next plan starts from them.

    Args:
        plan: the plan; its decisions count as carried out.
        redacted: True to replace the data of Secrets in contents; digests still show changes.
    """
    return [
        _roster(plan, redacted),
        *(_member(plan, member) for member in plan.members),
        *(resource for one in plan.subjects for resource in _subject(plan, one, redacted)),
    ]


def _roster(plan: FleetPlan, redacted: bool) -> StoredResource:
    outputs = {**plan.roster, "redacted": redacted}
    return _stored(plan, (names.FLEET, names.ROSTER), plan.options.fleet, outputs)


def _member(plan: FleetPlan, member: str) -> StoredResource:
    known = plan.past.members.get(member)
    name = names.member_name(plan.options.fleet, member)
    outputs = {
        "key": name,
        "format": FORMAT,
        "fleet": plan.options.fleet,
        "member": member,
        "identifier": known.identifier if known else "",
        "identity": plan.options.identities.get(member) or (known.identity if known else ""),
        "uid": known.uid if known else "",
        "forgotten": list(plan.forgotten(member)),
    }
    return _stored(plan, (names.FLEET, names.MEMBER), name, outputs)


def _subject(plan: FleetPlan, decided: Decided, redacted: bool) -> Iterator[StoredResource]:
    fleet, key = plan.options.fleet, decided.subject.key
    above = (names.FLEET, names.component_type(decided.subject.COMPONENT))
    record = _without_secrets(decided.record) if redacted else decided.record
    outputs = {"key": decided.name, "fleet": fleet, "protected": decided.subject.protected, **record.to_wire()}
    outputs |= {key: value for key, value in decided.subject.shown().items() if key in MODES}
    token = names.decision_type(decided.subject.COMPONENT)
    yield _stored(plan, (*above, token), names.subject_name(fleet, key), outputs)
    for cluster, placed in decided.record.decisions.items():
        target = names.target_name(fleet, key, cluster)
        yield _stored(plan, (*above, names.TARGET, names.BINDING), target, _binding(plan, decided, cluster, target))
        for data, object_key in zip(decided.deliveries[cluster].written, decided.keys(cluster), strict=True):
            place = (*above, names.TARGET, names.type_token(data))
            # Of an object the next plan reads only where it stands, which the URN tells, and whether it was found.
            found = plan.was_found(cluster, object_key)
            outputs = annotated({}, {FOUND_ANNOTATION: FOUND}) if found else {}
            yield _stored(plan, place, names.object_name(fleet, key, cluster, data), outputs)
        if not (decided.record.knows(placed) or decided.subject.reports):
            yield from _unseen(plan, decided, cluster)


def _without_secrets(record: Record[Any, Any]) -> Record[Any, Any]:
    """Return the record with ``[secret]`` in place of the data of Secrets."""
    contents = {revision: redacted_content(objects) for revision, objects in record.contents.items()}
    overrides = {number: redacted_content(rules) for number, rules in record.overrides.items()}
    return attrs.evolve(record, contents=contents, overrides=overrides)


def _unseen(plan: FleetPlan, decided: Decided, cluster: str) -> Iterator[StoredResource]:
    """Yield the standing objects of a revision whose content is not known."""
    for one in plan.standing_of.get((decided.name, cluster), ()):
        outputs = annotated({}, {FOUND_ANNOTATION: FOUND}) if one.found else {}
        yield StoredResource(one.urn, names.Urn.parse(one.urn).type, {}, outputs)


def _binding(plan: FleetPlan, decided: Decided, cluster: str, target: str) -> dict[str, Any]:
    settled = decided.settled(cluster)
    return {
        "key": target,
        "format": FORMAT,
        "fleet": plan.options.fleet,
        "subject": decided.name,
        "cluster": cluster,
        "revision": settled.revision,
        "keeps": plan.keeps(decided, cluster),
        **({"since": settled.since.isoformat()} if settled.since else {}),
        **particulars(settled),
    }


def _stored(plan: FleetPlan, types: tuple[str, ...], name: str, outputs: Mapping[str, Any]) -> StoredResource:
    above, _, stack = plan.options.stack.rpartition("/")
    urn = f"urn:pulumi:{stack}::{above.rpartition('/')[2]}::{'$'.join(types)}::{name}"
    return StoredResource(urn, types[-1], {}, outputs)
