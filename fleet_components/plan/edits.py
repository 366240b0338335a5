"""A fleet in which members are changed, as if their written objects had been."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from fleet_components.model.cluster import (
    REGION_LABELS,
    ZONE_LABEL,
    Cluster,
    Taint,
    Usage,
    serving_both,
)
from fleet_components.model.inventory import Inventory
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.quantity import parse_quantity
from fleet_components.scheduler.edit import ADD, MEMBER, Edits, FieldEdit, set_label

KARMADA_MEMBER = "Cluster"
_OF_KUBEFLEET = ("properties", "resourceUsage", "namespaces")
_LABELS = {"region": REGION_LABELS[0], "zones": ZONE_LABEL}


def as_written(inventory: Inventory, edits: Edits) -> Edits | None:
    """Return edits as the objects of their members have the fields; None if one has no such
    field.
    """
    found = [
        # An edit of a policy has no member: any one does then, because it is not looked at.
        _as_written(inventory.clusters[inventory.position(edit.member) or 0], edit)
        for edit in edits
    ]
    return None if None in found else tuple(edit for edit in found if edit is not None)


def _as_written(cluster: Cluster, edit: FieldEdit) -> FieldEdit | None:
    if edit.of != MEMBER:
        return edit
    if cluster.kind == KARMADA_MEMBER:
        return None if edit.field[1] in _OF_KUBEFLEET else edit
    match edit.field:
        case ("spec", "region" | "zones" as field):
            # A label holds one zone.
            value = edit.value[0] if field == "zones" and edit.value else edit.value
            label = _label_of(cluster, str(field))
            return (
                set_label(cluster.name, label, value, cluster.labels.get(label)) if value else None
            )
        case ("spec", "provider") | ("status", "apiEnablements"):
            return None
        case (
            "status",
            "resourceSummary",
            "allocatable",
            str(resource),
        ) if cluster.resource_summary:
            return _of_usage(cluster, resource, edit)
    return edit


def _label_of(cluster: Cluster, field: str) -> str:
    """Return the label that a region or a zone is read from; the first that is there counts."""
    known = (
        (label for label in REGION_LABELS if label in cluster.labels)
        if field == "region"
        else iter(())
    )
    return next(known, _LABELS[field])


def _of_usage(cluster: Cluster, resource: str, edit: FieldEdit) -> FieldEdit:
    """Return an edit of what is allocatable as one of the amounts that this is computed from."""
    usage, summary = cluster.usage, cluster.resource_summary
    # The caller's case has looked for it.
    assert summary is not None
    if resource in usage.available:
        old = parse_quantity(summary.allocatable.get(resource, "0")).nano
        free = (
            parse_quantity(usage.available[resource]).nano + parse_quantity(edit.value).nano - old
        )
        return attrs.evolve(
            edit, field=("status", "resourceUsage", "available", resource), value=_amount(free)
        )
    kind = "allocatable" if usage.allocatable else "capacity"
    return attrs.evolve(edit, field=("status", "resourceUsage", kind, resource))


def _amount(nano: int) -> str:
    # In the largest of three units that holds it exactly.
    whole, rest = divmod(nano, 10**9)
    if not rest:
        return str(whole)
    return f"{nano // 10**6}m" if nano % 10**6 == 0 else f"{nano}n"


def with_edits(inventory: Inventory, edits: Edits) -> Inventory:
    """Return the fleet with the edits of its members.

    Raises:
        FleetError: it is not known what comes of an edit.
    """
    clusters, ours = list(inventory.clusters), [edit for edit in edits if edit.of == MEMBER]
    for edit in ours:
        position = inventory.position(edit.member)
        if position is not None:
            clusters[position] = edited(clusters[position], edit)
    return Inventory(clusters, inventory.as_of) if ours else inventory


def edited(cluster: Cluster, edit: FieldEdit) -> Cluster:
    """Return a member with an edit of its written object.

    Raises:
        FleetError: no such field is read, or it is not known whether others are derived from it.
    """
    derived = attrs.evolve(cluster, region="", zones=(), resource_summary=None)
    if cluster.kind != KARMADA_MEMBER:
        # If all three follow from the other fields, they follow from the changed ones too.
        again = serving_both(derived) == cluster
        after = _edited(derived if again else cluster, edit)
        return serving_both(after) if again else after
    if edit.field[-1] in (*REGION_LABELS, ZONE_LABEL):
        raise _unknown(edit)  # a region may be written, or be read from the label
    return _edited(cluster, edit)


def _edited(cluster: Cluster, edit: FieldEdit) -> Cluster:
    match edit.field:
        case ("metadata", "labels", str(key)):
            return attrs.evolve(cluster, labels=_mapped(cluster.labels, key, edit.value))
        case ("spec", "taints"):
            return attrs.evolve(cluster, taints=_tainted(cluster.taints, edit))
        case ("spec", "zones"):
            return attrs.evolve(cluster, zones=tuple(edit.value))
        case ("spec", "provider"):
            return attrs.evolve(cluster, provider=edit.value)
        case ("spec", "region"):
            return attrs.evolve(cluster, region=edit.value)
        case ("status", "properties", str(name), *_):
            return attrs.evolve(cluster, properties=_mapped(cluster.properties, name, edit.value))
        case ("status", "resourceUsage", str(kind), str(resource)):
            amounts = _mapped(getattr(cluster.usage, kind), resource, edit.value)
            usage: Usage = attrs.evolve(cluster.usage, **{kind: amounts})
            return attrs.evolve(cluster, usage=usage)
        case ("status", "namespaces", str(name)):
            return attrs.evolve(
                cluster, namespaces=_mapped(cluster.namespaces or {}, name, edit.value)
            )
        case ("status", "apiEnablements"):
            kinds = {
                (edit.value["groupVersion"], resource["kind"])
                for resource in edit.value["resources"]
            }
            served = cluster.api_enablements or frozenset()
            return attrs.evolve(
                cluster, api_enablements=served | kinds if edit.operation == ADD else served - kinds
            )
        case (
            "status",
            "resourceSummary",
            "allocatable",
            str(resource),
        ) if cluster.resource_summary:
            summary = cluster.resource_summary
            allocatable = _mapped(summary.allocatable, resource, edit.value)
            return attrs.evolve(
                cluster, resource_summary=attrs.evolve(summary, allocatable=allocatable)
            )
    raise _unknown(edit)


def _unknown(edit: FieldEdit) -> FleetError:
    return FleetError(
        [
            Problem(
                Message("not-known-what-comes", "it is not known what comes of this edit"),
                edit.field,
            )
        ]
    )


def _mapped(values: Mapping[str, str], key: str, value: str | None) -> dict[str, str]:
    """Return the values with one of them set, or without it for None."""
    others = {name: text for name, text in values.items() if name != key}
    # A changed value keeps its place among the others.
    return others if value is None else {**values, key: value}


def _tainted(taints: Iterable[Taint], edit: FieldEdit) -> tuple[Taint, ...]:
    asked = _taint(edit.value)
    if edit.operation == ADD:
        return (*taints, asked)
    # An edit does not say when a taint was added.
    return tuple(taint for taint in taints if attrs.evolve(taint, time_added=None) != asked)


def _taint(value: Mapping[str, str]) -> Taint:
    return Taint(value["key"], value.get("value", ""), value["effect"])
