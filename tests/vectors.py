"""Outcomes measured on the real systems, which this repository keeps compressed in ``tests/conformance/vectors``.

``index.json`` beside them says which release each was measured on, and how that was determined.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from fleet_components.model.releases import TABLES, Releases

FOLDER = Path(__file__).parent / "conformance" / "vectors"
INDEX: Mapping[str, Mapping[str, str]] = json.loads((FOLDER / "index.json").read_text())
"""The release of each folder, and of each file that differs from its folder."""
MEMBERS = "members"
"""The file beside the recordings of KubeFleet that says what the members were."""
Content = Callable[[str], Any]
"""Returns the content of a file of a folder by its name; ``KeyError`` or ``OSError`` where there is none."""


def vectors(path: str) -> Any:
    """Return the content of a file, parsed anew with each call.

    Args:
        path: folder and name, as ``kubefleet/scheduling``.

    Raises:
        KeyError: if there is no such file.
    """
    return parsed(path, _kept(path.partition("/")[0])[path])


def recordings(folder: str) -> list[str]:
    """Return the names of the recordings of a folder, as ``kubefleet-live``, in order."""
    names = (path.rpartition("/")[2] for path in _kept(folder))
    return sorted(name for name in names if name != MEMBERS)


def parsed(path: str, text: str | bytes) -> Any:
    """Return a parsed file, in which each case and each recording has its ``release``.

    Args:
        path: folder and name; they tell the release where the file itself does not.
    """
    content = json.loads(text)
    release = {"release": release_of(path)} if release_of(path) else {}
    if isinstance(content, list):
        return [release | case for case in content]
    return release | content


def release_of(path: str) -> str:
    """Return the release that a file was measured on; empty for folders that are not known."""
    entry = INDEX.get(path) or INDEX.get(path.partition("/")[0]) or {}
    return entry.get("release", "")


def releases_of(name: str) -> Releases:
    """Return the releases to decide by: of the system that has a release of this name that one."""
    return Releases.named(
        **{system: name for system, table in TABLES.items() if name in table.names}
    )


def unpacked(archive: Path) -> dict[str, bytes]:
    """Return the JSON files of an archive, by folder and name."""
    with tarfile.open(archive, "r:xz") as files:
        found = {
            PurePosixPath(item.name): files.extractfile(item) for item in files if item.isfile()
        }
        return {str(path.with_suffix("")): file.read() for path, file in found.items() if file}


@cache
def _kept(folder: str) -> Mapping[str, bytes]:
    return unpacked(FOLDER / f"{folder}.tar.xz")
