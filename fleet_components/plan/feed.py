"""Hand over values from a program to its providers through files, so that members and manifests
stay out of the state.

A feed holds input that only a decision needs. The provider gets the path of its file, reads it
while the program runs, and drops it from what it returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from fleet_components.model.cluster import Cluster, read_time
from fleet_components.model.codec import MisfitError, decode, encode
from fleet_components.model.inventory import Inventory
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan import private_files
from fleet_components.plan.state import MEND
from fleet_components.plan.subject import Decided, Subject
from fleet_components.systems.registry import SYSTEMS

# Every run starts a process for the providers, with this module: it loads no more than its subjects
# are decided by.
if TYPE_CHECKING:
    from fleet_components.plan.fleet_plan import FleetPlan

Feed = Mapping[str, str]
_AT_HAND: WeakValueDictionary[str, Decided | FleetPlan] = WeakValueDictionary()
"""Subjects and plans that this process has handed over, by path, while they are alive: they are not
decided again.
"""


def write_feed(value: Any) -> Feed:
    """Write a value for the providers of this run."""
    return {"path": private_files.write(value)}


def feed_inventory(inventory: Inventory) -> Feed:
    """Write the inventory, once for all subjects."""
    as_of = inventory.as_of.isoformat() if inventory.as_of else None
    return write_feed(
        {"clusters": [encode(cluster) for cluster in inventory.clusters], "asOf": as_of}
    )


def feed_subject(
    decided: Decided,
    inventory: Feed,
    renamed: Mapping[str, str] | None = None,
    *,
    observed: bool = False,
) -> Feed:
    """Write one subject with its decision.

    Args:
        decided: the subject.
        inventory: the feed of the members.
        renamed: current names of members, by their former names.
        observed: True if what was decided before was observed on a hub, and is not what the state
            has.
    """
    subject = decided.subject
    wire = {
        "system": subject.system.NAME,
        "inventory": inventory,
        "policies": subject.feed_policies(),
        "subject": subject.to_wire(),
    }
    before = decided.before.to_wire() if observed else None
    given = {"decided": decided.record.decided(), "renamed": dict(renamed or {}), "before": before}
    feed = write_feed({**wire, **given})
    # Saves the provider a second decision where it runs in the process of the program.
    _AT_HAND[feed["path"]] = decided
    return feed


def feed_plan(plan: FleetPlan) -> Feed:
    """Write the refusals of a plan, which the roster reports."""
    feed = write_feed({"refused": [str(problem) for problem in plan.refused]})
    _AT_HAND[feed["path"]] = plan
    return feed


def plan_at_hand(feed: Feed) -> FleetPlan | None:
    """Return the plan of a feed that this process wrote; None if there is none."""
    found = _AT_HAND.get(feed["path"])
    return None if isinstance(found, Decided) else found


def decide(feed: Feed, olds: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a subject's provider adds to its inputs: the record, decided again from the
    engine's old inputs.

    Raises:
        FleetError: no decision is possible, or it differs from the program's plan.
    """
    known = _AT_HAND.get(feed["path"])
    decided = known if isinstance(known, Decided) else None
    subject = decided.subject if decided else read_subject(feed)
    wire = read_feed(feed)
    # The engine's old inputs still have the former names.
    current = wire["renamed"]
    try:
        # What was observed on a hub is handed over; anything else is in the engine's old inputs.
        given = wire["before"]
        before = subject.RECORD.from_wire(olds if given is None else given)
        before = (
            before if given is not None else before.renamed(lambda name: current.get(name, name))
        )
    except MisfitError as misfit:
        raise FleetError(
            Problem(problem.message, problem.path, MEND, subject.name)
            for problem in misfit.problems
        ) from None
    # If the engine's old inputs equal the program's past, the result is the same and need not be
    # computed again.
    record = (
        decided.record if decided and decided.before == before else subject.decide(before).record
    )
    if record.decided() != wire["decided"]:
        fickle = (
            f"; if that is of no use, {' or '.join(subject.plugins)} does not answer alike each"
            " time"
        )
        hint = f"run it again{fickle if subject.plugins else ''}"
        raise FleetError([Problem(_OTHERWISE, subject=subject.name, hint=hint)])
    kept: dict[str, Any] = record.to_wire()
    return kept


_OTHERWISE = Message(
    "planned-from-another-state", "was planned from another state than the one that stands now"
)


def enroll(feed: Feed) -> None:
    """Refuse the update if the plan is refused; a safeguard in case the program has continued in
    spite of that.

    Raises:
        FleetError: the plan is refused.
    """
    refused = read_feed(feed)["refused"]
    if refused:
        raise FleetError(
            Problem(Message("plan-refused", "{reason}", reason=text)) for text in refused
        )


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
    return SYSTEMS[wire["system"]].read_subject(wire["subject"], inventory, wire["policies"])


# The feeds of all subjects of a fleet name the same file.
@lru_cache(maxsize=4)
def _inventory(path: str) -> Inventory:
    wire = private_files.read(path)
    clusters = (decode(Cluster, cluster) for cluster in wire["clusters"])
    return Inventory(clusters, read_time(wire["asOf"]))
