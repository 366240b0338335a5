"""Finds addresses in the input of kustomize and helm, which would fetch what they stand for.

kustomize reads every path that begins with ``http:`` or ``https:`` from there
(api/internal/loader/fileloader.go of v5.5.0, ``Load``), in any field of a kustomization and of a
plug-in, and its proxy settings do not count for the local host. What may be a folder it takes for a
git repository by its form, also where a folder of that name is there (``New``, and
api/internal/git/repospec.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fleet_components.content.guarded import UnreadableError, read_scalars
from fleet_components.model.problem import FieldPath

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
