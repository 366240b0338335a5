"""Distinguishes user code from this package, installed packages and Python in tracebacks and
call stacks.
"""

from __future__ import annotations

import sys
import sysconfig
import traceback
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from types import TracebackType

_PYTHON, _PACKAGE = (
    Path(sysconfig.get_path("stdlib")).resolve(),
    Path(__file__).resolve().parents[1],
)
_INSTALLED = {"site-packages", "dist-packages"}


def is_own(file: str) -> bool:
    """Return whether a source file is the user's own code."""
    path = Path(file).resolve()
    return not (
        # Methods that attrs generates are in no file, and lie between a class and the program that
        # calls it.
        file.startswith("<")
        or path.is_relative_to(_PYTHON)
        or path.is_relative_to(_PACKAGE)
        or _INSTALLED.intersection(path.parts)
    )


def own_frames(error: BaseException) -> None:
    """Cut the tracebacks of an error and of its causes down to the user's frames.

    A traceback without any user frame stays as it is, except that of a ``SyntaxError``, which is
    removed.
    """
    for item in behind(error):
        own = [
            part for part in _parts(item.__traceback__) if is_own(part.tb_frame.f_code.co_filename)
        ]
        # The last one gets None: frames of what the user's code has called are cut off, too.
        for part, following in zip_longest(own, own[1:]):
            part.tb_next = following
        if own or isinstance(item, SyntaxError):
            item.__traceback__ = own[0] if own else None


def behind(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and then its causes, each once.

    Cycles are possible: errors that are passed between asynchronous tasks can end up as their own
    cause.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        # A stated cause replaces the context, as in Python's own tracebacks.
        error = error.__cause__ or error.__context__


def called_from() -> tuple[str, int | None]:
    """Return file and line of the innermost frame of user code; an empty file and None if there is
    none.

    The file is relative to the working directory if it is below it.
    """
    frame = sys._getframe()
    while not is_own(frame.f_code.co_filename):
        if frame.f_back is None:
            return "", None
        frame = frame.f_back
    return _shown(frame.f_code.co_filename), frame.f_lineno


def raised_at(error: BaseException) -> tuple[str, int | None]:
    """Return file and line where an error was raised, or where the text is that could not be
    parsed.

    The file is relative to the working directory if it is below it; empty if it is not known.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return _shown(error.filename), error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return (_shown(frames[-1].filename), frames[-1].lineno) if frames else ("", None)


def _shown(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _parts(part: TracebackType | None) -> Iterator[TracebackType]:
    while part is not None:
        yield part
        part = part.tb_next
