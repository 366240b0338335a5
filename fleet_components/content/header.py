"""Checks the fields that every Kubernetes object has: apiVersion, kind, name, and text in labels
and annotations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.reader import API_VERSION, meant_kind

_EXAMPLES = {"apiVersion": "apps/v1", "kind": "Deployment"}
# Source: k8s.io/apimachinery, pkg/api/validation/path (names) and the validation of
# CustomResourceDefinitions (kinds).
_KIND = re.compile(r"[A-Za-z][-A-Za-z0-9]{0,62}")
_VERSION = re.compile(r"([a-z0-9][-.a-z0-9]{0,252}/)?[a-z][-a-z0-9]{0,62}")


def check_header(manifest: Manifest) -> list[Problem]:
    """Return the problems of the fields that every object has. An API server refuses an object with
    any of them.
    """
    # Without kind and name, the subject is only the blank between them.
    return [attrs.evolve(problem, subject=problem.subject.strip()) for problem in _check(manifest)]


def _check(manifest: Manifest) -> Iterator[Problem]:
    metadata = manifest.data.get("metadata")
    if not isinstance(metadata, Mapping):
        # The key of a manifest, which every problem names, needs a map here.
        manifest = attrs.evolve(manifest, data={**manifest.data, "metadata": {}})
        what = (
            Message("metadata-missing", "metadata is missing")
            if metadata is None
            else Message("metadata-must-map", "metadata must be a map")
        )
        yield from _check_type(manifest)
        yield manifest.problem(what, ("metadata",), "add metadata with a name")
        return
    yield from _check_type(manifest)
    yield from _check_name(manifest)
    yield from _check_texts(manifest)


def fill_nulls(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object with null labels and annotations as empty text, which is how the API server
    reads them.
    """
    metadata = data.get("metadata")
    if not isinstance(metadata, Mapping):
        return data
    filled = {
        field: {key: "" if value is None else value for key, value in metadata[field].items()}
        for field in ("labels", "annotations")
        if isinstance(metadata.get(field), Mapping) and None in metadata[field].values()
    }
    return {**data, "metadata": {**metadata, **filled}} if filled else data


def _check_type(manifest: Manifest) -> Iterator[Problem]:
    for field, example in _EXAMPLES.items():
        yield from _check_text(
            manifest, (field,), manifest.data.get(field), f"for example {field}: {example}"
        )
    given, kind = manifest.data.get("apiVersion"), manifest.data.get("kind")
    if isinstance(given, str) and given and not _VERSION.fullmatch(given):
        hint = (
            f"write apiVersion: {API_VERSION}"
            if meant_kind(manifest)
            else "for example apps/v1, or v1"
        )
        yield manifest.problem(
            Message("not-group-version", '"{given}" is not group/version', given=given),
            ("apiVersion",),
            hint,
        )
    if isinstance(kind, str) and kind and not _KIND.fullmatch(kind):
        meant = meant_kind(manifest)
        hint = (
            f"write kind: {meant}"
            if meant
            else "a kind has letters and digits, for example kind: Deployment"
        )
        yield manifest.problem(
            Message("cannot-kind", '"{kind}" cannot be a kind', kind=kind), ("kind",), hint
        )


def _check_name(manifest: Manifest) -> Iterator[Problem]:
    metadata, hint = manifest.metadata, "every object needs a name of its own"
    if metadata.get("generateName"):
        hint = "objects with only generateName are not supported: give metadata.name"
    yield from _check_text(manifest, ("metadata", "name"), metadata.get("name"), hint)
    if metadata.get("namespace"):
        yield from _check_text(manifest, ("metadata", "namespace"), metadata["namespace"], "")
    for field in ("name", "namespace"):
        name = metadata.get(field)
        if isinstance(name, str) and (name in (".", "..") or set(name) & {"/", "%"}):
            hint = "an API server refuses . and .., and names with / or %"
            yield manifest.problem(
                Message("cannot-be-a", '"{name}" cannot be a {field}', name=name, field=field),
                ("metadata", field),
                hint,
            )


def _check_texts(manifest: Manifest) -> Iterator[Problem]:
    for field in ("labels", "annotations"):
        values = manifest.metadata.get(field)
        if values is not None and not isinstance(values, Mapping):
            yield manifest.problem(
                Message("must-map", "{field} must be a map", field=field),
                ("metadata", field),
                f"for example {field}: {{app: web}}",
            )
            continue
        for key, value in (values or {}).items():
            if not isinstance(value, str):
                path: FieldPath = ("metadata", field, key)
                yield manifest.problem(
                    Message("must-text-not", "must be text, not {shown}", shown=_shown(value)),
                    path,
                    _quoted(value),
                )


def _check_text(manifest: Manifest, path: FieldPath, value: Any, hint: str) -> Iterator[Problem]:
    if value is None or value == "":
        yield manifest.problem(
            Message("header-field-missing", "{path} is missing", path=path[-1]), path, hint
        )
    elif not isinstance(value, str):
        yield manifest.problem(
            Message(
                "header-field-not-text",
                "{path} must be text, not {shown}",
                path=path[-1],
                shown=_shown(value),
            ),
            path,
            _quoted(value),
        )


def _shown(value: Any) -> str:
    if isinstance(value, Mapping | list):
        return "a map" if isinstance(value, Mapping) else "a list"
    return json.dumps(value)


def _quoted(value: Any) -> str:
    return (
        "write text"
        if isinstance(value, Mapping | list)
        else f'write it in quotes: "{json.dumps(value)}"'
    )
