"""Replaces a folder of files by another one at once.

The new folder is written beside the old one, then the two change places by renaming. An interrupted run leaves the
old folder in place. Between the two renames the old folder is set aside, and the next run puts it back.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from fleet_components.model.problem import FleetError, Problem

_OPEN, _PRIVATE = 0o666, 0o600


def recover(target: Path) -> None:
    """Put back the folder that an interrupted run set aside."""
    old = _beside(target, "old")
    if old.is_dir() and not target.exists():
        old.rename(target)


def replace(target: Path, files: Mapping[str, str], *, marker: str, private: bool = False) -> None:
    """Replace a folder by one with these files and nothing else.

    Args:
        target: the folder.
        files: the text of each file, by path in the folder; a path that ends in a slash is an empty folder.
        marker: the file by which a folder is known to be written by this function.
        private: True to create files that only their owner can read.

    Raises:
        FleetError: the folder holds other files, or cannot be written.
    """
    new, old = _beside(target, "new"), _beside(target, "old")
    try:
        recover(target)
        _refuse_foreign(target, files, marker)
        for leftover in (new, old):
            shutil.rmtree(leftover, ignore_errors=True)
        try:
            _write(new, files, private)
            _swap(new, target, old)
        finally:
            shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        hint = "nothing was changed; write to another place with --out"
        raise FleetError([Problem(f"cannot be written: {error.strerror}", file=str(target), hint=hint)]) from error


def _beside(target: Path, role: str) -> Path:
    return target.with_name(f".{target.name}.{role}")


def _refuse_foreign(target: Path, files: Mapping[str, str], marker: str) -> None:
    """Raise an error unless the folder is our own, or one in which no file would be lost."""
    hint = "move it away, or write to another place with --out"
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise FleetError([Problem("is not a folder", file=str(target), hint=hint)])
    if not target.exists() or (target / marker).is_file():
        return
    there = (path.relative_to(target).as_posix() for path in sorted(target.rglob("*")) if not path.is_dir())
    foreign = next((path for path in there if path not in files), None)
    if foreign:
        what = f"was not written by fleet render: it holds {foreign}"
        raise FleetError([Problem(what, file=str(target), hint=hint)])


def _write(folder: Path, files: Mapping[str, str], private: bool) -> None:
    for path, text in files.items():
        file = folder / path
        (file if path.endswith("/") else file.parent).mkdir(parents=True, exist_ok=True)
        if path.endswith("/"):
            continue
        mode = _PRIVATE if private else _OPEN
        # The mode is set on creation, so that nobody else can open a private file in between.
        with open(
            os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8", newline="\n"
        ) as out:
            out.write(text)


def _swap(new: Path, target: Path, old: Path) -> None:
    if not target.exists():
        new.rename(target)
        return
    target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        old.rename(target)
        raise
