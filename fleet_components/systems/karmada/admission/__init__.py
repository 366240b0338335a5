"""Kinds of Karmada, as its CustomResourceDefinitions and webhooks declare and check them."""

from __future__ import annotations

from fleet_components.systems.karmada.admission.kinds import DECLARED, kinds_in

__all__ = ["DECLARED", "MADE_BY_SYSTEM", "kinds_in"]

MADE_BY_SYSTEM = {"policy.karmada.io": ("FederatedResourceQuota",)}
"""Kinds of the same groups, by group, that are known and admitted unchanged."""
