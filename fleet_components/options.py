"""The table of the options of a fleet: one row for each argument of ``FleetArgs``.

A row makes the key of the configuration, the option of the command line, the fields of
``FleetArgs`` and of a plan, and ``docs/settings.md``. The class that has an option as a field
declares its type, so that programs are checked without running them.

What is told only on the command line, such as ``--state``, does not belong here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.model.cluster import read_time
from fleet_components.model.codec import camel, checked
from fleet_components.model.problem import Problem
from fleet_components.model.releases import TABLES
from fleet_components.model.text import few
from fleet_components.model.typed import HINT, Typed
from fleet_components.plan.ways import A_WAY, Way, no_way

MOST_WAIT = 31_536_000
"""Maximum of ``max_wait`` and ``ready_timeout`` in seconds: a year."""
PLANNED, BEFORE, ALLOWED = "What is planned", "What was before", "What is allowed"
"""Sections of the help of a command."""


class WrongValueError(Exception):
    """An invalid value; its arguments are the message and the hint of a problem."""


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


class Check(StrEnum):
    """A check of what is delivered, by the name under which it is skipped."""

    REFERENCES = "references"
    AUTOSCALERS = "autoscalers"
    DIGESTS = "digests"
    STRUCTURE = "structure"
    VERSIONS = "versions"


MEANINGS: Mapping[Check, str] = {
    Check.REFERENCES: "an object needs another by name, which does not go to the same member",
    Check.AUTOSCALERS: "an autoscaler and the source both set the replicas of a workload",
    Check.DIGESTS: "an override takes the digest off an image",
    Check.VERSIONS: "Kubernetes serves the version of a built-in object no more",
    Check.STRUCTURE: "a field of a built-in object is not what its kind has there",
}


# Readers of the text that the configuration has for a key. Pulumi hands over values other than
# strings as JSON.


def names_in(text: str) -> tuple[str, ...]:
    """Parse a list of names: JSON, or one or several names separated by commas, as the command line
    sets them.

    Raises:
        WrongValueError: the text is neither.
    """
    listed = _parsed(text) if text.lstrip().startswith(("[", "{")) else text.split(",")
    if not isinstance(listed, list) or any(isinstance(item, list | dict) for item in listed):
        raise WrongValueError("is not a list of names", "write names with commas between them")
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
            "is not a time with a zone", "write it as 2026-01-31T12:00:00Z"
        ) from None


def _sources(text: str) -> tuple[str, ...]:
    listed = _parsed(text) if text.lstrip().startswith("[") else [text]
    if not listed or not _is_texts(listed) or "" in listed:
        raise WrongValueError("names no path", A_DIRECTORY)
    return tuple(listed)


def _texts_by_member(text: str) -> dict[str, str]:
    given = _map(text, "is not a map of members", "write member: path")
    wrong = [name for name, kubeconfig in given.items() if not isinstance(kubeconfig, str)]
    if wrong:
        raise WrongValueError(f"of {few(wrong)} is not text", "write member: path, or its text")
    return given


def _renamed(text: str) -> Renamed:
    given = _map(text, "is not a map", _NEW_OLD)
    maps = {key: given.get(key) or {} for key in ("members", "placements")}
    strange = sorted(given.keys() - {"fleet", *maps})
    if strange:
        raise WrongValueError(
            f"has a field {strange[0]}", "the fields are: fleet, members, placements"
        )
    if not all(
        isinstance(item, dict) and all(isinstance(old, str) for old in item.values())
        for item in maps.values()
    ):
        raise WrongValueError("is not a map", _NEW_OLD)
    fleet = given.get("fleet") or ""
    if not isinstance(fleet, str):
        raise WrongValueError("has a fleet that is not a name", "write fleet: OLD")
    return Renamed(fleet=fleet, **maps)


def _lists_by_member(text: str) -> dict[str, list[str]]:
    given = _map(text, "is not a map of members", "write MEMBER: [NAME]")
    lists = {
        name: [patterns] if isinstance(patterns, str) else patterns
        for name, patterns in given.items()
    }
    wrong = [name for name, patterns in lists.items() if not _is_texts(patterns)]
    if wrong:
        raise WrongValueError(f"of {few(wrong)} is not a list of names", "write MEMBER: [NAME]")
    return lists


def _seconds(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise ValueError(text)
    return int(text)


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise WrongValueError("is neither true nor false", "write true or false")
    return text.lower() == "true"


def _map(text: str, what: str, hint: str) -> dict[str, Any]:
    given = _parsed(text)
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise WrongValueError(what, hint)
    return given


def _parsed(text: str) -> Any:
    try:
        return read_json(text)
    except UnreadableError:
        return text


def _is_texts(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(item, str) for item in given)


# Checks: what is wrong with a value of the right type; empty if nothing is.


def _no_share(value: float) -> str:
    return "" if 0 <= value <= 1 else f"is {value:g}"


def _no_wait(seconds: int) -> str:
    return "" if 0 <= seconds <= MOST_WAIT else f"is {seconds}"


def _no_timeout(seconds: int) -> str:
    # The engine and the provider take 0 for a timeout that is not set.
    return "" if 1 <= seconds <= MOST_WAIT else f"is {seconds}"


def _anything(_: Any) -> str:
    return ""


# Merge rules: the value of a program and that of the configuration make one.


def replaced(_: Any, configured: Any) -> Any:
    """Return the value of the configuration."""
    return configured


def added(program: Sequence[str], configured: Sequence[str]) -> tuple[str, ...]:
    """Return the names of both, each once; the command line adds further ones."""
    return tuple(dict.fromkeys((*program, *configured)))


def _merged(program: Mapping[str, Any], configured: Mapping[str, Any]) -> dict[str, Any]:
    return {**program, **configured}


def _renamed_too(program: Renamed, configured: Renamed) -> Renamed:
    return Renamed(
        fleet=configured.fleet or program.fleet,
        members=_merged(program.members, configured.members),
        placements=_merged(program.placements, configured.placements),
    )


@attrs.frozen
class Flag:
    """An option of the command line, for plans that no configuration tells.

    Attributes:
        name: its name, as ``--approve``.
        section: the section of the help that it is in.
        help: what it does; options that add names are repeatable.
        metavar: its value, as the help shows it.
        of_members: True if shells complete names of members.
    """

    name: str
    section: str
    help: str
    metavar: str = ""
    of_members: bool = False


@attrs.frozen(kw_only=True)
class Option:
    """A row of the table.

    Attributes:
        name: the argument of ``FleetArgs``.
        help: its description, without a full stop.
        default: its default, or an ``attrs.Factory``.
        key: the ``fleet:`` key of the configuration; empty if it can only be told in a program.
        key_help: the description of the key, if the configuration takes other values than a
            program.
        read: parses the text of the configuration; raises ``WrongValueError``, or ``ValueError``
            where ``unread`` says what is wrong.
        unread: what is wrong with any invalid text of the configuration, if that is no more than
            what kind of value it should be.
        merge: combines the value of the program with that of the configuration.
        by_member: True if the value of the configuration names members.
        wrong: returns what is wrong with a value of the right type; empty if nothing is.
        hint: what to give instead.
        choices: the values that there are, if only few are valid.
        flag: the option of the command line, if there is one.
    """

    name: str
    help: str
    default: Any = None
    key: str = attrs.field(default=attrs.Factory(lambda self: camel(self.name), takes_self=True))
    key_help: str = attrs.field(default=attrs.Factory(lambda self: self.help, takes_self=True))
    read: Callable[[str], Any] = str
    unread: str = ""
    merge: Callable[[Any, Any], Any] = replaced
    by_member: bool = False
    wrong: Callable[[Any], str] = _anything
    hint: str = ""
    choices: tuple[str, ...] = ()
    flag: Flag | None = None

    def parsed(self, text: str) -> Any:
        """Return the value that a text of the configuration stands for.

        Raises:
            WrongValueError: it stands for no valid value.
        """
        try:
            value = self.read(text)
        except ValueError:
            raise WrongValueError(self.unread, self.hint) from None
        wrong = self.wrong(value)
        if wrong:
            raise WrongValueError(self.unread or wrong, self.hint)
        return value


def _release(setting: str) -> Option:
    """Return the row of the release of a system."""
    table = TABLES[setting]
    return Option(
        name=setting,
        default="",
        wrong=table.unknown,
        hint=table.choice,
        choices=table.names,
        help=(
            f"the release of {table.title} that decides: {', '.join(table.names)}; without it that"
            f" of an observed hub, else {table.default}; see ``docs/fields.md``"
        ),
        flag=Flag(
            f"--{setting}",
            PLANNED,
            f"The release of {table.title} that decides, as fleet:{setting} names it. By default"
            " that of an observed hub which shows it, or of the last update; else"
            f" {table.default}.",
        ),
    )


A_DIRECTORY = "set it to the directory of the fleet's YAML, or to a list of directories"
_NEW_OLD = "write members: {NEW: OLD}"
_ROWS = (
    Option(
        name="source",
        read=_sources,
        help=(
            "policies, manifests and members from genuine YAML: the path of a file or directory,"
            " relative to the program, or several; or a source that was read before, by"
            " :func:`fleet_components.read_source`"
        ),
        key_help=(
            "a directory, file, Helm chart or kustomization, or a list of them; relative to the"
            " program"
        ),
    ),
    Option(
        name="render_to",
        key="render",
        default="",
        help=(
            "a directory to render to, a folder a member, instead of reaching clusters; relative to"
            " the program"
        ),
    ),
    Option(
        name="kubeconfigs",
        read=_texts_by_member,
        merge=_merged,
        by_member=True,
        help="kubeconfigs by member name, text or path, for members of the source",
        key_help="kubeconfigs by member: text or path",
    ),
    Option(
        name="delivery",
        default=Way.DIRECT.value,
        wrong=no_way,
        hint=A_WAY,
        help=(
            "how objects get to members: ``direct``, or through the hub of a system, ``kubefleet``"
            " or ``karmada``. The annotation ``fleet-components/delivery`` of a placement or"
            " propagation policy goes before it"
        ),
    ),
    Option(
        name="hub",
        help=(
            "how the hub is reached: a kubeconfig as text or path, or a Kubernetes provider of"
            " one's own"
        ),
        key_help="kubeconfig of the hub: text or path",
    ),
    *map(_release, TABLES),
    Option(
        name="as_of",
        read=time_in,
        help=(
            "the time at which observed members and waits are judged, as 2026-01-31T12:00:00Z;"
            " without it nothing expires"
        ),
        flag=Flag("--as-of", PLANNED, "The time at which observed members and waits are judged."),
    ),
    Option(
        name="approvals",
        default=(),
        read=names_in,
        merge=added,
        help=(
            "names of given approvals, each of one update run: ``RUN-before-STAGE``,"
            " ``NAMESPACE/RUN-after-STAGE``"
        ),
        flag=Flag(
            "--approve",
            ALLOWED,
            "An approval of a staged update, RUN-before-STAGE or RUN-after-STAGE, as"
            " fleet:approvals gives it; repeatable.",
            "NAME",
        ),
    ),
    Option(
        name="lost",
        default=(),
        read=names_in,
        merge=added,
        help="names of members that are gone for good",
        flag=Flag(
            "--lost",
            BEFORE,
            "A member that is gone for good; repeatable.",
            "MEMBER",
            of_members=True,
        ),
    ),
    Option(
        name="limit",
        default=0.5,
        read=float,
        unread="is not a share",
        wrong=_no_share,
        hint="give a share from 0 to 1, 0.5 for a half",
        help=(
            "the share of what stands, of the fleet or of one placement, that may be lost at once,"
            " from 0 to 1"
        ),
    ),
    Option(
        name="confirm",
        default=(),
        read=names_in,
        merge=added,
        help="tokens of refused losses that are meant",
        flag=Flag(
            "--confirm",
            ALLOWED,
            "Allow a refused loss, as fleet:confirm does; repeatable.",
            "TOKEN",
        ),
    ),
    Option(
        name="keep_cluster_resources",
        default=True,
        read=_flag,
        help="whether namespaces and other cluster-scoped objects outlive their placement",
    ),
    Option(
        name="keep_found",
        default=True,
        read=_flag,
        help=(
            "whether objects that stood on a member before a placement took them over outlive it"
        ),
    ),
    Option(
        name="max_wait",
        default=900,
        read=_seconds,
        unread="is not a time in seconds",
        wrong=_no_wait,
        hint=f"give whole seconds, 900 for a quarter of an hour, {MOST_WAIT} at most",
        help="the longest time in seconds that an update waits between stages",
    ),
    Option(
        name="ready_timeout",
        default=600,
        read=_seconds,
        unread="is not a time in seconds",
        wrong=_no_timeout,
        hint=f"give whole seconds, 1 or more, 600 for ten minutes, {MOST_WAIT} at most",
        help=(
            "the longest time in seconds that an update waits for each object to become ready, or"
            " to be gone once it is deleted; the annotation ``pulumi.com/timeoutSeconds`` sets it"
            " for one object"
        ),
    ),
    Option(
        name="renamed",
        default=Renamed(),
        read=_renamed,
        merge=_renamed_too,
        by_member=True,
        help="what is called otherwise now, so that it stays alive under its new name",
        key_help=(
            "what is called otherwise now: fleet: OLD, members: {NEW: OLD}, placements: {NEW: OLD}"
        ),
    ),
    Option(
        name="takes_over",
        default=attrs.Factory(dict),
        read=_lists_by_member,
        merge=_merged,
        by_member=True,
        help=(
            "by member, the names of Kubernetes resources that this stack has managed itself, and"
            " that the fleet brings there from now on; ``*`` stands for anything, and ``!NAME``"
            " names one that is on another cluster"
        ),
    ),
    Option(
        name="takes_from",
        default=(),
        read=names_in,
        merge=added,
        help=(
            "stacks, as ``organization/project/stack``, that have let go of objects which this"
            " stack brings from now on"
        ),
    ),
    Option(
        name="pass_over",
        default=(),
        read=names_in,
        merge=added,
        help=(
            "kinds that steer a hub, are not carried out by this version, and are not to stand in"
            " the way; every plan names them"
        ),
        flag=Flag(
            "--pass-over",
            ALLOWED,
            "A kind that steers a hub and is not carried out: leave its objects out, as"
            " fleet:passOver does; repeatable.",
            "KIND",
        ),
    ),
    Option(
        name="skip_checks",
        default=(),
        read=names_in,
        merge=added,
        help=(
            "checks whose warnings are not wanted: "
            + ", ".join(f"``{check}``: {meaning}" for check, meaning in MEANINGS.items())
        ),
        flag=Flag(
            "--skip-check",
            PLANNED,
            "A check whose warnings are not wanted, as fleet:skipChecks: "
            + ", ".join(MEANINGS)
            + "; repeatable.",
            "CHECK",
        ),
    ),
    Option(
        name="plugins",
        default=(),
        read=names_in,
        merge=added,
        help=(
            "plug-ins of the scheduler from outside this package, by import path,"
            " ``MODULE:CLASS``; see ``docs/plugins.md``. With any, decisions are no longer those of"
            " the real system, and every plan says so"
        ),
        flag=Flag(
            "--plugin",
            PLANNED,
            "A plug-in that decides with those of the real system, as fleet:plugins names it;"
            " its code is run. Repeatable.",
            "MODULE:CLASS",
        ),
    ),
    Option(
        name="moving",
        default=False,
        read=_flag,
        help=(
            "whether an update prepares a move to another way of delivery: everything stays on its"
            " way, and is kept when it leaves the stack. ``fleet move`` sets it for one update"
        ),
    ),
    Option(
        name="protect",
        default=True,
        read=_flag,
        help=(
            "whether a program from which the fleet has gone is stopped before it deletes"
            " everything; see ``docs/delivery.md`` for what that means for ``pulumi destroy``"
        ),
    ),
    Option(
        name="members",
        key="",
        default=(),
        help="members declared in the program; they are added to those of the source",
    ),
    Option(
        name="objects",
        key="",
        default=(),
        help=(
            "objects made in the program, as if they stood in the source: dicts as in YAML, input"
            " types of ``pulumi_kubernetes``, and what :func:`fleet_components.objects_of` makes of"
            " its resources"
        ),
    ),
    Option(
        name="providers",
        key="",
        help=(
            "Kubernetes providers of one's own by member name, for members of the source; instead"
            " of kubeconfigs, see :class:`Member`"
        ),
    ),
)
OPTIONS: Mapping[str, Option] = {option.name: option for option in _ROWS}
"""The options by argument, in the order of ``docs/settings.md``."""
KEYS: Mapping[str, Option] = {option.key: option for option in _ROWS if option.key}
"""The options that the configuration has, by key."""
FLAGS: Mapping[str, tuple[Option, Flag]] = {
    option.name: (option, option.flag) for option in _ROWS if option.flag
}
"""The options that the command line has, by argument, each with the form that it has there."""


_ROW = "option"
"""Metadata key of a field that is an option."""


def field_of(name: str, **more: Any) -> Any:
    """Return the field of an option, for an attrs class that has it under the same name.

    Args:
        name: the option.
        more: arguments of ``attrs.field`` that go before those of the table.
    """
    option = OPTIONS[name]
    metadata: dict[str, Any] = {_ROW: option}
    if option.hint:
        metadata |= checked(option.wrong)
    # What is no whole number at all gets the hint of its type.
    if option.hint and option.read is not _seconds:
        metadata[HINT] = option.hint
    return attrs.field(**{"default": option.default, "metadata": metadata, **more})


def shared(kind: type[attrs.AttrsInstance], given: attrs.AttrsInstance) -> dict[str, Any]:
    """Return the options of a class, with the values that they have in another one.

    Args:
        kind: the class, whose fields are made by :func:`field_of`.
        given: has some of them as well, as the arguments of a fleet or a command line.
    """
    there = attrs.fields_dict(type(given))
    return {
        field.name: getattr(given, field.name)
        for field in attrs.fields(kind)
        if _ROW in field.metadata and field.name in there
    }


def wrong_options(given: attrs.AttrsInstance) -> Iterator[Problem]:
    """Yield a problem for each option of a class whose value has the right type and is invalid."""
    for field in attrs.fields(type(given)):
        option: Option | None = field.metadata.get(_ROW)
        wrong = option.wrong(getattr(given, field.name)) if option else ""
        if option and wrong:
            yield Problem(wrong, (field.name,), option.hint)
