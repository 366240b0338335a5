"""Reads regular files up to a size: no device, no pipe, and nothing that would fill the memory."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Any

from fleet_components.content.guarded import UnreadableError, read_scalars
from fleet_components.model.digits import integer
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError, Problem

LIMIT_VARIABLE = "FLEET_MAX_FILE_MIB"
"""Environment variable that sets the largest size of a file, in MiB."""
_DEFAULT_LIMIT = 256
_MIB = 2**20


def read_regular(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: the file cannot be opened or read.
        UnreadableError: it is not a regular file, or is larger than allowed.
    """
    # Without O_NONBLOCK the open of a named pipe would wait for somebody to write into it.
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # a folder has an error of its own
            raise UnreadableError(
                Message("not-regular-file-pipe", "is not a regular file; pipe its text into -")
            )
        return read_stream(file)


def read_stream(stream: IO[bytes]) -> bytes:
    """Return what a stream has, standard input for example.

    Raises:
        OSError: it cannot be read.
        UnreadableError: it is larger than a file may be.
    """
    most = limit_mib() * _MIB
    content = bytearray()
    # In pieces: a buffer for the most that is allowed would be made before there is anything.
    while piece := stream.read(_MIB):
        content += piece
        if len(content) > most:
            raise UnreadableError(
                Message(
                    "larger-than-mib-sets",
                    "is larger than {limit_mib} MiB; {limit_variable} sets the limit",
                    limit_mib=limit_mib(),
                    limit_variable=LIMIT_VARIABLE,
                )
            )
    return bytes(content)


def limit_mib() -> int:
    """Return the largest size of a file in MiB."""
    text = os.environ.get(LIMIT_VARIABLE, "")
    return number if text.isdecimal() and 0 < (number := integer(text)) < _MIB else _DEFAULT_LIMIT


# Checks paths written in files: they must not lead out of a directory.


def confined(written: str, folder: Path, root: Path) -> Path | Problem:
    """Return the path that was written in a file, or the problem with it.

    Args:
        written: the path as written, relative to ``folder``.
        folder: the folder of the file in which it was written.
        root: the directory that the path must not lead out of.
    """
    if "://" in written or is_address(written):
        return Problem(
            Message("is-an-address", '"{written}" is an address', written=written), hint=FETCHED
        )
    # By the rules of both systems, so that a source is judged alike wherever it is read.
    if (
        PurePosixPath(written).is_absolute()
        # A drive or a root; the anchor has both.
        or PureWindowsPath(written).anchor
        or ".." in Path(written).parts
    ):
        return Problem(
            Message("may-lead-anywhere", '"{written}" may lead anywhere', written=written),
            hint=f"write a path below {folder}, without ..",
        )
    path = folder / written
    if not os.path.exists(path):  # unlike Path.exists, it takes any text
        return Problem(
            Message("no-such-path", 'there is no "{written}"', written=written),
            hint=f"paths are taken from {folder}",
        )
    if not within(path, root):
        return Problem(
            Message(
                "link-leads-out",
                '"{written}" is a link that leads out of {root}',
                written=written,
                root=root,
            ),
            hint="copy what it leads to",
        )
    return path


def resolved(path: Path) -> Path:
    """Return a path with all links resolved; a link that leads to itself stays."""
    # Path.resolve raises an error for such a link, until Python 3.13.
    return Path(os.path.realpath(path))


def links_out(folder: Path, root: Path) -> Iterator[Path]:
    """Yield the links in a folder, at any depth, that lead out of ``root``. Tools would follow
    them.
    """
    for at, folders, names in walk(folder):
        for name in sorted((*folders, *names)):
            path = Path(at, name)
            if path.is_symlink() and not within(path, root):
                yield path


def within(path: Path, root: Path) -> bool:
    """Return whether a path is inside a directory after all links are resolved."""
    return resolved(path).is_relative_to(resolved(root))


# Walks folders down to a number of levels, beyond which Python cannot follow them.


MOST_FOLDERS = 100
"""Levels of folders in one another."""


def walk(
    top: Path, onerror: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield folders with their folders and files, as :func:`os.walk` does. No link to a folder is
    followed.

    Raises:
        FleetError: there are more levels than :data:`MOST_FOLDERS`.
    """
    for at, folders, names in os.walk(top, onerror=onerror):
        # First the caller may take folders out of the list; only what is left counts.
        yield at, folders, names
        levels = len(Path(at).relative_to(top).parts)
        if folders and levels >= MOST_FOLDERS:
            raise FleetError(
                [
                    Problem(
                        Message(
                            "more-than-folders-one",
                            "has more than {most_folders} folders in one another",
                            most_folders=MOST_FOLDERS,
                        ),
                        file=str(top),
                    )
                ]
            )


def files_below(top: Path, suffix: str | tuple[str, ...] = "") -> list[Path]:
    """Return the files below a folder, and the links to folders, sorted.

    Args:
        top: the folder.
        suffix: how their names end, or several ends of which one counts.

    Raises:
        FleetError: as :func:`walk`.
    """
    found = [
        Path(at, name)
        for at, folders, names in walk(top)
        for name in (
            *names,
            *(folder for folder in folders if os.path.islink(os.path.join(at, folder))),
        )
        if name.endswith(suffix)
    ]
    return sorted(found)


# Files that are written alone: no other run writes there meanwhile, and nobody else opens a
# private one.


try:
    import fcntl
except ModuleNotFoundError:  # Windows, which cannot lock a directory
    fcntl = None  # type: ignore[assignment]

_OPEN, _PRIVATE = 0o666, 0o600


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until no other run writes into a folder, and keep others waiting.

    Raises:
        OSError: the folder cannot be opened.
    """
    with ExitStack() as held:
        if fcntl:
            handle = os.open(folder, os.O_RDONLY)
            held.callback(os.close, handle)
            # Released when the handle is closed.
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def create(file: Path, text: str, *, private: bool = False) -> None:
    """Write a text into a new file, and make the folders that it is in.

    Args:
        file: the file.
        text: the text; lines end as in it.
        private: True to let only the owner read it.

    Raises:
        OSError: the file exists, or cannot be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    # The mode is set on creation, so that nobody else can open a private file in between.
    opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE if private else _OPEN)
    with open(opened, "w", encoding="utf-8", newline="\n") as out:
        out.write(text)


# Finds addresses in the input of kustomize and helm, which would fetch what they stand for.
#
# kustomize reads every path that begins with ``http:`` or ``https:`` from there
# (api/internal/loader/fileloader.go of v5.5.0, ``Load``), in any field of a kustomization and of
# a plug-in, and its proxy settings do not count for the local host. What may be a folder it takes
# for a git repository by its form, also where a folder of that name is there (``New``, and
# api/internal/git/repospec.go).


FETCHED = (
    "nothing is fetched from elsewhere: copy it into the directory, so that it is reviewed with the"
    " rest"
)
"""The hint of a problem with an address."""
PLUGINS = ("generators", "transformers", "validators")
"""Fields of a kustomization that name plug-ins, or hold them as YAML."""
_VALUES = ("literals", "commonAnnotations", "annotations", "patch")
"""Fields of a kustomization whose texts are values of objects, and read from nowhere."""
_MERGED = "patchesStrategicMerge"
# A generator has its files as KEY=PATH.
_ADDRESS = re.compile(r"(?:^|=)\s*(?:https?:|[a-z][a-z0-9+.-]*://|git@|git::)", re.IGNORECASE)
_REPOSITORY = re.compile(
    r"(?:git::)?(?:gh:|(?:[a-z][a-z0-9-]*@)?github\.com[/:]|[a-z][a-z0-9-]*@[^/:]*[/:])",
    re.IGNORECASE,
)
"""Forms without a scheme; the first one is of kustomize before v5."""
_MOST_LEVELS = 5
"""Levels of YAML within YAML that are looked into; what is deeper counts as an address."""


def is_address(text: str) -> bool:
    """Return whether a path is an address, or a key and an address."""
    return bool(_ADDRESS.search(text))


def is_repository(text: str) -> bool:
    """Return whether kustomize takes what may be the path of a folder for a git repository."""
    return bool(_REPOSITORY.match(text))


def is_inline(text: str) -> bool:
    """Return whether an entry of a kustomization is YAML, not a path."""
    return "\n" in text or text.lstrip().startswith("{")


def has_address(text: str, level: int = 0) -> bool:
    """Return whether any scalar of a YAML text is an address, or is a text that has one."""
    if level > _MOST_LEVELS or is_address(text):
        return True
    try:
        scalars = list(read_scalars(text))
    except UnreadableError:
        # What is no YAML here may still be read by a tool, so its text decides.
        return "http:" in text.casefold() or "https:" in text.casefold()
    return any(
        is_address(item) or (is_inline(item) and has_address(item, level + 1))
        for _, item in scalars
    )


def addresses(
    data: Any, path: FieldPath = (), *, plugin: bool = False
) -> Iterator[tuple[FieldPath, str]]:
    """Yield the addresses in a kustomization, with their fields.

    Args:
        data: the kustomization, or a part of it.
        path: the field of the part.
        plugin: True if plug-ins come of it: then values count as well.
    """
    if isinstance(data, Mapping):
        for key, value in data.items():
            if plugin or key not in _VALUES:
                yield from addresses(
                    value, (*path, key), plugin=plugin or (not path and key in PLUGINS)
                )
    elif isinstance(data, list):
        for position, value in enumerate(data):
            yield from addresses(value, (*path, position), plugin=plugin)
    elif isinstance(data, str) and _is_fetched(data, path, plugin=plugin):
        yield path, data


def _is_fetched(text: str, path: FieldPath, *, plugin: bool) -> bool:
    # Also where it looks like a path: kustomize takes any text that is a YAML object for a plug-in.
    if plugin:
        return has_address(text)
    return is_address(text) and not (is_inline(text) and path[:1] == (_MERGED,))
