"""Files that change, as a diff in which nothing secret is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from fleet_components.content.hidden_text import shown_lines
from fleet_components.model.text import few
from fleet_components.plan.subject import Decided
from fleet_components.review.planning.approve import Approval
from fleet_components.review.planning.drain import Drain
from fleet_components.review.planning.edit import FileEdit
from fleet_components.review.planning.rollback import Rollback
from fleet_components.review.showing.blocks import Block, Diff, Gap, Paragraph
from fleet_components.rollout.rollout import Change


def edits_view(edits: Iterable[FileEdit]) -> Iterator[Block]:
    """Yield how files change."""
    for edit in edits:
        yield Diff("\n".join(_diff(edit)), exact=True)
    yield Gap()


def _diff(edit: FileEdit) -> Iterator[str]:
    """Yield a unified diff: of the texts as they are, so that a changed secret shows that it has
    changed.
    """
    # Secrets are hidden in the lines that are shown, and compared in those that are not.
    old, new = shown_lines(edit.old), shown_lines(edit.new)
    yield f"--- {edit.file if edit.old else '/dev/null'}"
    yield f"+++ {edit.file}"
    # Without autojunk: frequent lines of YAML would count as junk in files of 200 lines and more.
    matcher = SequenceMatcher(None, edit.old.splitlines(), edit.new.splitlines(), autojunk=False)
    for group in matcher.get_grouped_opcodes():
        # A group begins and ends with its first and its last operation.
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


def approval_view(approval: Approval) -> Iterator[Block]:
    """Yield the approvals that were given before, and what moves."""
    for asked in approval.given:
        if asked.given:
            yield Paragraph(f"{asked.name} {asked.words}")
    yield from map(Paragraph, approval.moves)
    if approval.survey.observed:
        yield from (Paragraph(_ON_HUB.format(asked.name)) for asked in approval.given)
    yield Gap()


# The draining of a member in a terminal: what moves.


def drain_view(drain: Drain) -> Iterator[Block]:
    """Yield what comes of each placement and template on the member."""
    yield from (Paragraph(f"{name}: {words}") for name, words in drain.outcomes.items())
    if not drain.outcomes:
        yield Paragraph("nothing is on it")
    yield Gap()


# The rollback of a placement in a terminal: what is left to do by hand, and which members go
# back.


def rollback_view(back: Rollback) -> Iterator[Block]:
    """Yield what no file can be changed for, and in which wave the members go back."""
    yield from (Paragraph(f"{name}: {words}") for name, words in back.by_hand.items())
    if not back.edits and not back.by_hand:
        yield Paragraph(f"{back.name} is as in revision {back.revision} already")
    yield from map(Paragraph, moves(back.decided))
    yield Gap()


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
