"""The parts of an override policy that may be left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from fleet_components.content.override_parts import Part, whole
from fleet_components.content.patch import pointer_steps
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FieldPath

IMAGE, COMMAND, ARGS = "imageOverrider", "commandOverrider", "argsOverrider"
LABELS, ANNOTATIONS = "labelsOverrider", "annotationsOverrider"
FIELD, PLAINTEXT = "fieldOverrider", "plaintext"
OVERRIDERS = (IMAGE, COMMAND, ARGS, LABELS, ANNOTATIONS, FIELD, PLAINTEXT)
"""Fields of the overriders, in the order in which they are applied."""


def parts_of(policy: Manifest) -> tuple[Part, ...]:
    """Return the rules of an override policy, each with its parts. A rule without any has
    ``{}`` written.
    """
    spec, override = policy.data["spec"], str(policy.key)
    rules = spec.get("overrideRules")
    if not rules:
        return (_rule(override, 0, ("spec",), spec),)
    return tuple(_rule(override, index, ("spec", "overrideRules", index), rule) for index, rule in enumerate(rules))


def unread(policy: Manifest) -> FieldPath:
    """Return the path of overriders that Karmada does not read, since the policy has rules; empty
    if there are none.

    The webhook refuses them, all but those of fields. Source: ``getOverridersFromOverridePolicies``
    in ``pkg/util/overridemanager/overridemanager.go`` of Karmada 1.19.
    """
    spec = policy.data["spec"]
    beside = spec.get("overrideRules") and any((spec.get("overriders") or {}).values())
    return ("spec", "overriders") if beside else ()


def _rule(override: str, index: int, path: FieldPath, rule: Mapping[str, Any]) -> Part:
    overriders, at = rule.get("overriders") or {}, (*path, "overriders")
    part = Part(override, index, path, at, overriders, neutral={})
    found = (
        _operation(part, (field, place), written)
        for field in OVERRIDERS
        for place, written in enumerate(overriders.get(field) or ())
    )
    return whole(part, tuple(found))


def _operation(rule: Part, below: FieldPath, written: Mapping[str, Any]) -> Part:
    overrider, pieces = below[0], list[tuple[FieldPath, Any, Iterable[str]]]()
    field = (
        [] if written.get("predicate") else pointer_steps(written.get("path") or written.get("fieldPath") or "/spec")
    )
    if overrider in (LABELS, ANNOTATIONS):
        field = ["metadata", "labels" if overrider == LABELS else "annotations"]
        pieces = [(("value", key), value, (*field, key)) for key, value in (written.get("value") or {}).items()]
    elif overrider in (COMMAND, ARGS) and written["operator"] == "remove":
        pieces = [(("value", place), word, field) for place, word in enumerate(written.get("value") or ())]
    elif overrider == FIELD:
        forms = ("json", "yaml")
        pieces = [((form, place), item, field) for form in forms for place, item in enumerate(written.get(form) or ())]
    part = rule.below(below, written, pieces[0][2] if len(pieces) == 1 else field)
    return attrs.evolve(part, parts=tuple(part.below(*piece) for piece in pieces) if len(pieces) > 1 else ())
