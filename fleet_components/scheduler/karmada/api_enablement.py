"""APIEnablement: a new member must serve the API of the template."""

from __future__ import annotations

from fleet_components.model.cluster import Cluster
from fleet_components.model.mask import Mask
from fleet_components.scheduler.framework import Filter
from fleet_components.scheduler.karmada.state import KarmadaState


class APIEnablement(Filter[KarmadaState]):
    """Filter that rejects members without the API; members that have the object already always pass."""

    name = "APIEnablement"

    def mask(self, state: KarmadaState, candidates: Mask) -> Mask:
        """Return current targets and the candidates that serve the API. A member without API data serves every API."""
        return candidates & (state.targets | _serving(state))

    def reason(self, state: KarmadaState, position: int) -> str:
        """Return Karmada's text, the same for every member."""
        return "cluster(s) did not have the API resource"

    def remedy(self, state: KarmadaState, position: int) -> str:
        """Return which API to install."""
        return f"install the API {state.template.kind} of {state.template.api_version} there first"


def _serving(state: KarmadaState) -> Mask:
    api = (state.template.api_version, state.template.kind)

    def serves(cluster: Cluster) -> bool:
        return cluster.api_enablements is None or api in cluster.api_enablements

    return state.inventory.column(("api", api), lambda: state.inventory.mask_of(serves))
