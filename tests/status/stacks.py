"""States of stacks after updates that failed, as ``pulumi stack export`` prints them, and the events of those updates.

What an engine leaves was seen on the real one, with real API servers: see ``tests/engine/test_status.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from fleet_components.plan.state import StoredResource
from tests.delivery.driver import InProcess
from tests.delivery.world import KubeFleetWorld

REFUSED = (
    'the Kubernetes API server reported that "shop/web" failed to fully initialize or become live: deployments.apps '
    "\"web\" is forbidden: ValidatingAdmissionPolicy 'images' denied request: web:2 is not wanted here"
)
SAID = "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'images' denied request: web:2 is not wanted here"
UNREADY = [
    'resource "urn:pulumi:stack::project::x::y" was successfully created, but the Kubernetes API server reported that it '
    "failed to fully initialize or become live: 'web' timed out waiting to be Ready",
    "Minimum number of live Pods was not attained",
]
UNREACHABLE = (
    "configured Kubernetes cluster is unreachable: unable to load schema information from the API server: "
    'Get "https://127.0.0.1:1/openapi/v2?timeout=32s": net/http: TLS handshake timeout'
)


@attrs.define
class Stack:
    """A stack whose second update, of a new image, broke in the second of three waves.

    Attributes:
        driver: the updates.
        errors: what the provider said of the Deployment, by member, as the state keeps it.
        pending: members on whose Deployment the update was killed.
        gone: members whose Deployment was deleted to be replaced, and not created.
        events: the events of the last update.
    """

    driver: InProcess[KubeFleetWorld]
    errors: dict[str, list[str]] = attrs.field(factory=dict)
    pending: list[str] = attrs.field(factory=list)
    gone: list[str] = attrs.field(factory=list)
    events: list[dict[str, Any]] = attrs.field(factory=lambda: [{"preludeEvent": {"config": {}}}])

    def deployment(self, member: str) -> str:
        """The URN of a member's Deployment, whether the state has it or not."""
        urn = next(urn for urn in self.driver.state.resources if urn.endswith("@a/shop/web"))
        return urn.replace("shop@a", f"shop@{member}")

    def said(self, member: str, text: str) -> None:
        """Add the events of a Deployment that fails."""
        urn = self.deployment(member)
        metadata = {"op": "update", "urn": urn}
        self.events += [
            {"resourcePreEvent": {"metadata": metadata}},
            {
                "diagnosticEvent": {
                    "urn": urn,
                    "severity": "error",
                    "message": f"<{{%reset%}}>{text}<{{%reset%}}>\n",
                }
            },
            {"resOpFailedEvent": {"metadata": metadata}},
            {"diagnosticEvent": {"severity": "error", "message": "update failed\n"}},
            {"summaryEvent": {"result": "failed"}},
        ]

    def export(self) -> dict[str, Any]:
        """The state."""
        pending = [
            {"resource": {"urn": self.deployment(name)}, "type": "updating"}
            for name in self.pending
        ]
        resources = [self._resource(resource) for resource in self.driver.state.resources.values()]
        return {"version": 3, "deployment": {"resources": resources, "pending_operations": pending}}

    def write(self, folder: Path) -> tuple[Path, Path, Path]:
        """Write source, state and events, and return the paths."""
        source, state, events = folder / "fleet", folder / "state.json", folder / "events.jsonl"
        self.driver.world.write(source)
        state.write_text(json.dumps(self.export()))
        events.write_text("".join(f"{json.dumps(event)}\n" for event in self.events))
        return source, state, events

    def _resource(self, stored_resource: StoredResource) -> Mapping[str, Any]:
        errors = next(
            (
                found
                for name, found in self.errors.items()
                if stored_resource.urn == self.deployment(name)
            ),
            [],
        )
        return {
            "urn": stored_resource.urn,
            "type": stored_resource.type,
            "custom": True,
            "inputs": dict(stored_resource.inputs),
            "outputs": dict(stored_resource.outputs or stored_resource.inputs),
            **({"initErrors": errors} if errors else {}),
            **(
                {"pendingReplacement": True}
                if stored_resource.urn in map(self.deployment, self.gone)
                else {}
            ),
        }


def broke(members: Iterable[str] = "abc") -> Stack:
    """A stack of that kind, in which nothing says why it broke."""
    return Stack(deepcopy(_broken(tuple(members))))


@cache
def _broken(members: tuple[str, ...]) -> InProcess[KubeFleetWorld]:
    driver = InProcess(KubeFleetWorld(members={name: {} for name in members}))
    assert driver.up().ok
    driver.world.image = "web:2"
    assert not driver.up(fails={"b"}).ok
    return driver
