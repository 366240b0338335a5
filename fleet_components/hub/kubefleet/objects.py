"""The objects that placements select, as they are on a hub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fleet_components.content.envelope import is_envelope
from fleet_components.content.secret import is_secret, redacted
from fleet_components.content.strip import strip
from fleet_components.hub.kubefleet.kept import Kept
from fleet_components.hub.kubefleet.kinds import GROUP, MEMBERS, PLACEMENTS
from fleet_components.hub.kubefleet.queries import DEFINITIONS
from fleet_components.hub.kubefleet.snapshots import Contents
from fleet_components.hub.listing import Listing, Object
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.plan.source import Given, gathered


def objects_of(listing: Listing, kept: Kept, policies: Iterable[Object], notes: list[str]) -> tuple[Object, ...]:
    """Return the objects that placements select, sorted by key, as a resource snapshot has them.

    Definitions of custom kinds are among them where one is selected. Notes are added about what is left out.

    Args:
        listing: the answers of the hub.
        kept: what the hub keeps.
        policies: the policies, as users write them.
        notes: notes are added here.
    """
    hidden = _hidden(listing, kept)
    there = {one.key: one for one in _candidates(listing, hidden, notes)}
    given = [*map(Manifest, policies), *there.values()]
    selections, _ = gathered(Given(tuple(given))).selections()
    wanted = {manifest.key for one in selections for manifest in one.selection.manifests}
    missed = PLACEMENTS.keys() and {one.placement.key for one in selections}
    for kind in PLACEMENTS:
        for placement in map(Manifest, listing.all(kind, GROUP)):
            if "/".join(filter(None, (placement.namespace, placement.name))) not in missed:
                wanted |= _seen(placement)
    wanted |= _definitions(there, {(key.group, key.kind) for key in wanted})
    return tuple(_ordered(strip(there[key]).data) for key in sorted(wanted & there.keys()))


def _candidates(listing: Listing, hidden: Mapping[ObjectKey, Object], notes: list[str]) -> Iterator[Manifest]:
    """Yield the objects that placements may select; Secrets without their data, unless it was asked for."""
    for data in listing:
        manifest = Manifest(data)
        if manifest.group == MEMBERS or (manifest.group == GROUP and not is_envelope(manifest)):
            continue
        if manifest.metadata.get("deletionTimestamp"):
            notes.append(f"{manifest.key} is being deleted, and is left out")
        elif listing.secrets:
            yield manifest
        elif not is_secret(data):
            yield Manifest(redacted(data))
        elif manifest.key in hidden:
            yield Manifest(hidden[manifest.key])
        else:
            yield Manifest({"apiVersion": "v1", "kind": "Secret", "metadata": data["metadata"], "type": "Opaque"})


def _hidden(listing: Listing, kept: Kept) -> Mapping[ObjectKey, Object]:
    """Return the Secrets of the newest revisions, which tell the names of their data."""
    found = {}
    for kind in PLACEMENTS:
        for placement in map(Manifest, listing.all(kind, GROUP)):
            found.update({Manifest(one).key: one for one in Contents.of(kept, placement).newest if is_secret(one)})
    return found


def _seen(placement: Manifest) -> set[ObjectKey]:
    """Return what the status of a placement says that it selects."""
    selected = (placement.data.get("status") or {}).get("selectedResources") or ()
    return {
        ObjectKey(one.get("group") or "", one["kind"], one.get("namespace") or "", one["name"])
        for one in selected
        if not one.get("envelope")
    }


def _definitions(there: Mapping[ObjectKey, Manifest], kinds: set[tuple[str, str]]) -> set[ObjectKey]:
    """Return the definitions of custom kinds."""
    found = set()
    for key, manifest in there.items():
        if (key.group, key.kind) == (DEFINITIONS.group, DEFINITIONS.kind):
            spec = manifest.data.get("spec") or {}
            defined = spec.get("group"), (spec.get("names") or {}).get("kind")
            if defined in kinds - BUILT_IN.keys():
                found.add(key)
    return found


def _ordered(data: Object) -> Object:
    """Return an object with its fields in the usual order."""
    first = ("apiVersion", "kind", "metadata")
    return {**{field: data[field] for field in first if field in data}, **data}
