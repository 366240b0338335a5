"""What a program hands to the providers: files, so that members and manifests stay out of the state.

A feed file holds what only feeds a decision. The provider gets its path and digest, reads it while the program
runs, and drops it from what it keeps. A file may hold the data of Secrets: it is for its owner only, it goes with
the program, and where the engine ends a program too hard for that, nobody can read it without the key of that run.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import decode, encode
from fleet_components.model.inventory import Inventory
from fleet_components.model.member_cluster import read_time
from fleet_components.model.placement import PlacementPolicy, RollingUpdate
from fleet_components.model.problem import FleetError
from fleet_components.plan.place import Request, place
from fleet_components.plan.record import Record
from fleet_components.rollout.guard import guard
from fleet_components.rollout.plan import Done, Gates
from fleet_components.rollout.strategy import External

Feed = Mapping[str, str]


def write_feed(value: Any) -> Feed:
    """Write a value for the providers of this run; its path, and its digest with the key of this run."""
    text = json.dumps(value, sort_keys=True).encode()
    digest = hashlib.sha256(text).hexdigest()
    file = _folder() / digest
    if not file.exists():
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            out.write(_masked(text, digest, _key()))
    return {"path": str(file), "digest": f"{digest}/{_key()}"}


def feed_inventory(inventory: Inventory) -> Feed:
    """Hand over the fleet, once for all placements."""
    as_of = inventory.as_of.isoformat() if inventory.as_of else None
    return write_feed({"clusters": [encode(cluster) for cluster in inventory.clusters], "asOf": as_of})


def feed_request(request: Request, inventory: Feed, *, limit: float, confirm: tuple[str, ...]) -> Feed:
    """Hand over one placement."""
    strategy = request.strategy
    return write_feed(
        {
            "inventory": inventory,
            "key": request.key,
            "policy": encode(request.policy) if request.policy else None,
            "external": encode(strategy) if isinstance(strategy, External) else None,
            "rolling": encode(strategy) if isinstance(strategy, RollingUpdate) else None,
            "objects": list(request.objects),
            "namespace": request.namespace,
            "done": {cluster: encode(done) for cluster, done in request.done.items()},
            "gates": encode(request.gates),
            "untrackable": request.untrackable,
            "limit": limit,
            "confirm": list(confirm),
        }
    )


def read_request(feed: Feed) -> Request:
    """The placement that was handed over."""
    return _request(read_feed(feed))


def decide(feed: Feed, olds: Mapping[str, Any]) -> dict[str, Any]:
    """What the placement's provider adds to its inputs.

    Raises:
        FleetError: the cycle fails, or the placement would lose too many clusters.
    """
    wire, before = read_feed(feed), Record.from_wire(olds)
    outcome = place(_request(wire), before)
    after = outcome.record.decisions
    refusal = guard(f"placement {wire['key']}", before.decisions, after, limit=wire["limit"], confirm=wire["confirm"])
    if refusal:
        raise FleetError([refusal])
    return outcome.record.to_wire()


def enroll(feed: Feed, olds: Mapping[str, Any]) -> dict[str, Any]:
    """What the roster's provider adds to its inputs: the members, and the objects that wait for a policy.

    Raises:
        FleetError: the list shrinks by too much.
    """
    wire = read_feed(feed)
    before, after = olds.get("members") or {}, wire["members"]
    refusal = guard("the member list", before, after, limit=wire["limit"], confirm=wire["confirm"])
    if refusal:
        raise FleetError([refusal])
    return {"members": after, **({"waiting": wire["waiting"]} if wire["waiting"] else {})}


def read_feed(feed: Feed) -> Any:
    """What was handed over.

    Raises:
        ValueError: the file was changed since.
    """
    return _read(feed["path"], feed["digest"])


def read_inventory(feed: Feed) -> Inventory:
    """The fleet that was handed over; compiled once for all that is decided on it."""
    return _inventory(feed["path"], feed["digest"])


def _request(wire: Mapping[str, Any]) -> Request:
    rolling, external = wire["rolling"], wire["external"]
    return Request(
        key=wire["key"],
        policy=None if wire["policy"] is None else decode(PlacementPolicy, wire["policy"]),
        strategy=decode(External, external) if rolling is None else decode(RollingUpdate, rolling),
        inventory=read_inventory(wire["inventory"]),
        objects=tuple(wire["objects"]),
        namespace=wire["namespace"],
        done={cluster: decode(Done, done) for cluster, done in wire["done"].items()},
        gates=decode(Gates, wire["gates"]),
        untrackable=wire["untrackable"],
    )


@lru_cache(maxsize=4)
def _inventory(path: str, digest: str) -> Inventory:
    wire = _read(path, digest)
    clusters = (decode(Cluster, cluster) for cluster in wire["clusters"])
    return Inventory(clusters, read_time(wire["asOf"]))


def _read(path: str, digest_and_key: str) -> Any:
    digest, _, key = digest_and_key.partition("/")
    text = _masked(Path(path).read_bytes(), digest, key)
    if hashlib.sha256(text).hexdigest() != digest:
        raise ValueError(f"{path} was changed while the program ran")
    return json.loads(text)


@cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="fleet-components-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@cache
def _key() -> str:
    return secrets.token_hex(32)


def _masked(text: bytes, digest: str, key: str) -> bytes:
    """The text under a key stream of its own; the same again gives the text."""
    stream = hashlib.shake_256(f"{key}/{digest}".encode()).digest(len(text))
    return (int.from_bytes(text) ^ int.from_bytes(stream)).to_bytes(len(text))
