"""The rest of a binding: what a scheduler that has looked at it would look at it for again.

A control plane that was observed stays as it is until something is enqueued. A binding is enqueued
when its spec changes, and when labels or spec of a member change that its affinity selects, before
or after; the status of members and a member that only appears or goes do not count. A binding that
its policy has released has lost the label by which the scheduler follows its own changes, but is
enqueued with all others when a member changes. Source: Karmada 1.19, ``resourceBindingEventFilter``
and ``enqueueAffectedBindings`` in ``pkg/scheduler/event_handler.go``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import encode
from fleet_components.model.inventory import Inventory
from fleet_components.model.mask import Mask
from fleet_components.systems.karmada.scheduler.groups import group_index
from fleet_components.systems.karmada.scheduler.state import KarmadaState, matching

_MEMBERS = "/"
"""Separator between the digest of the whole binding and that of the members alone."""


def looked_at(state: KarmadaState, binding: Mapping[str, Any] | None) -> str:
    """Return digests of all that enqueues a binding, to be remembered as ``TemplateMemory.looked``.

    Args:
        state: the input of the scheduler.
        binding: what else the spec of the binding holds; None for a binding without a policy, of
            which only the members count.
    """
    watched = _members(state)
    own = "" if binding is None else _own(state, binding, watched)
    return f"{own}{_MEMBERS}{_digest(watched)}"


def rests(state: KarmadaState, binding: Mapping[str, Any] | None) -> bool:
    """Return whether nothing has changed since the scheduler looked that makes it look again.

    Args:
        state: the input of the scheduler.
        binding: as for :func:`looked_at`.
    """
    own, _, members = state.memory.looked.partition(_MEMBERS)
    watched = _members(state) if state.memory.looked else []
    return (
        bool(own) and own == _own(state, binding, watched)
        if binding is not None
        else members == _digest(watched)
    )


def _members(state: KarmadaState) -> list[str]:
    """Return digests of the members whose changes enqueue the binding."""
    inventory, memory = state.inventory, state.memory
    # What has failed is tried again by itself, and then with the status of the members as it is.
    texts = inventory.column(
        ("looked", memory.retries), lambda: _written(inventory, whole=memory.retries)
    )
    return [texts[position] for position in masks.positions(_watched(state))]


def _own(state: KarmadaState, binding: Mapping[str, Any], watched: Sequence[str]) -> str:
    """Return a digest of a binding that its policy holds, with the members."""
    memory = state.memory
    asked = {
        "template": encode(state.template),
        "placement": encode(state.placement),
        "rebalances": sorted(state.rebalances),
        "evictions": sorted(memory.evictions),
        "binding": dict(binding),
        "members": list(watched),
    }
    return _digest(asked)


def _watched(state: KarmadaState) -> Mask:
    """Return the members whose changes enqueue the binding.

    With groups, members of the active one alone, and all of them until the scheduler has observed
    the binding.
    """
    placement, inventory, memory = state.placement, state.inventory, state.memory
    terms = placement.cluster_affinities
    if terms and (memory.retries or not memory.scheduled):
        return inventory.everything
    affinity = (
        terms[group_index(terms, memory.observed_group)] if terms else placement.cluster_affinity
    )
    return inventory.everything if affinity is None else matching(inventory, affinity)


def _written(inventory: Inventory, *, whole: bool) -> list[str]:
    return [_member(cluster, whole=whole) for cluster in inventory.clusters]


def _member(cluster: Cluster, *, whole: bool) -> str:
    # Apart and sorted, since a set has no order and the digest needs one.
    enablements = sorted(cluster.api_enablements or ())
    plain = attrs.evolve(
        cluster, api_enablements=None, resource_summary=cluster.resource_summary if whole else None
    )
    status = enablements if whole else []
    return _digest([encode(plain), status])


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
