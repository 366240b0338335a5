"""Runs a program in process: its environment, and the problems for an early end."""

from __future__ import annotations

import linecache
import os
import runpy
import sys
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import attrs
import pulumi

from fleet_components.components.refusal import RefusedPlanError
from fleet_components.model.extras import extra_of, not_installed
from fleet_components.model.frames import behind, is_own
from fleet_components.model.manifest import PROGRAM
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import nearest
from fleet_components.plan.delivered import delivered
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.state import SECRET_MARK, is_marked_secret
from fleet_components.review.planning.past import MADE_UP
from fleet_components.review.planning.project import Project, instead_of
from fleet_components.review.planning.resource import DELETE, ChangedResource
from fleet_components.review.planning.resources import STACK, secret_inputs, stored_in
from fleet_components.review.planning.stack_config import StackConfig
from fleet_components.testing.monitor import Registration
from fleet_components.testing.program import ProgramRun


@contextmanager
def inside(project: Project) -> Iterator[None]:
    """Set up the environment that Pulumi gives a program: working directory, modules, arguments.

    Standard output of the program goes to standard error.
    """
    loaded = set(sys.modules)
    before, arguments, folder = Path.cwd(), sys.argv, str(project.folder.resolve())
    writes_no_bytecode = sys.dont_write_bytecode
    # Bytecode is as old as its source in whole seconds: an edit right after a plan would not be
    # seen by the next one.
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
    """Forget the program's own modules: another program of the process may have modules of the same
    names.

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
    # An absolute path, because Python caches importers by path, and "." may have been another
    # directory before.
    runpy.run_path(str(Path(project.program).resolve()), run_name="__main__")


def refused_plans(error: BaseException | None) -> tuple[FleetPlan, ...]:
    """Return the plans of the fleets of a program that refused to carry one out; none if it did not
    refuse.
    """
    return next((item.plans for item in behind(error) if isinstance(item, RefusedPlanError)), ())


def what_ended(error: BaseException | None, project: Project) -> list[Problem]:
    """Return the problems that ended a program: those of its input, or an error of its own."""
    if error is None:
        return []
    for item in behind(error):
        if isinstance(item, FleetError):
            return list(item.problems)
        if isinstance(item, pulumi.RunError):
            return [Problem(Message("other-error", "{reason}", reason=item))]
    return [fault(error, project.folder)]


def located(problem: Problem, project: Project, settings: StackConfig) -> Problem:
    """Return a problem with a path relative to the current directory, or located in the
    configuration behind it.
    """
    if problem.path[:1] == ("config",) and Path(problem.file).name == settings.file.path.name:
        return settings.problem(problem.message, problem.path, problem.advice)
    if not problem.file and problem.path and f"fleet:{problem.path[0]}" in settings.values:
        field = ("config", f"fleet:{problem.path[0]}", *problem.path[1:])
        return settings.problem(problem.message, field, problem.advice)
    if not problem.file and problem.subject.startswith("member "):
        return attrs.evolve(problem, file=str(settings.file.path))
    if problem.file == PROGRAM.file:
        return problem
    return instead_of(attrs.evolve(problem, file=from_here(problem.file, project)))


def from_here(file: str, project: Project) -> str:
    """Return a path that is relative to the program's directory as a path relative to the current
    directory.
    """
    path = project.folder.resolve() / file
    near = not Path(file).is_absolute() or path.is_relative_to(Path.cwd())
    return os.path.relpath(path) if file and near else file


# Problems for errors of the user's own program: they show where the error is, and the calls that
# led to it.


_MOST_CAUSES = 5


def fault(error: BaseException, folder: Path) -> Problem:
    """Return the problem for an error that a program raised or did not catch.

    Args:
        error: the error, with a traceback of the user's frames only.
        folder: the directory from which the program imports its own modules.
    """
    frames = traceback.extract_tb(error.__traceback__)
    file, line = (frames[-1].filename, frames[-1].lineno) if frames else ("", None)
    if isinstance(error, ModuleNotFoundError) and error.name:
        missing = (
            not_installed(error.name) if extra_of(error.name) else _of_nobody(error.name, folder)
        )
        return attrs.evolve(missing, file=file, line=line)
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        file, line = error.filename, error.lineno
    return Problem(
        Message("program-failed", "{lines}", lines="\n".join(_lines_of(error))),
        file=file,
        line=line,
    )


def _of_nobody(module: str, folder: Path) -> Problem:
    """Return the problem for a missing module that no extra of this package brings, with a
    suggestion.
    """
    own = [path.stem for path in folder.glob("*.py") if path.stem != "__main__"]
    near = nearest(module, own)
    package = module.partition(".")[0]
    hint = (
        f"did you mean {near}?"
        if near
        else f"pip install {package}, or put {package}.py beside the program"
    )
    return Problem(Message("no-module", "there is no module {module}", module=module), hint=hint)


def _lines_of(error: BaseException) -> Iterator[str]:
    """Yield the error and its frames, then the same for its causes, up to a limit."""
    seen: list[list[str]] = []
    item: BaseException | None = error
    while item is not None and len(seen) < _MOST_CAUSES:
        what = "".join(traceback.format_exception_only(_plain(item))).strip().replace("\n", "\n  ")
        lines = [what, *_frames(item)]
        if lines not in seen:  # an error that tasks pass on can be among its own causes
            yield from (f"  because of {line}" if seen and line is what else line for line in lines)
        seen.append(lines)
        item = item.__cause__ or (None if item.__suppress_context__ else item.__context__)


def _plain(error: BaseException) -> BaseException:
    """Return a syntax error without its location, which is printed separately; other errors as they
    are.
    """
    return type(error)(error.msg) if isinstance(error, SyntaxError) else error


def _frames(error: BaseException) -> Iterator[str]:
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        yield f"    {linecache.getline(error.filename, error.lineno).strip()}"
    for frame in traceback.extract_tb(error.__traceback__):
        yield f"  {_shown(frame.filename)}:{frame.lineno}, in {frame.name}"
        yield f"    {frame.line}"


def _shown(file: str) -> str:
    """Return the path of a file: relative if it is the user's and below the current directory, else
    unchanged.
    """
    path = Path(file)
    return (
        os.path.relpath(path) if file and is_own(file) and path.is_relative_to(Path.cwd()) else file
    )


# The state that a plan would leave behind: for a plan of what comes after it, before anything is
# carried out.


_SAYS = (
    "by fleet plan --save-state: nothing was carried out; IDs and what Azure would answer stand for"
    " real ones"
)
_HIDDEN: Mapping[str, Any] = {**SECRET_MARK, "ciphertext": "not saved"}


def after_project(
    run: ProgramRun,
    resources: Iterable[ChangedResource],
    plans: Iterable[FleetPlan],
    export: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the state after the plan of a project, in the form of ``pulumi stack export``, without
    its secrets.

    Args:
        run: a run whose mocks answer as after an update.
        resources: what the plan shows of each resource.
        plans: the plans of its fleets.
        export: the state before.
    """
    # These records have the contents without the data of Secrets: the next plan tells from them
    # which fields change.
    records = {
        stored.urn: dict(stored.outputs)
        for plan in plans
        for stored in delivered(plan, redacted=True)
    }
    registered = {
        registration.urn: _stored(registration, run, records) for registration in run.registrations
    }
    before = {data["urn"]: _without_secrets(data) for data in stored_in(export)}
    found = []
    for resource in resources:
        if resource.type == STACK:
            found.append(
                {
                    "urn": resource.urn,
                    "type": resource.type,
                    "outputs": _without_secrets(run.exports),
                }
            )
        elif resource.change != DELETE:
            found.append(registered.get(resource.urn) or before[resource.urn])
    return {"version": 3, MADE_UP: _SAYS, "deployment": {"resources": found}}


def _stored(
    registration: Registration, run: ProgramRun, records: Mapping[str, Any]
) -> dict[str, Any]:
    identity, outputs = run.answers[registration.urn]
    # No provider answers for a component: its outputs are those that it has registered.
    answered = outputs if registration.custom else run.registered.get(registration.urn, {})
    return {
        "urn": registration.urn,
        "type": registration.type,
        "custom": registration.custom,
        **({"id": identity} if registration.custom else {}),
        "inputs": _hiding(registration.type, registration.inputs),
        "outputs": records.get(registration.urn) or _hiding(registration.type, answered),
        "parent": registration.parent,
        "provider": registration.provider,
        "dependencies": list(registration.dependencies),
        **{key: True for key in ("protect", "retainOnDelete") if registration.options.get(key)},
    }


def _hiding(token: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs or outputs without what is secret in them, whether a program has marked it or
    not.
    """
    secret = secret_inputs(token, values) - {"metadata"}
    return {
        key: _HIDDEN if key in secret else _without_secrets(value) for key, value in values.items()
    }


def _without_secrets(value: Any) -> Any:
    if is_marked_secret(value):
        return _HIDDEN
    if isinstance(value, Mapping):
        return {key: _without_secrets(item) for key, item in value.items() if item is not None}
    return [_without_secrets(item) for item in value] if isinstance(value, list) else value
