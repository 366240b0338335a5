"""A stand-in for the Azure provider plugin, or for that of a hub: it keeps what it is given, replaces what Azure's
would, and refuses what Azure refuses (:mod:`tests.azure.laws`). ``calls.jsonl`` of its folder has what was called, in
its order and with the subscription of the provider that it went through.

Run as a plugin: ``python -m tests.engine.azure_standin PACKAGE VERSION ENGINE_ADDRESS``. What a test writes into
``drift.json`` of its folder, by resource name and as a map of fields, is what a refresh then finds changed.
"""

from __future__ import annotations

import asyncio
import base64
import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
from pulumi.provider.experimental import provider
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.provider.experimental.server import main

from tests.azure.laws import Cloud, Thing, principal
from tests.azure.world import KUBECONFIG, NAMES, SUBSCRIPTION, Call, differences, is_replaced
from tests.engine.standin import FOLDER, plain


class AzureStandIn(provider.Provider):
    """All of Azure, or of a hub, as far as components look at it. One process per provider of a program."""

    def __init__(self, package: str, version: str) -> None:
        self.schema = {"name": package, "version": version}
        self.folder = Path(os.environ[FOLDER])
        self.subscription = SUBSCRIPTION

    async def get_schema(self, _request: provider.GetSchemaRequest) -> provider.GetSchemaResponse:
        return provider.GetSchemaResponse(json.dumps(self.schema))

    async def check_config(self, request: provider.CheckRequest) -> provider.CheckResponse:
        return provider.CheckResponse(request.new_inputs)

    async def diff_config(self, _request: provider.DiffRequest) -> provider.DiffResponse:
        return provider.DiffResponse(changes=False)

    async def configure(self, request: provider.ConfigureRequest) -> provider.ConfigureResponse:
        self.subscription = plain(request.args).get("subscriptionId") or SUBSCRIPTION
        return provider.ConfigureResponse(
            accept_secrets=True, supports_preview=True, accept_resources=True, accept_outputs=True
        )

    async def check(self, request: provider.CheckRequest) -> provider.CheckResponse:
        return provider.CheckResponse(request.new_inputs)

    async def diff(self, request: provider.DiffRequest) -> provider.DiffResponse:
        kind = request.urn.split("::")[2].rpartition("$")[2]
        old = {
            field: value
            for field, value in plain(request.old_state).items()
            if field not in SET_BY_AZURE
        }
        new = {**plain(request.new_inputs), **plain(_identities(request.new_inputs))}
        paths = differences(old, new, tuple(request.ignore_changes))
        replaces = sorted(paths) if is_replaced(kind, paths) else []
        return provider.DiffResponse(changes=bool(paths), diffs=sorted(paths), replaces=replaces)

    async def create(self, request: provider.CreateRequest) -> provider.CreateResponse:
        if request.preview:
            return provider.CreateResponse(
                "", {**request.properties, **_identities(request.properties)}
            )
        identity = await self._put("create", request.urn, request.properties)
        return provider.CreateResponse(
            identity, _outputs(request.urn, identity, request.properties, self.told)
        )

    async def update(self, request: provider.UpdateRequest) -> provider.UpdateResponse:
        if not request.preview:
            await self._put("update", request.urn, request.news)
        outputs = _outputs(request.urn, request.resource_id, request.news, self.told)
        created = plain(request.olds).get("createdOn")
        return provider.UpdateResponse(
            {**outputs, "createdOn": PropertyValue(created)} if created else outputs
        )

    async def read(self, request: provider.ReadRequest) -> provider.ReadResponse:
        drift = self._told("drift.json").get(request.urn.rpartition("::")[2], {})
        inputs, outputs = (
            _merged(plain(values), drift) for values in (request.inputs, request.properties)
        )
        return provider.ReadResponse(request.resource_id, _fields(outputs), _fields(inputs))

    async def delete(self, request: provider.DeleteRequest) -> None:
        await self._takes_time()
        with self._cloud() as cloud:
            self._record("delete", request.resource_id)
            if self._is_hub:
                cloud.hub()
            cloud.delete(request.resource_id)

    async def invoke(self, request: provider.InvokeRequest) -> provider.InvokeResponse:
        if request.tok.endswith(":getClientConfig"):
            return provider.InvokeResponse({"subscriptionId": PropertyValue(self.subscription)})
        call = Call(request.tok, plain(request.args), self.subscription)
        if request.tok.endswith((":getManagedCluster", ":getAgentPool")):
            return provider.InvokeResponse(_fields(self._standing(call.args)))
        with self._cloud() as cloud:
            self._record("invoke", call.asked)
            cloud.credentials(call.asked)
        value = base64.b64encode(self.told.get("kubeconfig", KUBECONFIG).encode()).decode()
        return provider.InvokeResponse({"kubeconfigs": _wrapped([{"name": "it", "value": value}])})

    @property
    def told(self) -> Mapping[str, Any]:
        """What the test tells, in ``azure.json``.

        ``existing``, ``registered``, ``fleet_rp`` and ``strict_hub`` as in :class:`Cloud`; ``slow``: seconds that a request takes;
        ``reach``: seconds until a role reaches; ``aged``: seconds that a new role seems to be old; ``kubeconfig``: that
        of all hubs and clusters.
        """
        return self._told("azure.json")

    @property
    def _is_hub(self) -> bool:
        return self.schema["name"] == "kubernetes"

    async def _put(self, call: str, urn: str, properties: Mapping[str, PropertyValue]) -> str:
        await self._takes_time()
        kind, name = urn.split("::")[2].rpartition("$")[2], urn.rpartition("::")[2]
        inputs = plain(properties)
        with self._cloud() as cloud:
            if self._is_hub:
                identity = f"{kind}/{inputs['metadata']['name']}/{name}"
                self._record(call, identity)
                cloud.hub(inputs["metadata"]["name"])
                return identity
            thing = Thing(kind, name, self.subscription, inputs)
            self._record(call, thing.id)
            cloud.put(thing)
            return thing.id

    def _standing(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """A cluster or a node pool as it was sent last."""
        kind = "AgentPool" if "agentPoolName" in asked else "ManagedCluster"
        with self._cloud() as cloud:
            of_kind = (thing.inputs for thing in cloud.things.values() if thing.kind == kind)
            inputs = next(item for item in of_kind if asked.items() <= item.items())
        version = inputs.get("kubernetesVersion") or inputs.get("orchestratorVersion")
        pools = [
            {**item, "currentOrchestratorVersion": version}
            for item in inputs.get("agentPoolProfiles", ())
        ]
        return {
            **inputs,
            **plain(_identities(_fields(inputs))),
            "currentKubernetesVersion": version,
            "currentOrchestratorVersion": version,
            "agentPoolProfiles": pools,
        }

    async def _takes_time(self) -> None:
        await asyncio.sleep(self.told.get("slow", 0))

    @contextmanager
    def _cloud(self) -> Iterator[Cloud]:
        """All that is there, shared by the processes of all providers; kept if the body ends well."""
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            kept = self._told("cloud.json")
            since: dict[str, float] = kept.get("since", {})
            fields = ("existing", "registered", "fleet_rp", "strict_hub")
            told = {field: self.told[field] for field in fields if field in self.told}
            late = tuple(
                each for each, at in since.items() if time.time() - at < self.told.get("reach", 0)
            )
            cloud = Cloud(
                {key: Thing(**thing) for key, thing in kept.get("things", {}).items()},
                **told,
                ineffective=late,
            )
            yield cloud
            since = {key: since.get(key, time.time()) for key in cloud.things}
            things = {key: attrs.asdict(thing) for key, thing in cloud.things.items()}
            (self.folder / "cloud.json").write_text(json.dumps({"things": things, "since": since}))

    def _told(self, file: str) -> dict[str, Any]:
        path = self.folder / file
        found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return found

    def _record(self, call: str, identity: str) -> None:
        with (self.folder / "calls.jsonl").open("a") as calls:
            calls.write(
                json.dumps({"call": call, "id": identity, "subscription": self.subscription}) + "\n"
            )


SET_BY_AZURE = ("name", "principalId", "createdOn")


def _outputs(
    urn: str, identity: str, inputs: Mapping[str, PropertyValue], told: Mapping[str, Any]
) -> dict[str, PropertyValue]:
    name = next(
        (plain(inputs[field]) for field in NAMES if field in inputs), urn.rpartition("::")[2]
    )
    found: dict[str, PropertyValue] = {**inputs, "name": PropertyValue(name), **_identities(inputs)}
    if urn.split("::")[2].endswith(":UserAssignedIdentity"):
        found["principalId"] = PropertyValue(principal(identity))
    if urn.split("::")[2].endswith(":RoleAssignment"):
        then = datetime.now(UTC) - timedelta(seconds=told.get("aged", 0))
        found["createdOn"] = PropertyValue(then.isoformat())
    return found


def _identities(inputs: Mapping[str, PropertyValue]) -> dict[str, PropertyValue]:
    """The identity as Azure has it: the SDK takes a list of identities, Azure answers with a map."""
    identity = plain(inputs.get("identity")) or {}
    named = identity.get("userAssignedIdentities")
    return (
        {"identity": _wrapped({**identity, "userAssignedIdentities": {each: {} for each in named}})}
        if named
        else {}
    )


def _merged(value: Any, changed: Any) -> Any:
    """The value with changed fields; a changed list takes the place of the old one, element by element."""
    if isinstance(value, Mapping) and isinstance(changed, Mapping):
        return {**value, **{key: _merged(value.get(key), item) for key, item in changed.items()}}
    if isinstance(value, list) and isinstance(changed, list):
        return [
            _merged(value[i] if i < len(value) else None, item) for i, item in enumerate(changed)
        ]
    return changed


def _fields(values: Mapping[str, Any]) -> dict[str, PropertyValue]:
    return {field: _wrapped(value) for field, value in values.items()}


def _wrapped(value: Any) -> PropertyValue:
    if isinstance(value, Mapping):
        return PropertyValue(_fields(value))
    if isinstance(value, list):
        return PropertyValue([_wrapped(item) for item in value])
    return PropertyValue(
        float(value) if isinstance(value, int) and not isinstance(value, bool) else value
    )


if __name__ == "__main__":
    main(sys.argv[3:], sys.argv[2], AzureStandIn(*sys.argv[1:3]))
