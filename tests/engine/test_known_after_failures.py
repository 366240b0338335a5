"""What a program and an export know of an object at which an update broke, on real API servers.

The tables of "What a plan knows after a failure" in ``docs/delivery.md``, a case for each row.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.engine.driver import Engine
from tests.engine.stories import Data, Story, deployment, namespace, placement
from tests.engine.test_broken_histories import RULES, Break, BreakingUpdate, Moment
from tests.engine.test_endings import wait_until
from tests.engine.test_failures import as_an_account
from tests.engine.webhook import Webhook, registered, webhook
from tools.clusters.cluster import ControlPlane

__all__ = ["webhook"]
pytestmark = [pytest.mark.engine, pytest.mark.clusters]
PROGRAM = Path(__file__).parent / "programs" / "known.py"
USER = "system:serviceaccount:default:fleet"
ACCOUNT = ("clusterrolebinding/fleet", "serviceaccount/fleet")
OLD, NEW = "web:1", "web:2"


@attrs.frozen
class Row:
    """A row of the table.

    Attributes:
        operation: the write at which the update breaks; empty if the object does not become ready.
        how: how the update breaks there.
        outputs, sent: the image in the outputs of the object, and in ``__inputs`` there; None if the
            stack does not have the object.
        exported: what the export has besides: a note of the engine.
        change: changes the Deployment.
        first: whether the Deployment is there before.
        unread: whether the provider may not read the object any more.
    """

    operation: str
    how: Break
    outputs: str | None
    sent: str | None
    exported: str
    change: Callable[[Data], Data | None]
    first: bool = True
    unread: bool = False


def with_image(web: Data) -> Data:
    return deployment(web["metadata"]["namespace"], NEW)


def not_ready(web: Data) -> Data:
    return deployment(web["metadata"]["namespace"], NEW, waits=5, nodeSelector={"no": "node"})


def selecting(web: Data) -> Data:
    """Change a field that cannot be changed, so that the Deployment is replaced."""
    new = with_image(web)
    new["spec"]["selector"] = {"matchLabels": {"app": "www"}}
    new["spec"]["template"]["metadata"] = {"labels": {"app": "www"}}
    return new


def without(_: Data) -> None:
    return None


DENIED, KILLED = Break.DENIED, Break.KILLED_BEFORE
ERROR, REPLACING, PENDING = "initErrors", "pendingReplacement", "pending_operations"
ROWS = {
    "its update is refused": Row("UPDATE", DENIED, OLD, NEW, ERROR, with_image),
    "the same, and it cannot be read": Row("UPDATE", DENIED, OLD, OLD, "", with_image, unread=True),
    "it does not become ready": Row("", DENIED, NEW, NEW, ERROR, not_ready),
    "its creation is refused": Row("CREATE", DENIED, None, None, "", with_image, first=False),
    "its creation is refused after its deletion": Row(
        "CREATE", DENIED, OLD, OLD, REPLACING, selecting
    ),
    "the engine is killed": Row("UPDATE", KILLED, OLD, OLD, PENDING, with_image),
    "the engine is killed while it is created": Row(
        "CREATE", KILLED, None, None, PENDING, with_image, first=False
    ),
    "its deletion is refused": Row("DELETE", DENIED, OLD, OLD, "", without),
}


def forbid(plane: ControlPlane) -> Callable[[], object]:
    """Return what takes all rights from the account of the fleet, and waits until it has none."""

    def forbidden() -> None:
        plane.kubectl("delete", ACCOUNT[0])
        wait_until(lambda: not may_read(plane))

    return forbidden


def may_read(plane: ControlPlane) -> bool:
    try:
        plane.kubectl("get", "deployments", f"--as={USER}", "-n", "default")
    except subprocess.CalledProcessError:
        return False
    return True


@pytest.fixture
def called(story: Engine[Story], webhook: Webhook) -> Iterator[Webhook]:
    """A webhook that the only member calls; the fleet writes as an account that can lose its rights."""
    tale = story.world
    tale.leave("b")
    plane = tale.planes["a"]
    plane.kubectl("create", "namespace", tale.space)
    tale.config["kubeconfigs"]["a"] = as_an_account(plane)
    try:
        with registered(plane, tale.space, webhook.client_of("a"), rules=RULES):
            yield webhook
    finally:
        plane.kubectl("delete", *ACCOUNT, "-n", "default", "--ignore-not-found")


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_what_is_known(story: Engine[Story], called: Webhook, row: Row) -> None:
    tale, space = story.world, namespace(story.world.space)
    web = deployment(tale.space, OLD)
    tale.objects = {"space": space, "shop": placement("shop", space)}
    tale.objects |= {"web": web} if row.first else {}
    assert (first := story.up()).ok, first.text
    new = row.change(web)
    tale.objects.pop("web", None)
    tale.objects |= {"web": new} if new else {}
    moment = Moment("a", "Deployment", "web", row.operation, row.how)
    update = BreakingUpdate(moment, called, forbid(tale.planes["a"]) if row.unread else None)
    broken = update(story)
    assert not broken.ok
    assert update.reached or not row.operation
    assert of_program(story) == (row.outputs, row.sent)
    assert of_export(story) == (row.outputs, row.sent, row.exported)


def images(outputs: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the image in the outputs of a Deployment, and in what was sent."""
    found = [
        data["spec"]["template"]["spec"]["containers"][0]["image"]
        for data in (outputs, outputs["__inputs"])
    ]
    return found[0], found[1]


def of_program(story: Engine[Story]) -> tuple[str | None, str | None]:
    """Return the images of the Deployment that a program of the same stack can read in a preview."""
    own = (story.project / "__main__.py").read_text()
    shutil.copy(PROGRAM, story.project / "__main__.py")
    story.command("preview")
    (story.project / "__main__.py").write_text(own)
    known = json.loads((story.project / "known.json").read_text())
    found = [item["outputs"] for urn, item in known.items() if urn.endswith("/web")]
    return images(found[0]) if found else (None, None)


def of_export(story: Engine[Story]) -> tuple[str | None, str | None, str]:
    """Return the same from an export, and the note that the engine keeps of the Deployment."""
    exported = json.loads(story.export())
    pending = [
        item
        for item in exported.get("pending_operations") or ()
        if item["resource"]["urn"].endswith("/web")
    ]
    found = [item for item in exported["resources"] if item["urn"].endswith("/web")]
    if not found:
        return None, None, PENDING if pending else ""
    notes = [name for name in (ERROR, REPLACING) if found[0].get(name)]
    note = PENDING if pending else notes[0] if notes else ""
    return *images(found[0]["outputs"]), note
