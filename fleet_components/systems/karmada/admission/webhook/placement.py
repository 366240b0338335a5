"""Webhook checks of the placement in a propagation policy.

Source: Karmada 1.19, ``ValidatePlacement`` in ``pkg/util/validation/validation.go``.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.admission.finding import Finding
from fleet_components.admission.registry import Object
from fleet_components.model.labels import key_errors
from fleet_components.model.problem import FieldPath
from fleet_components.model.release import Release
from fleet_components.systems.karmada.admission.field_error import invalid, quoted, unsupported
from fleet_components.systems.karmada.admission.parts import shown_of_propagation
from fleet_components.systems.karmada.admission.webhook.affinity import check_affinities, check_affinity
from fleet_components.systems.karmada.model.release import Rule

_PATH = ("spec", "placement")
_EXISTS_OR_EQUAL = ("", "Exists", "Equal")


def check_placement(placement: Object, release: Release) -> Iterator[Finding]:
    """Yield findings on a placement under a release, in the order of Karmada's checks."""
    groups = placement.get("clusterAffinities", [])
    if "clusterAffinity" in placement and "clusterAffinities" in placement:
        detail = "clusterAffinities cannot co-exist with clusterAffinity"
        yield invalid(
            _PATH,
            shown_of_propagation("placement", placement),
            detail,
            "make the clusterAffinity the first of the groups",
        )
    if not _may_overflow(placement.get("replicaScheduling", {})):
        yield from _check_no_overflow(groups)
    yield from check_affinity(placement.get("clusterAffinity", {}), (*_PATH, "clusterAffinity"))
    yield from check_affinities(groups, (*_PATH, "clusterAffinities"))
    yield from _check_spread(placement.get("spreadConstraints", []))
    yield from _check_workload_affinity(placement.get("workloadAffinity", {}))
    if release.has(Rule.TOLERATIONS_STRICT):
        yield from _check_tolerations(placement.get("clusterTolerations", []))


def _may_overflow(scheduling: Object) -> bool:
    if scheduling.get("replicaSchedulingType") != "Divided":
        return False
    preference = scheduling.get("replicaDivisionPreference")
    dynamic = bool(scheduling.get("weightPreference", {}).get("dynamicWeight"))
    return preference == "Aggregated" or (preference == "Weighted" and dynamic)


def _check_no_overflow(groups: list[Object]) -> Iterator[Finding]:
    for index, group in enumerate(groups):
        if "overflowAffinities" in group:
            path = (*_PATH, "clusterAffinities", index, "overflowAffinities")
            detail = "overflowAffinities can only be used together with dynamic weight or aggregated scheduling"
            hint = "add replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}"
            yield invalid(
                path,
                shown_of_propagation("placement.clusterAffinities[].overflowAffinities", group["overflowAffinities"]),
                detail,
                hint,
            )


def _check_spread(constraints: list[Object]) -> Iterator[Finding]:
    path = (*_PATH, "spreadConstraints")
    fields = [constraint.get("spreadByField") for constraint in constraints]
    for index, constraint in enumerate(constraints):
        yield from _check_constraint(constraint, (*path, index))
        # Reported once per field, at its second occurrence, as in Karmada.
        if fields[index] and fields[:index].count(fields[index]) == 1:
            detail = f"multiple {fields[index]} spread constraints are not allowed"
            yield invalid(
                path, shown_of_propagation("placement.spreadConstraints", constraints), detail, "keep one of them"
            )
    if any(fields) and "cluster" not in fields:
        detail = (
            "the cluster spread constraint must be enabled in one of the constraints "
            "in case of SpreadByField is enabled"
        )
        hint = "add {spreadByField: cluster, minGroups: 1, maxGroups: 10}"
        yield invalid(path, shown_of_propagation("placement.spreadConstraints", constraints), detail, hint)


def _check_constraint(constraint: Object, path: FieldPath) -> Iterator[Finding]:
    value = shown_of_propagation("placement.spreadConstraints[]", constraint)
    least, most = constraint.get("minGroups", 0), constraint.get("maxGroups", 0)
    if constraint.get("spreadByField") and constraint.get("spreadByLabel"):
        yield invalid(path, value, "spreadByLabel should not co-exist with spreadByField", "remove spreadByLabel")
    if least < 0:
        yield invalid(path, value, "minGroups lower than 0 is not allowed", "write minGroups: 1")
    if most < 0:
        yield invalid(path, value, "maxGroups lower than 0 is not allowed", f"write maxGroups: {max(least, 1)}")
    if 0 < most < least:
        yield invalid(path, value, "maxGroups lower than minGroups is not allowed", f"write maxGroups: {least}")


def _check_workload_affinity(affinity: Object) -> Iterator[Finding]:
    path = (*_PATH, "workloadAffinity")
    terms = ("affinity", "antiAffinity")
    for term in terms:
        key = affinity.get(term, {}).get("groupByLabelKey")
        for error in key_errors(key) if key is not None else ():
            yield invalid((*path, term, "groupByLabelKey"), quoted(key), error, "write groupByLabelKey: app.group")
    if all(term in affinity for term in terms) and affinity["affinity"] == affinity["antiAffinity"]:
        detail = "affinity and antiAffinity must not use the same groupByLabelKey"
        yield invalid(
            path, shown_of_propagation("placement.workloadAffinity", affinity), detail, "remove one of the two"
        )


def _check_tolerations(tolerations: list[Object]) -> Iterator[Finding]:
    for index, toleration in enumerate(tolerations):
        operator = toleration.get("operator", "")
        if operator in ("Lt", "Gt"):
            path = (*_PATH, "clusterTolerations", index, "operator")
            yield unsupported(path, operator, _EXISTS_OR_EQUAL, "write operator: Exists")
