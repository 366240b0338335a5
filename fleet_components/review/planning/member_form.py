"""Forms of a member, one for each system: all that differs between a ``MemberCluster`` and a
Karmada ``Cluster``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError
from fleet_components.model.quantity import parse_quantity
from fleet_components.review.planning.selection import SPEC_PROVIDER, SPEC_REGION

_NANO = 10**9
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

    def set_property(self, member: Manifest, data: Data, name: str, value: str) -> None:
        """Set a property that placements select and sort by.

        Raises:
            FleetError: the system has none.
        """
        raise NotImplementedError

    def set_amount(self, member: Manifest, data: Data, resource: str, amount: str) -> None:
        """Set the allocatable amount of a resource, or change it by one that begins with ``+`` or
        ``-``.

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

    def set_property(self, member: Manifest, data: Data, name: str, value: str) -> None:
        """Set an entry of ``status.properties``."""
        properties = section(data, "status", "properties")
        properties[name] = {**(properties.get(name) or {}), "value": value}

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
        if not known and not _is_change(amount):
            known = dict.fromkeys(fields, "0")
        if not known:
            raise _unknown(member, resource, ("status", "resourceUsage", "allocatable", resource))
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

    def set_property(self, member: Manifest, data: Data, name: str, value: str) -> None:
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


def _is_change(amount: str) -> bool:
    return amount.startswith(("+", "-"))


def _step(member: Manifest, resource: str, known: Any, amount: str) -> int:
    """Return the difference to a known amount, in units of 1e-9."""
    given = parse_quantity(amount).nano
    return given if _is_change(amount) else given - _nano(member, resource, known)


def _moved(member: Manifest, resource: str, known: Any, step: int) -> str:
    """Return an amount after a change; there is never less than nothing."""
    found = max(0, _nano(member, resource, known) + step)
    return str(found // _NANO) if found % _NANO == 0 else f"{found}n"


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
