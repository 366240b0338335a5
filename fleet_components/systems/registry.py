"""The systems: the one list of them, and the only module that imports their folders."""

from __future__ import annotations

from collections.abc import Mapping

from fleet_components.systems.framework import System
from fleet_components.systems.karmada.system import Karmada
from fleet_components.systems.kubefleet.system import KubeFleet

SYSTEMS: Mapping[str, System] = {system.NAME: system for system in (KubeFleet(), Karmada())}
"""Each system by its name. The first one is the default if nothing names a system."""
BY_COMPONENT: Mapping[str, System] = {system.COMPONENT: system for system in SYSTEMS.values()}
"""Each system by the component type of its subjects."""
