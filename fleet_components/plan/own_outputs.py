"""Outputs of the resources in which a fleet keeps its data, and the fleet that they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import attrs

from fleet_components.content.header import check_header
from fleet_components.model.codec import MisfitError, below, checked, choice_of, decode
from fleet_components.model.labels import subdomain_errors
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.text import few
from fleet_components.plan import names
from fleet_components.plan.immutable import Held, damaged
from fleet_components.plan.names import Urn
from fleet_components.plan.options import Settings
from fleet_components.plan.record import Record
from fleet_components.rollout.rollout import Done
from fleet_components.systems.registry import SYSTEMS

LOST, DECLARED = "lost", "member"
"""Member states in the roster."""
CLUSTER_SCOPED, ALL = "cluster-scoped", "all"
"""Values of a binding's ``keeps``: which objects stay on the member when they leave the stack; none
if empty.
"""
MODES: Mapping[str, Any] = {"reports": False, "apply": {}}
"""Records of the way in which objects are written, each with what its absence stands for."""
SHOWN = ("policy", "strategy", "protected", "delivery", "keeps", *MODES)
"""Record of a request beside its decision."""
RECORDS: Mapping[str, type[Record[Any, Any]]] = {
    names.decision_type(system.COMPONENT): system.record for system in SYSTEMS.values()
}
"""Form of the record of a subject, by the type of its resource."""
_WRITTEN_PARTS = 4
_TEMPLATE = names.component_type(names.TEMPLATE_KIND)
_NOT_IN_URN = Message("not-what-urn-says", "is not what the URN says")


# Every binding names a member, and there are few of these.
@cache
def _no_member(name: str) -> str:
    return "is not the name of a member" if subdomain_errors(name) else ""


def _no_states(members: Mapping[str, str]) -> str:
    if any(map(_no_member, members)):
        return "has a key that is not the name of a member"
    strange = sorted(name for name, state in members.items() if state not in (DECLARED, LOST))
    return f"says of {few(strange)} neither {DECLARED} nor {LOST}" if strange else ""


def _no_subjects(subjects: Mapping[str, Done]) -> str:
    return "" if all(map(names.is_subject, subjects)) else "has a key that names no subject"


def _unwritten(texts: tuple[str, ...]) -> str:
    return (
        ""
        if all(map(_is_written, texts))
        else "has a text that is not apiVersion|Kind|namespace|name"
    )


def _is_written(text: str) -> bool:
    """Return whether a text is one of :attr:`Standing.written`, of an object that an API server
    takes.
    """
    if text.count("|") < _WRITTEN_PARTS - 1:
        return False
    version, kind, namespace, name = text.split("|", _WRITTEN_PARTS - 1)
    data = {"apiVersion": version, "kind": kind, "metadata": {"namespace": namespace, "name": name}}
    return not check_header(Manifest(data))


@attrs.frozen(kw_only=True)
class RosterOutputs:
    """Outputs of a fleet's roster.

    The roster is registered last, so it is missing after a first update that failed.
    """

    members: Mapping[str, str] = attrs.field(factory=dict, metadata=checked(_no_states))
    settings: Settings = Settings()
    waiting: Mapping[str, str] = attrs.field(factory=dict)
    held: Held = attrs.field(factory=dict, metadata=checked(damaged))
    manager: str = ""
    redacted: bool = False
    stays_on_leaving: bool = False
    hub: str = ""
    once: Mapping[str, str] = attrs.field(factory=dict)
    stacks: tuple[str, ...] = ()
    own_providers: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class MemberOutputs:
    """Outputs of a member's resource."""

    member: str = attrs.field(metadata=checked(_no_member))
    identifier: str = ""
    identity: str = ""
    uid: str = ""
    forgotten: tuple[str, ...] = attrs.field(default=(), metadata=checked(_unwritten))
    formerly: tuple[str, ...] = ()
    kept: tuple[str, ...] = attrs.field(default=(), metadata=checked(_unwritten))
    ran: Mapping[str, Done] = attrs.field(factory=dict, metadata=checked(_no_subjects))
    lost: bool = False
    own_provider: bool = False
    anew: str = ""


@attrs.frozen(kw_only=True)
class SubjectOutputs:
    """Fields that the records of all subjects have beside the decision."""

    key: str = attrs.field(
        metadata=checked(lambda name: "" if names.is_subject(name) else "names no subject")
    )
    protected: bool = False
    formerly: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class BindingOutputs:
    """Fields of a binding; :class:`Done` has the others."""

    subject: str = attrs.field(
        metadata=checked(lambda name: "" if names.is_subject(name) else "names no subject")
    )
    cluster: str = attrs.field(metadata=checked(_no_member))
    keeps: str = attrs.field(default="", metadata=choice_of("", ALL, CLUSTER_SCOPED))
    unsent: bool = False


Own = MemberOutputs | SubjectOutputs | BindingOutputs | None
"""Key that says to which fleet one of our own resources belongs; None for a roster, whose name is
the fleet's.
"""
OWN_OUTPUTS: Mapping[str, type[MemberOutputs | SubjectOutputs | BindingOutputs]] = {
    names.MEMBER: MemberOutputs,
    names.BINDING: BindingOutputs,
    names.PLACEMENT: SubjectOutputs,
    names.TEMPLATE: SubjectOutputs,
}


def fleet_in(urn: Urn, own: Own, outputs: Mapping[str, Any]) -> str:
    """Return the fleet in the URN of one of our own resources.

    Raises:
        MisfitError: the rest of the URN is of something else than the outputs.
    """
    fleet = _fleet_before(urn, own)
    recorded = outputs.get("fleet", fleet)  # the first versions did not record it
    if recorded != fleet:
        with below("fleet"):
            # Reports a wrong type first, which says more.
            decode(str, recorded)
            raise MisfitError(Problem(_NOT_IN_URN))
    # The key of a subject is that of its decision.
    if not isinstance(own, SubjectOutputs) and outputs.get("key", urn.name) != urn.name:
        raise MisfitError(Problem(_NOT_IN_URN, ("key",)))
    return fleet


def _fleet_before(urn: Urn, own: Own) -> str:
    match own:
        case None:
            return urn.name
        case MemberOutputs():
            return _before(urn.name, f"/{own.member}", "member")
        case BindingOutputs():
            above = _before(urn.name, f"@{own.cluster}", "cluster")
            return _before(above, f"/{_key_of(urn, own.subject, 'subject')}", "subject")
        case SubjectOutputs():
            return _before(urn.name, f"/{_key_of(urn, own.key, 'key')}", "key")


def _key_of(urn: Urn, subject: str, field: str) -> str:
    """Return the key of a subject, given as ``Kind/key``, whose kind is that of the component in a
    URN.
    """
    kind, _, key = subject.partition("/")
    # A binding has a type of its own, for both kinds of subjects.
    decides = names.TEMPLATE if kind == names.TEMPLATE_KIND else names.PLACEMENT
    if kind != kind_of(urn, key) or urn.type not in (decides, names.BINDING):
        raise MisfitError(Problem(_NOT_IN_URN, (field,)))
    return key


def _before(name: str, end: str, field: str) -> str:
    """Return a name without its end, which a field has."""
    # Something has to be left in front: the name of the fleet.
    if not name.endswith(end) or name == end:
        raise MisfitError(Problem(_NOT_IN_URN, (field,)))
    return name.removesuffix(end)


def kind_of(urn: Urn, key: str) -> str:
    """Return the kind of the subject that brought an object.

    The URN names the component; a placement's kind follows from whether its key has a namespace.
    """
    if _TEMPLATE in urn.types:
        return names.TEMPLATE_KIND
    return "ResourcePlacement" if "/" in key else "ClusterResourcePlacement"
