"""The marks by which hubs know their objects on members, and the change of a hub before it lets
objects go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from http import client as http
from typing import Any, TypeVar

import attrs

from fleet_components.content.stamp import STACK_ANNOTATION
from fleet_components.live.connection import (
    Connection,
    Leftover,
    UnexpectedAnswer,
    connected,
    within,
)
from fleet_components.live.exchange import hub_room
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.transfer import SeenObject
from fleet_components.systems.registry import SYSTEMS

T = TypeVar("T")
_TRIES = 5
_ODD = "answers with something else than Kubernetes objects"
_NOT_REACHED = "does not answer in time, or its kubeconfig or credential plugin does not work"


def connecting(
    kubeconfig: str, who: str, work: Callable[[Connection], T], *, timeout: float = 30.0
) -> T:
    """Return what comes of requests to a cluster.

    Args:
        kubeconfig: the text of its kubeconfig.
        who: the cluster, for messages.
        work: makes the requests.
        timeout: limit for all of them, in seconds.

    Raises:
        FleetError: it does not answer, or refuses something.
    """
    # Empty if the thread is abandoned before it has a result.
    done: list[T] = []
    refused: list[str] = []

    def run(deadline: float) -> None:
        with connected(kubeconfig, deadline, hub_room()) as cluster:
            try:
                done.append(work(cluster))
            except UnexpectedAnswer as error:
                refused.append(f"{error}: {error.message}")
            except (AttributeError, KeyError, TypeError, ValueError):
                refused.append(_ODD)  # an answer of another form than Kubernetes has

    within(timeout, run)
    if not done:
        raise FleetError(
            [
                Problem(
                    Message(
                        "cluster-refuses", "{reason}", reason=next(iter(refused), _NOT_REACHED)
                    ),
                    subject=who,
                )
            ]
        )
    return done[0]


def seen_object(data: Mapping[str, Any], hub: str, stack: str) -> SeenObject:
    """Return an object of a member with what its marks say.

    Args:
        data: the object.
        hub: the way of the hub.
        stack: the stack, as ``organization/project/stack``.

    Raises:
        AttributeError, KeyError, TypeError: it has something else where these are.
    """
    metadata = data["metadata"]
    if not isinstance(metadata["uid"], str):
        raise TypeError("uid")
    annotations = metadata.get("annotations") or {}
    marks = SYSTEMS[hub].marks
    taken = marks.takes(metadata)
    marked = taken or any(key in annotations for key in marks.left)
    ours = annotations.get(STACK_ANNOTATION) == stack
    return SeenObject(metadata["uid"], bool(metadata.get("deletionTimestamp")), taken, marked, ours)


def release(member: Connection, leftover: Leftover, hub: str, stack: str, manager: str) -> None:
    """Mark an object as a stack's, and take the marks of KubeFleet off it; nothing is done if it is
    not there.

    Args:
        member: the member.
        leftover: the object.
        hub: the way of the hub; the marks of Karmada stay, since it would set them again.
        stack: the stack, as ``organization/project/stack``.
        manager: the field manager of the stack.

    Raises:
        TimeoutError: the deadline has passed.
        UnexpectedAnswer: the member refuses it.
    """
    marks = SYSTEMS[hub].marks
    is_agent = marks.owner
    taken_off = marks.left if is_agent else ()
    # Counts down to 0, the last try, whose error is raised.
    for left in reversed(range(_TRIES)):
        found = member.get(leftover)
        if found is None:
            return
        metadata = found["metadata"]
        annotations = {
            key: text
            for key, text in (metadata.get("annotations") or {}).items()
            if key not in taken_off
        }
        owners = [
            owner
            for owner in metadata.get("ownerReferences") or ()
            if not (is_agent and is_agent(owner))
        ]
        patch = [
            # Only what was read is changed: somebody may write it meanwhile.
            {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
            {
                "op": "test",
                "path": "/metadata/resourceVersion",
                "value": metadata["resourceVersion"],
            },
            {
                "op": "add",
                "path": "/metadata/annotations",
                "value": {**annotations, STACK_ANNOTATION: stack},
            },
            *(
                [{"op": "add", "path": "/metadata/ownerReferences", "value": owners}]
                if is_agent
                else ()
            ),
        ]
        try:
            member.change(leftover, patch, manager=manager)
        except UnexpectedAnswer as error:
            # A ``test`` that fails is answered with 422.
            if left and error.code in (http.CONFLICT, http.UNPROCESSABLE_ENTITY):
                continue
            raise
        return


def clear(member: Connection, leftover: Leftover, hub: str, manager: str) -> None:
    """Take off an object what its hub has left on it; nothing is done if it is not there.

    Raises:
        TimeoutError: the deadline has passed.
        UnexpectedAnswer: the member refuses it.
    """
    if member.get(leftover):
        # In a merge patch, None removes a key.
        left = dict.fromkeys(SYSTEMS[hub].marks.left)
        member.change(leftover, {"metadata": {"annotations": left}}, manager=manager)


@attrs.frozen
class HeldObjects:
    """Objects of some placements or templates that a hub has sent to its members.

    Attributes:
        objects: the objects, by member.
        held: True if every Work says that nothing is taken over, or deleted, any more.
        let_go: True if no agent of KubeFleet takes anything of it for its own.
    """

    objects: Mapping[str, tuple[Leftover, ...]] = attrs.field(factory=dict)
    held: bool = True
    let_go: bool = True


def held_objects(hub: Connection, system: str, subjects: Collection[ObjectKey]) -> HeldObjects:
    """Return what a hub has sent to its members.

    Args:
        hub: the hub.
        system: its way.
        subjects: keys of placements, or of templates.

    Raises:
        TimeoutError: the deadline has passed.
        UnexpectedAnswer: the hub refuses it.
    """
    marks = SYSTEMS[system].marks
    each = (data for label in marks.labels for data in hub.items(marks.works, "Work", label))
    works = [data for data in each if marks.subjects(data, _manifests(data)) & set(subjects)]
    objects: dict[str, list[Leftover]] = {}
    for work in works:
        # On a hub, each member has a namespace: a prefix of the system, then its name.
        member = work["metadata"]["namespace"].removeprefix(marks.space)
        found = (
            Leftover(it.api_version, it.kind, it.namespace, it.name) for it in _manifests(work)
        )
        objects.setdefault(member, []).extend(found)
    return HeldObjects(
        # Each object once, in the order of the Works.
        {name: tuple(dict.fromkeys(found)) for name, found in objects.items()},
        held=all(map(marks.held, works)),
        let_go=not any(_is_applied(work) for work in works),
    )


def _manifests(work: Mapping[str, Any]) -> list[Manifest]:
    return [
        Manifest(manifest)
        for manifest in (work["spec"].get("workload") or {}).get("manifests") or ()
    ]


def _is_applied(work: Mapping[str, Any]) -> bool:
    each = (work.get("status") or {}).get("manifestConditions") or ()
    conditions = (condition for item in each for condition in item.get("conditions") or ())
    return any(
        item.get("type") == "Applied" and item.get("status") == "True" for item in conditions
    )


def hold(hub: Connection, system: str, steering: Iterable[ObjectKey], manager: str) -> None:
    """Tell a hub to let objects stay: placements take nothing over any more, policies preserve what
    they have placed.

    Args:
        hub: the hub.
        system: its way.
        steering: keys of the placements, or of the propagation policies.
        manager: the field manager of the change.

    Raises:
        TimeoutError: the deadline has passed.
        UnexpectedAnswer: the hub refuses it, or has one of them not.
    """
    version, spec = SYSTEMS[system].marks.hold
    for key in steering:
        hub.change(
            Leftover(f"{key.group}/{version}", key.kind, key.namespace, key.name),
            {"spec": spec},
            manager=manager,
        )
