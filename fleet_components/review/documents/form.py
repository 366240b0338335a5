"""Common parts of all documents: their version, and the words for the changes of a member."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few, nearest
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.subject import Decided
from fleet_components.review.documents.schema import SubjectDocument
from fleet_components.rollout.rollout import Change

Document = dict[str, Any]


def fleet_to_name(plans: Sequence[FleetPlan], plan: FleetPlan) -> str | None:
    """Return the fleet to name with what is of a plan; None where a program has no other fleet."""
    return plan.options.fleet if len(plans) > 1 else None


class OfAFleet(Protocol):
    """A subject in a document."""

    @property
    def of_fleet(self) -> str | None:
        """Its fleet, if a program has several."""

    @property
    def kind(self) -> str:
        """Its kind."""

    @property
    def key(self) -> str:
        """Its key."""


def kind_of(subject: OfAFleet) -> str:
    """Return the kind of a subject, after its fleet where a program has several."""
    return after_fleet(subject.of_fleet, subject.kind)


def title_of(subject: OfAFleet) -> str:
    """Return the kind and key of a subject, after its fleet where a program has several."""
    return f"{kind_of(subject)} {subject.key}"


def after_fleet(fleet: str | None, text: str) -> str:
    """Return a text after the fleet that it is about, where a program has several."""
    return f"{fleet}: {text}" if fleet else text


def member_of(fleet: str | None, name: str) -> str:
    """Return the name of a member, after its fleet where a program has several."""
    return f"{fleet}/{name}" if fleet else name


def without_none(fields: Mapping[str, Any]) -> Document:
    """Return the fields that have a value."""
    return {key: value for key, value in fields.items() if value is not None}


# Lookup of placements, templates and members by the names that a command line gives.


def find(decided: Sequence[Decided], wanted: str | None) -> list[Decided]:
    """Return the placement or template of a key, or ``Kind/key``; all of them for None.

    Raises:
        FleetError: there is none.
    """
    found = [item for item in decided if wanted in (None, item.subject.key, item.name)]
    if not found and wanted is not None:
        raise FleetError(
            [unknown("placement or template", wanted, [item.subject.key for item in decided])]
        )
    return found


def unknown(noun: str, wanted: str, known: Iterable[str]) -> Problem:
    """Return the problem of a name that nothing has, with the name that was probably meant."""
    names = sorted(known)
    near = nearest(wanted, names)
    hint = f"did you mean {near}?" if near else f"there is: {few(names, 20) or 'none'}"
    return Problem(
        Message("no-such-subject", 'there is no {noun} "{wanted}"', noun=noun, wanted=wanted),
        hint=hint,
    )


# Selection of what a plan shows: the changes by default, or one placement, or one member.


@attrs.frozen
class View:
    """Selection of what a plan shows.

    Attributes:
        all: whether what does not change is shown as well.
        only: keys of the placements and templates that are shown, or ``Kind/key``; empty for all
            that change.
        member: the member that is shown; empty for all.
    """

    all: bool = False
    only: tuple[str, ...] = ()
    member: str = ""

    @property
    def narrow(self) -> bool:
        """True if a part of the changes is left out."""
        return bool(self.only or self.member)

    def whole(self, decided: Decided) -> bool:
        """Return whether a subject is shown with the members that stay, and with those that it does
        not concern.
        """
        return self.all or self._asked(decided)

    def shows(self, decided: Decided, *, changes: bool) -> bool:
        """Return whether a subject is shown; ``changes`` says whether anything happens to it."""
        if self.only and not self._asked(decided):
            return False
        if self.member:
            # A member that stays is shown only if everything is asked for.
            entry = decided.entries.get(self.member)
            return self._asked(decided) or (
                entry is not None and (self.all or entry.change is not Change.KEEP)
            )
        return changes or self.whole(decided)

    def narrowed(self, subject: SubjectDocument) -> SubjectDocument:
        """Return the document of a subject with what concerns the member alone; as it is, if no
        member is asked for.
        """
        if not self.member:
            return subject
        content = [
            attrs.evolve(item, members=[self.member])
            for item in subject.content or ()
            if self.member in item.members
        ]
        return attrs.evolve(
            subject,
            content=None if subject.content is None else content,
            overridden=[item for item in subject.overridden if self.member in item.members],
            departures=[item for item in subject.departures if item.member == self.member],
            clusters=[cluster for cluster in subject.clusters if cluster.name == self.member],
            staying=[name for name in subject.staying if name == self.member],
            # That list is about other members.
            not_picked=attrs.evolve(subject.not_picked, shown=()),
        )

    def _asked(self, decided: Decided) -> bool:
        return not {decided.name, decided.subject.key}.isdisjoint(self.only)

    def check(self, plans: Sequence[FleetPlan]) -> None:
        """Check that what is asked for exists.

        Raises:
            FleetError: there is no such placement, template or member; the problem names the one
                that was meant.
        """
        decided = [subject for plan in plans for subject in plan.subjects]
        # With their kinds and without, as users may write them.
        gone = {
            name for plan in plans for full in plan.gone for name in (full, full.partition("/")[2])
        }
        for name in self.only:
            # What goes is no longer in the source, and may still be asked about.
            if name not in gone:
                find(decided, name)
        known = {
            name
            for plan in plans
            for name in (*plan.inventory.names, *plan.members, *plan.members_gone)
        }
        if self.member and self.member not in known:
            raise FleetError([unknown("member", self.member, known)])


EVERYTHING = View(all=True)
