"""The changes that an example's README proposes, one after the other, as files that differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_BLOCK = re.compile(r"^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^--- (\S+)\n", re.MULTILINE)


def passes(example: Path) -> list[dict[str, str]]:
    """The new text of each file that a ``diff`` block of the README changes, for one block after the other.

    A hunk has the lines before with ``-``, the lines after with ``+``, and lines around them with a space. One that
    only adds goes to the end of the file, as a document of its own.
    """
    texts: dict[str, str] = {}
    found = []
    for block in _BLOCK.findall((example / "README.md").read_text()):
        for name, before, after in _hunks(block):
            text = texts.get(name) or (example / name).read_text()
            if before:
                assert text.count(before) == 1, (
                    f"{example.name}/README.md changes lines that {name} has not, or twice"
                )
                texts[name] = text.replace(before, after)
            else:
                texts[name] = f"{text}---\n{after}"
        found.append(dict(texts))
    return found


def _hunks(block: str) -> Iterator[tuple[str, str, str]]:
    _, *parts = _FILE.split(block)
    for name, hunk in zip(parts[::2], parts[1::2], strict=True):
        lines = hunk.splitlines(keepends=True)
        yield name, _side(lines, "-"), _side(lines, "+")


def _side(lines: list[str], sign: str) -> str:
    return "".join(line[1:] for line in lines if line[0] in (" ", sign))
