"""Validating webhook of OverridePolicies and ClusterOverridePolicies.

Source: Karmada 1.19, ``ValidateOverrideSpec`` in ``pkg/util/validation/validation.go``. As there,
overriders outside of rules (the deprecated form) are not checked themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleet_components.admission.decode import raw_json
from fleet_components.admission.finding import Denial, Finding
from fleet_components.admission.registry import AdmissionRequest, Object
from fleet_components.model.labels import key_errors, value_errors
from fleet_components.model.problem import FieldPath
from fleet_components.model.release import Release
from fleet_components.systems.karmada.admission.field_error import (
    deny_fields,
    duplicate,
    forbidden,
    invalid,
    quoted,
    required,
    shown_of_override,
)
from fleet_components.systems.karmada.admission.webhook.affinity import check_affinity
from fleet_components.systems.karmada.admission.webhook.propagation import (
    check_selectors_namespace,
    namespace_of,
)
from fleet_components.systems.karmada.model.release import Rule

_MAX_ANNOTATIONS = 256 * 1024
# The error text of github.com/go-openapi/jsonpointer, which Karmada uses.
_WRONG_POINTER = 'JSON pointer must be empty or start with a "/"\nJSON pointer error'


def validate_override(request: AdmissionRequest) -> Denial | None:
    """Return the webhook's refusal of an override policy; None if it passes."""
    return deny_fields(_check(request))


def _check(request: AdmissionRequest) -> Iterator[Finding]:
    spec, release = request.object["spec"], request.context.releases.karmada
    target, overriders = spec.get("targetCluster"), spec.get("overriders", {})
    if target is not None:
        yield from check_affinity(target, ("spec", "targetCluster"))
    if target is not None and "overrideRules" in spec:
        detail = "overrideRules and targetCluster can't co-exist"
        hint = "move targetCluster into the rules"
        yield invalid(
            ("spec", "targetCluster"), shown_of_override("targetCluster", target), detail, hint
        )
    if "overrideRules" in spec and _counted(overriders):
        detail = "overrideRules and overriders can't co-exist"
        hint = "move the overriders into a rule: overrideRules: [{overriders: {...}}]"
        yield invalid(
            ("spec", "overriders"), shown_of_override("overriders", overriders), detail, hint
        )
    for index, rule in enumerate(spec.get("overrideRules", ())):
        yield from _check_rule(rule, ("spec", "overrideRules", index), release)
    yield from check_selectors_namespace(spec.get("resourceSelectors", []), namespace_of(request))


def _counted(overriders: Object) -> bool:
    """Return whether any is set as Karmada's emptyOverrides counts: it does not look at the
    fieldOverrider.
    """
    return any(changes for field, changes in overriders.items() if field != "fieldOverrider")


def _check_rule(rule: Object, path: FieldPath, release: Release) -> Iterator[Finding]:
    overriders, at = rule["overriders"], (*path, "overriders")
    for index, change in enumerate(overriders.get("annotationsOverrider", ())):
        yield from _check_annotations(
            change["value"], (*at, "annotationsOverrider", index, "value")
        )
    for index, change in enumerate(overriders.get("labelsOverrider", ())):
        yield from _check_labels(change["value"], (*at, "labelsOverrider", index, "value"))
    for index, image in enumerate(overriders.get("imageOverrider", ())):
        if "predicate" in image:
            pointer = (*at, "imageOverrider", index, "predicate", "path")
            yield from _check_pointer(image["predicate"]["path"], pointer)
    for index, field in enumerate(overriders.get("fieldOverrider", ())):
        yield from _check_field(field, (*at, "fieldOverrider", index), release)
    yield from check_affinity(rule.get("targetCluster", {}), (*path, "targetCluster"))


def _check_annotations(annotations: Object, path: FieldPath) -> Iterator[Finding]:
    for key in annotations:
        # Unlike label keys, annotation keys are validated in lower case (ValidateAnnotations of the
        # API machinery).
        for error in key_errors(key.lower()):
            yield invalid(path, quoted(key), error, "write, for example, example.com/owner")
    if (
        sum(len(text.encode()) for entry in annotations.items() for text in entry)
        > _MAX_ANNOTATIONS
    ):
        yield Finding(
            f"Too long: may not be more than {_MAX_ANNOTATIONS} bytes", path, "write shorter values"
        )


def _check_labels(labels: Object, path: FieldPath) -> Iterator[Finding]:
    for key, value in labels.items():
        for error in key_errors(key):
            yield invalid(path, quoted(key), error, "write, for example, example.com/owner")
        for error in value_errors(value):
            yield invalid(path, quoted(value), error, f"write, for example, {_as_label(value)}")


def _check_field(field: Object, path: FieldPath, release: Release) -> Iterator[Finding]:
    if field.get("yaml") and field.get("json"):
        detail = "FieldOverrider has both YAML and JSON set. Only one is allowed"
        yield invalid(
            path,
            shown_of_override("overriders.fieldOverrider[]", field),
            detail,
            "keep json or yaml",
        )
    if (
        release.has(Rule.FIELD_OVERRIDERS_STRICT)
        and not field.get("yaml")
        and not field.get("json")
    ):
        detail = "FieldOverrider must have either JSON or YAML set"
        yield required(
            path, detail, "add yaml: [{subPath: /level, operator: replace, value: debug}]"
        )
    yield from _check_pointer(field["fieldPath"], (*path, "fieldPath"))
    for form in ("json", "yaml"):
        for index, operation in enumerate(field.get(form, ())):
            yield from _check_operation(operation, (*path, form, index))


def _check_operation(operation: Object, path: FieldPath) -> Iterator[Finding]:
    yield from _check_pointer(operation["subPath"], (*path, "subPath"))
    value, at = operation.get("value"), (*path, "value")
    if operation["operator"] == "remove" and value is not None:
        yield invalid(at, raw_json(value), "value is not allowed for remove operation", "remove it")
    if operation["operator"] != "remove" and value is None:
        yield invalid(at, "null", "value is required for add or replace operation", "add value: 1")


def _check_pointer(pointer: str, path: FieldPath) -> Iterator[Finding]:
    if pointer and not pointer.startswith("/"):
        yield invalid(
            path, quoted(pointer), _WRONG_POINTER, f"write {path[-1]}: /{pointer.replace('.', '/')}"
        )


def _as_label(value: str) -> str:
    """Return a valid label value similar to an invalid text."""
    return re.sub("[^A-Za-z0-9_.-]+", "-", value)[:63].strip("-_.") or "prod"


# Validating webhook of ClusterTaintPolicies.
#
# Source: Karmada 1.19, ``pkg/webhook/clustertaintpolicy/validating.go``.


_NO_EXECUTE = (
    "Configuring taint with NoExecute effect is not allowed, "
    "this capability must be explicitly enabled by administrators through command-line flags"
)


def validate_taint_policy(request: AdmissionRequest) -> Denial | None:
    """Return the webhook's refusal of a ClusterTaintPolicy; None if it passes.

    Assumes that the flag ``--allow-no-execute-taint-policy`` is off, as it is by default.
    """
    return deny_fields(_check_taints(request.object["spec"]["taints"]))


def _check_taints(taints: list[Object]) -> Iterator[Finding]:
    pairs = [(taint["key"], taint["effect"]) for taint in taints]
    for index, (key, effect) in enumerate(pairs):
        path = ("spec", "taints", index)
        if effect == "NoExecute":
            yield forbidden(path, _NO_EXECUTE, "write effect: NoSchedule")
        # Reported at the earlier of the two taints, unlike a duplicate in a Cluster.
        if (key, effect) in pairs[index + 1 :]:
            what = f"Duplicate taint with the same key({key}) and effect({effect}) is not allowed"
            yield duplicate(path, quoted(what), "remove it")
