"""APIEnablement: a new member must serve the API of the template."""

from __future__ import annotations

from collections.abc import Iterable

from fleet_components.model.mask import Mask
from fleet_components.scheduler.edit import ADD, MEMBER, Edit, Edits
from fleet_components.scheduler.framework import Filter
from fleet_components.systems.karmada.scheduler.state import KarmadaState


class APIEnablement(Filter[KarmadaState]):
    """Filter that rejects members without the API; members that have the object already always
    pass.
    """

    name = "APIEnablement"

    def mask(self, state: KarmadaState, candidates: Mask) -> Mask:
        """Return current targets and the candidates that serve the API. A member without API data
        serves every API.
        """
        return candidates & (state.targets | _serving(state))

    def reason(self, state: KarmadaState, position: int) -> str:
        """Return Karmada's text, the same for every member."""
        return "cluster(s) did not have the API resource"

    def admitting(self, state: KarmadaState, position: int) -> Iterable[Edits]:
        """Yield that the member serves the API."""
        template, member = state.template, state.inventory.names[position]
        value = {"groupVersion": template.api_version, "resources": [{"kind": template.kind}]}
        words = f"with the API {template.api_version} {template.kind} served there"
        yield (Edit(MEMBER, ADD, ("status", "apiEnablements"), value, words, member),)


def _serving(state: KarmadaState) -> Mask:
    api = (state.template.api_version, state.template.kind)
    return state.inventory.column(
        ("api", api), lambda: state.inventory.mask_of(lambda cluster: cluster.serves(*api))
    )
