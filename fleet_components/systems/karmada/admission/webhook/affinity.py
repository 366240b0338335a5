"""Webhook checks of cluster affinities.

Source: Karmada 1.19, ``ValidatePlacement`` in ``pkg/util/validation/validation.go``. Label
selectors are not checked; an invalid one matches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.admission.finding import Finding
from fleet_components.admission.registry import Object
from fleet_components.model.labels import key_errors
from fleet_components.model.problem import FieldPath
from fleet_components.systems.karmada.admission.field_error import (
    invalid,
    quoted,
    shown_of_propagation,
)

_FIELDS = ("provider", "region", "zone")
_OPERATORS = ("In", "NotIn")
_SELECTING = ("labelSelector", "fieldSelector", "clusterNames", "exclude")


def check_affinity(affinity: Object, path: FieldPath) -> Iterator[Finding]:
    """Yield findings on the field selector of a cluster affinity; only its first error is
    reported.
    """
    selector = affinity.get("fieldSelector", {})
    for expression in selector.get("matchExpressions", ()):
        detail = _wrong_expression(expression)
        if detail:
            hint = "write, for example, {key: region, operator: In, values: [eu-west-1]}"
            yield invalid(
                (*path, "fieldSelector"),
                shown_of_propagation("placement.clusterAffinity.fieldSelector", selector),
                detail,
                hint,
            )
            return


def check_affinities(groups: list[Object], path: FieldPath) -> Iterator[Finding]:
    """Yield findings on the names of the affinity groups and the affinity of each."""
    names: set[str] = set()
    for index, group in enumerate(groups):
        name = group["affinityName"]
        for error in key_errors(name):
            yield invalid(
                (*path, index), quoted(name), error, "write, for example, affinityName: primary"
            )
        if name in names:
            detail = "each affinity term in a policy must have a unique name"
            yield invalid(
                path,
                shown_of_propagation("placement.clusterAffinities", groups),
                detail,
                f"rename one of the groups {quoted(name)}",
            )
        names.add(name)
        yield from check_affinity(group, (*path, index))
        yield from _check_overflow(group, (*path, index))


def _check_overflow(group: Object, path: FieldPath) -> Iterator[Finding]:
    if "overflowAffinities" not in group:
        return
    overflow, at = group["overflowAffinities"], (*path, "overflowAffinities")
    # In Go the two selectors are pointers, which are set even if empty; lists count by length.
    if not any(group.get(field) for field in _SELECTING[2:]) and not any(
        field in group for field in _SELECTING[:2]
    ):
        detail = "overflowAffinities can only be used together with the inline ClusterAffinity"
        yield invalid(
            at,
            shown_of_propagation("placement.clusterAffinities[].overflowAffinities", overflow),
            detail,
            "add clusterNames: [member1] to the group",
        )
    names = {group["affinityName"]}
    for index, tier in enumerate(overflow):
        name, where = tier["affinityName"], (*at, index)
        for error in key_errors(name):
            yield invalid(
                (*where, "affinityName"),
                quoted(name),
                error,
                "write, for example, affinityName: overflow",
            )
        if name in names:
            detail = (
                "overflow affinity name must be unique and must not duplicate the primary group's"
                " affinityName"
            )
            yield invalid(
                (*where, "affinityName"),
                quoted(name),
                detail,
                f"write affinityName: {name}-{index + 1}",
            )
        names.add(name)
        yield from check_affinity(tier, where)


def _wrong_expression(expression: Object) -> str:
    if expression["key"] not in _FIELDS:
        return f"unsupported key {quoted(expression['key'])}, must be provider, region, or zone"
    if expression["operator"] not in _OPERATORS:
        return f"unsupported operator {quoted(expression['operator'])}, must be In or NotIn"
    return ""
