"""Objects that the state of a stack knows: those that a fleet has brought to members, and those of
others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from fleet_components.content.stamp import FOUND, FOUND_ANNOTATION
from fleet_components.model.manifest import ObjectKey, value_at
from fleet_components.model.problem import FieldPath
from fleet_components.plan import names
from fleet_components.plan.names import Urn
from fleet_components.plan.own_outputs import ALL, CLUSTER_SCOPED
from fleet_components.plan.recorded import Recorded


@attrs.frozen
class Standing:
    """An object that the fleet has brought to a member.

    Attributes:
        subject: the subject that brought it, as ``Kind/key``.
        cluster: the member.
        key: the object's key.
        api_version: the apiVersion in which it was sent.
        kept: True if it stays on the member when it leaves the stack.
        urn: its URN.
        found: True if it stood on the member before the fleet took it over.
        on: uid of the cluster that it was sent to, if the member's name has led to another one
            before; else empty.
        hub: True if a hub has brought it, according to its last forecast: it is in no state.
        outputs: returns the outputs of its resource; None where the content of its member says what
            it is, and where no state has it.
        gone: True if it was deleted to be replaced, and has not been created again.
        interrupted: what the last update did with it when it was killed, ``updating`` for example:
            what stands is not known. Empty if nothing.
        uid: its uid, if its name in the state does not tell the member: that follows from what else
            stands, and the member has to confirm it.
        unkept: paths of fields that its API server does not keep as they were sent.
        sent: the object as it was sent last, if it has such fields; else empty.
        object_uid: its uid on the cluster; empty if the state does not have it.
    """

    subject: str
    cluster: str
    key: ObjectKey
    api_version: str = ""
    kept: bool = False
    urn: str = ""
    found: bool = False
    on: str = ""
    hub: bool = False
    outputs: Callable[[], Mapping[str, Any]] | None = attrs.field(
        default=None, eq=False, repr=False
    )
    gone: bool = False
    interrupted: str = ""
    uid: str = ""
    unkept: tuple[FieldPath, ...] = attrs.field(default=(), eq=False, repr=False)
    sent: Mapping[str, Any] = attrs.field(factory=dict, eq=False, repr=False)
    object_uid: str = ""

    @cached_property
    def recorded(self) -> Recorded | None:
        """The object as its resource in the state has it; None where its content says what it is,
        and in a render.
        """
        return Recorded.of(self.outputs()) if self.outputs else None

    @property
    def written(self) -> str:
        """The object as one text, as member records keep it: ``apiVersion|Kind|namespace|name``."""
        return "|".join((self.api_version, self.key.kind, self.key.namespace, self.key.name))


StandingOn = Callable[[str], Sequence[Standing]]
"""Returns the objects of a subject that stand on a member."""


def nothing_on(_member: str) -> Sequence[Standing]:
    """Return the standing objects of a new subject: none."""
    return ()


def read_written(text: str) -> tuple[str, ObjectKey]:
    """Parse the text of :attr:`Standing.written` into apiVersion and key.

    Raises:
        ValueError: it has another form.
    """
    # Names of RBAC objects may have the sign themselves.
    version, kind, namespace, name = text.split("|", 3)
    return version, ObjectKey(version.rpartition("/")[0], kind, namespace, name)


@attrs.frozen
class Claim:
    """A Kubernetes object that the stack has under a URN that is not the fleet's.

    Attributes:
        urn: the URN.
        key: the object's key.
        fleet: the other fleet that has brought it; empty for a resource of the program's own.
        subject: the subject of that fleet, as ``Kind/key``.
        cluster: the member of that fleet.
        outputs: its outputs, as the state has them.
    """

    urn: str
    key: ObjectKey
    fleet: str = ""
    subject: str = ""
    cluster: str = ""
    outputs: Mapping[str, Any] = attrs.field(factory=dict, eq=False, repr=False)

    @property
    def uid(self) -> str:
        """Its uid on the cluster; empty if the state does not have it, as for objects that are
        rendered.
        """
        return uid_in(self.outputs)

    @property
    def patch(self) -> bool:
        """True if it sets some fields of an object that somebody else has made."""
        return Urn.parse(self.urn).type.endswith(names.PATCH)

    @property
    def name(self) -> str:
        """Its name in the program."""
        return Urn.parse(self.urn).name


def was_found(outputs: Mapping[str, Any]) -> bool:
    """Return whether an object stood on its member before a placement took it over."""
    return annotation_in(outputs, FOUND_ANNOTATION) == FOUND


def annotation_in(outputs: Mapping[str, Any], name: str) -> str:
    """Return an annotation of an object in the outputs of its resource; empty without one."""
    found = value_at(outputs, ("metadata", "annotations", name)) if outputs else None
    return found if isinstance(found, str) else ""


def outlives(key: ObjectKey, keeps: str, *, found: bool) -> bool:
    """Return whether an object stays on its member when it leaves the stack.

    Args:
        key: the object.
        keeps: which objects of its subject stay there.
        found: True if it stood there before, and what stood before is kept.
    """
    return found or keeps == ALL or (keeps == CLUSTER_SCOPED and not key.namespace)


def uid_in(outputs: Mapping[str, Any]) -> str:
    """Return the uid of an object in the outputs of its resource; empty without one."""
    return str(value_at(outputs, ("metadata", "uid")) or "")
