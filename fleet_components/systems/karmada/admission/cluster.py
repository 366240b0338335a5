"""Cluster: structure, and the defaults and checks of Karmada's aggregated API server.

Source of the checks: Karmada 1.19, ``pkg/apis/cluster/validation/validation.go``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fleet_components.admission.finding import Denial, Finding
from fleet_components.admission.registry import AdmissionRequest, AdmittedKind, Object, whole
from fleet_components.admission.schema import (
    anything,
    flag,
    int_or_text,
    integer,
    listing,
    mapping,
    struct,
    text,
)
from fleet_components.model.labels import key_errors, label_errors, value_errors
from fleet_components.systems.karmada.admission.field_error import (
    deny_fields,
    duplicate,
    invalid,
    quoted,
    required,
    shown,
    unsupported,
)

_SYNC_MODES = ("Pull", "Push")
_EFFECTS = ("NoSchedule", "NoExecute")
_MAX_NAME = 48

_SECRET = struct(
    {"namespace": text(required=True), "name": text(required=True)},
    go="v1alpha1.LocalSecretReference",
)
_TAINT = struct(
    {
        "key": text(required=True, example="dedicated"),
        "value": text(),
        "effect": text(required=True, example="NoSchedule", go="v1.TaintEffect"),
        "timeAdded": text(),
    },
    go="v1.Taint",
)
_MODELS = listing(
    struct(
        {
            "grade": integer(required=True),
            "ranges": listing(
                struct(
                    {
                        "name": text(required=True, example="cpu"),
                        "min": int_or_text(required=True, example="0"),
                        "max": int_or_text(required=True, example="1"),
                    },
                    go="v1alpha1.ResourceModelRange",
                ),
                required=True,
            ),
        },
        go="v1alpha1.ResourceModel",
    )
)
_SPEC = struct(
    {
        "id": text(),
        "syncMode": text(required=True, example="Push", go="v1alpha1.ClusterSyncMode"),
        "apiEndpoint": text(),
        "secretRef": _SECRET,
        "impersonatorSecretRef": _SECRET,
        "insecureSkipTLSVerification": flag(),
        "proxyURL": text(),
        "proxyHeader": mapping(text()),
        "provider": text(example="aws"),
        "region": text(example="eu-west-1"),
        "zone": text(),
        "zones": listing(text(), example=["eu-west-1a"]),
        "taints": listing(_TAINT),
        "resourceModels": _MODELS,
    },
    required=True,
    go="v1alpha1.ClusterSpec",
)
_CONDITIONS = listing(
    struct(
        {
            **dict.fromkeys(("type", "status"), text(required=True)),
            **dict.fromkeys(("reason", "message", "lastTransitionTime"), text()),
            "observedGeneration": integer(),
        }
    )
)
_AMOUNTS = mapping(int_or_text())
_STATUS = struct(
    {
        "kubernetesVersion": text(),
        "apiEnablements": listing(
            struct(
                {
                    "groupVersion": text(required=True),
                    "resources": listing(struct({"name": text(), "kind": text(required=True)})),
                }
            )
        ),
        "conditions": _CONDITIONS,
        "nodeSummary": struct({"totalNum": integer(), "readyNum": integer()}),
        "resourceSummary": struct(
            {
                "allocatable": _AMOUNTS,
                "allocating": _AMOUNTS,
                "allocated": _AMOUNTS,
                "allocatableModelings": listing(
                    struct({"grade": integer(required=True), "count": integer(required=True)})
                ),
            }
        ),
        "remedyActions": listing(text()),
    }
)


def validate_cluster(request: AdmissionRequest) -> Denial | None:
    """Return the API server's refusal of a Cluster; None if it passes."""
    spec = request.object["spec"]
    return deny_fields(
        [*_check_name(request.name), *_check_spec(spec), *_check_taints(spec.get("taints", []))]
    )


def _set_defaults(cluster: dict[str, Any]) -> None:
    """Move the deprecated single zone into the list of zones."""
    spec = cluster["spec"]
    if spec.get("zone") and not spec.get("zones"):
        spec["zones"] = [spec.pop("zone")]


def _check_name(name: str) -> Iterator[Finding]:
    too_long = [f"must be no more than {_MAX_NAME} characters"] if len(name) > _MAX_NAME else []
    for error in too_long or label_errors(name):
        yield invalid(
            ("metadata", "name"), quoted(name), error, "write, for example, name: member1"
        )


def _check_spec(spec: Object) -> Iterator[Finding]:
    if spec["syncMode"] not in _SYNC_MODES:
        yield unsupported(
            ("spec", "syncMode"), spec["syncMode"], _SYNC_MODES, "write syncMode: Push"
        )
    for field in ("provider", "region"):
        errors = value_errors(spec.get(field, ""))
        if errors:
            path = ("spec", field)
            yield invalid(
                path,
                quoted(spec[field]),
                "; ".join(errors),
                "write letters, digits, '-', '_' and '.' only",
            )
    if spec.get("zone") and spec.get("zones"):
        hint = "move the zone into zones"
        # Karmada's text names spec twice; `_MISNAMED` of field_error.py has the real field.
        yield invalid(("spec", "spec"), shown(_SPEC, spec), "Zone and Zones cannot co-exist", hint)
        return
    for zone in spec.get("zones", ()):
        errors = value_errors(zone)
        if errors:
            hint = "write letters, digits, '-', '_' and '.' only"
            # With a capital, as in Karmada's text; `_MISNAMED` of field_error.py has the real
            # field.
            yield invalid(("spec", "Zones"), quoted(zone), "; ".join(errors), hint)


def _check_taints(taints: list[Object]) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        path, value = ("spec", "taints", index), taint.get("value", "")
        for error in key_errors(taint["key"]):
            yield invalid(
                (*path, "key"), quoted(taint["key"]), error, "write, for example, key: dedicated"
            )
        errors = value_errors(value)
        # Joined without a space, unlike the errors of a zone: both are Karmada's texts.
        if errors:
            yield invalid(
                (*path, "value"), quoted(value), ";".join(errors), "write, for example, value: gpu"
            )
        if not taint["effect"]:
            yield required((*path, "effect"), "", "write effect: NoSchedule")
        elif taint["effect"] not in _EFFECTS:
            yield unsupported(
                (*path, "effect"), taint["effect"], _EFFECTS, "write effect: NoSchedule"
            )
        if (taint["key"], taint["effect"]) in seen:
            detail = f"{shown(_TAINT, taint)}: taints must be unique by key and effect pair"
            yield duplicate(path, detail, "remove it")
        seen.add((taint["key"], taint["effect"]))


KINDS = (
    AdmittedKind(
        "cluster.karmada.io",
        "v1alpha1",
        "Cluster",
        make=lambda: whole({"spec": _SPEC, "status": anything()}, go="v1alpha1.Cluster"),
        mutate=_set_defaults,
        validate=validate_cluster,
        make_status=lambda: _STATUS,
    ),
)
