"""No replacement loses an object: by hand, with a new form that is refused, with every way back."""

from __future__ import annotations

import copy
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs
import pytest
import yaml

from tests.delivery.driver import Outcome
from tests.engine.checked import said
from tests.engine.driver import Engine
from tests.engine.stories import Data, Story, group_of, namespace, placement, unchanged
from tests.engine.test_clusters import WIDGETS
from tests.engine.test_identity import tokens
from tests.engine.test_interrupted import wait
from tests.engine.test_replacing import claim, made, sealed, service, stateful, with_spec, workload
from tools.clusters.cluster import ControlPlane

pytestmark = [pytest.mark.engine, pytest.mark.clusters]
SKIPPED = {"pulumi.com/skipAwait": "true"}
POLICIES = "admissionregistration.k8s.io/v1"
WORDS = "not in this house"


def job() -> tuple[Data, Data]:
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "job:1"}]}
    old = made("batch/v1", "Job", annotations=SKIPPED, spec={"template": {"spec": pod}})
    new = copy.deepcopy(old)
    new["spec"]["template"]["spec"]["containers"][0]["image"] = "job:2"
    return old, new


def definition(group: str) -> Data:
    """The CustomResourceDefinition of a group of the test's own."""
    found: Data = copy.deepcopy(WIDGETS)
    found["metadata"]["name"] = f"widgets.{group}"
    found["spec"]["group"] = group
    return found


def widget(group: str) -> Data:
    return made(f"{group}/v1", "Widget", spec={"size": "one"})


FORMS = {
    "Deployment": workload,
    "Service": service,
    "Job": job,
    "ConfigMap": sealed,
    "PersistentVolumeClaim": claim,
    "StatefulSet": stateful,
}
"""Old and new form by kind; only a replacement leads from one to the other."""


@attrs.frozen
class Shop:
    """A story with an object of each of some kinds on member ``a``."""

    engine: Engine[Story]

    @property
    def world(self) -> Story:
        return self.engine.world

    @property
    def group(self) -> str:
        """The group of its custom kind."""
        return f"{self.world.space}.example.com"

    def open(self, *kinds: str, custom: bool = False) -> None:
        """Deliver an object ``web`` of each kind."""
        world = self.world
        world.leave("b")
        space = namespace(world.space)
        objects = {kind: self.placed(FORMS[kind]()[0]) for kind in kinds}
        chosen = [space]
        if custom:
            defined = definition(self.group)
            objects["CustomResourceDefinition"] = defined
            objects["Widget"] = self.placed(widget(self.group))
            chosen.append(defined)
        world.objects = {"space": space, **objects, "one": placement("one", *chosen)}
        assert (done := self.engine.up()).ok, done.text

    def placed(self, data: Data) -> Data:
        return {**data, "metadata": {**data["metadata"], "namespace": self.world.space}}

    def change(self, kind: str) -> None:
        """Write the new form of an object, with the token for what holds data."""
        self.world.objects[kind] = self.placed(FORMS[kind]()[1])
        self.confirm()

    def confirm(self) -> None:
        """Give the tokens that the preview asks for."""
        self.world.config.pop("confirm", None)
        found = tokens(self.engine.preview().text)
        self.world.config |= {"confirm": ",".join(found)} if found else {}

    def uids(self) -> dict[str, str | None]:
        """The uids by kind."""
        found = {}
        for kind, data in self.world.objects.items():
            if kind in FORMS or kind in ("CustomResourceDefinition", "Widget"):
                of_kind = f"{kind.lower()}.{group_of(data)}".rstrip(".")
                live = self.world.live("a", of_kind, data["metadata"]["name"])
                found[kind] = live and live["metadata"]["uid"]
        return found

    def up(self) -> Outcome:
        """Update without a preview before it: the update itself has to find what is wrong."""
        code, text = self.engine.command("up", "--yes", "--skip-preview")
        return Outcome(code == 0, text, {})

    def settled(self) -> None:
        """Nothing is left: an unchanged preview is empty, and the status says so."""
        self.world.config.pop("confirm", None)
        unchanged(self.engine)
        said(self.engine, "status", 0)


@pytest.fixture
def shop(story: Engine[Story]) -> Shop:
    return Shop(story)


@contextmanager
def denied(plane: ControlPlane, space: str, expression: str, resource: str) -> Iterator[None]:
    """Let an API server create no objects in a namespace for which an expression is false."""
    every: Data = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE"]}
    rule = every | {"resources": [resource]}
    validation = {"expression": expression, "message": WORDS}
    here = {"matchLabels": {"kubernetes.io/metadata.name": space}}
    matched = {"resourceRules": [rule], "namespaceSelector": here}
    spec = {"failurePolicy": "Fail", "matchConstraints": matched, "validations": [validation]}
    binding = {"policyName": space, "validationActions": ["Deny"]}
    kinds = {"ValidatingAdmissionPolicy": spec, "ValidatingAdmissionPolicyBinding": binding}
    objects = [
        {"apiVersion": POLICIES, "kind": kind, "metadata": {"name": space}, "spec": each}
        for kind, each in kinds.items()
    ]
    file = plane.folder / f"{space}.yaml"
    probe = plane.folder / f"{space}-probe.yaml"
    metadata = {"name": "probe-of-policy", "namespace": space}
    tried = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    # A policy takes effect some time after it was made: this one says so by an object of its own.
    rule["resources"] = [*dict.fromkeys((resource, "configmaps"))]
    validation["expression"] = f"object.metadata.name != 'probe-of-policy' && ({expression})"
    file.write_text(yaml.safe_dump_all(objects))
    probe.write_text(yaml.safe_dump(tried))
    plane.kubectl("apply", "-f", str(file))
    while _takes(plane, str(probe)):
        time.sleep(0.1)
    try:
        yield
    finally:
        plane.kubectl("delete", "-f", str(file))
        while not _takes(plane, str(probe)):
            time.sleep(0.1)


def _takes(plane: ControlPlane, file: str) -> bool:
    try:
        plane.kubectl("create", "-f", file, "--dry-run=server")
    except subprocess.CalledProcessError:
        return False
    return True


def test_what_is_replaced_by_hand_stands_afterwards(shop: Shop) -> None:
    """``--replace`` and ``pulumi state taint``: of every kind, a provider, and our own records."""
    shop.open(*FORMS, custom=True)
    engine, before = shop.engine, shop.uids()
    patterns = [f"**{kind}::dev/one@a/**" for kind in (*before, "Namespace")]
    by_hand = [f"--replace={pattern}" for pattern in patterns]
    code, text = engine.command("up", "--yes", "--skip-preview", *by_hand)
    assert code == 0, text
    after = shop.uids()
    assert None not in after.values(), after
    # The engine deletes nothing that outlives its placement.
    kept = {"CustomResourceDefinition"}
    assert {kind for kind, uid in after.items() if uid == before[kind]} == kept
    shop.settled()
    urns = list(engine.state().resources)
    for urn in (urn for urn in urns if "kubernetes:" in urn and "::dev/one@a/" in urn):
        assert engine.command("state", "taint", urn, "--yes")[0] == 0
    shown = engine.preview()
    assert shown.ok, shown.text
    code, text = engine.command("up", "--yes", "--skip-preview")
    assert code == 0, text
    again = shop.uids()
    assert None not in again.values(), again
    assert {kind for kind, uid in again.items() if uid == after[kind]} == kept
    shop.settled()
    records = ("pulumi:providers:kubernetes", "fleet:Placement", "fleet:Binding", "fleet:Member")
    by_hand = [f"--replace=**{record}::**" for record in records]
    code, text = engine.command("up", "--yes", "--skip-preview", *by_hand)
    assert code == 0, text
    for urn in (urn for urn in urns if urn.split("::")[2].rpartition("$")[2].endswith(records)):
        assert engine.command("state", "taint", urn, "--yes")[0] == 0
    assert (done := engine.up()).ok, done.text
    assert shop.uids() == again
    shop.settled()


REFUSED: Mapping[str, tuple[str, str]] = {
    "validation": ("Deployment", "Unsupported value"),
    "policy": ("ConfigMap", WORDS),
    "quota": ("PersistentVolumeClaim", "exceeded quota"),
}


@pytest.mark.parametrize("by", REFUSED)
def test_a_new_form_that_is_refused_leaves_the_old_one(shop: Shop, by: str) -> None:
    kind, words = REFUSED[by]
    shop.open(kind)
    world, plane, before = shop.world, shop.world.planes["a"], shop.uids()
    if by == "quota":
        plane.kubectl("create", "quota", "tight", "-n", world.space, "--hard=requests.storage=2Gi")
        until(lambda: "used" in (world.live("a", "quota", "tight").get("status") or {}))
    shop.change(kind)
    wanted = world.objects[kind]
    worse = copy.deepcopy(wanted)
    if by == "validation":
        worse["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    if by == "quota":
        worse["spec"]["resources"]["requests"]["storage"] = "3Gi"
    world.objects[kind] = worse
    with denied(plane, world.space, "object.data.k != 'two'", "configmaps"):
        shown, done = shop.engine.preview(), shop.up()
    for outcome in (shown, done):
        assert not outcome.ok
        assert f"{kind} {world.space}/web" in outcome.text
        assert "to be replaced on a" in outcome.text
        assert words in outcome.text
        assert "Traceback" not in outcome.text
    assert shop.uids() == before
    # Quotas that the old one holds are no refusal, and are named.
    if by == "quota":
        world.objects[kind] = with_spec(wanted, resources={"requests": {"storage": "2Gi"}})
        assert "is not checked: the object itself holds" in shop.engine.preview().text
        # What the old one has held is given back some time after it has gone.
        plane.kubectl("delete", "quota", "tight", "-n", world.space)
    else:
        world.objects[kind] = wanted
    assert (mended := shop.up()).ok, mended.text
    after = shop.uids()
    assert None not in after.values()
    assert after != before
    shop.settled()


WAYS_ON = {
    "Deployment": "revert",
    "Service": "forward",
    "Job": "revert",
    "ConfigMap": "another",
    "PersistentVolumeClaim": "revert",
    "StatefulSet": "forward",
}


@pytest.mark.parametrize("kind", WAYS_ON)
def test_a_creation_that_fails_after_all_has_a_way_back(shop: Shop, kind: str) -> None:
    """What refuses the object by its very name is found by no trial under another one."""
    shop.open(kind)
    world, old, before = shop.world, shop.world.objects[kind], shop.uids()
    shop.change(kind)
    named = "object.metadata.name != 'web'"
    with denied(world.planes["a"], world.space, named, f"{kind.lower()}s"):
        broken = shop.up()
    assert not broken.ok
    assert WORDS in broken.text
    assert f"gone from a, where it was to be replaced: {kind} {world.space}/web" in broken.text
    assert shop.uids() == {kind: None}
    assert "0 of 1 as decided" in said(shop.engine, "status", 2)
    match WAYS_ON[kind]:
        case "revert":
            world.objects[kind] = old
        case "another":
            world.objects[kind] = {**world.objects[kind], "data": {"k": "three"}}
    shop.confirm()
    assert (mended := shop.engine.up()).ok, mended.text
    after = shop.uids()
    assert after[kind] not in (None, before[kind])
    shop.settled()


@pytest.mark.parametrize("way", ["revert", "forward", "gone"])
def test_killed_between_deletion_and_creation(shop: Shop, way: str) -> None:
    shop.open("ConfigMap")
    world, plane, old = shop.world, shop.world.planes["a"], shop.world.objects["ConfigMap"]
    target = ("configmap", "web", "-n", world.space, "--type=merge")
    plane.kubectl("patch", *target, '--patch={"metadata": {"finalizers": ["example.com/held"]}}')
    shop.change("ConfigMap")
    process = shop.engine.start("up", "--yes", "--skip-preview")
    try:
        wait(lambda: "deletionTimestamp" in world.live("a", *target[:2])["metadata"], process)
        os.killpg(process.pid, signal.SIGKILL)
    finally:
        process.communicate(timeout=120)
    plane.kubectl("patch", *target, '--patch={"metadata": {"finalizers": []}}')
    assert shop.uids() == {"ConfigMap": None}
    assert shop.engine.command("cancel", "--yes")[0] == 0
    said(shop.engine, "status", 2)
    if way == "revert":
        world.objects["ConfigMap"] = old
    if way == "gone":
        del world.objects["ConfigMap"]
        shop.confirm()
    # Without a refresh the state has it that the old form still stands, and updates it.
    mended = shop.engine.up_refreshed() if way == "revert" else shop.engine.up()
    assert mended.ok, mended.text
    assert None not in shop.uids().values()
    shop.settled()


def until(reached: Any) -> None:
    while not reached():
        time.sleep(0.1)
