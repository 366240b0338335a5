"""The contracts of the scheduler's plug-ins, for plug-ins of your own; see ``docs/plugins.md``.

A plug-in for both systems works on :class:`State`; one for a single system may use the state of
that system.
"""

from fleet_components.model import mask as masks
from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import Mask
from fleet_components.scheduler.framework import (
    Filter,
    Plugin,
    PostBatch,
    PreFilter,
    PreScore,
    SchedulingError,
    Score,
    State,
)
from fleet_components.systems.karmada.scheduler.state import KarmadaState
from fleet_components.systems.kubefleet.scheduler.state import KubeFleetState

__all__ = [
    "Filter",
    "Inventory",
    "KarmadaState",
    "KubeFleetState",
    "Mask",
    "Plugin",
    "PostBatch",
    "PreFilter",
    "PreScore",
    "SchedulingError",
    "Score",
    "State",
    "masks",
]
