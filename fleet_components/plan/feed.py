"""Hand over values from a program to its providers through files, so that members and manifests stay out of the state.

A feed file holds input that only a decision needs. The provider gets its path and digest, reads it while the program
runs, and drops it from what it returns. A file may hold the data of Secrets: only its owner can read it, it is deleted
when the program ends, and if the engine kills the program, it cannot be read without the key of that run.
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
from weakref import WeakValueDictionary

from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import MisfitError, decode, encode
from fleet_components.model.inventory import Inventory
from fleet_components.model.karmada import PropagationPolicy
from fleet_components.model.karmada_override import OverridePolicy
from fleet_components.model.karmada_settings import KarmadaSettings
from fleet_components.model.manifest import Manifest, Origin
from fleet_components.model.member_cluster import read_time
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.karmada.subject import Policies, TemplateSubject
from fleet_components.plan.kubefleet.subject import PlacementSubject
from fleet_components.plan.state import MEND
from fleet_components.plan.subject import Decided, Subject

Feed = Mapping[str, str]
_AT_HAND: WeakValueDictionary[str, Decided | FleetPlan] = WeakValueDictionary()
"""Subjects and plans that this process has handed over, by path, while they are alive: they are not decided again."""


def write_feed(value: Any) -> Feed:
    """Write a value for the providers of this run; return its path, and its digest with the key of this run."""
    text = json.dumps(value, sort_keys=True).encode()
    digest = hashlib.sha256(text).hexdigest()
    file = _folder() / digest
    if not file.exists():
        # Only the owner may read it from the start: it may hold the data of Secrets.
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            out.write(_masked(text, digest, _key()))
    return {"path": str(file), "digest": f"{digest}/{_key()}"}


def feed_inventory(inventory: Inventory) -> Feed:
    """Write the inventory, once for all subjects."""
    as_of = inventory.as_of.isoformat() if inventory.as_of else None
    return write_feed({"clusters": [encode(cluster) for cluster in inventory.clusters], "asOf": as_of})


def feed_subject(decided: Decided, inventory: Feed, renamed: Mapping[str, str] | None = None) -> Feed:
    """Write one subject with its decision.

    Args:
        decided: the subject.
        inventory: the feed of the members.
        renamed: former names of members, by their new names.
    """
    subject = decided.subject
    policies = feed_policies(subject.policies) if isinstance(subject, TemplateSubject) else None
    wire = {"inventory": inventory, "policies": policies, "subject": subject.to_wire()}
    feed = write_feed({**wire, "decided": decided.record.decided(), "renamed": dict(renamed or {})})
    _AT_HAND[feed["path"]] = decided
    return feed


def feed_plan(plan: FleetPlan) -> Feed:
    """Write the refusals of a plan, which the roster reports."""
    feed = write_feed({"refused": [str(problem) for problem in plan.refused]})
    _AT_HAND[feed["path"]] = plan
    return feed


@lru_cache(maxsize=4)
def feed_policies(policies: Policies) -> Feed:
    """Write the policies and the settings, once for all templates."""
    return write_feed(
        {
            "propagation": [policy.manifest.data for policy in policies.propagation],
            "overrides": [_written(policy.manifest) for policy in policies.overrides],
            "settings": encode(policies.settings),
        }
    )


def plan_at_hand(feed: Feed) -> FleetPlan | None:
    """Return the plan of a feed that this process wrote; None if there is none."""
    found = _AT_HAND.get(feed["path"])
    return found if isinstance(found, FleetPlan) else None


def decide(feed: Feed, olds: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a subject's provider adds to its inputs: the record, decided again from the engine's old inputs.

    Raises:
        FleetError: no decision is possible, or it differs from the program's plan.
    """
    known = _AT_HAND.get(feed["path"])
    decided = known if isinstance(known, Decided) else None
    subject = decided.subject if decided else read_subject(feed)
    wire = read_feed(feed)
    former = {old: new for new, old in wire["renamed"].items()}
    try:
        before = subject.RECORD.from_wire(olds).renamed(lambda name: former.get(name, name))
    except MisfitError as misfit:
        raise FleetError(Problem(one.what, one.path, MEND, subject.name) for one in misfit.problems) from None
    # If the engine's old inputs equal the program's past, the result is the same and need not be computed again.
    record = decided.record if decided and decided.before == before else subject.decide(before).record
    if record.decided() != wire["decided"]:
        fickle = f"; if that is of no use, {' or '.join(subject.plugins)} does not answer alike each time"
        hint = f"run it again{fickle if subject.plugins else ''}"
        raise FleetError([Problem(_OTHERWISE, subject=subject.name, hint=hint)])
    kept: dict[str, Any] = record.to_wire()
    return kept


_OTHERWISE = "was planned from another state than the one that stands now"


def enroll(feed: Feed) -> None:
    """Refuse the update if the plan is refused; a safeguard in case the program has continued in spite of that.

    Raises:
        FleetError: the plan is refused.
    """
    if refused := read_feed(feed)["refused"]:
        raise FleetError(Problem(text) for text in refused)


def read_feed(feed: Feed) -> Any:
    """Return the value that was handed over.

    Raises:
        ValueError: the file has changed since.
    """
    return _read(feed["path"], feed["digest"])


def read_inventory(feed: Feed) -> Inventory:
    """Return the inventory that was handed over; read once for all subjects."""
    return _inventory(feed["path"], feed["digest"])


def read_subject(feed: Feed) -> Subject[Any]:
    """Return the subject that was handed over."""
    wire = read_feed(feed)
    inventory = read_inventory(wire["inventory"])
    if wire["policies"] is None:
        return PlacementSubject.from_wire(wire["subject"], inventory)
    policies = _policies(wire["policies"]["path"], wire["policies"]["digest"])
    return TemplateSubject.from_wire(wire["subject"], inventory, policies)


@lru_cache(maxsize=4)
def _policies(path: str, digest: str) -> Policies:
    wire = read_feed({"path": path, "digest": digest})
    propagation = tuple(PropagationPolicy.from_manifest(Manifest(data)) for data in wire["propagation"])
    overrides = tuple(OverridePolicy.from_manifest(_located(written)) for written in wire["overrides"])
    return Policies(propagation, overrides, decode(KarmadaSettings, wire["settings"]))


def _written(manifest: Manifest) -> Mapping[str, Any]:
    """Return an object with the location where it is written, for messages."""
    origin = manifest.origin
    return {"data": manifest.data, "place": [origin.file, origin.line] if origin else None}


def _located(written: Mapping[str, Any]) -> Manifest:
    if not written["place"]:
        return Manifest(written["data"])
    file, line = written["place"]
    return Manifest(written["data"], Origin(file, line, lambda _: line))


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
    """Return the text XORed with a key stream derived from key and digest; applied twice, it gives the text back."""
    stream = hashlib.shake_256(f"{key}/{digest}".encode()).digest(len(text))
    return (int.from_bytes(text) ^ int.from_bytes(stream)).to_bytes(len(text))
