"""A placement or template as rules see it: where it is once the update has been carried out."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from fleet_components.content.secret import redacted
from fleet_components.model.manifest import Manifest, replicas_of
from fleet_components.model.text import few, visible
from fleet_components.plan.subject import Decided, SubjectPolicy
from fleet_components.rollout.rollout import Change
from fleet_components.scheduler.explain import MemberExplanation
from fleet_components.testing.planned_member import By, Members, Values, met_by, parsed

if TYPE_CHECKING:
    from fleet_components.testing.planned_fleet import PlannedFleet

# A test that fails shows the line of the test, not the frames of this module.
__tracebackhide__ = True


# ``cached_property`` needs a ``__dict__``, which slots would take away.
@attrs.frozen(eq=False, repr=False, slots=False)
class PlannedPlacement:
    """A KubeFleet placement, or a template that Karmada's policies place.

    Attributes:
        fleet: the fleet that it belongs to.
    """

    fleet: PlannedFleet
    _decided: Decided

    @property
    def key(self) -> str:
        """``name`` or ``namespace/name`` of a placement, ``namespace/Kind/name`` of a template."""
        return self._decided.subject.key

    @property
    def name(self) -> str:
        """``Kind/key``, as every command shows it."""
        return self._decided.name

    @property
    def kind(self) -> str:
        """``ClusterResourcePlacement``, ``ResourcePlacement`` or ``Template``."""
        return self._decided.subject.kind

    @property
    def policy(self) -> str:
        """Name of the policy that places it: its own for a placement; empty for a template that
        none has claimed.
        """
        return self._policy.name

    @property
    def origin(self) -> str:
        """``file:line`` of its policy; that of the object for a template without one."""
        return self._policy.origin

    @property
    def labels(self) -> Values:
        """Labels of its policy, not those of its objects."""
        return self._policy.labels

    @property
    def placement_type(self) -> str:
        """``PickAll``, ``PickFixed`` or ``PickN``; empty for a template."""
        return self._policy.placement_type

    @property
    def spread_over(self) -> tuple[str, ...]:
        """Labels or fields that its policy spreads it over: ``region`` for example."""
        return self._policy.spread_over

    @property
    def members(self) -> Members:
        """Members that have it after the update, held ones with what they keep."""
        return self._named(self._decided.record.decisions)

    @property
    def picked(self) -> Members:
        """Members that have it once no rollout holds anything back any more: those that its policy
        picks now.
        """
        left = self._decided.outcome.left_later
        entries = self._decided.entries.items()
        return self._named(
            name
            for name, entry in entries
            if entry.change is not Change.REMOVE and name not in left
        )

    @property
    def joins(self) -> Members:
        """Members that get it with this update."""
        return self._that(Change.ADD)

    @property
    def leaves(self) -> Members:
        """Members that lose it with this update."""
        return self._that(Change.REMOVE)

    @property
    def dropped(self) -> Members:
        """Members that have it and that its policy does not pick any more: it leaves them now or in
        a later update.
        """
        kept = {*self.picked, *self.joins}
        return self._named(name for name in self._decided.entries if name not in kept)

    @property
    def updated(self) -> Members:
        """Members that have it and get a new content."""
        return self._that(Change.UPDATE)

    @property
    def held(self) -> Mapping[str, str]:
        """Members that stay as they are although something should happen to them, each with the
        reason.
        """
        return {
            str(name): self._decided.outcome.rollout.held[name] for name in self._that(Change.HELD)
        }

    @property
    def regions(self) -> tuple[str, ...]:
        """Regions of the members that its policy picks, each once."""
        return tuple(sorted({member.region for member in self.picked} - {""}))

    @property
    def fulfilled(self) -> bool:
        """True if the policy is fulfilled."""
        return not self.unfulfilled

    @property
    def unfulfilled(self) -> str:
        """Reason why the policy is not fulfilled, in the words of the real system; empty if it
        is.
        """
        return str(self._decided.outcome.unfulfilled)

    @property
    def objects(self) -> tuple[dict[str, Any], ...]:
        """Objects that are wanted, before anything is changed for single members; Secrets read
        ``[secret]``.
        """
        return _shown(self._decided.subject.objects)

    @property
    def replicas(self) -> Mapping[str, int]:
        """Replicas by member: those of all workloads that it brings there, overrides and division
        included.
        """
        shapes = self._decided.subject.workload_shapes
        return {
            name: sum(
                replicas_of(Manifest(data), shapes)
                for data in self._decided.deliveries[name].written
            )
            for name in self.members
        }

    def objects_on(self, member: str, kind: str = "") -> tuple[dict[str, Any], ...]:
        """Return what a member gets, overrides and division of replicas included; Secrets read
        ``[secret]``.

        Args:
            member: name of the member; one that does not have it gets nothing.
            kind: kind of the objects; empty for all.

        Raises:
            FleetError: no member has this name.
        """
        # Only for its error, if there is no such member.
        if member not in self._decided.entries:
            self.fleet.member(member)
        delivery = self._decided.deliveries.get(str(member))
        return _shown(
            data
            # None for a member that does not have it.
            for data in (delivery.written if delivery else ())
            if kind in ("", data.get("kind"))
        )

    def why(self, member: str) -> str:
        """Return in one line why a member has it, or does not."""
        return self.reasons([member])[str(member)]

    def reasons(self, members: Iterable[str]) -> dict[str, str]:
        """Return in one line for each of the members why it has it, or does not."""
        names = list(map(str, members))
        explained = self._explained(names)
        return {
            name: self._decided.why(name, explained.get(name))
            if name in self._decided.entries
            else explained[name].summary
            if name in explained
            else ""
            for name in names
        }

    def allowed(self, members: Iterable[str]) -> Members:
        """Return those of the members that no filter of the scheduler speaks against, picked or
        not.
        """
        explained = self._explained(map(str, members)).values()
        return self._named(
            explanation.cluster
            for explanation in explained
            # None is the verdict of a score, which excludes nobody.
            if all(verdict.passed is not False for verdict in explanation.verdicts)
        )

    def spread(self, by: By = "region") -> dict[str, Members]:
        """Return the members that its policy picks by region, zone, provider, label or whatever a
        function says.

        Those of which that is unknown are under the empty text.
        """
        return self.fleet.grouped(self.picked, by)

    def has_label(self, selector: str) -> bool:
        """Return whether its policy or any of its objects has a label.

        Args:
            selector: as ``kubectl`` takes it: ``tier=0``, ``tier!=0``, ``tier in (0,1)``, ``tier``,
                ``!tier``, and several with commas between them. ``tier!=0`` asks that neither
                policy nor any object has ``tier=0``.

        Raises:
            FleetError: it is no selector.
        """
        return all(met_by(requirement, self.label_values) for requirement in parsed(selector))

    @cached_property
    def label_values(self) -> Mapping[str, frozenset[str]]:
        """Values of each label on its policy and its objects."""
        found = defaultdict[str, set[str]](set)
        for labels in (
            self.labels,
            *(Manifest(data).labels for data in self._decided.subject.objects),
        ):
            for key, value in labels.items():
                found[key].add(str(value))
        return {key: frozenset(values) for key, values in found.items()}

    @cached_property
    def _policy(self) -> SubjectPolicy:
        return self._decided.subject.policy_of(self._decided.record)

    def concerns(self, kind: str) -> bool:
        """Return whether it is of a kind, or any of its objects is; an empty kind is any."""
        return kind in ("", self.kind) or any(
            kind == item.get("kind") for item in self._decided.subject.objects
        )

    def _explained(self, members: Iterable[str]) -> dict[str, MemberExplanation]:
        explanation = self._decided.subject.explain(self._decided.outcome, set(members))
        return {member.cluster: member for member in explanation.members}

    def _that(self, change: Change) -> Members:
        return self._named(
            name for name, entry in self._decided.entries.items() if entry.change is change
        )

    def _named(self, names: Iterable[str]) -> Members:
        return tuple(self.fleet.known(name) for name in sorted(names))

    def __repr__(self) -> str:
        where = f" ({self.origin})" if self.origin else ""
        return visible(f"<{self.name}{where} on {few(self.members) or 'no member'}>")


def _shown(objects: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return objects for a test, which may do with them what it likes: the plan serves other tests
    too.
    """
    return tuple(copy.deepcopy(dict(redacted(item))) for item in objects)
