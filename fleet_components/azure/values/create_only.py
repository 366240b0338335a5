"""Fields that only a creation can set, or that Azure lets change in one direction only, and the
errors for the rest.

Sources: the AKS articles "IP address planning", "Create node pools", "Availability zones", "Enable
Microsoft Entra ID authentication", "OpenID Connect issuer", "Private clusters" and "Upgrade the AKS
control plane" (Microsoft, 2026-08). Some changes of the network Azure itself would make, as a
larger range of pods; Pulumi's provider replaces the whole cluster for them (its table of fields
that force a replacement), so they are refused as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from fleet_components.azure.values.kubernetes_version import follows
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem

HUB, MEMBER = "hub", "member"

_NEW_FLEET = "declare a second hub under another name, move the members over, then remove this one"
_NEW_MEMBER = "declare a member under another name and remove this one: placements move over"
_NEW_POOL = "declare a pool under another name and remove this one"
_SIGN_IN = (
    "Entra ID cannot be switched off once it is on; localAccounts: true adds certificates beside it"
)
_ISSUER = "the OIDC issuer cannot be switched off once it is on; leave it on, nobody has to use it"
_DNS_ZONE = (
    "Azure changes it to none and to nothing else; declare a member under another name to have"
    " another zone"
)
_VERSION = (
    "Azure upgrades one minor version at a time, more with longTermSupport, and never back: take"
    " the next minor version first; if the cluster runs that version already, declare upgrades:"
    " fleet for one update"
)
_SECOND_SYSTEM_POOL = (
    "add another pool of mode System and keep this one small: it lives as long as the cluster"
)
_INTEGRATED = "VNet integration of the API server cannot be switched off, nor its subnet be changed"
_LEFT_OUT = (
    "Azure may keep what a request does not name; switch it off first, by enabled: false, false"
    " or {}"
)
_PROXY = "a request cannot take a proxy away; change it, or declare a member under another name"


@attrs.frozen
class PropertyChange:
    """The change of one field.

    Attributes:
        path: the field.
        before: its value so far.
        after: its value from now on.
        fields: all fields from now on.
    """

    path: str
    before: Any
    after: Any
    fields: Mapping[str, Any]


@attrs.frozen
class CreateOnlyRule:
    """A rule for fields that cannot change, or not in every way.

    Attributes:
        thing: a pattern for the path of the created resource; the rule applies to it and to all
            fields below it.
        way_out: what holds and what to do instead of changing the fields.
        allows: whether Azure makes a change; by default it makes none.
        may_come: the resource itself may be added later.
        may_go: the resource itself may be removed.
    """

    thing: str
    way_out: str
    allows: Callable[[PropertyChange], bool] = lambda _: False
    may_come: bool = False
    may_go: bool = False


_FIXED = "it is fixed at creation; "
_FEATURES = (
    # Only a feature that was on and is now left out: Azure may keep it on.
    CreateOnlyRule(
        "features", _LEFT_OUT, lambda change: change.before != "on" or change.after is not None
    ),
    CreateOnlyRule("httpProxy", _PROXY, lambda change: change.after is not None),
    # The integration may come later, with a subnet or without.
    CreateOnlyRule(
        r"apiServer\.(vnetIntegration|subnet)", _INTEGRATED, lambda change: not change.before
    ),
)
RULES = {
    HUB: (
        CreateOnlyRule("hub", _FIXED + _NEW_FLEET, may_come=True),
        CreateOnlyRule("[^.]+", _FIXED + _NEW_FLEET),
    ),
    MEMBER: (
        CreateOnlyRule(r"pools\.[^.]+", _FIXED + _NEW_POOL, may_come=True, may_go=True),
        CreateOnlyRule("systemPool", _FIXED + _SECOND_SYSTEM_POOL),
        # Older versions did not record it, and a program need not know it.
        CreateOnlyRule("subscription", _FIXED + _NEW_MEMBER, may_come=True, may_go=True),
        CreateOnlyRule("entra", _SIGN_IN, lambda change: bool(change.after)),
        CreateOnlyRule("oidcIssuer", _ISSUER, lambda change: bool(change.after)),
        CreateOnlyRule(
            r"apiServer\.privateDnsZone", _DNS_ZONE, lambda change: bool(change.after == "none")
        ),
        CreateOnlyRule("kubernetesVersion", _VERSION, lambda change: _is_upgrade(change)),
        # It may change in any way; it is among the fields because the rule for versions reads it.
        CreateOnlyRule("longTermSupport", "", lambda _: True),
        *_FEATURES,
        CreateOnlyRule("[^.]+", _FIXED + _NEW_MEMBER),
    ),
}
"""Rules by kind of resource; the first rule that matches a field applies."""

SOMETIMES = {
    *("subnet", "podSubnet", "agentSubnet", "apiServerSubnet", "diskEncryptionSet"),
    *("entra", "oidcIssuer", "privateDnsZone", "kubernetesVersion", "longTermSupport"),
}
"""Fields that are missing while their values are unknown, and in states that did not record
them.
"""


def refuse_changes(
    old: Mapping[str, Any], new: Mapping[str, Any], rules: tuple[CreateOnlyRule, ...]
) -> tuple[Problem, ...]:
    """Return a problem for each change that cannot be made, with both values and what to do
    instead.

    A missing field is None, since the SDK hands over no other; those of :data:`SOMETIMES` are not
    compared then.
    """
    problems = []
    for change in _changes("", old, new, new):
        # The last rule of each kind matches every path, so there always is one.
        rule = next(rule for rule in rules if re.match(rf"{rule.thing}(\.|$)", change.path))
        is_thing = re.fullmatch(rule.thing, change.path)
        comes_or_goes = (change.before is None and rule.may_come) or (
            change.after is None and rule.may_go
        )
        if (is_thing and comes_or_goes) or rule.allows(change):
            continue
        what = Message(
            "cannot-change-from",
            "{path} cannot change from {before} to {after}",
            path=change.path,
            before=_shown(change.before),
            after=_shown(change.after),
        )
        problems.append(Problem(what, hint=rule.way_out))
    return tuple(problems)


def _changes(
    path: str, before: Any, after: Any, fields: Mapping[str, Any]
) -> Iterator[PropertyChange]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}):
            if key in SOMETIMES and None in (before.get(key), after.get(key)):
                continue
            yield from _changes(
                f"{path}.{key}".lstrip("."), before.get(key), after.get(key), fields
            )
    # A state that did not record a field has nothing there.
    elif (before or after) and _compared(before) != _compared(after):
        yield PropertyChange(path, before, after, fields)


def _compared(value: Any) -> Any:
    """Return the value as Azure compares it: lists without order, resource IDs without case."""
    if isinstance(value, list):
        return sorted(value)
    if isinstance(value, str) and value.startswith("/"):
        return value.lower()
    return value


def _is_upgrade(change: PropertyChange) -> bool:
    return follows(change.before, change.after, skips=bool(change.fields.get("longTermSupport")))


def _shown(value: Any) -> str:
    # The engine hands whole numbers back as floats.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "nothing" if value in (None, "") else json.dumps(value)
