"""Recognizes directories that an observation of a hub has written, by the header in their folder
``observed``.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.catalogue import DEFAULT_NAMESPACE
from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.paths import files_below, read_regular, walk
from fleet_components.content.secret import is_hidden, is_secret
from fleet_components.content.three_way import Shape, extended, is_shape, shape_of, three_way
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message

MEMORY = "observed"
"""Folder of what a hub has decided; of its files only those in :data:`PARTS` are a part of the
source.
"""
MEMBERS, OBJECTS, POLICIES = "members", "objects", "policies"
PARTS = (MEMBERS, OBJECTS, POLICIES)
"""Folders in it with what changes by itself in members, and with objects whose data is hidden."""
FILES = f"{MEMORY}/files.json"
"""Inventory: what the last observation has written, and what files of people said then."""
_HEADER = f"{MEMORY}/hub.yaml"
STAGED = ".fleet-observe-"
"""Beginning of the name of the folder in which files are written before they are moved to their
places.
"""
MEND = (
    "fleet observe --hub KUBECONFIG --out DIR --update writes it anew; or go back to the last"
    f" commit of the folder {MEMORY}/"
)
"""Hint for what was written by an observation and is damaged."""
UPGRADE = "upgrade fleet-components"
"""Hint for what a later version has written."""
LATER_FORMS = frozenset({"later-fleet-resource", "later-observation-format"})
"""Codes of the problems of what a later version has written."""
_REST = (f"{MEMORY}/files.json", f"{MEMORY}/fleet.json")
# Not parsed: a header that is damaged, by a merge for example, is one still.
_MARKS = (
    re.compile(rb"^kind: Observation\b", re.MULTILINE),
    re.compile(rb"^apiVersion: fleet-components/", re.MULTILINE),
)


class LinkedError(UnreadableError):
    """Error for a file of an observation that is a link, or in one: an observation writes none."""

    def __init__(self) -> None:
        super().__init__(
            Message(
                "link-one-observation-never",
                "is a link, or in one, which an observation never writes, and which is not"
                " followed",
            )
        )


def read_part(folder: Path, path: str) -> bytes:
    """Return the content of a file of an observation.

    Args:
        folder: the observed directory.
        path: the path of the file in it, with slashes.

    Raises:
        OSError: it cannot be read.
        LinkedError: a link is on the way.
        UnreadableError: it is not a regular file, or is too large.
    """
    steps = path.split("/")
    if any((folder / "/".join(steps[:end])).is_symlink() for end in range(1, len(steps) + 1)):
        raise LinkedError
    return read_regular(folder / path)


def links_in(folder: Path) -> Iterator[Path]:
    """Yield the links among what an observed directory remembers of its hub, at any depth."""
    memory = folder / MEMORY
    if memory.is_symlink():
        yield memory
    yield from (path for path in files_below(memory) if path.is_symlink())


def is_observed(folder: Path) -> bool:
    """Return whether a folder is an observed directory, damaged perhaps.

    It is one without its header, too, and while the first observation is written, or where that was
    interrupted.
    """
    try:
        text = read_part(folder, _HEADER)
    except LinkedError:
        # It is meant as one, and the reader of the header refuses the link.
        return os.path.exists(folder / _HEADER)
    except (OSError, UnreadableError, ValueError):
        # Not empty: an empty header is a damaged one, and none at all says nothing.
        text = b"?"
    marked = not text.strip() or all(mark.search(text) for mark in _MARKS)
    return marked or all(os.path.isfile(folder / file) for file in _REST) or _is_begun(folder)


def _is_begun(folder: Path) -> bool:
    try:
        return os.path.isdir(folder / MEMORY) and any(
            name.startswith(STAGED) for name in os.listdir(folder)
        )
    except OSError:
        return False


def observed_above(path: Path) -> Path | None:
    """Return the observed directory that a path is in; None if it is in none."""
    return next(
        (folder for folder in Path(os.path.abspath(path)).parents if is_observed(folder)), None
    )


def observed_in(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the observed directories among paths and below them, hidden folders and links left
    out.
    """
    for path in paths:
        for at, folders, _ in walk(path):
            folders[:] = [name for name in sorted(folders) if not name.startswith(".")]
            if MEMORY in folders and is_observed(Path(at)):
                folders.remove(MEMORY)
                yield Path(at)


# Joins the parts of objects that an observation keeps in files of its own with what people write.


def joined(own: Iterable[Manifest], parts: Iterable[tuple[str, Manifest]]) -> list[Manifest]:
    """Return objects with what an observation keeps apart.

    A part is joined to what people have of the same object, and counts for nothing without it: that
    was removed. What hides data stands there alone, since nobody could apply it, and counts unless
    people have the same object.

    Args:
        own: the objects of people.
        parts: what an observation has written, each after its folder, of
            :data:`~fleet_components.content.observed.PARTS`.
    """
    own = list(own)
    apart, more = defaultdict[ObjectKey, list[Manifest]](list), list[Manifest]()
    for folder, manifest in parts:
        apart[manifest.key].append(manifest)
        more += [manifest] if folder != MEMBERS and hides(manifest) else []
    known = {key for item in own for key in keys_of(item)} if more else set[ObjectKey]()
    joined = [
        join(item, (part for key in dict.fromkeys(keys_of(item)) for part in apart.get(key, ())))
        for item in own
    ]
    return [*joined, *(item for item in more if item.key not in known)]


def join(own: Manifest, parts: Iterable[Manifest]) -> Manifest:
    """Return an object with the parts of it that are kept apart; a field that both have is as
    ``own`` has it.
    """
    parts = tuple(parts)
    if not parts or own.origin is None:
        return own
    data: Any = own.data
    for part in parts:
        data = _over(data, part.data) if "status" in part.data else completed(data, part)
    if data is own.data:
        return own
    return Manifest(data, attrs.evolve(own.origin, parts=(own, *parts)))


def _over(own: Any, part: Any) -> Any:
    if not isinstance(own, Mapping) or not isinstance(part, Mapping):
        return own
    both = {key: _over(value, part[key]) if key in part else value for key, value in own.items()}
    return {**both, **{key: value for key, value in part.items() if key not in own}}


def keys_of(manifest: Manifest) -> tuple[ObjectKey, ObjectKey]:
    """Return the keys that an object may have; people may leave out the namespace "default"."""
    key = manifest.key
    return key, key._replace(namespace=key.namespace or DEFAULT_NAMESPACE)


# Completes an object in a file of people by what the file leaves out, as an apply to the hub
# would.
#
# Of such an object an observation keeps below ``observed`` what the hub has in full, and in its
# inventory what the file has said: a field that the file does not have was left out and is the
# hub's, unless the file has said it before.


_PARTS = (OBJECTS, POLICIES)


def completed(own: Mapping[str, Any], full: Manifest) -> Mapping[str, Any]:
    """Return an object with the fields that it leaves out.

    Args:
        own: the object, as people write it.
        full: the same object, as an observation has written it below ``observed``. One whose data
            is hidden completes nothing.
    """
    if hides(full):
        return own
    before = _shape_before(full)
    base = None if before is None else extended(before, shape_of(full.data), shape_of(own))
    found: Mapping[str, Any] = three_way(base, own, full.data).whole
    return found


def hides(part: Manifest) -> bool:
    """Return whether an object has data that was left out when it was observed."""
    return is_secret(part.data) or is_hidden(part.data)


def _shape_before(full: Manifest) -> Shape:
    """Return the shape of what the file of people has said when it was observed last; None if that
    is not known.
    """
    steps = Path(full.origin.file if full.origin else "").parts
    for at, step in enumerate(steps[:-1]):
        folder = Path(*steps[:at])
        if step == MEMORY and steps[at + 1] in _PARTS and is_observed(folder):
            path = "/".join(steps[at + 1 :])
            return next((part[path] for part in _inventory(folder) if path in part), None)
    return None


def _inventory(folder: Path) -> tuple[Mapping[str, Shape], ...]:
    try:
        state = os.stat(folder / FILES)
    except OSError:
        return ()
    # Time and size are a part of the key of the cache: a file that has changed is read again.
    return _read(str(folder), state.st_mtime_ns, state.st_size)


@lru_cache(8)
def _read(folder: str, _time: int, _size: int) -> tuple[Mapping[str, Shape], ...]:
    """Return the shapes by path, those of people's own files first; none if the inventory is
    damaged.
    """
    try:
        whole = read_json(read_part(Path(folder), FILES))
    except (OSError, UnreadableError):
        return ()
    parts = [whole.get(key) for key in ("own", "objects")] if isinstance(whole, Mapping) else []
    return tuple(part for part in parts if isinstance(part, Mapping) and is_shape(part))
