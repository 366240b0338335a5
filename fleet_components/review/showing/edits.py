"""Files that change, as a diff in which nothing secret is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from rich.console import Console
from rich.text import Text

from fleet_components.content.hidden_text import shown_lines
from fleet_components.model.text import few, visible
from fleet_components.plan.subject import Decided
from fleet_components.review.planning.approve import Approval
from fleet_components.review.planning.drain import Drain
from fleet_components.review.planning.edit import Edit
from fleet_components.review.planning.rollback import Rollback
from fleet_components.review.showing.rows import print_indented
from fleet_components.review.showing.words import single_line
from fleet_components.rollout.rollout import Change

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def print_edits(console: Console, edits: Iterable[Edit]) -> None:
    """Print how files change."""
    for edit in edits:
        for line in _diff(edit):
            console.print(Text(visible(line), _STYLES.get(line[:1], "")), soft_wrap=True)
    console.print()


def _diff(edit: Edit) -> Iterator[str]:
    """Yield a unified diff: of the texts as they are, so that a changed secret shows that it has
    changed.
    """
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
    """Return lines as diffs name them: an empty range by the line before it, a single line without
    its length.
    """
    return f"{begin + 1}" if end - begin == 1 else f"{begin + (end > begin)},{end - begin}"


# Approvals in a terminal: what they let happen.


_ON_HUB = (
    "{0}: the hub asks for it by a request of its own: fleet approve --hub KUBECONFIG {0} --write"
    " gives it there"
)


def print_approval(console: Console, approval: Approval) -> None:
    """Print the approvals that were given before, and what moves."""
    for asked in approval.given:
        if asked.given:
            print_indented(console, Text(visible(f"{asked.name} {asked.words}")), 0)
    for line in approval.moves:
        print_indented(console, Text(single_line(visible(line))), 0)
    if approval.survey.observed:
        for asked in approval.given:
            print_indented(console, Text(visible(_ON_HUB.format(asked.name))), 0)
    console.print()


# The draining of a member in a terminal: what moves.


def print_drain(console: Console, drain: Drain) -> None:
    """Print what comes of each placement and template on the member."""
    for name, words in drain.outcomes.items():
        print_indented(console, Text(f"{visible(name)}: {single_line(visible(words))}"), 0)
    if not drain.outcomes:
        print_indented(console, Text("nothing is on it"), 0)
    console.print()


# The rollback of a placement in a terminal: what is left to do by hand, and which members go
# back.


def print_rollback(console: Console, back: Rollback) -> None:
    """Print what no file can be changed for, and in which wave the members go back."""
    for name, words in back.by_hand.items():
        print_indented(console, Text(f"{visible(name)}: {single_line(visible(words))}"), 0)
    if not back.edits and not back.by_hand:
        print_indented(
            console, Text(f"{visible(back.name)} is as in revision {back.revision} already"), 0
        )
    for line in moves(back.decided):
        print_indented(console, Text(visible(line)), 0)
    console.print()


# The members that move in an update, in lines of text.


_MOST = 20


def moves(decided: Decided) -> Iterator[str]:
    """Yield which members get which revision, by wave, and which are held with the reason."""
    entries = decided.entries
    for wave in decided.outcome.rollout.waves:
        placed = {name: entries[name].placed for name in wave.clusters}
        sent = {name: item.revision for name, item in placed.items() if item}
        for revision in sorted(set(sent.values())):
            names = few([name for name, at in sent.items() if at == revision], _MOST)
            yield f"{decided.name}: wave {wave.number}: {names} to revision {revision}"
    held: dict[str, list[str]] = {}
    for name, entry in entries.items():
        if entry.change is Change.HELD:
            held.setdefault(str(entry.reason), []).append(name)
    for why, names_held in held.items():
        yield f"{decided.name}: held: {few(names_held, _MOST)}: {why}"
