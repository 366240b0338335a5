"""Files of a render: the manifests of each member, and the decisions beside them.

The layout is that of the Pulumi Kubernetes provider with ``renderYamlToDirectory``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from fleet_components.content.secret import is_hidden, redacted
from fleet_components.content.wire import to_yaml
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.delivered import delivered
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.review.documents.binding import bindings
from fleet_components.review.planning.past import is_render, to_render
from fleet_components.status.kubefleet import api_objects

DECISIONS, STATE = "decisions.yaml", "state.json"
DEFINITIONS, MANIFESTS = "0-crd", "1-manifest"
Files = dict[str, str]
"""Text of each file, by path below the folder of the stack; a path that ends in a slash is a folder."""

_DECISIONS_HEAD = "# The decisions of fleet render, in the form of the API. Not to be applied.\n"


def rendered(plan: FleetPlan, *, show_secrets: bool) -> Files:
    """Return all files of a stack.

    Args:
        plan: a plan that is not refused.
        show_secrets: True to write the data of Secrets, which read ``[secret]`` otherwise.

    Raises:
        FleetError: an object has a name that no file can have, or the objects that a held member keeps are unknown.
    """
    problems = list(plan.hidden)
    files: Files = {}
    placed: dict[str, ObjectKey] = {}
    for decided in plan.subjects:
        for cluster in decided.deliveries:
            for data in plan.emitted(decided, cluster):
                shown = data if show_secrets else redacted(data)
                problems += [*_unsafe(shown), *(_hidden(shown, cluster) if show_secrets else ())]
                files |= dict.fromkeys((f"{cluster}/{DEFINITIONS}/", f"{cluster}/{MANIFESTS}/"), "")
                path = f"{cluster}/{manifest_path(shown)}"
                problems += _same_file(shown, path, placed.setdefault(path, Manifest(shown).key))
                files[path] = to_yaml(shown, sort=True)
    if problems:
        raise FleetError(dict.fromkeys(problems))
    # The state comes first: by it a later run knows a folder for one of its own, also where this one is interrupted.
    return {STATE: _state(plan, show_secrets), DECISIONS: _decisions(plan), **dict(sorted(files.items()))}


def manifest_path(data: Mapping[str, Any]) -> str:
    """Return the path of an object's file in the folder of its member."""
    manifest = Manifest(data)
    # Source: pulumi/pulumi-kubernetes v4.32.0, provider/pkg/provider/provider.go, renderPathForResource.
    version = manifest.api_version.replace("/", "_").replace(":", "_")
    name = f"{version}-{manifest.kind.lower()}-{manifest.namespace or 'default'}-{manifest.name}.yaml"
    is_definition = (manifest.group, manifest.kind) == ("apiextensions.k8s.io", "CustomResourceDefinition")
    return f"{DEFINITIONS if is_definition else MANIFESTS}/{name}"


def ours_in(folder: Path) -> Callable[[str], bool]:
    """Return which files of a folder are of a render: by their paths in it, beside a state that a render wrote."""
    of_a_render = is_render(folder / STATE)
    return lambda path: of_a_render and _is_rendered(path)


def _is_rendered(path: str) -> bool:
    match path.split("/"):
        case [("decisions.yaml" | "state.json")] | [_, ("0-crd" | "1-manifest"), _]:
            return True
    return False


def _decisions(plan: FleetPlan) -> str:
    placements, templates = plan.of("Placement"), plan.of("Template")
    decisions = [*chain.from_iterable(map(api_objects, placements)), *bindings(templates)]
    return _DECISIONS_HEAD + (to_yaml(*decisions) if decisions else "")


def _state(plan: FleetPlan, show_secrets: bool) -> str:
    state = to_render(plan.options.stack, delivered(plan, redacted=not show_secrets))
    return json.dumps(state, indent=1, sort_keys=True) + "\n"


def _hidden(data: Mapping[str, Any], cluster: str) -> list[Problem]:
    """Return a problem if a held member keeps a Secret from a render that did not show its data."""
    if not is_hidden(data):
        return []
    what = f"stays as it is on {cluster}, and the last render does not show its data"
    return [Problem(what, subject=str(Manifest(data).key), hint="render anew with --fresh, or without --show-secrets")]


def _same_file(data: Mapping[str, Any], path: str, first: ObjectKey) -> list[Problem]:
    """Return a problem if another object has the same path: dashes separate namespace and name, and occur in both."""
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
