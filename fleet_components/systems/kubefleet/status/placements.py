"""Statuses of placements, in the form of KubeFleet's API.

Source: ``PlacementStatus`` and ``SchedulingPolicySnapshotStatus`` of
``placement.kubernetes-fleet.io/v1``, and the controllers of KubeFleet 0.3.1 that fill the one from
the other and from the bindings. Times and the generations of objects on the hub are left out: there
is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.model.decision import ClusterDecision, Condition, Status
from fleet_components.model.manifest import Manifest
from fleet_components.model.observed import ObservedMember
from fleet_components.plan.record import Objects, overridden
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Change, Placed
from fleet_components.rollout.situation import stopped_at
from fleet_components.systems.kubefleet.content.override import read_in_force
from fleet_components.systems.kubefleet.model.placement import PICK_FIXED, PICK_N
from fleet_components.systems.kubefleet.plan.overrides import PlacementOverrides
from fleet_components.systems.kubefleet.plan.place import PlacementOutcome
from fleet_components.systems.kubefleet.plan.record import PlacementRecord
from fleet_components.systems.kubefleet.plan.subject import PlacementSubject
from fleet_components.systems.kubefleet.rollout.strategy import External
from fleet_components.systems.kubefleet.status.conditions import (
    FALSE,
    NO_OVERRIDE,
    OVERRIDDEN,
    ROLLOUT_STARTED,
    STATUS_SYNCED,
    SYNCHRONIZED,
    TRUE,
    UNKNOWN,
    accessible_in,
    of_placement,
    to_wire,
    undecided,
)
from fleet_components.systems.kubefleet.status.works import compared, identifier, works_of, written

API_VERSION = "placement.kubernetes-fleet.io/v1"
_BETA = "placement.kubernetes-fleet.io/v1beta1"
"""The only version in which the policy snapshots of a namespace are served."""
_NOT_STARTED = "RolloutNotStartedYet"
_STARTED = "Detected the new changes on the resources and started the rollout process"
_DECIDING = "In the process of deciding whether to roll out some version of the resources or not"
_ELSEWHERE = (
    "namespace resource selector is choosing a different namespace '{}' from what was originally"
    " picked '{}'. This is not allowed for NamespaceAccessible ClusterResourcePlacement"
)
_NOTHING = ObservedMember()


def placement_status(
    decided: Decided, status: Status, observed: Mapping[str, ObservedMember]
) -> dict[str, Any]:
    """Return the ``status`` of a placement as a hub would show it now.

    Args:
        decided: the placement.
        status: the scheduler's status, right after this decision or after the next scheduling.
        observed: what is known of its objects, by member; nothing is known of members that are left
            out.
    """
    kind, subject = decided.subject.kind, _placement(decided)
    scheduled = status.placement_condition(kind)
    # The scheduler has not decided yet, so there is no member to show.
    if scheduled.reason == "SchedulePending":
        return _status(decided, scheduled, [], [])
    members = [
        _Member.of(decided, decision, observed.get(decision.cluster_name, _NOTHING))
        for decision in status.decisions
        if decision.selected
    ]
    entries = [*(member.entry for member in members), *_failures(decided, status, len(members))]
    if not members:
        return _status(decided, scheduled, entries, [])
    if isinstance(subject.strategy, External):
        revisions = {member.revision for member in members}
        # Without a common revision, a hub shows neither an index nor objects.
        if len(revisions) > 1 or None in revisions:
            unknown = undecided(kind, differ=len(revisions) > 1)
            return {
                **_status(decided, scheduled, entries, [unknown]),
                "observedResourceIndex": "",
                "selectedResources": [],
            }
        # The revision of the first member is that of all.
        return _status(decided, scheduled, entries, _summary(decided, members), members[0].revision)
    return _status(decided, scheduled, entries, _summary(decided, members))


def scheduling_status(decided: Decided, status: Status) -> dict[str, Any]:
    """Return the part of the ``status`` of a placement that is decided before anything is
    delivered.

    It is that of the end of the update: the members have the revisions that are sent to them.

    Args:
        decided: the placement.
        status: the scheduler's status, right after this decision or after the next scheduling.
    """
    placed = decided.record.decisions
    picked = [decision for decision in status.decisions if decision.selected]
    entries = [
        _entry(item, placed[item.cluster_name].revision if item.cluster_name in placed else None)
        for item in picked
    ]
    running = {
        placed[item.cluster_name].revision if item.cluster_name in placed else None
        for item in picked
    }
    # Update runs may leave members on several revisions: then a hub shows no index and no objects.
    external = isinstance(_placement(decided).strategy, External)
    revision = (
        decided.record.revision if not external else running.pop() if len(running) == 1 else None
    )
    return {
        "conditions": [to_wire(status.placement_condition(decided.subject.kind))],
        "observedResourceIndex": "" if revision is None else str(revision),
        "placementStatuses": [*entries, *_failures(decided, status, len(picked))],
        "selectedResources": (
            [] if revision is None else list(map(identifier, _selected(decided, revision)))
        ),
    }


def cluster_decisions(status: Status) -> list[dict[str, Any]]:
    """Return the scheduler's decisions, which the API keeps as ``status.targetClusters`` of the
    policy snapshot.
    """
    wires = (decision.to_wire() for decision in status.decisions)
    return [{field: value for field, value in wire.items() if value is not None} for wire in wires]


def api_objects(
    decided: Decided, observed: Mapping[str, ObservedMember] | None = None
) -> tuple[dict[str, Any], ...]:
    """Return the placement and its policy snapshot, each with nothing but its status.

    With what is known of the members also the copy of the status that a hub puts into the namespace
    of a placement whose status is ``NamespaceAccessible``.

    The status is that after the next scheduling, which stays the same while nothing changes.

    Args:
        decided: the placement.
        observed: what is known of its objects, by member; None for what is decided only.
    """
    request, record = _placement(decided), decided.record
    status = request.schedule(record.memory).status
    shown = (
        scheduling_status(decided, status)
        if observed is None
        else placement_status(decided, status, observed)
    )
    namespace, _, name = decided.subject.key.rpartition("/")
    scope = {"namespace": namespace} if namespace else {}
    kind = "SchedulingPolicySnapshot" if namespace else "ClusterSchedulingPolicySnapshot"
    return (
        _object(decided.subject.kind, {"name": name, **scope}, _refusing(request, shown)),
        _object(
            kind,
            {"name": f"{name}-{record.memory.snapshot}", **scope},
            {
                "conditions": [to_wire(status.condition)] if status.condition else [],
                "targetClusters": cluster_decisions(status),
            },
            _BETA if namespace else API_VERSION,
        ),
        *(accessible_status(request, shown) if observed is not None else ()),
    )


def _refusing(subject: PlacementSubject, status: dict[str, Any]) -> dict[str, Any]:
    """Return the status of a placement; one whose status may not move has a condition of its own,
    and is left so.

    Source: KubeFleet v0.3.1, pkg/controllers/placement/namespace_status_sync.go.
    """
    if not subject.moves_to:
        return status
    message = _ELSEWHERE.format(subject.moves_to, subject.reports_in)
    refused = Condition(f"{subject.kind}Scheduled", FALSE, "InvalidResourceSelectors", message)
    # The first condition is Scheduled, which this one replaces.
    return {**status, "conditions": [to_wire(refused), *status["conditions"][1:]]}


def accessible_status(
    subject: PlacementSubject, status: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the object that shows the users of a namespace the status of the placement that brings
    it.
    """
    if subject.reports_in:
        # The condition about the copy is not part of the copy.
        own_conditions = [
            condition for condition in status["conditions"] if condition["type"] != STATUS_SYNCED
        ]
        metadata = {"name": subject.key, "namespace": subject.reports_in}
        kind = f"{subject.kind}Status"
        yield {
            "apiVersion": API_VERSION,
            "kind": kind,
            "metadata": metadata,
            "sourceStatus": {**status, "conditions": own_conditions},
        }


@attrs.frozen
class _Member:
    """A picked member.

    Attributes:
        revision: the revision that it was sent; None if it was sent none.
        conditions: its conditions behind ``Scheduled``.
        entry: its entry in the status.
    """

    revision: int | None
    conditions: tuple[Condition, ...]
    entry: Mapping[str, Any]

    @classmethod
    def of(cls, decided: Decided, decision: ClusterDecision, observed: ObservedMember) -> _Member:
        """Return a member of the decision."""
        name, subject = decision.cluster_name, _placement(decided)
        sent = _sent(decided, name)
        revision = sent.revision if sent else None
        conditions, details = _conditions(decided, name, sent, observed)
        # Under a rolling update a hub shows the newest revision, also for a member without it.
        index = revision if isinstance(subject.strategy, External) else decided.record.revision
        entry = _entry(decision, index, conditions)
        return cls(
            revision,
            tuple(conditions),
            {**entry, **{name: found for name, found in details.items() if found}},
        )


def _conditions(
    decided: Decided, cluster: str, sent: Placed | None, observed: ObservedMember
) -> tuple[list[Condition], dict[str, Any]]:
    """Return the conditions of a member behind ``Scheduled``, up to the first that is not True, and
    its details.
    """
    subject, failing = _placement(decided), decided.outcome.failing.get(cluster)
    if isinstance(subject.strategy, External):
        if sent is None:
            return [Condition(ROLLOUT_STARTED, UNKNOWN, "RolloutStartedUnknown", _DECIDING)], {}
    # An override fails only once the rollout has started: the condition after this one says so.
    elif blocked := "" if failing else _blocked(decided, cluster, sent):
        return [Condition(ROLLOUT_STARTED, FALSE, _NOT_STARTED, blocked)], {}
    started = Condition(
        ROLLOUT_STARTED, TRUE, ROLLOUT_STARTED, f"{_STARTED}{_by(decided, cluster, sent)}"
    )
    if failing:
        message = (
            f"Failed to apply the override rules on the resources: {failing.subject} {failing.what}"
        )
        # Nothing was sent with these rules, so no record has them.
        overrides = dict(_named(_wanted_rules(subject, cluster)))
        return [started, Condition(OVERRIDDEN, FALSE, "OverriddenFailed", message)], overrides
    # Every case without it has returned above.
    assert sent is not None
    record = _record(decided, sent)
    overrides = dict(
        _named(record.overrides.get(sent.overrides, ()) if sent.overrides is not None else ())
    )
    done = ("OverriddenSucceeded", "Successfully applied the override rules on the resources")
    overriding = Condition(OVERRIDDEN, TRUE, *(done if overrides else NO_OVERRIDE))
    synced = Condition(
        SYNCHRONIZED, TRUE, "AllWorkSynced", "All of the works are synchronized to the latest"
    )
    works = works_of(
        subject.key, _objects(decided, record, cluster, sent), observed, subject.release
    )
    conditions, details = compared(works) if subject.mode.reports else written(works)
    return [started, overriding, synced, *conditions], {**overrides, **details}


def _sent(decided: Decided, cluster: str) -> Placed | None:
    """Return what a member was sent last, whether it became ready or not; None if it has
    nothing.
    """
    before = decided.before.decisions
    # What was sent and is not ready yet is in the decision before, and not in `done`.
    if cluster in stopped_at(decided.subject.done, before):
        placed: Placed = before[cluster]
        return placed
    done = decided.done(cluster)
    return None if done.revision is None else PlacementRecord().standing(done)


def _blocked(decided: Decided, cluster: str, sent: Placed | None) -> str:
    """Return why a rolling update has not reached a member; empty if it has."""
    if sent is None or sent.revision != decided.record.revision:
        return "The rollout is being blocked by the rollout strategy"
    placed, entry = decided.record.decisions.get(cluster), decided.entries.get(cluster)
    held = entry is not None and entry.change is Change.HELD
    if held or (placed is not None and placed.overrides != sent.overrides):
        return "The resources cannot be updated to the latest because of the rollout strategy"
    return ""


def _by(decided: Decided, cluster: str, sent: Placed | None) -> str:
    """Return which update run has brought a member its revision; empty under a rolling update."""
    subject, outcome = _placement(decided), decided.outcome
    assert isinstance(outcome, PlacementOutcome)
    if not isinstance(subject.strategy, External) or outcome.runs is None:
        return ""
    latest, placed = outcome.runs.latest, decided.record.decisions.get(cluster)
    again = {latest} if placed and placed.again is not None else set()
    records = {
        name: run
        for name, run in outcome.runs.records.items()
        if sent is not None
        and run.revision == sent.revision
        and cluster in run.concerned
        and (cluster not in run.had or name in again)
    }
    if not records:
        return ""  # a run that is taken out is forgotten
    # Nothing records which of several older runs it was, so the last by name is shown.
    name = latest if latest in records else max(records)
    # The spec of a run is `strategy#index`.
    return f", resourceSnapshotIndex: {records[name].spec.partition('#')[2]}, updateRun: {name}"


def _record(decided: Decided, sent: Placed) -> PlacementRecord:
    """Return the record that knows what was sent."""
    record = decided.before if decided.before.knows(sent) else decided.record
    assert isinstance(record, PlacementRecord)
    return record


def _objects(decided: Decided, record: PlacementRecord, cluster: str, sent: Placed) -> Objects:
    """Return the objects that a member was sent, envelopes as they are; empty if they are
    unknown.
    """
    position = decided.subject.inventory.position(cluster)
    if position is None or not record.knows(sent):
        return ()
    objects = record.plain(sent)
    if sent.overrides is None:
        return objects
    return overridden(
        record.apply(
            objects, record.rules(sent.overrides), decided.subject.inventory.clusters[position]
        )
    )


def _wanted_rules(subject: PlacementSubject, cluster: str) -> Objects:
    """Return the override rules that select a member and what is selected now."""
    position = subject.inventory.position(cluster)
    if position is None:
        return ()
    overrides = PlacementOverrides(subject.key, subject.overrides, opens=subject.opens)
    return overrides.in_force(subject.content, subject.inventory.clusters[position])


def _named(rules: Objects) -> Iterator[tuple[str, list[Any]]]:
    """Yield the overrides of rules; a hub names their snapshots, of which there are none here."""
    found = [read_in_force(data) for data in rules]
    names = [override.name for override in found if not override.namespace]
    if names:
        yield "applicableClusterResourceOverrides", names
    named = [
        {"namespace": override.namespace, "name": override.name}
        for override in found
        if override.namespace
    ]
    if named:
        yield "applicableResourceOverrides", named


def _summary(decided: Decided, members: Iterable[_Member]) -> list[Condition]:
    conditions = [member.conditions for member in members]
    subject = _placement(decided)
    return of_placement(
        subject.kind, conditions, reports=subject.mode.reports, release=subject.release
    )


def _status(
    decided: Decided,
    scheduled: Condition,
    entries: Sequence[Mapping[str, Any]],
    conditions: Iterable[Condition],
    revision: int | None = None,
) -> dict[str, Any]:
    """Return a status, with the selected objects of the revision that is observed: the newest if
    none is given.
    """
    shown = decided.record.revision if revision is None else revision
    subject = _placement(decided)
    synced = (accessible_in(subject.reports_in),) if subject.reports_in else ()
    return {
        "conditions": [to_wire(condition) for condition in (scheduled, *synced, *conditions)],
        "observedResourceIndex": str(shown),
        "placementStatuses": list(entries),
        "selectedResources": list(map(identifier, _selected(decided, shown))),
    }


def _selected(decided: Decided, revision: int) -> Iterable[Manifest]:
    """Return the objects of a revision; those that are selected now if they are unknown, or the
    same.
    """
    record, subject = decided.record, _placement(decided)
    content = record.contents.get(revision)
    if content is None or content == subject.content:
        return subject.selected or map(Manifest, subject.content)
    return map(Manifest, content)


def _placement(decided: Decided) -> PlacementSubject:
    assert isinstance(decided.subject, PlacementSubject)
    return decided.subject


def _object(
    kind: str,
    metadata: Mapping[str, str],
    status: Mapping[str, Any],
    api_version: str = API_VERSION,
) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "status": status}


def _entry(
    decision: ClusterDecision, revision: int | None, conditions: Iterable[Condition] = ()
) -> dict[str, Any]:
    index = {} if revision is None else {"observedResourceIndex": str(revision)}
    scheduled = Condition("Scheduled", TRUE, "Scheduled", decision.reason)
    found = [to_wire(condition) for condition in (scheduled, *conditions)]
    return {"clusterName": decision.cluster_name, **index, "conditions": found}


def _failures(decided: Decided, status: Status, selected: int) -> list[dict[str, Any]]:
    """Return the entries of members that are wanted and were not found: without a name, each with
    the reason.
    """
    # The scheduler lists the members that it rejects, the status one entry for each missing member.
    failed = [decision for decision in status.decisions if not decision.selected][
        : _missing(decided, selected)
    ]
    return [
        {"conditions": [to_wire(Condition("Scheduled", FALSE, "ScheduleFailed", item.reason))]}
        for item in failed
    ]


def _missing(decided: Decided, selected: int) -> int:
    """Return the number of members that are wanted and were not found."""
    # PickAll asks for no number, so none is missing.
    policy = _placement(decided).policy
    if policy and policy.placement_type == PICK_N:
        return max(0, (policy.number_of_clusters or 0) - selected)
    return (
        max(0, len(policy.cluster_names) - selected)
        if policy and policy.placement_type == PICK_FIXED
        else 0
    )
