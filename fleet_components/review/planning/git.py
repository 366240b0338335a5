"""Runs git on a repository of which a stranger may have written a part: objects are read, and
nothing is executed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Timer
from typing import IO

from fleet_components.content.tool import SECONDS, end
from fleet_components.content.tool_words import words
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem

MOST_BYTES = 64 * 2**20
"""Largest answer that is read at once: a small tree can list more files than any memory holds."""
_KEPT = (
    "PATH",
    "HOME",
    "USERPROFILE",
    "XDG_CONFIG_HOME",
    "SYSTEMROOT",
    "TMPDIR",
    "TEMP",
    "GIT_EXEC_PATH",
)
_FINDING = ("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
_OBJECTS = ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
_LOCATED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR")
"""Variables that say where a repository is. All others of git, such as GIT_INDEX_FILE in a hook,
are left out.
"""
_CUT_OFF = {
    # No protocol, so that a partial clone fetches nothing; for git before GIT_NO_LAZY_FETCH.
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}
# The user's own configuration is read, since safe.directory stands there; these keys of it, and of
# the repository's, name programs.
_NO_PROGRAMS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    # A bare repository can be committed as files, with a configuration of its own.
    "safe.bareRepository": "explicit",
}

_OLDEST = (2, 38)
"""The first release with ``safe.bareRepository``, the only one of these that nothing takes the
place of.
"""
_VERSION = re.compile(r"\b(\d{1,4})\.(\d{1,4})[\w.]*")


class GitError(Exception):
    """git fails, takes too long or answers too much.

    Attributes:
        status: its exit status.
        message: what is shown of what it says.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Git:
    """The command git.

    Args:
        directory: the directory of the repository, ``.git``; None for finding it.
        located: whether the environment says where the repository is.
    """

    def __init__(self, directory: Path | None = None, *, located: bool = False) -> None:
        found = shutil.which("git")
        if found is None:
            what = Message(
                "base-review-read-from",
                "the base of a review is read from a git repository, and git is not on PATH",
            )
            raise FleetError([Problem(what, hint="install git")])
        settings = [
            word for key, value in _NO_PROGRAMS.items() for word in ("-c", f"{key}={value}")
        ]
        place = ["--git-dir", str(directory)] if directory else []
        self._command = [found, "--no-pager", *settings, *place]
        self._environment = _environment(located=located)
        _check_version(found)

    def line(self, *arguments: str, at: Path | None = None) -> str:
        """Return what git prints, without the line's end.

        Args:
            arguments: its arguments.
            at: the directory to run it in; the current one by default.

        Raises:
            GitError: git fails.
        """
        with self.reading(arguments, at=at) as answer:
            text = os.fsdecode(answer.read(MOST_BYTES))
        return text.removesuffix("\n")

    @contextmanager
    def reading(
        self, arguments: Sequence[str], given: bytes = b"", *, at: Path | None = None
    ) -> Iterator[IO[bytes]]:
        """Run git and yield its standard output; what is not read of it is not waited for.

        Args:
            arguments: its arguments.
            given: its standard input.
            at: the directory to run it in; the current one by default.

        Raises:
            GitError: git cannot be started, fails, or takes longer than :data:`SECONDS`.
        """
        # Files, not pipes: this process only reads the output, and git could wait for it for ever.
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as message:
            asked.write(given)
            asked.seek(0)
            process = self._started(arguments, asked, message, at)
            limit = Timer(SECONDS, end, [process])
            limit.start()
            with process:
                # Started with a pipe.
                assert process.stdout
                whole = False
                try:
                    yield process.stdout
                    # The caller may stop early. git is killed then, so that its exit status says
                    # nothing.
                    whole = not process.stdout.read(1)
                finally:
                    # A timer that is no longer alive has fired, since it is cancelled below.
                    late = not limit.is_alive()
                    limit.cancel()
                    if not whole:
                        end(process)
            if late:
                raise GitError(f"git took longer than {SECONDS} s")
            if whole and process.returncode:
                message.seek(0)
                raise GitError(
                    words(message.read(MOST_BYTES).decode(errors="replace")), process.returncode
                )

    def _started(
        self, arguments: Sequence[str], asked: IO[bytes], message: IO[bytes], at: Path | None
    ) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                [*self._command, *arguments],
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=message,
                cwd=at,
                env=self._environment,
                # A session of its own, as every tool has: it is killed with its children.
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise GitError(f"git cannot be started: {error}") from error


@cache
def _check_version(program: str) -> None:
    """Refuse a git that does not know :data:`_OLDEST`'s settings, and so does not keep to them.

    Raises:
        FleetError: it is older, or does not say its version.
    """
    try:
        asked = subprocess.run(
            [program, "version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            # The version needs no repository, so none is named.
            env=_environment(located=False),
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FleetError(
            [
                Problem(
                    Message(
                        "git-cannot-asked-version",
                        "git cannot be asked for its version: {error}",
                        error=error,
                    )
                )
            ]
        ) from None
    message = _VERSION.search(asked.stdout.decode(errors="replace"))
    # A git that does not say its version counts as too old.
    version = (int(message[1]), int(message[2])) if message else (0, 0)
    if version < _OLDEST:
        needed = ".".join(map(str, _OLDEST))
        what = f"git is of version {message[0]}" if message else "git does not say its version"
        hint = (
            f"install git {needed} or newer: an older one may take files of the repository for a"
            " repository"
        )
        raise FleetError(
            [
                Problem(
                    Message(
                        "review-needs-more",
                        "{what}, and a review needs {needed}",
                        what=what,
                        needed=needed,
                    ),
                    hint=hint,
                )
            ]
        )


def _environment(*, located: bool) -> Mapping[str, str]:
    # A list of what is kept, not of what is dropped: git has new variables in new releases.
    known = (*_KEPT, *_FINDING, *_OBJECTS, *(_LOCATED if located else ()))
    kept = {
        name: value
        for name, value in os.environ.items()
        # GIT_CONFIG_COUNT and its like carry safe.directory in CI systems.
        if name in known or name.startswith("GIT_CONFIG")
    }
    return {**kept, **_CUT_OFF}
