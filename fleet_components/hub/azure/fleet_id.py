"""Resource IDs of fleets."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from fleet_components.model.problem import FleetError, Problem

FORM = "/subscriptions/<GUID>/resourceGroups/<name>/providers/Microsoft.ContainerService/fleets/<name>"
_TYPE = "Microsoft.ContainerService/fleets"
_HINT = f"write {FORM}, as `az fleet show --query id` prints it"
_ID = re.compile(
    "/subscriptions/(?P<subscription>[^/]*)/resourceGroups/(?P<group>[^/]*)/providers/(?P<type>[^/]+/[^/]+)/(?P<name>[^/]*)/?",
    re.IGNORECASE,
)
_GUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_GROUP = re.compile(r"(?!.*\.$)[\w().-]{1,90}")
_NAME = re.compile("(?!.{64})[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.IGNORECASE)


@attrs.frozen
class FleetId:
    """Parts of the resource ID of a fleet.

    Attributes:
        subscription: the subscription's GUID.
        resource_group: the resource group.
        name: the fleet's name.
    """

    subscription: str
    resource_group: str
    name: str

    def __str__(self) -> str:
        scope = f"/subscriptions/{self.subscription}/resourceGroups/{self.resource_group}"
        return f"{scope}/providers/{_TYPE}/{self.name}"


def read_fleet_id(text: str) -> FleetId:
    """Return the parts of the resource ID of a fleet. Its fixed words may be in any case, as in all of Azure.

    Raises:
        FleetError: the text is no such ID; every part that is wrong is named.
    """
    match = _ID.fullmatch(text.strip())
    if match is None:
        raise FleetError([Problem(f'"{text}" is not the resource ID of a fleet', hint=_HINT)])
    if wrong := [Problem(what, hint=_HINT) for what in _wrong(**match.groupdict())]:
        raise FleetError(wrong)
    return FleetId(match["subscription"], match["group"], match["name"])


def _wrong(subscription: str, group: str, type: str, name: str) -> Iterator[str]:
    if type.lower() != _TYPE.lower():
        yield f'the resource ID is of "{type}", not of {_TYPE}'
    if not _GUID.fullmatch(subscription):
        yield f'the subscription "{subscription}" of the resource ID is not a GUID'
    # Source: the naming rules of Azure resources. No other name reaches the path of a request.
    if not _GROUP.fullmatch(group):
        yield f'the resource group "{group}" of the resource ID cannot be the name of one'
    if not _NAME.fullmatch(name):
        yield f'the fleet "{name}" of the resource ID cannot be the name of one: 1 to 63 letters, digits and hyphens'
