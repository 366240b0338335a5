"""The command ``fleet init``: writes a fleet of one's own, and the workflow that reviews its pull
requests.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import click

from fleet_components.cli.help import Command
from fleet_components.content.observed import is_observed
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import visible
from fleet_components.starting.fleet import SAMPLE_MEMBERS, STACK, fleet_files, project_files
from fleet_components.starting.install import (
    DEFAULT,
    EXAMPLE,
    from_requirements,
    given,
    pinned,
    write,
)
from fleet_components.starting.member import (
    LONGEST,
    FoundMembers,
    NewMember,
    by_hand,
    members_of,
    twice,
)
from fleet_components.starting.workflow import (
    GITLAB,
    UPDATER,
    WORKFLOWS,
    gitlab_include,
    repository_of,
    workflow_files,
)

_BY_HAND = {
    "github": "comments begin once it is on the default branch",
    "gitlab": "comments need a token, as the file says",
    "azure-devops": "then make it a pipeline and a branch policy, as the file says",
}
"""Steps that are left to do by hand, by CI system."""
_OBSERVING = {
    "github": "give the repository the secret FLEET_KUBECONFIG, as fleet-observe.yml says",
    "gitlab": "make a pipeline schedule with two variables, as fleet-observe.yml says",
    "azure-devops": "make fleet-observe.yml a pipeline too, with the secret that it names",
}
"""The same for the job that observes."""


@click.command(
    cls=Command,
    examples={
        "members that you have": "fleet init --kubeconfig ~/.kube/config",
        "by hand, for Karmada": (
            "fleet init --member east:region=eu --member west:region=us --system karmada"
        ),
        "the workflow that reviews pull requests": (
            "fleet init --ci github --requirements ci-requirements.txt"
        ),
    },
)
@click.argument("folder", type=click.Path(path_type=Path), default=Path("fleet"), metavar="[DIR]")
@click.option(
    "--kubeconfig",
    "kubeconfigs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=(
        "A kubeconfig whose clusters are the members. It is only read: nothing of its credentials"
        " is written, no plug-in is run, no cluster is asked. Repeatable."
    ),
)
@click.option(
    "--context",
    "contexts",
    multiple=True,
    metavar="NAME",
    help="A context of a --kubeconfig that counts, instead of all of them; repeatable.",
)
@click.option(
    "--member",
    "by_name",
    multiple=True,
    metavar="NAME[:LABEL=VALUE,...]",
    help="A member by hand, with its labels; repeatable.",
)
@click.option(
    "--system",
    type=click.Choice(list(LONGEST)),
    help=(
        "Whose policies decide: of KubeFleet and Azure Kubernetes Fleet Manager, or of Karmada. "
        " [default: kubefleet]"
    ),
)
@click.option(
    "--project",
    is_flag=True,
    help="Write a Pulumi project with a stack besides, in the folder above DIR.",
)
@click.option(
    "--ci",
    type=click.Choice(list(WORKFLOWS)),
    help=(
        "Write the workflow that reviews pull requests and comments on them; for a DIR of fleet"
        " observe also the job that observes again. For a DIR that holds files already, nothing"
        " else is written."
    ),
)
@click.option(
    "--install",
    metavar="COMMAND",
    help=(
        "What the workflow of --ci installs this package with, from a place that it names: the"
        " package is not published yet."
    ),
)
@click.option(
    "--requirements",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help=(
        "Instead of --install: requirements with a hash each, this package among them, as"
        " pip-compile --generate-hashes writes them. The workflow of --ci holds them, and installs"
        " nothing else."
    ),
)
@click.option(
    "--image",
    metavar="NAME@sha256:DIGEST",
    help=(
        f"The image of the jobs of --ci gitlab, by its digest.  [default: {DEFAULT}, a tag, which"
        " can move]"
    ),
)
def init(
    folder: Path,
    kubeconfigs: tuple[Path, ...],
    contexts: tuple[str, ...],
    by_name: tuple[str, ...],
    system: str | None,
    project: bool,
    ci: str | None,
    install: str | None,
    requirements: Path | None,
    image: str | None,
) -> None:
    """Write a first fleet into DIR: its members, one policy, and a sample application.

    Members come from kubeconfigs or by hand; without either there are two examples, east and west.
    DIR is fleet unless you name it. No file is ever overwritten: if one is there, nothing is
    written.
    """
    if contexts and not kubeconfigs:
        raise click.UsageError("--context is a part of a --kubeconfig: give that too")
    if (install is not None or requirements) and not ci:
        option = "--requirements" if requirements else "--install"
        raise click.UsageError(f"{option} is a part of the workflow: give --ci too")
    if image is not None and ci != "gitlab":
        raise click.UsageError(
            "--image is that of the jobs of --ci gitlab: the other systems give theirs"
        )
    if ci and (install is None) == (requirements is None):
        raise click.UsageError(
            "--ci takes --requirements FILE, or --install COMMAND: the package is not published"
            " yet, so say where a "
            f'job gets it, for example --install "{EXAMPLE}"'
        )
    asked = bool(kubeconfigs or by_name or system or project)
    top = repository_of(folder)
    # Collected first and written at the end: one file that is there prevents all.
    files: dict[Path, str] = {}
    found = FoundMembers((), ())
    members: Sequence[NewMember] = ()
    # With --ci alone, a folder that holds a fleet only gets the workflow.
    new = asked or not ci or not _is_filled(folder)
    if new:
        system = system or "kubefleet"
        own = by_hand(by_name, system)
        # Contexts get names that the members given by hand have not taken.
        found = members_of(kubeconfigs, contexts, system, {member.name for member in own})
        members = [*found.members, *own]
        problems = list(twice(own))
        if problems:
            raise FleetError(problems)
        files |= fleet_files(folder, members, system)
        if project:
            files |= project_files(_above(folder), folder, members)
    if ci:
        command = from_requirements(requirements) if requirements else given(install or "")
        files |= workflow_files(
            ci, top, folder, command, DEFAULT if image is None else pinned(image)
        )
    write(files)
    _report(files, found, examples=new and not members)
    _say_next(folder if new else None, folder.parent if project else None)
    if ci:
        _say_of_workflow(
            ci,
            observed=is_observed(folder),
            tagged=ci == "gitlab" and image is None,
            written={
                path.relative_to(top).as_posix() for path in files if path.is_relative_to(top)
            },
        )


def _is_filled(folder: Path) -> bool:
    try:
        # A folder with nothing but .git or the like counts as empty.
        return any(not path.name.startswith(".") for path in folder.iterdir())
    except FileNotFoundError:
        return False
    except OSError as error:
        raise FleetError(
            [
                Problem(
                    Message("cannot-read", "cannot be read: {strerror}", strerror=error.strerror),
                    file=str(folder),
                )
            ]
        ) from None


def _above(folder: Path) -> Path:
    """Return the folder of the project.

    Raises:
        FleetError: it would be above the current one.
    """
    if folder.resolve() == Path.cwd():
        what = Message(
            "current-folder-project-goes",
            "is the current folder, and the project goes into the one above",
        )
        raise FleetError([Problem(what, file=str(folder), hint="fleet init fleet --project")])
    return folder.parent


def _report(files: Iterable[Path], found: FoundMembers, examples: bool) -> None:
    """Print what was written, and where the members come from."""
    for path in files:
        click.echo(visible(f"wrote {os.path.relpath(path)}"))
    for item in found.members:
        click.echo(visible(f"member {item.name}: context {item.context} of {item.kubeconfig}"))
    for context, member in found.doubles:
        click.echo(
            visible(
                f"left out: context {context.name} of {context.file}, which leads to {member} too"
            )
        )
    if examples:
        names = " and ".join(item.name for item in SAMPLE_MEMBERS)
        click.echo(f"{names} are examples: put your own members in their place")


def _say_next(folder: Path | None, project: Path | None) -> None:
    """Print what to do next with a new fleet and a new project."""
    click.echo("\nnext:")
    if folder:
        click.echo(visible(f"  fleet plan {shlex.quote(str(folder))}"))
    if project:
        click.echo(visible(f"  fleet plan {shlex.quote(str(project))} --stack {STACK}"))


def _say_of_workflow(ci: str, *, observed: bool, tagged: bool, written: Collection[str]) -> None:
    """Print what to do next with a new workflow; what is not written is there already."""
    click.echo(f"  commit the workflow; {_BY_HAND[ci]}")
    if observed:
        click.echo(f"  {_OBSERVING[ci]}")
    if tagged:
        click.echo(
            f"  {DEFAULT}, the image of its jobs, is a tag, which can move: --image, or the file,"
            " gives it a digest"
        )
    if ci == "gitlab" and GITLAB not in written:
        click.echo(f"  add to {GITLAB}:\n\n{gitlab_include(observed=observed)}", nl=False)
    if ci == "github" and UPDATER not in written:
        click.echo(
            f"  let {UPDATER} have package-ecosystem: github-actions, so that its actions are kept"
            " up to date"
        )
