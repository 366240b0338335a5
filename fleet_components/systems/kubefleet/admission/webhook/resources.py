"""Webhook checks of resource selectors: whether the kind exists, its scope, and the label selector."""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.admission import gotext
from fleet_components.admission.finding import Finding
from fleet_components.admission.registry import Object, Scope
from fleet_components.model.codec import decode
from fleet_components.model.kinds import BUILT_IN_GROUPS
from fleet_components.model.selector import LabelSelector
from fleet_components.systems.kubefleet.admission.webhook.known_resources import meant, served_versions

_FIELDS = {
    "group": "Group",
    "version": "Version",
    "kind": "Kind",
    "name": "Name",
    "labelSelector": "LabelSelector",
    "selectionScope": "SelectionScope",
}
_NOT_FOUND = "the resource is not found in schema (please retry) or it is"


def show_resource_term(term: Object) -> str:
    """Format a resource selector as the webhooks do."""
    return gotext.fields(term, _FIELDS, labelSelector=gotext.label_selector(term.get("labelSelector")))


def brings_contents(term: Object) -> bool:
    """Return whether the selector allows its placement to select single objects of a namespace as well."""
    kind = (term["group"], term["version"], term["kind"])
    return kind == ("", "v1", "Namespace") and term.get("selectionScope") == "NamespaceWithResourceSelectors"


def check_labels(term: Object) -> Iterator[Finding]:
    """Yield findings on the label selector of a resource selector."""
    selector = term.get("labelSelector")
    if selector is None:
        return
    if term.get("name"):
        what = f"the labelSelector and name fields are mutually exclusive in selector {show_resource_term(term)}"
        yield Finding(what, ("labelSelector",), "keep one of the two; two selectors select by both ways")
    yield from check_label_selector(selector, "resource selector")


def check_label_selector(selector: Object | None, holder: str) -> Iterator[Finding]:
    """Yield findings on a label selector; ``holder`` is the webhook's name for the place where it is used."""
    if selector is not None and (error := decode(LabelSelector, selector).error):
        what = f"the labelSelector in {holder} {gotext.label_selector(selector)} is invalid: {error}"
        do = "operators are In and NotIn with values, Exists and DoesNotExist without"
        yield Finding(what, ("labelSelector",), do)


def unknown_kind(term: Object) -> Finding:
    """Return the refusal of a kind that does not exist."""
    group, version, kind = term["group"], term["version"], term["kind"]
    named = f"{group}/{version}" if group else version
    what = f'failed to get GVR of the selector: no matches for kind "{kind}" in version "{named}"'
    if served := served_versions(group, kind):
        return Finding(what, ("version",), f"write version: {served[-1]}")
    near = meant(group, kind)
    do = f"write {near}" if near else "put its CustomResourceDefinition beside the other manifests"
    return Finding(what, ("kind",), do, follows=group not in BUILT_IN_GROUPS)


def check_scope(term: Object, scope: Scope, cluster_scoped: bool) -> Iterator[Finding]:
    """Yield a finding if the scope of the kind does not fit the placement."""
    gvk = f"{term['group']}/{term['version']}, Kind={term['kind']}"
    if cluster_scoped and scope == "Namespaced":
        do = (
            "select its namespace (kind: Namespace), add a selector of the namespace with selectionScope: "
            "NamespaceWithResourceSelectors, or use a ResourcePlacement"
        )
        yield Finding(f"{_NOT_FOUND} not a cluster scoped resource: {gvk}", ("kind",), do)
    if not cluster_scoped and scope == "Cluster":
        yield Finding(f"{_NOT_FOUND} a cluster scoped resource: {gvk}", ("kind",), "use a ClusterResourcePlacement")
