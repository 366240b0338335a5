"""Hooks around each update of an object, so that it keeps the fields that others have added on its
member.

KubeFleet's apply strategies keep such fields. The Kubernetes provider makes what ``kubectl`` has
set its own before it updates an object, and then removes what it does not send. So these fields
bear another name meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http import client as http
from typing import Any

import pulumi
from pulumi.resource_hooks import (
    ResourceHook,
    ResourceHookArgs,
    ResourceHookBinding,
    ResourceHookOptions,
)

from fleet_components.components.identification import Identification
from fleet_components.components.process import in_thread
from fleet_components.components.refusal import RefusedError
from fleet_components.live.causes import finalizers_of
from fleet_components.live.connection import (
    Connection,
    Leftover,
    UnexpectedAnswer,
    connected,
    within,
)
from fleet_components.live.exchange import member_room
from fleet_components.live.kubeconfig import read_kubeconfig
from fleet_components.live.managed import Entry, added, is_parked, parked, unparked
from fleet_components.model.manifest import value_at
from fleet_components.model.message import Message
from fleet_components.model.observed import SILENT
from fleet_components.model.problem import Problem
from fleet_components.model.text import few, visible
from fleet_components.plan import names
from fleet_components.plan.ownership import VANISHING_HINT

# Seconds for one exchange with a member, and tries to change one object.
_SECONDS = 10.0
_TRIES = 5
_DEFINITION = "CustomResourceDefinition"
_TAKEN_AWAY = (
    "{key} on {member}: others have set {fields}, and the Kubernetes provider takes that away: it"
    " writes a definition whole"
)
_UNKNOWN = "{key} on {member}: fields that kubectl has set there may be taken away: {reason}"

Sent = Sequence[Mapping[str, Any]]
"""An object as it was sent last, and as it is sent now."""


class Keeping:
    """The hooks for the objects of one member.

    A definition of custom resources is written whole by the Kubernetes provider. What others have
    set in it is named beforehand, in previews too.

    Args:
        identification: the members.
        member: the member's name; it must be one that is asked.
        kubeconfig: its kubeconfig.
        seconds: the longest time that a creation waits until what stood under the name is gone.
    """

    def __init__(
        self,
        identification: Identification,
        member: str,
        kubeconfig: pulumi.Output[str],
        seconds: float,
    ) -> None:
        self._member, self._kubeconfig = member, kubeconfig
        self._manager, self._parked = identification.plan.manager, set[str]()
        name = names.member_name(identification.fleet, member)
        before = ResourceHookOptions(on_dry_run=True)
        # What fails afterwards is done by the next update of the object.
        after = ResourceHookOptions(ignore_errors=True)
        self.hooks = ResourceHookBinding(
            before_create=[before_creation(f"{name}/before-create", member, kubeconfig, seconds)],
            before_update=[ResourceHook(f"{name}/before-update", self._before, before)],
            after_update=[ResourceHook(f"{name}/after-update", self._after, after)],
        )

    async def _before(self, args: ResourceHookArgs) -> None:
        await self._asked(args, self._park)

    async def _after(self, args: ResourceHookArgs) -> None:
        if args.urn in self._parked:
            await self._asked(args, self._unpark)

    async def _asked(
        self, args: ResourceHookArgs, work: Callable[[Connection, str, Sent], None]
    ) -> None:
        """Carry something out with a connection to the member."""
        asked = pulumi.Output.all(self._kubeconfig, args.old_inputs, args.new_inputs)
        # ``future`` returns None while one of the values is unknown.
        text, *sent = await asked.future() or [None]
        if not text:
            # In a preview the provider is not there yet, or nothing is known of its kubeconfig.
            return
        kubeconfig = read_kubeconfig(text, self._member)
        ask = partial(_connect, kubeconfig, lambda member: work(member, args.urn, sent))
        reason = await in_thread(ask)
        if reason:
            # The provider may reach a cluster that this process does not, by a proxy for example.
            key = Leftover.like(sent[-1])
            words = _UNKNOWN.format(key=key, member=self._member, reason=reason)
            pulumi.log.warn(visible(words))

    def _park(self, member: Connection, urn: str, sent: Sent) -> None:
        leftover = Leftover.like(sent[-1])
        if leftover.kind == _DEFINITION:
            self._name_lost(member, leftover, sent[-1])
            return
        changed = partial(parked, sent=sent)
        if not pulumi.runtime.is_dry_run() and _managers_changed(member, leftover, changed):
            self._parked.add(urn)

    def _unpark(self, member: Connection, urn: str, sent: Sent) -> None:
        _managers_changed(member, Leftover.like(sent[-1]), unparked)

    def _name_lost(self, member: Connection, leftover: Leftover, sent: Mapping[str, Any]) -> None:
        live = member.get(leftover) or {"metadata": {}}
        lost = added(live["metadata"].get("managedFields") or (), sent, self._manager)
        if lost:
            words = _TAKEN_AWAY.format(key=leftover, member=self._member, fields=few(lost))
            pulumi.log.warn(visible(words))


def keeping(
    identification: Identification, seconds: float, member: str
) -> ResourceHookBinding | None:
    """Return the hooks for the objects of a member; None for one that is not asked.

    That is a lost one, and every one in process or where objects are only rendered.
    """
    kubeconfig = identification.asked_with(member)
    if kubeconfig is None:
        return None
    return Keeping(identification, member, kubeconfig, seconds).hooks


def _connect(kubeconfig: str, work: Callable[[Connection], None]) -> str:
    """Carry something out with a connection; return why it could not be, empty if it was."""
    # Filled before the work, which may not end in time, and emptied after it.
    wrong = [SILENT]

    def connect(deadline: float) -> None:
        with connected(kubeconfig, deadline, member_room(1)) as member:
            try:
                work(member)
                wrong.clear()
            except UnexpectedAnswer as error:
                wrong[:] = [f"its cluster {error}"]

    within(_SECONDS, connect)
    return "".join(wrong)


def _managers_changed(
    member: Connection, leftover: Leftover, change: Callable[[Sequence[Entry]], Sequence[Entry]]
) -> bool:
    """Change the managers of an object's fields; returns whether some of them are parked then, or
    were.

    Raises:
        UnexpectedAnswer: the cluster refuses it.
    """
    for tries in range(_TRIES):
        live = member.get(leftover)
        entries = live["metadata"].get("managedFields") or () if live else ()
        wanted = change(entries)
        if list(entries) == wanted:
            return any(map(is_parked, entries))
        # Somebody else may write the object meanwhile.
        version = live["metadata"]["resourceVersion"]
        test = {"op": "test", "path": "/metadata/resourceVersion", "value": version}
        put = {"op": "replace", "path": "/metadata/managedFields", "value": wanted}
        try:
            member.change(leftover, [test, put], manager="fleet-components")
            return True
        except UnexpectedAnswer as error:
            # The API server answers a ``test`` that fails with 422, a concurrent write with 409.
            again = error.code in (http.CONFLICT, http.UNPROCESSABLE_ENTITY)
            if not again or tries == _TRIES - 1:
                raise
    raise AssertionError("unreachable")


# A hook before each creation of an object: it waits until what stood under the name is gone.
#
# The Kubernetes provider creates by an apply, which updates an object that is still being
# deleted. That object then goes, and the update has succeeded. Such an object stands there
# because
#
# - the provider does not wait for the deletion of some kinds with ``pulumi.com/skipAwait``
# (pulumi/pulumi-kubernetes v4.34.2, provider/pkg/metadata/overrides.go, DeletedCondition), an
# annotation that Jobs and others have from this package, too; - the object outlives its
# placement, so that this package deletes it before it is replaced; - somebody else has deleted
# it, and it has finalizers.


_LOOK_SECONDS = 10.0
_PAUSE_SECONDS = 0.5
_LEAVING = Message(
    "still-being-deleted-after",
    "is still being deleted on {where} after {seconds} s, and would vanish with what is written"
    " now{finalizers}",
)


def before_creation(
    name: str, where: str, kubeconfig: pulumi.Output[str], seconds: float
) -> ResourceHook:
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
                what = _LEAVING.filled(where=where, seconds=round(seconds), finalizers=named)
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
