"""Placements as a hub has decided them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta

import attrs

from fleet_components.content.secret import redacted_policy
from fleet_components.hub.listing import Listing, Object
from fleet_components.hub.observation import ObservedSubject, Stands
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import decode, encode
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.release import Release
from fleet_components.model.text import few
from fleet_components.plan.guard import is_protected
from fleet_components.plan.record import digest
from fleet_components.rollout.rollout import Done, Placed
from fleet_components.systems.kubefleet.hub.bindings import BoundMember, bindings_of, ranks_of
from fleet_components.systems.kubefleet.hub.kinds import (
    EVICTION,
    GROUP,
    PLACEMENTS,
    WRITTEN,
    Kept,
    as_written,
    conditions_of,
)
from fleet_components.systems.kubefleet.hub.runs import Begun, times_of
from fleet_components.systems.kubefleet.hub.snapshots import (
    Contents,
    Numbering,
    PolicySnapshots,
    Snapshots,
    override_snapshots,
)
from fleet_components.systems.kubefleet.model.eviction import BLOCKED, EXECUTED, INVALID, Handled
from fleet_components.systems.kubefleet.model.member_cluster import read_member_cluster
from fleet_components.systems.kubefleet.model.memory import PlacementMemory
from fleet_components.systems.kubefleet.model.placement import PlacementStrategy
from fleet_components.systems.kubefleet.model.release import RELEASE, Rule
from fleet_components.systems.kubefleet.plan.record import PlacementRecord
from fleet_components.systems.kubefleet.plan.selection import mode_of
from fleet_components.systems.kubefleet.plan.update_runs import RunMemory, is_approved

_EXTERNAL = "External"


def subjects_of(
    listing: Listing,
    kept: Kept,
    members: tuple[Object, ...],
    refused: Collection[ObjectKey],
    notes: list[str],
    release: Release = RELEASE,
) -> tuple[ObservedSubject, ...]:
    """Return the placements with what was decided, sorted by name; notes are added about what is
    not known.

    Args:
        listing: the answers of the hub.
        kept: what the hub keeps.
        members: the members, as they are written.
        refused: the placements that are left out.
        notes: notes are added here.
        release: the release of KubeFleet that the hub runs.
    """
    clusters = {cluster.name: cluster for cluster in map(read_member_cluster, members)}
    snapshots = override_snapshots(listing)
    found = [
        _ObservedSubject.of(listing, kept, Manifest(data), clusters, snapshots, release).observed(
            notes
        )
        for kind in PLACEMENTS
        for data in listing.all(kind, GROUP)
        if Manifest(data).key not in refused
    ]
    return tuple(sorted(found, key=lambda subject: subject.name))


@attrs.frozen
class _ObservedSubject:
    """A placement, with all that a hub keeps of it.

    Attributes:
        listing: the answers of the hub.
        placement: the placement.
        strategy: its rollout strategy.
        clusters: the members, by name.
        contents: its revisions.
        policies: its policies.
        bindings: its members.
        going: members that it is being removed from.
        numbering: the numbers of its override rules.
    """

    listing: Listing
    placement: Manifest
    strategy: PlacementStrategy
    clusters: Mapping[str, Cluster]
    contents: Contents
    policies: PolicySnapshots
    bindings: Mapping[str, BoundMember]
    going: list[str]
    numbering: Numbering

    @classmethod
    def of(
        cls,
        listing: Listing,
        kept: Kept,
        placement: Manifest,
        clusters: Mapping[str, Cluster],
        snapshots: Snapshots,
        release: Release,
    ) -> _ObservedSubject:
        """Find what the hub keeps of a placement."""
        strategy = decode(
            PlacementStrategy, (placement.data.get("spec") or {}).get("strategy") or {}
        )
        period = timedelta(seconds=strategy.rolling_update.unavailable_period_seconds)
        bindings, going = bindings_of(kept, placement, clusters, listing.as_of, period, release)
        return cls(
            listing,
            placement,
            strategy,
            clusters,
            Contents.of(kept, placement),
            PolicySnapshots.of(kept, placement),
            bindings,
            going,
            Numbering(
                "/".join(filter(None, (placement.namespace, placement.name))),
                snapshots,
                opens=release.has(Rule.OVERRIDES_IN_ENVELOPES),
            ),
        )

    @property
    def name(self) -> str:
        return f"{self.placement.kind}/{self.numbering.placement}"

    def observed(self, notes: list[str]) -> ObservedSubject:
        """Return the placement with its decision; notes are added about what is not known."""
        # In this order: runs and members number their override rules, which the record then
        # contains.
        runs = self._runs()
        done = self._done(runs)
        record = self._record(runs, done)
        mode = mode_of(self.strategy.apply_strategy)
        # In place: the list belongs to the caller.
        notes += self._notes(done)
        return ObservedSubject(
            name=self.name,
            record=record,
            done=done,
            # With ReportDiff nothing is written, so nothing of it stands.
            stands={} if mode.reports else self._stands(record, done),
            reports=mode.reports,
            protected=is_protected(self.placement),
            apply={} if mode.reports else encode(mode.at_drift),
        )

    def _runs(self) -> RunMemory:
        if self.strategy.type != _EXTERNAL:
            return RunMemory()
        policy = self.policies.newest
        return Begun(
            self.listing, self.placement, policy, self.contents, self.numbering, self.clusters
        ).memory()

    def _done(self, runs: RunMemory) -> dict[str, Done]:
        """Return what runs on members; what is being removed runs no more."""
        times = times_of(self.listing, self.placement, runs) if runs.latest else {}
        found = {}
        for name, bound in sorted(self.bindings.items()):
            # The member is picked, and was sent nothing yet.
            if bound.revision is None:
                continue
            objects = self.contents.revisions.get(bound.revision, ())
            number = self.numbering.number(bound.overrides, objects, self.clusters[name])
            found[name] = Done(
                bound.revision, since=times.get(name), overrides=number, awaited=bound.awaited
            )
        return found

    def _record(self, runs: RunMemory, done: Mapping[str, Done]) -> PlacementRecord:
        ranks = ranks_of(self.bindings, self.policies.newest)
        remembered = {
            name: bound.remembered(ranks[name]) for name, bound in sorted(self.bindings.items())
        }
        memory = PlacementMemory(
            snapshot=self.policies.last,
            policy=self.policies.newest,
            bindings={name: binding for name, binding in remembered.items() if binding},
            evictions=handled_evictions(self.listing, self.placement),
        )
        contents, rules = self.contents.revisions, dict(sorted(self.numbering.rules.items()))
        return PlacementRecord(
            revision=self._revision(runs),
            decisions={
                # A hub keeps no waves, so all members count as moved in the first.
                name: Placed(ranks[name], 1, here.revision, overrides=here.overrides)
                for name, here in done.items()
                if here.revision is not None
            },
            memory=memory,
            contents=contents,
            digests={index: digest(objects) for index, objects in contents.items()},
            overrides=rules,
            override_digests={number: digest(objects) for number, objects in rules.items()},
            runs=runs,
        )

    def _revision(self, runs: RunMemory) -> int:
        """Return the revision that all members are to run: that of the last update run, or else the
        newest.
        """
        last = runs.records.get(runs.latest)
        return last.revision if last and last.revision >= 0 else self.contents.last

    def _stands(self, record: PlacementRecord, done: Mapping[str, Done]) -> Stands:
        """Return the objects on each member: what its revision and its overrides amount to."""
        found = {}
        for name, here in done.items():
            objects = record.objects(record.standing(here), self.clusters[name])
            found[name] = tuple(
                (manifest.api_version, manifest.key) for manifest in map(Manifest, objects)
            )
        return found

    def _notes(self, done: Mapping[str, Done]) -> Iterator[str]:
        gone = {here.revision for here in done.values()} - self.contents.revisions.keys()
        for revision in sorted(number for number in gone if number is not None):
            held = [name for name, here in done.items() if here.revision == revision]
            yield (
                f"{self.name}: revision {revision} on {few(held)} is not known: the hub has its"
                " snapshot no more"
            )
        if self.going:
            yield f"{self.name} is being removed from {few(self.going)}"
        for key in sorted(self.numbering.absent):
            yield f"{self.name}: {key} is in force, and the hub has it no more"


# Policies, overrides, runs and approvals, as users have written them to steer a hub.


def policies_of(listing: Listing, notes: list[str]) -> tuple[Object, ...]:
    """Return the policies, overrides, runs and approvals, sorted by key; notes are added about what
    is left out.
    """
    found = [*_written(listing, notes), *_approvals(listing)]
    return tuple(sorted(found, key=lambda data: Manifest(data).key))


def _written(listing: Listing, notes: list[str]) -> Iterator[Object]:
    for kind in WRITTEN:
        for data in listing.all(kind, GROUP):
            manifest = Manifest(data)
            if manifest.metadata.get("deletionTimestamp"):
                notes.append(f"{manifest.key} is being deleted, and is left out")
            else:
                written = as_written(data)
                yield written if listing.secrets else redacted_policy(written)


def _approvals(listing: Listing) -> Iterator[Object]:
    """Yield the requests of standing update runs that somebody has approved; a hub has made all
    others.
    """
    for scoped in PLACEMENTS.values():
        for data in listing.all(scoped.approval, GROUP):
            manifest = Manifest(data)
            run = ObjectKey(
                GROUP, scoped.run, manifest.namespace, data["spec"].get("parentStageRollout", "")
            )
            if is_approved(manifest) and listing.object(run):
                written = as_written(data)
                # The hub has set them, not the user.
                written["metadata"].pop("labels", None)
                # Only this condition counts; reason, message and time of the hub are for people.
                condition = {"type": "Approved", "status": "True"}
                yield {**written, "status": {"conditions": [condition]}}


def handled_evictions(listing: Listing, placement: Manifest) -> dict[str, Handled]:
    """Return what came of the evictions of a placement, by name; those that were not checked yet
    are left out.
    """
    # Evictions name ClusterResourcePlacements only.
    if placement.namespace:
        return {}
    found = {}
    for data in listing.all(EVICTION, GROUP):
        spec, conditions = data["spec"], conditions_of(data.get("status"))
        valid, executed = conditions.get("Valid"), conditions.get("Executed")
        if spec["placementName"] != placement.name:
            continue
        if valid and valid["status"] == "False":
            result, ended = INVALID, valid
        elif executed and executed["status"] in ("True", "False"):
            result, ended = EXECUTED if executed["status"] == "True" else BLOCKED, executed
        else:
            continue
        found[data["metadata"]["name"]] = Handled(
            spec["clusterName"], result, ended.get("message", "")
        )
    return found
