"""Names of the files of an observed directory: safe on every file system, unique, and read by
people.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TypeVar

from fleet_components.content.observed import FILES, MEMBERS, MEMORY, OBJECTS, POLICIES
from fleet_components.content.secret import is_hidden, is_secret
from fleet_components.hub.listing import Object
from fleet_components.hub.observation import HubObservation
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.reader import API_VERSION

T = TypeVar("T")
HEADER, INVENTORY, FLEET = f"{MEMORY}/hub.yaml", FILES, f"{MEMORY}/fleet.json"
SETTINGS = "settings"
"""Folder of what no hub has as an object: it tells how the hub is set up, and people complete it.
"""
ATTRIBUTES = ".gitattributes"
ATTRIBUTE = f"{MEMORY}/** linguist-generated text eol=lf"
"""Line of :data:`ATTRIBUTES`: forges fold what was observed away, and no checkout changes it."""
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")
# File systems allow 255 bytes a name; a kind, a digest and the suffix come on top.
_LONGEST, _KEPT = 180, 140
# Windows has devices of these names, and helm and kustomize would build a folder that has such a
# file.
_RESERVED = frozenset(
    (
        "con",
        "prn",
        "aux",
        "nul",
        "kustomization",
        "chart",
        *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)),
    )
)


def object_files(observation: HubObservation) -> dict[str, Object]:
    """Return the members, policies and objects by the paths of their files."""
    steering, placed = observation.policies, observation.objects
    kinds = _Kinds((*steering, *placed))
    named = [
        *((f"{MEMBERS}/{_stem(_name(member))}.yaml", member) for member in observation.members),
        *((_policy_path(data, kinds), data) for data in steering),
        *((_object_path(data, kinds), data) for data in placed),
    ]
    return _unique((path, Manifest(data).key, data) for path, data in named)


def member_parts(found: Mapping[str, Object]) -> tuple[dict[str, Object], dict[str, Object]]:
    """Return objects by path without what changes by itself in members, and that part of each by
    its own path.
    """
    own, parts = dict(found), dict[str, Object]()
    for path, data in found.items():
        if path.startswith(f"{MEMBERS}/") and "status" in data:
            own[path] = {field: value for field, value in data.items() if field != "status"}
            header = {
                "apiVersion": data["apiVersion"],
                "kind": data["kind"],
                "metadata": {"name": _name(data)},
            }
            parts[part_of(path)] = {**header, "status": data["status"]}
    return own, parts


def hidden_apart(found: Mapping[str, Object], *, secrets: bool) -> dict[str, Object]:
    """Return objects by path, those below ``observed`` whose data is hidden: a hub must not get
    them as they stand.

    Args:
        found: the objects by path, with ``[secret]`` for what is hidden.
        secrets: True if the data of Secrets was asked for; else a Secret may be its metadata alone.
    """
    return {
        part_of(path) if is_hidden(data) or (not secrets and is_secret(data)) else path: data
        for path, data in found.items()
    }


def is_hidden_place(path: str) -> bool:
    """Return whether a path is that of an object whose data is hidden."""
    return path.startswith(f"{MEMORY}/")


def part_of(path: str) -> str:
    """Return the path of what changes by itself in a member, from the path of its file."""
    return f"{MEMORY}/{path}"


def memory_files(subjects: Iterable[str]) -> dict[str, str]:
    """Return the names of the subjects, ``Kind/key``, by the paths of their files."""
    # Kind and key, without the slash between them.
    named = ((subject, *subject.partition("/")[::2]) for subject in subjects)
    return _unique(
        (f"{MEMORY}/{kind}/{_of_subject(key)}.json", ObjectKey("", kind, "", key), subject)
        for subject, kind, key in named
    )


def _policy_path(data: Object, kinds: _Kinds) -> str:
    if data["apiVersion"] == API_VERSION:
        return f"{SETTINGS}/{_stem(_name(data))}.yaml"
    return f"{POLICIES}/{kinds.named(data)}/{_stem(_in_namespace(data))}.yaml"


def _object_path(data: Object, kinds: _Kinds) -> str:
    manifest = Manifest(data)
    folder = f"{OBJECTS}/{directory_of(manifest.namespace)}" if manifest.namespace else OBJECTS
    return f"{folder}/{kinds.named(data)}.{_stem(manifest.name)}.yaml"


def directory_of(namespace: str) -> str:
    """Return the name of the folder with the objects of a namespace."""
    return _stem(namespace)


class _Kinds:
    """Names of kinds: a kind that two groups have gets its group, unless it is the one that is
    built in.
    """

    def __init__(self, objects: Iterable[Object]) -> None:
        groups: dict[str, set[str]] = defaultdict(set)
        for item in objects:
            groups[str(item["kind"]).casefold()].add(Manifest(item).group)
        self._shared = {kind for kind, found in groups.items() if len(found) > 1}

    def named(self, data: Object) -> str:
        """Return the name of an object's kind."""
        manifest = Manifest(data)
        plain = (
            manifest.kind.casefold() not in self._shared
            or (manifest.group, manifest.kind) in BUILT_IN
        )
        return _short(manifest.kind if plain else f"{manifest.kind}.{_safe(manifest.group)}")


def _unique(named: Iterable[tuple[str, ObjectKey, T]]) -> dict[str, T]:
    """Return the values by path; of several with one path, also in another case, the later ones get
    a digest.
    """
    found, seen = dict[str, T](), set[str]()
    # Sorted, so that the same object gets the digest each time.
    for path, key, item in sorted(named, key=lambda each: (each[0].casefold(), each[1])):
        if path.casefold() in seen:
            stem, dot, end = path.rpartition(".")
            path = f"{stem}~{_digest('|'.join(key))}{dot}{end}"
        seen.add(path.casefold())
        found[path] = item
    return found


def _name(data: Object) -> str:
    return Manifest(data).name


def _of_subject(key: str) -> str:
    """Return the key of a subject, ``namespace/name`` or ``namespace/Kind/name``, as the beginning
    of a file's name.
    """
    parts = key.split("/")
    # A kind in the middle keeps its capital, which _stem would escape.
    return _short(
        ".".join(
            part if part[:1].isupper() and part != parts[-1] else _stem(part) for part in parts
        )
    )


def _in_namespace(data: Object) -> str:
    manifest = Manifest(data)
    return f"{manifest.namespace}.{manifest.name}" if manifest.namespace else manifest.name


def _stem(name: str) -> str:
    """Return a name as the beginning of a file's: reversible, unless it is very long."""
    safe = _safe(name)
    # Windows reserves these names with any extension.
    if safe.partition(".")[0] in _RESERVED or safe.startswith("."):
        safe = f"%{ord(safe[0]):02x}{safe[1:]}"
    return _short(safe)


def _safe(name: str) -> str:
    """Return a name with an escape for each character that file systems treat in different ways, as
    URLs have it.
    """
    return "".join(
        char if char in _PLAIN else "".join(f"%{byte:02x}" for byte in char.encode())
        for char in name
    )


def _short(safe: str) -> str:
    return safe if len(safe) <= _LONGEST else f"{safe[:_KEPT]}~{_digest(safe)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
