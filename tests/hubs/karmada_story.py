"""Stories of a Karmada control plane: begun without policies of others, and as before when they are over."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from fleet_components.plan.fleet_plan import FleetPlan
from tests.clusters.documents import Document
from tests.hubs.karmada import MANAGER, SCHEDULER, KarmadaHub
from tests.hubs.karmada_words import binding_words
from tests.hubs.objects import Objects
from tests.hubs.propagation import POLICY
from tests.hubs.story import Known, Story, merged, put

_CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
_CLUSTER_WIDE = (
    f"/apis/{POLICY}/clusterpropagationpolicies",
    f"/apis/{POLICY}/clusteroverridepolicies",
    f"/apis/{POLICY}/clustertaintpolicies",
    "/apis/apps.karmada.io/v1alpha1/workloadrebalancers",
)
_NAMESPACES = "/api/v1/namespaces?labelSelector=told%3Dstory"
_BINDINGS = "/apis/work.karmada.io/v1alpha2/resourcebindings"
_SETTINGS = "karmada.yaml"
_PATIENCE = 90.0
KINDS = (
    ("apps/v1", "Deployment"),
    ("v1", "ConfigMap"),
    ("batch/v1", "Job"),
    ("v1", "Namespace"),
    ("v1", "Secret"),
)
"""Kinds of the templates of stories."""

REPLICAS = ("spec", "replicas")
PLACEMENT = ("spec", "placement")
IMAGE = ("spec", "template", "spec", "containers", 0, "image")


def of(space: str, name: str = "web") -> str:
    """The file of a policy."""
    return f"policies/PropagationPolicy/{space}.{name}.yaml"


def deployment(space: str, name: str = "web") -> str:
    """The file of a Deployment."""
    return f"objects/{space}/Deployment.{name}.yaml"


@contextmanager
def begun(
    karmada: KarmadaHub, folder: Path, known: Sequence[Known], **settings: Any
) -> Iterator[Story]:
    """A story on a control plane; what it makes there is deleted, and its members are as before.

    Args:
        karmada: the control plane.
        folder: where it is observed to.
        known: differences that are as they have to be.
        settings: fields of the ``KarmadaSettings``, which nobody can observe.
    """
    story = _Tale(karmada, folder, binding_words, tuple(known), settings=settings)
    karmada.watch(KINDS)
    hub = story.objects()
    before = _members(hub)
    try:
        yield story
    finally:
        _restore(hub, before)
        _clear(hub)
        story.close()


@attrs.define
class _Tale(Story):
    """A story that says in the directory how the control plane is set up."""

    settings: Mapping[str, Any] = attrs.field(factory=dict)

    def observe(self) -> None:
        """Observe the control plane, and complete its settings."""
        super().observe()
        (file,) = self.folder.rglob(_SETTINGS)
        for name, value in self.settings.items():
            self.edit(str(file.relative_to(self.folder)), put(value, "spec", name))

    def compare(self, plan: FleetPlan, rest: float = 0.0) -> None:
        """Compare as every story does; what fails has a note of what the programs have said last."""
        try:
            super().compare(plan, rest)
        except (AssertionError, TimeoutError) as error:
            assert isinstance(self.hub, KarmadaHub)
            for name in (SCHEDULER, MANAGER):
                error.add_note(f"{name} has said:\n{self.hub.programs[name].tail()}")
            raise


def _members(hub: Objects) -> dict[str, Document]:
    listed = hub.get(_CLUSTERS)
    assert listed
    return {item["metadata"]["name"]: item for item in listed["items"]}


def _restore(hub: Objects, before: Mapping[str, Document]) -> None:
    now = _members(hub)
    assert now.keys() == before.keys(), "a member has left"
    for name, was in before.items():
        labels = merged(
            now[name]["metadata"].get("labels") or {}, was["metadata"].get("labels") or {}
        )
        taints = was["spec"].get("taints") or []
        if labels or taints != (now[name]["spec"].get("taints") or []):
            patch = {"metadata": {"labels": labels}, "spec": {"taints": taints}}
            headers = {"Content-Type": "application/merge-patch+json"}
            answer = hub.judge.client.patch(f"{_CLUSTERS}/{name}", json=patch, headers=headers)
            assert answer.is_success, answer.text


def _clear(hub: Objects) -> None:
    for path in _CLUSTER_WIDE:
        hub.delete(path)
    for space in (hub.get(_NAMESPACES) or {"items": ()})["items"]:
        hub.delete(f"/api/v1/namespaces/{space['metadata']['name']}")
    give_up = time.monotonic() + _PATIENCE
    while left := [item["metadata"]["name"] for item in (hub.get(_BINDINGS) or {})["items"]]:
        assert time.monotonic() < give_up, f"there still after {_PATIENCE:.0f} s: {', '.join(left)}"
        time.sleep(0.3)
