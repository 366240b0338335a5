"""Validating webhook of MemberClusters, which checks their taints.

Source: KubeFleet v0.3.1, ``pkg/utils/validator/membercluster.go``.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.admission import gotext
from fleet_components.admission.finding import Denial, Finding, deny
from fleet_components.admission.registry import Request
from fleet_components.model.labels import KUBERNETES_1_34, key_errors, value_errors

_FIELDS = {"key": "Key", "value": "Value", "effect": "Effect"}


def validate_member_cluster(request: Request) -> Denial | None:
    """Return the webhook's refusal of a MemberCluster; None if it passes."""
    return deny(_check_taints(request.object["spec"].get("taints", ())))


def _check_taints(taints: list[dict[str, str]]) -> Iterator[Finding]:
    for index, taint in enumerate(taints):
        path, shown = ("spec", "taints", index), gotext.fields(taint, _FIELDS)
        for error in key_errors(taint["key"], KUBERNETES_1_34):
            what = f"invalid taint key {shown}: {error}"
            yield Finding(what, (*path, "key"), "write, for example, key: example.com/dedicated")
        for error in value_errors(taint.get("value", ""), KUBERNETES_1_34):
            what = f"invalid taint value {shown}: {error}"
            yield Finding(what, (*path, "value"), "write, for example, value: gpu")
        if taint in taints[:index]:
            yield Finding(f"taint {shown} already exists, taints must be unique", path, "remove it")
