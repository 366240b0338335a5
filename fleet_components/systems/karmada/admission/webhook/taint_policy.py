"""Validating webhook of ClusterTaintPolicies.

Source: Karmada 1.19, ``pkg/webhook/clustertaintpolicy/validating.go``.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.admission.finding import Denial, Finding
from fleet_components.admission.registry import Object, Request
from fleet_components.systems.karmada.admission.field_error import deny_fields, duplicate, forbidden, quoted

_NO_EXECUTE = (
    "Configuring taint with NoExecute effect is not allowed, "
    "this capability must be explicitly enabled by administrators through command-line flags"
)


def validate_taint_policy(request: Request) -> Denial | None:
    """Return the webhook's refusal of a ClusterTaintPolicy; None if it passes.

    Assumes that the flag ``--allow-no-execute-taint-policy`` is off, as it is by default.
    """
    return deny_fields(_check(request.object["spec"]["taints"]))


def _check(taints: list[Object]) -> Iterator[Finding]:
    pairs = [(taint["key"], taint["effect"]) for taint in taints]
    for index, (key, effect) in enumerate(pairs):
        path = ("spec", "taints", index)
        if effect == "NoExecute":
            yield forbidden(path, _NO_EXECUTE, "write effect: NoSchedule")
        if (key, effect) in pairs[index + 1 :]:
            what = f"Duplicate taint with the same key({key}) and effect({effect}) is not allowed"
            yield duplicate(path, quoted(what), "remove it")
