"""Runs a program in process: its environment, and the problems for an early end."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import attrs
import pulumi

from fleet_components.components.refusal import RefusedPlanError
from fleet_components.model.frames import behind, is_own
from fleet_components.model.manifest import PROGRAM
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.review.planning.fault import fault
from fleet_components.review.planning.project import Project, instead_of
from fleet_components.review.planning.stack_config import StackConfig


@contextmanager
def inside(project: Project) -> Iterator[None]:
    """Set up the environment that Pulumi gives a program: working directory, modules, arguments.

    Standard output of the program goes to standard error.
    """
    loaded = set(sys.modules)
    before, arguments, folder = Path.cwd(), sys.argv, str(project.folder.resolve())
    writes_no_bytecode = sys.dont_write_bytecode
    # Bytecode is as old as its source in whole seconds: an edit right after a plan would not be seen by the next one.
    sys.dont_write_bytecode = True
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.argv = [project.program]
    try:
        # Standard output is for the plan, which may be JSON for another program.
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.dont_write_bytecode = writes_no_bytecode
        sys.argv = arguments
        sys.path.remove(folder)
        _forget(loaded, folder)
        os.chdir(before)


def _forget(loaded: Collection[str], folder: str) -> None:
    """Forget the program's own modules: another program of the process may have modules of the same names.

    Args:
        loaded: names of the modules that were loaded before.
        folder: the directory of the program.
    """
    for name in sys.modules.keys() - loaded:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file and is_own(file) and Path(file).resolve().is_relative_to(folder):
            del sys.modules[name]


def run_main(project: Project) -> None:
    """Run the program of a project as ``__main__``."""
    # An absolute path, because Python caches importers by path, and "." may have been another directory before.
    runpy.run_path(str(Path(project.program).resolve()), run_name="__main__")


def refused_plans(error: BaseException | None) -> tuple[FleetPlan, ...]:
    """Return the plans of the fleets of a program that refused to carry one out; none if it did not refuse."""
    return next((item.plans for item in behind(error) if isinstance(item, RefusedPlanError)), ())


def what_ended(error: BaseException | None, project: Project) -> list[Problem]:
    """Return the problems that ended a program: those of its input, or an error of its own."""
    if error is None:
        return []
    for item in behind(error):
        if isinstance(item, FleetError):
            return list(item.problems)
        if isinstance(item, pulumi.RunError):
            return [Problem(str(item))]
    return [fault(error, project.folder)]


def located(problem: Problem, project: Project, settings: StackConfig) -> Problem:
    """Return a problem with a path relative to the current directory, or located in the configuration behind it."""
    if problem.path[:1] == ("config",) and Path(problem.file).name == settings.file.path.name:
        return settings.problem(problem.what, problem.path, problem.hint)
    if not problem.file and problem.path and f"fleet:{problem.path[0]}" in settings.values:
        field = ("config", f"fleet:{problem.path[0]}", *problem.path[1:])
        return settings.problem(problem.what, field, problem.hint)
    if not problem.file and problem.subject.startswith("member "):
        return attrs.evolve(problem, file=str(settings.file.path))
    if problem.file == PROGRAM.file:
        return problem
    return instead_of(attrs.evolve(problem, file=from_here(problem.file, project)))


def from_here(file: str, project: Project) -> str:
    """Return a path that is relative to the program's directory as a path relative to the current directory."""
    path = project.folder.resolve() / file
    near = not Path(file).is_absolute() or path.is_relative_to(Path.cwd())
    return os.path.relpath(path) if file and near else file
