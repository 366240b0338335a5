"""Reads the number of replicas of a workload, and sets it for each member.

Source: ``pkg/resourceinterpreter/default/native`` of Karmada 1.19, for objects as the API server
stores them: a Deployment without replicas has one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from fleet_components.model.manifest import (
    COMPLETIONS,
    Manifest,
    WorkloadShape,
    completions_of,
    pod_spec,
    shape_of,
)
from fleet_components.model.quantity import parse_quantity
from fleet_components.systems.karmada.model.webster import divide


def divide_completions(manifest: Manifest, replicas: Mapping[str, int], uid: str) -> dict[str, int]:
    """Return the completions of a divided Job by member, in proportion to each member's
    parallelism.

    Args:
        manifest: the template.
        replicas: replicas by member.
        uid: the template's stable uid; decides ties.

    Returns:
        Completions by member; empty if the object has no completions to divide.
    """
    completions = completions_of(manifest)
    return {} if completions is None else divide(completions, replicas, uid)


def with_replicas(
    manifest: Manifest,
    replicas: int,
    completions: int | None = None,
    declared: Iterable[WorkloadShape] = (),
) -> Mapping[str, Any]:
    """Return the object for one member, with its replicas and, for a divided Job, its completions.

    Objects without replicas are returned unchanged.
    """
    shape = shape_of(manifest, declared)
    data = manifest.data
    if shape and shape.replicas:
        data = _put(data, shape.replicas, replicas)
    return data if completions is None else _put(data, COMPLETIONS, completions)


def _put(data: Any, path: tuple[str, ...], value: int) -> dict[str, Any]:
    first, *rest = path
    parent = data if isinstance(data, Mapping) else {}
    return {**parent, first: _put(parent.get(first), tuple(rest), value) if rest else value}


# Resource requirements of one replica of a workload.
#
# Source: ``GenerateReplicaRequirements`` in ``pkg/util/helper/binding.go`` of Karmada 1.19.
# Missing requests of a container are its limits; an init container counts only if it needs more
# than all containers together.


_CPU = "cpu"
_COUNTED = (_CPU, "memory", "ephemeral-storage", "pods")
_MILLI, _UNIT = 10**6, 10**9

_Amounts = dict[str, int]
"""Amounts by resource: cpu in thousandths, all others in units."""


@attrs.frozen
class NodeClaim:
    """Conditions of the pod template on nodes."""

    node_selector: Mapping[str, str] = attrs.field(factory=dict)
    tolerations: tuple[Mapping[str, Any], ...] = ()
    hard_node_affinity: Mapping[str, Any] | None = None


@attrs.frozen
class Requirements:
    """The requirements of one replica.

    Attributes:
        requests: amounts by resource, as Kubernetes quantities.
        node_claim: conditions on nodes; None for none.
    """

    requests: Mapping[str, str]
    node_claim: NodeClaim | None = None


def requirements_of(
    manifest: Manifest, declared: Iterable[WorkloadShape] = ()
) -> Requirements | None:
    """Return the requirements of one replica; None if the object states none or is not a workload
    with replicas.
    """
    shape = shape_of(manifest, declared)
    # A Pod has no field for replicas, but is its own template, and so one replica.
    if shape is None or (shape.replicas is None and shape.template != ()):
        return None
    pod = pod_spec(manifest, shape)
    requests, claim = _requests(pod), _node_claim(pod)
    return Requirements(requests, claim) if requests or claim else None


def _requests(pod: Mapping[str, Any]) -> Mapping[str, str]:
    total: _Amounts = defaultdict(int)
    for container in pod.get("containers") or ():
        _add(total, _effective(container))
    for container in pod.get("initContainers") or ():
        for resource, amount in _effective(container).items():
            total[resource] = max(total[resource], amount)
    _add(total, _amounts(pod.get("overhead") or {}))
    return {
        name: f"{amount}m" if name == _CPU else str(amount)
        for name, amount in sorted(total.items())
        if amount > 0
    }


def _effective(container: Mapping[str, Any]) -> _Amounts:
    resources = container.get("resources") or {}
    return _amounts({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def _amounts(quantities: Mapping[str, Any]) -> _Amounts:
    amounts = {}
    for name, quantity in quantities.items():
        if _is_counted(name) and quantity is not None:
            unit = _MILLI if name == _CPU else _UNIT
            # Rounded up, as Value() and MilliValue() of a Kubernetes Quantity do.
            amounts[name] = -(-parse_quantity(str(quantity)).nano // unit)
    return amounts


def _add(total: _Amounts, amounts: _Amounts) -> None:
    for resource, amount in amounts.items():
        total[resource] += amount


def _is_counted(resource: str) -> bool:
    # With this prefix it is the name of a quota, not of a resource.
    extended = "/" in resource and not resource.startswith("requests.")
    return (
        resource in _COUNTED
        or extended
        or resource.startswith(("hugepages-", "attachable-volumes-"))
    )


def _node_claim(pod: Mapping[str, Any]) -> NodeClaim | None:
    node_affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    claim = NodeClaim(
        pod.get("nodeSelector") or {},
        tuple(pod.get("tolerations") or ()),
        node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution"),
    )
    return None if claim == NodeClaim() else claim
