"""What really runs, read back from the bindings of the own stack as it stood before this run."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

import attrs
import grpc  # type: ignore[import-untyped]
import pulumi
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto.resource_pb2 import ResourceInvokeRequest
from pulumi.runtime.settings import get_monitor

from fleet_components.dynamic import PROTECTED, TEMPLATE
from fleet_components.model.codec import decode
from fleet_components.rollout.plan import Done

_TYPE = "pulumi-python:dynamic/fleet:Binding"
_DECIDED = "pulumi-python:dynamic/fleet:Placement"
_ROSTER = "pulumi-python:dynamic/fleet:Roster"
_READ = "pulumi:pulumi:readStackResourceOutputs"
_TRIES = 5


@attrs.frozen
class Standing:
    """What the stack says of a fleet.

    Attributes:
        done: what runs on each cluster, by placement key.
        waiting: the objects that no Karmada policy had, with a digest of each.
        templates: the keys of the templates.
        protected: the keys of those that must not be deleted.
    """

    done: Mapping[str, Mapping[str, Done]]
    waiting: Mapping[str, str] = attrs.field(factory=dict)
    templates: Collection[str] = ()
    protected: Collection[str] = ()


def read_standing(fleet: str) -> Standing:
    """What stands; empty on a new stack.

    Decisions run ahead of the truth when an update fails; these do not, because each binding is registered
    after the objects of its cluster stand.

    Args:
        fleet: the fleet's name; other fleets of the same stack are left out.
    """
    found: dict[str, dict[str, Done]] = defaultdict(dict)
    waiting: dict[str, str] = {}
    templates: list[str] = []
    protected: list[str] = []
    for resource in (_read(_TRIES).get("outputs") or {}).values():
        outputs = resource.get("outputs") or {}
        if outputs.get("fleet", fleet) != fleet:
            continue
        if resource.get("type") == _ROSTER and outputs.get("key") == fleet:
            waiting = outputs.get("waiting") or {}
        elif resource.get("type") == _TYPE:
            found[outputs["placement"]][outputs["cluster"]] = decode(Done, outputs)
        elif resource.get("type") == _DECIDED and str(outputs.get("key")).startswith(TEMPLATE):
            key = outputs["key"].removeprefix(TEMPLATE)
            found[key]  # a template stays one, also where nothing runs yet
            templates.append(key)
            protected += [key] if outputs.get(PROTECTED) else []
    return Standing(found, waiting, templates, protected)


def _read(tries: int) -> Mapping[str, Any]:
    """Ask the engine itself: what fails through the SDK's ``invoke`` ends the program, even when tried again."""
    arguments = Struct()
    arguments["stackName"] = f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"
    monitor: Any = get_monitor()
    try:
        answer = monitor.Invoke(ResourceInvokeRequest(tok=_READ, args=arguments))
    except grpc.RpcError:
        # A file backend may be writing the state of this very run just now, and says EOF.
        if tries == 1:
            raise
        time.sleep(0.1)
        return _read(tries - 1)
    return dict(MessageToDict(getattr(answer, "return")))
