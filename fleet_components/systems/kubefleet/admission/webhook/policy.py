"""Webhook checks of a placement's policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fleet_components.admission import decode as gotext
from fleet_components.admission.finding import Finding
from fleet_components.admission.registry import Object
from fleet_components.model.labels import (
    KUBERNETES_1_34,
    key_errors,
    subdomain_errors,
    value_errors,
)
from fleet_components.systems.kubefleet.admission.webhook.properties import (
    check_each_property,
    check_property_selector,
    property_name_error,
)
from fleet_components.systems.kubefleet.admission.webhook.resources import check_label_selector

_MAX_NAME = 63
_TOLERATION = {"key": "Key", "operator": "Operator", "value": "Value", "effect": "Effect"}


def check_policy(policy: Object, *, needs_names: bool, strict: bool) -> Iterator[Finding]:
    """Yield findings on a defaulted placement policy; an empty one is ``PickAll``.

    Args:
        policy: the policy.
        needs_names: whether PickFixed needs names of clusters.
        strict: whether property selectors are held against each other.
    """
    match policy.get("placementType", "PickAll"):
        case "PickFixed":
            yield from _check_pick_fixed(policy, needs_names=needs_names)
        case "PickAll":
            yield from _check_pick_all(policy, strict=strict)
        case "PickN":
            yield from _check_pick_n(policy, strict=strict)


def _check_pick_fixed(policy: Object, *, needs_names: bool) -> Iterator[Finding]:
    if needs_names and not policy.get("clusterNames"):
        what = "cluster names cannot be empty for policy type PickFixed"
        do = (
            "name a member, or write placementType: PickN with numberOfClusters: 0 to place nothing"
            " anywhere"
        )
        yield Finding(what, ("clusterNames",), do)
    yield from _check_names(policy.get("clusterNames", ()))
    if "numberOfClusters" in policy:
        yield _misplaced(
            "numberOfClusters",
            "number of clusters must be nil for policy type PickFixed, only valid for PickN"
            " placement policy type",
        )
    if "affinity" in policy:
        yield _misplaced(
            "affinity",
            "affinity must be nil for policy type PickFixed, only valid for PickAll/PickN placement"
            " policy types",
        )
    if policy.get("topologySpreadConstraints"):
        yield _no_spread("PickFixed")
    if "tolerations" in policy:
        yield _misplaced(
            "tolerations",
            "tolerations needs to be empty for policy type PickFixed, only valid for PickAll/PickN",
        )


def _check_pick_all(policy: Object, *, strict: bool) -> Iterator[Finding]:
    if policy.get("clusterNames"):
        yield _no_names("PickAll")
    if "numberOfClusters" in policy:
        yield _misplaced(
            "numberOfClusters",
            "number of clusters must be nil for policy type PickAll, only valid for PickN placement"
            " policy type",
        )
    affinity = policy.get("affinity", {}).get("clusterAffinity", {})
    yield from _under_affinity(check_required(affinity, strict=strict))
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    if affinity.get(preferred):
        what = (
            "PreferredDuringSchedulingIgnoredDuringExecution will be ignored for placement policy"
            " type PickAll"
        )
        do = "remove it, or write placementType: PickN with numberOfClusters"
        yield Finding(what, ("affinity", "clusterAffinity", preferred), do)
    if policy.get("topologySpreadConstraints"):
        yield _no_spread("PickAll")
    yield from _check_tolerations(policy.get("tolerations", ()))


def _check_pick_n(policy: Object, *, strict: bool) -> Iterator[Finding]:
    if policy.get("clusterNames"):
        yield _no_names("PickN")
    yield from _check_number(policy.get("numberOfClusters"))
    affinity = policy.get("affinity", {}).get("clusterAffinity", {})
    yield from _under_affinity(check_required(affinity, strict=strict))
    yield from _under_affinity(check_preferred(affinity))
    yield from _check_spread(policy.get("topologySpreadConstraints", ()))
    yield from _check_tolerations(policy.get("tolerations", ()))


def _check_number(number: int | None) -> Iterator[Finding]:
    if number is None:
        what = "number of cluster cannot be nil for policy type PickN"
        yield Finding(what, ("numberOfClusters",), "write, for example, numberOfClusters: 3")
    elif number < 0:
        what = f"number of clusters cannot be {number} for policy type PickN"
        yield Finding(what, ("numberOfClusters",), "write, for example, numberOfClusters: 3")


def _check_spread(constraints: Sequence[Object]) -> Iterator[Finding]:
    for index, constraint in enumerate(constraints):
        unsatisfiable = constraint.get("whenUnsatisfiable") or "DoNotSchedule"
        if unsatisfiable not in ("DoNotSchedule", "ScheduleAnyway"):
            path = ("topologySpreadConstraints", index, "whenUnsatisfiable")
            yield Finding(
                f"unknown unsatisfiable type {unsatisfiable}",
                path,
                "write whenUnsatisfiable: DoNotSchedule",
            )


def _under_affinity(findings: Iterator[Finding]) -> Iterator[Finding]:
    return (finding.under("affinity", "clusterAffinity") for finding in findings)


def _misplaced(field: str, what: str) -> Finding:
    return Finding(what, (field,), f"remove {field}")


def _no_names(policy_type: str) -> Finding:
    what = (
        f"cluster names needs to be empty for policy type {policy_type}, only valid for PickFixed"
        " policy type"
    )
    return Finding(
        what, ("clusterNames",), "remove clusterNames, or write placementType: PickFixed"
    )


def _no_spread(policy_type: str) -> Finding:
    what = (
        f"topology spread constraints needs to be empty for policy type {policy_type}, only valid"
        " for PickN "
    )
    return Finding(
        f"{what}policy type", ("topologySpreadConstraints",), "write placementType: PickN"
    )


def _check_names(names: Sequence[str]) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, name in enumerate(names):
        path = ("clusterNames", index)
        errors = subdomain_errors(name, KUBERNETES_1_34)
        if errors:
            what = f"PickFixed cluster name {name} is not a valid member name: {'; '.join(errors)}"
            yield Finding(what, path, "write the name of a MemberCluster")
        # In bytes, as Go's len() counts.
        if len(name.encode()) > _MAX_NAME:
            what = f"PickFixed cluster name {name} cannot have length exceeding {_MAX_NAME}"
            yield Finding(what, path, "write the name of a MemberCluster")
        if name in seen:
            yield Finding(
                "cluster names must be unique for policy type PickFixed", path, f"write {name} once"
            )
            # The webhook stops at the first duplicate.
            return
        seen.add(name)


def _check_tolerations(tolerations: Sequence[Object]) -> Iterator[Finding]:
    for index, toleration in enumerate(tolerations):
        for finding in _check_toleration(toleration):
            yield finding.under("tolerations", index)
        if toleration in tolerations[:index]:
            what = f"toleration {_show(toleration)} already exists, tolerations must be unique"
            yield Finding(what, ("tolerations", index), "remove it")


def _check_toleration(toleration: Object) -> Iterator[Finding]:
    shown, key, value = _show(toleration), toleration.get("key", ""), toleration.get("value", "")
    for error in key_errors(key, KUBERNETES_1_34) if key else ():
        yield Finding(
            f"invalid toleration key {shown}: {error}",
            ("key",),
            "write, for example, key: dedicated",
        )
    if toleration["operator"] == "Exists":
        if value:
            what = (
                f"invalid toleration {shown}: toleration value needs to be empty, when operator is"
                " Exists"
            )
            yield Finding(what, ("value",), "remove the value, or write operator: Equal")
        return
    if not key:
        what = f"invalid toleration {shown}: toleration key cannot be empty, when operator is Equal"
        yield Finding(
            what,
            ("key",),
            "name the key of the taint, or write operator: Exists to tolerate all taints",
        )
    for error in value_errors(value, KUBERNETES_1_34):
        yield Finding(
            f"invalid toleration value {shown}: {error}",
            ("value",),
            "write, for example, value: gpu",
        )


def _show(toleration: Object) -> str:
    return gotext.fields(toleration, _TOLERATION)


# Webhook checks of a cluster affinity: label selectors, property selectors and sorters.


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def check_required(affinity: Object, *, strict: bool) -> Iterator[Finding]:
    """Yield findings on required terms, which may have label and property selectors but no
    sorters.
    """
    for index, term in enumerate(affinity.get(_REQUIRED, {}).get("clusterSelectorTerms", ())):
        for finding in _check_required_term(term, strict=strict):
            yield finding.under(_REQUIRED, "clusterSelectorTerms", index)


def check_preferred(affinity: Object) -> Iterator[Finding]:
    """Yield findings on preferred terms, which may have label selectors and sorters but no property
    selectors.
    """
    for index, term in enumerate(affinity.get(_PREFERRED, ())):
        for finding in _check_preference(term["preference"]):
            yield finding.under(_PREFERRED, index, "preference")


def _check_required_term(term: Object, *, strict: bool) -> Iterator[Finding]:
    yield from check_label_selector(term.get("labelSelector"), "cluster selector")
    if "propertySorter" in term:
        what = (
            "PropertySorter is not allowed for RequiredDuringSchedulingIgnoredDuringExecution"
            " affinity"
        )
        yield Finding(what, ("propertySorter",), f"move it to a preference of {_PREFERRED}")
    if "propertySelector" in term:
        check = check_property_selector if strict else check_each_property
        for finding in check(term["propertySelector"]):
            yield finding.under("propertySelector", "matchExpressions")


def _check_preference(preference: Object) -> Iterator[Finding]:
    yield from check_label_selector(preference.get("labelSelector"), "preferred cluster selector")
    if "propertySelector" in preference:
        what = (
            "PropertySelector is not allowed for PreferredDuringSchedulingIgnoredDuringExecution"
            " affinity"
        )
        do = f"move it to a term of {_REQUIRED}, or rank by a propertySorter"
        yield Finding(what, ("propertySelector",), do)
    sorter = preference.get("propertySorter")
    if sorter:
        yield from (finding.under("propertySorter") for finding in _check_sorter(sorter))


def _check_sorter(sorter: Object) -> Iterator[Finding]:
    error = property_name_error(sorter["name"])
    if error:
        yield Finding(error, ("name",), "write, for example, name: kubernetes-fleet.io/node-count")
    if sorter["sortOrder"] not in ("Ascending", "Descending"):
        what = f"invalid property sort order {sorter['sortOrder']}"
        yield Finding(what, ("sortOrder",), "write sortOrder: Descending")
