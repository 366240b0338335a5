"""Finds what helm would fetch for the schemas of a chart's values, in folders and in packed charts.

helm compiles every ``values.schema.json`` of a chart and of the charts below ``charts/``, packed or
not, and loads what its references and its ``$schema`` name (pkg/chart/common/util/jsonschema.go of
v4.2, with santhosh-tekuri/jsonschema).
"""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.paths import files_below, is_address, read_regular, resolved
from fleet_components.model.message import Message

_SCHEMA, _PACKED, _CHARTS = "values.schema.json", ".tgz", "charts"
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef", "$schema")
_IDS = ("$id", "id")
"""Keys whose value references are relative to; the second one is that of draft 4."""
_BUILT_IN = re.compile(
    r"https?://json-schema\.org/"
    r"(schema|draft-0[467]/schema|draft/(2019-09|2020-12)/(schema|meta/[a-z-]+))(#.*)?"
)
"""Schemas of schemas, which helm has with it."""
_MOST_LEVELS = 5
"""Levels of packed charts within packed charts that are looked into."""


def fetching(chart: Path) -> Iterator[tuple[Path, str]]:
    """Yield the schemas and packed charts of a chart for which helm would fetch something, each
    with the reason.

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
            why = (
                str(error.message)
                if isinstance(error, UnreadableError)
                else f"cannot be read: {error.strerror}"
            )
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
    # Numbers stay texts: how long they are does not matter here.
    texts = list(_texts(read_json(content.decode("utf-8-sig", "replace"), str)))
    based = any(key in _IDS and is_address(text) for key, text in texts)
    for key, text in texts:
        # A reference within the schema fetches nothing.
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
        waiting += (
            found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
        )


# Reads the files of a packed chart in memory, and refuses what two readers could read in two
# ways.
#
# The module tarfile of Python forgives what archive/tar of Go does not, with which helm reads,
# and the other way round: a size that begins with a zero byte is one. The two could then find
# other files in one archive. So the blocks are read here, by the rules that both share: those of
# ustar, with long names as GNU tar or pax have them.


MOST_BYTES = 100 * 2**20
"""Size of all that a packed chart unpacks to, charts in it included; that of helm
(pkg/chart/loader/archive).
"""
_BLOCK = 512
_FILE, _FOLDER, _NAMES, _GLOBAL = b"0", b"5", (b"x", b"L"), b"g"
"""Types of entries; ``_NAMES`` are headers that have the name of the entry behind them."""
_SIZE = re.compile(rb"[0-7]{11}[0-7\0 ]")
_RESIZING = re.compile(rb"(^|\n)\d+ (size|GNU\.sparse[^=]*)=")
"""Records of a pax header that change where the next entry begins."""


@attrs.frozen
class Packed:
    """A file of an archive.

    Attributes:
        names: all bytes that its name may be taken from.
        content: its content.
    """

    names: bytes
    content: bytes


@attrs.define
class Room:
    """Number of bytes that may still be unpacked."""

    left: int = MOST_BYTES


def read_archive(packed: bytes, room: Room) -> Iterator[Packed]:
    """Yield the files of an archive, whose number is bounded by its size.

    Args:
        packed: the archive, as tar and gzip have written it.
        room: is made smaller by what it unpacks to.

    Raises:
        UnreadableError: it is no such archive, is too large, has links, or has what readers take in
            different ways.
    """
    blocks = _unpacked(packed, room)
    at, names = 0, b""
    while blocks[at : at + _BLOCK].strip(b"\0"):
        header = blocks[at : at + _BLOCK]
        # Offsets of ustar: the name at 0, the size at 124, the type at 156, the prefix at 345.
        kind, size = header[156:157], _size(header)
        content = blocks[at + _BLOCK : at + _BLOCK + size]
        if len(header) < _BLOCK or len(content) < size:
            raise UnreadableError(Message("ends-middle-file", "ends in the middle of a file"))
        if kind in _NAMES:
            if kind == b"x" and _RESIZING.search(content):
                raise UnreadableError(Message("entry-two-sizes", "has an entry of two sizes"))
            names += content
        elif kind == _FILE:
            prefix, name = header[345:500].rstrip(b"\0"), header[:100]
            yield Packed((names + prefix + b"/" + name).replace(b"\\", b"/"), content)
            names = b""
        elif kind == _FOLDER and not size:
            names = b""
        elif kind != _GLOBAL:
            raise UnreadableError(
                Message(
                    "entry-neither-file-nor", "has an entry that is neither a file nor a folder"
                )
            )
        at += _BLOCK + -(-size // _BLOCK) * _BLOCK
    if blocks[at:].strip(b"\0"):
        raise UnreadableError(Message("something-behind-end", "has something behind its end"))


def _unpacked(packed: bytes, room: Room) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            # One byte more than allowed, which shows that there is more.
            content = file.read(room.left + 1)
    except (OSError, EOFError, zlib.error):
        raise UnreadableError(Message("not-packed-gzip", "is not packed by gzip")) from None
    room.left -= len(content)
    if room.left < 0:
        raise UnreadableError(
            Message(
                "unpacks-more-than-mib",
                "unpacks to more than {most_bytes} MiB",
                most_bytes=MOST_BYTES // 2**20,
            )
        )
    return content


def _size(header: bytes) -> int:
    written = header[124:136]
    if not _SIZE.fullmatch(written):
        raise UnreadableError(
            Message("header-not-all-readers", "has a header that not all readers of tar read alike")
        )
    return int(written.rstrip(b"\0 "), 8)
