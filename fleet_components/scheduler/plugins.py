"""Loads plug-ins that do not belong to this package, by their import paths."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from inspect import isabstract
from typing import Any

from fleet_components.model.frames import raised_at
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import article, nearest
from fleet_components.scheduler.framework import (
    KARMADA,
    KUBEFLEET,
    POINTS,
    PROFILES,
    Plugin,
    PostBatch,
)
from fleet_components.systems.registry import SYSTEMS

FIELD = "plugins"
_WRITE = "write MODULE:CLASS, as my_plugins:Cheapest"


def load_plugins(paths: Iterable[str]) -> tuple[Plugin, ...]:
    """Return plug-ins by their import paths, in the given order.

    A module is imported once in each process, so a plug-in must not keep anything of one decision
    for the next.

    Args:
        paths: import paths, ``MODULE:CLASS``.

    Raises:
        FleetError: a path is malformed or given twice, its module cannot be imported, or what it
            names is not a plug-in that can be used; carries every problem.
    """
    found, problems = [], list[Problem]()
    for path in (paths := tuple(paths)):
        try:
            found.append(_load(path))
        except FleetError as error:
            problems += error.problems
    problems += [
        _problem(path, "is there twice", "name it once")
        for path in dict.fromkeys(paths)
        if paths.count(path) > 1
    ]
    # Only if all are loaded: a plug-in that is missing could hide a conflict of names.
    for system in () if problems else SYSTEMS.values():
        problems += system.profile.refused(found)
    if problems:
        # Both profiles refuse a plug-in for both with the same words, which are reported once.
        raise FleetError(dict.fromkeys(problems))
    return tuple(found)


def meant_for(profile: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Return the import paths of the plug-ins that belong to a profile.

    Raises:
        FleetError: a plug-in cannot be used, as for :func:`load_plugins`.
    """
    return tuple(path for path in paths if profile in _load(path).profiles)


def forget_plugins() -> None:
    """Forget the loaded plug-ins: another program of the process may have others under the same
    paths.
    """
    _load.cache_clear()


@cache
def _load(path: str) -> Plugin:
    module, colon, name = path.partition(":")
    if not (
        colon and name.isidentifier() and all(part.isidentifier() for part in module.split("."))
    ):
        raise FleetError([_problem(path, "is not an import path", _WRITE)])
    made = _made(path, _named(path, _imported(path, module), name))
    problems = list(_unusable(path, made))
    if problems:
        raise FleetError(problems)
    return made


def _imported(path: str, module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # Any other missing module is one that the plug-in's own module imports, and then the path
        # is right.
        if error.name and f"{module}.".startswith(f"{error.name}."):
            hint = (
                "install it, or put it beside the program: the process of the providers imports"
                " it too"
            )
            raise FleetError([_problem(path, f"there is no module {error.name}", hint)]) from None
        raise _not_imported(path, error) from error
    except Exception as error:  # whatever the module does when it is imported
        raise _not_imported(path, error) from error


def _not_imported(path: str, error: Exception) -> FleetError:
    file, line = raised_at(error)
    what, hint = (
        Message(
            "cannot-imported",
            "{path}: cannot be imported: {article}",
            path=path,
            article=article(type(error).__name__),
        ),
        "its module has to run without an error",
    )
    return FleetError([Problem(what, (FIELD,), hint, file=file, line=line)])


def _named(path: str, module: Any, name: str) -> Any:
    if hasattr(module, name):
        return getattr(module, name)
    near = nearest(name, dir(module))
    hint = f"did you mean {module.__name__}:{near}?" if near else _WRITE
    raise FleetError([_problem(path, f"there is no {name} in {module.__name__}", hint)])


def _made(path: str, found: Any) -> Plugin:
    """Return the plug-in of a class."""
    if not (isinstance(found, type) and issubclass(found, Plugin)):
        hint = (
            f"inherit from {_listed(point.__name__ for point in POINTS)} of"
            " fleet_components.plugins"
        )
        raise FleetError([_problem(path, "is not a class of plug-ins", hint)])
    if isabstract(found):
        missing = sorted(found.__abstractmethods__)
        raise FleetError(
            [
                _problem(
                    path, f"lacks {', '.join(missing)}", "define what its extension points ask for"
                )
            ]
        )
    try:
        return found()
    except Exception as error:
        hint = "a plug-in is made without arguments"
        raise FleetError(
            [_problem(path, f"failed with {article(type(error).__name__)}", hint)]
        ) from error


def _unusable(path: str, plugin: Plugin) -> Iterable[Problem]:
    # The base declares the name without a value: a class may lack it.
    name, profiles = getattr(plugin, "name", None), plugin.profiles
    if not (isinstance(name, str) and name):
        yield _problem(path, "has no name", 'set name = "..."')
    if not isinstance(plugin, POINTS):
        yield _problem(
            path,
            "takes part at no extension point",
            f"the points: {_listed(p.__name__ for p in POINTS)}",
        )
    # A text would pass for a collection of its letters.
    if isinstance(profiles, str) or not set(profiles) <= set(PROFILES) or not profiles:
        yield _problem(
            path,
            "is for no known profile",
            f'set profiles = {PROFILES}, or one of them: ("{KUBEFLEET}",)',
        )
    elif isinstance(plugin, PostBatch) and KARMADA in profiles:
        yield _problem(
            path, "limits batches, and Karmada has none", f'set profiles = ("{KUBEFLEET}",)'
        )


def _problem(path: str, what: str, hint: str) -> Problem:
    return Problem(
        Message("plug-in-invalid", "{path}: {what}", path=path, what=what), (FIELD,), hint
    )


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"
