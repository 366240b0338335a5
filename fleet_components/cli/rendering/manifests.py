"""What a render writes: the manifests of each member, and the decisions beside them.

The layout is that of the Pulumi Kubernetes provider with ``renderYamlToDirectory``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import chain
from typing import Any, TypeVar

import attrs

from fleet_components.cli.documents.binding import bindings
from fleet_components.cli.documents.status import api_objects
from fleet_components.cli.documents.wire import to_yaml
from fleet_components.cli.planning.past import missing_content, to_render
from fleet_components.cli.planning.planned import Planned
from fleet_components.content.secret import SECRET_FIELDS, is_secret, redacted
from fleet_components.content.stamp import stamped
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.record import Kept

R = TypeVar("R", bound=Kept[Any, Any])
DECISIONS, STATE = "decisions.yaml", "state.json"
DEFINITIONS, MANIFESTS = "0-crd", "1-manifest"
Files = dict[str, str]
"""The text of each file, by its path below the folder of the stack; a path that ends in a slash is a folder."""

_DECISIONS_HEAD = "# The decisions of fleet render, in the form of the API. Not to be applied.\n"


def rendered(planned: Planned, *, stack: str, show_secrets: bool) -> Files:
    """All files of a stack.

    Args:
        planned: the fleet, planned.
        stack: the stack, as objects are stamped with it.
        show_secrets: write the data of Secrets; they read ``[secret]`` otherwise.

    Raises:
        FleetError: an object comes to one member from two sides, its name cannot be that of a file, or what a
            held member keeps is not known.
    """
    problems = [_clash(where, names) for where, names in planned.clashes.items()]
    problems += [p for decided in planned.decided for p in missing_content(decided.name, decided.outcome.record)]
    files: Files = {}
    placed: dict[str, ObjectKey] = {}
    for decided in planned.decided:
        for cluster, data in decided.brings():
            shown = stamped(data if show_secrets else redacted(data), stack=stack, placement=decided.name)
            problems += [*_unsafe(shown), *(_hidden(shown, cluster) if show_secrets else ())]
            files |= dict.fromkeys((f"{cluster}/{DEFINITIONS}/", f"{cluster}/{MANIFESTS}/"), "")
            path = f"{cluster}/{manifest_path(shown)}"
            problems += _same_file(shown, path, placed.setdefault(path, Manifest(shown).key))
            files[path] = to_yaml(shown, sort=True)
    if problems:
        raise FleetError(dict.fromkeys(problems))
    return {**dict(sorted(files.items())), DECISIONS: _decisions(planned), STATE: _state(planned, stack, show_secrets)}


def manifest_path(data: Mapping[str, Any]) -> str:
    """Where an object goes in the folder of its member."""
    manifest = Manifest(data)
    version = manifest.api_version.replace("/", "_").replace(":", "_")
    name = f"{version}-{manifest.kind.lower()}-{manifest.namespace or 'default'}-{manifest.name}.yaml"
    is_definition = (manifest.group, manifest.kind) == ("apiextensions.k8s.io", "CustomResourceDefinition")
    return f"{DEFINITIONS if is_definition else MANIFESTS}/{name}"


def _decisions(planned: Planned) -> str:
    decisions = [*chain.from_iterable(map(api_objects, planned.placements)), *bindings(planned.templates)]
    return _DECISIONS_HEAD + (to_yaml(*decisions) if decisions else "")


def _state(planned: Planned, stack: str, show_secrets: bool) -> str:
    records = {decided.name: _kept(decided.outcome.record, show_secrets) for decided in planned.placements}
    templates = {decided.name: _kept(decided.outcome.record, show_secrets) for decided in planned.templates}
    state = to_render(stack, records, templates, redacted=not show_secrets)
    return json.dumps(state, indent=1, sort_keys=True) + "\n"


def _kept(record: R, show_secrets: bool) -> R:
    if show_secrets:
        return record
    contents = {revision: tuple(map(redacted, objects)) for revision, objects in record.contents.items()}
    return attrs.evolve(record, contents=contents)


def _clash(where: tuple[str, Any], names: tuple[str, ...]) -> Problem:
    cluster, key = where
    what = f"is brought to {cluster} by {' and by '.join(names)}"
    return Problem(what, subject=str(key), hint="let only one of them bring it")


def _hidden(data: Mapping[str, Any], cluster: str) -> list[Problem]:
    """A Secret that a member keeps from a render that did not show its data."""
    if not is_secret(data) or data != redacted(data) or not any(data.get(field) for field in SECRET_FIELDS):
        return []
    what = f"stays as it is on {cluster}, and the last render does not show its data"
    return [Problem(what, subject=str(Manifest(data).key), hint="render anew with --fresh, or without --show-secrets")]


def _same_file(data: Mapping[str, Any], path: str, first: ObjectKey) -> list[Problem]:
    """Namespace and name stand side by side in the name of a file, and both may have dashes."""
    key = Manifest(data).key
    if key == first:
        return []
    return [Problem(f"would be one file with {first}: {path}", ("metadata",), "rename one of the two", str(key))]


def _unsafe(data: Mapping[str, Any]) -> list[Problem]:
    manifest = Manifest(data)
    parts = (manifest.api_version, manifest.kind, manifest.namespace, manifest.name)
    if not any(set(part) & set("/\\\0") for part in parts[1:]):
        return []
    return [Problem("cannot be the name of a file", ("metadata",), "names have no / in them", str(manifest.key))]
