"""The dynamic resource of fleets on Azure.

FROZEN PATH, as :mod:`fleet_components.dynamic`: states refer to this module and to the class names in it, for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi.dynamic import CheckFailure, CheckResult, Resource

from fleet_components.dynamic import Props, RecordProvider, has_unknown


class CreateOnlyProvider(RecordProvider):
    """Compares fields that only a creation can set with those that were accepted before."""

    def check(self, olds: Props, news: Props) -> CheckResult:
        """Refuse their change; nothing is held of a new thing."""
        from fleet_components.azure.values.create_only import RULES, refuse_changes

        old = olds.get("fields")
        problems = refuse_changes(old, _known(news["fields"]), RULES[news["kind"]]) if old else ()
        return CheckResult(news, [CheckFailure("", f"{news['key']}: {problem}") for problem in problems])


def _known(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields without those that are not known before the update."""
    return {
        field: _known(value) if isinstance(value, Mapping) else value
        for field, value in fields.items()
        if isinstance(value, Mapping) or not has_unknown(value)
    }


class CreateOnly(Resource, module="fleet", name="CreateOnly"):
    """The fields of one thing that only its creation can set.

    A component cannot see what it was given the last time; ``check`` can. Without it Pulumi would replace a whole
    cluster, or Azure would refuse the request in the middle of an update.

    Args:
        name: the resource's name.
        kind: what it is: ``HUB`` or ``MEMBER`` of ``fleet_components.azure.values.create_only``.
        key: what it is called in errors.
        fields: the values by name, maps for what has fields of its own, None for what is not there. Previews judge
            plain values, and outputs of what exists already.
        opts: resource options. It must depend on nothing that Azure has to make, so that it refuses before anything is
            made or changed, also if there was no preview.
    """

    def __init__(
        self, name: str, kind: str, key: str, fields: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(CreateOnlyProvider(), name, {"kind": kind, "key": key, "fields": dict(fields)}, opts)
