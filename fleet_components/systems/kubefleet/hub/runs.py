"""Update runs of a placement, as a hub has carried them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.hub.listing import Listing
from fleet_components.model.cluster import Cluster, read_time
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.systems.kubefleet.hub.kinds import GROUP, PLACEMENTS, conditions_of
from fleet_components.systems.kubefleet.hub.snapshots import Contents, Numbering, listed_overrides
from fleet_components.systems.kubefleet.model.placement import PlacementPolicy
from fleet_components.systems.kubefleet.plan.update_runs import RunMemory
from fleet_components.systems.kubefleet.rollout.run_record import SUCCEEDED, RunRecord, preempted
from fleet_components.systems.kubefleet.rollout.strategy import (
    UpdateRun,
    read_update_run,
    target_of,
)

_NONE = -1
"""Stands for no override rules where a number is kept."""
_APPROVED = "ApprovalRequestApproved"


@attrs.frozen
class Begun:
    """Update runs of a placement that have begun.

    Attributes:
        listing: the answers of the hub.
        placement: the placement.
        policy: its policy.
        contents: its revisions.
        numbering: the numbers of its override rules.
        members: the members, by name.
    """

    listing: Listing
    placement: Manifest
    policy: PlacementPolicy | None
    contents: Contents
    numbering: Numbering
    members: Mapping[str, Cluster]

    def memory(self) -> RunMemory:
        """Return what is remembered of the update runs of the placement: nothing of a run that has
        not begun.

        A run that a later one has taken clusters from counts as failed, which a hub may see a
        minute later.
        """
        runs = {run.name: run for run in self._runs()}
        records = {
            name: record for name, run in sorted(runs.items()) if (record := self._record(run))
        }
        order = sorted(records, key=lambda name: (_made(runs[name]), name))
        started = [
            name for name in order if records[name].over or _state(runs[name]) != "Initialize"
        ]
        # Without a run that has started, the run that was created last.
        latest = next(reversed(started or order), "")
        # Only the run that started last goes on: it has taken the clusters of all others.
        for name in started[:-1]:
            if not records[name].over:
                records[name] = preempted(_come_so_far(records[name], runs[name]), latest)
        return RunMemory(records=records, latest=latest)

    def _runs(self) -> Iterator[Manifest]:
        for data in self.listing.all(PLACEMENTS[self.placement.kind].run, GROUP):
            run = Manifest(data)
            named = (run.data.get("spec") or {}).get("placementName")
            if (run.namespace, named) == (self.placement.namespace, self.placement.name):
                yield run

    def _record(self, run: Manifest) -> RunRecord | None:
        status = run.data.get("status") or {}
        conditions = conditions_of(status)
        if "Initialized" not in conditions:
            return None
        read = read_update_run(run, self._strategy(run, status))
        begun = conditions["Initialized"]
        if begun["status"] != "True":
            return RunRecord(spec=read.spec, stages=read.stages).failed(begun.get("message", ""))
        stages: Sequence[Any] = status.get("stagesStatus") or ()
        leaving = (status.get("deletionStageStatus") or {}).get("clusters") or ()
        revision = int(status["resourceSnapshotIndexUsed"])
        count = target_of(self.policy)
        record = RunRecord(
            spec=read.spec,
            revision=revision,
            stages=read.stages,
            clusters=tuple(
                tuple(cluster["clusterName"] for cluster in stage.get("clusters") or ())
                for stage in stages
            ),
            leaving=tuple(sorted(departure["clusterName"] for departure in leaving)),
            snapshot=int(status.get("policySnapshotIndexUsed", -1)),
            count=-1 if count is None else int(status.get("policyObservedClusterCount", count)),
            # Waits count from when clusters were done; this only says that the run goes on.
            since=read_time(run.metadata.get("creationTimestamp")) if read.state == "Run" else None,
            overrides=dict(self._overrides(stages, revision)),
            approvals=tuple(sorted(_accepted(read, stages))),
        )
        ended = conditions.get("Succeeded")
        if ended is None or ended["status"] not in ("True", "False"):
            return record
        if ended["status"] == "True":
            return attrs.evolve(record, outcome=SUCCEEDED)
        return _come_so_far(record, run).failed(ended.get("message", ""))

    def _strategy(self, run: Manifest, status: Mapping[str, Any]) -> Manifest | None:
        """Return the strategy as the run has taken it; the one that it names if it has taken
        none.
        """
        taken = status.get("stagedUpdateStrategySnapshot")
        if taken:
            # The copy is a spec only, and no more than that is read.
            return Manifest({"spec": taken})
        name = (run.data.get("spec") or {}).get("stagedRolloutStrategyName", "")
        key = ObjectKey(GROUP, PLACEMENTS[self.placement.kind].strategy, run.namespace, name)
        found = self.listing.object(key)
        return Manifest(found) if found else None

    def _overrides(self, stages: Sequence[Any], revision: int) -> Iterator[tuple[str, int]]:
        objects = self.contents.revisions.get(revision, ())
        for cluster in _clusters(stages):
            member = self.members.get(cluster["clusterName"])
            # Rules are evaluated on a member, and this cluster may have left the fleet.
            if member:
                number = self.numbering.number(listed_overrides(cluster), objects, member)
                yield member.name, _NONE if number is None else number


def times_of(listing: Listing, placement: Manifest, memory: RunMemory) -> Mapping[str, Any]:
    """Return when each member of the last update run was done, as far as it was."""
    kind = PLACEMENTS[placement.kind].run
    run = listing.object(ObjectKey(GROUP, kind, placement.namespace, memory.latest))
    stages = ((run or {}).get("status") or {}).get("stagesStatus") or ()
    found = {}
    for cluster in _clusters(stages):
        done = conditions_of(cluster).get("Succeeded")
        if done and _is(done, "True"):
            found[cluster["clusterName"]] = read_time(done.get("lastTransitionTime"))
    return found


def _clusters(stages: Sequence[Any]) -> Iterator[Any]:
    """Yield the clusters of all stages, as their status has them."""
    return (cluster for stage in stages for cluster in stage.get("clusters") or ())


def _come_so_far(record: RunRecord, run: Manifest) -> RunRecord:
    """Return a run that ends with what the hub reports of its clusters."""
    stages = (run.data.get("status") or {}).get("stagesStatus") or ()
    ended = {cluster["clusterName"]: conditions_of(cluster) for cluster in _clusters(stages)}
    updated = {name for name, found in ended.items() if _is(found.get("Succeeded"), "True")}
    updating = {
        name for name, found in ended.items() if _is(found.get("Started"), "True")
    } - updated
    return attrs.evolve(
        record,
        updated=tuple(sorted(updated)),
        updating=tuple(sorted(updating)),
        taken=any(_is(found.get("Succeeded"), "False") for found in ended.values()),
    )


def _is(condition: Mapping[str, Any] | None, status: str) -> bool:
    return condition is not None and condition["status"] == status


def _accepted(run: UpdateRun, stages: Sequence[Any]) -> Iterator[str]:
    """Yield the approvals that have opened a gate, as they are named in a run."""
    for stage in stages:
        for task in (
            *(stage.get("beforeStageTaskStatus") or ()),
            *(stage.get("afterStageTaskStatus") or ()),
        ):
            approved = conditions_of(task).get(_APPROVED)
            if approved and approved["status"] == "True":
                yield "/".join(filter(None, (run.namespace, task["approvalRequestName"])))


def _state(run: Manifest) -> str:
    return str(run.data["spec"].get("state") or "Initialize")


def _made(run: Manifest) -> str:
    return str(run.metadata.get("creationTimestamp") or "")
