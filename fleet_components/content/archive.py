"""Reads the files of a packed chart in memory, and refuses what two readers could read in two ways.

The module tarfile of Python forgives what archive/tar of Go does not, with which helm reads, and the other way round:
a size that begins with a zero byte is one. The two could then find other files in one archive. So the blocks are read
here, by the rules that both share: those of ustar, with long names as GNU tar or pax have them.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator

import attrs

from fleet_components.content.guarded import UnreadableError

MOST_BYTES = 100 * 2**20
"""Size of all that a packed chart unpacks to, charts in it included; that of helm (pkg/chart/loader/archive)."""
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
        UnreadableError: it is no such archive, is too large, has links, or has what readers take in different ways.
    """
    blocks = _unpacked(packed, room)
    at, names = 0, b""
    while blocks[at : at + _BLOCK].strip(b"\0"):
        header = blocks[at : at + _BLOCK]
        kind, size = header[156:157], _size(header)
        content = blocks[at + _BLOCK : at + _BLOCK + size]
        if len(header) < _BLOCK or len(content) < size:
            raise UnreadableError("ends in the middle of a file")
        if kind in _NAMES:
            if kind == b"x" and _RESIZING.search(content):
                raise UnreadableError("has an entry of two sizes")
            names += content
        elif kind == _FILE:
            prefix, name = header[345:500].rstrip(b"\0"), header[:100]
            yield Packed((names + prefix + b"/" + name).replace(b"\\", b"/"), content)
            names = b""
        elif kind == _FOLDER and not size:
            names = b""
        elif kind != _GLOBAL:
            raise UnreadableError("has an entry that is neither a file nor a folder")
        at += _BLOCK + -(-size // _BLOCK) * _BLOCK
    if blocks[at:].strip(b"\0"):
        raise UnreadableError("has something behind its end")


def _unpacked(packed: bytes, room: Room) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            content = file.read(room.left + 1)
    except (OSError, EOFError, zlib.error):
        raise UnreadableError("is not packed by gzip") from None
    room.left -= len(content)
    if room.left < 0:
        raise UnreadableError(f"unpacks to more than {MOST_BYTES // 2**20} MiB")
    return content


def _size(header: bytes) -> int:
    written = header[124:136]
    if not _SIZE.fullmatch(written):
        raise UnreadableError("has a header that not all readers of tar read alike")
    return int(written.rstrip(b"\0 "), 8)
