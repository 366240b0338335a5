"""APIEnablement: a new member must serve the object's API."""

from __future__ import annotations

from fleet_components.model.cluster import Cluster
from fleet_components.model.mask import Mask
from fleet_components.scheduler.karmada.state import CycleState


class APIEnablement:
    """Filters out members that lack the API; members that have the object already keep it."""

    name = "APIEnablement"

    def mask(self, state: CycleState, candidates: Mask) -> Mask:
        """Members that serve the API, and current targets. A member that does not say serves every API."""
        return candidates & (state.targets | _serving(state))

    def reason(self, state: CycleState, position: int) -> str:
        """The one text that there is."""
        return "cluster(s) did not have the API resource"

    def remedy(self, state: CycleState, position: int) -> str:
        """What to install."""
        return f"install the API {state.template.kind} of {state.template.api_version} there first"


def _serving(state: CycleState) -> Mask:
    api = (state.template.api_version, state.template.kind)

    def serves(cluster: Cluster) -> bool:
        return cluster.api_enablements is None or api in cluster.api_enablements

    return state.inventory.column(("api", api), lambda: state.inventory.mask_of(serves))
