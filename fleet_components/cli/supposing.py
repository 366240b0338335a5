"""The options of ``fleet simulate`` that say what is supposed, each with the form of its value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import click

from fleet_components.cli.help import under
from fleet_components.model.problem import FleetError
from fleet_components.plan.source import gather
from fleet_components.review.planning.setting import FieldSetting, read_path, read_value
from fleet_components.review.planning.supposition import (
    Addition,
    Loss,
    ObjectReplacement,
    Supposition,
)

supposed = under("What is supposed")
F = TypeVar("F", bound=Callable[..., Any])


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


class _Set(_Form):
    name, EXAMPLE = (
        "MEMBER|KIND/NAME:FIELD=VALUE",
        "--set 'aks-*:labels.tier=gold', --set aks-iowa:capacity.cpu=+8 or"
        " --set ClusterResourcePlacement/shop:spec.policy.numberOfClusters=4",
    )

    def parsed(self, text: str) -> Supposition:
        target, path, value = _parts(text)
        try:
            steps = read_path(path)
        except ValueError as error:
            raise WrongFormError(f"{path} {error}") from error
        try:
            read_value(value)
        except ValueError as error:
            raise WrongFormError(f"what is behind = {error}") from error
        return FieldSetting(target, steps, value)


def _parts(text: str) -> tuple[str, str, str]:
    """Return what is changed, its field, and the value.

    Raises:
        WrongFormError: one of them is missing.
    """
    named, equals, value = text.partition("=")
    # A name may have colons, a field has none.
    target, colon, path = named.rpartition(":")
    if equals and not colon:  # members with a label: LABEL=VALUE:FIELD=VALUE
        label_value, colon, rest = value.partition(":")
        target, (path, equals, value) = f"{named}={label_value}", rest.partition("=")
    if not (equals and colon and target):
        raise WrongFormError
    return target, path, value


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
        return ObjectReplacement(str(value), found.manifests)


_OPTIONS: tuple[tuple[str, click.ParamType[Supposition], str], ...] = (
    (
        "--policy",
        _Policy(),
        "Objects instead of those with the same kind and name: an edited policy or override.",
    ),
    ("--add", _Add(), "A new member: like another one, with labels of its own."),
    (
        "--set",
        _Set(),
        (
            "A field of members or objects, its value in YAML; null takes it away, and + or - in"
            " front changes an amount, as +8 or -20%. Members have the fields labels, taints,"
            " properties and capacity besides."
        ),
    ),
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
        # In the order of _OPTIONS, not of the command line: members are added, then fields are set.
        found: Sequence[Supposition] = [
            item for name, _, _ in _OPTIONS for item in given.pop(_parameter(name))
        ]
        return command(suppositions=found, **given)

    decorated: Any = called
    # The help lists the decorator that is applied last first.
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
