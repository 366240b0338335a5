"""A fleet on real API servers whose source changes from step to step, and whose objects are known by their uids."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml

from fleet_components.model.manifest import Manifest, ObjectKey
from tests.control_planes import Planes
from tests.delivery.driver import Outcome
from tests.delivery.karmada.world import POLICY
from tests.delivery.world import IDENTITY, MEMBER
from tests.engine.driver import Engine

Data = dict[str, Any]
Uids = dict[tuple[str, ...], str | None]
"""By cluster, kind and name; None for what is not there."""
PLACEMENT = "placement.kubernetes-fleet.io/v1"
RBAC = "rbac.authorization.k8s.io"


@attrs.define
class Story:
    """What the user has written, for a namespace that no other test has.

    Attributes:
        space: the namespace; cluster-scoped objects are called by it too.
        planes: the API servers.
        members: labels by member name.
        objects: everything else, by a name of the test's own.
        config: the configuration of the stack.
        where: the API server of each member, also of those that have left.
        written: the keys of all objects that were ever written.
    """

    space: str
    planes: Planes
    members: dict[str, dict[str, str]] = attrs.field(factory=dict)
    objects: dict[str, Data] = attrs.field(factory=dict)
    config: dict[str, Any] = attrs.field(factory=lambda: {"kubeconfigs": {}})
    where: dict[str, str] = attrs.field(factory=dict)
    written: set[ObjectKey] = attrs.field(factory=set)

    def join(self, name: str, plane: str = "") -> None:
        """Declare a member; it has the API server of its own name if none is named."""
        self.members[name] = {}
        self.where[name] = plane or name
        self.config["kubeconfigs"][name] = self.planes[plane or name].kubeconfig.read_text()

    def leave(self, name: str) -> None:
        """Declare it no more."""
        del self.members[name], self.config["kubeconfigs"][name]

    def write(self, folder: Path) -> None:
        """Write the YAML into a folder of its own."""
        folder.mkdir(exist_ok=True)
        self.written.update(Manifest(data).key for data in self.objects.values())
        members = [member(name, labels) for name, labels in self.members.items()]
        (folder / "fleet.yaml").write_text(yaml.safe_dump_all([*members, *self.objects.values()]))

    def source(self) -> tuple[Any, ...]:
        """All that is written, to go back to."""
        return copy.deepcopy((self.members, self.objects, self.config))

    def go_back(self, source: tuple[Any, ...]) -> None:
        """Write again what was written before."""
        self.members, self.objects, self.config = copy.deepcopy(source)

    def live(self, plane: str, kind: str, name: str) -> Any:
        """An object as an API server has it; None for nothing."""
        return self.planes[plane].get(kind, name, "-n", self.space)

    def uids(self, *objects: tuple[str, str], on: str = "ab") -> Uids:
        """The uids of objects, each given as kind and name."""
        found = {(plane, *data): self.live(plane, *data) for plane in on for data in objects}
        return {key: live and live["metadata"]["uid"] for key, live in found.items()}


def shop_of(tale: Story, **more: Data) -> None:
    """Write a Namespace with a Deployment, a ConfigMap and what else is given, and its placement on all members."""
    space = namespace(tale.space)
    contents = {"web": deployment(tale.space), "c": config_map(tale.space), **more}
    tale.objects = {"space": space, **contents, "shop": placement("shop", space)}


def carried_out(engine: Engine[Any]) -> Outcome:
    """Update: it does what its preview showed, and leaves nothing to be done. The preview is returned."""
    seen, done = engine.preview(), engine.up()
    assert seen.ok, seen.text
    assert done.ok, done.text
    assert done.changes == seen.changes, (done.changes, seen.changes)
    unchanged(engine)
    return seen


def unchanged(engine: Engine[Any]) -> None:
    """A further preview shows nothing."""
    again = engine.preview()
    assert again.ok, again.text
    assert again.changes == {}, engine.command("preview", "--diff")[1]


def refused(engine: Engine[Any], *words: str) -> str:
    """Preview and update are refused, with these words; returns what is said."""
    shown, done = engine.preview(), engine.up()
    for outcome in (shown, done):
        assert not outcome.ok
        assert "Traceback" not in outcome.text, outcome.text
        assert [word for word in words if word not in outcome.text] == [], outcome.text
    return done.text


def member(name: str, labels: Mapping[str, str] | None = None) -> Data:
    return {
        **MEMBER,
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": {"identity": IDENTITY},
    }


def placement(name: str, *selected: Data, policy: Data | None = None) -> Data:
    """A ClusterResourcePlacement; PickAll if no policy is given."""
    selectors = [
        {
            "group": group_of(item),
            "version": version_of(item),
            "kind": item["kind"],
            "name": name_of(item),
        }
        for item in selected
    ]
    spec = {"resourceSelectors": selectors, "policy": policy or {"placementType": "PickAll"}}
    return {
        "apiVersion": PLACEMENT,
        "kind": "ClusterResourcePlacement",
        "metadata": {"name": name},
        "spec": spec,
    }


def pick(number: int) -> Data:
    """The policy that picks so many members."""
    return {"placementType": "PickN", "numberOfClusters": number}


def propagation(name: str, *selected: Data, on: str = "ab", **spec: Any) -> Data:
    """A PropagationPolicy in the namespace of what it selects."""
    selectors = [
        {"apiVersion": item["apiVersion"], "kind": item["kind"], "name": name_of(item)}
        for item in selected
    ]
    return {
        "apiVersion": POLICY,
        "kind": "PropagationPolicy",
        "metadata": {"name": name, "namespace": selected[0]["metadata"]["namespace"]},
        "spec": {
            "resourceSelectors": selectors,
            "placement": {"clusterAffinity": {"clusterNames": list(on)}},
            **spec,
        },
    }


def namespace(name: str) -> Data:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def config_map(space: str, value: str = "one", name: str = "c") -> Data:
    return {**_in(space, name, "v1", "ConfigMap"), "data": {"k": value}}


def cluster_role(name: str, verb: str = "get") -> Data:
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": [verb]}]
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": rules,
    }


def deployment(space: str, image: str = "web:1", *, waits: int = 0, **pod: Any) -> Data:
    """A Deployment ``web``; an update waits so many seconds for it, or as long as it takes."""
    data = _in(space, "web", "apps/v1", "Deployment")
    if waits:
        data["metadata"]["annotations"] = {"pulumi.com/timeoutSeconds": str(waits)}
    labels = {"app": "web"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "web", "image": image}], **pod},
    }
    return {
        **data,
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }


def group_of(data: Mapping[str, Any]) -> str:
    group, _, _ = str(data["apiVersion"]).rpartition("/")
    return group


def version_of(data: Mapping[str, Any]) -> str:
    return str(data["apiVersion"]).rpartition("/")[2]


def name_of(data: Mapping[str, Any]) -> str:
    return str(data["metadata"]["name"])


def _in(space: str, name: str, version: str, kind: str) -> Data:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": space}}
