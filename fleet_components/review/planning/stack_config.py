"""The configuration of a stack, as a program receives it.

Source: the Pulumi CLI. Keys without a namespace belong to the project; text stays as it is, all
other values become JSON. Encrypted values cannot be read here: ``[secret]`` stands for them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.secret import REDACTED
from fleet_components.model.message import Message, Phrase
from fleet_components.model.problem import FieldPath, FleetError, Problem
from fleet_components.review.planning.config_file import ConfigFile
from fleet_components.review.planning.project import Project

_SPEC = {"type", "default", "value", "secret", "description", "items"}
_TYPES: Mapping[str, tuple[type, ...]] = {"integer": (int,), "boolean": (bool,), "array": (list,)}


@attrs.frozen
class StackConfig:
    """The configuration of one stack.

    Attributes:
        file: the stack's file.
        values: the values by full key.
        secrets: the keys with encrypted values.
        replaced: the keys whose values the command line gives.
    """

    file: ConfigFile
    values: Mapping[str, str]
    secrets: frozenset[str]
    replaced: frozenset[str] = frozenset()

    def problem(self, what: Message, field: FieldPath, hint: Phrase | str) -> Problem:
        """Return a problem of a value, where it is written: in the stack's file or on the command
        line.

        Args:
            what: what is wrong.
            field: ``config``, the key, and the path in its value.
            hint: what would do.
        """
        if len(field) > 1 and field[1] in self.replaced:
            return Problem(what, field[2:], hint, f"--config {field[1]}")
        return self.file.problem(what, field, hint)


def read_stack_config(
    project: Project, stack: str, instead: Mapping[str, str] = MappingProxyType({})
) -> StackConfig:
    """Read the configuration of a stack and the defaults of its project.

    Args:
        project: the project.
        stack: the stack's name.
        instead: values that count instead of those of the file, by key.

    Raises:
        FleetError: the file is invalid, or the configuration does not match its declaration in the
            project.
    """
    path = project.stack_file(stack)
    file = ConfigFile.read(path) if os.path.isfile(path) else ConfigFile(path)
    given = file.data.get("config") or {}
    if not isinstance(given, Mapping):
        raise FleetError(
            [
                file.problem(
                    Message("config-not-map", "config is not a map"),
                    ("config",),
                    "write key: value",
                )
            ]
        )
    replaced = {_full(project, key): value for key, value in instead.items()}
    # The command line comes last, and so counts.
    values = {_full(project, key): value for key, value in given.items()} | replaced
    found = StackConfig(file, {}, frozenset(), frozenset(replaced))
    problems = []
    for key, spec in project.config.items():
        full = _full(project, key)
        if full in values:
            # As the file spells the key, perhaps without the project.
            place = full if full in given or full in replaced else key
            problems += _check(found, ("config", place), spec, values[full])
        elif (default := _default(spec)) is not None:
            values[full] = default
        elif full.startswith(f"{project.name}:"):
            hint = f"pulumi config set {key} VALUE --stack {stack}"
            problems.append(
                file.problem(
                    Message("project-requires", "the project requires {key}", key=key),
                    ("config", full),
                    hint,
                )
            )
    if problems:
        raise FleetError(problems)
    secrets = frozenset(key for key, value in values.items() if _has_secret(value))
    return attrs.evolve(
        found, values={key: _text(value) for key, value in values.items()}, secrets=secrets
    )


def _full(project: Project, key: str) -> str:
    return key if ":" in key else f"{project.name}:{key}"


def _is_spec(spec: Any) -> bool:
    # A map with other keys is a default in the short form.
    return isinstance(spec, Mapping) and bool(spec) and spec.keys() <= _SPEC


def _default(spec: Any) -> Any:
    if not _is_spec(spec):
        return spec  # the short form of a declaration: the default itself
    return spec.get("default", spec.get("value"))


def _check(found: StackConfig, field: FieldPath, spec: Any, value: Any) -> list[Problem]:
    if not _is_spec(spec):
        return []
    if spec.get("secret") and not _has_secret(value):
        return [
            found.problem(
                Message("must-encrypted", "must be encrypted"),
                field,
                f"pulumi config set --secret {field[-1]}",
            )
        ]
    wanted = _TYPES.get(str(spec.get("type")))
    # Not isinstance, which takes True for an integer.
    if wanted and not _has_secret(value) and type(_parsed(value)) not in wanted:
        return [
            found.problem(
                Message("must-type", "must be of type {spec}", spec=spec["type"]),
                field,
                "the project declares it so",
            )
        ]
    return []


def _parsed(value: Any) -> Any:
    """Return a value with numbers and booleans parsed, because the command line sets them as
    text.
    """
    try:
        return read_json(value) if isinstance(value, str) else value
    except UnreadableError:
        return value


def _is_secure(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and value.keys() == {"secure"}
        and isinstance(value["secure"], str)
    )


def _has_secret(value: Any) -> bool:
    if isinstance(value, Mapping):
        return _is_secure(value) or any(map(_has_secret, value.values()))
    return isinstance(value, list) and any(map(_has_secret, value))


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping):
        return REDACTED if _is_secure(value) else {key: _shown(item) for key, item in value.items()}
    return [_shown(item) for item in value] if isinstance(value, list) else value


def _text(value: Any) -> str:
    shown = _shown(value)
    if shown is None:
        return ""
    return shown if isinstance(shown, str) else json.dumps(shown)
