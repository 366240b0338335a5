"""Copies of a template on the members: what runs there, and the record of it that the planner
keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import attrs

from fleet_components.content.secret import is_secret, redacted
from fleet_components.hub.listing import Object
from fleet_components.hub.observation import ObservedSubject
from fleet_components.model.manifest import Manifest, ObjectKey, value_at
from fleet_components.model.text import visible
from fleet_components.plan.overriding import InForce, in_force
from fleet_components.plan.own_outputs import ALL
from fleet_components.plan.record import Objects, digest, particulars
from fleet_components.rollout.rollout import Done
from fleet_components.systems.karmada.content.prune import pruned
from fleet_components.systems.karmada.hub.binding import as_written
from fleet_components.systems.karmada.hub.template import BoundTemplate
from fleet_components.systems.karmada.model.policy import DIRECTLY, Suspension
from fleet_components.systems.karmada.plan.content import (
    CONFLICT_RESOLUTION,
    Share,
    content_of,
    shape_in,
    shared,
)
from fleet_components.systems.karmada.plan.dispatch import Dispatch
from fleet_components.systems.karmada.plan.overrides import PolicyOverrides
from fleet_components.systems.karmada.plan.place import shares_of
from fleet_components.systems.karmada.plan.record import TemplateRecord

_MOST_NAMED = 400
"""The most characters to keep of the reason why a member did not apply what it was sent."""


@attrs.frozen(slots=False)
class Copies:
    """The copies of a bound template.

    Attributes:
        bound: the template.
        works: the manifests of its Works by member, as far as they were asked for.
    """

    bound: BoundTemplate
    works: Mapping[str, Object] = attrs.field(factory=dict, repr=False)

    @property
    def observed(self) -> ObservedSubject:
        """The template as it was observed."""
        return ObservedSubject(
            name=self.bound.subject.name,
            record=self.record,
            done=self.done,
            stands={member: self._standing(member) for member in self.done if self._stands(member)},
            protected=self.bound.subject.protected,
            keeps=ALL if self.bound.subject.needs.preserves(self.bound.state) else "",
        )

    @property
    def unlike(self) -> bool:
        """True if members may run another content than the template as it is now, which only Works
        show.
        """
        return not self.bound.fresh or any(
            member in self.bound.binding.reported for member in self.in_force.failing
        )

    @cached_property
    def dispatch(self) -> Dispatch:
        """The delivery of the template, with what runs."""
        return Dispatch(self.bound.state, self.done, self.bound.subject.inventory.names)

    @cached_property
    def content(self) -> Objects:
        """The content that the members are to have: the template, or the Works where no policy
        follows it.
        """
        manifest, divided = self.bound.subject.manifest, self._divided
        whole = content_of(manifest, self.bound.subject.settings.workloads, divided=divided)
        if self.bound.fresh or not self.works:
            return whole
        kept = [self._kept(member) for member in sorted(self.works)]
        # The first Work stands for all. It has no description of the custom kind, which the rest of
        # the content is.
        return whole if not kept or self._made_alike(whole) else (kept[0][0], *whole[1:])

    @cached_property
    def older(self) -> Mapping[int, Objects]:
        """Contents that members run beside the current one, by revision."""
        found: list[Objects] = []
        for member in sorted(self.in_force.failing):
            if member in self.works and (kept := self._kept(member)) not in (*found, self.content):
                found.append(kept)
        # Revision 0 is left for the content that is not known, if a member runs such a content.
        return dict(enumerate(found, start=self._unknown))

    @property
    def revision(self) -> int:
        """The revision of the content that the members are to have."""
        return self._unknown + len(self.older)

    @cached_property
    def shares(self) -> Mapping[str, Share]:
        """The share of each target."""
        numbers = self.in_force.numbers
        if not numbers and not self.revision:
            return self._asked
        return {
            name: attrs.evolve(entry, revision=self.revision, overrides=numbers.get(name))
            for name, entry in self._asked.items()
        }

    @cached_property
    def in_force(self) -> InForce:
        """The override rules that are in force on the targets."""
        inventory, wanted = self.bound.subject.inventory, {}
        made: dict[Share, Objects] = {}
        for name, share in self._asked.items():
            # Members with an equal share get the same object, so it is made once.
            if share not in made:
                made[share] = (shared(self.content, share),)
            wanted[name] = (
                # `shares_of` leaves out who is not a member, so the position is never None.
                inventory.clusters[inventory.position(name) or 0],
                share.revision,
                made[share],
            )
        return in_force(self._overrides, TemplateRecord(), wanted, {})

    @property
    def _overrides(self) -> PolicyOverrides:
        subject, claim = self.bound.subject, self.bound.state.claim.policy
        return PolicyOverrides(
            subject.policies.override_index, subject.custom, (claim.kind,) if claim else ()
        )

    @cached_property
    def done(self) -> Mapping[str, Done]:
        """The content that runs, by member.

        What a member was sent and did not take counts as sent and broken: the control plane does
        nothing else there until something changes.
        """
        found = {
            name: done for name, share in self.shares.items() if (done := self._done(name, share))
        }
        counted = (
            any(share.replicas is not None for share in self.shares.values())
            or self.bound.template.workload
        )
        for name, task in self.bound.state.schedule.evictions.items():
            if name in self.bound.binding.reported and name not in found:
                # A copy that an eviction task still keeps runs, although the member has no share
                # any more.
                found[name] = Done(
                    self.revision, replicas=(task.replicas or 0) if counted else None
                )
        return dict(sorted(found.items()))

    @cached_property
    def record(self) -> TemplateRecord:
        """The record of the template."""
        reasons = self.in_force.reasons
        rollout = self.dispatch.plan(self.shares, {}, {}, reasons)
        placed = {name: entry for name, entry in rollout.placed.items() if isinstance(entry, Share)}
        used = {entry.revision for entry in placed.values()} | {
            entry.revision for entry in self.done.values()
        }
        contents = {
            **{number: entry for number, entry in self.older.items() if number in used},
            self.revision: self.content,
        }
        rules = self.in_force.rules
        return TemplateRecord(
            self.revision,
            placed,
            self.bound.state,
            contents,
            {number: digest(objects) for number, objects in contents.items()},
            rules,
            {number: digest(objects) for number, objects in rules.items()},
        )

    @property
    def leftovers(self) -> tuple[str, ...]:
        """Members that are being emptied: they still report a copy and are no targets."""
        return tuple(
            sorted(
                self.bound.binding.reported.keys()
                - self.done.keys()
                - set(self.bound.state.targets)
            )
        )

    @property
    def untold(self) -> tuple[str, ...]:
        """Members whose copy is of an unknown content: dispatching was suspended before the
        object changed.
        """
        return tuple(
            name for name, done in self.done.items() if done.revision not in self.record.contents
        )

    @cached_property
    def _asked(self) -> Mapping[str, Share]:
        """The share of each target, before overrides, under the first revision."""
        bound = self.bound
        return shares_of(bound.subject, bound.state, bound.template, self.content, 0)

    def _done(self, name: str, share: Share) -> Done | None:
        item = self.bound.binding.reported.get(name)
        runs = item is not None and bool(item.get("applied") or item.get("status"))
        applied = bool(item and item.get("applied"))
        trouble = "" if applied else self._trouble(item or {})
        here = Done(share.revision, broken=not applied, trouble=trouble, **particulars(share))
        # The Work of a failing override stays as it was, so the share of now does not run there.
        if name in self.in_force.failing:
            return self._before_failure(name) if item else None
        if self._suspends(name):
            behind = (
                attrs.evolve(here, revision=0, overrides=None) if self._is_behind(name) else here
            )
            return attrs.evolve(behind, broken=False, trouble="") if runs else None
        # With purge mode Directly, nothing new is sent before the old copy is gone.
        return None if item is None and self._purges_first else here

    def _trouble(self, item: Mapping[str, Any]) -> str:
        """Return why a member did not apply what it was sent; empty for a Secret, since the message
        may quote its values.
        """
        secret = is_secret(self.bound.subject.manifest.data)
        return (
            ""
            if secret
            else visible(" ".join(str(item.get("appliedMessage") or "").split())[:_MOST_NAMED])
        )

    def _before_failure(self, name: str) -> Done | None:
        """Return what runs where an override fails: what the Work had before."""
        if name not in self.works:
            return None
        kept, shape = self._kept(name), shape_in(self.content)
        number = next(
            (number for number, entry in self.older.items() if entry == kept), self.revision
        )
        counted = self._asked[name].replicas is not None and shape is not None and shape.replicas
        return Done(number, replicas=value_at(self.works[name], counted) if counted else None)

    def _suspends(self, name: str) -> bool:
        return self._suspension.suspends(name)

    @cached_property
    def _suspension(self) -> Suspension:
        return Dispatch(self.bound.state, {}, ()).suspension

    @cached_property
    def _unknown(self) -> int:
        """1 if a member runs a revision whose content is not known, else 0."""
        return int(any(map(self._is_behind, self._asked)))

    def _is_behind(self, name: str) -> bool:
        """Return whether a member to which dispatching is suspended runs an older generation of
        the object.
        """
        if not self._suspends(name):
            return False
        runs = value_at(
            self.bound.binding.reported.get(name) or {}, ("status", "resourceTemplateGeneration")
        )
        now = self.bound.original.get("metadata", {}).get("generation")
        return None not in (runs, now) and runs != now

    @property
    def _purges_first(self) -> bool:
        tasks, reported = self.bound.state.schedule.evictions, self.bound.binding.reported
        return any(task.purge_mode == DIRECTLY and name in reported for name, task in tasks.items())

    @property
    def _divided(self) -> bool:
        bound = self.bound.state.claim.bound
        return bound is not None and bound.placement.divided

    def _kept(self, member: str) -> Objects:
        """Return the content that a Work has."""
        data = self._cleaned(self.works[member])
        return content_of(
            Manifest(data), self.bound.subject.settings.workloads, divided=self._divided
        )

    def _cleaned(self, data: Object) -> dict[str, Any]:
        """Return the manifest of a Work without what Karmada has added, and without what is
        secret.
        """
        cleaned = dict(redacted(as_written(data)))
        asked = (self.bound.subject.manifest.metadata.get("annotations") or {}).get(
            CONFLICT_RESOLUTION
        )
        marks = dict(cleaned["metadata"].get("annotations") or {})
        # Karmada sets the annotation from the policy: it is the user's only if the template has it.
        if asked is None and marks.pop(CONFLICT_RESOLUTION, None) is not None:
            metadata = {**cleaned["metadata"], "annotations": marks}
            cleaned["metadata"] = {key: value for key, value in metadata.items() if value}
        return cleaned

    def _made_alike(self, content: Objects) -> bool:
        """Return whether all Works are what the template makes as it is now."""
        bound, inventory = self.bound, self.bound.subject.inventory
        overrides = self._overrides
        for name, share in shares_of(
            bound.subject, bound.state, bound.template, content, 0
        ).items():
            if name in self.works:
                # See `in_force`: the position is never None.
                member = inventory.clusters[inventory.position(name) or 0]
                objects: Objects = (shared(content, share),)
                (result,) = overrides.apply(objects, overrides.in_force(objects, member), member)
                if result.data is None or pruned(result.data) != self._cleaned(self.works[name]):
                    return False
        return True

    def _stands(self, member: str) -> bool:
        item = self.bound.binding.reported.get(member)
        return item is not None and bool(item.get("applied") or item.get("status"))

    def _standing(self, member: str) -> tuple[tuple[str, ObjectKey], ...]:
        inventory, done = self.bound.subject.inventory, self.done[member]
        position = inventory.position(member)
        objects: Objects = ()
        if position is not None:
            objects = self.record.objects(Share.of(done), inventory.clusters[position])
        objects = objects or (self.bound.subject.manifest.data,)
        # Members with equal decisions share their objects, which the record keeps alive.
        if id(objects[0]) not in self._keys:
            self._keys[id(objects[0])] = tuple(
                (str(data["apiVersion"]), Manifest(data).key) for data in objects
            )
        return self._keys[id(objects[0])]

    @cached_property
    def _keys(self) -> dict[int, tuple[tuple[str, ObjectKey], ...]]:
        return {}
