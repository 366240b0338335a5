"""Reads the past of a fleet, its decisions and bindings, from the state of its own stack before
this run.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import cache, lru_cache, partial
from typing import Any
from weakref import WeakKeyDictionary

import attrs
import grpc  # type: ignore[import-untyped]
import pulumi
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import NULL_VALUE, ListValue, Struct, Value
from pulumi.runtime.proto.resource_pb2 import ResourceInvokeRequest
from pulumi.runtime.settings import get_monitor
from pulumi.runtime.sync_await import _sync_await

from fleet_components.components.handing_over import EarlierNames
from fleet_components.components.member import Member
from fleet_components.components.process import in_process, output_of
from fleet_components.components.run import EngineRun
from fleet_components.content.stamp import CLUSTER_ANNOTATION, FOUND_ANNOTATION, STACK_ANNOTATION
from fleet_components.content.unkept import SENT
from fleet_components.live.at_once import at_once
from fleet_components.live.connection import Leftover, ask_cluster
from fleet_components.live.kubeconfig import names_no_cluster, read_kubeconfig
from fleet_components.model.manifest import ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan import names
from fleet_components.plan.departures import perhaps_gone
from fleet_components.plan.fleet_names import DeclaredFleets, StoredFleets
from fleet_components.plan.fleet_plan import FleetPlan, grouped
from fleet_components.plan.lost import confirmed_elsewhere
from fleet_components.plan.past import Past
from fleet_components.plan.standing import Standing
from fleet_components.plan.state import INTERRUPTED, PENDING_REPLACEMENT, StoredResource, reveal
from fleet_components.plan.state_reader import fleets_of

# The state as it was before this run, in previews too. A stack reference to the own stack gives
# only the outputs of the last update that succeeded, and getResource knows nothing of the old
# state.
_READ = "pulumi:pulumi:readStackResourceOutputs"
# Tries to read the state, and members that are asked at the same time.
_TRIES = 5
_AT_ONCE = 16
_NAMES = ("name", "namespace", "uid")
_GONE = f"where the stack is gone, take the annotation {STACK_ANNOTATION} off its objects"


def read_past(fleet: str, given_names: Iterable[str] = ()) -> tuple[Past, frozenset[str]]:
    """Return the past of a fleet that the program declares; it is empty on a new stack.

    After a failed update the decisions are ahead of what runs. Bindings are not, because each is
    registered after the objects of its member stand.

    Args:
        fleet: the fleet's name; other fleets of the same stack are ignored.
        given_names: names that the fleet had before, according to the program and the
            configuration.

    Returns:
        The past, and those of the fleet's former names that nobody has said.

    Raises:
        FleetError: the state is damaged, or was written by a later version of this package; or
            which fleet of the state this one was is not clear.
    """
    resources, declared = _resources(get_monitor()), _declared()
    declared.declare(fleet)
    earlier = declared.earlier_names(
        fleet, list(given_names), StoredFleets.of(resources), pulumi.get_stack()
    )
    return Past.of(resources, fleet, formerly=earlier), frozenset(earlier).intersection(
        declared.guessed
    )


def once_declared(guessed: frozenset[str]) -> pulumi.ResourceOptions:
    """Return options that let a fleet wait until the program has declared all of its fleets.

    Args:
        guessed: former names that nobody has said: if the program declares one of them later, the
            fleet is a new one, and nothing of it is registered. Without any there is nothing to
            wait for.
    """
    if not guessed:
        return pulumi.ResourceOptions()
    declared, run = _declared(), EngineRun.current()

    async def wait() -> list[pulumi.Resource]:
        await run.ended.wait()
        for name in guessed & declared.names:
            declared.declare(name)  # which says what is wrong
        return []

    return pulumi.ResourceOptions(depends_on=output_of(wait()))


def _declared() -> DeclaredFleets:
    """Return the fleets that the running program has declared so far."""
    return _DECLARED.setdefault(get_monitor(), DeclaredFleets())


_DECLARED: WeakKeyDictionary[Any, DeclaredFleets] = WeakKeyDictionary()


def as_members_say(past: Past, members: Iterable[Member], confirm: Collection[str]) -> Past:
    """Return the past without the objects that were deleted to be replaced, and never created.

    The same of what is not on another cluster, to which the name of a member leads now, if that is
    confirmed. The members are asked, as far as their kubeconfigs are known before anything is
    registered.
    Where one does not answer, they count as standing: what replaces them has to be confirmed.
    """
    known = {
        item.name: item for item in members if isinstance(item.kubeconfig, str) and not item.lost
    }
    clusters = {name: member.cluster for name, member in known.items()}
    unsure = {found.urn for found in perhaps_gone(past.compared(clusters), clusters)}
    traced = {name for name in known if confirm and name in past.members and past.members[name].uid}
    asked = [found for found in past.standing if found.urn in unsure or found.cluster in traced]
    if not asked or in_process():
        return past
    gone, anew = set[str](), dict[str, str]()

    def ask(name: str, standing: Sequence[Standing]) -> None:
        objects = {Leftover.of(item.api_version, item.key): item.urn for item in standing}
        with suppress(FleetError):  # its provider says what is wrong with the kubeconfig
            answer = ask_cluster(read_kubeconfig(known[name].kubeconfig, name), list(objects))
            # A member that does not answer counts as having all of them.
            there = objects.keys() if answer.objects is None else answer.objects.keys()
            elsewhere = name in traced and confirmed_elsewhere(past, name, answer.uid, confirm)
            anew.update({name: answer.uid or ""} if elsewhere else {})
            absent = (urn for key, urn in objects.items() if key not in there)
            gone.update(urn for urn in absent if elsewhere or urn in unsure)

    by_member = grouped(asked, lambda item: item.cluster)
    # The iterator is read to its end, which waits for all members.
    list(at_once((partial(ask, name, standing) for name, standing in by_member.items()), _AT_ONCE))
    standing = (attrs.evolve(item, gone=item.gone or item.urn in gone) for item in past.standing)
    now = {name: attrs.evolve(past.members[name], anew=uid) for name, uid in anew.items()}
    found = attrs.evolve(past, standing=tuple(standing), members={**past.members, **now})
    return found.with_unsettled_broken() if now else found


def past_kubeconfigs(plan: FleetPlan) -> dict[str, str]:
    """Return the kubeconfigs with which members that are no longer declared were reached, by
    member.

    They are those of the providers in the state; a member that brought a provider of its own has
    none.
    """
    stored = {item.urn: item.outputs for item in read_stored((names.PROVIDER,))}
    earlier, found = EarlierNames(plan), dict[str, str]()
    for member in plan.past.members:
        urns = (plan.past.urns.get((names.PROVIDER, item), "") for item in earlier.member(member))
        known = next((stored[urn] for urn in urns if urn in stored), {})
        # One that was lost in an update that broke has a provider that names no cluster.
        text = known.get("kubeconfig")
        if isinstance(text, str) and not names_no_cluster(text):
            found[member] = text
    return found


# Asked for each object that comes, but a stack is read once.
@cache
def held_by(stack: str) -> frozenset[tuple[str, ObjectKey]]:
    """Return the objects that the fleets of another stack have on members, each with the uid of its
    cluster.

    The uid is empty where that stack does not know it.

    Raises:
        FleetError: the stack cannot be read.
    """
    try:
        resources = _resources_of(stack)
    except grpc.RpcError as error:
        what = Message(
            "cannot-asked-what-still",
            "cannot be asked what it still has: {details}",
            details=error.details(),
        )
        raise FleetError([Problem(what, subject=f"stack {stack}", hint=_GONE)]) from None
    pasts = [Past.of(resources, fleet) for fleet in fleets_of(resources)]
    uids = [{name: member.uid for name, member in past.members.items()} for past in pasts]
    pairs = zip(pasts, uids, strict=True)
    return frozenset(
        (known.get(standing.cluster, ""), standing.key)
        for past, known in pairs
        for standing in past.standing
    )


def read_stored(kinds: Collection[str]) -> tuple[StoredResource, ...]:
    """Return the resources of these types as they stood in the own stack before this run, with
    their outputs.
    """
    found = _by_type(get_monitor())
    return tuple(stored for kind in kinds for stored in found.get(kind, ()))


@lru_cache(maxsize=1)
def _by_type(monitor: Any) -> Mapping[str, Sequence[StoredResource]]:
    found: dict[str, list[StoredResource]] = defaultdict(list)
    for resource in _resources(monitor):
        found[resource.type].append(resource)
    return found


@lru_cache(maxsize=1)
def _resources(_monitor: Any) -> tuple[StoredResource, ...]:
    """Return the resources of the own stack; they are read once a run, whose monitor is the key."""
    return _resources_of(f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}")


def _resources_of(stack: str) -> tuple[StoredResource, ...]:
    answer = _read(_TRIES, stack).fields
    read = [(names.Urn.parse(urn), value.struct_value) for urn, value in answer.items()]
    return tuple(
        (
            _object(urn, found)
            if names.TARGET in urn.types and names.is_object(urn.type)
            else _stored(urn, found)
        )
        for urn, found in read
    )


def _stored(urn: names.Urn, found: Struct) -> StoredResource:
    return StoredResource(urn.text, urn.type, {}, _plain(found.fields["outputs"]))


def _plain(outputs: Value) -> dict[str, Any]:
    plain: dict[str, Any] = reveal(MessageToDict(outputs) or {})
    return plain


@attrs.frozen
class _OnMember(StoredResource):
    """An object on a member, with no outputs but those that the past always reads.

    A state has thousands of them, with all that API servers have added.
    """

    answer: bytes = attrs.field(default=b"", repr=False)

    def whole(self) -> Mapping[str, Any]:
        return _plain(Value.FromString(self.answer))


def _object(urn: names.Urn, found: Struct) -> StoredResource:
    # The engine gives neither (pulumi/pulumi v3.259.0, pkg/backend/backend.go,
    # GetStackResourceOutputs).
    gone = found.fields[PENDING_REPLACEMENT].bool_value
    interrupted = found.fields[INTERRUPTED].string_value
    outputs = found.fields["outputs"]
    sent = outputs.struct_value.fields[SENT]
    # Of most objects the marks are enough. Those that the API server may have stored in another
    # form than they were sent (content/unkept.py) are needed whole.
    kept = not _may_have_empty_fields(sent) and not _has_moved_items(sent, outputs)
    return _OnMember(
        urn.text,
        urn.type,
        outputs=_mark(urn, outputs) if kept else _plain(outputs),
        pending_replacement=gone,
        interrupted=interrupted,
        answer=outputs.SerializeToString(),
    )


def _may_have_empty_fields(sent: Value) -> bool:
    """Return False if an object was sent without any empty map, list or null; it takes no walk to
    know that.
    """
    text = sent.SerializeToString()
    # A value may contain such bytes by chance: then the object is walked for nothing.
    return any(mark in text for mark in _EMPTY)


def _has_moved_items(sent: Value, stored: Value) -> bool:
    """Return whether a list has an item of another name than was sent at that position."""
    fields, there = sent.struct_value.fields, stored.struct_value.fields
    for key, value in fields.items():
        if value.HasField("struct_value"):
            if key in there and _has_moved_items(value, there[key]):
                return True
        elif value.HasField("list_value") and key in there:
            pairs = zip(value.list_value.values, there[key].list_value.values, strict=False)
            if any(
                _name_of(item) != _name_of(other) or _has_moved_items(item, other)
                for item, other in pairs
            ):
                return True
    return False


def _name_of(item: Value) -> str:
    fields = item.struct_value.fields
    return fields["name"].string_value if "name" in fields else ""


_EMPTY = tuple(
    value.SerializeToString()
    for value in (
        Value(list_value=ListValue()),
        Value(struct_value=Struct()),
        Value(null_value=NULL_VALUE),
    )
)


def _mark(urn: names.Urn, outputs: Value) -> dict[str, Any]:
    """Return the outputs of an object on a member without anything else than what the past reads.

    That is its uid and two annotations; of an object whose name in the state is not its own also
    what tells which object it is.
    """
    metadata = outputs.struct_value.fields["metadata"].struct_value.fields
    plain = {key: metadata[key].string_value for key in _NAMES if key in metadata}
    marks = reveal(MessageToDict(metadata["annotations"]) or {})
    if names.key_in(urn, {"metadata": plain}):
        return {"metadata": {**plain, "annotations": marks}}
    known = {
        name: marks[name] for name in (FOUND_ANNOTATION, CLUSTER_ANNOTATION) if marks.get(name)
    }
    return {"metadata": {"uid": plain.get("uid", ""), "annotations": known}}


def _read(tries: int, stack: str) -> Struct:
    """Return the outputs of a stack's resources from the engine.

    The monitor is called directly: a failed call through the SDK's ``invoke`` ends the program,
    even if a retry succeeds.
    """
    arguments = Struct()
    arguments["stackName"] = stack
    try:
        answer = _call(ResourceInvokeRequest(tok=_READ, args=arguments))
    except grpc.RpcError:
        # A file backend may be writing the state of this run at the moment; the read then fails
        # with EOF.
        if tries == 1:
            raise
        time.sleep(0.1)
        return _read(tries - 1, stack)
    found: Struct = getattr(answer, "return").fields["outputs"].struct_value
    return found


def _call(request: ResourceInvokeRequest) -> Any:
    """Call the engine, and wait for its answer while the program's event loop goes on, as the SDK's
    ``invoke`` does.

    A program that transforms calls is called back by the engine for this one too, and answers in
    its loop.
    """
    monitor: Any = get_monitor()
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return monitor.Invoke(request)
    # Threads do not inherit the context, which holds the settings of the SDK.
    call = partial(copy_context().run, monitor.Invoke, request)
    return _sync_await(loop.run_in_executor(None, call))
