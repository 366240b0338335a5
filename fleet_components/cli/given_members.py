"""The clusters that ``--members`` of ``fleet observe`` names: ``[NAME=]KUBECONFIG[:CONTEXT]``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from fleet_components.live.kubeconfig_file import context_of, contexts_of
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.starting.member import LONGEST, members_of, usable_name, wrong_name

_MEMBER = "member {}"
_FORM = "give --members NAME=KUBECONFIG[:CONTEXT]"


@attrs.frozen
class GivenMember:
    """A cluster that is to be asked.

    Attributes:
        name: its name as a member.
        kubeconfig: the text of its kubeconfig.
        context: the context that it got its name from; empty if the name was given.
    """

    name: str
    kubeconfig: str = attrs.field(repr=False)
    context: str = ""


def given_members(members: Sequence[str], system: str) -> tuple[GivenMember, ...]:
    """Return the clusters that are named.

    A context that a member may not be called, as ``arn:aws:eks:...:cluster/shop``, gets the nearest
    name that it may.

    Args:
        members: what was given, each ``[NAME=]KUBECONFIG[:CONTEXT]``.
        system: the system whose members they are, which limits the length of a name.

    Raises:
        FleetError: a kubeconfig cannot be read, a name is none for a member, or two members have
            one name.
    """
    found: dict[str, GivenMember] = {}
    problems: list[Problem] = []
    for text in members:
        name, rest = _name_and_rest(text)
        problems += (wrong := list(_wrong_name(name, system)))
        try:
            # A wrong name is reported; its kubeconfig is not read, as nothing could be called by
            # it.
            more = () if wrong else tuple(_members(name, *_file_and_context(rest), found, system))
        except FleetError as error:
            problems += error.problems
            continue
        problems += [
            Problem(
                Message(
                    "two-clusters-member", 'two clusters are the member "{name}"', name=given.name
                ),
                hint=_FORM,
            )
            for given in _double(more, found)
        ]
        found |= {given.name: given for given in more}
    if problems:
        raise FleetError(problems)
    return tuple(found.values())


def renamed(members: Iterable[GivenMember]) -> Mapping[str, str]:
    """Return the context by name of the member, of those that could not be called as their context
    is.
    """
    return {
        member.name: member.context for member in members if member.context not in ("", member.name)
    }


def _name_and_rest(text: str) -> tuple[str, str]:
    name, equals, rest = text.partition("=")
    # A path or a context may have that sign as well.
    if not equals or ":" in name or os.sep in name or os.path.exists(os.path.expanduser(text)):
        return "", text
    return name, rest


def _wrong_name(name: str, system: str) -> Iterator[Problem]:
    what = wrong_name(name, system) if name else None
    if what:
        yield Problem(what, hint=f"write {usable_name(name, LONGEST[system])}=")


def _double(
    members: Iterable[GivenMember], found: Mapping[str, GivenMember]
) -> Iterator[GivenMember]:
    return (member for member in members if member.name in found)


def _members(
    name: str, file: Path, context: str, taken: Mapping[str, GivenMember], system: str
) -> Iterator[GivenMember]:
    if name:
        yield GivenMember(name, context_of(file, context, subject=_MEMBER.format(name)))
        return
    listed = members_of([file], [context] if context else [], system, taken.keys()).members
    texts = contexts_of(file, {_MEMBER.format(member.name): member.context for member in listed})
    for member in listed:
        yield GivenMember(member.name, texts[_MEMBER.format(member.name)], member.context)


def _file_and_context(text: str) -> tuple[Path, str]:
    path = os.path.expanduser(text)
    if os.path.exists(path):
        return Path(path), ""
    drive, rest = os.path.splitdrive(path)  # on Windows, C: is no file with a context
    file, _, context = rest.partition(":")
    return Path(drive + file), context
