"""A plan as rules see it: its members, placements and templates.

Rules read these values and nothing else, so that one rule holds for both systems. The data of
Secrets is hidden in all of them, since a test that fails prints what it has compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import Vocabulary, few, visible
from fleet_components.plan.departures import Departure
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.no_match import meant
from fleet_components.testing.planned_member import By, Members, PlannedMember, grouped, parsed
from fleet_components.testing.planned_placement import PlannedPlacement

# A test that fails shows the line of the test, not the frames of this module.
__tracebackhide__ = True


# ``cached_property`` needs a ``__dict__``, which slots would take away.
@attrs.frozen(eq=False, repr=False, slots=False)
class PlannedFleet:
    """The plan of one update of a fleet, as rules see it.

    Attributes:
        lost: members that are lost in this plan.
    """

    _plan: FleetPlan
    _losing: Callable[[frozenset[str]], PlannedFleet]
    lost: frozenset[str] = frozenset()

    @cached_property
    def members(self) -> Members:
        """Members that can be placed on, by name; lost ones are not among them."""
        return tuple(
            PlannedMember(cluster.name, cluster) for cluster in self._plan.inventory.clusters
        )

    @property
    def refused(self) -> tuple[str, ...]:
        """Reasons why the update is refused; none if it is not."""
        return tuple(map(str, self._plan.refused))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of the fleet as a whole, and of each placement."""
        own = (
            text
            for subject in self._plan.subjects
            for text in (*subject.subject.warnings, *subject.outcome.warnings)
        )
        return tuple(map(str, (*self._plan.warnings, *own)))

    @property
    def departures(self) -> tuple[Departure, ...]:
        """Objects that their placement no longer brings to a member, with what becomes of each."""
        return self._plan.departures

    def placements(
        self,
        label: str = "",
        *,
        kind: str = "",
        where: Callable[[PlannedPlacement], bool] = lambda _: True,
        optional: bool = False,
    ) -> tuple[PlannedPlacement, ...]:
        """Return placements and templates.

        Args:
            label: a label that the policy or any of its objects has, as
                :meth:`PlannedPlacement.has_label` takes it.
            kind: ``ClusterResourcePlacement``, ``ResourcePlacement`` or ``Template``, or the kind
                of an object among theirs, such as ``Deployment``.
            where: returns whether a placement is meant.
            optional: whether there may be none. A rule over nothing holds, whatever is wrong with
                its question.

        Raises:
            FleetError: none is found, or the label is no selector.
        """
        # Only for its error, which is due also in a fleet without placements.
        parsed(label)
        found = tuple(
            placement
            for placement in self._placements
            if placement.has_label(label) and placement.concerns(kind) and where(placement)
        )
        if found or optional:
            return found
        asked = " and ".join(
            filter(None, [label and f"the label {label}", kind and f"the kind {kind}"])
        )
        what = (
            Message("no-placement-has", "no placement has {what}", what=visible(asked))
            if asked
            else Message("no-placement-meant", "no placement is meant")
        )
        raise FleetError([Problem(what, hint=self._instead(label))])

    def placed(self, name: str) -> PlannedPlacement:
        """Return one placement or template.

        Args:
            name: its key, its ``Kind/key``, or the last part of the key if only one has it, not
                counting templates that no policy has claimed.

        Raises:
            FleetError: none or several have this name.
        """
        exact = [
            placement for placement in self._placements if name in (placement.name, placement.key)
        ]
        ending = [
            placement for placement in self._placements if placement.key.rpartition("/")[2] == name
        ]
        # An exact name counts most; among endings, templates that a policy has claimed count more.
        found = exact or [item for item in ending if item.policy] or ending
        if len(found) == 1:
            return found[0]
        if found:
            hint = f"there are: {few([item.name for item in found], 10)}"
            raise FleetError(
                [
                    Problem(
                        Message(
                            "several-placements",
                            'several placements are called "{name}"',
                            name=visible(name),
                        ),
                        hint=hint,
                    )
                ]
            )
        known = Vocabulary(placement.key for placement in self._placements)
        raise FleetError(
            [
                Problem(
                    Message(
                        "no-placement-planned", 'there is no placement "{name}"', name=visible(name)
                    ),
                    hint=meant(name, known, "there is"),
                )
            ]
        )

    def member(self, name: str) -> PlannedMember:
        """Return a member.

        Raises:
            FleetError: none has this name.
        """
        found = self._by_name.get(name)
        if found:
            return found
        what, hint = (
            Message("no-member-planned", 'there is no member "{name}"', name=visible(name)),
            meant(name, Vocabulary(self.members), "the members are"),
        )
        raise FleetError(
            [Problem(what, hint="it is lost in this plan" if name in self.lost else hint)]
        )

    def known(self, name: str) -> PlannedMember:
        """Return a member of this name; one of which nothing else is known if it is lost or no
        longer in the fleet.
        """
        return self._by_name.get(name) or PlannedMember(name)

    def grouped(self, members: Iterable[PlannedMember], by: By = "region") -> dict[str, Members]:
        """Return members by region, zone, provider, label or whatever a function says.

        A member may be in several zones. Those of which it is unknown are under the empty text.

        Raises:
            FleetError: no member of the fleet has a value for it, so that it is misspelt or not
                declared.
        """
        return grouped(members, by, self.members)

    def losing(self, *members: str, region: str = "") -> PlannedFleet:
        """Return the fleet after this update, and after the loss of members for good: what is
        placed where then.

        Args:
            members: names of members.
            region: a region, all of whose members are lost.

        Raises:
            FleetError: there is no such member or region, or the update is refused.
        """
        names = {str(self.member(name)) for name in members}
        if region:
            regions = self.grouped(self.members)
            if region not in regions:
                # Without the empty text, below which members without a known region are.
                hint = meant(region, Vocabulary(filter(None, regions)), "the regions are")
                raise FleetError(
                    [
                        Problem(
                            Message(
                                "no-member-in-region",
                                'no member is in the region "{region}"',
                                region=visible(region),
                            ),
                            hint=hint,
                        )
                    ]
                )
            names |= set(map(str, regions[region]))
        return self._losing(frozenset(names)) if names else self

    def losing_each(self, by: By = "region") -> Iterator[tuple[str, PlannedFleet]]:
        """Yield each region, or whatever else members are distinguished by, with the fleet after
        its loss.
        """
        for value, members in self.grouped(self.members, by).items():
            # Members of which the region is unknown are not lost together.
            if value:
                yield value, self.losing(*members)

    def _instead(self, label: str) -> str:
        """Return what the labels that are asked for are on the placements that there are."""
        if not self._placements:
            return "there is no placement"
        found = defaultdict[str, set[str]](set)
        for item in self._placements:
            for key, values in item.label_values.items():
                found[key] |= values
        asked = [requirement.key for requirement in parsed(label)]
        lines = [f"{key} is {few(sorted(found[key]))}" for key in asked if key in found]
        if lines:
            return "; ".join(lines)
        if asked:
            return meant(asked[0], Vocabulary(found), "the labels are")
        return (
            f"there is: {few([placement.name for placement in self._placements])}; with"
            " optional=True there may be none"
        )

    @cached_property
    def _placements(self) -> tuple[PlannedPlacement, ...]:
        return tuple(
            PlannedPlacement(self, subject)
            for subject in sorted(self._plan.subjects, key=lambda decided: decided.name)
        )

    @cached_property
    def _by_name(self) -> Mapping[str, PlannedMember]:
        return {str(member): member for member in self.members}

    def __repr__(self) -> str:
        lost = f" without {few(sorted(self.lost))}" if self.lost else ""
        return visible(
            f"<fleet of {len(self.members)} members and {len(self._placements)} placements{lost}>"
        )
