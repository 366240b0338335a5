"""Rules that the declarations of one fleet keep together: one hub, a word on its members, upgrades by a hub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fleet_components.azure.declarations import HUB, MEMBERS, UPGRADES
from fleet_components.model.declarations import misdeclared
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem
from fleet_components.model.reader import API_VERSION

_LIST_THEM = "declare them as kind: Members; for a hub without any write spec: {members: []} there"


def hubs_among(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Return the objects of kind ``Hub``."""
    return _among(manifests, HUB)


def lists_among(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Return the objects of kind ``Members``."""
    return _among(manifests, MEMBERS)


def upgrades_among(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Return the objects of kind ``Upgrades``."""
    return _among(manifests, UPGRADES)


def declarations_among(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Return the objects that declare a fleet, of whatever kind."""
    return _among(manifests, HUB, MEMBERS, UPGRADES)


def _among(manifests: Iterable[Manifest], *kinds: str) -> list[Manifest]:
    return [manifest for manifest in manifests if manifest.api_version == API_VERSION and manifest.kind in kinds]


def misspelt(manifests: Iterable[Manifest]) -> Iterator[Problem]:
    """Yield what is wrong with the kinds and apiVersions of objects that are, or were meant to be, declarations."""
    return (problem for manifest in manifests for problem in misdeclared(manifest))


def disagreements(manifests: Iterable[Manifest], *, members: bool = False, hub: bool = False) -> Iterator[Problem]:
    """Yield a problem for each hub beyond the first, for a hub with no word on its members, for upgrades without a hub.

    A list of members that is lost, by a typo or with its file, would otherwise be a fleet without any.

    Args:
        manifests: the objects; those that declare nothing are ignored.
        members: whether a program names members of its own.
        hub: whether a program has a hub of its own.
    """
    manifests = tuple(manifests)
    hubs = hubs_among(manifests)
    yield from (second.problem("there are two hubs", ("kind",), "declare one") for second in hubs[1:])
    # What is misspelt may be the list of members.
    if hubs and not members and not lists_among(manifests) and not any(misspelt(manifests)):
        yield hubs[0].problem("no members are declared beside this hub", ("kind",), _LIST_THEM)
    if not hubs and not hub and not any(misspelt(manifests)):
        for upgrades in upgrades_among(manifests):
            hint = "declare one as kind: Hub; kind: hubless in its spec costs nothing"
            yield upgrades.problem("upgrades are made by an Azure fleet, and no hub is declared", ("kind",), hint)
