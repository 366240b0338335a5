"""The command ``fleet render``: writes the manifests of each member, with the decisions beside
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import click

from fleet_components.cli import options
from fleet_components.cli.exit_status import ExitStatus, status_of
from fleet_components.cli.help import Command
from fleet_components.cli.progress import watch
from fleet_components.cli.pulling import pulled, settings_of
from fleet_components.content.paths import within
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.text import count, few, visible
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.documents.schema import PlanDocument
from fleet_components.review.planning.observed import refuse_observed
from fleet_components.review.planning.past import DEFAULT_STACK, StateFile
from fleet_components.review.planning.project import choose_stack, read_project
from fleet_components.review.planning.survey import CommandLine, project_among
from fleet_components.review.rendering.folder import recover, replace
from fleet_components.review.rendering.gitops.layout import TOOL_OF
from fleet_components.review.rendering.gitops.settings import GitopsSettings
from fleet_components.review.rendering.manifests import STATE, is_manifest, ours_in
from fleet_components.review.rendering.rollout_render import LastRender, RolloutRender, read_last
from fleet_components.review.showing import words

# A file system takes 255 bytes; while the folder is replaced its name is longer.
_LONGEST_NAME = 200
_BY_HUB = Message(
    "delivers-itself-manifests-delivered",
    "which delivers itself: manifests that are delivered beside it would fight it",
)
_INSTEAD = (
    "fleet plan shows what the hub would do; once no hub delivers any more, remove the folder"
    " observed/"
)
_FOLDER = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
"""Names of stacks, as Pulumi has them."""


_LEFT = "left"


class _Wave(click.ParamType[int | str]):
    """Parameter type of the number of a wave; none asks which are left."""

    name = "N"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Parse a number; what is none from 1 is a usage error."""
        text = str(value)
        if text == _LEFT:
            return text
        # Nine digits are more than any plan has waves; int() refuses texts of thousands of digits.
        if not (text.isascii() and text.isdecimal() and int(text[:9]) > 0):
            self.fail(
                "give the number of a wave, from 1, or none to see which are left", param, ctx
            )
        return int(text[:9])


@click.command(
    cls=Command,
    examples={
        "the manifests of each member below out/local": "fleet render fleet/ --out out",
        "a Pulumi project, below out/prod": "fleet render . --stack prod --out out",
        "for Flux on a hub, from a source that is there": (
            "fleet render fleet/ --out out --for flux --source ops --omit-secrets"
        ),
        "a commit for each wave": "fleet render fleet/ --out out --wave 1",
    },
)
@options.PATHS
@options.where
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Where to write."
)
@click.option("--fresh", is_flag=True, help="Forget what the last render decided.")
@click.option(
    "--show-secrets", is_flag=True, help="Write the data of Secrets, in files for their owner only."
)
@click.option(
    "--wave",
    type=_Wave(),
    is_flag=False,
    flag_value=_LEFT,
    metavar="[N]",
    help=(
        "Render up to this wave of the plan: members of later ones keep what they have. Without a"
        " number, write nothing and say which waves are left."
    ),
)
@pulled
@options.endings()
def render(
    paths: tuple[Path, ...],
    out: Path,
    fresh: bool,
    show_secrets: bool,
    wave: int | str | None,
    strict: bool,
    detailed: bool,
    tool: str | None,
    topology: str | None,
    repo: str | None,
    revision: str | None,
    path: str | None,
    namespace: str | None,
    source: str | None,
    destinations: tuple[str, ...],
    omit_secrets: bool | None,
    **where: Any,
) -> None:
    """Write the manifests of each member, with the decisions beside them.

    The manifests go to OUT/STACK/CLUSTER, the decisions to OUT/STACK. What the last render decided
    is the starting point of the next one. The folder of the stack is replaced as a whole; nothing
    is left half-written, and nothing is written where the update is refused, by --strict or
    otherwise.

    With --for they go to OUT/STACK/members/CLUSTER, a folder for each phase, with the objects of
    Argo CD or Flux beside them; the next render remembers these options.
    """
    command = options.command_line(**where)
    refuse_observed(paths, command.state, _BY_HUB, _INSTEAD)
    if fresh:
        command = attrs.evolve(command, state=StateFile())
    project = project_among(paths, command)
    name = _stack_name(project, command)
    # The folder of a project is not read as YAML: its output may lie below it.
    command = command.wrong([*_no_folder(name, command), *_inside(() if project else paths, out)])
    folder = out / name
    given = bool(command.state.file)
    # A name with a problem is that of no folder, so no last render is looked for.
    if not fresh and not given and not command.problems:
        command = attrs.evolve(command, state=options.state_of(_last(folder)))
    last = LastRender() if command.problems else read_last(folder)
    settings = settings_of(
        last.settings,
        folder,
        {
            "tool": tool,
            "topology": topology,
            "repo": repo,
            "revision": revision,
            "path": path,
            "namespace": namespace,
            "source": source,
            "destinations": destinations,
            "omit_secrets": omit_secrets,
        },
    )
    if show_secrets:
        command = attrs.evolve(command, state=command.state.shown())
    going = RolloutRender.on(
        paths, command, last, given=given, fresh=fresh, by_wave=wave is not None
    )
    document = plan_document(going.surveyed)
    options.say_refused(document)
    refused = status_of(document, strict=strict) is ExitStatus.REFUSED
    files: dict[str, str] = {}
    if not refused and wave != _LEFT:
        with watch(f"writing {folder}"):
            files = going.rendered(
                name, settings, wave if isinstance(wave, int) else None, show_secrets=show_secrets
            )
            replace(folder, files, ours=ours_in, private=show_secrets)
    _report(document, folder, going.start, files)
    if not refused:
        _tell(going, wave, settings, files)
    options.end(document, strict=strict, detailed=detailed)


def _tell(
    going: RolloutRender,
    wave: int | str | None,
    settings: GitopsSettings | None,
    files: Mapping[str, str],
) -> None:
    """Print how far the rollout is, and what the tool needs and does otherwise."""
    if wave is not None:
        for line in going.words(wave if isinstance(wave, int) else going.reached):
            click.echo(visible(line))
    # Only where one commit brings several waves can a tool mix them up.
    elif settings and len(going.waves) > 1 and (how := TOOL_OF[settings.tool].mixes(settings)):
        what = Message(
            "all-waves-come-one",
            "all {waves} waves come in one commit, and {how}",
            waves=len(going.waves),
            how=how,
        )
        click.echo(
            f"warning: {Problem(what, hint='--wave 1, and a pull request for each')}", err=True
        )
    # Nothing was written without files: then there is nothing to begin with.
    if settings and files:
        tool = TOOL_OF[settings.tool]
        for problem in tool.limits(going.plan, settings):
            click.echo(visible(f"warning: {problem}"), err=True)
        starts = sorted(path for path in files if path.startswith("start/"))
        click.echo(visible(f"to begin, apply once: {few(starts)}"))
        needs = tool.needs(settings)
        if needs:
            click.echo(visible(needs))


def _stack_name(project: Path | None, command: CommandLine) -> str:
    """Return the name of the output folder: the name of the stack without its organization."""
    name = (command.stack or "").rpartition("/")[2]
    if project:
        name = choose_stack(read_project(project), name or None)
    return name or command.state.stack[1] or DEFAULT_STACK


def _no_folder(name: str, command: CommandLine) -> Iterator[Problem]:
    # The name comes from the state file, unless an option gives it.
    file = "" if command.stack or name != command.state.stack[1] else command.state.file
    if len(name.encode(errors="replace")) > _LONGEST_NAME:
        yield Problem(
            Message(
                "name-stack-longer-than",
                "the name of the stack is longer than {longest_name} bytes",
                longest_name=_LONGEST_NAME,
            ),
            hint="--stack NAME",
            file=file,
        )
    elif not _FOLDER.fullmatch(name):
        yield Problem(
            Message("cannot-name-folder", '"{name}" cannot be the name of a folder', name=name),
            hint="--stack NAME",
            file=file,
        )


def _inside(paths: tuple[Path, ...], out: Path) -> Iterator[Problem]:
    """Yield a problem for each input directory that contains the output, which the next run would
    read as input.
    """
    for path in paths:
        if within(out, path):
            hint = "write to a place outside of it, --out ../out for example"
            yield Problem(
                Message("lies-read", "lies in {path}, which is read", path=path),
                file=str(out),
                hint=hint,
            )
    # A link that somebody has committed under that name would lead the files elsewhere.
    if not out.is_absolute() and ".." not in out.parts and not within(out, Path.cwd()):
        yield Problem(
            Message(
                "link-leaves-current-folder", "is a link that leads out of {cwd}", cwd=Path.cwd()
            ),
            file=str(out),
            hint="write the path that it leads to",
        )


def _last(folder: Path) -> Path | None:
    # A render that was killed between its renames has set the folder aside, and its state with it.
    recover(folder)
    state = folder / STATE
    return state if state.is_file() else None


def _report(document: PlanDocument, folder: Path, state: str, files: dict[str, str]) -> None:
    """Print what is lost, warnings and notes, and what was written, which is nothing if the update
    is refused.
    """
    line = words.confirmation(document)
    if line:
        click.echo(visible(line), err=True)
    for _, lost in words.leaving(document):
        click.echo(visible(lost))
    options.say_warnings(document)
    click.echo(visible(words.summary(document)))
    for subject in document.subjects:
        for note in subject.notes:
            click.echo(visible(f"  {subject.name}: {note}"))
    if not files:
        click.echo(visible(f"planned {_start(state)}; wrote nothing"))
        return
    manifests = [path for path in files if is_manifest(path)]
    wrote = count(len(manifests), "manifest")
    # For a tool the folders of members are one level deeper.
    members = count(
        len({path.removeprefix("members/").partition("/")[0] for path in manifests}), "member"
    )
    click.echo(visible(f"planned {_start(state)}; wrote {wrote} of {members} to {folder}"))


def _start(state: str) -> str:
    return f"from {state}" if state else "as a new fleet"
