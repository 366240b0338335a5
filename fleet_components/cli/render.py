"""The command ``fleet render``: writes the manifests of each member, with the decisions beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import click

from fleet_components.cli import options
from fleet_components.cli.exit_status import ExitStatus, status_of
from fleet_components.cli.help import Command
from fleet_components.cli.progress import watch
from fleet_components.content.confined import within
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count, visible
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.review.documents.form import Document, to_read
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.planning.observed import refuse_observed
from fleet_components.review.planning.past import DEFAULT_STACK, StateFile
from fleet_components.review.planning.project import choose_stack, read_project
from fleet_components.review.planning.survey import CommandLine, project_among, survey
from fleet_components.review.rendering.folder import recover, replace
from fleet_components.review.rendering.manifests import DECISIONS, STATE, ours_in, rendered
from fleet_components.review.showing import words

# A file system takes 255 bytes; while the folder is replaced its name is longer.
_LONGEST_NAME = 200
_BY_HUB = "which delivers itself: manifests that are delivered beside it would fight it"
_INSTEAD = "fleet plan shows what the hub would do; once no hub delivers any more, remove the folder observed/"
_FOLDER = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
"""Names of stacks, as Pulumi has them."""


@click.command(
    cls=Command,
    examples={
        "the manifests of each member below out/local": "fleet render fleet/ --out out",
        "from the beginning, if every policy is fulfilled": "fleet render fleet/ --out out --fresh --strict",
        "a Pulumi project, below out/prod": "fleet render . --stack prod --out out",
    },
)
@options.PATHS
@options.where
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Where to write.")
@click.option("--fresh", is_flag=True, help="Forget what the last render decided.")
@click.option("--show-secrets", is_flag=True, help="Write the data of Secrets, in files for their owner only.")
@options.endings()
def render(
    paths: tuple[Path, ...],
    out: Path,
    fresh: bool,
    show_secrets: bool,
    strict: bool,
    detailed: bool,
    **where: Any,
) -> None:
    """Write the manifests of each member, with the decisions beside them.

    The manifests go to OUT/STACK/CLUSTER, the decisions to OUT/STACK. What the last render decided is the starting
    point of the next one. The folder of the stack is replaced as a whole; nothing is left half-written, and
    nothing is written where the update is refused, by --strict or otherwise.
    """
    command = options.command_line(**where)
    refuse_observed(paths, command.state, _BY_HUB, _INSTEAD)
    if fresh:
        command = attrs.evolve(command, state=StateFile())
    project = project_among(paths, command)
    name = _stack_name(project, command)
    command = command.wrong([*_no_folder(name, command), *_inside(() if project else paths, out)])
    folder = out / name
    if not fresh and not command.state.file and not command.problems:
        command = attrs.evolve(command, state=options.state_of(_last(folder)))
    if show_secrets:
        command = attrs.evolve(command, state=command.state.shown())
    surveyed = survey(paths, command)
    document = plan_document(surveyed)
    options.say_refused(surveyed.refused)
    refused = status_of(document, strict=strict) is ExitStatus.REFUSED
    with watch(f"writing {folder}"):
        files = {} if refused else rendered(_only(surveyed.plans), show_secrets=show_secrets)
        if files:
            replace(folder, files, ours=ours_in, private=show_secrets)
    _report(document, folder, command.state.file, files)
    options.end(document, strict=strict, detailed=detailed)


def _only(plans: tuple[FleetPlan, ...]) -> FleetPlan:
    """Return the only fleet, which is the one to render.

    Raises:
        FleetError: there is no fleet, or there are several.
    """
    if len(plans) != 1:
        what = "the program has no fleet" if not plans else f"the program has {len(plans)} fleets"
        raise FleetError([Problem(what, hint="render the directory of each")])
    return plans[0]


def _stack_name(project: Path | None, command: CommandLine) -> str:
    """Return the name of the output folder: the name of the stack without its organization."""
    name = (command.stack or "").rpartition("/")[2]
    if project:
        name = choose_stack(read_project(project), name or None)
    return name or command.state.stack[1] or DEFAULT_STACK


def _no_folder(name: str, command: CommandLine) -> Iterator[Problem]:
    file = "" if command.stack or name != command.state.stack[1] else command.state.file
    if len(name.encode(errors="replace")) > _LONGEST_NAME:
        yield Problem(f"the name of the stack is longer than {_LONGEST_NAME} bytes", hint="--stack NAME", file=file)
    elif not _FOLDER.fullmatch(name):
        yield Problem(f'"{name}" cannot be the name of a folder', hint="--stack NAME", file=file)


def _inside(paths: tuple[Path, ...], out: Path) -> Iterator[Problem]:
    """Yield a problem for each input directory that contains the output, which the next run would read as input."""
    for path in paths:
        if within(out, path):
            hint = "write to a place outside of it, --out ../out for example"
            yield Problem(f"lies in {path}, which is read", file=str(out), hint=hint)
    # A link that somebody has committed under that name would lead the files elsewhere.
    if not out.is_absolute() and ".." not in out.parts and not within(out, Path.cwd()):
        yield Problem(
            f"is a link that leads out of {Path.cwd()}", file=str(out), hint="write the path that it leads to"
        )


def _last(folder: Path) -> Path | None:
    # A render that was killed between its renames has set the folder aside, and its state with it.
    recover(folder)
    state = folder / STATE
    return state if state.is_file() else None


def _report(document: Document, folder: Path, state: str, files: dict[str, str]) -> None:
    """Print what is lost, warnings and notes, and what was written, which is nothing if the update is refused."""
    document = to_read(document)
    if line := words.confirmation(document):
        click.echo(line, err=True)
    for _, lost in words.leaving(document):
        click.echo(lost)
    options.say_warnings(document)
    click.echo(words.summary(document))
    for subject in document["subjects"]:
        for note in subject["notes"]:
            click.echo(f"  {subject['name']}: {note}")
    if not files:
        click.echo(visible(f"planned {_start(state)}; wrote nothing"))
        return
    manifests = [path for path in files if path not in (DECISIONS, STATE) and not path.endswith("/")]
    wrote = count(len(manifests), "manifest")
    members = count(len({path.partition("/")[0] for path in manifests}), "member")
    click.echo(visible(f"planned {_start(state)}; wrote {wrote} of {members} to {folder}"))


def _start(state: str) -> str:
    return f"from {state}" if state else "as a new fleet"
