"""The answers of a hub for a status: asked with a given kubeconfig, or with the one that the state has."""

from __future__ import annotations

from pathlib import Path

import attrs

from fleet_components.hub.listing import Listing
from fleet_components.live.hub import HUB, ask_hub
from fleet_components.live.kubeconfig import read_kubeconfig, read_kubeconfig_file
from fleet_components.model.problem import FleetError
from fleet_components.model.watch import Watch, unwatched
from fleet_components.plan import names
from fleet_components.plan.state import ENCRYPTED, StackState


def hub_asked(state: StackState, given: Path | None, timeout: float, watch: Watch = unwatched) -> Listing | None:
    """Return the answers of a hub; None if none is given, and the stack has none whose kubeconfig
    can be read.

    Args:
        state: the state after the last update.
        given: the file of a kubeconfig; None for that of the stack.
        timeout: how long the hub has, in seconds.
        watch: is told how many lists have come.

    Raises:
        FleetError: the kubeconfig cannot be read, or the hub does not answer.
    """
    text = hub_kubeconfig(state, given)
    return ask_hub(text, timeout=timeout, watch=watch) if text else None


def hub_kubeconfig(state: StackState, given: Path | None) -> str:
    """Return the text of a hub's kubeconfig; empty if none is given, and the state has none that
    can be read.

    Args:
        state: the state after the last update.
        given: the file of a kubeconfig; None for that of the stack.

    Raises:
        FleetError: it cannot be read.
    """
    try:
        if given:
            return read_kubeconfig_file(given, "hub")
        found = (
            resource
            for resource in state.resources.values()
            if resource.type == names.PROVIDER and names.is_hub(resource.name)
        )
        known = (stored.inputs.get("kubeconfig") for stored in found)
        return next((read_kubeconfig(text, "hub") for text in known if text and text != ENCRYPTED), "")
    except FleetError as error:
        raise FleetError(
            attrs.evolve(problem, subject=HUB, hint="--hub KUBECONFIG") for problem in error.problems
        ) from None
