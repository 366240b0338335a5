"""Forms of a member, one for each system: what differs between a ``MemberCluster`` and a Karmada
``Cluster``, and the fields that are set in both by one name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, FleetError
from fleet_components.model.quantity import canonical, is_quantity, parse_quantity
from fleet_components.review.planning.selection import SPEC_PROVIDER, SPEC_REGION

# Quantities are compared in units of 1e-9, the smallest suffix "n" of Kubernetes.
_NANO = 10**9
# A sign, and a digit somewhere; ``is_step`` also requires a quantity.
_STEP = re.compile(r"[+-].*[0-9].*")
_SHARE = re.compile(r"[+-][0-9]+%")
_FORMS_OF_FIELDS = {
    "labels": "write labels.KEY=VALUE, labels[KEY/WITH.DOTS]=VALUE or labels.KEY=null",
    "taints": (
        "write taints.KEY=EFFECT, taints.KEY=VALUE:EFFECT, taints.KEY=null or"
        " taints.KEY.EFFECT=null"
    ),
    "properties": "write properties[NAME]=VALUE or properties[NAME]=null",
    "capacity": "write capacity.RESOURCE=AMOUNT; + or - in front is relative, as +8, -500m or -20%",
}
FIELDS = tuple(_FORMS_OF_FIELDS)
"""Fields of a member that each system writes in its own way, or in a list: the first step of their
path.
"""
Data = dict[str, Any]


class MemberForm:
    """The form in which one system writes a member; the data that is changed is a copy of the
    caller's.

    Attributes:
        KIND: group and kind.
        API_VERSION: the apiVersion of a new member.
        FIELDS: what is selected like a label, and is a field of the spec.
    """

    KIND: ClassVar[tuple[str, str]]
    API_VERSION: ClassVar[str]
    FIELDS: ClassVar[Mapping[str, str]] = {}

    def new(self, name: str) -> Data:
        """Return a member without anything but its name."""
        raise NotImplementedError

    def give(self, data: Data, key: str, value: str) -> None:
        """Set a label, or a field of the spec that is selected like one."""
        if key in self.FIELDS:
            section(data, "spec")[self.FIELDS[key]] = value
        else:
            section(data, "metadata", "labels")[key] = value

    def set_field(self, member: Manifest, data: Data, path: FieldPath, text: str | None) -> None:
        """Set one of :data:`FIELDS`, or take it away.

        Args:
            member: the member as it is.
            data: the copy of its data that is changed.
            path: the field.
            text: its value; None if it is taken away.

        Raises:
            FleetError: there is no such field, or no such value of it.
        """
        kind, *steps = map(str, path)
        # taints.KEY.EFFECT takes away one effect; to set one, it is the value.
        known = len(steps) == 1 or (kind == "taints" and len(steps) == 2 and text is None)
        if not known or (kind == "capacity" and text is None):
            raise FleetError(
                [
                    member.problem(
                        Message("cannot-set", "cannot be set"), path, _FORMS_OF_FIELDS[kind]
                    )
                ]
            )
        if kind == "labels":
            _set_label(data, steps[0], text)
        elif kind == "taints":
            _set_taint(data, steps[0], "".join(steps[1:]), text)
        elif kind == "properties":
            self.set_property(member, data, steps[0], text)
        else:
            self.set_amount(member, data, steps[0], _amount(member, path, text or ""))

    def set_property(self, member: Manifest, data: Data, name: str, value: str | None) -> None:
        """Set a property that placements select and sort by; None takes it away.

        Raises:
            FleetError: the system has none.
        """
        raise NotImplementedError

    def set_amount(self, member: Manifest, data: Data, resource: str, amount: str) -> None:
        """Set the allocatable amount of a resource, or change it by a relative one.

        Raises:
            FleetError: no amount is known that could be changed.
        """
        raise NotImplementedError


class KubeFleetForm(MemberForm):
    """``MemberCluster``: what a hub knows of it are properties and amounts of resources in its
    status.
    """

    KIND = ("cluster.kubernetes-fleet.io", "MemberCluster")
    API_VERSION = "cluster.kubernetes-fleet.io/v1"

    def new(self, name: str) -> Data:
        """Return a member with the identity of its own agent."""
        identity = {"kind": "ServiceAccount", "name": name, "namespace": "fleet-system"}
        return {
            "apiVersion": self.API_VERSION,
            "kind": self.KIND[1],
            "metadata": {"name": name},
            "spec": {"identity": identity},
        }

    def set_property(self, member: Manifest, data: Data, name: str, value: str | None) -> None:
        """Set an entry of ``status.properties``."""
        known = ((data.get("status") or {}).get("properties") or {}).get(name)
        if value is not None:
            # A property also has the time at which it was observed.
            section(data, "status", "properties")[name] = {**(known or {}), "value": value}
        elif known is not None:
            del data["status"]["properties"][name]

    def set_amount(self, member: Manifest, data: Data, resource: str, amount: str) -> None:
        """Change the capacity and what is available by as much as what is allocatable: the rest
        stays in use.
        """
        usage = section(data, "status", "resourceUsage")
        fields = ("allocatable", "capacity", "available")
        known = {
            field: found
            for field in fields
            if (found := (usage.get(field) or {}).get(resource)) is not None
        }
        # An amount that is not relative needs none before: nothing of it is in use.
        if not known and not is_step(amount):
            known = dict.fromkeys(fields, "0")
        if not known:
            raise _unknown(member, resource, ("status", "resourceUsage", "allocatable", resource))
        # In the order of fields: the allocatable amount, if it is known.
        step = _step(member, resource, next(iter(known.values())), amount)
        for field, found in known.items():
            section(usage, field)[resource] = _moved(member, resource, found, step)


class KarmadaForm(MemberForm):
    """``Cluster``: the scheduler counts replicas that fit into its resource summary."""

    KIND = ("cluster.karmada.io", "Cluster")
    API_VERSION = "cluster.karmada.io/v1alpha1"
    FIELDS = {SPEC_REGION: "region", SPEC_PROVIDER: "provider"}

    def new(self, name: str) -> Data:
        """Return a member that the control plane writes to."""
        return {
            "apiVersion": self.API_VERSION,
            "kind": self.KIND[1],
            "metadata": {"name": name},
            "spec": {"syncMode": "Push"},
        }

    def set_property(self, member: Manifest, data: Data, name: str, value: str | None) -> None:
        """Refuse it: no policy of Karmada selects by prices or properties."""
        hint = "give it a label, and a policy that selects by that"
        raise FleetError(
            [
                member.problem(
                    Message(
                        "no-properties-karmada-knows",
                        "has no properties: Karmada knows no {name}",
                        name=name,
                    ),
                    (),
                    hint,
                )
            ]
        )

    def set_amount(self, member: Manifest, data: Data, resource: str, amount: str) -> None:
        """Change what is allocatable; what is allocated stays."""
        path = ("status", "resourceSummary")
        summary = (data.get("status") or {}).get("resourceSummary") or {}
        if summary.get("allocatableModelings"):
            hint = "change these numbers of nodes, with --set or in a file for --policy"
            what = Message(
                "counts-nodes-grades-no",
                "counts its nodes by grades, in which no amount of a resource can be changed",
            )
            raise FleetError([member.problem(what, (*path, "allocatableModelings"), hint)])
        allocatable = summary.get("allocatable") or {}
        if resource not in allocatable:
            raise _unknown(member, resource, (*path, "allocatable", resource))
        known = allocatable[resource]
        amount = _moved(member, resource, known, _step(member, resource, known, amount))
        section(data, *path, "allocatable")[resource] = amount


FORMS: Mapping[tuple[str, str], MemberForm] = {
    item.KIND: item for item in (KubeFleetForm(), KarmadaForm())
}
"""The forms by group and kind."""


def form_of(manifest: Manifest) -> MemberForm | None:
    """Return the form of a member; None for any other object."""
    return FORMS.get((manifest.group, manifest.kind))


def section(data: Data, *path: str) -> Data:
    """Return a map in an object, which is made if it is missing."""
    for step in path:
        if data.get(step) is None:
            data[step] = {}
        data = data[step]
    return data


def is_step(text: str) -> bool:
    """Return whether a text is a relative amount: ``+8``, ``-500m``, ``-20%``."""
    share = _SHARE.fullmatch(text)
    return bool(share or (_STEP.fullmatch(text) and is_quantity(text)))


def moved_value(known: Any, step: str) -> Any:
    """Return a number or a quantity after a relative change, a share rounded down and never less
    than nothing; None if the value is neither.
    """
    # A bool is an int to Python.
    if isinstance(known, bool) or not isinstance(known, int | str) or not is_quantity(str(known)):
        return None
    amount = parse_quantity(str(known)).nano
    found = max(0, amount + _difference(amount, step))
    return found // _NANO if isinstance(known, int) else _quantity(found)


def _set_label(data: Data, key: str, text: str | None) -> None:
    if text is not None:
        section(data, "metadata", "labels")[key] = text
    elif key in ((data.get("metadata") or {}).get("labels") or {}):
        del data["metadata"]["labels"][key]


def _set_taint(data: Data, key: str, effect: str, text: str | None) -> None:
    """Set a taint instead of one with the same key and effect, or take away those that there
    are with the key, and the effect if one is named.
    """
    # EFFECT alone, or VALUE:EFFECT: no effect has a colon.
    value, _, named = (text or "").rpartition(":")
    taints = (data.get("spec") or {}).get("taints") or ()
    kept = [
        taint
        for taint in taints
        if taint.get("key") != key or (effect or named) not in ("", taint.get("effect"))
    ]
    new = {"key": key, "value": value, "effect": named}
    if text is not None:
        kept.append({name: part for name, part in new.items() if part})
    if kept != list(taints):
        section(data, "spec")["taints"] = kept


def _amount(member: Manifest, path: FieldPath, text: str) -> str:
    """Return the text of an amount.

    Raises:
        FleetError: it is neither a quantity nor a relative amount.
    """
    if is_quantity(text) or is_step(text):
        return text
    what = Message("not-quantity-2", "{text} is not a quantity", text=text or "nothing")
    raise FleetError([member.problem(what, path, _FORMS_OF_FIELDS["capacity"])])


def _difference(known: int, text: str) -> int:
    """Return the difference that a relative amount makes, in the unit of the known one, 1e-9."""
    if text.endswith("%"):
        # Divided last, so that only the result is rounded.
        return known * int(text[:-1]) // 100
    return parse_quantity(text).nano


def _step(member: Manifest, resource: str, known: Any, text: str) -> int:
    """Return the difference to a known amount, in units of 1e-9."""
    amount = _nano(member, resource, known)
    return _difference(amount, text) if is_step(text) else parse_quantity(text).nano - amount


def _moved(member: Manifest, resource: str, known: Any, step: int) -> str:
    """Return an amount after a change; there is never less than nothing."""
    return _quantity(max(0, _nano(member, resource, known) + step))


def _quantity(nano: int) -> str:
    return canonical(f"{nano}n")


def _nano(member: Manifest, resource: str, known: Any) -> int:
    try:
        return parse_quantity(str(known)).nano
    except ValueError as error:
        raise FleetError(
            [
                member.problem(
                    Message(
                        "amount-not-quantity",
                        "its amount of {resource} is not a quantity: {error}",
                        resource=resource,
                        error=error,
                    ),
                    ("status",),
                )
            ]
        ) from error


def _unknown(member: Manifest, resource: str, path: tuple[str, ...]) -> FleetError:
    hint = "write it there as a hub exports it, by which the scheduler then decides"
    return FleetError(
        [
            member.problem(
                Message(
                    "no-amount-known", "no amount of its {resource} is known", resource=resource
                ),
                path,
                hint,
            )
        ]
    )
