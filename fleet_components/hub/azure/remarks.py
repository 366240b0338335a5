"""Remarks on a hub, and warnings about a plan, that follow from what the resource API reports."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime

from fleet_components.hub.azure.fleet_resource import (
    AZURE_FILE,
    FleetResource,
    JoinedCluster,
    UpgradeRun,
    is_under_way,
    read_fleet_id,
)
from fleet_components.hub.listing import Object
from fleet_components.hub.observation import HubObservation
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.text import few
from fleet_components.systems.registry import SYSTEMS

_HUBLESS = (
    "fleet {} has no hub: it groups clusters for upgrades alone, so its members are all there is to"
    " observe"
)
_SYSTEM = SYSTEMS["kubefleet"]
"""The system that fleets of Azure run."""
_JOINED = ("Succeeded", "Updating")


def hub_notes(fleet: FleetResource, on_hub: Collection[str]) -> tuple[str, ...]:
    """Return sentences on what the fleet resource and its hub tell differently, and on what could
    not be read.

    Args:
        fleet: the fleet resource.
        on_hub: names of the members that the hub has.
    """
    return tuple(_notes(fleet, on_hub))


def _notes(fleet: FleetResource, on_hub: Collection[str]) -> Iterator[str]:
    if fleet.state != "Succeeded":
        yield f"fleet {fleet.name} is {fleet.state}{_because(fleet.error)}"
    for part, reason in fleet.unread.items():
        yield f"{part} of fleet {fleet.name} were not read: {reason}"
    for member in fleet.members:
        if fleet.has_hub and member.name not in on_hub:
            yield (
                f"member {member.name} of fleet {fleet.name} is not on the hub: its state is"
                f" {_state(member)}"
            )
        elif member.state not in _JOINED:
            yield f"the state of member {member.name} of fleet {fleet.name} is {_state(member)}"
    known = {member.name for member in fleet.members}
    # Without the list of members, a member of the hub may only seem to be missing in it.
    if "members" not in fleet.unread:
        for name in sorted(set(on_hub) - known):
            yield f"member {name} of the hub is not a member of fleet {fleet.name}"


def members_only(fleet: FleetResource, as_of: datetime) -> HubObservation:
    """Return the observation of a fleet without a hub: its members with their labels, and nothing
    placed.

    Args:
        fleet: the fleet resource.
        as_of: when it was observed.
    """
    members = tuple(_member_cluster(member) for member in fleet.members if member.state in _JOINED)
    notes = (
        _HUBLESS.format(fleet.name),
        *hub_notes(fleet, {member.name for member in fleet.members}),
    )
    return HubObservation(
        system=_SYSTEM, as_of=as_of, members=members, notes=notes, fleet=fleet, hub=False
    )


def run_warnings(
    fleet: FleetResource, moving: Collection[str], file: str = AZURE_FILE
) -> Iterator[Problem]:
    """Yield a warning for each update run under way that upgrades members on which a plan changes
    something.

    Args:
        fleet: the fleet resource.
        moving: names of the members on which the plan changes something.
        file: the file that tells of the fleet, for messages.
    """
    for run in fleet.runs:
        states = {
            name: state
            for stage in run.stages
            for name, state in stage.members.items()
            if name in moving
        }
        now = sorted(name for name, state in states.items() if is_under_way(state))
        later = sorted(name for name, state in states.items() if state in ("NotStarted", ""))
        remarks = [f"is upgrading {few(now)}"] if now else []
        remarks += [f"is still to upgrade {few(later)}"] if later else []
        if remarks:
            yield Problem(
                Message(
                    "update-run-plan-changes",
                    "update run {name} ({upgrade}) {remarks}, where this plan changes objects",
                    name=run.name,
                    upgrade=run.upgrade,
                    remarks=" and ".join(remarks),
                ),
                hint=(
                    "wait until it has ended, or stop it: `az fleet updaterun stop"
                    f" {_where(fleet, run)}`"
                ),
                subject=f"fleet {fleet.name}",
                file=file,
            )


def _where(fleet: FleetResource, run: UpgradeRun) -> str:
    return f"-g {read_fleet_id(fleet.id).resource_group} -f {fleet.name} -n {run.name}"


def _state(member: JoinedCluster) -> str:
    return f"{member.state or 'unknown'}{_because(member.error)}"


def _because(error: str) -> str:
    return f" ({error})" if error else ""


def _member_cluster(member: JoinedCluster) -> Object:
    declared = _SYSTEM.member(member.name, None)
    labels = {"labels": dict(member.labels)} if member.labels else {}
    return {**declared, "metadata": {**declared["metadata"], **labels}}
