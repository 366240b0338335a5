"""Policies, overrides, runs and approvals, as users have written them to steer a hub."""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.content.secret import redacted_policy
from fleet_components.hub.listing import Listing, Object
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.systems.kubefleet.hub.kinds import EVICTION, GROUP, PLACEMENTS, WRITTEN
from fleet_components.systems.kubefleet.hub.written import as_written, conditions_of
from fleet_components.systems.kubefleet.model.eviction import BLOCKED, EXECUTED, INVALID, Handled
from fleet_components.systems.kubefleet.plan.runs import is_approved


def policies_of(listing: Listing, notes: list[str]) -> tuple[Object, ...]:
    """Return the policies, overrides, runs and approvals, sorted by key; notes are added about what is left out."""
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
    """Yield the requests of standing update runs that somebody has approved; a hub has made all others."""
    for scoped in PLACEMENTS.values():
        for data in listing.all(scoped.approval, GROUP):
            manifest = Manifest(data)
            run = ObjectKey(GROUP, scoped.run, manifest.namespace, data["spec"].get("parentStageRollout", ""))
            if is_approved(manifest) and listing.object(run):
                written = as_written(data)
                written["metadata"].pop("labels", None)
                condition = {"type": "Approved", "status": "True"}
                yield {**written, "status": {"conditions": [condition]}}


def handled_evictions(listing: Listing, placement: Manifest) -> dict[str, Handled]:
    """Return what came of the evictions of a placement, by name; those that were not checked yet are left out."""
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
        found[data["metadata"]["name"]] = Handled(spec["clusterName"], result, ended.get("message", ""))
    return found
