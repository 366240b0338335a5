"""A fleet, planned: what every subject of a source comes to, what is gone, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import attrs

from fleet_components.content.stamp import stamped
from fleet_components.model.inventory import Inventory
from fleet_components.model.problem import Problem
from fleet_components.plan.departures import UNRECORDED, Departure, Replacement
from fleet_components.plan.guard import Pair
from fleet_components.plan.immutable import Held
from fleet_components.plan.names import Urn
from fleet_components.plan.options import Options
from fleet_components.plan.past import ALL, CLUSTER_SCOPED, LOST, Past, Standing
from fleet_components.plan.record import FORMAT, LACKS_HINT
from fleet_components.plan.subject import Decided


@attrs.frozen(slots=False)
class FleetPlan:
    """A fleet, planned.

    Attributes:
        options: what the plan was told.
        past: what it starts from, under the names of today.
        inventory: the members that are scheduled on.
        subjects: the placements, then the templates, those first that others need.
        departures: the objects that leave what has brought them to a member.
        replacements: the objects that are deleted and made anew.
        refused: why the update must not happen; each with what would allow it.
        warnings: what may surprise, of the fleet as a whole.
        waiting: the objects that no Karmada policy has, with a digest of each, to be remembered.
        members: what the roster is to remember of each member: ``member`` or ``lost``.
        held: what is to be remembered of the policies, since updates are judged by it.
        manager: the field manager of all objects: what an earlier resource of this stack has set is its own.
    """

    options: Options
    past: Past
    inventory: Inventory
    subjects: tuple[Decided, ...]
    departures: tuple[Departure, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    refused: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    waiting: Mapping[str, str] = attrs.field(factory=dict)
    held: Held = attrs.field(factory=dict)
    members: Mapping[str, str] = attrs.field(factory=dict)
    manager: str = ""

    @property
    def roster(self) -> dict[str, Any]:
        """What is remembered of the fleet as a whole, in wire form."""
        return {
            "key": self.options.fleet,
            "format": FORMAT,
            "fleet": self.options.fleet,
            "members": dict(self.members),
            "settings": self.options.settings.to_wire(),
            "manager": self.manager,
            **({"waiting": dict(self.waiting)} if self.waiting else {}),
            **({"held": dict(self.held)} if self.held else {}),
        }

    def of(self, component: str) -> tuple[Decided, ...]:
        """The subjects of one sort: ``Placement`` or ``Template``."""
        return tuple(one for one in self.subjects if component == one.subject.COMPONENT)

    @cached_property
    def gone(self) -> tuple[str, ...]:
        """The placements and templates that stood and are in the source no more."""
        known = {one.name for one in self.subjects}
        return tuple(sorted({*self.past.records, *(one.subject for one in self.past.standing)} - known))

    @property
    def changes(self) -> bool:
        """Whether an update would do anything: to an object, a member, or what is remembered of either."""
        known = {name: member.state for name, member in self.past.members.items()}
        return (
            bool(self.departures or self.replacements or self.gone)
            or known != self.members
            or (self.past.waiting, self.past.held) != (self.waiting, self.held)
            or self.past.settings != self.options.settings
            or any(one.changes or self._asks_otherwise(one) for one in self.subjects)
        )

    def _asks_otherwise(self, decided: Decided) -> bool:
        """Whether a request is shown in another form than before, as far as it was recorded."""
        before = {"protected": False, **self.past.shown.get(decided.name, {})}
        now = {**decided.subject.shown(), "protected": decided.subject.protected}
        return any(key in before and before[key] != value for key, value in now.items() if value is not None)

    @property
    def sent_to(self) -> tuple[str, ...]:
        """The members that the update sends something, or that it gives up."""
        return sent_to(self.subjects, self.members)

    @property
    def members_gone(self) -> tuple[str, ...]:
        """The members that were declared and are no more."""
        return tuple(sorted(self.past.members.keys() - self.members.keys()))

    @cached_property
    def standing(self) -> Mapping[Pair, Standing]:
        """What stands, by member and object."""
        return {(one.cluster, one.key): one for one in self.past.standing}

    @cached_property
    def replaced(self) -> Mapping[Pair, Replacement]:
        """The objects that are deleted and made anew, by member and object."""
        return {(one.cluster, one.key): one for one in self.replacements}

    @cached_property
    def taken_over(self) -> Mapping[Pair, str]:
        """The URNs of what the stack has managed itself and the fleet brings from now on, by member and object."""
        return {
            (member, key): urn
            for member, patterns in self.options.takes_over.items()
            for urn, key in self.past.others.items()
            if any(fnmatchcase(Urn.parse(urn).name, pattern) for pattern in patterns)
        }

    @property
    def hidden(self) -> tuple[Problem, ...]:
        """What has to leave an old revision where it is without knowing what is in it."""
        return tuple(_lacking(one, revision) for one in self.subjects for revision in one.record.hidden()[:1])

    def emitted(self, decided: Decided, member: str) -> Iterator[dict[str, Any]]:
        """The objects that a member gets, marked with what has brought them."""
        for data in decided.deliveries[member].objects:
            yield stamped(data, stack=self.options.stack, placement=decided.name, manager=self.manager)

    def keeps(self, decided: Decided, member: str) -> str:
        """Which of the objects outlive their placement on a member: all, the cluster-scoped ones, or none if empty."""
        if decided.deliveries[member].keeps:
            return ALL
        return CLUSTER_SCOPED if self.options.settings.keep_cluster_resources else ""

    def forgotten(self, member: str) -> tuple[str, ...]:
        """What is to be remembered of a lost member: what the fleet had brought there, but for what is kept anyway."""
        if self.members.get(member) != LOST:
            return ()
        known = self.past.members.get(member)
        stood = (one for one in self.past.standing if one.cluster == member and not one.kept)
        return tuple(sorted({*(known.forgotten if known else ()), *(one.written for one in stood)}))

    def swept(self, member: str) -> tuple[Departure, ...]:
        """What may live on a member, is not wanted there any more, and is in no state, so that no engine deletes it."""
        return tuple(one for one in self.departures if one.fate in UNRECORDED and one.cluster == member)


def sent_to(subjects: Iterable[Decided], members: Mapping[str, str]) -> tuple[str, ...]:
    """The members for which anything is decided, and those that are lost."""
    placed = {cluster for one in subjects for cluster in one.record.decisions}
    return tuple(name for name, state in members.items() if name in placed or state == LOST)


def _lacking(decided: Decided, revision: int) -> Problem:
    what = f"revision {revision} stays on some members, and the state does not show its content"
    return Problem(what, subject=decided.name, hint=LACKS_HINT)
