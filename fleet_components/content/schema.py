"""Finds what helm would fetch for the schemas of a chart's values, in folders and in packed charts.

helm compiles every ``values.schema.json`` of a chart and of the charts below ``charts/``, packed or not, and loads what
its references and its ``$schema`` name (pkg/chart/common/util/jsonschema.go of v4.2, with santhosh-tekuri/jsonschema).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fleet_components.content.address import is_address
from fleet_components.content.archive import Room, read_archive
from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.paths import files_below, read_regular, resolved

_SCHEMA, _PACKED, _CHARTS = "values.schema.json", ".tgz", "charts"
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef", "$schema")
_IDS = ("$id", "id")
"""Keys whose value references are relative to; the second one is that of draft 4."""
_BUILT_IN = re.compile(
    r"https?://json-schema\.org/(schema|draft-0[467]/schema|draft/(2019-09|2020-12)/(schema|meta/[a-z-]+))(#.*)?"
)
"""Schemas of schemas, which helm has with it."""
_MOST_LEVELS = 5
"""Levels of packed charts within packed charts that are looked into."""


def fetching(chart: Path) -> Iterator[tuple[Path, str]]:
    """Yield the schemas and packed charts of a chart for which helm would fetch something, each with the reason.

    One that cannot be read is yielded as well: what helm would make of it is not known.

    Args:
        chart: the folder of the chart. Links to folders are followed, as helm does.
    """
    for file in _files(chart):
        packed = file.name.endswith(_PACKED) and file.parent.name == _CHARTS
        if not packed and file.name != _SCHEMA:
            continue
        try:
            content = read_regular(file)
            why = _in_archive(content, Room()) if packed else _in_schema(content)
        except (OSError, UnreadableError) as error:
            why = error.what if isinstance(error, UnreadableError) else f"cannot be read: {error.strerror}"
        if why:
            yield file, why


def _files(chart: Path) -> Iterator[Path]:
    """Yield the files of a chart, with those in folders that its links lead to."""
    waiting, seen = [chart], {resolved(chart)}
    while waiting:
        for path in files_below(waiting.pop()):
            if not os.path.isdir(path):
                yield path
            elif resolved(path) not in seen:
                seen.add(resolved(path))
                waiting.append(path)


def _in_archive(content: bytes, room: Room, level: int = 1) -> str:
    """Return why helm would fetch something for a packed chart; empty if it would not."""
    if level > _MOST_LEVELS:
        return f"has more than {_MOST_LEVELS} packed charts within one another"
    for file in read_archive(content, room):
        why = ""
        if _SCHEMA.encode() in file.names:
            why = _in_schema(file.content)
        elif _PACKED.encode() in file.names and f"{_CHARTS}/".encode() in file.names:
            why = _in_archive(file.content, room, level + 1)
        if why:
            return why
    return ""


def _in_schema(content: bytes) -> str:
    """Return why helm would fetch something for a schema; empty if it would not."""
    texts = list(_texts(read_json(content.decode("utf-8-sig", "replace"), str)))
    based = any(key in _IDS and is_address(text) for key, text in texts)
    for key, text in texts:
        if key in _REFERENCES and not text.startswith("#") and not _BUILT_IN.fullmatch(text):
            if is_address(text):
                return f"has a {key} that is an address"
            if based:
                return f"has a {key} that its $id makes an address"
    return ""


def _texts(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield the keys of a schema, at any depth, that have a text, with the text."""
    waiting = [schema]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            yield from ((key, value) for key, value in found.items() if isinstance(value, str))
        waiting += found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
