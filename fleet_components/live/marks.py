"""The marks by which hubs know their objects on members, and what a hub is told before it lets
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
from fleet_components.plan.ways import Way
from fleet_components.systems.karmada.hub.binding import BINDING_MARKS

T = TypeVar("T")
_TRIES = 5
_PLACEMENTS, _WORKS = "placement.kubernetes-fleet.io", "work.karmada.io"
_PLACEMENT, _PLACEMENT_SPACE = (
    "kubernetes-fleet.io/parent-CRP",
    "kubernetes-fleet.io/parent-placement-namespace",
)
_SPACES: Mapping[str, str] = {Way.KUBEFLEET: "fleet-member-", Way.KARMADA: "karmada-es-"}
_LEFT: Mapping[str, tuple[str, ...]] = {
    Way.KUBEFLEET: (
        "kubernetes-fleet.io/last-applied-configuration",
        "kubernetes-fleet.io/spec-hash",
    ),
    Way.KARMADA: ("work.karmada.io/conflict-resolution",),
}
"""Annotations that a hub leaves on objects that it lets go (seen on KubeFleet v0.3.1 and Karmada
v1.19).
"""
_NEVER: Mapping[str, Any] = {"strategy": {"applyStrategy": {"whenToTakeOver": "Never"}}}
_PRESERVED: Mapping[str, Any] = {"preserveResourcesOnDeletion": True}
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
    done: list[T] = []
    refused: list[str] = []

    def run(deadline: float) -> None:
        with connected(kubeconfig, deadline, hub_room()) as cluster:
            try:
                done.append(work(cluster))
            except UnexpectedAnswer as error:
                refused.append(f"{error}: {error.message}")
            except (AttributeError, KeyError, TypeError, ValueError):
                refused.append(_ODD)  # whatever it has in the place of what is read

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
    if hub == Way.KUBEFLEET:
        taken = any(_is_hubs(owner) for owner in metadata.get("ownerReferences") or ())
    else:
        taken = any(mark in (metadata.get("labels") or {}) for mark in BINDING_MARKS)
    marked = taken or any(key in annotations for key in _LEFT[hub])
    ours = annotations.get(STACK_ANNOTATION) == stack
    return SeenObject(metadata["uid"], bool(metadata.get("deletionTimestamp")), taken, marked, ours)


def _is_hubs(owner: Mapping[str, Any]) -> bool:
    return owner.get("kind") == "AppliedWork" and str(owner.get("apiVersion")).startswith(
        f"{_PLACEMENTS}/"
    )


def release(member: Connection, leftover: Leftover, hub: str, stack: str, manager: str) -> None:
    """Mark an object as a stack's, and take the marks of KubeFleet off it; nothing is done if it is
    not there.

    Args:
        member: the member.
        one: the object.
        hub: the way of the hub; the marks of Karmada stay, since it would set them again.
        stack: the stack, as ``organization/project/stack``.
        manager: the field manager of the stack.

    Raises:
        TimeoutError: the deadline has passed.
        UnexpectedAnswer: the member refuses it.
    """
    marks = _LEFT[hub] if hub == Way.KUBEFLEET else ()
    for left in reversed(range(_TRIES)):
        found = member.get(leftover)
        if found is None:
            return
        metadata = found["metadata"]
        annotations = {
            key: text
            for key, text in (metadata.get("annotations") or {}).items()
            if key not in marks
        }
        owners = [owner for owner in metadata.get("ownerReferences") or () if not _is_hubs(owner)]
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
                if hub == Way.KUBEFLEET
                else ()
            ),
        ]
        try:
            member.change(leftover, patch, manager=manager)
        except UnexpectedAnswer as error:
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
        member.change(
            leftover, {"metadata": {"annotations": dict.fromkeys(_LEFT[hub])}}, manager=manager
        )


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
    group, labels = (
        (_PLACEMENTS, (_PLACEMENT,)) if system == Way.KUBEFLEET else (_WORKS, BINDING_MARKS)
    )
    each = (data for label in labels for data in hub.items(group, "Work", label))
    works = [data for data in each if _subjects(data, system) & set(subjects)]
    objects: dict[str, list[Leftover]] = {}
    for work in works:
        member = work["metadata"]["namespace"].removeprefix(_SPACES[system])
        found = (
            Leftover(it.api_version, it.kind, it.namespace, it.name) for it in _manifests(work)
        )
        objects.setdefault(member, []).extend(found)
    return HeldObjects(
        {name: tuple(dict.fromkeys(found)) for name, found in objects.items()},
        held=all(_is_held(work, system) for work in works),
        let_go=not any(_is_applied(work) for work in works),
    )


def _manifests(work: Mapping[str, Any]) -> list[Manifest]:
    return [
        Manifest(manifest)
        for manifest in (work["spec"].get("workload") or {}).get("manifests") or ()
    ]


def _subjects(work: Mapping[str, Any], system: str) -> set[ObjectKey]:
    """Return the placement that a Work is of, or the templates that are in it."""
    if system == Way.KARMADA:
        return {manifest.key for manifest in _manifests(work)}
    labels = work["metadata"]["labels"]
    space = labels.get(_PLACEMENT_SPACE) or ""
    kind = "ResourcePlacement" if space else "ClusterResourcePlacement"
    return {ObjectKey(_PLACEMENTS, kind, space, labels[_PLACEMENT])}


def _is_held(work: Mapping[str, Any], system: str) -> bool:
    spec = work["spec"]
    if system == Way.KARMADA:
        return spec.get("preserveResourcesOnDeletion") is True
    conditions = (work.get("status") or {}).get("conditions") or ()
    # A strategy that the agent has not seen yet does not bind it.
    seen = any(
        condition.get("type") == "Applied"
        and condition.get("observedGeneration") == work["metadata"]["generation"]
        for condition in conditions
    )
    return seen and (spec.get("applyStrategy") or {}).get("whenToTakeOver") == "Never"


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
    for key in steering:
        version, spec = ("v1beta1", _NEVER) if system == Way.KUBEFLEET else ("v1alpha1", _PRESERVED)
        hub.change(
            Leftover(f"{key.group}/{version}", key.kind, key.namespace, key.name),
            {"spec": spec},
            manager=manager,
        )
