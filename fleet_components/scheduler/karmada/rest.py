"""The rest of a binding: what a scheduler that has looked at it would look at it for again.

A control plane that was observed stays as it is until something is enqueued. A binding is enqueued when its spec
changes, and when labels or spec of a member change that its affinity selects, before or after; the status of members
and a member that only appears or goes do not count. Source: Karmada 1.19, ``pkg/scheduler/event_handler.go``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import encode
from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import Mask
from fleet_components.scheduler.karmada.affinity import matching
from fleet_components.scheduler.karmada.groups import group_index
from fleet_components.scheduler.karmada.state import KarmadaState


def looked_at(state: KarmadaState, binding: Mapping[str, Any]) -> str:
    """Return a digest of all that enqueues a binding, to be remembered as ``TemplateMemory.looked``.

    Args:
        state: the input of the scheduler.
        binding: what else the spec of the binding holds.
    """
    inventory, memory = state.inventory, state.memory
    # What has failed is tried again by itself, and then with the status of the members as it is.
    texts = inventory.column(("looked", memory.retries), lambda: _written(inventory, whole=memory.retries))
    watched = [texts[position] for position in masks.positions(_watched(state))]
    asked = {
        "template": encode(state.template),
        "placement": encode(state.placement),
        "rebalances": sorted(state.rebalances),
        "evictions": sorted(memory.evictions),
        "binding": dict(binding),
        "members": watched,
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]


def _watched(state: KarmadaState) -> Mask:
    """Return the members whose changes enqueue the binding.

    With groups, members of the active one alone, and all of them until the scheduler has observed the binding.
    """
    placement, inventory, memory = state.placement, state.inventory, state.memory
    terms = placement.cluster_affinities
    if terms and (memory.retries or not memory.scheduled):
        return inventory.everything
    affinity = terms[group_index(terms, memory.observed_group)] if terms else placement.cluster_affinity
    return inventory.everything if affinity is None else matching(inventory, affinity)


def _written(inventory: Inventory, *, whole: bool) -> list[str]:
    return [_member(cluster, whole=whole) for cluster in inventory.clusters]


def _member(cluster: Cluster, *, whole: bool) -> str:
    enablements = sorted(cluster.api_enablements or ())
    plain = attrs.evolve(cluster, api_enablements=None, resource_summary=cluster.resource_summary if whole else None)
    status = enablements if whole else []
    written = json.dumps([encode(plain), status], sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()[:16]
