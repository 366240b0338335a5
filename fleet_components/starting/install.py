"""The command with which the jobs of a workflow install this package: from a named source, never by
its name alone.

The name is not registered at any public index yet, so the code of anyone who registers it would run
in these jobs.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from fleet_components.content.files import read_file
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem

EXAMPLE = (
    "pip install 'fleet-components[cli] @ git+https://git.example.com/fleet-components@COMMIT'"
)
"""Command that names a source and a commit of it."""
_LINE = (
    "fleet-components[cli] @ https://example.com/fleet_components-0.1.0-py3-none-any.whl"
    " --hash=sha256:..."
)
_BARE = re.compile(r"fleet[-_.]+components(\[[^\]]*\])?([=<>!~;,\s].*)?", re.IGNORECASE)
_OURS = re.compile(r"fleet[-_.]+components\b", re.IGNORECASE)
_ELSEWHERE = ("--index-url", "-i", "--find-links", "-f", "--no-index", "--default-index")
"""Options of pip and uv after which the name is looked for in a place that somebody has named, and
in no other.
"""
_FILES = ("-r", "-c", "-e", "--requirement", "--constraint", "--editable")


def given(command: str) -> str:
    """Return a command that installs the package, as it is given.

    Raises:
        FleetError: it is not one line, or takes the package by its name from a public index.
    """
    if not command.strip() or not command.isprintable():
        raise FleetError(
            [
                Problem(
                    Message("install-not-one-line", "--install is not one line"),
                    hint=f'for example --install "{EXAMPLE}"',
                )
            ]
        )
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise FleetError(
            [
                Problem(
                    Message(
                        "install-cannot-read-shell",
                        "--install cannot be read by a shell: {error}",
                        error=error,
                    )
                )
            ]
        ) from None
    # The value of an option may follow its name after "=".
    named = any(word.partition("=")[0] in _ELSEWHERE for word in words)
    if any(_BARE.fullmatch(word) for word in words) and not named:
        what = Message(
            "install-takes-package-name",
            "--install takes the package by its name from a public index, where nobody has"
            " registered it yet",
        )
        raise FleetError([Problem(what, hint=f'name the source: --install "{EXAMPLE}"')])
    return command.strip()


def from_requirements(file: Path) -> str:
    """Return a command that installs what a file of requirements lists, each by its hashes; the
    command holds the list.

    So a branch under review has no say in what is installed, as it would have in a file of the
    checkout.

    Args:
        file: requirements with hashes, as ``pip-compile --generate-hashes`` writes them.

    Raises:
        FleetError: it cannot be read, lacks the package or a hash, or has what no workflow can
            hold.
    """
    # A backslash at the end of a line joins it with the next one, as for pip.
    lines = [line.strip() for line in read_file(file).replace("\\\n", " ").splitlines()]
    lines = [" ".join(line.split()) for line in lines if line and not line.startswith("#")]
    unfit = [(line, _unfit(line)) for line in lines]
    problems = [
        Problem(
            Message("requirement-line-wrong", "{why}: {line}", why=why, line=line[:80]),
            file=str(file),
        )
        for line, why in unfit
        if why
    ]
    if not any(_OURS.match(line) for line in lines):
        problems.append(
            Problem(
                Message("does-not-list-fleet", "does not list fleet-components"),
                file=str(file),
                hint=f"a line like {_LINE}",
            )
        )
    if problems:
        raise FleetError(problems)
    return (
        f"printf '%s\\n' {' '.join(map(shlex.quote, lines))} | pip install --require-hashes -r"
        " /dev/stdin"
    )


def _unfit(line: str) -> str:
    """Return why a line cannot be in a workflow; empty if it can."""
    if not line.isprintable() or "$" in line:
        return "a CI system would read it otherwise"
    if line.startswith("-"):
        return "names a file that a job does not have" if line.startswith(_FILES) else ""
    return "" if "--hash=" in line else "has no --hash"


# New files, all of them or none: nothing that is there is ever overwritten.


def write(files: Mapping[Path, str]) -> None:
    """Write files with their folders.

    Args:
        files: the text of each file.

    Raises:
        FleetError: one of them is there, or cannot be written; then none is left.
    """
    hint = "nothing was written: move it away, or name another folder"
    problems = [
        Problem(Message("file-exists", "exists"), file=str(path), hint=hint)
        for path in files
        # ``lexists``, because a link that leads nowhere is in the way as well.
        if os.path.lexists(path)
    ]
    if problems:
        raise FleetError(problems)
    made: list[Path] = []
    try:
        for path, text in files.items():
            made += _made_folders(path.parent)
            # "x" fails if somebody has made the file in the meantime.
            with open(path, "x", encoding="utf-8", newline="\n") as stream:
                made.append(path)
                stream.write(text)
    except (OSError, ValueError) as error:
        _remove(made)
        why = error.strerror if isinstance(error, OSError) else error
        raise FleetError(
            [
                Problem(
                    Message("requirements-cannot-be-written", "cannot be written: {why}", why=why),
                    file=str(path),
                    hint="nothing was written",
                )
            ]
        ) from error
    # After an interrupt, too, no file stays.
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


# The image of GitLab's jobs, which is one and the same for good by its digest alone.


DEFAULT = "python:3.13"
"""Image of the jobs where none is given: a tag, which can move."""
_PINNED = re.compile(r"[a-z0-9][\w./:-]*@sha256:[0-9a-f]{64}")


def pinned(image: str) -> str:
    """Return an image as it is given.

    Raises:
        FleetError: it has no digest.
    """
    if not _PINNED.fullmatch(image):
        hint = (
            f"docker buildx imagetools inspect {DEFAULT} prints it: --image {DEFAULT}@sha256:DIGEST"
        )
        raise FleetError([Problem(Message("image-no-digest", "--image has no digest"), hint=hint)])
    return image
