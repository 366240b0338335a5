"""A fleet whose source goes through a real hub, and whose objects are looked for on the hub and on the members."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml

from tests.engine.driver import Engine
from tools.clusters.cluster import ControlPlane

Data = dict[str, Any]


@attrs.define
class HubStory:
    """What the user has written.

    Attributes:
        hub: the control plane of the hub.
        planes: the control planes of the members.
        members: the declarations of the members, by name.
        objects: everything else, by a name of the test's own.
        config: the configuration of the stack.
    """

    hub: ControlPlane
    planes: Mapping[str, ControlPlane]
    members: dict[str, Data]
    objects: dict[str, Data] = attrs.field(factory=dict)
    config: dict[str, Any] = attrs.field(factory=dict)

    def write(self, folder: Path) -> None:
        """Write the YAML into a folder of its own."""
        folder.mkdir(exist_ok=True)
        (folder / "fleet.yaml").write_text(yaml.safe_dump_all([*self.members.values(), *self.objects.values()]))

    def image(self, plane: str) -> str | None:
        """The image that the Deployment ``web`` has on a member; None if it is not there."""
        found = self.planes[plane].get("deployment", "web", "-n", "shop")
        return found and str(found["spec"]["template"]["spec"]["containers"][0]["image"])


def status(stack: Engine[HubStory], *options: str) -> tuple[int, str]:
    """What ``fleet status --hub`` tells: its exit status, and all that it prints."""
    hub = str(stack.world.hub.kubeconfig)
    with stack.fleet("status", ".", "--stack", stack.name, "--hub", hub, *options) as process:
        told, errors = process.communicate(timeout=120)
    return process.returncode, told + errors


def written(live: Data) -> Data:
    """A member as its user declares it: with the labels and taints that it has, and what it reports."""
    metadata = {"name": live["metadata"]["name"], "labels": dict(live["metadata"].get("labels") or {})}
    kept: Data = {key: live[key] for key in ("apiVersion", "kind", "spec", "status") if key in live}
    return {**kept, "metadata": metadata}


def web(image: str = "web:1", replicas: int = 2) -> Data:
    labels = {"app": "web"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": image}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod},
    }
