"""Kinds of Karmada 1.19, as its CustomResourceDefinitions and webhooks declare and check them."""

from __future__ import annotations

from fleet_components.admission.karmada.kinds import DECLARED, KINDS

__all__ = ["DECLARED", "KINDS", "MADE_BY_SYSTEM"]

MADE_BY_SYSTEM = {"policy.karmada.io": ("FederatedResourceQuota",)}
"""Kinds of the same groups, by group, that are known and admitted unchanged."""
