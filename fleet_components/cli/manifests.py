"""What a render writes: the manifests of each member, and the decisions beside them.

The layout is that of the Pulumi Kubernetes provider with ``renderYamlToDirectory``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.cli.past import missing_content, to_render
from fleet_components.cli.planned import Decided, Planned
from fleet_components.cli.status import api_objects
from fleet_components.cli.wire import to_yaml
from fleet_components.content.secret import redacted
from fleet_components.content.stamp import stamped
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.record import Record

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
        FleetError: two placements bring an object to one member, an object's name cannot be that of a file, or
            what a held member keeps is not known.
    """
    problems = [_clash(where, names) for where, names in planned.clashes.items()]
    problems += [p for decided in planned.placements for p in missing_content(decided.name, decided.outcome.record)]
    problems += [_template(decided.request.key) for decided in planned.templates]
    files: Files = {}
    for decided in planned.placements:
        for cluster, data in _objects(decided, stack):
            shown = data if show_secrets else redacted(data)
            problems += _unsafe(shown)
            files |= dict.fromkeys((f"{cluster}/{DEFINITIONS}/", f"{cluster}/{MANIFESTS}/"), "")
            files[f"{cluster}/{manifest_path(shown)}"] = to_yaml(shown, sort=True)
    if problems:
        raise FleetError(dict.fromkeys(problems))
    records = {decided.name: _kept(decided.outcome.record, show_secrets) for decided in planned.placements}
    state = to_render(stack, records, redacted=not show_secrets)
    decisions = [document for decided in planned.placements for document in api_objects(decided)]
    return {
        **dict(sorted(files.items())),
        DECISIONS: _DECISIONS_HEAD + (to_yaml(*decisions) if decisions else ""),
        STATE: json.dumps(state, indent=1, sort_keys=True) + "\n",
    }


def manifest_path(data: Mapping[str, Any]) -> str:
    """Where an object goes in the folder of its member."""
    manifest = Manifest(data)
    version = manifest.api_version.replace("/", "_").replace(":", "_")
    name = f"{version}-{manifest.kind.lower()}-{manifest.namespace or 'default'}-{manifest.name}.yaml"
    is_definition = (manifest.group, manifest.kind) == ("apiextensions.k8s.io", "CustomResourceDefinition")
    return f"{DEFINITIONS if is_definition else MANIFESTS}/{name}"


def _objects(decided: Decided, stack: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every object with its member, each member at its own revision."""
    record = decided.outcome.record
    for cluster, placed in sorted(record.decisions.items()):
        for data in record.contents.get(placed.revision, ()):
            yield cluster, stamped(data, stack=stack, placement=decided.name)


def _kept(record: Record, show_secrets: bool) -> Record:
    if show_secrets:
        return record
    contents = {revision: tuple(map(redacted, objects)) for revision, objects in record.contents.items()}
    return attrs.evolve(record, contents=contents)


def _clash(where: tuple[str, Any], names: tuple[str, ...]) -> Problem:
    cluster, key = where
    what = f"is brought to {cluster} by several placements: {', '.join(names)}"
    return Problem(what, subject=str(key), hint="let only one placement select it")


def _template(key: str) -> Problem:
    hint = "set fleet:render in a stack's configuration and run pulumi up: it writes a folder a member"
    return Problem("what Karmada's policies place is not rendered here", subject=f"template {key}", hint=hint)


def _unsafe(data: Mapping[str, Any]) -> list[Problem]:
    manifest = Manifest(data)
    parts = (manifest.api_version, manifest.kind, manifest.namespace, manifest.name)
    if not any(set(part) & set("/\\\0") for part in parts[1:]):
        return []
    return [Problem("cannot be the name of a file", ("metadata",), "names have no / in them", str(manifest.key))]
