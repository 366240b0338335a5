"""The resources that keep the past of a fleet in a state, made by any of them: a render, a saved
plan, a hub.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from fleet_components.content.secret import redacted_content
from fleet_components.content.stamp import FOUND, FOUND_ANNOTATION, annotated
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.plan import names
from fleet_components.plan.record import FORMAT, Record, particulars
from fleet_components.plan.state import StoredResource
from fleet_components.rollout.rollout import Done

# Read-only, because it is the default of an argument, which all calls share.
_UNKNOWN: Mapping[str, Any] = MappingProxyType(
    {"identifier": "", "identity": "", "uid": "", "forgotten": []}
)


@attrs.frozen
class Keeper:
    """Maker of the resources of one fleet in a stack, with the names and types that the providers
    give them.

    Attributes:
        stack: the stack, as ``organization/project/stack``, or its name.
        fleet: the fleet.
    """

    stack: str
    fleet: str

    def roster(self, outputs: Mapping[str, Any]) -> StoredResource:
        """Return the roster of the fleet."""
        own = {"key": self.fleet, "format": FORMAT, "fleet": self.fleet}
        return self._stored((names.FLEET, names.ROSTER), self.fleet, {**own, **outputs})

    def member(self, member: str, outputs: Mapping[str, Any] = _UNKNOWN) -> StoredResource:
        """Return the resource of a member; nothing is known of it by default."""
        name = names.member_name(self.fleet, member)
        own = {"key": name, "format": FORMAT, "fleet": self.fleet, "member": member}
        return self._stored((names.FLEET, names.MEMBER), name, {**own, **outputs})

    def decision(
        self,
        component: str,
        subject: str,
        record: Record[Any, Any],
        shown: Mapping[str, Any],
        *,
        redacted: bool,
    ) -> StoredResource:
        """Return the decision of a subject.

        Args:
            component: the type of its component: ``Placement`` or ``Template``.
            subject: the subject, as ``Kind/key``.
            record: the decision, and what the next one depends on.
            shown: what else is kept of it.
            redacted: True to replace the data of Secrets in contents; digests still show changes.
        """
        kept = (_without_secrets(record) if redacted else record).to_wire()
        return self.decided(component, subject, {**kept, **shown})

    def decided(self, component: str, subject: str, kept: Mapping[str, Any]) -> StoredResource:
        """Return the decision of a subject, from a record in wire form and what else is kept of
        it.
        """
        types = (names.FLEET, names.component_type(component), names.decision_type(component))
        name = names.subject_name(self.fleet, _key(subject))
        return self._stored(types, name, {"key": subject, "fleet": self.fleet, **kept})

    def binding(
        self, component: str, subject: str, cluster: str, done: Done, *, keeps: str = ""
    ) -> StoredResource:
        """Return the binding of a subject to a member.

        Args:
            component: the type of the subject's component.
            subject: the subject, as ``Kind/key``.
            cluster: the member.
            done: what runs there.
            keeps: which objects stay on the member when they leave the stack.
        """
        since = {"since": done.since.isoformat()} if done.since else {}
        runs = {"revision": done.revision, "keeps": keeps, **since, **particulars(done)}
        states = {state: True for state in ("broken", "awaited") if getattr(done, state)}
        trouble = {"trouble": done.trouble} if done.trouble else {}
        return self.bound(component, subject, cluster, {**runs, **states, **trouble})

    def bound(
        self, component: str, subject: str, cluster: str, runs: Mapping[str, Any]
    ) -> StoredResource:
        """Return the binding of a subject to a member, from what runs there in wire form."""
        target = names.target_name(self.fleet, _key(subject), cluster)
        own = {
            "key": target,
            "format": FORMAT,
            "fleet": self.fleet,
            "subject": subject,
            "cluster": cluster,
        }
        types = (names.FLEET, names.component_type(component), names.TARGET, names.BINDING)
        return self._stored(types, target, {**own, **runs})

    def object(
        self,
        component: str,
        subject: str,
        cluster: str,
        data: Mapping[str, Any],
        *,
        found: bool = False,
    ) -> StoredResource:
        """Return an object on a member. The next plan reads only where it stands, and whether it
        was found there.

        Args:
            component: the type of the subject's component.
            subject: the subject that has brought it.
            cluster: the member.
            data: the object; its apiVersion, kind, namespace and name count.
            found: whether it stood there before.
        """
        outputs = annotated({}, {FOUND_ANNOTATION: FOUND}) if found else {}
        return self.stands(
            component, subject, cluster, names.type_token(data), Manifest(data).key, outputs
        )

    def stands(
        self,
        component: str,
        subject: str,
        cluster: str,
        token: str,
        key: ObjectKey,
        outputs: Mapping[str, Any] = MappingProxyType({}),
    ) -> StoredResource:
        """Return an object on a member, by its type token and its key."""
        place = (names.FLEET, names.component_type(component), names.TARGET, token)
        name = f"{names.target_name(self.fleet, _key(subject), cluster)}/{names.short_name(key)}"
        return self._stored(place, name, outputs)

    def _stored(
        self, types: tuple[str, ...], name: str, outputs: Mapping[str, Any]
    ) -> StoredResource:
        # organization/project/stack, of which a URN has the last two.
        above, _, stack = self.stack.rpartition("/")
        urn = f"urn:pulumi:{stack}::{above.rpartition('/')[2]}::{'$'.join(types)}::{name}"
        return StoredResource(urn, types[-1], {}, outputs)


def _without_secrets(record: Record[Any, Any]) -> Record[Any, Any]:
    """Return the record with ``[secret]`` in place of the data of Secrets."""
    contents = {
        revision: redacted_content(objects) for revision, objects in record.contents.items()
    }
    # rules() marks values that reach a Secret elsewhere, which are hidden too.
    overrides = {number: redacted_content(record.rules(number)) for number in record.overrides}
    return attrs.evolve(record, contents=contents, overrides=overrides)


def _key(subject: str) -> str:
    # Only the kind is cut off: a key may have a slash of its own, after its namespace.
    return subject.partition("/")[2]
