"""The table of the options of a fleet: one row for each argument of ``FleetArgs``.

A row makes the key of the configuration, the option of the command line, the fields of
``FleetArgs`` and of a plan, and ``docs/settings.md``. The class that has an option as a field
declares its type, so that programs are checked without running them.

An option that only the command line has, such as ``--state``, does not belong here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from fleet_components.model.codec import camel, checked
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.releases import TABLES
from fleet_components.model.typed import HINT
from fleet_components.option_values import (
    MEANINGS,
    MOST_WAIT,
    Renamed,
    WrongValueError,
    added,
    anything,
    flag_in,
    lists_by_member,
    merged,
    names_in,
    no_share,
    no_timeout,
    no_wait,
    paths_in,
    renamed_too,
    renames_in,
    replaced,
    seconds_in,
    texts_by_member,
    time_in,
)
from fleet_components.plan.ways import A_WAY, Way, no_way

PLANNED, BEFORE, ALLOWED = "What is planned", "What was before", "What is allowed"
"""Sections of the help of a command."""


@attrs.frozen
class Flag:
    """The form that an option has on the command line.

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
class FleetOption:
    """A row of the table.

    Attributes:
        name: the argument of ``FleetArgs``.
        help: its description, without a full stop.
        default: its default, or an ``attrs.Factory``.
        key: the ``fleet:`` key of the configuration; empty if only a program has it.
        key_help: the description of the key, if the configuration takes other values than a
            program.
        read: parses the text of the configuration; raises ``WrongValueError``, or ``ValueError``
            where ``unread`` says what is wrong.
        unread: what is wrong with any invalid text of the configuration: what kind of value it
            should be.
        merge: combines the value of the program with that of the configuration.
        by_member: True if the value of the configuration names members.
        wrong: returns what is wrong with a value of the right type; None if nothing is.
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
    unread: Message | None = None
    merge: Callable[[Any, Any], Any] = replaced
    by_member: bool = False
    wrong: Callable[[Any], Message | None] = anything
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
            if self.unread is None:
                raise
            raise WrongValueError(self.unread, self.hint) from None
        wrong = self.wrong(value)
        if wrong:
            raise WrongValueError(self.unread or wrong, self.hint)
        return value


def _release(setting: str) -> FleetOption:
    """Return the row of the release of a system."""
    table = TABLES[setting]
    return FleetOption(
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


_ROWS = (
    FleetOption(
        name="source",
        read=paths_in,
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
    FleetOption(
        name="render_to",
        key="render",
        default="",
        help=(
            "a directory to render to, a folder a member, instead of reaching clusters; relative to"
            " the program"
        ),
    ),
    FleetOption(
        name="kubeconfigs",
        read=texts_by_member,
        merge=merged,
        by_member=True,
        help="kubeconfigs by member name, text or path, for members of the source",
        key_help="kubeconfigs by member: text or path",
    ),
    FleetOption(
        name="delivery",
        default=Way.DIRECT.value,
        wrong=no_way,
        hint=A_WAY,
        choices=tuple(way.value for way in Way),
        help=(
            "how objects get to members: ``direct``, or through the hub of a system, ``kubefleet``"
            " or ``karmada``. The annotation ``fleet-components/delivery`` of a placement or"
            " propagation policy goes before it"
        ),
    ),
    FleetOption(
        name="hub",
        help=(
            "how the hub is reached: a kubeconfig as text or path, or a Kubernetes provider of"
            " one's own"
        ),
        key_help="kubeconfig of the hub: text or path",
    ),
    *map(_release, TABLES),
    FleetOption(
        name="as_of",
        read=time_in,
        help=(
            "the time at which observed members and waits are judged, as 2026-01-31T12:00:00Z;"
            " without it nothing expires"
        ),
        flag=Flag("--as-of", PLANNED, "The time at which observed members and waits are judged."),
    ),
    FleetOption(
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
    FleetOption(
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
    FleetOption(
        name="limit",
        default=0.5,
        read=float,
        unread=Message("share-unreadable", "is not a share"),
        wrong=no_share,
        hint="give a share from 0 to 1, 0.5 for a half",
        help=(
            "the share of what stands, of the fleet or of one placement, that may be lost at once,"
            " from 0 to 1"
        ),
    ),
    FleetOption(
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
    FleetOption(
        name="keep_cluster_resources",
        default=True,
        read=flag_in,
        help="whether namespaces and other cluster-scoped objects outlive their placement",
    ),
    FleetOption(
        name="keep_found",
        default=True,
        read=flag_in,
        help="whether objects that stood on a member before a placement took them over outlive it",
    ),
    FleetOption(
        name="max_wait",
        default=900,
        read=seconds_in,
        unread=Message("seconds-unreadable", "is not a time in seconds"),
        wrong=no_wait,
        hint=f"give whole seconds, 900 for a quarter of an hour, {MOST_WAIT} at most",
        help="the longest time in seconds that an update waits between stages",
    ),
    FleetOption(
        name="ready_timeout",
        default=600,
        read=seconds_in,
        unread=Message("seconds-unreadable", "is not a time in seconds"),
        wrong=no_timeout,
        hint=f"give whole seconds, 1 or more, 600 for ten minutes, {MOST_WAIT} at most",
        help=(
            "the longest time in seconds that an update waits for each object to become ready, or"
            " to be gone once it is deleted; the annotation ``pulumi.com/timeoutSeconds`` sets it"
            " for one object"
        ),
    ),
    FleetOption(
        name="renamed",
        default=Renamed(),
        read=renames_in,
        merge=renamed_too,
        by_member=True,
        help="what is called otherwise now, so that it stays alive under its new name",
        key_help=(
            "what is called otherwise now: fleet: OLD, members: {NEW: OLD}, placements: {NEW: OLD}"
        ),
    ),
    FleetOption(
        name="takes_over",
        default=attrs.Factory(dict),
        read=lists_by_member,
        merge=merged,
        by_member=True,
        help=(
            "by member, the names of Kubernetes resources that this stack has managed itself, and"
            " that the fleet brings there from now on; ``*`` stands for anything, and ``!NAME``"
            " names one that is on another cluster"
        ),
    ),
    FleetOption(
        name="takes_from",
        default=(),
        read=names_in,
        merge=added,
        help=(
            "stacks, as ``organization/project/stack``, that have let go of objects which this"
            " stack brings from now on"
        ),
    ),
    FleetOption(
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
    FleetOption(
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
    FleetOption(
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
    FleetOption(
        name="moving",
        default=False,
        read=flag_in,
        help=(
            "whether an update prepares a move to another way of delivery: everything stays on its"
            " way, and is kept when it leaves the stack. ``fleet move`` sets it for one update"
        ),
    ),
    FleetOption(
        name="protect",
        default=True,
        read=flag_in,
        help=(
            "whether a program from which the fleet has gone is stopped before it deletes"
            " everything; see ``docs/delivery.md`` for what that means for ``pulumi destroy``"
        ),
    ),
    FleetOption(
        name="members",
        key="",
        default=(),
        help="members declared in the program; they are added to those of the source",
    ),
    FleetOption(
        name="objects",
        key="",
        default=(),
        help=(
            "objects made in the program, as if they stood in the source: dicts as in YAML, input"
            " types of ``pulumi_kubernetes``, and what :func:`fleet_components.objects_of` makes of"
            " its resources"
        ),
    ),
    FleetOption(
        name="providers",
        key="",
        help=(
            "Kubernetes providers of one's own by member name, for members of the source; instead"
            " of kubeconfigs, see :class:`Member`"
        ),
    ),
)
OPTIONS: Mapping[str, FleetOption] = {option.name: option for option in _ROWS}
"""The options by argument, in the order of ``docs/settings.md``."""
KEYS: Mapping[str, FleetOption] = {option.key: option for option in _ROWS if option.key}
"""The options that the configuration has, by key."""
FLAGS: Mapping[str, tuple[FleetOption, Flag]] = {
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
    # A value that is not a whole number gets the hint of its type.
    if option.hint and option.read is not seconds_in:
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
        option: FleetOption | None = field.metadata.get(_ROW)
        wrong = option.wrong(getattr(given, field.name)) if option else None
        if option and wrong:
            yield Problem(wrong, (field.name,), option.hint)
