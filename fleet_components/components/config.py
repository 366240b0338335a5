"""Arguments of a fleet from the ``fleet:`` keys of the stack's configuration, alone or merged with
a program's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pulumi
from pulumi.runtime.config import CONFIG

from fleet_components.components.fleet_args import FleetArgs
from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.secret import REDACTED
from fleet_components.model.cluster import read_time
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem, layered
from fleet_components.model.release import ReleaseTable
from fleet_components.model.releases import TABLES
from fleet_components.model.text import few, nearest
from fleet_components.plan.given import Given
from fleet_components.plan.options import (
    A_SHARE,
    A_TIMEOUT,
    A_WAIT,
    MEANINGS,
    Renamed,
    no_share,
    no_timeout,
    no_wait,
)
from fleet_components.plan.source import gather, gathered
from fleet_components.plan.ways import A_WAY, Way, no_way

NAMESPACE = "fleet"


class WrongValueError(Exception):
    """An invalid value.

    Attributes:
        message: what is wrong with it.
        hint: what to write instead.
    """

    def __init__(self, message: Message, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


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
            _wrong("source", Message("setting-not-set", "is not set"), _A_DIRECTORY)
        )
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

    A value from the configuration replaces the program's; lists and maps of both are merged. Only a
    kubeconfig or a provider that the program gives a member itself stays, and a provider that it
    gives the hub. A program may have several fleets, so a key that names a member of another fleet
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
                    Message("not-heard", "is not heard"),
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
                Message("not-heard", "is not heard"),
                "the program says it itself, as an argument of its fleet",
            )
    if isinstance(args.hub, pulumi.ProviderResource) and config.get("hub"):
        yield _wrong(
            "hub",
            Message("not-heard", "is not heard"),
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
    for name, key in KEYS.items():
        own = name == "hub" and isinstance(args.hub, pulumi.ProviderResource)
        stated = None if own or name in ("source", "render", "kubeconfigs") else values.read(name)
        if stated is not None:
            with_config[key.argument] = key.added(getattr(args, key.argument), stated)
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
            stated = KEYS[key].read(text) if text else None
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


def _sources(text: str) -> tuple[str, ...]:
    listed = _parsed(text) if text.lstrip().startswith("[") else [text]
    if not listed or not _is_texts(listed) or "" in listed:
        raise WrongValueError(Message("names-no-path", "names no path"), _A_DIRECTORY)
    return tuple(listed)


_A_DIRECTORY = "set it to the directory of the fleet's YAML, or to a list of directories"


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


def _texts(text: str) -> dict[str, str]:
    given = _map(text, Message("not-map-members", "is not a map of members"), "write member: path")
    wrong = [name for name, kubeconfig in given.items() if not isinstance(kubeconfig, str)]
    if wrong:
        raise WrongValueError(
            Message("not-text-3", "of {wrong} is not text", wrong=few(wrong)),
            "write member: path, or its text",
        )
    return given


def _renamed(text: str) -> Renamed:
    given = _map(text, Message("not-map", "is not a map"), _NEW_OLD)
    maps = {key: given.get(key) or {} for key in ("members", "placements")}
    strange = sorted(given.keys() - {"fleet", *maps})
    if strange:
        raise WrongValueError(
            Message("has-a-field", "has a field {strange}", strange=strange[0]),
            "the fields are: fleet, members, placements",
        )
    if not all(
        isinstance(item, dict) and all(isinstance(old, str) for old in item.values())
        for item in maps.values()
    ):
        raise WrongValueError(Message("not-map", "is not a map"), _NEW_OLD)
    fleet = given.get("fleet") or ""
    if not isinstance(fleet, str):
        raise WrongValueError(
            Message("fleet-not-name", "has a fleet that is not a name"), "write fleet: OLD"
        )
    return Renamed(fleet=fleet, **maps)


_NEW_OLD = "write members: {NEW: OLD}"


def _lists(text: str) -> dict[str, list[str]]:
    given = _map(
        text, Message("not-map-members", "is not a map of members"), "write MEMBER: [NAME]"
    )
    lists = {
        name: [patterns] if isinstance(patterns, str) else patterns
        for name, patterns in given.items()
    }
    wrong = [name for name, patterns in lists.items() if not _is_texts(patterns)]
    if wrong:
        raise WrongValueError(
            Message("not-list-names", "of {wrong} is not a list of names", wrong=few(wrong)),
            "write MEMBER: [NAME]",
        )
    return lists


def names_in(text: str) -> tuple[str, ...]:
    """Parse a list of names: JSON, or one or several names separated by commas, as the command line
    sets them.

    Raises:
        WrongValueError: the text is neither.
    """
    listed = _parsed(text) if text.lstrip().startswith(("[", "{")) else text.split(",")
    if not isinstance(listed, list) or any(isinstance(item, list | dict) for item in listed):
        raise WrongValueError(
            Message("not-list-names-2", "is not a list of names"),
            "write names with commas between them",
        )
    return tuple(name for item in listed if (name := str(item).strip()))


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1
    if no_share(share):
        raise WrongValueError(Message("share-unreadable", "is not a share"), A_SHARE)
    return share


_SECONDS = re.compile("[0-9]{1,9}")


def _seconds(text: str, wrong: Callable[[int], Message | None], hint: str) -> int:
    if not _SECONDS.fullmatch(text) or wrong(int(text)):
        raise WrongValueError(Message("not-time-seconds", "is not a time in seconds"), hint)
    return int(text)


def _way(text: str) -> str:
    wrong = no_way(text)
    if wrong:
        raise WrongValueError(wrong, A_WAY)
    return text


def _release(table: ReleaseTable) -> Key:
    """Return the key that names a release of a system."""

    def read(text: str) -> str:
        wrong = table.unknown(text)
        if wrong:
            raise WrongValueError(wrong, table.choice)
        return text

    return Key(
        table.setting,
        read,
        f"the release of {table.title} that decides: {', '.join(table.names)}; without it that of"
        f" an observed hub, else {table.default}; see docs/fields.md",
    )


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise WrongValueError(
            Message("neither-true-nor-false", "is neither true nor false"), "write true or false"
        )
    return text.lower() == "true"


def _time(text: str) -> datetime | None:
    try:
        return read_time(text)
    except ValueError:
        raise WrongValueError(
            Message("not-time-zone", "is not a time with a zone"),
            "write it as 2026-01-31T12:00:00Z",
        ) from None


def _map(text: str, what: Message, hint: str) -> dict[str, Any]:
    given = _parsed(text)
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise WrongValueError(what, hint)
    return given


def _parsed(text: str) -> Any:
    """Return the value of a text: Pulumi hands over values other than strings as JSON."""
    try:
        return read_json(text)
    except UnreadableError:
        return text


def _is_texts(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(item, str) for item in given)


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


def _added(program: Sequence[str], stated: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*program, *stated)))


def _merged(program: Mapping[str, Any], stated: Mapping[str, Any]) -> dict[str, Any]:
    return {**program, **stated}


def _renamed_too(program: Renamed, stated: Renamed) -> Renamed:
    members, placements = (
        _merged(program.members, stated.members),
        _merged(program.placements, stated.placements),
    )
    return Renamed(fleet=stated.fleet or program.fleet, members=members, placements=placements)


@attrs.frozen
class Key:
    """One ``fleet:`` key of the configuration.

    Attributes:
        argument: name of the :class:`FleetArgs` argument that it sets.
        read: parses its text; an invalid one raises ``WrongValueError``.
        meaning: its description on the page of settings.
        added: combines the program's value with the configuration's; by default the latter replaces
            the former.
        by_member: True if its value names members.
    """

    argument: str
    read: Callable[[str], Any]
    meaning: str
    added: Callable[[Any, Any], Any] = lambda _, stated: stated
    by_member: bool = False


KEYS: Mapping[str, Key] = {
    "source": Key(
        "source",
        _sources,
        "a directory, file, Helm chart or kustomization, or a list of them; relative to the"
        " program",
    ),
    "render": Key(
        "render_to",
        str,
        "a directory to render to instead of reaching clusters; relative to the program",
    ),
    "kubeconfigs": Key(
        "kubeconfigs", _texts, "kubeconfigs by member: text or path", _merged, by_member=True
    ),
    "delivery": Key(
        "delivery",
        _way,
        "how objects get to members: direct, or through a hub: kubefleet or karmada",
    ),
    "hub": Key("hub", str, "kubeconfig of the hub: text or path"),
    **{setting: _release(table) for setting, table in TABLES.items()},
    "asOf": Key(
        "as_of",
        _time,
        "the time at which observed members and waits are judged, as 2026-01-31T12:00:00Z",
    ),
    "approvals": Key(
        "approvals",
        names_in,
        "names of given approvals, each of one update run: RUN-before-STAGE,"
        " NAMESPACE/RUN-after-STAGE",
        _added,
    ),
    "lost": Key("lost", names_in, "names of members that are gone for good", _added),
    "limit": Key(
        "limit",
        _share,
        "the share of what stands, of the fleet or of one placement, that may be lost at once, 0"
        " to 1",
    ),
    "confirm": Key("confirm", names_in, "tokens of refused losses that are meant", _added),
    "keepClusterResources": Key(
        "keep_cluster_resources",
        _flag,
        "whether namespaces and other cluster-scoped objects outlive their placement",
    ),
    "keepFound": Key(
        "keep_found",
        _flag,
        "whether objects that stood on a member before a placement took them over outlive it",
    ),
    "maxWait": Key(
        "max_wait",
        partial(_seconds, wrong=no_wait, hint=A_WAIT),
        "the longest time in seconds that an update waits between stages",
    ),
    "readyTimeout": Key(
        "ready_timeout",
        partial(_seconds, wrong=no_timeout, hint=A_TIMEOUT),
        "the longest time in seconds that an update waits for each object to become ready, or to be"
        " gone",
    ),
    "renamed": Key(
        "renamed",
        _renamed,
        "what is called otherwise now: fleet: OLD, members: {NEW: OLD}, placements: {NEW: OLD}",
        _renamed_too,
        by_member=True,
    ),
    "takesOver": Key(
        "takes_over",
        _lists,
        "by member, names of Kubernetes resources of this stack that the fleet brings from now on; "
        "* for anything, !NAME for one that is on another cluster",
        _merged,
        by_member=True,
    ),
    "takesFrom": Key(
        "takes_from",
        names_in,
        "stacks, ORGANIZATION/PROJECT/STACK, that have let go of objects which this stack brings"
        " from now on",
        _added,
    ),
    "passOver": Key(
        "pass_over",
        names_in,
        "kinds that steer a hub, are not carried out, and are not to stand in the way; every plan"
        " names them",
        _added,
    ),
    "skipChecks": Key(
        "skip_checks",
        names_in,
        "checks whose warnings are not wanted: "
        + ", ".join(f"{check}: {meaning}" for check, meaning in MEANINGS.items()),
        _added,
    ),
    "plugins": Key(
        "plugins",
        names_in,
        "import paths of plug-ins that decide with those of the real system, MODULE:CLASS; see"
        " docs/plugins.md",
        _added,
    ),
    "moving": Key(
        "moving",
        _flag,
        "whether an update prepares a move to another way of delivery; fleet move sets it for that"
        " update",
    ),
    "protect": Key(
        "protect",
        _flag,
        "whether a program without its fleet is stopped before it deletes everything",
    ),
}
