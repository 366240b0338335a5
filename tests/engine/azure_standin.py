"""A stand-in for the Azure provider plugin, or for that of a hub: it keeps what it is given, and replaces what Azure's
would.

Run as a plugin: ``python -m tests.engine.azure_standin PACKAGE VERSION ENGINE_ADDRESS``. What a test writes into
``drift.json`` of its folder, by resource name and as a map of fields, is what a refresh then finds changed.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pulumi.provider.experimental import provider
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.provider.experimental.server import main

from tests.azure.world import KUBECONFIG, NAMES, SUBSCRIPTION, differences, is_replaced
from tests.engine.standin import FOLDER, plain


class AzureStandIn(provider.Provider):
    """All of Azure, or of a hub, as far as components look at it."""

    def __init__(self, package: str, version: str) -> None:
        self.schema = {"name": package, "version": version}
        self.drift = Path(os.environ[FOLDER]) / "drift.json"

    async def get_schema(self, _request: provider.GetSchemaRequest) -> provider.GetSchemaResponse:
        return provider.GetSchemaResponse(json.dumps(self.schema))

    async def check_config(self, request: provider.CheckRequest) -> provider.CheckResponse:
        return provider.CheckResponse(request.new_inputs)

    async def diff_config(self, _request: provider.DiffRequest) -> provider.DiffResponse:
        return provider.DiffResponse(changes=False)

    async def configure(self, _request: provider.ConfigureRequest) -> provider.ConfigureResponse:
        return provider.ConfigureResponse(
            accept_secrets=True, supports_preview=True, accept_resources=True, accept_outputs=True
        )

    async def check(self, request: provider.CheckRequest) -> provider.CheckResponse:
        return provider.CheckResponse(request.new_inputs)

    async def diff(self, request: provider.DiffRequest) -> provider.DiffResponse:
        kind = request.urn.split("::")[2].rpartition("$")[2]
        old = {field: value for field, value in plain(request.old_state).items() if field != "name"}
        paths = differences(old, plain(request.new_inputs), tuple(request.ignore_changes))
        replaces = sorted(paths) if is_replaced(kind, paths) else []
        return provider.DiffResponse(changes=bool(paths), diffs=sorted(paths), replaces=replaces)

    async def create(self, request: provider.CreateRequest) -> provider.CreateResponse:
        if request.preview:
            return provider.CreateResponse("", request.properties)
        inputs = plain(request.properties)
        name = next((inputs[field] for field in NAMES if field in inputs), request.name)
        identity = f"/subscriptions/{SUBSCRIPTION}/{request.urn.split('::')[2].rpartition(':')[2]}/{name}"
        return provider.CreateResponse(identity, _outputs(request.properties, name))

    async def update(self, request: provider.UpdateRequest) -> provider.UpdateResponse:
        return provider.UpdateResponse(_outputs(request.news, request.resource_id.rpartition("/")[2]))

    async def read(self, request: provider.ReadRequest) -> provider.ReadResponse:
        drift = json.loads(self.drift.read_text()) if self.drift.exists() else {}
        changed = drift.get(request.urn.rpartition("::")[2], {})
        inputs, outputs = (_merged(plain(values), changed) for values in (request.inputs, request.properties))
        return provider.ReadResponse(request.resource_id, _fields(outputs), _fields(inputs))

    async def delete(self, _request: provider.DeleteRequest) -> None:
        return None

    async def invoke(self, _request: provider.InvokeRequest) -> provider.InvokeResponse:
        value = base64.b64encode(KUBECONFIG.encode()).decode()
        return provider.InvokeResponse({"kubeconfigs": _wrapped([{"name": "it", "value": value}])})


def _outputs(inputs: Mapping[str, PropertyValue], name: str) -> dict[str, PropertyValue]:
    return {**inputs, "name": PropertyValue(name)}


def _merged(value: Any, changed: Any) -> Any:
    """The value with changed fields; a changed list takes the place of the old one, element by element."""
    if isinstance(value, Mapping) and isinstance(changed, Mapping):
        return {**value, **{key: _merged(value.get(key), item) for key, item in changed.items()}}
    if isinstance(value, list) and isinstance(changed, list):
        return [_merged(value[i] if i < len(value) else None, item) for i, item in enumerate(changed)]
    return changed


def _fields(values: Mapping[str, Any]) -> dict[str, PropertyValue]:
    return {field: _wrapped(value) for field, value in values.items()}


def _wrapped(value: Any) -> PropertyValue:
    if isinstance(value, Mapping):
        return PropertyValue(_fields(value))
    if isinstance(value, list):
        return PropertyValue([_wrapped(item) for item in value])
    return PropertyValue(float(value) if isinstance(value, int) and not isinstance(value, bool) else value)


if __name__ == "__main__":
    main(sys.argv[3:], sys.argv[2], AzureStandIn(*sys.argv[1:3]))
