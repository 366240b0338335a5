"""Validating webhooks of ClusterResourceOverrides and ResourceOverrides.

Source: KubeFleet v0.3.1, ``clusterresourceoverride.go`` and ``resourceoverride.go`` in
``pkg/utils/validator``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fleet_components.admission import decode as gotext
from fleet_components.admission.finding import Denial, Finding, deny
from fleet_components.admission.registry import AdmissionRequest, Object
from fleet_components.model.manifest import Manifest
from fleet_components.systems.kubefleet.admission.webhook.resources import (
    check_label_selector,
    show_resource_term,
)

_MAX_OVERRIDES = 100
_NAMED = {"group": "Group", "version": "Version", "kind": "Kind", "name": "Name"}
_RULES = ("spec", "policy", "overrideRules")
_ANNOTATION = "write, for example, path: /metadata/annotations/owner"


def validate_cluster_override(request: AdmissionRequest) -> Denial | None:
    """Return the webhook's refusal of a ClusterResourceOverride; None if it passes."""
    others = list(request.existing("ClusterResourceOverride"))
    if _is_full(request, others):
        return _limit(
            "clusterResourceOverride limit has been reached: at most 100 cluster resources can be"
            " created."
        )
    return _verdict(request, others, "clusterResourceSelectors", show_resource_term)


def validate_override(request: AdmissionRequest) -> Denial | None:
    """Return the webhook's refusal of a ResourceOverride; None if it passes."""
    namespace = request.metadata.get("namespace", "")
    others = [it for it in request.existing("ResourceOverride") if it.namespace == namespace]
    if _is_full(request, others):
        return _limit(
            "resourceOverride limit has been reached: at most 100 resources can be created."
        )
    return _verdict(request, others, "resourceSelectors", lambda term: gotext.fields(term, _NAMED))


def _is_full(request: AdmissionRequest, others: Sequence[Manifest]) -> bool:
    # An update adds no override, so it passes even at the limit.
    return request.old is None and sum(it.name != request.name for it in others) >= _MAX_OVERRIDES


def _limit(what: str) -> Denial | None:
    return deny([Finding(what, hint="select more resources with one override: up to 20 each")])


def _verdict(
    request: AdmissionRequest, others: Sequence[Manifest], field: str, show: Callable[[Object], str]
) -> Denial | None:
    spec = request.object["spec"]
    unfit = list(_check_selectors(spec[field], field, show))
    # The webhook stops here: it looks at neither the other overrides nor the policy.
    if unfit:
        return deny(unfit)
    taken = list(_check_taken(request, others, field, show))
    return deny(taken + _check_policy(spec["policy"]))


def _check_selectors(
    terms: Sequence[Object], field: str, show: Callable[[Object], str]
) -> Iterator[Finding]:
    for index, term in enumerate(terms):
        path, shown = ("spec", field, index), show(term)
        if "labelSelector" in term:
            what = f"label selector is not supported for resource selection {shown}"
            yield Finding(what, (*path, "labelSelector"), "name each resource: name: my-app")
        elif not term.get("name") and field == "clusterResourceSelectors":
            what = f"resource name is required for resource selection {shown}"
            yield Finding(what, (*path, "name"), "write, for example, name: my-app")
        elif term in terms[:index]:
            what = f"resource selector {shown} already exists, and must be unique"
            yield Finding(what, path, "remove it")


def _check_taken(
    request: AdmissionRequest, others: Sequence[Manifest], field: str, show: Callable[[Object], str]
) -> Iterator[Finding]:
    terms = request.object["spec"][field]
    for index, term in enumerate(terms):
        holders = [it.name for it in others if term in _selectors(it, field)]
        # The webhook keeps only the last of several overrides that select the same object.
        if holders and holders[-1] != request.name:
            what = (
                f"invalid resource selector {show(term)}: the resource has been selected by both"
                f" {request.name} and {holders[-1]}, which is not supported"
            )
            yield Finding(what, ("spec", field, index), f"put the rules of both into {holders[-1]}")


def _selectors(other: Manifest, field: str) -> list[Object]:
    """Return the selectors of an existing override, with their default."""
    default = (
        {"selectionScope": "NamespaceWithResources"} if field == "clusterResourceSelectors" else {}
    )
    return [{**default, **term} for term in (other.data.get("spec") or {}).get(field) or ()]


def _check_policy(policy: Object) -> list[Finding]:
    found: list[Finding] = []
    for index, rule in enumerate(policy["overrideRules"]):
        at = (*_RULES, index)
        found += [
            finding.under(*at)
            for finding in _check_cluster_selector(rule.get("clusterSelector", {}))
        ]
        patches = rule.get("jsonPatchOverrides", ())
        if rule["overrideType"] == "Delete" and patches:
            what = (
                "invalid JSONPatchOverrides: JSONPatchOverrides cannot be set when the override"
                " type is Delete"
            )
            # The webhook drops its earlier findings on the policy here.
            return [
                Finding(
                    what,
                    (*at, "jsonPatchOverrides"),
                    "remove them, or write overrideType: JSONPatch",
                )
            ]
        if rule["overrideType"] == "JSONPatch":
            found += [
                finding.under(*at, "jsonPatchOverrides") for finding in _check_patches(patches)
            ]
    return found


def _check_cluster_selector(selector: Object) -> Iterator[Finding]:
    for index, term in enumerate(selector.get("clusterSelectorTerms", ())):
        for finding in _check_term(term):
            yield finding.under("clusterSelector", "clusterSelectorTerms", index)


def _check_term(term: Object) -> Iterator[Finding]:
    if "propertySelector" in term or "propertySorter" in term:
        what = f"invalid clusterSelector {_show_term(term)}: only labelSelector is supported"
        yield Finding(what, (), "write labelSelector: {matchLabels: {env: prod}}")
    elif "labelSelector" not in term:
        what = f"invalid clusterSelector {_show_term(term)}: labelSelector is required"
        do = (
            "write labelSelector: {matchLabels: {env: prod}}, or clusterSelectorTerms: [] for all"
            " clusters"
        )
        yield Finding(what, (), do)
    else:
        yield from check_label_selector(term["labelSelector"], "cluster selector")


def _show_term(term: Object) -> str:
    names = {
        "labelSelector": "LabelSelector",
        "propertySelector": "PropertySelector",
        "propertySorter": "PropertySorter",
    }
    # Go prints the address of a pointer; gotext has a placeholder for it.
    pointers = {
        key: gotext.POINTER if key in term else "<nil>"
        for key in ("propertySelector", "propertySorter")
    }
    return gotext.fields(
        term, names, labelSelector=gotext.label_selector(term.get("labelSelector")), **pointers
    )


def _check_patches(patches: Sequence[Object]) -> Iterator[Finding]:
    if not patches:
        what = "invalid JSONPatchOverrides: JSONPatchOverrides cannot be empty"
        yield Finding(
            what,
            (),
            "write, for example, jsonPatchOverrides: [{op: remove, path: /metadata/labels/old}]",
        )
    for index, patch in enumerate(patches):
        prefix = f"invalid JSONPatchOverride {_show_patch(patch)}:"
        error = _path_error(patch["path"])
        if error:
            yield Finding(f"{prefix} {error}", (index, "path"), _ANNOTATION)
        if patch["op"] == "remove" and "value" in patch:
            yield Finding(
                f"{prefix} remove operation cannot have value", (index, "value"), "remove the value"
            )


def _show_patch(patch: Object) -> str:
    value = gotext.raw_json(patch["value"]) if "value" in patch else ""
    return f"{{{patch['op']} {patch['path']} {{{value}}}}}"


def _path_error(path: str) -> str:
    if not path:
        return "path cannot be empty"
    if not path.startswith("/"):
        return "path must start with /"
    match path.split("/")[1:]:
        case ["kind" | "apiVersion", *_]:
            return "cannot override typeMeta fields"
        case ["metadata"]:
            return "cannot override field metadata"
        case ["metadata", second, *_] if second not in ("annotations", "labels"):
            return "cannot override metadata fields except annotations and labels"
        case ["status", *_]:
            return "cannot override status fields"
        case parts if any(not part.strip() for part in parts):
            return "path cannot contain empty string"
    return ""
