"""Selection, order and availability against recordings of a running KubeFleet hub with four members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from fleet_components.content.availability import trackable
from fleet_components.content.catalogue import Catalogue
from fleet_components.content.envelope import unwrap
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.problem import FleetError
from fleet_components.systems.kubefleet.content.select import select
from fleet_components.systems.kubefleet.model.placement import Placement
from tests.content.build import obj
from tests.vectors import recordings as names
from tests.vectors import vectors

FOLDER = "kubefleet-live"
Hub = dict[ObjectKey, Manifest]
INVALID = (
    "The resource selectors are invalid: failed to process the request due to a client error: "
)
GONE = {
    ("seed001-pickn-spread", 2),
    ("seed002-crp-pickall-five-nodes", 1),
    ("seed002-crp-pickn-critical-preferences", 2),
}
"""Steps at which another case had just deleted the namespace."""


def recordings() -> Iterator[tuple[str, int, Hub, Mapping[str, Any]]]:
    """Each step of each recording: its name and number, the objects on the hub, and what was seen after it."""
    for name in names(FOLDER):
        hub: Hub = {}
        for number, step in enumerate(vectors(f"{FOLDER}/{name}")["steps"]):
            _apply(hub, step)
            yield name, number, hub, step["after"]


def _apply(hub: Hub, step: Mapping[str, Any]) -> None:
    refused = {error.get("object") for error in step.get("errors", ())}
    for data in step.get("apply", ()):
        if f"{data['kind']}/{data['metadata']['name']}" not in refused:
            key = Manifest(data).key
            hub[key] = Manifest(_merged(hub[key].data if key in hub else {}, data))
    for patch in step.get("patch", ()):
        key = Manifest(patch["object"]).key
        if key in hub:
            hub[key] = Manifest(_merged(hub[key].data, patch.get("merge", {})))
    for data in step.get("delete", ()):
        gone = Manifest(data).key
        for key in list(hub):
            if key == gone or (gone.kind == "Namespace" and key.namespace == gone.name):
                del hub[key]


def _merged(old: Any, new: Any) -> Any:
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return new
    kept = {key: value for key, value in old.items() if key not in new}
    return kept | {
        key: _merged(old.get(key), value) for key, value in new.items() if value is not None
    }


def test_placements_select_what_the_hub_selected() -> None:
    compared = 0
    for name, number, hub, after in recordings():
        catalogue = Catalogue.of(hub.values())
        for seen in after.get("placements") or ():
            placement = catalogue.get(_key(seen))
            wanted = _selected(seen.get("status") or {}, hub)
            if placement and wanted is not None and (name, number) not in GONE:
                compared += 1
                assert _select(catalogue, placement) == wanted, (name, number)
    assert compared > 250


def _key(seen: Mapping[str, Any]) -> ObjectKey:
    return ObjectKey(
        "placement.kubernetes-fleet.io", seen["kind"], seen.get("namespace", ""), seen["name"]
    )


def _selected(status: Mapping[str, Any], hub: Hub) -> Any:
    """What the hub selected, or why it refused; None where not all of it was put on the hub by recorded steps."""
    for condition in status.get("conditions", ()):
        if condition["reason"] == "InvalidResourceSelectors":
            return condition["message"]
    found = [
        ObjectKey(item.get("group", ""), item["kind"], item.get("namespace", ""), item["name"])
        for item in status.get("selectedResources", ())
    ]
    is_whole = "observedResourceIndex" in status and all(key in hub for key in found)
    return found if is_whole else None


def _select(catalogue: Catalogue, placement: Manifest) -> Any:
    try:
        selection = select(catalogue.split().objects, Placement.from_manifest(placement))
    except FleetError as error:
        return INVALID + error.problems[0].what
    return [manifest.key for manifest in selection.manifests]


def test_members_track_what_is_trackable() -> None:
    seen = {
        (
            identifier.get("group", ""),
            identifier["version"],
            identifier["kind"],
            condition["reason"],
        )
        for *_, after in recordings()
        for work in after.get("works") or ()
        for manifest in work.get("manifestConditions") or ()
        for identifier in [manifest["identifier"]]
        for condition in manifest["conditions"]
        if condition["type"] == "Available"
    }
    assert len(seen) > 8
    for group, version, kind, reason in seen:
        api = f"{group}/{version}" if group else version
        tracked = trackable(obj(kind, "x", api=api)) != "untrackable"
        assert tracked == (reason != "NotTrackable"), (api, kind, reason)


def test_wrong_envelopes_are_refused_as_by_the_hub() -> None:
    compared = 0
    for name, _, hub, after in recordings():
        envelope = hub.get(
            ObjectKey("placement.kubernetes-fleet.io", "ResourceEnvelope", f"ns-{name}", "env")
        )
        if not envelope:
            continue
        for text in _sync_failures(after):
            compared += 1
            with pytest.raises(FleetError) as caught:
                unwrap(envelope)
            assert [problem.what for problem in caught.value.problems] == [text]
    assert compared


def _sync_failures(after: Mapping[str, Any]) -> set[str]:
    start = "Failed to synchronize the work to the latest: "
    conditions = [
        item for binding in after.get("bindings") or () for item in binding.get("conditions", ())
    ]
    return {
        condition["message"].removeprefix(start)
        for condition in conditions
        if condition["message"].startswith(start)
    }
