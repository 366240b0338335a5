"""Kinds of Karmada 1.19, as its CustomResourceDefinitions and webhooks declare and check them."""

from __future__ import annotations

from fleet_components.admission.karmada import cluster, override, propagation, rebalancer, taint_policy
from fleet_components.admission.registry import Kind

KINDS: tuple[Kind, ...] = (
    *propagation.KINDS,
    *override.KINDS,
    *cluster.KINDS,
    *rebalancer.KINDS,
    *taint_policy.KINDS,
)

MADE_BY_SYSTEM = {"policy.karmada.io": ("FederatedResourceQuota",)}
"""Kinds of the same groups, by group, that are known and admitted unchanged."""
