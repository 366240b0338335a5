"""Stories of a KubeFleet hub: begun on a hub without placements, which is as before when they are over."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.hubs.kubefleet import KubeFleetHub, MemberSpec
from tests.hubs.kubefleet_words import placement_words
from tests.hubs.placements import PLACING
from tests.hubs.story import Known, Story, merged

_CLUSTER_WIDE = (
    "clusterresourceplacements",
    "clusterresourceplacementevictions",
    "clusterresourceplacementdisruptionbudgets",
    "clusterresourceoverrides",
    "clusterresourceenvelopes",
    "clusterstagedupdateruns",
    "clusterstagedupdatestrategies",
)
_BINDINGS = ("clusterresourcebindings", "resourcebindings", "works")
_MEMBERS = "/apis/cluster.kubernetes-fleet.io/v1/memberclusters"
_TOLD = "told=story"
_PATIENCE = 60.0


@contextmanager
def begun(
    fleet: KubeFleetHub, folder: Path, members: Mapping[str, MemberSpec], known: Sequence[Known]
) -> Iterator[Story]:
    """A story on a hub; what it makes there is deleted, and its members are as before.

    Args:
        fleet: the hub.
        folder: where the hub is observed to.
        members: as the members have joined.
        known: differences that are as they have to be.
    """
    story = Story(fleet, folder, placement_words, tuple(known))
    try:
        yield story
    finally:
        story.close()
        _restore(fleet, members)
        _clear(fleet)


def _restore(fleet: KubeFleetHub, members: Mapping[str, MemberSpec]) -> None:
    for name, member in members.items():
        now, wanted = fleet.objects.get(f"{_MEMBERS}/{name}"), member.cluster(name)
        assert now, f"{name} has left"
        spec = {"taints": list(wanted["spec"]["taints"])}
        labels = merged(now["metadata"].get("labels", {}), wanted["metadata"].get("labels", {}))
        if labels or spec["taints"] != now["spec"].get("taints", []):
            patch = {"metadata": {"labels": labels}, "spec": spec}
            headers = {"Content-Type": "application/merge-patch+json"}
            answer = fleet.objects.judge.client.patch(f"{_MEMBERS}/{name}", json=patch, headers=headers)
            assert answer.is_success, answer.text


def _clear(fleet: KubeFleetHub) -> None:
    for plural in _CLUSTER_WIDE:
        fleet.objects.delete(f"/apis/{PLACING}/{plural}")
    spaces = fleet.objects.get(f"/api/v1/namespaces?labelSelector={_TOLD}") or {"items": ()}
    for space in spaces["items"]:
        fleet.objects.delete(f"/api/v1/namespaces/{space['metadata']['name']}")
    give_up = time.monotonic() + _PATIENCE
    while left := [one for one in _left(fleet)]:
        assert time.monotonic() < give_up, f"there still after {_PATIENCE:.0f} s: {', '.join(left)}"
        time.sleep(0.3)


def _left(fleet: KubeFleetHub) -> Iterator[str]:
    for plural in (*_CLUSTER_WIDE, *_BINDINGS):
        listed = fleet.objects.get(f"/apis/{PLACING}/{plural}") or {"items": ()}
        yield from (f"{plural}/{one['metadata']['name']}" for one in listed["items"])
