"""Arguments and options that several commands share."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import attrs
import click

from fleet_components.cli import clock
from fleet_components.cli.exit_status import status_of, strictly
from fleet_components.cli.help import before, planned, printed, reached, under
from fleet_components.cli.names import members
from fleet_components.cli.progress import watch
from fleet_components.model.cluster import read_time
from fleet_components.model.problem import FleetError
from fleet_components.model.text import visible
from fleet_components.option_values import added, time_in
from fleet_components.options import FLAGS, Flag, FleetOption
from fleet_components.review.documents.schema import PlanDocument
from fleet_components.review.planning.other_stacks import OtherStack
from fleet_components.review.planning.past import StateFile, parse_state, read_state
from fleet_components.review.planning.survey import STANDARD_INPUT, CommandLine, read_standard_input
from fleet_components.review.showing import words
from fleet_components.review.showing.age import old

_STACK = re.compile(r"([A-Za-z0-9_.-]+/){0,2}[A-Za-z0-9_.-]+")
F = TypeVar("F", bound=Callable[..., Any])


class _Time(click.ParamType[datetime]):
    """Parameter type of an RFC 3339 time with a zone."""

    name = "TIME"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Parse a value; one that is not a time is a usage error."""
        try:
            # click converts a value that is converted already once more, such as a default.
            time = value if isinstance(value, datetime) else read_time(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        # read_time returns None for None only.
        assert time is not None
        return time


class _Kubeconfig(click.ParamType[tuple[str, Path]]):
    """Parameter type of ``MEMBER=PATH``."""

    name = "MEMBER=PATH"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Path]:
        """Split a value; one without a member or a path is a usage error, in which the value is not
        shown.
        """
        member, _, path = (
            # Converted already: a member and a path.
            value.partition("=") if isinstance(value, str) else (value[0], "", str(value[1]))
        )
        if not member or not path or "\n" in value:
            self.fail("write MEMBER=PATH, with the path of a kubeconfig", param, ctx)
        return member, Path(os.path.expanduser(path))


TIME = _Time()
SUMMING_UP = "summing up"
"""Words for the last part of the work: a plan is made into what is shown."""
PATHS = click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR..."
)

WITH = planned(
    "--with",
    "others",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="More of the same fleet: what `fleet plan` takes after the first DIR; repeatable.",
)


def _of_fleet(option: FleetOption, flag: Flag) -> Callable[[F], F]:
    """Return the option of the command line that the table has for an option of a fleet."""
    # An option is a time if it is read as one: the table has no types for the command line.
    kind: Any = TIME if option.read is time_in else None
    return under(flag.section)(
        flag.name,
        option.name,
        multiple=option.merge is added,
        type=click.Choice(option.choices) if option.choices else kind,
        metavar=flag.metavar or None,
        shell_complete=members if flag.of_members else None,
        help=flag.help,
    )


def where(command: F) -> F:
    """Add ``--state``, ``--stack`` and the other options of a plan to a command, for
    :func:`command_line`.
    """
    options = (
        before(
            "--state",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help=(
                "What was decided before: the output of `pulumi stack export`, the state.json of a"
                " render, or an observed directory; - reads standard input. It counts instead of"
                " what DIR has observed itself."
            ),
        ),
        planned(
            "--stack",
            metavar="NAME",
            help=(
                "The stack of a Pulumi project, needed when there are several. A directory of YAML"
                " is planned as the stack of that name, local by default: objects are stamped with"
                " it, and ties between members fall by it."
            ),
        ),
        planned(
            "--project",
            is_flag=True,
            help=(
                "DIR is a Pulumi project: run its program. So does --stack, or DIR/Pulumi.yaml in"
                " the place of DIR."
            ),
        ),
        planned(
            "--no-program",
            is_flag=True,
            help=(
                "Run no program for what is planned: refuse Pulumi projects, charts and"
                " kustomizations, for a review of what a stranger wrote."
            ),
        ),
        planned(
            "--state-of",
            "states_of",
            multiple=True,
            metavar="STACK=FILE",
            help=(
                "Another stack whose outputs the program reads, and the output of `pulumi stack"
                " export` for it, with or without secrets. STACK is spelled as in the program;"
                " repeatable."
            ),
        ),
        planned(
            "--project-of",
            "projects_of",
            multiple=True,
            metavar="STACK=DIR",
            help=(
                "Another stack whose outputs the program reads, and the directory of its project:"
                " its outputs are those of a plan, from its --state-of or as a new stack. Its"
                " program is run. Repeatable."
            ),
        ),
        before("--any-state", is_flag=True, help="Take a state of another project or stack."),
        *(_of_fleet(option, flag) for option, flag in FLAGS.values()),
        before(
            "--returned",
            multiple=True,
            metavar="MEMBER",
            shell_complete=members,
            help="A member that was lost and is back; repeatable.",
        ),
    )
    # click lists the option first that is added last.
    for option in reversed(options):
        command = option(command)
    return command


CONFIG = planned(
    "--config",
    "config",
    multiple=True,
    metavar="KEY=VALUE",
    help=(
        "A configuration value of the project that counts instead of the one in the stack's file,"
        " in this plan only, as `pulumi preview --config` takes it; repeatable."
    ),
)


def reaching(command: F) -> F:
    """Add ``--kubeconfig`` and ``--timeout`` to a command that asks members."""
    timeout = reached(
        "--timeout",
        type=click.FloatRange(0.1, 3600),
        default=10.0,
        show_default=True,
        metavar="SECONDS",
        help=(
            "How long a member has for its answers; a quarter of a second is added for each object."
        ),
    )
    kubeconfig = reached(
        "--kubeconfig",
        "kubeconfigs",
        multiple=True,
        type=_Kubeconfig(),
        callback=_once_each,
        help=(
            "A kubeconfig that counts instead of the one in the state; repeatable. In a stack of"
            " several fleets, a member is FLEET/MEMBER where both have one of its name."
        ),
    )
    return kubeconfig(timeout(command))


def _once_each(
    ctx: click.Context, param: click.Parameter, given: tuple[tuple[str, Path], ...]
) -> Mapping[str, Path]:
    """Return the files by member; a member that is given two is a usage error."""
    found: dict[str, Path] = {}
    for member, path in given:
        if found.setdefault(member, path) != path:
            raise click.BadParameter(f"{member} is given two kubeconfigs", ctx, param)
    return found


def output(*forms: str) -> Callable[[F], F]:
    """Return a decorator that adds ``-o``; the first form is the default."""
    return printed("-o", "--output", type=click.Choice(forms), default=forms[0], show_default=True)


def endings(
    *,
    detailed: bool = True,
    changes: str = "there are changes",
    strict: str = "Refuse a plan with an unfulfilled policy or a warning",
) -> Callable[[F], F]:
    """Return a decorator that adds ``--strict`` and, if ``detailed``, ``--detailed-exitcode``, for
    :func:`end`.

    Args:
        detailed: True for both.
        changes: where ``--detailed-exitcode`` ends with 2, for the help.
        strict: what ``--strict`` does, for the help.
    """

    def decorated(command: F) -> F:
        if detailed:
            flag = "--detailed-exitcode"
            command = printed(
                flag, "detailed", is_flag=True, help=f"End with status 2 where {changes}."
            )(command)
        return printed("--strict", is_flag=True, help=f"{strict}: end with status 3.")(command)

    return decorated


def command_line(
    *,
    state: Path | None,
    stack: str | None,
    returned: tuple[str, ...],
    any_state: bool,
    project: bool,
    no_program: bool,
    states_of: tuple[str, ...],
    projects_of: tuple[str, ...],
    config: tuple[str, ...] = (),
    **of_fleet: Any,
) -> CommandLine:
    """Return the values of the options that :func:`where` and :data:`CONFIG` add.

    Raises:
        click.UsageError: options contradict each other.
    """
    plugins = of_fleet["plugins"]
    if no_program and (project or plugins or projects_of):
        what = "--project" if project else "--plugin" if plugins else "--project-of"
        raise click.UsageError(f"--no-program and {what} exclude each other")
    if stack and not _STACK.fullmatch(stack):
        raise click.BadParameter(
            "a stack is called [[ORGANIZATION/]PROJECT/]NAME, of letters, digits, -, _ and ."
        )
    if plugins:  # a module of one's own is beside what is planned
        sys.path.insert(0, os.getcwd())
    return CommandLine(
        state=state_of(state),
        stack=stack,
        returned=frozenset(returned),
        any_state=any_state,
        project=project,
        program=not no_program,
        others=_others(states_of, projects_of),
        config=_configured(config),
        watch=watch,
        # An option that is not given keeps the default of CommandLine.
        **{name: _kept(name, value) for name, value in of_fleet.items() if value is not None},
    )


def _kept(name: str, value: Any) -> Any:
    """Return the value of an option as a plan has it: names whose order does not count are a
    set.
    """
    # The default of the field says which of the two it is.
    default = attrs.fields_dict(CommandLine)[name].default
    return frozenset(value) if isinstance(default, frozenset) else value


def _configured(given: tuple[str, ...]) -> Mapping[str, str]:
    """Return the values of ``--config`` by key.

    Raises:
        click.UsageError: one is not KEY=VALUE, or a key is given twice. Values are not shown.
    """
    found: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise click.UsageError("--config is given as KEY=VALUE, as in fleet:source=fleet")
        if key in found:
            raise click.UsageError(f"--config {key} is given twice")
        found[key] = value
    return found


def _others(states: tuple[str, ...], projects: tuple[str, ...]) -> tuple[OtherStack, ...]:
    """Return the stacks that ``--state-of`` and ``--project-of`` give.

    Raises:
        click.UsageError: one of them is not STACK=PATH, or is given twice.
    """
    files, folders = (
        _by_stack("--state-of", "STACK=FILE", states),
        _by_stack("--project-of", "STACK=DIR", projects),
    )
    return tuple(
        OtherStack(stack, state_of(files.get(stack)), folders.get(stack))
        for stack in dict.fromkeys([*files, *folders])
    )


def _by_stack(option: str, form: str, given: tuple[str, ...]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for text in given:
        stack, equals, path = text.partition("=")
        if not (equals and path and _STACK.fullmatch(stack)):
            hint = "STACK is spelled as in the program, as in organization/shop/prod"
            raise click.UsageError(f"{option} is given as {form}, and {text} is not: {hint}")
        if stack in found:
            raise click.UsageError(f"{option} {stack} is given twice")
        if path == "-":
            raise click.UsageError(f"{option} {stack} takes no standard input: give a file")
        found[stack] = Path(path)
    return found


def state_of(state: Path | None) -> StateFile:
    """Return the state of ``--state``, or an empty one with the problems if it cannot be read;
    empty if not given.
    """
    if state is None:
        return StateFile()
    try:
        with watch(f"reading {STANDARD_INPUT if str(state) == '-' else state}"):
            return (
                parse_state(read_standard_input(), STANDARD_INPUT)
                if str(state) == "-"
                else read_state(state)
            )
    except FleetError as error:
        return StateFile(str(state)).unread(error.problems)


def say_refused(document: PlanDocument, *, shown: bool = False) -> None:
    """Print on standard error why an update is refused.

    Standard output may be redirected to a file, where a refusal could be missed. Otherwise it
    is printed once.

    Args:
        document: the plan.
        shown: True if standard output shows the refusal already.
    """
    # A terminal shows both streams; a file would lack what is only on standard error.
    for line in () if shown and not _in_file() else words.refusals(document):
        click.echo(visible(line), err=True)


def say_warnings(document: PlanDocument) -> None:
    """Print the warnings on standard error, policies that are not fulfilled included."""
    for name, text in words.warnings(document):
        say_warning(name, text)


def say_warning(name: str, text: str) -> None:
    """Print a warning on standard error; its name stands before it where the text does not have
    it.
    """
    named = f"{visible(name)}: " if name and name not in text else ""
    click.echo(f"warning: {named}{words.single_line(visible(text))}", err=True)


def say_old(document: PlanDocument) -> None:
    """Print on standard error that a plan starts from an old observation."""
    warning = old(document, clock.now())
    if warning:
        click.echo(f"warning: {warning}", err=True)


def end(document: PlanDocument, *, strict: bool, detailed: bool = False) -> NoReturn:
    """Exit with the status of the plan; with ``strict``, print the reason for a refusal first."""
    why = strictly(document) if strict else ""
    if why:
        click.echo(why, err=True)
    sys.exit(status_of(document, strict=strict, detailed=detailed))


def _in_file() -> bool:
    """Return whether standard output goes to a file alone: a terminal, and the log of a pipeline,
    show both streams.
    """
    try:
        out, err = sys.stdout.fileno(), sys.stderr.fileno()
        # Only a file that standard error does not go to as well hides the refusal.
        return stat.S_ISREG(os.fstat(out).st_mode) and not os.path.sameopenfile(out, err)
    except OSError:
        return True
