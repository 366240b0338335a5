"""An Azure that remembers what stands, moves it between updates as a test says, and judges each request by it.

It takes the place of ``azure_standin`` for clusters and node pools: ``python -m tests.engine.azure_store PACKAGE VERSION
ENGINE_ADDRESS``. What stands is in ``standing.json`` of its folder.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pulumi.provider.experimental import provider
from pulumi.provider.experimental.server import main

from fleet_components.azure.values.kubernetes_version import is_older
from tests.engine.azure_standin import AzureStandIn, _fields
from tests.engine.standin import FOLDER, plain

LATEST = "1.33.9"


class Refusal(Exception):
    """An answer of Azure that is no."""


class Store:
    """What stands: the clusters by name, each with its version and pools, and what was scaled by a request."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "standing.json"

    def load(self) -> dict[str, Any]:
        return (
            json.loads(self.file.read_text())
            if self.file.exists()
            else {"clusters": {}, "scaled": [], "hubs": []}
        )

    def save(self, data: Mapping[str, Any]) -> None:
        self.file.write_text(json.dumps(data))

    def move(self, cluster: str, version: str | None = None, **counts: int) -> None:
        """Azure upgrades a cluster with all its pools, and scales pools."""
        data = self.load()
        found = data["clusters"][cluster]
        if version:
            found["version"] = version
            for pool in found["pools"].values():
                pool["orchestratorVersion"] = version
        for pool, count in counts.items():
            found["pools"][pool]["count"] = count
        self.save(data)

    def add_pool(self, cluster: str, name: str, version: str) -> None:
        """Somebody adds a pool by hand."""
        data = self.load()
        data["clusters"][cluster]["pools"][name] = {"orchestratorVersion": version, "count": 1}
        self.save(data)

    def refuse(self, cluster: str) -> None:
        """Refuse all requests for a cluster from now on; none if empty."""
        self.save({**self.load(), "refused": cluster})

    def put_cluster(self, inputs: Mapping[str, Any]) -> None:
        data = self.load()
        name = inputs["resourceName"]
        if name == data.get("refused"):
            raise Refusal("OperationNotAllowed: another operation is in progress")
        stands = data["clusters"].setdefault(
            name, {"version": inputs.get("kubernetesVersion") or LATEST, "pools": {}}
        )
        version = inputs.get("kubernetesVersion") or stands["version"]
        if is_older(version, stands["version"]):
            raise Refusal(
                f"Downgrading Kubernetes version {stands['version']} to {version} is not allowed."
            )
        if is_older(stands["version"], version):
            stands["version"] = version
        profiles = inputs["agentPoolProfiles"]
        said = {profile["name"] for profile in profiles if profile.get("orchestratorVersion")}
        if said and said != {*stands["pools"], *(profile["name"] for profile in profiles)}:
            raise Refusal("NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged")
        for profile in profiles:
            self._put_pool(data, name, profile["name"], profile)
        self.save(data)

    def put_pool(self, inputs: Mapping[str, Any]) -> None:
        data = self.load()
        self._put_pool(data, inputs["resourceName"], inputs["agentPoolName"], inputs)
        self.save(data)

    def _put_pool(
        self, data: dict[str, Any], cluster: str, name: str, inputs: Mapping[str, Any]
    ) -> None:
        found = data["clusters"][cluster]
        if inputs.get("count") is None:
            raise Refusal("Required parameter properties.count is missing (null).")
        stands = found["pools"].setdefault(
            name, {"orchestratorVersion": found["version"], "count": inputs["count"]}
        )
        version = inputs.get("orchestratorVersion") or stands["orchestratorVersion"]
        if is_older(version, stands["orchestratorVersion"]) or is_older(found["version"], version):
            raise Refusal(
                f"{version} is no version for node pool {name}, which runs {stands['orchestratorVersion']}."
            )
        if (
            stands.get("enableAutoScaling")
            and inputs["enableAutoScaling"]
            and stands["count"] != inputs["count"]
        ):
            data["scaled"].append(
                f"{cluster}/{name} from {int(stands['count'])} to {int(inputs['count'])}"
            )
        stands |= {"count": inputs["count"], "enableAutoScaling": inputs["enableAutoScaling"]}
        stands["orchestratorVersion"] = version

    def put_fleet(self, name: str, has_hub: bool) -> None:
        data = self.load()
        data["hubs"] = sorted({*data["hubs"], name} if has_hub else {*data["hubs"]} - {name})
        self.save(data)

    def delete(self, cluster: str, pool: str) -> None:
        data = self.load()
        del data["clusters"][cluster]["pools"][pool]
        self.save(data)


class RememberingAzure(AzureStandIn):
    """Azure with clusters and node pools that stand, also between updates."""

    def __init__(self, package: str, version: str) -> None:
        super().__init__(package, version)
        self.store = Store(Path(os.environ[FOLDER]))

    async def create(self, request: provider.CreateRequest) -> provider.CreateResponse:
        if not request.preview:
            self._judge(request.urn, plain(request.properties))
        return await super().create(request)

    async def update(self, request: provider.UpdateRequest) -> provider.UpdateResponse:
        if not request.preview:
            self._judge(request.urn, plain(request.news))
        return await super().update(request)

    async def delete(self, request: provider.DeleteRequest) -> None:
        if request.urn.split("::")[2].endswith(":AgentPool"):
            inputs = plain(request.properties)
            self.store.delete(inputs["resourceName"], inputs["agentPoolName"])
        await super().delete(request)

    async def read(self, request: provider.ReadRequest) -> provider.ReadResponse:
        kind = request.urn.split("::")[2].rpartition(":")[2]
        if kind not in ("ManagedCluster", "AgentPool"):
            return await super().read(request)
        inputs, outputs = plain(request.inputs), plain(request.properties)
        found = self.store.load()["clusters"][inputs["resourceName"]]
        live = dict(_live(kind, inputs, found))
        return provider.ReadResponse(
            request.resource_id, _fields({**outputs, **live}), _fields({**inputs, **live})
        )

    async def invoke(self, request: provider.InvokeRequest) -> provider.InvokeResponse:
        kind, args = request.tok.rpartition(":")[2], plain(request.args)
        if kind == "listFleetCredentials" and args["fleetName"] not in self.store.load()["hubs"]:
            raise Refusal(f"the fleet {args['fleetName']} has no hub")
        if kind not in ("getManagedCluster", "getAgentPool"):
            return await super().invoke(request)
        found = self.store.load()["clusters"].get(args["resourceName"])
        if found is None:
            raise Refusal(f"ResourceNotFound: {args['resourceName']}")
        pools = {
            name: {**pool, "name": name, "currentOrchestratorVersion": pool["orchestratorVersion"]}
            for name, pool in found["pools"].items()
        }
        version = {
            "kubernetesVersion": found["version"],
            "currentKubernetesVersion": found["version"],
        }
        answer = {**version, "agentPoolProfiles": list(pools.values())}
        return provider.InvokeResponse(
            _fields(pools[args["agentPoolName"]] if "agentPoolName" in args else answer)
        )

    def _judge(self, urn: str, inputs: Mapping[str, Any]) -> None:
        kind = urn.split("::")[2]
        if kind.endswith(":ManagedCluster"):
            self.store.put_cluster(inputs)
        elif kind.endswith(":AgentPool"):
            self.store.put_pool(inputs)
        elif inputs.get("resourceType") == "fleets":
            self.store.put_fleet(inputs["resourceName"], "hubProfile" in inputs["properties"])


def _live(
    kind: str, inputs: Mapping[str, Any], found: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """What a refresh finds: Azure lists all pools of a cluster in the cluster too."""
    if kind == "ManagedCluster":
        first, *_ = inputs["agentPoolProfiles"]
        others = {name: pool for name, pool in found["pools"].items() if name != first["name"]}
        listed = [{**pool, "name": name} for name, pool in others.items()]
        yield "kubernetesVersion", found["version"]
        yield "agentPoolProfiles", [{**first, **found["pools"][first["name"]]}, *listed]
    else:
        yield from found["pools"][inputs["agentPoolName"]].items()


if __name__ == "__main__":
    main(sys.argv[3:], sys.argv[2], RememberingAzure(*sys.argv[1:3]))
