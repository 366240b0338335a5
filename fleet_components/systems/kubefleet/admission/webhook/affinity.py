"""Webhook checks of a cluster affinity: label selectors, property selectors and sorters."""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.admission.finding import Finding
from fleet_components.admission.registry import Object
from fleet_components.systems.kubefleet.admission.webhook.properties import (
    check_each_property,
    check_property_selector,
    property_name_error,
)
from fleet_components.systems.kubefleet.admission.webhook.resources import check_label_selector

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def check_required(affinity: Object, *, strict: bool) -> Iterator[Finding]:
    """Yield findings on required terms, which may have label and property selectors but no sorters."""
    for index, term in enumerate(affinity.get(_REQUIRED, {}).get("clusterSelectorTerms", ())):
        for finding in _check_required_term(term, strict=strict):
            yield finding.under(_REQUIRED, "clusterSelectorTerms", index)


def check_preferred(affinity: Object) -> Iterator[Finding]:
    """Yield findings on preferred terms, which may have label selectors and sorters but no property selectors."""
    for index, term in enumerate(affinity.get(_PREFERRED, ())):
        for finding in _check_preference(term["preference"]):
            yield finding.under(_PREFERRED, index, "preference")


def _check_required_term(term: Object, *, strict: bool) -> Iterator[Finding]:
    yield from check_label_selector(term.get("labelSelector"), "cluster selector")
    if "propertySorter" in term:
        what = "PropertySorter is not allowed for RequiredDuringSchedulingIgnoredDuringExecution affinity"
        yield Finding(what, ("propertySorter",), f"move it to a preference of {_PREFERRED}")
    if "propertySelector" in term:
        check = check_property_selector if strict else check_each_property
        for finding in check(term["propertySelector"]):
            yield finding.under("propertySelector", "matchExpressions")


def _check_preference(preference: Object) -> Iterator[Finding]:
    yield from check_label_selector(preference.get("labelSelector"), "preferred cluster selector")
    if "propertySelector" in preference:
        what = "PropertySelector is not allowed for PreferredDuringSchedulingIgnoredDuringExecution affinity"
        do = f"move it to a term of {_REQUIRED}, or rank by a propertySorter"
        yield Finding(what, ("propertySelector",), do)
    if sorter := preference.get("propertySorter"):
        yield from (finding.under("propertySorter") for finding in _check_sorter(sorter))


def _check_sorter(sorter: Object) -> Iterator[Finding]:
    if error := property_name_error(sorter["name"]):
        yield Finding(error, ("name",), "write, for example, name: kubernetes-fleet.io/node-count")
    if sorter["sortOrder"] not in ("Ascending", "Descending"):
        what = f"invalid property sort order {sorter['sortOrder']}"
        yield Finding(what, ("sortOrder",), "write sortOrder: Descending")
