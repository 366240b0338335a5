"""What a program hands to the provider of a template, and what the provider makes of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from fleet_components.model.codec import decode, encode
from fleet_components.model.karmada import PropagationPolicy
from fleet_components.model.karmada_override import OverridePolicy
from fleet_components.model.karmada_settings import KarmadaSettings
from fleet_components.model.manifest import Manifest, Origin
from fleet_components.model.member_cluster import read_time
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.feed import Feed, read_feed, read_inventory, write_feed
from fleet_components.plan.karmada.place import TemplateRequest, place_template
from fleet_components.plan.karmada.record import TemplateRecord
from fleet_components.plan.karmada.templates import Templates
from fleet_components.rollout.guard import guard
from fleet_components.rollout.plan import Done


def feed_policies(templates: Templates) -> Feed:
    """Hand over the policies and the settings, once for all templates."""
    return write_feed(
        {
            "propagation": [policy.manifest.data for policy in templates.propagation],
            "overrides": [_written(policy.manifest) for policy in templates.overrides],
            "settings": encode(templates.settings),
        }
    )


def feed_template(
    request: TemplateRequest, inventory: Feed, policies: Feed, *, limit: float, confirm: tuple[str, ...]
) -> Feed:
    """Hand over one template. What requires it is an input of its own, as it is decided in the same run."""
    return write_feed(
        {
            "inventory": inventory,
            "policies": policies,
            "key": request.key,
            "manifest": request.manifest.data,
            "uid": request.uid,
            "rebalances": sorted(request.rebalances),
            "waited": request.waited,
            "unhealthy": {cluster: since and since.isoformat() for cluster, since in request.unhealthy.items()},
            "done": {cluster: encode(done) for cluster, done in request.done.items()},
            "limit": limit,
            "confirm": list(confirm),
        }
    )


def decide_template(feed: Feed, olds: Mapping[str, Any], required_by: Mapping[str, Any]) -> dict[str, Any]:
    """What the template's provider adds to its inputs.

    Raises:
        FleetError: the template cannot be worked with, or would lose too many clusters.
    """
    wire, before = read_feed(feed), TemplateRecord.from_wire(olds)
    outcome = place_template(read_template(feed, required_by), before)
    refusal = guarded(wire["key"], before, outcome.record, limit=wire["limit"], confirm=wire["confirm"])
    if refusal:
        raise FleetError([refusal])
    return outcome.record.to_wire()


def guarded(
    key: str, before: TemplateRecord, after: TemplateRecord, *, limit: float = 0.5, confirm: Collection[str] = ()
) -> Problem | None:
    """Refuse to lose many clusters at once; see :func:`fleet_components.rollout.guard.guard`.

    What a template had only because others needed it goes with their decision, which is guarded itself.
    """
    own = before.decisions.keys() & before.memory.schedule.clusters.keys()
    return guard(f"template {key}", own, after.decisions, limit=limit, confirm=confirm)


def required(wire: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """The members of the templates that need one, as an input brings them."""
    return {parent: {c: int(n) for c, n in clusters.items()} for parent, clusters in wire.items()}


def read_template(feed: Feed, required_by: Mapping[str, Any]) -> TemplateRequest:
    """The template that was handed over, with what requires it."""
    wire = read_feed(feed)
    propagation, overrides, settings = _policies(wire["policies"]["path"], wire["policies"]["digest"])
    return TemplateRequest(
        key=wire["key"],
        manifest=Manifest(wire["manifest"]),
        inventory=read_inventory(wire["inventory"]),
        policies=propagation,
        overrides=overrides,
        uid=wire["uid"],
        rebalances=frozenset(wire["rebalances"]),
        waited=wire["waited"],
        unhealthy={cluster: read_time(since) for cluster, since in wire["unhealthy"].items()},
        required_by=required(required_by),
        done={cluster: decode(Done, done) for cluster, done in wire["done"].items()},
        settings=settings,
    )


@lru_cache(maxsize=4)
def _policies(
    path: str, digest: str
) -> tuple[tuple[PropagationPolicy, ...], tuple[OverridePolicy, ...], KarmadaSettings]:
    wire = read_feed({"path": path, "digest": digest})
    propagation = tuple(PropagationPolicy.from_manifest(Manifest(data)) for data in wire["propagation"])
    overrides = tuple(OverridePolicy.from_manifest(_read(written)) for written in wire["overrides"])
    return propagation, overrides, decode(KarmadaSettings, wire["settings"])


def _written(manifest: Manifest) -> Mapping[str, Any]:
    """An object with the place where it is written, for messages."""
    origin = manifest.origin
    return {"data": manifest.data, "place": [origin.file, origin.line] if origin else None}


def _read(written: Mapping[str, Any]) -> Manifest:
    if not written["place"]:
        return Manifest(written["data"])
    file, line = written["place"]
    return Manifest(written["data"], Origin(file, line, lambda _: line))
