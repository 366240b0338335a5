"""Problems for errors of the user's own program: they show where the error is, and the calls that led to it."""

from __future__ import annotations

import linecache
import os
import traceback
from collections.abc import Iterator
from pathlib import Path

import attrs

from fleet_components.model.extras import extra_of, not_installed
from fleet_components.model.frames import is_own
from fleet_components.model.problem import Problem
from fleet_components.model.text import nearest

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
        missing = not_installed(error.name) if extra_of(error.name) else _of_nobody(error.name, folder)
        return attrs.evolve(missing, file=file, line=line)
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        file, line = error.filename, error.lineno
    return Problem("\n".join(_lines_of(error)), file=file, line=line)


def _of_nobody(module: str, folder: Path) -> Problem:
    """Return the problem for a missing module that no extra of this package brings, with a suggestion."""
    own = [path.stem for path in folder.glob("*.py") if path.stem != "__main__"]
    near = nearest(module, own)
    package = module.partition(".")[0]
    hint = f"did you mean {near}?" if near else f"pip install {package}, or put {package}.py beside the program"
    return Problem(f"there is no module {module}", hint=hint)


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
    """Return a syntax error without its location, which is printed separately; other errors as they are."""
    return type(error)(error.msg) if isinstance(error, SyntaxError) else error


def _frames(error: BaseException) -> Iterator[str]:
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        yield f"    {linecache.getline(error.filename, error.lineno).strip()}"
    for frame in traceback.extract_tb(error.__traceback__):
        yield f"  {_shown(frame.filename)}:{frame.lineno}, in {frame.name}"
        yield f"    {frame.line}"


def _shown(file: str) -> str:
    """Return the path of a file: relative if it is the user's and below the current directory, else unchanged."""
    path = Path(file)
    return os.path.relpath(path) if file and is_own(file) and path.is_relative_to(Path.cwd()) else file
