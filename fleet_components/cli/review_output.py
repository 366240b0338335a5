"""The end of a command that shows a plan: what changes, in the forms that are asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial, wraps
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

import attrs
import click

from fleet_components.cli import clock, options
from fleet_components.cli.exit_status import ExitStatus, status_of
from fleet_components.cli.help import printed
from fleet_components.cli.names import members, placements
from fleet_components.cli.progress import watch
from fleet_components.content.paths import within
from fleet_components.content.wire import to_json
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.review.documents.form import View
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.documents.schema import plan_schema
from fleet_components.review.planning.project import is_project
from fleet_components.review.planning.survey import Survey
from fleet_components.review.rendering.target import clear, save, write_new
from fleet_components.review.showing.age import with_age
from fleet_components.review.showing.forms import in_form
from fleet_components.review.showing.plan import plan_view

F = TypeVar("F", bound=Callable[..., Any])
FORMS = ("table", "json", "yaml", "markdown")


class _FormFile(click.ParamType[tuple[str, Path]]):
    """Parameter type of ``FORM=FILE``."""

    name = "FORM=FILE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Path]:
        """Split a value; one of an unknown form, or without a file, is a usage error."""
        form, _, file = (
            # Converted already: a form and a file.
            value.partition("=") if isinstance(value, str) else (value[0], "", str(value[1]))
        )
        if form not in FORMS or not file:
            self.fail(f"write FORM=FILE, with a form of {', '.join(FORMS)}", param, ctx)
        if file == "-":
            self.fail(f"give a file: -o {form} prints it", param, ctx)
        return form, Path(file)


@attrs.frozen
class Shown:
    """Request for how a plan is shown.

    Attributes:
        view: what is shown of it.
        output: the form for standard output, one of :data:`FORMS`.
        also: further forms, each with the file that it is written to.
        diff: whether differences are shown whole.
        strict: whether the plan is judged strictly.
        detailed: whether changes have an exit status of their own.
        command: the command that shows it.
    """

    view: View
    output: str
    also: tuple[tuple[str, Path], ...]
    diff: bool
    strict: bool
    detailed: bool
    command: str


def reviewing(command: F) -> F:
    """Add the options that say what is shown and how it ends; the command gets them as ``asked``, a
    :class:`Shown`.
    """

    @wraps(command)
    def called(
        *,
        every: bool,
        only: tuple[str, ...],
        member: str | None,
        diff: bool,
        output: str,
        also: tuple[tuple[str, Path], ...],
        strict: bool,
        detailed: bool,
        **others: Any,
    ) -> Any:
        _clear(
            also,
            [
                *others.get("paths", ()),
                *(other for other in others.values() if isinstance(other, Path)),
            ],
        )
        view = View(every, only, member or "")
        asked = Shown(view, output, also, diff, strict, detailed, command.__name__)
        return command(asked=asked, **others)

    schema = printed(
        "--schema",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_print_schema,
        help="Print the JSON Schema of -o json and exit.",
    )
    added = (
        printed("--all", "every", is_flag=True, help="Show also what does not change."),
        printed(
            "--only",
            multiple=True,
            metavar="NAME",
            shell_complete=placements,
            help=(
                "Show this placement alone, whether it changes or not; what Karmada's policies"
                " place is named NAMESPACE/KIND/NAME. Repeatable."
            ),
        ),
        printed(
            "--member",
            metavar="NAME",
            shell_complete=members,
            help="Show what changes on this member alone, object by object.",
        ),
        printed(
            "--diff", is_flag=True, help="Show differences whole, and the objects that are new."
        ),
        options.output(*FORMS),
        printed(
            "--also",
            multiple=True,
            type=_FormFile(),
            help=(
                f"Write the same in another form, one of {', '.join(FORMS)}, to a file; repeatable."
            ),
        ),
        options.endings(),
        schema,
    )
    decorated: Any = called
    # The help lists the decorator that is applied last first.
    for option in reversed(added):
        decorated = option(decorated)
    return cast(F, decorated)


def _print_schema(ctx: click.Context, _: click.Parameter, given: bool) -> None:
    if given and not ctx.resilient_parsing:
        click.echo(to_json(plan_schema()), nl=False)
        ctx.exit()


def show(surveyed: Survey, asked: Shown, save_state: Path | None = None) -> NoReturn:
    """Print a plan, write it to files, and exit with its status.

    Args:
        surveyed: the plan.
        asked: how it is shown.
        save_state: the file that the state after the plan is written to, unless the plan is
            refused.

    Raises:
        FleetError: the view asks for what does not exist, or a file cannot be written or is one
            that was read.
    """
    with watch(options.SUMMING_UP):
        document = plan_document(surveyed, asked.view)
    if save_state and status_of(document, strict=asked.strict) is not ExitStatus.REFUSED:
        save(save_state, surveyed.after())
    aged = with_age(document, clock.now())
    view = partial(plan_view, aged, diff=asked.diff, command=asked.command)
    put(asked, lambda form: in_form(form, document, view))
    options.say_old(document)
    # The other forms are for programs: a person reads the refusal on standard error.
    shown_already = asked.output in ("table", "markdown")
    options.say_refused(document, shown=shown_already)
    options.end(document, strict=asked.strict, detailed=asked.detailed)


def _clear(also: Iterable[tuple[str, Path]], paths: Iterable[Path]) -> None:
    """Remove the further files of an earlier run, so that one that fails leaves nothing to be taken
    for its own.

    Raises:
        FleetError: one of them is among what the options name, or cannot be removed.
    """
    # A project is named by its folder, below which anything may lie.
    sources = [path for path in paths if not is_project(path)]
    for _, file in also:
        if file.exists() and any(within(file, path) for path in sources):
            what = Message(
                "among-what-read-overwritten", "is among what is read, and would be overwritten"
            )
            raise FleetError([Problem(what, file=str(file), hint="give another file")])
        clear(file)


def put(asked: Shown, text: Callable[[str], str]) -> None:
    """Print a text, and write it to files.

    Args:
        asked: the forms that are asked for.
        text: returns the text in a form.

    Raises:
        FleetError: a file cannot be written.
    """
    with watch(options.SUMMING_UP):
        summary = text(asked.output)
    sys.stdout.write(summary)
    for form, file in asked.also:
        write_new(file, text(form))
