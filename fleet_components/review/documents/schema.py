"""The document of a plan, which all views show and ``-o json`` and ``-o yaml`` print.

Each class is one object of the document: its fields are the keys, in the order in which they are
written, and their types make the JSON Schema that ``fleet plan --schema`` prints.
``docs/plan-document.md`` says what the keys mean; they are stable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import attrs

from fleet_components.plan.departures import Fate
from fleet_components.plan.describe import Line
from fleet_components.plan.ways import Way
from fleet_components.review.documents.weight import Weight
from fleet_components.review.documents.wire import ABSENT, Absent, Choice, Schema, schema_of
from fleet_components.review.planning.resource import CHANGES, SAME
from fleet_components.review.planning.standing import CONDITIONS
from fleet_components.rollout.rollout import Change, Opens
from fleet_components.status.facts import EvictionDocument, PolicyDocument, UpdateRunDocument

VERSION: Literal[3] = 3
WORDS = {
    Change.ADD: "joins",
    Change.UPDATE: "updated",
    Change.REMOVE: "leaves",
    Change.HELD: "held",
    Change.KEEP: "stays",
}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_OBJECT_CHANGES = tuple(change for change in CHANGES if change != SAME)


@attrs.frozen
class OldAndNew:
    """A number before and after an update; None where there is none."""

    old: int | None
    new: int | None


@attrs.frozen
class FieldDocument:
    """A field that differs, with its values."""

    field: str
    old: Any
    new: Any


@attrs.frozen
class NameAndReason:
    """A name with a reason."""

    name: str
    why: str


@attrs.frozen
class DepartureDocument:
    """An object that leaves the subject that brought it to a member."""

    DEFINITION: ClassVar = "departure"
    subject: str | None
    member: str
    object: str
    fate: Annotated[str, Choice(tuple(Fate))]
    to: str | None


@attrs.frozen
class WaitDocument:
    """A wait, and the time at which it is over; None if that is not known."""

    why: str
    until: str | None


@attrs.frozen
class HeldMembers:
    """Members that are held for the same reason."""

    members: Sequence[str]
    why: str


@attrs.frozen
class RemainderDocument:
    """Part of a rollout that an update leaves to later ones."""

    DEFINITION: ClassVar = "remaining"
    updates: int
    endless: bool
    approvals: Sequence[str]
    waits: Sequence[WaitDocument]
    held: Sequence[HeldMembers]
    words: str | None


@attrs.frozen(kw_only=True)
class ContentDocument:
    """Change of an object on some members."""

    DEFINITION: ClassVar = "content"
    object: str
    change: Annotated[str, Choice(_OBJECT_CHANGES)]
    members: Sequence[str] = ()
    later: bool
    # Set for what is deleted alone; the object may be kept on the member all the same.
    fate: str | None = None
    taken_up: bool = False
    fields: Sequence[FieldDocument] = ()
    # The fields for which the object is recreated.
    immutable: Sequence[str] = ()
    envelope: str | None = None
    diff: str = ""
    unknown: bool = False


@attrs.frozen
class RuleDocument:
    """A rule of an override, with the place where it is written."""

    DEFINITION: ClassVar = "rule"
    override: str
    rule: int
    source: str | None


@attrs.frozen
class FieldAndRule:
    """A field that an override changes on a member."""

    field: str
    old: Any
    new: Any
    by: RuleDocument


@attrs.frozen
class OverriddenObject:
    """An object that overrides change on a member, or the rule that deletes it."""

    object: str
    deleted: RuleDocument | None
    fields: Sequence[FieldAndRule]


@attrs.frozen
class OverriddenMembers:
    """Members on which overrides change the same; no objects if the state hides them."""

    DEFINITION: ClassVar = "overridden"
    members: Sequence[str]
    # Those of the members that join or are updated: on the others nothing changes.
    moving: Sequence[str]
    objects: Sequence[OverriddenObject] | None


@attrs.frozen
class ScoresDocument:
    """The scores of a member that KubeFleet ranks by."""

    affinity: int
    topology_spread: int


@attrs.frozen(kw_only=True)
class MemberDocument:
    """Change of a member of a placement or template: a row of the table of members."""

    DEFINITION: ClassVar = "member"
    name: str
    change: Annotated[str, Choice(tuple(WORDS.values()))]
    wave: int | None
    rank: int | None
    revision: OldAndNew
    replicas: OldAndNew
    scores: ScoresDocument | None
    why: str
    opens: Annotated[str, Choice(tuple(Opens))] | None
    unapplied: str | None


@attrs.frozen
class NotPickedDocument:
    """Members that a subject does not concern: their number, and some of them."""

    count: int
    shown: Sequence[NameAndReason]


@attrs.frozen
class SkippedDocument:
    """An object that is selected and never placed."""

    object: str
    why: str


@attrs.frozen(kw_only=True)
class SubjectDocument:
    """Change of a placement or template, with the reasons."""

    DEFINITION: ClassVar = "subject"
    fleet: str
    of_fleet: str | None
    name: str
    kind: Annotated[str, Choice(("ClusterResourcePlacement", "ResourcePlacement", "Template"))]
    key: str
    weight: Annotated[str, Choice(tuple(Weight))]
    as_before: Sequence[Annotated[str, Choice(CONDITIONS)]]
    source: str | None
    policy: str
    policies: Sequence[PolicyDocument]
    other_policies: int
    plugins: Sequence[str]
    decided_by: str | None
    delivery: Annotated[str, Choice(tuple(Way))]
    revision: OldAndNew
    objects: int
    content: Sequence[ContentDocument] | None
    uncompared: str | None
    overridden: Sequence[OverriddenMembers]
    departures: Sequence[DepartureDocument]
    clusters: Sequence[MemberDocument]
    staying: Sequence[str]
    not_picked: NotPickedDocument
    rollout: Sequence[str]
    division: Sequence[str]
    unfulfilled: Sequence[str]
    hints: Sequence[str]
    due: Sequence[NameAndReason]
    left: str | None
    remaining: RemainderDocument
    update_run: UpdateRunDocument | None
    evictions: Sequence[EvictionDocument]
    notes: Sequence[str]
    warnings: Sequence[str]
    skipped: Sequence[SkippedDocument]
    required_by: Mapping[str, Any]
    status: Mapping[str, Any]
    recorded: Sequence[FieldDocument]
    unsure: str | None = None
    pending: bool = False


@attrs.frozen(kw_only=True)
class ResourceDocument:
    """A resource of a program, with its change; None if there is no state to compare with."""

    DEFINITION: ClassVar = "resource"
    urn: str
    type: str
    name: str
    change: Annotated[str, Choice(CHANGES)] | None
    differences: Sequence[Mapping[str, Any]]
    uncompared: Sequence[str]
    parent: str | None
    provider: str | None
    dependencies: Sequence[str]
    options: Mapping[str, Any]
    inputs: Mapping[str, Any]


@attrs.frozen
class ViewDocument:
    """Selection of what is shown of a plan."""

    all: bool
    only: Sequence[str]
    member: str | None

    @property
    def narrow(self) -> bool:
        """True if only a part of what changes is shown."""
        return bool(self.only or self.member)


@attrs.frozen
class FilesDocument:
    """Files that were planned."""

    paths: Sequence[str]
    stack: str


@attrs.frozen
class ProjectDocument:
    """A program that was planned."""

    project: str
    stack: str
    directory: str


@attrs.frozen
class SilentMember:
    """A member that has not answered an observation."""

    member: str
    why: str
    since: str | None


@attrs.frozen
class UnansweredDocument:
    """A list that a hub has not answered, with the subjects that may have something of it."""

    api_version: str
    kind: str
    namespace: str | None
    why: str
    since: str | None
    asked: bool
    subjects: Sequence[str]


@attrs.frozen
class HubOnlyDocument:
    """A file of a policy that the hub alone carries out."""

    kind: str
    file: str
    change: Annotated[str, Choice(("new", "edited", "removed"))]


@attrs.frozen
class ObservedDocument:
    """Observation that a plan starts from, as far as the plan depends on it."""

    system: Annotated[str, Choice((Way.KUBEFLEET, Way.KARMADA))]
    hub: bool
    as_of: str
    silent: Sequence[SilentMember]
    unanswered: Sequence[UnansweredDocument]
    unknown: Sequence[str]
    hub_only: Sequence[HubOnlyDocument]
    unseen: Sequence[str]


@attrs.frozen
class UnfulfilledDocument:
    """A placement or template that is not fulfilled."""

    subject: str
    why: str


@attrs.frozen
class AsBeforeDocument:
    """Subjects that are in a condition already, and warnings that are given already."""

    unfulfilled: Sequence[str]
    held: Sequence[str]
    left: str | None
    warnings: Sequence[str]


@attrs.frozen
class RefusalDocument:
    """A reason for which an update is refused."""

    of_fleet: str | None
    subject: str | None
    what: str
    hint: str | None
    token: str | None
    field: str | None
    file: str | None
    line: int | None


@attrs.frozen
class GoneDocument:
    """Subjects, members and objects that go."""

    subjects: Sequence[str]
    of_fleets: Sequence[str | None]
    members: Sequence[str]
    objects: Sequence[DepartureDocument]
    summary: Sequence[Line]


@attrs.frozen
class ReplacedDocument:
    """An object that is recreated, because of some fields."""

    subject: str
    member: str
    object: str
    fields: Sequence[str]


@attrs.frozen
class UnchangedDocument:
    """Number of placements, templates and members that an update does not touch."""

    placements: int
    templates: int
    members: int


@attrs.frozen
class MessageDocument:
    """A message that a program has logged."""

    level: str
    text: str


@attrs.frozen
class ResourceTotals:
    """The number of resources with each change."""

    create: int
    update: int
    replace: int
    delete: int
    same: int


@attrs.frozen
class TotalsDocument:
    """The number of members with each change, and that of a program's resources."""

    joins: int
    updated: int
    leaves: int
    held: int
    stays: int
    # ABSENT without a program; None if its update is refused or there is no state to compare with.
    resources: ResourceTotals | Absent | None = ABSENT


@attrs.frozen(kw_only=True)
class PlanDocument:
    """A plan; of a program with several fleets, the plans of all of them."""

    version: Literal[3] = 3
    disregarded: Sequence[str]
    headline: tuple[str, str, str] = ("", "", "")
    view: ViewDocument
    fleet: FilesDocument | ProjectDocument
    state: str | None
    against: str | None
    observed: ObservedDocument | None
    forecast: int
    as_of: str | None
    members: int
    placements: int
    templates: int
    warned: int
    unsure: int
    secrets_hidden: bool
    changes: bool
    unfulfilled: Sequence[UnfulfilledDocument]
    as_before: AsBeforeDocument
    refused: Sequence[RefusalDocument]
    joining: Sequence[str]
    gone: GoneDocument
    replaced: Sequence[ReplacedDocument]
    remaining: RemainderDocument
    subjects: Sequence[SubjectDocument]
    unchanged: UnchangedDocument
    left_out: int
    warnings: Sequence[str]
    resources: Sequence[ResourceDocument] | Absent | None = ABSENT
    messages: Sequence[MessageDocument] | Absent = ABSENT
    totals: TotalsDocument

    @property
    def shown_resources(self) -> Sequence[ResourceDocument]:
        """The resources; empty without a program, and if its update is refused."""
        return () if isinstance(self.resources, Absent) else self.resources or ()

    @property
    def logged(self) -> Sequence[MessageDocument]:
        """The messages of the program; empty without one."""
        return () if isinstance(self.messages, Absent) else self.messages


def plan_schema() -> Schema:
    """Return the JSON Schema of the document of a plan."""
    about = (
        "What fleet plan, fleet review and fleet simulate print with -o json; docs/plan-document.md"
        " tells the rest."
    )
    schema, definitions = schema_of(PlanDocument)
    return {
        "$schema": _DIALECT,
        "title": "The plan of a fleet",
        "description": about,
        **schema,
        "$defs": definitions,
    }
