"""A fleet described by stack configuration alone."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
from pulumi.runtime.config import CONFIG, is_config_secret

from fleet_components.components.fleet_args import FleetArgs
from fleet_components.components.identification import identity_in
from fleet_components.model.member_cluster import read_time
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.options import Renamed
from fleet_components.plan.source import read_source

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

    Raises:
        FleetError: a key is unknown, missing or has a wrong value; or the source cannot be read.
    """
    config = pulumi.Config(NAMESPACE)
    if problems := [_unknown(key) for key in _given() if key not in KEYS]:
        raise FleetError(problems)
    return FleetArgs(
        source=read_source(*_sources(config)),
        kubeconfigs=_kubeconfigs(config),
        render_to=config.get("render") or "",
        as_of=_time(config.get("asOf")),
        approvals=_names(config, "approvals"),
        lost=_names(config, "lost"),
        limit=_share(config),
        renamed=_renamed(config),
        takes_over=_lists(config, "takesOver"),
        pass_over=_names(config, "passOver"),
        protect=config.get_bool("protect") is not False,
        identities=_identities(config),
        confirm=_names(config, "confirm"),
        keep_cluster_resources=config.get_bool("keepClusterResources") is not False,
        max_wait=900 if (seconds := config.get_int("maxWait")) is None else seconds,
    )


def _given() -> list[str]:
    prefix = f"{NAMESPACE}:"
    return sorted(key.removeprefix(prefix) for key in CONFIG.get() if key.startswith(prefix))


def _sources(config: pulumi.Config) -> list[str]:
    text = config.get("source") or ""
    listed: Any = config.get_object("source") if text.lstrip().startswith("[") else [text]
    if not listed or not all(isinstance(path, str) and path for path in listed):
        hint = "set it to the directory of the fleet's YAML, or to a list of directories"
        raise FleetError([_wrong("source", "names no path" if text else "is not set", hint)])
    return list(listed)


def _kubeconfigs(config: pulumi.Config) -> dict[str, pulumi.Input[str]]:
    given = config.get_object("kubeconfigs") or {}
    if not isinstance(given, dict):
        raise FleetError([_wrong("kubeconfigs", "is no map of members", "write member: path")])
    secret = is_config_secret(f"{NAMESPACE}:kubeconfigs")
    return {name: pulumi.Output.secret(text) if secret else text for name, text in given.items()}


def _identities(config: pulumi.Config) -> dict[str, str]:
    """What tells the clusters of the kubeconfigs from any other, while their texts are at hand."""
    given = config.get_object("kubeconfigs") or {}
    found = {name: identity_in(text, name) for name, text in given.items()}
    return {name: identity for name, identity in found.items() if identity}


def _renamed(config: pulumi.Config) -> Renamed:
    given = config.get_object("renamed") or {}
    maps = ("members", "placements")
    if not isinstance(given, dict) or not all(isinstance(given.get(key, {}), dict) for key in maps):
        raise FleetError([_wrong("renamed", "is no map", "write members: {NEW: OLD}")])
    if strange := sorted(given.keys() - {"fleet", *maps}):
        hint = "the fields are: fleet, members, placements"
        raise FleetError([_wrong("renamed", f"has a field {strange[0]}", hint)])
    return Renamed(fleet=str(given.get("fleet") or ""), **{key: given.get(key) or {} for key in maps})


def _lists(config: pulumi.Config, key: str) -> dict[str, list[str]]:
    given = config.get_object(key) or {}
    if not isinstance(given, dict):
        raise FleetError([_wrong(key, "is no map of members", "write MEMBER: [NAME]")])
    return {name: [patterns] if isinstance(patterns, str) else list(patterns) for name, patterns in given.items()}


def _names(config: pulumi.Config, key: str) -> tuple[str, ...]:
    """A list of names, or one name or several with commas between them, as the command line sets them."""
    text = config.get(key) or ""
    listed: Any = config.get_object(key) if text.lstrip().startswith("[") else text.split(",")
    return tuple(name for item in listed if (name := str(item).strip()))


def _share(config: pulumi.Config) -> float:
    share = config.get_float("limit")
    if share is not None and not 0 <= share <= 1:
        raise FleetError([_wrong("limit", f"is {share:g}", "give a share from 0 to 1, 0.5 for a half")])
    return 0.5 if share is None else share


def _time(text: str | None) -> Any:
    try:
        return read_time(text)
    except ValueError as error:
        raise FleetError([_wrong("asOf", str(error), "write it as 2026-01-31T12:00:00Z")]) from error


def _unknown(key: str) -> Problem:
    near = difflib.get_close_matches(key, KEYS, 1)
    return _wrong(
        key,
        "is no key of this configuration",
        f"did you mean {NAMESPACE}:{near[0]}?" if near else f"the keys are: {', '.join(KEYS)}",
    )


def _wrong(key: str, what: str, hint: str) -> Problem:
    file = Path(f"Pulumi.{pulumi.get_stack()}.yaml")
    return Problem(what, ("config", f"{NAMESPACE}:{key}"), hint, file=str(file))
