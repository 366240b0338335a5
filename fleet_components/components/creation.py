"""A hook before each creation of an object: it waits until what stood under the name is gone.

The Kubernetes provider creates by an apply, which updates an object that is still being deleted. That
object then goes, and the update has succeeded. Such an object stands there because

- the provider does not wait for the deletion of some kinds with ``pulumi.com/skipAwait``
  (pulumi/pulumi-kubernetes v4.34.2, provider/pkg/metadata/overrides.go, DeletedCondition), an
  annotation that Jobs and others have from this package, too;
- the object outlives its placement, so that this package deletes it before it is replaced;
- somebody else has deleted it, and it has finalizers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import pulumi
from pulumi.resource_hooks import ResourceHook, ResourceHookArgs

from fleet_components.components.process import in_thread
from fleet_components.components.refusal import RefusedError
from fleet_components.live.causes import finalizers_of
from fleet_components.live.connection import Leftover, connected, within
from fleet_components.live.exchange import member_room
from fleet_components.live.kubeconfig import read_kubeconfig
from fleet_components.model.manifest import value_at
from fleet_components.model.problem import Problem
from fleet_components.plan.ownership import VANISHING_HINT

_LOOK_SECONDS = 10.0
_PAUSE_SECONDS = 0.5
_LEAVING = "is still being deleted on {where} after {seconds} s, and would vanish with what is written now{finalizers}"


def before_creation(name: str, where: str, kubeconfig: pulumi.Output[str], seconds: float) -> ResourceHook:
    """Return the hook for the objects of a cluster.

    A cluster that cannot be asked holds nothing up: the provider may reach it where this process
    does not.

    Args:
        name: the name of the hook, which the state keeps.
        where: the cluster, as messages call it.
        kubeconfig: its kubeconfig.
        seconds: the longest time to wait.
    """

    async def vacated(args: ResourceHookArgs) -> None:
        text, sent = await pulumi.Output.all(kubeconfig, args.new_inputs).future() or ("", {})
        if not text:
            return
        config, wanted = read_kubeconfig(text, where), Leftover.like(sent)
        end = time.monotonic() + seconds
        while leaving := await in_thread(partial(_leaving, config, wanted)):
            if time.monotonic() > end:
                named = finalizers_of(leaving)
                what = _LEAVING.format(where=where, seconds=round(seconds), finalizers=named)
                raise RefusedError([Problem(what, subject=str(wanted), hint=VANISHING_HINT)])
            await asyncio.sleep(_PAUSE_SECONDS)

    return ResourceHook(name, vacated)


def _leaving(kubeconfig: str, wanted: Leftover) -> Mapping[str, Any]:
    """Return an object that its cluster is deleting; empty if it does not, or does not answer."""
    found: list[Mapping[str, Any]] = [{}]

    def look(deadline: float) -> None:
        with connected(kubeconfig, deadline, member_room(1)) as cluster:
            live = cluster.get(wanted) or {}
            if value_at(live, ("metadata", "deletionTimestamp")):
                found.append(live)

    within(_LOOK_SECONDS, look)
    return found[-1]
