"""What really runs, read back from the bindings of the own stack as it stood before this run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pulumi

from fleet_components.model.member_cluster import read_time
from fleet_components.rollout.plan import Done

_TYPE = "pulumi-python:dynamic/fleet:Binding"


def read_bindings(fleet: str) -> Mapping[str, Mapping[str, Done]]:
    """What runs on each cluster, by placement key; empty on a new stack.

    Decisions run ahead of the truth when an update fails; these do not, because each binding is registered
    after the objects of its cluster stand.

    Args:
        fleet: the fleet's name; other fleets of the same stack are left out.
    """
    stack = f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"
    answer = pulumi.runtime.invoke("pulumi:pulumi:readStackResourceOutputs", {"stackName": stack}).value
    found: dict[str, dict[str, Done]] = defaultdict(dict)
    for resource in ((answer or {}).get("outputs") or {}).values():
        outputs = resource.get("outputs") or {}
        if resource.get("type") == _TYPE and outputs.get("fleet", fleet) == fleet:
            found[outputs["placement"]][outputs["cluster"]] = _done(outputs)
    return found


def _done(outputs: Mapping[str, Any]) -> Done:
    return Done(int(outputs["revision"]), since=read_time(outputs.get("since")))
