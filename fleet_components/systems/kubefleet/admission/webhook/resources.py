"""Webhook checks of resource selectors: whether the kind exists, its scope, and the label
selector.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from fleet_components.admission import decode as gotext
from fleet_components.admission.finding import Finding
from fleet_components.admission.registry import Existing, Object, Scope
from fleet_components.model.codec import decode
from fleet_components.model.kinds import BUILT_IN, BUILT_IN_GROUPS, Kind
from fleet_components.model.selector import LabelSelector
from fleet_components.model.text import nearest

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
    return gotext.fields(
        term, _FIELDS, labelSelector=gotext.label_selector(term.get("labelSelector"))
    )


def brings_contents(term: Object) -> bool:
    """Return whether the selector allows its placement to select single objects of a namespace as
    well.
    """
    kind = (term["group"], term["version"], term["kind"])
    return (
        kind == ("", "v1", "Namespace")
        and term.get("selectionScope") == "NamespaceWithResourceSelectors"
    )


def check_labels(term: Object) -> Iterator[Finding]:
    """Yield findings on the label selector of a resource selector."""
    selector = term.get("labelSelector")
    if selector is None:
        return
    if term.get("name"):
        what = (
            "the labelSelector and name fields are mutually exclusive in selector"
            f" {show_resource_term(term)}"
        )
        yield Finding(
            what, ("labelSelector",), "keep one of the two; two selectors select by both ways"
        )
    yield from check_label_selector(selector, "resource selector")


def check_label_selector(selector: Object | None, holder: str) -> Iterator[Finding]:
    """Yield findings on a label selector; ``holder`` is the webhook's name for the place where it
    is used.
    """
    if selector is not None and (error := decode(LabelSelector, selector).error):
        what = (
            f"the labelSelector in {holder} {gotext.label_selector(selector)} is invalid: {error}"
        )
        do = "operators are In and NotIn with values, Exists and DoesNotExist without"
        yield Finding(what, ("labelSelector",), do)


def unknown_kind(term: Object) -> Finding:
    """Return the refusal of a kind that does not exist."""
    group, version, kind = term["group"], term["version"], term["kind"]
    named = f"{group}/{version}" if group else version
    what = f'failed to get GVR of the selector: no matches for kind "{kind}" in version "{named}"'
    served = served_versions(group, kind)
    if served:
        return Finding(what, ("version",), f"write version: {served[-1]}")
    near = meant(group, kind)
    do = f"write {near}" if near else "put its CustomResourceDefinition beside the other manifests"
    return Finding(what, ("kind",), do, follows=group not in BUILT_IN_GROUPS)


def check_scope(term: Object, scope: Scope, cluster_scoped: bool) -> Iterator[Finding]:
    """Yield a finding if the scope of the kind does not fit the placement."""
    gvk = f"{term['group']}/{term['version']}, Kind={term['kind']}"
    if cluster_scoped and scope == "Namespaced":
        do = (
            "select its namespace (kind: Namespace), add a selector of the namespace with"
            " selectionScope: NamespaceWithResourceSelectors, or use a ResourcePlacement"
        )
        yield Finding(f"{_NOT_FOUND} not a cluster scoped resource: {gvk}", ("kind",), do)
    if not cluster_scoped and scope == "Cluster":
        yield Finding(
            f"{_NOT_FOUND} a cluster scoped resource: {gvk}",
            ("kind",),
            "use a ClusterResourcePlacement",
        )


# Kinds of object that can be selected, with their scope.
#
# Source: the kinds that Kubernetes 1.36 stores by default, and KubeFleet's envelopes. A custom
# kind exists if the context contains its CustomResourceDefinition or an object of it; without a
# hub there is no other way to tell.


_NOT_STORED = ("authentication.k8s.io", "authorization.k8s.io")
"""Groups whose kinds are requests to the API server that are not stored."""
_NOT_YET_STABLE = (
    "ClusterTrustBundle",
    "DeviceTaintRule",
    "LeaseCandidate",
    "PodCertificateRequest",
)
"""Kinds that are off by default, in groups that have stable kinds too."""
_ENVELOPES = ("ClusterResourceEnvelope", "ResourceEnvelope")


def _versions(kind: Kind) -> tuple[str, ...]:
    """Return the versions in which a hub serves a kind by default: the stable ones, the best one
    last.
    """
    if kind.kind in _ENVELOPES:
        return ("v1beta1",)
    if (
        kind.group.endswith(".kubernetes-fleet.io")
        or kind.group in _NOT_STORED
        or kind.kind in _NOT_YET_STABLE
    ):
        return ()
    return tuple(sorted(version for version in kind.versions if re.fullmatch("v[0-9]+", version)))


_OFFERED: Mapping[tuple[str, str], tuple[str, ...]] = {
    key: versions for key, kind in BUILT_IN.items() if (versions := _versions(kind))
}


def scope_of(group: str, version: str, kind: str, context: Existing) -> Scope | None:
    """Return the scope of a kind; None if there is no such kind."""
    versions = served_versions(group, kind)
    if versions:
        return _scope(BUILT_IN[group, kind].namespaced) if version in versions else None
    return context.scopes.get((group, version, kind)) if version else None


def served_versions(group: str, kind: str) -> tuple[str, ...]:
    """Return the versions of a kind that needs no CustomResourceDefinition in the context; empty
    for other kinds.
    """
    return _OFFERED.get((group, kind), ())


def meant(group: str, kind: str) -> str:
    """Return the group, version and kind that were probably meant, as YAML; empty if none is
    similar.
    """
    same = [known for known in _OFFERED if known[1].casefold() == kind.casefold()]
    near = nearest(kind, [name for at, name in _OFFERED if at == group], 0.8)
    found = same or ([(group, near)] if near else [])
    if not found:
        return ""
    of_group, name = found[0]
    version = served_versions(of_group, name)[-1]
    return f"group: {json.dumps(of_group)}, version: {version}, kind: {name}"


def _scope(namespaced: bool) -> Scope:
    return "Namespaced" if namespaced else "Cluster"
