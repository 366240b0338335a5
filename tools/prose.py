"""Checks words against the style page: ``python -m tools.prose``.

The table "Words to avoid" of ``docs/contributing/style.md`` is the list of rules. A word of it is
an error in every hand-written page, outside of code. In docstrings and messages of the package,
findings are counted: more than ``tool.prose.baseline`` of ``pyproject.toml`` is an error, so the
number only falls.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[1]
STYLE = Path("docs/contributing/style.md")
GENERATED = {Path("docs/fields.md"), Path("docs/fields-by-delivery.md"), Path("docs/settings.md")}
"""Pages that are made of texts of the package, where these are counted."""
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/**/*.md",
    "examples/README.md",
    "changelog.d/*.md",
)
PACKAGE = "fleet_components"
_FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"``.+?``|`[^`\n]*`")
_QUOTED = re.compile(r"^>.*$", re.MULTILINE)


@attrs.frozen
class Finding:
    """A word that the style page advises against.

    Attributes:
        file: the file, relative to the root.
        line: the line, from 1.
        phrase: the word or phrase, as the rule has it.
        instead: what to write instead.
    """

    file: Path
    line: int
    phrase: str
    instead: str

    def __str__(self) -> str:
        return f'{self.file}:{self.line}: avoid "{self.phrase}" ({self.instead})'


def rules(page: str) -> dict[str, str]:
    """Return what to write instead of each word or phrase, from the table of the style page."""
    section = page.partition("## Words to avoid\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \| (.+?) \|$", section, re.MULTILINE)
    return {
        phrase: instead for phrases, instead in rows for phrase in re.findall(r"`([^`]+)`", phrases)
    }


def prose_of(page: str) -> str:
    """Return a page with code and quotations replaced by spaces; line numbers stay the same."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    for pattern in (_FENCE, _QUOTED, _CODE):
        page = pattern.sub(blank, page)
    return page


def findings(
    file: Path, text: str, words: Mapping[str, str], first_line: int = 1
) -> Iterator[Finding]:
    """Yield the words of a text that the rules advise against; a phrase may span two lines.

    A phrase with a capital letter matches exactly, any other phrase in any case.
    """
    for phrase, instead in words.items():
        pattern = r"\s+".join(map(re.escape, phrase.split()))
        flags = re.IGNORECASE if phrase.islower() else re.NOFLAG
        for match in re.finditer(rf"\b{pattern}\b", text, flags):
            yield Finding(file, first_line + text.count("\n", 0, match.start()), phrase, instead)


def in_pages(root: Path, words: Mapping[str, str]) -> list[Finding]:
    """Return the findings in hand-written pages, except for the style page, which lists the
    words.
    """
    files = sorted({file.relative_to(root) for pattern in PAGES for file in root.glob(pattern)})
    read = (file for file in files if file != STYLE and file not in GENERATED)
    return [
        it for file in read for it in findings(file, prose_of((root / file).read_text()), words)
    ]


def in_package(root: Path, words: Mapping[str, str]) -> list[Finding]:
    """Return the findings in docstrings and messages of the package."""
    files = sorted((root / PACKAGE).rglob("*.py"))
    return [
        it
        for file in files
        for line, text in _texts(ast.parse(file.read_text()))
        for it in findings(file.relative_to(root), text, words, line)
    ]


def _texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def check(
    pages: Iterable[Finding], package: Iterable[Finding], baseline: int
) -> tuple[int, list[str]]:
    """Return an exit status and the lines to print.

    Args:
        pages: findings in pages, each of which is an error.
        package: findings in docstrings and messages.
        baseline: how many of these there may be.
    """
    wrong, counted = [*pages], [*package]
    lines = [str(finding) for finding in wrong]
    if len(counted) > baseline:
        lines += [str(finding) for finding in counted]
        lines.append(
            f"docstrings and messages have {len(counted)} words to avoid, {baseline} are allowed"
        )
    elif len(counted) < baseline:
        lines.append(
            f"lower tool.prose.baseline in pyproject.toml from {baseline} to {len(counted)}"
        )
    return int(bool(wrong) or len(counted) > baseline), lines


def main(root: Path = ROOT) -> int:
    """Check a checkout, print what is wrong, and return the exit status."""
    words = rules((root / STYLE).read_text())
    baseline = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["prose"]["baseline"]
    status, lines = check(in_pages(root, words), in_package(root, words), baseline)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return status


if __name__ == "__main__":
    sys.exit(main())
