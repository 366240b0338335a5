"""The webhook of MemberClusters: their taints.

Source: KubeFleet's member cluster validator.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.admission import gotext
from fleet_components.admission.finding import Denial, Finding, deny
from fleet_components.admission.names import label_value_errors, qualified_name_errors
from fleet_components.admission.registry import Request

_FIELDS = {"key": "Key", "value": "Value", "effect": "Effect"}


def validate_member_cluster(request: Request) -> Denial | None:
    """The verdict on a MemberCluster."""
    return deny(_check_taints(request.object["spec"].get("taints", ())))


def _check_taints(taints: list[dict[str, str]]) -> Iterator[Finding]:
    for index, taint in enumerate(taints):
        path, shown = ("spec", "taints", index), gotext.fields(taint, _FIELDS)
        for error in qualified_name_errors(taint["key"]):
            what = f"invalid taint key {shown}: {error}"
            yield Finding(what, (*path, "key"), "write, for example, key: example.com/dedicated")
        for error in label_value_errors(taint.get("value", "")):
            what = f"invalid taint value {shown}: {error}"
            yield Finding(what, (*path, "value"), "write, for example, value: gpu")
        if taint in taints[:index]:
            yield Finding(f"taint {shown} already exists, taints must be unique", path, "remove it")
