"""Changes with which the outcome for a member is the other one: each was tried by deciding the
subject again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from fleet_components.model.problem import FleetError
from fleet_components.plan.edits import as_written
from fleet_components.plan.subject import Decided
from fleet_components.scheduler.cycle import Proposals
from fleet_components.scheduler.edit import MEMBER, Edits, Ladder, edit_words
from fleet_components.scheduler.framework import SchedulingError

MOST_FLIPS = 3
"""Number of changes that are reported for one member."""
MOST_TRIALS = 60
"""Number of times that a subject is decided again for one member."""
MOST_MEMBERS = 100
"""Number of members of one subject for which changes are tried without asking for one alone."""


@attrs.frozen
class Flip:
    """A change with which the outcome for a member is the other one.

    Attributes:
        cluster: the member.
        chosen: whether the member is chosen with the change; else it is left.
        change: the change.
    """

    cluster: str
    chosen: bool
    change: Edits

    @property
    def words(self) -> str:
        """The flip as a sentence: ``would be chosen with tier=gold``."""
        return f"would be {'chosen' if self.chosen else 'left out'} {edit_words(self.change)}"


@attrs.frozen
class MemberFlips:
    """Findings about the outcome for one member.

    Attributes:
        flips: the fewest changes that change it, at most :data:`MOST_FLIPS`.
        notes: sentences about what holds it: what it lost to, what memory does, why nothing was
            found.
    """

    flips: tuple[Flip, ...] = ()
    notes: tuple[str, ...] = ()


class Trials:
    """Decides a subject again with changes, as a plan of the changed fleet would.

    Args:
        decided: the subject with its decision.
    """

    def __init__(self, decided: Decided) -> None:
        self.decided = decided
        self.chosen = decided.subject.choice(decided.before)
        self.anew = self._anew()
        self._of_policy: dict[str, frozenset[str] | None] = {}
        """Results of changes that are proposed for many members alike, by the change."""

    def flips(self, cluster: str) -> MemberFlips:
        """Return what would change the outcome for a member."""
        chosen = cluster in self.chosen
        proposed = self._proposed(cluster)
        search = _FlipSearch(self, cluster, chosen=not chosen)
        found = search.run(sorted(proposed.losing, key=_tainting) if chosen else proposed.ladders())
        notes = list(self._compared(cluster))
        notes += self._remembered(cluster)
        if not found:
            notes.append(_nothing(chosen, proposed.stopped))
        return MemberFlips(
            tuple(Flip(cluster, not chosen, change) for change in found), tuple(notes)
        )

    def _proposed(self, cluster: str) -> Proposals:
        try:
            return self.decided.subject.proposals(self.decided.outcome, cluster)
        except SchedulingError as failure:
            # What was decided before may stand although no cycle could run now.
            return Proposals(stopped=str(failure))

    def _compared(self, cluster: str) -> Iterator[str]:
        try:
            words = self.decided.subject.comparison(
                self.decided.before, self.decided.outcome, cluster
            )
        except SchedulingError:
            return
        if words:
            yield words

    def with_change(self, change: Edits) -> frozenset[str] | None:
        """Return the members that are chosen with a change; None if nothing can be decided then."""
        # Changes of one member are proposed for that member alone, and not tried twice.
        if any(edit.of == MEMBER for edit in change):
            return self._tried(change)
        # Values of edits may be lists and maps, which cannot be keys.
        key = repr(change)
        if key not in self._of_policy:
            self._of_policy[key] = self._tried(change)
        return self._of_policy[key]

    def _tried(self, change: Edits) -> frozenset[str] | None:
        try:
            return self.decided.subject.changed(change, self.decided.outcome).choice(
                self.decided.before
            )
        except FleetError:
            return None

    def _anew(self) -> frozenset[str] | None:
        """Return the members that would be chosen by a new subject; None if that is not known or
        this is one.
        """
        # The record of a new subject.
        before = type(self.decided.before)()
        if self.decided.before == before:
            return None
        try:
            return self.decided.subject.anew().choice(before)
        except FleetError:
            return None

    def _remembered(self, cluster: str) -> Iterator[str]:
        anew, now = self.anew, self.chosen
        if anew is None or (cluster in anew) == (cluster in now):
            return
        others = sorted(anew - now if cluster in now else now - anew)
        if cluster in now:
            instead = f", and {', '.join(others)} chosen" if others else ""
            yield (
                f"stays because it was chosen before: newly decided, it would be left out{instead}"
            )
        else:
            instead = f" in place of {', '.join(others)}" if others else ""
            yield (
                "is left out because of what was decided before: newly decided, it would be"
                f" chosen{instead}"
            )


def _tainting(ladder: Ladder) -> bool:
    """Return whether a ladder taints the member: that says least, and comes last."""
    return any(edit.field == ("spec", "taints") for edit in ladder[0])


def _nothing(chosen: bool, stopped: str) -> str:
    does = "lets it go" if chosen else "chooses it"
    return (
        f"no change of its own or of the policy {does}: {stopped}"
        if stopped
        else f"no change that was tried {does}"
    )


class _FlipSearch:
    """Search for the changes with which a member is chosen, or left."""

    def __init__(self, trials: Trials, cluster: str, *, chosen: bool) -> None:
        self.trials = trials
        self.cluster = cluster
        self.wanted = chosen
        self.left = MOST_TRIALS

    def run(self, ladders: Iterable[Ladder]) -> list[Edits]:
        """Return the changes that hold, each the first on its ladder; none holds others of them."""
        found = list[Edits]()
        for ladder in ladders:
            if len(found) == MOST_FLIPS or not self.left:
                break
            written = (as_written(self.trials.decided.subject.inventory, rung) for rung in ladder)
            open_ = [
                rung
                for rung in written
                # A change that holds one which is enough says nothing new.
                if rung is not None and not any(_within(change, rung) for change in found)
            ]
            first = self.first(open_)
            if first is not None:
                found.append(first)
        return found

    def first(self, ladder: list[Edits]) -> Edits | None:
        """Return the first change that holds, if those behind it do as well; None if none is
        found.
        """
        high = len(ladder) - 1
        # What goes too far may not hold either: more replicas than there is room for.
        while high >= 0 and not self.holds(ladder[high]):
            # -1 if not even the first change of the ladder holds.
            high = high // 2 if high else -1
        # Halving relies on the ladder: a change further up does at least as much.
        low = 0
        while low < high:
            middle = (low + high) // 2
            if self.holds(ladder[middle]):
                high = middle
            else:
                low = middle + 1
        return ladder[high] if high >= 0 else None

    def holds(self, change: Edits) -> bool:
        """Return whether the outcome is as wanted with a change; not, once there were enough
        trials.
        """
        if not self.left:
            return False
        self.left -= 1
        chosen = self.trials.with_change(change)
        return chosen is not None and (self.cluster in chosen) == self.wanted


def _within(fewer: Edits, more: Edits) -> bool:
    return all(edit in more for edit in fewer)
