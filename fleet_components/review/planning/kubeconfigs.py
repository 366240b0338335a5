"""Kubeconfigs of members for commands that ask them: those of the last update, or files of one's
own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_json, read_scalars
from fleet_components.content.secret import REDACTED
from fleet_components.live.credentials import names_secret
from fleet_components.live.kubeconfig import chosen, read_kubeconfig, read_kubeconfig_file
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few, nearest
from fleet_components.plan import names
from fleet_components.plan.names import Urn
from fleet_components.plan.state import ENCRYPTED, StackState

UNKNOWN = (
    "cannot be asked: its kubeconfig is not known; give --kubeconfig MEMBER=PATH, or a state with"
    " its secrets, as pulumi stack export --show-secrets prints it"
)


@attrs.frozen(order=True)
class MemberName:
    """Name of a member in a stack, whose fleets may have members of one name.

    Attributes:
        fleet: the fleet.
        member: its name there.
    """

    fleet: str
    member: str

    def __str__(self) -> str:
        return names.member_name(self.fleet, self.member)


def kubeconfigs(
    state: StackState, given: Mapping[str, Path], members: Iterable[MemberName]
) -> Mapping[MemberName, str]:
    """Return the texts of the kubeconfigs of members, of those of which they are known.

    Args:
        state: the state after the last update, with the kubeconfigs of its providers.
        given: files of kubeconfigs that count instead, by ``MEMBER`` or ``FLEET/MEMBER``.
        members: the members to ask.

    Raises:
        FleetError: a file cannot be read or is no kubeconfig, or there is no such member.
    """
    # Each once; an iterator could not be read three times.
    members = tuple(dict.fromkeys(members))
    check_names(
        "member", given.keys() - set(map(str, members)), (member.member for member in members)
    )
    read, problems = dict[str, str](), list[Problem]()
    for name, path in given.items():
        try:
            read[name] = read_kubeconfig_file(path, name)
        except FleetError as error:
            problems += error.problems
    if problems:
        raise FleetError(problems)
    stored = _stored(state)
    found = {
        # FLEET/MEMBER before MEMBER, so that one of two members of a name can be meant.
        member: read.get(str(member)) or read.get(member.member) or stored.get(member)
        for member in members
    }
    return {item: text for item, text in found.items() if text}


def configured(folder: Path, given: Any, who: str) -> str:
    """Return the text of a kubeconfig that the configuration of a stack has as text or path.

    Args:
        folder: the folder of the program, which paths are relative to.
        given: the text or the path.
        who: whose it is, for messages.

    Raises:
        FleetError: there is none, or it cannot be read. Its text is never shown.
    """
    # A text of several lines is a kubeconfig itself.
    path = folder / given if isinstance(given, str) and "\n" not in given else None
    return read_kubeconfig(str(path) if path and path.is_file() else given, who)


def listed_kubeconfigs(settings: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the kubeconfigs of members in the configuration of a stack, as text or path, by
    member.
    """
    with suppress(UnreadableError):
        listed = read_json(settings.get("fleet:kubeconfigs") or "{}")
        return listed if isinstance(listed, dict) else {}
    return {}


def credentials(texts: Iterable[str]) -> set[str]:
    """Return what is secret in kubeconfigs: the values of fields with the name of a secret."""
    found: set[str] = set()
    for text in texts:
        with suppress(UnreadableError):
            found |= {value for key, value in read_scalars(text) if names_secret(key)}
    return found


def provider_kubeconfigs(state: StackState) -> Iterator[str]:
    """Yield the kubeconfigs of all providers of a state that it shows."""
    for resource in state.resources.values():
        if resource.type == names.PROVIDER:
            yield _kubeconfig(state, resource.urn, "")


def check_names(noun: str, asked: Iterable[str], known: Iterable[str]) -> None:
    """Check names of a command line against those that there are.

    Raises:
        FleetError: some are not there.
    """
    there = sorted(set(known))
    problems = []
    for name in (name for name in asked if name not in there):
        meant = nearest(name, there)
        hint = f"did you mean {meant}?" if meant else f"there is: {few(there) or 'nothing'}"
        problems.append(
            Problem(
                Message(
                    "nothing-delivered",
                    'nothing was delivered by or to a {noun} "{name}"',
                    noun=noun,
                    name=name,
                ),
                hint=hint,
            )
        )
    if problems:
        raise FleetError(problems)


def _stored(state: StackState) -> Mapping[MemberName, str]:
    """Return the kubeconfigs with which the last update has reached the members."""
    found: dict[MemberName, str] = {}
    for member, providers in _providers(state).items():
        texts = (_kubeconfig(state, provider, member.member) for provider in providers)
        text = next(filter(None, texts), "")
        if text:
            found[member] = text
    return found


def _providers(state: StackState) -> Mapping[MemberName, Iterable[str]]:
    """Return the URNs of the providers of each member: of its objects, as it may bring one, and
    those of its name.
    """
    of_objects: dict[MemberName, dict[str, None]] = defaultdict(dict)
    by_name: dict[MemberName, dict[str, None]] = defaultdict(dict)
    for resource in state.resources.values():
        urn = Urn.parse(resource.urn)
        fleet, _, rest = urn.name.partition("/")  # names of fleets have no slash
        place = names.place_of(fleet, urn)
        if place:
            # The reference of a provider is its URN and "::" and its ID.
            of_objects[MemberName(fleet, place.cluster)][resource.provider.rpartition("::")[0]] = (
                None
            )
        elif resource.type == names.PROVIDER and names.FLEET in urn.types:
            by_name[MemberName(fleet, rest.partition("/")[0])][urn.text] = None
    # The provider that has brought objects comes first: a member may have got a new one since.
    return {
        member: {**of_objects[member], **by_name[member]} for member in {**of_objects, **by_name}
    }


def _kubeconfig(state: StackState, provider: str, member: str) -> str:
    """Return the kubeconfig of a provider, which may have its path; empty if the state does not
    show a usable one.
    """
    found = state.resources.get(provider)
    text = found.inputs.get("kubeconfig") if found else None
    if found is None or text in (None, ENCRYPTED, REDACTED):
        return ""
    try:
        return chosen(read_kubeconfig(text, member), found.inputs)
    except FleetError:
        return ""
