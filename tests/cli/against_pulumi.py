"""Holds ``fleet plan`` and ``fleet render`` against the real Pulumi engine; for tests that have one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from fleet_components.review.rendering.manifests import DECISIONS, STATE

_ENGINES_OWN = ("version", "__internal")


def manifest_tree(folder: Path) -> dict[str, Any]:
    """The objects below a folder by path, and its folders; equal after ``pulumi up`` and after ``fleet render``.

    What ``pulumi up`` leaves of a member that is left (retained objects) is only in its tree.
    """
    tree: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir():
            tree[f"{name}/"] = None
        elif name not in (DECISIONS, STATE):
            tree[name] = yaml.safe_load(path.read_text())
    return tree


def unlike_preview(document: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """Where the document of a plan and the steps of ``pulumi preview --json`` differ; empty when they agree.

    Args:
        document: what ``fleet plan -o json`` prints.
        steps: ``steps`` of the preview, which leaves out what stays the same.
    """
    planned = {resource["urn"]: resource for resource in document["resources"]}
    previewed = {step["urn"]: step for step in steps}
    found = [
        f"{previewed.get(urn, {}).get('op', 'same')} and not {resource['change']}: {urn}"
        for urn, resource in planned.items()
        if previewed.get(urn, {}).get("op", "same") != resource["change"]
    ]
    found += [f"not planned: {urn}" for urn in previewed.keys() - planned.keys()]
    for urn in planned.keys() & previewed.keys():
        state = previewed[urn].get("newState") or previewed[urn].get("oldState")
        found += _unlike(planned[urn], state) if state else []
    return sorted(found)


def _unlike(resource: Mapping[str, Any], state: Mapping[str, Any]) -> Iterator[str]:
    inputs = {
        key: value for key, value in (state.get("inputs") or {}).items() if key not in _ENGINES_OWN
    }
    default = "::default" in (state.get("provider") or "")
    seen = {
        "parent": state.get("parent"),
        "provider": None
        if default
        else "::".join((state.get("provider") or "").split("::")[:4]) or None,
        "dependencies": sorted(state.get("dependencies") or []),
        "inputs": inputs,
    }
    yield from (
        f"{field} of {resource['urn']}: {value} and not {resource[field]}"
        for field, value in seen.items()
        if _known(resource[field]) != _known(value)
    )


def _known(value: Any) -> Any:
    """The value without secrets, which both show in their own way."""
    if isinstance(value, Mapping):
        return {key: _known(item) for key, item in value.items() if item != "[secret]"}
    return [_known(item) for item in value] if isinstance(value, list) else value
