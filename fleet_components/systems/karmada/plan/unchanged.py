"""Say why an overrider changes nothing in an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet_components.content.overridden import Object, OverrideError
from fleet_components.content.override_parts import Part
from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.text import Vocabulary, few
from fleet_components.plan.trial import Unchanged, has_value
from fleet_components.plan.vain import meant
from fleet_components.systems.karmada.content.overriders import containers_of, with_containers
from fleet_components.systems.karmada.content.parts import (
    ANNOTATIONS,
    ARGS,
    COMMAND,
    IMAGE,
    LABELS,
    OVERRIDERS,
)

_NO_CONTAINERS = "has no containers that this overrider changes"
_KINDS = "Karmada looks at those of Pods, ReplicaSets, Deployments, DaemonSets, StatefulSets and Jobs"


def unchanged(part: Part, policy: Manifest, manifest: Manifest) -> Unchanged:
    """Return why a part of an override policy changes nothing in an object."""
    at = next((place for place, step in enumerate(part.path) if step in OVERRIDERS), None)
    if at is None:
        return Unchanged(f"{manifest.key} is so already")
    field, operation = part.path[at], value_at(policy.data, part.path[: at + 2])
    if field in (IMAGE, COMMAND, ARGS) and not operation.get("predicate"):
        return _of_containers(str(field), operation, part, manifest)
    if field in (LABELS, ANNOTATIONS):
        return _of_texts(str(field), operation, part, manifest)
    return has_value(manifest)


def without_empty_words(data: Object) -> Object:
    """Return an object without the commands and args that have no words: members get none."""
    try:
        containers = containers_of(data)
    except OverrideError:
        return data
    changed = {
        number: {key: item for key, item in container.items() if key not in ("command", "args") or item}
        for number, container in enumerate(containers)
        if any(container.get(field) == [] for field in ("command", "args"))
    }
    return with_containers(data, containers, changed)


def _of_containers(field: str, operation: Mapping[str, Any], part: Part, manifest: Manifest) -> Unchanged:
    try:
        containers = containers_of(manifest.data)
    except OverrideError:
        containers = []
    if not containers:
        return Unchanged(f"{manifest.key} {_NO_CONTAINERS}", _KINDS)
    if field == IMAGE:
        return Unchanged(f"the images of {manifest.key} are as it makes them already", "take it out")
    name = operation["containerName"]
    named = [container for container in containers if container.get("name") == name]
    if not named:
        known = Vocabulary(str(container.get("name")) for container in containers)
        what = f'{manifest.key} has no container "{name}"'
        return Unchanged(what, meant(name, known, "its containers are"))
    target = "command" if field == COMMAND else "args"
    words = part.written if isinstance(part.written, str) else few(list(operation.get("value") or ()))
    if operation["operator"] == "remove":
        has = few([str(word) for container in named for word in container.get(target) or ()])
        return Unchanged(
            f'container "{name}" of {manifest.key} has no {words}',
            f"its {target} are: {has or 'none'}",
        )
    return Unchanged("it adds no words", "write them in value, or take it out")


def _of_texts(field: str, operation: Mapping[str, Any], part: Part, manifest: Manifest) -> Unchanged:
    noun = "label" if field == LABELS else "annotation"
    texts = manifest.metadata.get(f"{noun}s") or {}
    keys = [part.path[-1]] if isinstance(part.written, str) else list(operation.get("value") or ())
    if not keys:
        return Unchanged(f"it names no {noun}", "write it in value, or take it out")
    absent = [str(key) for key in keys if key not in texts]
    if absent and operation["operator"] != "add":
        hint = meant(absent[0], Vocabulary(texts), f"its {noun}s are")
        add = "; to set it write operator: add" if operation["operator"] == "replace" else ""
        return Unchanged(f"{manifest.key} has no {noun} {few(absent)}", hint + add)
    return Unchanged(
        f"{manifest.key} has that {noun} already: {few(keys)}",
        "take it out, or write another value",
    )
