"""Selection of what a plan shows: the changes by default, or one placement, or one member."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from fleet_components.model.problem import FleetError
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.subject import Decided
from fleet_components.review.documents.form import Document
from fleet_components.review.documents.lookup import find, unknown
from fleet_components.rollout.rollout import Change


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
        """Return whether a subject is shown with the members that stay, and with those that it does not concern."""
        return self.all or self._asked(decided)

    def shows(self, decided: Decided, *, changes: bool) -> bool:
        """Return whether a subject is shown; ``changes`` says whether there is anything to tell of it."""
        if self.only and not self._asked(decided):
            return False
        if self.member:
            entry = decided.entries.get(self.member)
            return self._asked(decided) or (entry is not None and (self.all or entry.change is not Change.KEEP))
        return changes or self.whole(decided)

    def narrowed(self, subject: Document) -> Document:
        """Return the document of a subject with what concerns the member alone; as it is, if no member is asked for."""
        if not self.member:
            return subject
        content, overridden = subject["content"], subject["overridden"]
        here = [{**item, "members": [self.member]} for item in content or () if self.member in item["members"]]
        return {
            **subject,
            "content": None if content is None else here,
            "overridden": [item for item in overridden if self.member in item["members"]],
            "departures": [departure for departure in subject["departures"] if departure["member"] == self.member],
            "clusters": [cluster for cluster in subject["clusters"] if cluster["name"] == self.member],
            "staying": [name for name in subject["staying"] if name == self.member],
            "notPicked": {**subject["notPicked"], "shown": []},
        }

    def _asked(self, decided: Decided) -> bool:
        return not {decided.name, decided.subject.key}.isdisjoint(self.only)

    def check(self, plans: Sequence[FleetPlan]) -> None:
        """Check that what is asked for exists.

        Raises:
            FleetError: there is no such placement, template or member; the problem names the one
                that was meant.
        """
        decided = [subject for plan in plans for subject in plan.subjects]
        gone = {name for plan in plans for full in plan.gone for name in (full, full.partition("/")[2])}
        for name in self.only:
            if name not in gone:
                find(decided, name)
        known = {name for plan in plans for name in (*plan.inventory.names, *plan.members, *plan.members_gone)}
        if self.member and self.member not in known:
            raise FleetError([unknown("member", self.member, known)])


EVERYTHING = View(all=True)


def is_narrow(document: Document) -> bool:
    """Return whether the document of a plan has only a part of what changes, as :attr:`View.narrow` asks."""
    return bool(document["view"]["only"] or document["view"]["member"])
