"""Stories of a KubeFleet hub: begun on a hub without placements, which is as before when they are over."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from fleet_components import FleetPlan, Options, Past, plan_fleet, source_of
from fleet_components.model.manifest import Manifest
from tests.clusters.documents import Document
from tests.hubs.kubefleet import KubeFleetHub, MemberSpec
from tests.hubs.kubefleet_words import placement_words
from tests.hubs.placements import PLACING
from tests.hubs.processes import until
from tests.hubs.story import Story, merged

MEMBERS: Mapping[str, MemberSpec] = {
    "east": MemberSpec({"region": "east", "ring": "2"}, cpu="8", memory="32Gi"),
    "north": MemberSpec({"region": "north", "ring": "2"}, nodes=2),
    "south": MemberSpec({"region": "south", "ring": "1"}),
    "west": MemberSpec({"region": "west", "ring": "1"}, nodes=3),
}
"""The members of the hub of all stories."""
_CLUSTER_WIDE = (
    "clusterresourceplacements",
    "clusterresourceplacementevictions",
    "clusterresourceplacementdisruptionbudgets",
    "clusterresourceoverrides",
    "clusterresourceenvelopes",
    "clusterstagedupdateruns",
    "clusterapprovalrequests",
    "clusterstagedupdatestrategies",
)
_MEMBERS = "/apis/cluster.kubernetes-fleet.io/v1/memberclusters"
_TOLD = "told=story"
_PATIENCE = 60.0


@contextmanager
def begun(fleet: KubeFleetHub, folder: Path) -> Iterator[Story]:
    """A story on a hub; what it makes there is deleted, and its members are as before.

    Args:
        fleet: the hub.
        folder: where the hub is observed to.
    """
    story = Story(fleet, folder, placement_words, release=fleet.release)
    try:
        yield story
    finally:
        story.close()
        _restore(fleet)
        _clear(fleet)


def planned(documents: Iterable[Document], release: str) -> FleetPlan:
    """The plan of a new fleet in files: the members of the stories, and these objects.

    Args:
        documents: the objects.
        release: the name of the release of KubeFleet that decides.
    """
    members = [member.cluster(name) for name, member in MEMBERS.items()]
    source = source_of(map(Manifest, [*members, *documents]), kubefleet=release)
    plan = plan_fleet(source, Past(), Options())
    assert not plan.refused
    return plan


def rejoin(fleet: KubeFleetHub, name: str) -> None:
    """Let a member join again that has left; its agent still runs."""
    member = MEMBERS[name]
    fleet.apply([member.cluster(name)])
    until(lambda: fleet.joined(name, member.nodes), f"joined again: {name}")


def _restore(fleet: KubeFleetHub) -> None:
    for name, member in MEMBERS.items():
        now, wanted = fleet.objects.get(f"{_MEMBERS}/{name}"), member.cluster(name)
        if now is None:
            rejoin(fleet, name)
            continue
        spec = {"taints": list(wanted["spec"]["taints"])}
        labels = merged(now["metadata"].get("labels", {}), wanted["metadata"].get("labels", {}))
        if labels or spec["taints"] != now["spec"].get("taints", []):
            patch = {"metadata": {"labels": labels}, "spec": spec}
            headers = {"Content-Type": "application/merge-patch+json"}
            answer = fleet.objects.judge.client.patch(
                f"{_MEMBERS}/{name}", json=patch, headers=headers
            )
            assert answer.is_success, answer.text


def _clear(fleet: KubeFleetHub) -> None:
    for plural in _CLUSTER_WIDE:
        fleet.objects.delete(f"/apis/{PLACING}/{plural}")
    spaces = fleet.objects.get(f"/api/v1/namespaces?labelSelector={_TOLD}") or {"items": ()}
    for space in spaces["items"]:
        fleet.objects.delete(f"/api/v1/namespaces/{space['metadata']['name']}")
    give_up = time.monotonic() + _PATIENCE
    while left := list(_left(fleet)):
        assert time.monotonic() < give_up, f"there still after {_PATIENCE:.0f} s: {', '.join(left)}"
        time.sleep(0.3)


def _left(fleet: KubeFleetHub) -> Iterator[str]:
    """What is deleted and still there; what hangs on placements may go while the next story begins."""
    for plural in (
        *_CLUSTER_WIDE,
        "resourceplacements",
    ):  # those of a namespace go with it, some time later
        listed = fleet.objects.get(f"/apis/{PLACING}/{plural}") or {"items": ()}
        yield from (f"{plural}/{item['metadata']['name']}" for item in listed["items"])
