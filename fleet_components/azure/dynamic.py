"""The dynamic resources of fleets on Azure.

FROZEN PATH, as :mod:`fleet_components.dynamic`: states refer to this module and to the class names
in it, for ever.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pulumi
from pulumi.dynamic import CheckFailure, CheckResult, CreateResult, Resource, UpdateResult

from fleet_components.dynamic import Props, RecordProvider, has_unknown

if TYPE_CHECKING:
    from fleet_components.azure.role_wait import RolesWait


class CreateOnlyProvider(RecordProvider):
    """Compares fields that only a creation can set with those that were accepted before."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Refuse their change; nothing is held of a new thing."""
        from fleet_components.azure.values.create_only import RULES, refuse_changes

        old = olds.get("fields")
        problems = refuse_changes(old, _known(news["fields"]), RULES[news["kind"]]) if old else ()
        return CheckResult(
            news, [CheckFailure("", f"{news['key']}: {problem}") for problem in problems]
        )


def _known(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields without those that are not known before the update."""
    return {
        field: _known(value) if isinstance(value, Mapping) else value
        for field, value in fields.items()
        if isinstance(value, Mapping) or not has_unknown(value)
    }


class CreateOnly(Resource, module="fleet", name="CreateOnly"):
    """The fields of one thing that only its creation can set.

    A component cannot see what it was given the last time; ``check`` can. Without it Pulumi would
    replace a whole cluster, or Azure would refuse the request in the middle of an update.

    Args:
        name: the resource's name.
        kind: what it is: ``HUB`` or ``MEMBER`` of ``fleet_components.azure.values.create_only``.
        key: what it is called in errors.
        fields: the values by name, maps for what has fields of its own, None for what is not there.
            Previews judge plain values, and outputs of what exists already.
        opts: resource options. It must depend on nothing that Azure has to make, so that it refuses
            before anything is made or changed, also if there was no preview.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        key: str,
        fields: Mapping[str, Any],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(
            CreateOnlyProvider(), name, {"kind": kind, "key": key, "fields": dict(fields)}, opts
        )


class ProvisionedProvider(RecordProvider):
    """Provider that records what a fleet has provisioned."""


class Provisioned(Resource, module="fleet", name="Provisioned"):
    """The record of a hub, member or resource group that a fleet provisions.

    It stands as long as what it records: that depends on it, so it is made first and deleted last.
    A program reads the records of the last update, and refuses to delete what is not declared any
    more.

    Args:
        name: the resource's name.
        fleet: the name of the fleet.
        kind: what it records: ``hub``, ``cluster``, ``member`` or ``group``.
        key: the name of that.
        subscription: the ID of a resource group's subscription; empty for that of the fleet, which
            is not recorded.
        opts: resource options.
    """

    def __init__(
        self,
        name: str,
        fleet: str,
        kind: str,
        key: str,
        subscription: str = "",
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        where = {"subscription": subscription} if subscription else {}
        super().__init__(
            ProvisionedProvider(), name, {"fleet": fleet, "kind": kind, "key": key, **where}, opts
        )


class RolesReachProvider(RecordProvider):
    """Waits, where it is created or updated, until role assignments reach."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Say in the preview that the update will wait."""
        if not olds and (announcement := _wait(news).announcement):
            _say(announcement)
        return CheckResult(dict(news), [])

    def create(self, props: Props) -> CreateResult:
        """Wait."""
        _reach(props)
        return super().create(props)

    def update(self, id: str, olds: Props, news: Props) -> UpdateResult:
        """Wait for the assignments that are new."""
        _reach(news)
        return super().update(id, olds, news)


class RolesReach(Resource, module="fleet", name="RolesReach"):
    """A point in the update at which role assignments have reached, for the resources that need
    them.

    Args:
        name: the resource's name.
        props: ``roles``, ``created``, ``minutes`` and ``kubeconfig`` as in
            :class:`fleet_components.azure.role_wait.RolesWait`; all but the roles and minutes may
            be outputs.
    """

    def __init__(
        self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(RolesReachProvider(), name, {"key": name, **props}, opts)


def _reach(props: Props) -> None:
    from fleet_components.azure.role_wait import RolesDoNotReach

    try:
        _wait(props).run()
    except RolesDoNotReach:
        # The SDK prints errors of providers with their traceback, which says nothing here.
        sys.tracebacklimit = 0
        raise


def _wait(props: Props) -> RolesWait:
    from fleet_components.azure.role_wait import RolesWait

    given = {field: value for field, value in props.items() if not has_unknown(value)}
    # An empty text is a hub whose kubeconfig is not known yet, as in a preview; None is no hub to
    # ask.
    kubeconfig = given.get("kubeconfig", "") if props.get("kubeconfig") is not None else None
    # A time that is unknown counts as new.
    created = given.get("created", [None])
    return RolesWait(
        roles=props["roles"],
        created=created,
        minutes=props["minutes"],
        kubeconfig=kubeconfig,
        tell=_say,
    )


def _say(text: str) -> None:
    """Write a line, which the engine shows: a process of dynamic providers has no other way to
    it.
    """
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
