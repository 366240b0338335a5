"""What cannot be changed in place is made anew: on real API servers, there and back."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.engine.driver import Engine
from tests.engine.stories import (
    RBAC,
    Data,
    Story,
    deployment,
    namespace,
    placement,
    refused,
    unchanged,
)
from tests.engine.test_identity import tokens

pytestmark = pytest.mark.engine
SKIPPED = {"pulumi.com/skipAwait": "true"}


def service() -> tuple[Data, Data]:
    old = made("v1", "Service", spec={"selector": {"app": "web"}, "ports": [{"port": 80}]})
    return old, with_spec(old, clusterIP="None")


def workload() -> tuple[Data, Data]:
    old = deployment("")
    new = copy.deepcopy(old)
    new["spec"]["selector"] = {"matchLabels": {"app": "www"}}
    new["spec"]["template"]["metadata"] = {"labels": {"app": "www"}}
    return old, new


def stateful() -> tuple[Data, Data]:
    spec = copy.deepcopy(deployment("")["spec"])
    old = made("apps/v1", "StatefulSet", spec={**spec, "serviceName": "one"})
    return old, with_spec(old, serviceName="two")


def claim() -> tuple[Data, Data]:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "one",
    }
    old = made("v1", "PersistentVolumeClaim", annotations=SKIPPED, spec=spec)
    return old, with_spec(old, storageClassName="two")


def sealed() -> tuple[Data, Data]:
    return tuple(
        made("v1", "ConfigMap", immutable=True, data={"k": value}) for value in ("one", "two")
    )  # type: ignore[return-value]


def binding() -> tuple[Data, Data]:
    roles = ({"apiGroup": RBAC, "kind": "ClusterRole", "name": name} for name in ("view", "edit"))
    subjects = [{"apiGroup": RBAC, "kind": "Group", "name": "readers"}]
    item, two = (
        made(f"{RBAC}/v1", "ClusterRoleBinding", roleRef=role, subjects=subjects) for role in roles
    )
    return item, two


def priority() -> tuple[Data, Data]:
    item, two = (made("scheduling.k8s.io/v1", "PriorityClass", value=value) for value in (10, 20))
    return item, two


def made(version: str, kind: str, annotations: Data | None = None, **fields: Any) -> Data:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "web", "annotations": annotations or {}},
        **fields,
    }


def with_spec(data: Data, **changed: Any) -> Data:
    return {**data, "spec": {**data["spec"], **changed}}


@pytest.mark.parametrize("make", [service, workload, stateful, claim, sealed, binding, priority])
def test_replaced(story: Engine[Story], make: Any) -> None:
    """The preview says so, the update does it, and leaves nothing to be done."""
    world, name = story.world, story.world.space
    world.leave("b")
    old, new = (placed_in(name, data) for data in make())
    space = namespace(name)
    chosen = [space] if "namespace" in old["metadata"] else [space, old]
    world.objects = {"space": space, "it": old, "one": placement("one", *chosen)}
    assert (first := story.up()).ok, first.text
    what = (f"{old['kind'].lower()}", old["metadata"]["name"])
    for wanted in (new, old):
        before = world.uids(what, on="a")
        world.objects["it"] = wanted
        if old["kind"] in ("StatefulSet", "PersistentVolumeClaim"):
            world.config["confirm"] = ",".join(
                tokens(refused(story, "and made anew, with all that it holds"))
            )
            assert world.uids(what, on="a") == before
        shown, done = story.preview(), story.up()
        assert shown.ok, shown.text
        assert done.ok, done.text
        assert "replaced, because" in shown.text
        for outcome in (shown, done):
            what_happens = {
                name: change
                for name, change in outcome.changes.items()
                if name.startswith(old["kind"])
            }
            assert set(what_happens.values()) == {"create-replacement"}, outcome.changes
        after = world.uids(what, on="a")
        assert None not in after.values()
        assert after != before
        world.config.pop("confirm", None)
        unchanged(story)


def placed_in(space: str, data: Data) -> Data:
    """A namespaced object in the namespace, and any other one called by its name."""
    where = (
        {"name": space}
        if data["kind"] in ("ClusterRoleBinding", "PriorityClass")
        else {"namespace": space}
    )
    return {**data, "metadata": {**data["metadata"], **where}}
