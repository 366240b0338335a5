"""Files that change, as a diff in which nothing secret is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from rich.console import Console
from rich.text import Text

from fleet_components.content.hidden_text import shown_lines
from fleet_components.model.text import visible
from fleet_components.review.planning.edit import Edit

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def print_edits(console: Console, edits: Iterable[Edit]) -> None:
    """Print how files change."""
    for edit in edits:
        for line in _diff(edit):
            console.print(Text(visible(line), _STYLES.get(line[:1], "")), soft_wrap=True)
    console.print()


def _diff(edit: Edit) -> Iterator[str]:
    """Yield a unified diff: of the texts as they are, so that a changed secret shows that it has changed."""
    old, new = shown_lines(edit.old), shown_lines(edit.new)
    yield f"--- {edit.file if edit.old else '/dev/null'}"
    yield f"+++ {edit.file}"
    matcher = SequenceMatcher(None, edit.old.splitlines(), edit.new.splitlines(), autojunk=False)
    for group in matcher.get_grouped_opcodes():
        (_, begin, _, first, _), (_, _, end, _, last) = group[0], group[-1]
        yield f"@@ -{_range(begin, end)} +{_range(first, last)} @@"
        for change, i, j, k, m in group:
            if change == "equal":
                yield from (f" {line}" for line in old[i:j])
            else:
                yield from (f"-{line}" for line in old[i:j])
                yield from (f"+{line}" for line in new[k:m])


def _range(begin: int, end: int) -> str:
    """Return lines as diffs name them: an empty range by the line before it, a single line without its length."""
    return f"{begin + 1}" if end - begin == 1 else f"{begin + (end > begin)},{end - begin}"
