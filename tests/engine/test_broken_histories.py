"""Random histories on real API servers, whose updates break before or after any write of any object.

A webhook of the API servers chooses the moment. What each update changes on the API servers is
what its plan has announced, objects of broken members included.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from enum import StrEnum
from typing import Any

import attrs
import pytest

from fleet_components.model.manifest import Manifest
from fleet_components.plan import names
from fleet_components.plan.names import Urn
from fleet_components.plan.state import CREATING
from tests.delivery.driver import Outcome
from tests.engine.checked import Pair, checked, planned
from tests.engine.driver import Engine
from tests.engine.stories import Data, Story, config_map, deployment, namespace, placement
from tests.engine.test_endings import wait_until
from tests.engine.test_identity import tokens
from tests.engine.test_replacing import SKIPPED
from tests.engine.webhook import Webhook, registered, webhook

__all__ = ["webhook"]
pytestmark = [pytest.mark.engine, pytest.mark.clusters]
SEEDS = os.environ.get("FLEET_HISTORIES", "1,2,3").split(",")
"""Each history is the same in every run; name others to try more of them."""
UPDATES = 4
OPERATIONS = ("CREATE", "UPDATE", "DELETE")
OF_A_CHANGE = {
    "create": ("CREATE",),
    "update": ("UPDATE",),
    "replace": ("DELETE", "CREATE"),
    "delete": ("DELETE",),
}
RULES = [
    {"apiGroups": [group], "apiVersions": ["v1"], "resources": [kind], "operations": [*OPERATIONS]}
    for group, kind in (
        ("", "configmaps"),
        ("", "persistentvolumeclaims"),
        ("", "services"),
        ("apps", "deployments"),
    )
]
OF_CLUSTERS = ("system:kube-", "system:apiserver", "system:serviceaccount:kube-system:")
"""Users that write what the API servers and their controllers keep for themselves."""


class Break(StrEnum):
    """How an update ends at a write."""

    DENIED = "denied"
    KILLED_BEFORE = "killed before"
    KILLED_AFTER = "killed after"


@attrs.frozen
class Moment:
    """The write at which an update breaks.

    Attributes:
        member: the member whose API server is about to carry it out.
        kind, name: the object.
        operation: what is done to it.
        how: how the update ends.
    """

    member: str
    kind: str
    name: str
    operation: str
    how: Break

    def is_reached(self, request: Data) -> bool:
        """Return whether an admission request is this write, and no dry run."""
        asked = (request["member"], request["kind"]["kind"], request["name"], request["operation"])
        by_us = not request["userInfo"]["username"].startswith(OF_CLUSTERS)
        return by_us and not request["dryRun"] and asked == self._wanted

    @property
    def _wanted(self) -> tuple[str, ...]:
        return self.member, self.kind, self.name, self.operation


@attrs.define
class BreakingUpdate:
    """An update that breaks at a moment, if it gets there.

    Attributes:
        moment: the write at which it breaks.
        webhook: what the API servers call before each write.
        meanwhile: what is done while the write is denied.
        reached: whether the update has broken.
    """

    moment: Moment
    webhook: Webhook
    meanwhile: Callable[[], object] | None = None
    reached: bool = False

    def __call__(self, engine: Engine[Story]) -> Outcome:
        process = engine.start("up", "--yes", "--skip-preview")
        killer: list[threading.Thread] = []

        def denies(request: Data) -> bool:
            if not self.moment.is_reached(request):
                return False
            again, self.reached = self.reached, True
            if self.moment.how is Break.DENIED:
                if self.meanwhile and not again:
                    self.meanwhile()
                return True
            if again:
                return False
            if self.moment.how is Break.KILLED_BEFORE:
                os.killpg(process.pid, signal.SIGKILL)
                return True
            # A stopped engine keeps its connection: the API server carries out the request.
            os.killpg(process.pid, signal.SIGSTOP)
            killer.append(threading.Thread(target=self._kill, args=(engine, process.pid)))
            killer[0].start()
            return False

        self.webhook.denies = denies
        try:
            text, _ = process.communicate(timeout=300)
        finally:
            for thread in killer:
                thread.join()
            self.webhook.denies = lambda request: False
        if self.reached and self.moment.how is not Break.DENIED:
            code, said = engine.command("cancel", "--yes")
            assert code == 0, said
        wait_until(lambda: not any(map(leaving, live(engine.world, self.moment.member))))
        return Outcome(process.returncode == 0, text, {})

    def _kill(self, engine: Engine[Story], process: int) -> None:
        """End the engine once the write is carried out."""
        before = version(engine.world, self.moment)
        until = time.monotonic() + 10
        while version(engine.world, self.moment) == before and time.monotonic() < until:
            time.sleep(0.05)
        os.killpg(process, signal.SIGKILL)


@pytest.fixture
def called(tale: Story, webhook: Webhook) -> Iterator[Webhook]:
    """A webhook that both API servers call before each write in the namespace of the story."""
    with ExitStack() as stack:
        for member, plane in tale.planes.items():
            plane.kubectl("create", "namespace", tale.space)
            client = webhook.client_of(member)
            stack.enter_context(registered(plane, tale.space, client, rules=RULES))
        yield webhook


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_planned_is_what_happens(story: Engine[Story], called: Webhook, seed: str) -> None:
    chosen = random.Random(seed)
    tale = story.world
    for number in range(UPDATES + 1):
        tale.objects = source(chosen, tale.space)
        plan = confirmed(story)
        if refreshed(story):
            plan = confirmed(story)
        unrecorded = killed_creations(story)
        moments = sorted(writes(plan))
        # The last update mends what is broken.
        if number == UPDATES or not moments:
            checked(story, unrecorded=unrecorded)
            continue
        update = BreakingUpdate(Moment(*chosen.choice(moments), chosen.choice(list(Break))), called)
        step = checked(story, update, fails=None, unrecorded=unrecorded)
        assert step.done.ok is not update.reached, step.done.text


def confirmed(story: Engine[Story]) -> Mapping[str, Any]:
    """Return the plan, and allow what it refuses."""
    story.world.config.pop("confirm", None)
    plan = planned(story)
    if plan["refused"]:
        given = tokens("\n".join(map(str, plan["refused"])))
        story.world.config["confirm"] = ",".join(given)
    return plan


def refreshed(story: Engine[Story]) -> bool:
    """Follow the hint of a preview that is refused because a killed deletion was carried out.

    Returns whether it was.
    """
    shown = story.preview()
    if shown.ok:
        return False
    assert "pulumi refresh, which notices that" in shown.text, shown.text
    found = story.refresh()
    assert found.ok, found.text
    return True


def killed_creations(story: Engine[Story]) -> set[Pair]:
    """Return the objects at whose creation an update was killed, and that no update has recorded."""
    pending = story.state().pending
    urns = [Urn.parse(urn) for urn, what in pending.items() if what == CREATING]
    places = filter(None, (names.place_of("dev", urn) for urn in urns))
    return {(story.world.where[place.cluster], str(place.object)) for place in places}


def source(chosen: random.Random, space: str) -> dict[str, Data]:
    """Return a source: each object is there in one of two forms, or is not there."""
    objects = {
        "claim": [claim(space, storage) for storage in ("one", "two")],
        "sealed": [
            {**config_map(space, value, "sealed"), "immutable": True} for value in ("one", "two")
        ],
        "open": [config_map(space, value, "open") for value in ("one", "two")],
        "service": [service(space), service(space, clusterIP="None")],
        "web": [deployment(space, image) for image in ("web:1", "web:2")],
    }
    present = {name: forms for name, forms in objects.items() if chosen.random() < 0.8}
    members = chosen.choice((["a", "b"], ["a", "b"], ["a"], ["b"]))
    policy = {"placementType": "PickFixed", "clusterNames": members}
    within = namespace(space)
    return {
        "space": within,
        "shop": placement("shop", within, policy=policy),
        **{name: chosen.choice(forms) for name, forms in present.items()},
    }


def writes(plan: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the writes that a plan announces: member, kind, name and operation.

    A replacement is a deletion and a creation. The Namespace is left out: no webhook is called
    for it.
    """
    for subject in plan["subjects"]:
        for entry in subject["content"] or ():
            kind, _, name = entry["object"].partition(" ")
            namespace, _, name = name.rpartition("/")
            if namespace and not entry["later"] and entry["fate"] not in ("kept", "forgotten"):
                for member in entry["members"]:
                    for operation in OF_A_CHANGE[entry["change"]]:
                        yield member, kind, name, operation


def claim(space: str, storage: str) -> Data:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": storage,
    }
    metadata = {"name": "claim", "namespace": space, "annotations": SKIPPED}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": spec,
    }


def service(space: str, **spec: Any) -> Data:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "service", "namespace": space},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}], **spec},
    }


def live(tale: Story, member: str) -> list[Data]:
    """Return the objects of the kinds that break, on the API server of a member."""
    kinds = ",".join(rule["resources"][0] for rule in RULES)
    listed = tale.planes[member].get(kinds, "-n", tale.space)
    return list(listed["items"]) if listed else []


def leaving(data: Data) -> bool:
    return "deletionTimestamp" in data["metadata"]


def version(tale: Story, moment: Moment) -> str | None:
    """Return the version of the object at which an update breaks; None if there is none."""
    for data in live(tale, moment.member):
        if (data["kind"], Manifest(data).key.name) == (moment.kind, moment.name):
            return str(data["metadata"]["resourceVersion"])
    return None
