"""The options of ``fleet simulate`` that say what is supposed, each with the form of its value."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import click

from fleet_components.cli.help import under
from fleet_components.model.cluster import Taint
from fleet_components.model.problem import FleetError
from fleet_components.model.quantity import is_quantity
from fleet_components.plan.source import gather
from fleet_components.review.planning.supposed_objects import (
    FieldChange,
    Replacement,
    read_path,
    read_value,
)
from fleet_components.review.planning.supposition import (
    Addition,
    CapacityChange,
    LabelChange,
    Loss,
    PropertyChange,
    Supposition,
    TaintChange,
)

supposed = under("What is supposed")
F = TypeVar("F", bound=Callable[..., Any])
PRICE = "kubernetes.azure.com/per-cpu-core-cost"
_PRICED = re.compile(r"[0-9]+(\.[0-9]+)?")


class WrongFormError(ValueError):
    """A value is not of the form of its option; the message says why, or is empty."""


class _Form(click.ParamType[Supposition]):
    """Parameter type of what is supposed: a value of another form is a usage error that names the
    form.

    Attributes:
        name: the form, as the help shows it.
        EXAMPLE: a value.
    """

    EXAMPLE: ClassVar[str]

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Supposition:
        """Parse a value."""
        if isinstance(value, Supposition):
            return value
        try:
            return self.parsed(str(value))
        except WrongFormError as error:
            why = f": {error}" if str(error) else ""
            self.fail(f"write {self.name}, as in {self.EXAMPLE}{why}", param, ctx)

    def parsed(self, text: str) -> Supposition:
        """Return what is supposed.

        Raises:
            WrongFormError: the text is not of the form.
        """
        raise NotImplementedError


class _Lose(_Form):
    name, EXAMPLE = "MEMBER|LABEL=VALUE", "--lose aks-iowa or --lose region=westeurope"

    def parsed(self, text: str) -> Supposition:
        if not text or text.startswith("="):
            raise WrongFormError
        return Loss(text)


class _Add(_Form):
    name, EXAMPLE = (
        "NAME[:like=MEMBER][,LABEL=VALUE...]",
        "--add aks-oslo:like=aks-dublin,region=norwayeast",
    )

    def parsed(self, text: str) -> Supposition:
        name, _, given = text.partition(":")
        pairs = _pairs(given) if given else {}
        like = pairs.pop("like", "")
        if not name:
            raise WrongFormError("the name is missing")
        return Addition(name, like, pairs)


class _Label(_Form):
    name, EXAMPLE = (
        "MEMBER:KEY=VALUE|MEMBER:KEY-",
        "--label aks-iowa:tier=gold or --label 'aks-*:tier-'",
    )

    def parsed(self, text: str) -> Supposition:
        members, change = _of_members(text)
        key, equals, value = change.partition("=")
        if equals and key:
            return LabelChange(members, key, value)
        if change.endswith("-") and len(change) > 1:
            return LabelChange(members, change[:-1], None)
        raise WrongFormError


class _Taint(_Form):
    name, EXAMPLE = (
        "MEMBER:KEY[=VALUE]:EFFECT|MEMBER:KEY[:EFFECT]-",
        "--taint aks-iowa:drained:NoSchedule",
    )

    def parsed(self, text: str) -> Supposition:
        members, change = _of_members(text)
        gone = change.endswith("-")
        named, colon, effect = change.removesuffix("-").partition(":")
        key, equals, value = named.partition("=")
        if not key or (colon and not effect) or (gone and equals) or not (gone or colon):
            raise WrongFormError("the effect is missing" if key and not gone and not effect else "")
        return TaintChange(members, Taint(key, value, effect), gone)


class _Price(_Form):
    name, EXAMPLE = "MEMBER=PRICE", "--price aks-iowa=0.05"

    def parsed(self, text: str) -> Supposition:
        members, _, price = text.rpartition("=")
        if not members or not _PRICED.fullmatch(price):
            raise WrongFormError
        return PropertyChange(members, PRICE, price)


class _Property(_Form):
    name, EXAMPLE = "MEMBER:NAME=VALUE", "--property aks-iowa:kubernetes-fleet.io/node-count=12"

    def parsed(self, text: str) -> Supposition:
        members, change = _of_members(text)
        name, equals, value = change.partition("=")
        if not (name and equals):
            raise WrongFormError
        return PropertyChange(members, name, value)


class _Capacity(_Form):
    name, EXAMPLE = "MEMBER:RESOURCE=AMOUNT[,...]", "--capacity aks-iowa:cpu=+8,memory=64Gi"

    def parsed(self, text: str) -> Supposition:
        members, change = _of_members(text)
        amounts = _pairs(change)
        wrong = [amount for amount in amounts.values() if not is_quantity(amount)]
        if wrong:
            raise WrongFormError(f"{wrong[0] or 'nothing'} is not a quantity")
        return CapacityChange(members, amounts)


class _Set(_Form):
    name, EXAMPLE = (
        "KIND/NAME:FIELD=VALUE",
        "--set ClusterResourcePlacement/shop:spec.policy.numberOfClusters=4",
    )

    def parsed(self, text: str) -> Supposition:
        named, equals, value = text.partition("=")
        # A name may have colons, a field has none.
        name, colon, path = named.rpartition(":")
        if not (equals and colon) or "/" not in name:
            raise WrongFormError
        try:
            return FieldChange(name, read_path(path), read_value(value))
        except ValueError as error:
            raise WrongFormError(
                f"{path} {error}" if "path" in str(error) else f"what is behind = {error}"
            ) from error


class _Policy(click.ParamType[Supposition]):
    """Parameter type of a file whose objects are supposed; what cannot be read is an error of the
    input.
    """

    name = "FILE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Supposition:
        """Read the objects."""
        if isinstance(value, Supposition):
            return value
        if value == "-":
            self.fail("give a file: standard input is taken by DIR and --state only", param, ctx)
        found = gather(Path(value), build=False).given
        if found.unread:
            raise FleetError(found.unread)
        return Replacement(str(value), found.manifests)


_OPTIONS: tuple[tuple[str, click.ParamType[Supposition], str], ...] = (
    (
        "--policy",
        _Policy(),
        "Objects in the place of those with the same kind and name: an edited policy or override.",
    ),
    ("--add", _Add(), "A new member: like another one, with labels of its own."),
    ("--label", _Label(), "A label of members, or with - behind it one that is taken away."),
    ("--taint", _Taint(), "A taint of members, or with - behind it one that is taken away."),
    (
        "--price",
        _Price(),
        f"The price of members, {PRICE}, by which placements of KubeFleet select and sort.",
    ),
    ("--property", _Property(), "Any other property of members."),
    (
        "--capacity",
        _Capacity(),
        (
            "What members have to allocate; with + or - in front, so much more or less. What is in"
            " use stays in use."
        ),
    ),
    ("--set", _Set(), "A field of an object, its value in YAML; null takes it away."),
    (
        "--lose",
        _Lose(),
        "Members that are gone for good: by name or pattern, or by a label as region=westeurope.",
    ),
)


def supposing(command: F) -> F:
    """Add the options of what is supposed; the command gets it as ``suppositions``, in the order of
    the options.
    """

    @wraps(command)
    def called(**given: Any) -> Any:
        found: Sequence[Supposition] = [
            item for name, _, _ in _OPTIONS for item in given.pop(_parameter(name))
        ]
        return command(suppositions=found, **given)

    decorated: Any = called
    for name, form, shown in reversed(_OPTIONS):
        option = supposed(
            name,
            _parameter(name),
            type=form,
            metavar=form.name,
            multiple=True,
            help=f"{shown} Repeatable.",
        )
        decorated = option(decorated)
    return cast(F, decorated)


def _parameter(option: str) -> str:
    return f"supposed_{option.removeprefix('--')}"


def _of_members(text: str) -> tuple[str, str]:
    """Return the members and the change behind the first colon.

    Raises:
        WrongFormError: one of the two is missing.
    """
    members, _, change = text.partition(":")
    if not members or not change:
        raise WrongFormError
    return members, change


def _pairs(text: str) -> dict[str, str]:
    """Return what is given as ``KEY=VALUE``, with commas between.

    Raises:
        WrongFormError: a part is of another form, or a key is there twice.
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not (key and equals):
            raise WrongFormError
        if key in found:
            raise WrongFormError(f"{key} is given twice")
        found[key] = value
    return found
