"""Kinds of Karmada with their webhooks. A WorkloadRebalancer has none."""

from __future__ import annotations

from functools import cache

from fleet_components.admission.declared import Declared, kinds_of
from fleet_components.admission.registry import Kind
from fleet_components.model.release import Release
from fleet_components.systems.karmada.admission import cluster
from fleet_components.systems.karmada.admission.overlay import overlay_of
from fleet_components.systems.karmada.admission.webhook.defaults import (
    default_cluster_propagation,
    default_override,
    default_propagation,
)
from fleet_components.systems.karmada.admission.webhook.override import validate_override
from fleet_components.systems.karmada.admission.webhook.propagation import validate_propagation
from fleet_components.systems.karmada.admission.webhook.taint_policy import validate_taint_policy

_GROUP = "policy.karmada.io"
_SCHEDULER = (("spec", "schedulerName"),)

_POLICIES = (
    Declared(_GROUP, "PropagationPolicy", mutate=default_propagation, validate=validate_propagation, held=_SCHEDULER),
    Declared(
        _GROUP,
        "ClusterPropagationPolicy",
        mutate=default_cluster_propagation,
        validate=validate_propagation,
        held=_SCHEDULER,
    ),
    Declared(_GROUP, "OverridePolicy", mutate=default_override, validate=validate_override),
    Declared(_GROUP, "ClusterOverridePolicy", validate=validate_override),
)
_OTHERS = (
    Declared("apps.karmada.io", "WorkloadRebalancer"),
    Declared(_GROUP, "ClusterTaintPolicy", validate=validate_taint_policy),
)

DECLARED = (*_POLICIES, *_OTHERS)
"""Checked kinds that have a definition; the API of Clusters is served by a server of its own and has none."""


@cache
def kinds_in(release: Release) -> tuple[Kind, ...]:
    """Return the checked kinds of a release."""
    overlay = overlay_of(release)
    return (*kinds_of(_POLICIES, overlay), *cluster.KINDS, *kinds_of(_OTHERS, overlay))
