"""Values of options: how a text of the configuration is read, what is wrong with a value, and how
two values make one.

Pulumi hands over values of the configuration other than strings as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.model.cluster import read_time
from fleet_components.model.message import Message
from fleet_components.model.text import few
from fleet_components.model.typed import Typed

MOST_WAIT = 31_536_000
"""Maximum of ``max_wait`` and ``ready_timeout`` in seconds: a year."""
A_DIRECTORY = "set it to the directory of the fleet's YAML, or to a list of directories"
_NEW_OLD = "write members: {NEW: OLD}"


class WrongValueError(Exception):
    """An invalid value.

    Attributes:
        message: what is wrong with it.
        hint: what to write instead.
    """

    def __init__(self, message: Message, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


# Values of options that are more than a text or a number.


@attrs.frozen(kw_only=True)
class Renamed(Typed):
    """Renames since the last update; each map is from the new name to the old one.

    Attributes:
        fleet: the fleet's former name; empty if it is unchanged.
        members: members.
        placements: placements and templates, by key: ``name``, ``namespace/name`` or
            ``namespace/Kind/name``.
    """

    fleet: str = ""
    members: Mapping[str, str] = attrs.field(factory=dict)
    placements: Mapping[str, str] = attrs.field(factory=dict)


class SkippableCheck(StrEnum):
    """A check of what is delivered, by the name under which it is skipped."""

    REFERENCES = "references"
    AUTOSCALERS = "autoscalers"
    DIGESTS = "digests"
    STRUCTURE = "structure"
    VERSIONS = "versions"


MEANINGS: Mapping[SkippableCheck, str] = {
    SkippableCheck.REFERENCES: (
        "an object needs another by name, which does not go to the same member"
    ),
    SkippableCheck.AUTOSCALERS: "an autoscaler and the source both set the replicas of a workload",
    SkippableCheck.DIGESTS: "an override takes the digest off an image",
    SkippableCheck.VERSIONS: "Kubernetes serves the version of a built-in object no more",
    SkippableCheck.STRUCTURE: "a field of a built-in object is not what its kind has there",
}


# Readers: each raises ``WrongValueError`` for a text that stands for no value.


def names_in(text: str) -> tuple[str, ...]:
    """Parse a list of names: JSON, or one or several names separated by commas, as the command line
    sets them.

    Raises:
        WrongValueError: the text is neither.
    """
    # A map is parsed as well, so that it is refused and not split at its commas.
    listed = _parsed(text) if text.lstrip().startswith(("[", "{")) else text.split(",")
    if not isinstance(listed, list) or any(isinstance(item, list | dict) for item in listed):
        raise WrongValueError(
            Message("not-list-names-2", "is not a list of names"),
            "write names with commas between them",
        )
    return tuple(filter(None, (str(item).strip() for item in listed)))


def time_in(text: str) -> datetime | None:
    """Parse a time in the form of RFC 3339; None for an empty text.

    Raises:
        WrongValueError: the text is no time, or has no zone.
    """
    try:
        return read_time(text)
    except ValueError:
        raise WrongValueError(
            Message("not-time-zone", "is not a time with a zone"),
            "write it as 2026-01-31T12:00:00Z",
        ) from None


def paths_in(text: str) -> tuple[str, ...]:
    """Parse a path, or a list of paths as JSON."""
    listed = _parsed(text) if text.lstrip().startswith("[") else [text]
    if not listed or not _is_texts(listed) or "" in listed:
        raise WrongValueError(Message("names-no-path", "names no path"), A_DIRECTORY)
    return tuple(listed)


def texts_by_member(text: str) -> dict[str, str]:
    """Parse a map of texts by member."""
    given = _map(text, Message("not-map-members", "is not a map of members"), "write member: path")
    wrong = [name for name, kubeconfig in given.items() if not isinstance(kubeconfig, str)]
    if wrong:
        raise WrongValueError(
            Message("not-text-3", "of {wrong} is not text", wrong=few(wrong)),
            "write member: path, or its text",
        )
    return given


def renames_in(text: str) -> Renamed:
    """Parse the renames since the last update."""
    given = _map(text, Message("not-map", "is not a map"), _NEW_OLD)
    maps = {key: given.get(key) or {} for key in ("members", "placements")}
    strange = sorted(given.keys() - {"fleet", *maps})
    if strange:
        raise WrongValueError(
            Message("has-a-field", "has a field {strange}", strange=strange[0]),
            "the fields are: fleet, members, placements",
        )
    if not all(
        isinstance(item, dict) and all(isinstance(old, str) for old in item.values())
        for item in maps.values()
    ):
        raise WrongValueError(Message("not-map", "is not a map"), _NEW_OLD)
    fleet = given.get("fleet") or ""
    if not isinstance(fleet, str):
        raise WrongValueError(
            Message("fleet-not-name", "has a fleet that is not a name"), "write fleet: OLD"
        )
    return Renamed(fleet=fleet, **maps)


def lists_by_member(text: str) -> dict[str, list[str]]:
    """Parse a map of lists of names by member; a text is a list of one."""
    given = _map(
        text, Message("not-map-members", "is not a map of members"), "write MEMBER: [NAME]"
    )
    lists = {
        name: [patterns] if isinstance(patterns, str) else patterns
        for name, patterns in given.items()
    }
    wrong = [name for name, patterns in lists.items() if not _is_texts(patterns)]
    if wrong:
        raise WrongValueError(
            Message("not-list-names", "of {wrong} is not a list of names", wrong=few(wrong)),
            "write MEMBER: [NAME]",
        )
    return lists


def seconds_in(text: str) -> int:
    """Parse a whole number."""
    # Nine digits are more than any limit, and a longer text is not worth converting.
    if not re.fullmatch("[0-9]{1,9}", text):
        raise ValueError(text)
    return int(text)


def flag_in(text: str) -> bool:
    """Parse true or false."""
    if text.lower() not in ("true", "false"):
        raise WrongValueError(
            Message("neither-true-nor-false", "is neither true nor false"), "write true or false"
        )
    return text.lower() == "true"


def _map(text: str, what: Message, hint: str) -> dict[str, Any]:
    given = _parsed(text)
    # A key without a value in YAML is null.
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise WrongValueError(what, hint)
    return given


def _parsed(text: str) -> Any:
    try:
        return read_json(text)
    except UnreadableError:
        # Not JSON: the reader that needs a list or a map refuses the text.
        return text


def _is_texts(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(item, str) for item in given)


# Checks: what is wrong with a value of the right type; None if nothing is.


def no_share(value: float) -> Message | None:
    """Return why a number is not a share from 0 to 1."""
    return None if 0 <= value <= 1 else Message("not-share", "is {value:g}", value=value)


def no_wait(seconds: int) -> Message | None:
    """Return why a number of seconds is not a valid ``max_wait``."""
    return None if 0 <= seconds <= MOST_WAIT else Message("not-wait", "is {value}", value=seconds)


def no_timeout(seconds: int) -> Message | None:
    """Return why a number of seconds is not a valid ``ready_timeout``."""
    # The engine and the provider take 0 for a timeout that is not set.
    if 1 <= seconds <= MOST_WAIT:
        return None
    return Message("not-timeout", "is {value}", value=seconds)


def anything(_: Any) -> None:
    """Return nothing: any value of the type is valid."""


# Merge rules: the value of a program and that of the configuration make one.


def replaced(_: Any, configured: Any) -> Any:
    """Return the value of the configuration."""
    return configured


def added(program: Sequence[str], configured: Sequence[str]) -> tuple[str, ...]:
    """Return the names of both, each once; the command line adds further ones."""
    return tuple(dict.fromkeys((*program, *configured)))


def merged(program: Mapping[str, Any], configured: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of both; those of the configuration go first."""
    return {**program, **configured}


def renamed_too(program: Renamed, configured: Renamed) -> Renamed:
    """Return the renames of both; those of the configuration go first."""
    return Renamed(
        fleet=configured.fleet or program.fleet,
        members=merged(program.members, configured.members),
        placements=merged(program.placements, configured.placements),
    )
