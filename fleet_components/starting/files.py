"""New files, all of them or none: nothing that is there is ever overwritten."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from fleet_components.model.problem import FleetError, Problem


def write(files: Mapping[Path, str]) -> None:
    """Write files with their folders.

    Args:
        files: the text of each file.

    Raises:
        FleetError: one of them is there, or cannot be written; then none is left.
    """
    hint = "nothing was written: move it away, or name another folder"
    problems = [Problem("exists", file=str(path), hint=hint) for path in files if os.path.lexists(path)]
    if problems:
        raise FleetError(problems)
    made: list[Path] = []
    try:
        for path, text in files.items():
            made += _made_folders(path.parent)
            with open(path, "x", encoding="utf-8", newline="\n") as stream:
                made.append(path)
                stream.write(text)
    except (OSError, ValueError) as error:
        _remove(made)
        why = error.strerror if isinstance(error, OSError) else error
        raise FleetError([Problem(f"cannot be written: {why}", file=str(path), hint="nothing was written")]) from error
    except BaseException:
        _remove(made)
        raise


def _made_folders(folder: Path) -> list[Path]:
    """Make a folder and those above it, and return the new ones, from the outermost."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def _remove(made: list[Path]) -> None:
    for path in reversed(made):
        with suppress(OSError):
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink()
