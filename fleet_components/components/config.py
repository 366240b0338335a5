"""Arguments of a fleet from the ``fleet:`` keys of the stack's configuration, alone or merged with
a program's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs
import pulumi
from pulumi.runtime.config import CONFIG

from fleet_components.components.fleet_args import FleetArgs
from fleet_components.content.secret import REDACTED
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem, layered
from fleet_components.model.text import few, nearest
from fleet_components.option_values import A_DIRECTORY, Renamed, WrongValueError
from fleet_components.options import KEYS
from fleet_components.plan.given import Given
from fleet_components.plan.source import gather, gathered
from fleet_components.plan.ways import Way

NAMESPACE = "fleet"
_ELSEWHERE = {"source", "render", "kubeconfigs"}
"""Keys that are not merged with the argument of a program alone."""


@attrs.frozen
class FromConfig(FleetArgs):
    """Arguments of a fleet that only the configuration describes; no program adds to them."""


def read_config() -> FromConfig:
    """Return the arguments of a fleet, read from the ``fleet:`` keys of the stack's configuration.

    Errors in the configuration or in the source are not raised here. They are in the ``problems``
    of the source, so that planning reports them together with all other errors.
    """
    values = _Values(
        pulumi.Config(NAMESPACE), [_unknown(key) for key in _given() if key not in KEYS]
    )
    paths: tuple[str, ...] = values.read("source") or ()
    if not paths and not values.problems:  # with problems, a misspelt key may be the source
        values.problems.append(
            _wrong("source", Message("setting-not-set", "is not set"), A_DIRECTORY)
        )
    # Read as text, because the source needs it now; _configured checks the value.
    hub = values.config.get("delivery") not in (None, "", Way.DIRECT)
    source = gather(*paths, hub=hub) if paths else gathered(Given(hub=hub))
    args = FromConfig(source=source, render_to=values.read("render") or "")
    args = attrs.evolve(
        args, kubeconfigs=_kubeconfigs(values, _unreached(args)), **_configured(values, args)
    )
    return attrs.evolve(
        args, source=attrs.evolve(source, problems=layered(values.problems, source.problems))
    )


def configured(args: FleetArgs) -> FleetArgs:
    """Return a program's arguments with the configuration of its stack applied.

    A value from the configuration replaces the program's; lists and maps of both are merged. Only
    the kubeconfig or provider of a member and the provider of the hub stay if the program gives
    them itself. A program may have several fleets, so a key that names a member of another fleet
    only causes a warning.
    """
    if isinstance(args, FromConfig):
        return args
    if (pulumi.Config(NAMESPACE).get("delivery") or args.delivery) != Way.DIRECT:
        args = attrs.evolve(args, source=args.source.for_hub())
    # Keys that resemble none of ours may be the program's own.
    meant = [_unknown(key) for key in _given() if key not in KEYS and nearest(key, KEYS)]
    own = {member.name for member in args.members}
    known = {*own, *(cluster.name for cluster in args.source.clusters)}
    values = _Values(
        pulumi.Config(NAMESPACE), [], [*meant, *_of_the_program(args)], frozenset(known)
    )
    unreached = _unreached(args)
    given = _kubeconfigs(values, unreached)
    kubeconfigs = {name: kubeconfig for name, kubeconfig in given.items() if name in unreached}
    theirs = {**args.kubeconfigs, **{item.name: item.kubeconfig for item in args.members}}
    for name in sorted(given.keys() - kubeconfigs.keys()):
        # An output may well be made of this very key.
        if not isinstance(theirs.get(name), pulumi.Output) and theirs.get(name) != given[name]:
            values.warnings.append(
                _wrong(
                    f"kubeconfigs.{name}",
                    Message("kubeconfig-ignored", "is ignored"),
                    "the program reaches the member itself",
                )
            )
    members = [
        attrs.evolve(item, kubeconfig=kubeconfigs[item.name]) if item.name in kubeconfigs else item
        for item in args.members
    ]
    others = {name: kubeconfig for name, kubeconfig in kubeconfigs.items() if name not in own}
    with_config = attrs.evolve(
        args,
        members=members,
        kubeconfigs={**args.kubeconfigs, **others},
        **_configured(values, args),
    )
    warnings = (*args.source.warnings, *values.warnings)
    source = attrs.evolve(
        args.source, problems=layered(values.problems, args.source.problems), warnings=warnings
    )
    return attrs.evolve(with_config, source=source)


def confirmed(program: Iterable[str] = ()) -> frozenset[str]:
    """Return the tokens of intended losses: those of a program, and those of ``fleet:confirm``.

    Raises:
        FleetError: the value of the key is no list of names.
    """
    values = _Values(pulumi.Config(NAMESPACE), [])
    stated = values.read("confirm") or ()
    if values.problems:
        raise FleetError(values.problems)
    return frozenset((*program, *stated))


def time_of_plan(program: datetime | None = None) -> datetime | None:
    """Return the time as of which things are judged: ``fleet:asOf``, or that of a program.

    Raises:
        FleetError: the value of the key is no time.
    """
    values = _Values(pulumi.Config(NAMESPACE), [])
    stated: datetime | None = values.read("asOf")
    if values.problems:
        raise FleetError(values.problems)
    return stated or program


def _of_the_program(args: FleetArgs) -> Iterator[Problem]:
    """Yield a warning for each key that the configuration sets, and the program sets to something
    else.
    """
    config = pulumi.Config(NAMESPACE)
    for key, here in (("source", args.source.given.location), ("render", args.render_to)):
        if config.get(key) not in (None, here):
            yield _wrong(
                key,
                Message("kubeconfig-ignored", "is ignored"),
                "the program says it itself, as an argument of its fleet",
            )
    if isinstance(args.hub, pulumi.ProviderResource) and config.get("hub"):
        yield _wrong(
            "hub",
            Message("kubeconfig-ignored", "is ignored"),
            "the program reaches the hub itself, by a provider of its own",
        )


def _unreached(args: FleetArgs) -> list[str]:
    """Return the names of the members for which the program gives neither a kubeconfig nor a
    provider.
    """
    reached = {*args.kubeconfigs, *args.providers}
    own = {
        member.name
        for member in args.members
        if member.kubeconfig is not None or member.provider is not None
    }
    return [
        name
        for name in (
            *(cluster.name for cluster in args.source.clusters),
            *(item.name for item in args.members),
        )
        if name not in reached | own
    ]


def _configured(values: _Values, args: FleetArgs) -> dict[str, Any]:
    """Return the arguments that the configuration sets or extends, by name."""
    with_config = {}
    # A provider of the program counts more than the key, see _of_the_program.
    own = {"hub"} if isinstance(args.hub, pulumi.ProviderResource) else set()
    for key, option in KEYS.items():
        stated = None if key in _ELSEWHERE | own else values.read(key)
        if stated is not None:
            with_config[option.name] = option.merge(getattr(args, option.name), stated)
    return with_config


@attrs.frozen
class _Values:
    """Reader of configuration values that collects their problems.

    Attributes:
        config: the ``fleet:`` keys of the configuration.
        problems: errors, which end the plan.
        warnings: values that are ignored.
        members: names of this fleet's members: values for any others are ignored with a warning.
            None to keep all values, in which case planning reports names of no member.
    """

    config: pulumi.Config
    problems: list[Problem]
    warnings: list[Problem] = attrs.field(factory=list)
    members: frozenset[str] | None = None

    def read(self, key: str) -> Any:
        """Return the parsed value of a key; None if it is not set or invalid."""
        text = self.config.get(key)
        try:
            stated = KEYS[key].parsed(text) if text else None
        except WrongValueError as wrong:
            self.problems.append(_wrong(key, wrong.message, wrong.hint))
            return None
        return (
            self._of_members(key, stated) if stated is not None and KEYS[key].by_member else stated
        )

    def _of_members(self, key: str, stated: Any) -> Any:
        if self.members is None:
            return stated
        if isinstance(stated, Renamed):
            return attrs.evolve(stated, members=self._of_members(key, stated.members))
        # The keys of a map, or the items of a list.
        for name in sorted(set(stated) - self.members):
            known = f"its members are: {few(sorted(self.members)) or 'none'}"
            self.warnings.append(
                _wrong(
                    key,
                    Message("fleet-no-member", 'this fleet has no member "{name}"', name=name),
                    known,
                )
            )
        if isinstance(stated, Mapping):
            return {name: value for name, value in stated.items() if name in self.members}
        return tuple(name for name in stated if name in self.members)


def _given() -> list[str]:
    # pulumi.Config cannot list its keys.
    prefix = f"{NAMESPACE}:"
    return sorted(key.removeprefix(prefix) for key in CONFIG.get() if key.startswith(prefix))


def _kubeconfigs(values: _Values, names: Iterable[str]) -> dict[str, pulumi.Input[str]]:
    """Return the kubeconfigs by member as plain text; the providers mark them as secrets.

    If they are invalid, or encrypted in a plan without the passphrase, each of the given members
    gets ``[secret]``.
    """
    # Not ``get_secret``, whose output has no value yet when the plan compares the clusters of the
    # kubeconfigs.
    given = values.config.get("kubeconfigs")
    unseen: dict[str, str] = dict.fromkeys(names if given else (), REDACTED)
    stated = None if given == REDACTED else values.read("kubeconfigs")
    return {**(unseen if stated is None else stated)}


def _unknown(key: str) -> Problem:
    near = nearest(key, KEYS)
    return _wrong(
        key,
        Message("not-key-configuration", "is not a key of this configuration"),
        f"did you mean {NAMESPACE}:{near}?" if near else f"the keys are: {', '.join(KEYS)}",
    )


def _wrong(key: str, what: Message, hint: str) -> Problem:
    file = Path(f"Pulumi.{pulumi.get_stack()}.yaml")
    return Problem(what, ("config", f"{NAMESPACE}:{key}"), hint, file=str(file))
