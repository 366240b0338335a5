"""Holds the fields that Azure takes only when it creates something, and refuses their change at preview.

A component cannot see what it was given the last time; a dynamic resource can, in ``check``. Without it Pulumi would
replace a whole cluster, or Azure would refuse the request in the middle of an update.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi import dynamic

from fleet_components.model.azure.create_only import RULES, refuse_changes


# moves to fleet_components/dynamic.py
class CreateOnlyProvider(dynamic.ResourceProvider):
    """Compares what is declared with what was accepted before; there is nothing behind it."""

    serialize_as_secret_always = False

    def check(self, olds: dict[str, Any], news: dict[str, Any]) -> dynamic.CheckResult:
        """Refuse changes of what was accepted before; nothing is held of a new thing."""
        old = olds.get("fields")
        problems = refuse_changes(old, news["fields"], RULES[news["kind"]]) if old else ()
        failures = [dynamic.CheckFailure("", f"{news['key']}: {problem}") for problem in problems]
        return dynamic.CheckResult(news, failures)

    def create(self, props: dict[str, Any]) -> dynamic.CreateResult:
        """Accept the first values."""
        return dynamic.CreateResult(str(props["key"]), dict(props))

    def update(self, _id: str, _olds: dict[str, Any], news: dict[str, Any]) -> dynamic.UpdateResult:
        """Accept later values, which ``check`` has let through."""
        return dynamic.UpdateResult(dict(news))


# moves to fleet_components/dynamic.py
class CreateOnly(dynamic.Resource, module="fleet", name="CreateOnly"):
    """The fields of one thing that only its creation can set.

    Args:
        name: the resource's name.
        kind: what it is: :data:`HUB` or :data:`MEMBER`.
        key: what it is called in errors.
        fields: the values by name, maps for what has fields of its own, None for what is not there; all plain, so
            that previews can judge them.
    """

    def __init__(
        self, name: str, kind: str, key: str, fields: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(CreateOnlyProvider(), name, {"kind": kind, "key": key, "fields": dict(fields)}, opts)
