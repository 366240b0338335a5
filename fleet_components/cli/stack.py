"""The stack of a Pulumi project, as the Pulumi CLI has it: for commands that read its state by
themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

from fleet_components.model.extras import extra_of, not_installed
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError
from fleet_components.review.planning.observed import refuse_observed
from fleet_components.review.planning.project import choose_stack, read_project
from fleet_components.review.planning.survey import CommandLine, project_among

_BY_HUB = Message("says-itself-what-stands", "which says itself what stands on its members")
_ASK_HUB = (
    "ask the hub: kubectl get the placement or the ResourceBinding with -o yaml; fleet observe"
    " --update, then fleet plan, tells what it has decided and what it waits for"
)


@contextmanager
def needing_pulumi() -> Iterator[None]:
    """Turn a missing module of the extra that brings Pulumi, imported in the ``with`` block, into a
    problem.

    Raises:
        FleetError: the extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if not extra_of(error.name or ""):
            raise
        raise FleetError([not_installed(error.name or "")]) from error


def with_state(paths: Sequence[Path], command: CommandLine) -> CommandLine:
    """Return the options with the state of the stack that they name, if they give none and the path
    is a project.

    Raises:
        FleetError: the Pulumi CLI is not there, or does not know the stack; or a hub delivers the
            fleet.
    """
    # A state that is given counts, also where DIR holds an observation.
    if command.state.observed or not command.state.file:
        refuse_observed(paths, command.state, _BY_HUB, _ASK_HUB)
    folder = None if command.state.file else project_among(paths, command)
    if folder is None:
        return command
    project = read_project(folder)
    name = choose_stack(project, (command.stack or "").rpartition("/")[2] or None)
    with needing_pulumi():
        from fleet_components.automation.engine import Engine
    stack = command.stack or name
    with command.watch(f"asking the Pulumi CLI for the state of {stack}"):
        return attrs.evolve(
            command, stack=stack, state=Engine(project, stack, project.stack_file(name)).state()
        )
