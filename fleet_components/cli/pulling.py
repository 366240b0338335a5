"""The options of ``fleet render`` for tools that pull what is rendered, and the settings that they
make.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import attrs
import click

from fleet_components.cli.help import under
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.review.rendering.gitops.settings import TOOLS, TOPOLOGIES, GitopsSettings

F = TypeVar("F", bound=Callable[..., Any])
_pulled = under("Clusters that pull")
_ALL = "{member}"


def pulled(command: F) -> F:
    """Add the options to a command, for :func:`settings_of`."""
    options = (
        _pulled(
            "--for",
            "tool",
            type=click.Choice(TOOLS),
            help="Write what this tool needs beside the manifests.",
        ),
        _pulled(
            "--topology",
            type=click.Choice(TOPOLOGIES),
            help=(
                "hub: one controller brings everything to all members, in the order of the waves;"
                " the default. pull: that of each member reads its own folder."
            ),
        ),
        _pulled("--repo", metavar="URL", help="The repository that OUT is committed to."),
        _pulled(
            "--revision",
            metavar="REVISION",
            help="Branch, refs/... or commit to read; main by default.",
        ),
        _pulled(
            "--path",
            metavar="FOLDER",
            help=(
                "Where OUT/STACK is in the repository; by default as it lies in the working tree of"
                " git."
            ),
        ),
        _pulled(
            "--namespace",
            metavar="NAME",
            help="Namespace of the tool: argocd, or flux-system, by default.",
        ),
        _pulled(
            "--source",
            metavar="[KIND/]NAME",
            help="Flux: a source that is there, in the place of --repo.",
        ),
        _pulled(
            "--destination",
            "destinations",
            multiple=True,
            metavar="[MEMBER=]NAME",
            help=(
                "How the hub calls a member: the name or URL of the cluster in Argo CD, the Secret"
                " with its kubeconfig for Flux; the name of the member by default. {member} stands"
                " for that, as in {member}-kubeconfig for all. Repeatable."
            ),
        ),
        _pulled(
            "--omit-secrets/--refuse-secrets",
            default=None,
            help="Leave out Secrets, which something else brings; they are refused by default.",
        ),
    )
    # The help lists the decorator that is applied last first.
    for option in reversed(options):
        command = option(command)
    return command


def settings_of(
    last: GitopsSettings | None, folder: Path, given: dict[str, Any]
) -> GitopsSettings | None:
    """Return the settings: those that are given, else those of the last render; None if nothing
    pulls it.

    Args:
        last: the settings of the last render; None if it had none.
        folder: the folder of the stack.
        given: the values of the options.

    Raises:
        FleetError: they contradict the last render, or cannot be used.
        click.UsageError: options are given without ``--for``, or a destination twice.
    """
    # Not "if value": --refuse-secrets is False, which counts.
    found = {name: value for name, value in given.items() if value not in (None, ())}
    tool = found.get("tool") or (last.tool if last else None)
    if tool is None:
        if found:
            raise click.UsageError(
                f"--{next(iter(found)).replace('_', '-')} is for a tool: --for {' or '.join(TOOLS)}"
            )
        return None
    _check_same(last, found, folder)
    pattern, destinations = _destinations(found.pop("destinations", ()))
    if pattern:
        found["pattern"] = pattern
    if destinations:
        found["destinations"] = destinations
    # What is not given stays as in the last render.
    settings = attrs.evolve(last or GitopsSettings(tool=tool), **found)
    problems = list(settings.problems())
    if problems:
        raise FleetError(problems)
    return attrs.evolve(
        settings, path=settings.path.removeprefix("./").strip("/") or _in_repository(folder)
    )


def _check_same(last: GitopsSettings | None, found: dict[str, Any], folder: Path) -> None:
    """Refuse a change that would have a tool take away everything that it has brought.

    Raises:
        FleetError: it is one.
    """
    for name, option in (("tool", "--for"), ("topology", "--topology")):
        before = getattr(last, name) if last else None
        if before and found.get(name, before) != before:
            what = Message(
                "rendered-take-away-what",
                "was rendered with {option} {before}, which would take away what it has brought",
                option=option,
                before=before,
            )
            hint = (
                "render to another place with --out, and remove this folder once nothing reads it"
            )
            raise FleetError([Problem(what, file=str(folder), hint=hint)])


def _destinations(given: tuple[str, ...]) -> tuple[str, dict[str, str]]:
    """Return the pattern for all members, and the destinations of single ones.

    Raises:
        click.UsageError: one is given twice.
    """
    pattern, found = "", dict[str, str]()
    for text in given:
        member, equals, name = text.partition("=")
        if not equals:
            if pattern or _ALL not in text:
                raise click.UsageError(
                    "--destination is given as MEMBER=NAME, or once with {member} in it for all"
                )
            pattern = text
        # The same destination given twice is no contradiction.
        elif not (member and name) or found.setdefault(member, name) != name:
            raise click.UsageError(f"--destination {text}: give one name for each member")
    return pattern, found


def _in_repository(folder: Path) -> str:
    """Return where a folder lies in the working tree of git around it.

    Raises:
        FleetError: there is none.
    """
    whole = Path(os.path.abspath(folder))
    # The nearest one: a submodule is a repository of its own.
    root = next((parent for parent in whole.parents if (parent / ".git").exists()), None)
    if root is None:
        hint = "--path FOLDER, as it is called in the repository"
        raise FleetError(
            [
                Problem(
                    Message("no-working-tree-git", "is in no working tree of git"),
                    file=str(folder),
                    hint=hint,
                )
            ]
        )
    return whole.relative_to(root).as_posix()
