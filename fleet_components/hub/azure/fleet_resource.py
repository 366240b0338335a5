"""A fleet resource and its parts, as far as they show a reviewer what its hub does not show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_yaml
from fleet_components.content.observed import MEMORY, MEND, UPGRADE
from fleet_components.content.wire import to_yaml
from fleet_components.model.codec import MisfitError, decode, encode
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.reader import API_VERSION

_ENDED = ("Completed", "Failed", "Skipped", "Stopped")
# A state may be missing.
_NOT_BEGUN = ("NotStarted", "")


def is_under_way(state: str) -> bool:
    """Return whether an update run, or a part of one, has begun and not ended. A state that is new
    to us counts.
    """
    return state not in _ENDED and state not in _NOT_BEGUN


@attrs.frozen
class JoinedCluster:
    """A member of a fleet resource.

    Attributes:
        name: its name, which the hub's ``MemberCluster`` has, too.
        cluster: resource ID of the AKS or Arc cluster.
        group: the group in which update runs upgrade it; empty if it has none.
        labels: the labels that Azure gives to the ``MemberCluster``.
        state: ``provisioningState``, such as ``Succeeded``, ``Joining`` or ``Failed``.
        error: what went wrong in the last operation; empty if nothing.
    """

    name: str
    cluster: str = ""
    group: str = ""
    labels: Mapping[str, str] = attrs.field(factory=dict)
    state: str = "Succeeded"
    error: str = ""


@attrs.frozen
class UpgradeStage:
    """A stage of an update run.

    Attributes:
        name: its name; empty for the one stage of a run without a strategy.
        state: ``NotStarted``, ``Pending``, ``Running``, ``Stopping`` or how it ended.
        members: the state of each member, by name.
        gates: the gates that wait for an approval.
    """

    name: str
    state: str = ""
    members: Mapping[str, str] = attrs.field(factory=dict)
    gates: tuple[str, ...] = ()


@attrs.frozen
class UpgradeRun:
    """An update run of the resource API: it upgrades clusters, and places nothing.

    Attributes:
        name: its name.
        state: as of a stage.
        upgrade: the type of upgrade with its Kubernetes version: ``Full to 1.33.2``,
            ``NodeImageOnly``.
        strategy: name of the update strategy from which it was made; empty if it has stages of its
            own, or none.
        profile: name of the auto-upgrade profile that made it; empty if somebody did.
        started: when it began, as Azure writes it; empty if it has not.
        completed: when it ended.
        error: what went wrong; empty if nothing.
        stages: its stages in their order; none of a run that has ended.
    """

    name: str
    state: str = ""
    upgrade: str = ""
    strategy: str = ""
    profile: str = ""
    started: str = ""
    completed: str = ""
    error: str = ""
    stages: tuple[UpgradeStage, ...] = ()


@attrs.frozen
class StrategyStage:
    """A stage of an update strategy: its name, groups of members, and seconds to wait after it."""

    name: str
    groups: tuple[str, ...] = ()
    wait_seconds: int = 0


@attrs.frozen
class UpgradeStrategy:
    """An update strategy: its name, and stages in their order."""

    name: str
    stages: tuple[StrategyStage, ...] = ()


@attrs.frozen
class UpgradeProfile:
    """An auto-upgrade profile, which makes update runs.

    Attributes:
        name: its name.
        channel: ``Rapid``, ``Stable``, ``NodeImage`` or ``TargetKubernetesVersion``.
        disabled: True if it makes none.
        target: the minor version, for channel ``TargetKubernetesVersion``.
        strategy: name of the update strategy; empty to upgrade one member after the other.
    """

    name: str
    channel: str = ""
    disabled: bool = False
    target: str = ""
    strategy: str = ""


@attrs.frozen(kw_only=True)
class FleetResource:
    """A fleet, as the resource API tells it.

    Attributes:
        id: its resource ID.
        state: its ``provisioningState``.
        error: what went wrong in the last operation on it; empty if nothing.
        has_hub: False if it only groups clusters for upgrades.
        hub_version: the Kubernetes version of the hub, where Azure tells it.
        members: its members, by name.
        runs: its update runs, by name.
        strategies: its update strategies, by name.
        profiles: its auto-upgrade profiles, by name.
        unread: the parts that Azure did not let be read, each with the reason.
    """

    id: str
    state: str = "Succeeded"
    error: str = ""
    has_hub: bool = True
    hub_version: str = ""
    members: tuple[JoinedCluster, ...] = ()
    runs: tuple[UpgradeRun, ...] = ()
    strategies: tuple[UpgradeStrategy, ...] = ()
    profiles: tuple[UpgradeProfile, ...] = ()
    unread: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def name(self) -> str:
        """The name of the fleet."""
        return self.id.rpartition("/")[2]


# The file in which an observation keeps what the resource API tells of its fleet.


AZURE_FILE = f"{MEMORY}/azure.yaml"
"""Its path in the directory of an observation."""
_HEADER = {"apiVersion": API_VERSION, "kind": "FleetResource"}
_NO_FLEET_RESOURCE = Message("not-fleet-resource", f"is not a {_HEADER['kind']} of {API_VERSION}")
_LATER_VERSION = Message(
    "later-fleet-resource", f"is not a {_HEADER['kind']} of {API_VERSION}, but of a later version"
)
# Any number above the 1 of ``API_VERSION``.
_LATER = re.compile(r"fleet-components/v([2-9]|[1-9]\d+)")


def azure_file(fleet: FleetResource) -> str:
    """Return the text of the file: the same for the same fleet, sorted by name."""
    return to_yaml({**_HEADER, **_plain(encode(fleet))})


def read_azure_file(text: str | bytes, file: str = AZURE_FILE) -> FleetResource:
    """Return the fleet that a file tells of.

    Args:
        text: the text of the file.
        file: its path, for messages.

    Raises:
        FleetError: somebody has changed the file so that it cannot be read.
    """
    try:
        found = read_yaml(text)
        header = {key: found.get(key) for key in _HEADER} if isinstance(found, Mapping) else {}
        if header != _HEADER:
            later = _LATER.fullmatch(str(header.get("apiVersion")))
            what = _LATER_VERSION if later else _NO_FLEET_RESOURCE
            raise FleetError([Problem(what, hint=UPGRADE if later else MEND, file=file)])
        return decode(FleetResource, found)
    except UnreadableError as error:
        raise FleetError([error.problem(file, MEND)]) from None
    except MisfitError as error:
        raise FleetError(
            attrs.evolve(problem, file=file, hint=MEND) for problem in error.problems
        ) from None


def _plain(value: Any) -> Any:
    """Return a value with lists in the place of tuples, which YAML does not know."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


# Resource IDs of fleets.


FORM = (
    "/subscriptions/<GUID>/resourceGroups/<name>/providers/Microsoft.ContainerService/fleets/<name>"
)
_TYPE = "Microsoft.ContainerService/fleets"
_HINT = f"write {FORM}, as `az fleet show --query id` prints it"
_ID = re.compile(
    "/subscriptions/(?P<subscription>[^/]*)/resourceGroups/(?P<group>[^/]*)"
    "/providers/(?P<type>[^/]+/[^/]+)/(?P<name>[^/]*)/?",
    re.IGNORECASE,
)
_GUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# The lookaheads forbid a dot at the end, and more than 63 characters.
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
    """Return the parts of the resource ID of a fleet. Its fixed words may be in any case, as in all
    of Azure.

    Raises:
        FleetError: the text is no such ID; every part that is wrong is named.
    """
    match = _ID.fullmatch(text.strip())
    if match is None:
        raise FleetError(
            [
                Problem(
                    Message(
                        "not-resource-id-fleet",
                        '"{text}" is not the resource ID of a fleet',
                        text=text,
                    ),
                    hint=_HINT,
                )
            ]
        )
    wrong = [Problem(what, hint=_HINT) for what in _wrong(**match.groupdict())]
    if wrong:
        raise FleetError(wrong)
    return FleetId(match["subscription"], match["group"], match["name"])


def _wrong(subscription: str, group: str, type: str, name: str) -> Iterator[Message]:
    if type.lower() != _TYPE.lower():
        yield Message(
            "resource-id-type",
            'the resource ID is of "{type}", not of {wanted}',
            type=type,
            wanted=_TYPE,
        )
    if not _GUID.fullmatch(subscription):
        yield Message(
            "subscription-not-guid",
            'the subscription "{subscription}" of the resource ID is not a GUID',
            subscription=subscription,
        )
    # Source: the naming rules of Azure resources. No other name reaches the path of a request.
    if not _GROUP.fullmatch(group):
        yield Message(
            "resource-group-invalid",
            'the resource group "{group}" of the resource ID cannot be the name of one',
            group=group,
        )
    if not _NAME.fullmatch(name):
        yield Message(
            "fleet-name-invalid",
            'the fleet "{name}" of the resource ID cannot be the name of one: 1 to 63 letters,'
            " digits and hyphens",
            name=name,
        )
