"""Options of ``fleet observe`` for a fleet of Azure Fleet Manager, which is reached by its resource
ID.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import attrs
import click

from fleet_components.cli import clock
from fleet_components.cli.help import under
from fleet_components.cli.progress import watch
from fleet_components.hub.azure.fleet_resource import FleetId, read_fleet_id
from fleet_components.hub.azure.remarks import hub_notes, members_only
from fleet_components.hub.observation import HubObservation
from fleet_components.live.azure_fleet import FleetHubAnswer, azure_hub
from fleet_components.live.azure_login import MODES
from fleet_components.model.problem import FleetError

F = TypeVar("F", bound=Callable[..., Any])
_azure = under("Azure Fleet Manager")


class _ResourceId(click.ParamType[FleetId]):
    """Parameter type of the resource ID of a fleet."""

    name = "RESOURCE_ID"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> FleetId:
        """Read a value; one that is no such ID is a usage error that names the parts that are
        wrong.
        """
        try:
            return value if isinstance(value, FleetId) else read_fleet_id(str(value))
        except FleetError as error:
            self.fail(str(error), param, ctx)


def azure_options(command: F) -> F:
    """Add ``--azure`` and ``--azure-login`` to a command."""
    options = (
        _azure(
            "--azure",
            type=_ResourceId(),
            metavar="RESOURCE_ID",
            help=(
                "A fleet, instead of --hub: its hub, and besides, into observed/azure.yaml, its"
                " members and update runs of the resource API."
            ),
        ),
        _azure(
            "--azure-login",
            type=click.Choice(MODES),
            help=(
                "How to log in to Azure, and to the hub by kubelogin.  [default: as AZURE_CLIENT_ID"
                " and the other variables of Azure's SDKs say; without them azurecli, the login"
                " of az]"
            ),
        ),
    )
    # Decorators apply from the inside out: the help then lists them in the order above.
    for option in reversed(options):
        command = option(command)
    return command


def ask_azure(fleet: FleetId, login: str | None, timeout: float) -> FleetHubAnswer:
    """Ask Azure for a fleet.

    Raises:
        FleetError: there is no login, no such fleet, or no kubeconfig of its hub.
    """
    with watch("asking Azure for the fleet"):
        return azure_hub(fleet, mode=login or "", timeout=timeout)


def of_fleet(observation: HubObservation | None, azure: FleetHubAnswer | None) -> HubObservation:
    """Return an observation with what Azure reports about the fleet.

    Args:
        observation: that of the hub; None for a fleet without one, of which the members are
            observed.
        azure: the fleet; None for a hub that was given by a kubeconfig.
    """
    if azure is None:
        # Without Azure there was a kubeconfig, and so a hub.
        assert observation is not None
        return observation
    if observation is None:
        return members_only(azure.fleet, clock.now().replace(microsecond=0))
    lines = hub_notes(
        azure.fleet, [str(member["metadata"]["name"]) for member in observation.members]
    )
    return attrs.evolve(observation, fleet=azure.fleet, notes=(*observation.notes, *lines))
