"""Files that a command writes for others to post or keep: nothing older stands there, and no link
leads elsewhere.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.review.planning.past import is_made_up

_HINT = "nothing was written; name another file"


def check_links(file: Path) -> None:
    """Check that no link on the way from the current directory leads a file elsewhere.

    Links above the current directory, and on the way to a file that is not below it, are those of
    the system.

    Raises:
        FleetError: there is one; a branch that is checked out may have brought it.
    """
    for place in (file, *_between(file)):
        if place.is_symlink():
            raise FleetError(
                [
                    Problem(
                        Message("link-lead-elsewhere", "is a link, which would lead elsewhere"),
                        file=str(place),
                        hint=_HINT,
                    )
                ]
            )


def clear(file: Path) -> None:
    """Remove the file of an earlier command, so that it is not taken for what this one has written.

    Raises:
        FleetError: it is not a regular file, there is a link on the way, or it cannot be removed.
    """
    check_links(file)
    if file.exists() and not file.is_file():
        raise FleetError(
            [
                Problem(
                    Message("not-regular-file", "is not a regular file"), file=str(file), hint=_HINT
                )
            ]
        )
    try:
        file.unlink(missing_ok=True)
    except NotADirectoryError:
        return  # the command that writes there reports it
    except OSError as error:
        raise FleetError(
            [
                Problem(
                    Message(
                        "cannot-removed", "cannot be removed: {strerror}", strerror=error.strerror
                    ),
                    file=str(file),
                )
            ]
        ) from error


def write_new(file: Path, text: str) -> None:
    """Write a file that is not there.

    Raises:
        FleetError: it is, there is a link on the way, or it cannot be written.
    """
    check_links(file)
    try:
        # "x" fails on a file or a link that has come since the check.
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise FleetError(
            [
                Problem(
                    Message(
                        "cannot-written", "cannot be written: {strerror}", strerror=error.strerror
                    ),
                    file=str(file),
                )
            ]
        ) from error


def _between(file: Path) -> Iterator[Path]:
    """Yield the folders of a file that are below the current directory."""
    here = Path.cwd()
    yield from (folder for folder in Path(os.path.abspath(file)).parents if here in folder.parents)


# Writes the state after a plan into a file.


def save(file: Path, state: Mapping[str, Any]) -> None:
    """Write a state; an earlier one that was made by a plan or a render is replaced.

    Raises:
        FleetError: the file is another one, a state of an engine perhaps, a link leads to it, or it
            cannot be written.
    """
    check_links(file)
    if file.exists() and not is_made_up(file):
        what = Message(
            "exists-neither-fleet-plan",
            "exists, and neither fleet plan --save-state nor fleet render has written it",
        )
        raise FleetError(
            [Problem(what, file=str(file), hint="nothing was written; name another file")]
        )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # In the same folder, since os.replace works within one file system.
        handle, new = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent, text=True)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(json.dumps(state, indent=1, sort_keys=True) + "\n")
            # Replaces at once: a reader sees the old state or the new one.
            os.replace(new, file)
        finally:
            # After os.replace the file no longer has this name.
            with suppress(FileNotFoundError):
                os.unlink(new)
    except OSError as error:
        raise FleetError(
            [
                Problem(
                    Message(
                        "cannot-written", "cannot be written: {strerror}", strerror=error.strerror
                    ),
                    file=str(file),
                )
            ]
        ) from error
