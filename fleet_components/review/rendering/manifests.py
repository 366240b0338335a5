"""Files of a render: the manifests of each member, and the decisions beside them.

The layout is that of the Pulumi Kubernetes provider with ``renderYamlToDirectory``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.secret import is_hidden, redacted
from fleet_components.content.wire import to_yaml
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.waves import Brought, PlanPart
from fleet_components.review.planning.past import is_render, to_render
from fleet_components.systems.registry import SYSTEMS

DECISIONS, STATE = "decisions.yaml", "state.json"
DEFINITIONS, MANIFESTS = "0-crd", "1-manifest"
PHASES = (
    "0-namespaces",
    "1-configuration",
    "2-roles",
    "3-role-bindings",
    "4-workloads",
    "5-webhooks",
    "6-custom-resources",
)
"""Folders of the phases in which the objects of a member are applied, for tools that pull them."""
Files = dict[str, str]
"""Text of each file, by path below the folder of the stack; a path that ends in a slash is a
folder.
"""

_DECISIONS_HEAD = "# The decisions of fleet render, in the form of the API. Not to be applied.\n"


class RenderLayout:
    """Places of the files of a render: a folder for each member, as the Kubernetes provider has
    it.
    """

    def place(self, brought: Brought) -> tuple[str, Mapping[str, Any]] | None:
        """Return the path of an object's file, and the object as it is written there; None to leave
        it out.
        """
        return f"{brought.cluster}/{manifest_path(brought.data)}", brought.data

    def folders(self, cluster: str) -> tuple[str, ...]:
        """Return the folders that a member has, also if nothing is in them."""
        return f"{cluster}/{DEFINITIONS}/", f"{cluster}/{MANIFESTS}/"

    def problems(self) -> Iterable[Problem]:
        """Return why the placed objects cannot be rendered so."""
        return ()

    def beside(self) -> Files:
        """Return the files beside the objects that were placed."""
        return {}


def rendered(
    part: PlanPart,
    *,
    show_secrets: bool,
    layout: RenderLayout | None = None,
    remembered: Callable[[], Mapping[str, Any]] = dict,
) -> Files:
    """Return all files of a stack.

    Args:
        part: a plan that is not refused, or a part of it.
        show_secrets: True to write the data of Secrets, which read ``[secret]`` otherwise.
        layout: where objects lie, and what lies beside them; as the Kubernetes provider has it by
            default.
        remembered: returns what the state keeps beside the resources, once all objects are placed.

    Raises:
        FleetError: an object has a name that no file can have, or the objects that a held member
            keeps are unknown.
    """
    problems = list(part.plan.hidden)
    files: Files = {}
    placed: dict[str, ObjectKey] = {}
    layout = layout or RenderLayout()
    for brought in part.brought():
        shown = brought.data if show_secrets else redacted(brought.data)
        problems += [*_unsafe(shown), *(_hidden(shown, brought.cluster) if show_secrets else ())]
        where = layout.place(attrs.evolve(brought, data=shown))
        if where is None:
            continue
        path, data = where
        files |= dict.fromkeys(layout.folders(brought.cluster), "")
        problems += _same_file(shown, path, placed.setdefault(path, Manifest(shown).key))
        files[path] = to_yaml(data, sort=True)
    # After the loop: a layout finds its problems as objects are placed.
    problems += layout.problems()
    if problems:
        raise FleetError(dict.fromkeys(problems))
    files |= layout.beside()
    # The state comes first: by it a later run knows a folder for one of its own, also where this
    # one is interrupted.
    state = _state(part, show_secrets, remembered())
    return {STATE: state, DECISIONS: _decisions(part.plan), **dict(sorted(files.items()))}


def manifest_path(data: Mapping[str, Any]) -> str:
    """Return the path of an object's file in the folder of its member."""
    manifest = Manifest(data)
    is_definition = (manifest.group, manifest.kind) == (
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
    )
    return f"{DEFINITIONS if is_definition else MANIFESTS}/{manifest_name(data)}"


def manifest_name(data: Mapping[str, Any]) -> str:
    """Return the name of an object's file."""
    manifest = Manifest(data)
    # Source: pulumi/pulumi-kubernetes v4.32.0, provider/pkg/provider/provider.go,
    # renderPathForResource.
    version = manifest.api_version.replace("/", "_").replace(":", "_")
    return (
        f"{version}-{manifest.kind.lower()}-{manifest.namespace or 'default'}-{manifest.name}.yaml"
    )


def is_manifest(path: str) -> bool:
    """Return whether a file of a render holds an object of a member, by its path below the folder
    of the stack.
    """
    match path.split("/"):
        case [_, ("0-crd" | "1-manifest"), name] | ["members", _, _, name]:
            return name.endswith(".yaml")
    return False


def ours_in(folder: Path) -> Callable[[str], bool]:
    """Return which files of a folder are of a render: by their paths in it, beside a state that a
    render wrote.
    """
    of_a_render = is_render(folder / STATE)
    return lambda path: of_a_render and _is_rendered(path)


def _is_rendered(path: str) -> bool:
    match path.split("/"):
        case ["decisions.yaml" | "state.json"] | [_, ("0-crd" | "1-manifest"), _]:
            return True
        case ["members", _, phase, _] if phase in PHASES:
            return True
        case ["hub" | "start", file] | ["hub", "members", file] | ["clusters", _, file] if (
            file.endswith(".yaml")
        ):
            return True
    return False


def _decisions(plan: FleetPlan) -> str:
    decisions = [
        data for system in SYSTEMS.values() for data in system.decisions(plan.of(system.COMPONENT))
    ]
    return _DECISIONS_HEAD + (to_yaml(*decisions) if decisions else "")


def _state(part: PlanPart, show_secrets: bool, remembered: Mapping[str, Any]) -> str:
    state = to_render(part.plan.options.stack, part.resources(redacted=not show_secrets))
    return json.dumps({**state, **remembered}, indent=1, sort_keys=True) + "\n"


def _hidden(data: Mapping[str, Any], cluster: str) -> list[Problem]:
    """Return a problem if a held member keeps a Secret from a render that did not show its data."""
    if not is_hidden(data):
        return []
    what = Message(
        "stays-last-render-does",
        "stays as it is on {cluster}, and the last render does not show its data",
        cluster=cluster,
    )
    return [
        Problem(
            what,
            subject=str(Manifest(data).key),
            hint="render anew with --fresh, or without --show-secrets",
        )
    ]


def _same_file(data: Mapping[str, Any], path: str, first: ObjectKey) -> list[Problem]:
    """Return a problem if another object has the same path: dashes separate namespace and name, and
    occur in both.
    """
    key = Manifest(data).key
    if key == first:
        return []
    return [
        Problem(
            Message("one-file", "would be one file with {first}: {path}", first=first, path=path),
            ("metadata",),
            "rename one of the two",
            str(key),
        )
    ]


def _unsafe(data: Mapping[str, Any]) -> list[Problem]:
    manifest = Manifest(data)
    parts = (manifest.api_version, manifest.kind, manifest.namespace, manifest.name)
    # Without the apiVersion, whose slash manifest_name replaces.
    if not any(set(part) & set("/\\\0") for part in parts[1:]):
        return []
    return [
        Problem(
            Message("cannot-name-file", "cannot be the name of a file"),
            ("metadata",),
            "names have no / in them",
            str(manifest.key),
        )
    ]
