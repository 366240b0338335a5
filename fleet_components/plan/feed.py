"""Hand over values from a program to its providers through files, so that members and manifests stay out of the state.

A feed holds input that only a decision needs. The provider gets the path of its file, reads it while the program runs,
and drops it from what it returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary

from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import MisfitError, decode, encode
from fleet_components.model.inventory import Inventory
from fleet_components.model.karmada.override import OverridePolicy
from fleet_components.model.karmada.policy import PropagationPolicy
from fleet_components.model.karmada.settings import KarmadaSettings
from fleet_components.model.manifest import Manifest, Origin
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.wire import read_time
from fleet_components.plan import private_files
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.karmada.subject import Policies, TemplateSubject
from fleet_components.plan.kubefleet.subject import PlacementSubject
from fleet_components.plan.state import MEND
from fleet_components.plan.subject import Decided, Subject

Feed = Mapping[str, str]
_AT_HAND: WeakValueDictionary[str, Decided | FleetPlan] = WeakValueDictionary()
"""Subjects and plans that this process has handed over, by path, while they are alive: they are not decided again."""


def write_feed(value: Any) -> Feed:
    """Write a value for the providers of this run."""
    return {"path": private_files.write(value)}


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
    # The engine's old inputs still have the former names.
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
        FleetError: its file is gone.
    """
    return private_files.read(feed["path"])


def read_inventory(feed: Feed) -> Inventory:
    """Return the inventory that was handed over; read once for all subjects."""
    return _inventory(feed["path"])


def read_subject(feed: Feed) -> Subject[Any]:
    """Return the subject that was handed over."""
    wire = read_feed(feed)
    inventory = read_inventory(wire["inventory"])
    if wire["policies"] is None:
        return PlacementSubject.from_wire(wire["subject"], inventory)
    policies = _policies(wire["policies"]["path"])
    return TemplateSubject.from_wire(wire["subject"], inventory, policies)


@lru_cache(maxsize=4)
def _policies(path: str) -> Policies:
    wire = private_files.read(path)
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
    # The lines of fields are not handed over, so messages name the line of the object.
    return Manifest(written["data"], Origin(file, line, lambda _: line))


@lru_cache(maxsize=4)
def _inventory(path: str) -> Inventory:
    wire = private_files.read(path)
    clusters = (decode(Cluster, cluster) for cluster in wire["clusters"])
    return Inventory(clusters, read_time(wire["asOf"]))
