"""Hand over the policies that all templates share; loaded only where there are templates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from fleet_components.model.codec import decode, encode
from fleet_components.model.manifest import Manifest, Origin
from fleet_components.plan.feed import Feed, read_feed, write_feed
from fleet_components.systems.karmada.model.override import OverridePolicy
from fleet_components.systems.karmada.model.policy import PropagationPolicy
from fleet_components.systems.karmada.model.settings import KarmadaSettings
from fleet_components.systems.karmada.plan.subject import Policies


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


def read_policies(feed: Feed) -> Policies:
    """Return the policies that were handed over; read once for all templates."""
    return _policies(feed["path"])


@lru_cache(maxsize=4)
def _policies(path: str) -> Policies:
    wire = read_feed({"path": path})
    propagation = tuple(
        PropagationPolicy.from_manifest(Manifest(data)) for data in wire["propagation"]
    )
    overrides = tuple(
        OverridePolicy.from_manifest(_located(written)) for written in wire["overrides"]
    )
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
