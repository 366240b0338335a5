"""A stand-in for the Kubernetes provider plugin, served by the SDK's own provider host.

It keeps the objects of each cluster in a folder, records the order of calls, and refuses what a test tells it to
refuse. Run as a plugin: ``python -m tests.engine.standin ENGINE_ADDRESS``; its folder comes from the environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pulumi.provider.experimental import provider
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.provider.experimental.server import main

from fleet_components.live.kubeconfig import names_no_cluster

FOLDER = "FLEET_STANDIN"
DIFF_NONE: Any = 1
DIFF_SOME: Any = 2
Properties = dict[str, PropertyValue]


class StandIn(provider.Provider):
    """One process per member, as with the real plugin."""

    def __init__(self) -> None:
        self.folder = Path(os.environ[FOLDER])
        self.cluster = ""
        self.reaches = True

    async def get_schema(self, _request: provider.GetSchemaRequest) -> provider.GetSchemaResponse:
        return provider.GetSchemaResponse(json.dumps({"name": "kubernetes", "version": "4.99.0"}))

    async def check_config(self, request: provider.CheckRequest) -> provider.CheckResponse:
        return provider.CheckResponse(request.new_inputs)

    async def diff_config(self, request: provider.DiffRequest) -> provider.DiffResponse:
        old, new = (
            plain(item).get("deleteUnreachable") for item in (request.old_state, request.new_inputs)
        )
        # A number of DiffChanges: the SDK hands a truth on as the number 1, which is DIFF_NONE (pulumi 3.272.0).
        return provider.DiffResponse(changes=DIFF_SOME if old != new else DIFF_NONE)

    async def configure(self, request: provider.ConfigureRequest) -> provider.ConfigureResponse:
        settings = plain(request.args)
        self.reaches = not names_no_cluster(str(settings.get("kubeconfig") or ""))
        self.cluster = (
            settings.get("clusterIdentifier")
            or Path(settings.get("renderYamlToDirectory", "")).name
        )
        return provider.ConfigureResponse(
            accept_secrets=True, supports_preview=True, accept_resources=True, accept_outputs=True
        )

    async def check(self, request: provider.CheckRequest) -> provider.CheckResponse:
        return provider.CheckResponse(request.new_inputs)

    async def diff(self, request: provider.DiffRequest) -> provider.DiffResponse:
        return provider.DiffResponse(changes=sent(request.old_state) != plain(request.new_inputs))

    async def create(self, request: provider.CreateRequest) -> provider.CreateResponse:
        identity = object_id(plain(request.properties))
        if not request.preview:
            await self._apply("create", request.type, identity, request.properties)
        return provider.CreateResponse(identity, with_inputs(request.properties))

    async def update(self, request: provider.UpdateRequest) -> provider.UpdateResponse:
        if not request.preview:
            await self._apply("update", request.type, request.resource_id, request.news)
        return provider.UpdateResponse(with_inputs(request.news))

    async def read(self, request: provider.ReadRequest) -> provider.ReadResponse:
        stands = self._file(request.type, request.resource_id).exists()
        found = request.resource_id if stands else ""
        return provider.ReadResponse(found, request.properties if stands else {}, request.inputs)

    async def delete(self, request: provider.DeleteRequest) -> None:
        if not self.reaches:
            return  # as the real plugin with deleteUnreachable
        self._record("delete", request.resource_id)
        self._refuse(request.resource_id)
        self._file(request.type, request.resource_id).unlink(missing_ok=True)

    async def _apply(
        self, call: str, kind: str, identity: str, properties: Mapping[str, PropertyValue]
    ) -> None:
        self._record(call, identity)
        while (self.folder / "slow" / self.cluster).exists():
            await asyncio.sleep(0.05)
        self._refuse(f"{kind.rpartition(':')[2]}/{identity}")
        file = self._file(kind, identity)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(plain(properties)))

    def _refuse(self, identity: str) -> None:
        told = self.folder / "fails" / self.cluster
        if told.exists() and told.read_text() in identity:
            raise RuntimeError(f"{self.cluster} refuses {identity}")

    def _record(self, call: str, identity: str) -> None:
        with (self.folder / "calls.jsonl").open("a") as calls:
            calls.write(
                json.dumps({"call": call, "cluster": self.cluster, "object": identity}) + "\n"
            )

    def _file(self, kind: str, identity: str) -> Path:
        # The type comes with those of its parents; an object is the same one whatever brings it.
        name = f"{kind.rpartition('$')[2]}/{identity}".replace("/", "_").replace(":", "_")
        return self.folder / "clusters" / self.cluster / f"{name}.json"


def object_id(data: Mapping[str, Any]) -> str:
    """``namespace/name``, as the real plugin has it."""
    metadata = data["metadata"]
    return (
        f"{metadata['namespace']}/{metadata['name']}"
        if metadata.get("namespace")
        else str(metadata["name"])
    )


def with_inputs(properties: Properties) -> Properties:
    """The outputs of an object, in which the real plugin keeps what it has sent."""
    return {**properties, "__inputs": PropertyValue(properties)}


def sent(state: Properties) -> Any:
    """What was sent last, of the outputs of an object."""
    return plain(state.get("__inputs", state))


def plain(value: Any) -> Any:
    """Property values as plain data."""
    if isinstance(value, PropertyValue):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    main(sys.argv[1:], "4.99.0", StandIn())
