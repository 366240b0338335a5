"""Admission: what the API servers of KubeFleet and Karmada would answer to an object, computed
without a hub.

:func:`admit` defaults and checks one object of their kinds exactly as a hub does: unknown fields as
in kubectl's strict mode, then the CustomResourceDefinition with its rules, then the webhooks.
"""

from __future__ import annotations

from fleet_components.admission.admit import KINDS, Admission, Refusal, admit, misnamed
from fleet_components.admission.finding import Stage
from fleet_components.admission.registry import Existing

__all__ = ["KINDS", "Admission", "Existing", "Refusal", "Stage", "admit", "misnamed"]
