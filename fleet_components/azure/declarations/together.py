"""Rules that the declarations of one fleet keep together: one hub, a word on its members, upgrades
by a hub.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fleet_components.azure.declarations import HUB, MEMBERS, UPGRADES
from fleet_components.azure.values.upgrades import Upgrades
from fleet_components.model.codec import MisfitError
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.reader import API_VERSION, misdeclared, read

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
    return [
        manifest
        for manifest in manifests
        if manifest.api_version == API_VERSION and manifest.kind in kinds
    ]


def misspelt(manifests: Iterable[Manifest]) -> Iterator[Problem]:
    """Yield what is wrong with the kinds and apiVersions of objects that are, or were meant to be,
    declarations.
    """
    return (problem for manifest in manifests for problem in misdeclared(manifest))


def disagreements(
    manifests: Iterable[Manifest], *, members: bool = False, hub: bool = False
) -> Iterator[Problem]:
    """Yield a problem for each hub beyond the first, for a hub with no word on its members, for
    upgrades without a hub.

    A list of members that is lost, by a typo or with its file, would otherwise be a fleet without
    any.

    Args:
        manifests: the objects; those that declare nothing are ignored.
        members: whether a program names members of its own.
        hub: whether a program has a hub of its own.
    """
    manifests = tuple(manifests)
    hubs = hubs_among(manifests)
    yield from (
        second.problem(Message("two-hubs", "there are two hubs"), ("kind",), "declare one")
        for second in hubs[1:]
    )
    # What is misspelt may be the list of members.
    if hubs and not members and not lists_among(manifests) and not any(misspelt(manifests)):
        yield hubs[0].problem(
            Message("no-members-declared-beside", "no members are declared beside this hub"),
            ("kind",),
            _LIST_THEM,
        )
    if not hubs and not hub and not any(misspelt(manifests)):
        for upgrades in upgrades_among(manifests):
            hint = "declare one as kind: Hub; kind: hubless in its spec costs nothing"
            yield upgrades.problem(
                Message(
                    "upgrades-made-azure-fleet-no",
                    "upgrades are made by an Azure fleet, and no hub is declared",
                ),
                ("kind",),
                hint,
            )


# Reads update strategies, update runs and auto-upgrade profiles from YAML objects of kind
# ``Upgrades``.
#
#     apiVersion: fleet-components/v1
#     kind: Upgrades
#     metadata: {name: production}
#     spec:
#       strategies:
#       - name: rings
#         stages:
#         - {name: canary, groups: [canary], waitSeconds: 3600, approveAfter: [Canary is fine]}
#         - {name: rest, groups: [{name: second, atOnce: "25%"}]}
#       runs:
#       - {name: to-1-36-1, kubernetesVersion: 1.36.1, strategy: rings}
#       profiles:
#       - {name: stable, channel: Stable, strategy: rings}
#
# Fields are those of :class:`Strategy`, :class:`Run` and :class:`AutoUpgrade`, in camelCase; a
# group is a name or a map. There may be several objects; strategies count for all of them.


_LISTS = ("strategies", "runs", "profiles")


def read_upgrades(
    manifests: Iterable[Manifest], groups: Iterable[str], strategies: Iterable[str] = ()
) -> Upgrades:
    """Return what all ``Upgrades`` objects among the manifests declare; other objects are ignored.

    Args:
        manifests: the objects.
        groups: the update groups of the members.
        strategies: the names of strategies that a program declares.

    Raises:
        FleetError: an object is invalid; carries all problems, with file and line.
    """
    found: list[tuple[Manifest, Upgrades]] = []
    problems: list[Problem] = []
    for manifest in upgrades_among(manifests):
        try:
            found.append((manifest, read(Upgrades, _spec(manifest.data.get("spec")))))
        except MisfitError as misfit:
            problems += (manifest.located(problem, "spec") for problem in misfit.problems)
    # With an object that cannot be read, a strategy may only seem to be missing.
    if not problems:
        known = [*strategies, *(name for _, upgrades in found for name in upgrades.strategy_names)]
        problems += _problems(found, frozenset(groups), known)
    if problems:
        raise FleetError(problems)
    return Upgrades(
        strategies=tuple(each for _, upgrades in found for each in upgrades.strategies),
        runs=tuple(each for _, upgrades in found for each in upgrades.runs),
        profiles=tuple(each for _, upgrades in found for each in upgrades.profiles),
    )


def _problems(
    found: list[tuple[Manifest, Upgrades]], groups: frozenset[str], known: list[str]
) -> Iterator[Problem]:
    seen: dict[str, set[str]] = {field: set() for field in _LISTS}
    for manifest, upgrades in found:
        if upgrades == Upgrades():
            yield manifest.problem(
                Message("nothing-declared", "nothing is declared"),
                ("spec",),
                f"one of {', '.join(_LISTS)}",
            )
        yield from (
            manifest.located(problem, "spec") for problem in upgrades.problems(groups, known)
        )
        for field, names in seen.items():
            own = [each.name for each in getattr(upgrades, field)]
            for position, name in enumerate(own):
                if name in names:
                    what = Message(
                        "another-object-kind-upgrades",
                        '"{name}" is in another object of kind Upgrades too',
                        name=name,
                    )
                    yield manifest.problem(
                        what, ("spec", field, position, "name"), "give each its own name"
                    )
            names.update(own)


def _spec(data: Any) -> Any:
    """Return the data with groups that are given by name as maps."""
    if isinstance(data, Mapping):
        return {
            key: _spec(value) if key != "groups" else _groups(value) for key, value in data.items()
        }
    return [_spec(item) for item in data] if isinstance(data, list) else data


def _groups(data: Any) -> Any:
    return (
        [{"name": item} if isinstance(item, str) else item for item in data]
        if isinstance(data, list)
        else data
    )
