"""Webhook checks of the failover in a propagation policy.

Source: Karmada 1.19, ``ValidateFailover`` in ``pkg/util/validation/validation.go``.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.admission.finding import Finding
from fleet_components.admission.registry import Object
from fleet_components.model.labels import key_errors
from fleet_components.model.problem import FieldPath
from fleet_components.systems.karmada.admission.field_error import invalid, quoted
from fleet_components.systems.karmada.model.policy import GRACEFULLY, purge_mode_of

_PATH = ("spec", "failover")


def check_failover(failover: Object) -> Iterator[Finding]:
    """Yield findings on the defaulted failover of applications and of members."""
    if "application" in failover:
        yield from _check_application(failover["application"], (*_PATH, "application"))
    yield from _check_state(failover.get("cluster", {}), (*_PATH, "cluster"))


def _check_application(application: Object, path: FieldPath) -> Iterator[Finding]:
    seconds = application["decisionConditions"]["tolerationSeconds"]
    if seconds < 0:
        at = (*path, "decisionConditions", "tolerationSeconds")
        yield invalid(at, str(seconds), "must be greater than or equal to 0", "write tolerationSeconds: 300")
    grace, at = application.get("gracePeriodSeconds"), (*path, "gracePeriodSeconds")
    if grace is not None and purge_mode_of(application["purgeMode"]) != GRACEFULLY:
        yield invalid(at, str(grace), "only takes effect when purgeMode is gracefully", "remove it")
    if grace is not None and grace <= 0:
        yield invalid(at, str(grace), "must be greater than 0", "write gracePeriodSeconds: 600")
    yield from _check_state(application, path)


def _check_state(behavior: Object, path: FieldPath) -> Iterator[Finding]:
    for index, rule in enumerate(behavior.get("statePreservation", {}).get("rules", ())):
        name, at = rule["aliasLabelName"], (*path, "statePreservation", "rules", index, "aliasLabelName")
        for error in key_errors(name):
            yield invalid(at, quoted(name), error, "write, for example, aliasLabelName: job-id")
