"""Envelopes on real API servers: members get what is in them, in the order of everything else, and never an envelope."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.driver import Engine
from tests.engine.stories import (
    Data,
    Story,
    carried_out,
    cluster_role,
    config_map,
    namespace,
    placement,
    unchanged,
)

pytestmark = pytest.mark.engine
VERSION = "placement.kubernetes-fleet.io/v1beta1"


def envelope(name: str, space: str = "", **data: Data) -> Data:
    kind = "ResourceEnvelope" if space else "ClusterResourceEnvelope"
    return {
        "apiVersion": VERSION,
        "kind": kind,
        "metadata": {"name": name, **_in(space)},
        "data": data,
    }


def _in(space: str) -> dict[str, Any]:
    return {"namespace": space} if space else {}


def gadgets(group: str) -> tuple[Data, Data]:
    """A definition and an object of it."""
    served = {"name": "v1", "served": True, "storage": True}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    names = {"kind": "Gadget", "plural": "gadgets", "singular": "gadget", "listKind": "GadgetList"}
    spec = {
        "group": group,
        "scope": "Cluster",
        "names": names,
        "versions": [{**served, "schema": schema}],
    }
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"gadgets.{group}"},
        "spec": spec,
    }
    return definition, {
        "apiVersion": f"{group}/v1",
        "kind": "Gadget",
        "metadata": {"name": "g"},
        "spec": {"size": 1},
    }


def test_contents_come_change_leave_their_envelope_and_go(story: Engine[Story]) -> None:
    space = story.world.space
    definition, gadget = gadgets(f"{space}.test")
    shop, inside = (
        namespace(space),
        envelope("e", space, c=config_map(space), d=config_map(space, name="d")),
    )
    outside = envelope(space, gadget=gadget, definition=definition, role=cluster_role(space))
    item = placement("one", shop, outside)
    item["spec"]["strategy"] = {
        "type": "RollingUpdate",
        "rollingUpdate": {"unavailablePeriodSeconds": 1},
    }
    story.world.objects = {"space": shop, "in": inside, "out": outside, "one": item}
    assert story.up().ok  # members do not know the kind: an envelope that was sent would fail
    first = story.world.uids(("configmap", "c"), ("configmap", "d"), (f"gadgets.{space}.test", "g"))
    assert None not in first.values()
    unchanged(story)

    story.world.objects["in"] = envelope("e", space, c=config_map(space, "two"))
    story.world.objects["d"] = config_map(space, name="d")
    carried_out(story)
    assert first.items() >= story.world.uids(("configmap", "c"), ("configmap", "d")).items()
    assert story.world.live("a", "configmap", "c")["data"] == config_map(space, "two")["data"]

    del story.world.objects["in"]
    carried_out(story)
    assert set(story.world.uids(("configmap", "c")).values()) == {None}
    assert None not in story.world.uids(("configmap", "d")).values()
