"""A fleet described by stack configuration alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import attrs
import pulumi
from pulumi.runtime.config import CONFIG

from fleet_components.components.fleet_args import FleetArgs
from fleet_components.content.secret import REDACTED
from fleet_components.model.member_cluster import read_time
from fleet_components.model.problem import Problem
from fleet_components.model.text import few, nearest
from fleet_components.plan.options import A_SHARE, A_WAIT, Renamed, no_share, no_wait
from fleet_components.plan.source import Given, gather, gathered

T = TypeVar("T")
NAMESPACE = "fleet"
KEYS: Mapping[str, str] = {
    "source": "a directory, file, Helm chart or kustomization, or a list of them; relative to the program",
    "render": "a directory to render to instead of reaching clusters; relative to the program",
    "kubeconfigs": "kubeconfigs by member: text or path",
    "asOf": "the time at which observed members and waits are judged, as 2026-01-31T12:00:00Z",
    "approvals": "names of accepted approvals of staged updates",
    "lost": "names of members that are gone for good",
    "limit": "the share of clusters that may be lost at once, 0 to 1; 0.5 by default",
    "confirm": "tokens of refused losses that are meant",
    "keepClusterResources": "whether cluster-scoped objects outlive their placement; true by default",
    "maxWait": "the longest time in seconds that an update waits between stages; 900 by default",
    "renamed": "what is called otherwise now: fleet: OLD, members: {NEW: OLD}, placements: {NEW: OLD}",
    "takesOver": "by member, names of Kubernetes resources of this stack that the fleet brings from now on",
    "passOver": "kinds that steer a hub, are not carried out, and are not to stand in the way; every plan names them",
    "protect": "whether a program without its fleet is stopped before it deletes everything; true by default",
}


def read_config() -> FleetArgs:
    """The arguments of a fleet, from the ``fleet:`` keys of the stack's configuration.

    What is wrong with the configuration, or with the source, is in the ``problems`` of the source: it ends the plan,
    together with all else that does.
    """
    values = _Values(pulumi.Config(NAMESPACE), [_unknown(key) for key in _given() if key not in KEYS])
    paths: tuple[str, ...] = values.read("source", (), _sources)
    if not paths and not values.problems:  # else one of the unknown keys may be meant
        values.problems.append(_wrong("source", "is not set", _A_DIRECTORY))
    source = gather(*paths) if paths else gathered(Given())
    args = FleetArgs(
        source=source,
        kubeconfigs=_kubeconfigs(values, [cluster.name for cluster in source.clusters]),
        render_to=values.read("render", "", str),
        as_of=values.read("asOf", None, _time),
        approvals=values.read("approvals", (), names_in),
        lost=values.read("lost", (), names_in),
        limit=values.read("limit", 0.5, _share),
        renamed=values.read("renamed", Renamed(), _renamed),
        takes_over=values.read("takesOver", {}, _lists),
        pass_over=values.read("passOver", (), names_in),
        protect=values.read("protect", True, _flag),
        confirm=values.read("confirm", (), names_in),
        keep_cluster_resources=values.read("keepClusterResources", True, _flag),
        max_wait=values.read("maxWait", 900, _seconds),
    )
    return attrs.evolve(args, source=source.refused_for(values.problems))


@attrs.frozen
class _Values:
    """Reads values, and collects what is wrong with them."""

    config: pulumi.Config
    problems: list[Problem]

    def read(self, key: str, default: T, read: Callable[[str], T]) -> T:
        """A value; the default where it is not given, or is wrong."""
        text = self.config.get(key)
        try:
            return read(text) if text else default
        except _WrongError as wrong:
            self.problems.append(_wrong(key, *wrong.args))
            return default


class _WrongError(Exception):
    """What is wrong with a value, and what would do."""


def _given() -> list[str]:
    prefix = f"{NAMESPACE}:"
    return sorted(key.removeprefix(prefix) for key in CONFIG.get() if key.startswith(prefix))


def _sources(text: str) -> tuple[str, ...]:
    listed = _parsed(text) if text.lstrip().startswith("[") else [text]
    if not listed or not _is_texts(listed) or "" in listed:
        raise _WrongError("names no path", _A_DIRECTORY)
    return tuple(listed)


_A_DIRECTORY = "set it to the directory of the fleet's YAML, or to a list of directories"


def _kubeconfigs(values: _Values, names: Iterable[str]) -> Mapping[str, pulumi.Input[str]]:
    """The kubeconfigs in plain: the providers make secrets of them."""
    given = values.config.get("kubeconfigs")
    if not given:
        return {}
    unseen = dict.fromkeys(names, REDACTED)  # as in a plan without the passphrase
    return unseen if given == REDACTED else values.read("kubeconfigs", unseen, _texts)


def _texts(text: str) -> dict[str, str]:
    given = _map(text, "is no map of members", "write member: path")
    if wrong := [name for name, kubeconfig in given.items() if not isinstance(kubeconfig, str)]:
        raise _WrongError(f"of {few(wrong)} is no text", "write member: path, or its text")
    return given


def _renamed(text: str) -> Renamed:
    given = _map(text, "is no map", _NEW_OLD)
    maps = {key: given.get(key) or {} for key in ("members", "placements")}
    if strange := sorted(given.keys() - {"fleet", *maps}):
        raise _WrongError(f"has a field {strange[0]}", "the fields are: fleet, members, placements")
    if not all(isinstance(one, dict) and all(isinstance(old, str) for old in one.values()) for one in maps.values()):
        raise _WrongError("is no map", _NEW_OLD)
    if not isinstance(fleet := given.get("fleet") or "", str):
        raise _WrongError("has a fleet that is no name", "write fleet: OLD")
    return Renamed(fleet=fleet, **maps)


_NEW_OLD = "write members: {NEW: OLD}"


def _lists(text: str) -> dict[str, list[str]]:
    given = _map(text, "is no map of members", "write MEMBER: [NAME]")
    lists = {name: [patterns] if isinstance(patterns, str) else patterns for name, patterns in given.items()}
    if wrong := [name for name, patterns in lists.items() if not _is_texts(patterns)]:
        raise _WrongError(f"of {few(wrong)} is no list of names", "write MEMBER: [NAME]")
    return lists


def names_in(text: str) -> tuple[str, ...]:
    """A list of names, or one name or several with commas between them, as the command line sets them."""
    listed = _parsed(text) if text.lstrip().startswith("[") else text.split(",")
    if not isinstance(listed, list):
        raise _WrongError("is no list of names", "write names with commas between them")
    return tuple(name for item in listed if (name := str(item).strip()))


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1
    if no_share(share):
        raise _WrongError(f"is {text}", A_SHARE)
    return share


def _seconds(text: str) -> int:
    if not text.isdecimal() or no_wait(int(text)):
        raise _WrongError(f"is {text}", A_WAIT)
    return int(text)


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise _WrongError(f"is {text}", "write true or false")
    return text.lower() == "true"


def _time(text: str) -> datetime | None:
    try:
        return read_time(text)
    except ValueError as error:
        raise _WrongError(str(error), "write it as 2026-01-31T12:00:00Z") from error


def _map(text: str, what: str, hint: str) -> dict[str, Any]:
    given = _parsed(text)
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise _WrongError(what, hint)
    return given


def _parsed(text: str) -> Any:
    """A value that is no text is handed over as JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _is_texts(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(one, str) for one in given)


def _unknown(key: str) -> Problem:
    near = nearest(key, KEYS)
    return _wrong(
        key,
        "is no key of this configuration",
        f"did you mean {NAMESPACE}:{near}?" if near else f"the keys are: {', '.join(KEYS)}",
    )


def _wrong(key: str, what: str, hint: str) -> Problem:
    file = Path(f"Pulumi.{pulumi.get_stack()}.yaml")
    return Problem(what, ("config", f"{NAMESPACE}:{key}"), hint, file=str(file))
