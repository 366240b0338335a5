"""JSON Schema of the document of a plan, which ``fleet plan --schema`` prints.

Every key is named and required, so that a document with a key too many or too few does not fit it.
"""

from __future__ import annotations

from typing import Any

from fleet_components.review.documents.form import VERSION, WORDS, Document
from fleet_components.review.documents.weight import Weight
from fleet_components.review.planning.standing import CONDITIONS

Schema = dict[str, Any]
_ANY: Schema = {}
_MAP: Schema = {"type": "object"}
_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "integer"}
_TRUTH: Schema = {"type": "boolean"}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _choice_of(*values: str) -> Schema:
    return {"enum": list(values)}


def _object(optional: Schema | None = None, /, **keys: Schema) -> Schema:
    properties = {**keys, **(optional or {})}
    return {
        "type": "object",
        "properties": properties,
        "required": list(keys),
        "additionalProperties": False,
    }


def _shared(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


_TEXTS, _MAYBE_TEXT, _MAYBE_NUMBER = _list(_TEXT), _or_null(_TEXT), _or_null(_NUMBER)
_OLD_AND_NEW = _object(old=_MAYBE_NUMBER, new=_MAYBE_NUMBER)
_CHANGES = ("create", "update", "replace", "delete")

_DEFINITIONS: Schema = {
    "departure": _object(
        subject=_MAYBE_TEXT,
        member=_TEXT,
        object=_TEXT,
        fate=_choice_of("deleted", "kept", "forgotten", "moved", "swept", "undone"),
        to=_MAYBE_TEXT,
    ),
    "remaining": _object(
        updates=_NUMBER,
        endless=_TRUTH,
        approvals=_TEXTS,
        waits=_list(_object(why=_TEXT, until=_MAYBE_TEXT)),
        held=_list(_object(members=_TEXTS, why=_TEXT)),
        words=_MAYBE_TEXT,
    ),
    "content": _object(
        object=_TEXT,
        change=_choice_of(*_CHANGES),
        members=_TEXTS,
        later=_TRUTH,
        fate=_MAYBE_TEXT,
        takenUp=_TRUTH,
        fields=_list(_object(field=_TEXT, old=_ANY, new=_ANY)),
        immutable=_TEXTS,
        envelope=_MAYBE_TEXT,
        diff=_TEXT,
        unknown=_TRUTH,
    ),
    "rule": _object(override=_TEXT, rule=_NUMBER, source=_MAYBE_TEXT),
    "overridden": _object(
        members=_TEXTS,
        moving=_TEXTS,
        objects=_or_null(
            _list(
                _object(
                    object=_TEXT,
                    deleted=_or_null(_shared("rule")),
                    fields=_list(_object(field=_TEXT, old=_ANY, new=_ANY, by=_shared("rule"))),
                )
            )
        ),
    ),
    "member": _object(
        name=_TEXT,
        change=_choice_of(*WORDS.values()),
        wave=_MAYBE_NUMBER,
        rank=_MAYBE_NUMBER,
        revision=_OLD_AND_NEW,
        replicas=_OLD_AND_NEW,
        scores=_or_null(_object(affinity=_NUMBER, topologySpread=_NUMBER)),
        why=_TEXT,
        opens=_or_null(_choice_of("update", "approval", "time", "never")),
        unapplied=_MAYBE_TEXT,
    ),
    "updateRun": _object(
        name=_TEXT,
        revision=_MAYBE_NUMBER,
        state=_MAYBE_TEXT,
        outcome=_or_null(_choice_of("Succeeded", "Failed")),
        message=_MAYBE_TEXT,
        approvals=_TEXTS,
        stages=_list(
            _object(
                name=_TEXT,
                clusters=_list(_TEXTS),
                done=_TEXTS,
                moves=_TEXTS,
                waitsBefore=_MAYBE_TEXT,
                waitsAfter=_MAYBE_TEXT,
            )
        ),
        words=_TEXTS,
    ),
    "subject": _object(
        fleet=_TEXT,
        ofFleet=_MAYBE_TEXT,
        name=_TEXT,
        kind=_choice_of("ClusterResourcePlacement", "ResourcePlacement", "Template"),
        key=_TEXT,
        weight=_choice_of(*Weight),
        asBefore=_list(_choice_of(*CONDITIONS)),
        source=_MAYBE_TEXT,
        policy=_TEXT,
        policies=_list(_object(policy=_TEXT, wins=_TRUTH, matches=_TRUTH, why=_TEXT)),
        otherPolicies=_NUMBER,
        plugins=_TEXTS,
        decidedBy=_MAYBE_TEXT,
        delivery=_choice_of("direct", "kubefleet", "karmada"),
        revision=_OLD_AND_NEW,
        objects=_NUMBER,
        content=_or_null(_list(_shared("content"))),
        uncompared=_MAYBE_TEXT,
        overridden=_list(_shared("overridden")),
        departures=_list(_shared("departure")),
        clusters=_list(_shared("member")),
        staying=_TEXTS,
        notPicked=_object(count=_NUMBER, shown=_list(_object(name=_TEXT, why=_TEXT))),
        rollout=_TEXTS,
        division=_TEXTS,
        unfulfilled=_TEXTS,
        hints=_TEXTS,
        due=_list(_object(name=_TEXT, why=_TEXT)),
        left=_MAYBE_TEXT,
        remaining=_shared("remaining"),
        updateRun=_or_null(_shared("updateRun")),
        evictions=_list(
            _object(name=_TEXT, member=_TEXT, checkedNow=_TRUTH, conditions=_list(_MAP))
        ),
        notes=_TEXTS,
        warnings=_TEXTS,
        skipped=_list(_object(object=_TEXT, why=_TEXT)),
        requiredBy=_MAP,
        status=_MAP,
        recorded=_list(_object(field=_TEXT, old=_ANY, new=_ANY)),
        unsure=_MAYBE_TEXT,
        pending=_TRUTH,
    ),
    "resource": _object(
        urn=_TEXT,
        type=_TEXT,
        name=_TEXT,
        change=_or_null(_choice_of(*_CHANGES, "same")),
        differences=_list(_MAP),
        uncompared=_TEXTS,
        parent=_MAYBE_TEXT,
        provider=_MAYBE_TEXT,
        dependencies=_TEXTS,
        options=_MAP,
        inputs=_MAP,
    ),
}

_OF_PROJECTS: Schema = {
    "resources": _or_null(_list(_shared("resource"))),
    "messages": _list(_object(level=_TEXT, text=_TEXT)),
}

_COUNTED = dict.fromkeys((*_CHANGES, "same"), _NUMBER)

_PLAN: Schema = _object(
    _OF_PROJECTS,
    version={"const": VERSION},
    disregarded=_TEXTS,
    headline={**_TEXTS, "minItems": 3, "maxItems": 3},
    view=_object(all=_TRUTH, only=_TEXTS, member=_MAYBE_TEXT),
    fleet={
        "anyOf": [
            _object(paths=_TEXTS, stack=_TEXT),
            _object(project=_TEXT, stack=_TEXT, directory=_TEXT),
        ]
    },
    state=_MAYBE_TEXT,
    against=_MAYBE_TEXT,
    observed=_or_null(
        _object(
            system=_choice_of("kubefleet", "karmada"),
            hub=_TRUTH,
            asOf=_TEXT,
            silent=_list(_object(member=_TEXT, why=_TEXT, since=_MAYBE_TEXT)),
            unanswered=_list(
                _object(
                    apiVersion=_TEXT,
                    kind=_TEXT,
                    namespace=_MAYBE_TEXT,
                    why=_TEXT,
                    since=_MAYBE_TEXT,
                    asked=_TRUTH,
                    subjects=_TEXTS,
                )
            ),
            unknown=_TEXTS,
            hubOnly=_list(
                _object(kind=_TEXT, file=_TEXT, change=_choice_of("new", "edited", "removed"))
            ),
            unseen=_TEXTS,
        )
    ),
    forecast=_NUMBER,
    asOf=_MAYBE_TEXT,
    members=_NUMBER,
    placements=_NUMBER,
    templates=_NUMBER,
    warned=_NUMBER,
    unsure=_NUMBER,
    secretsHidden=_TRUTH,
    changes=_TRUTH,
    unfulfilled=_list(_object(subject=_TEXT, why=_TEXT)),
    asBefore=_object(**dict.fromkeys(CONDITIONS, _TEXTS), left=_MAYBE_TEXT, warnings=_TEXTS),
    refused=_list(
        _object(
            ofFleet=_MAYBE_TEXT,
            subject=_MAYBE_TEXT,
            what=_TEXT,
            hint=_MAYBE_TEXT,
            token=_MAYBE_TEXT,
            field=_MAYBE_TEXT,
            file=_MAYBE_TEXT,
            line=_MAYBE_NUMBER,
        )
    ),
    joining=_TEXTS,
    gone=_object(
        subjects=_TEXTS,
        ofFleets=_list(_MAYBE_TEXT),
        members=_TEXTS,
        objects=_list(_shared("departure")),
        summary=_list(_object(weight=_choice_of("lost", "left", "moved"), text=_TEXT)),
    ),
    replaced=_list(_object(subject=_TEXT, member=_TEXT, object=_TEXT, fields=_TEXTS)),
    remaining=_shared("remaining"),
    subjects=_list(_shared("subject")),
    unchanged=_object(placements=_NUMBER, templates=_NUMBER, members=_NUMBER),
    leftOut=_NUMBER,
    warnings=_TEXTS,
    totals=_object(
        {"resources": _or_null(_object(**_COUNTED))},
        **dict.fromkeys(WORDS.values(), _NUMBER),
    ),
)


def plan_schema() -> Document:
    """Return the schema."""
    about = (
        "What fleet plan, fleet review and fleet simulate print with -o json; docs/plan-document.md"
        " tells the rest."
    )
    title = "The plan of a fleet"
    return {
        "$schema": _DIALECT,
        "title": title,
        "description": about,
        **_PLAN,
        "$defs": _DEFINITIONS,
    }
