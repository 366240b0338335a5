"""Writes ``docs/settings.md`` from the table of options, the configuration of a stack and the
arguments of a program: ``python -m tools.settings``; with ``--schema`` the JSON Schema of the
configuration, ``docs/settings.schema.json``.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components import Cluster, FleetArgs, Member, Taint
from fleet_components.content.wire import to_json
from fleet_components.option_values import (
    flag_in,
    lists_by_member,
    names_in,
    paths_in,
    renames_in,
    seconds_in,
    texts_by_member,
    time_in,
)
from fleet_components.options import KEYS, FleetOption

PAGE = """# Settings

Configure a fleet in the configuration of its stack, with the arguments of a program, or both.

## The configuration of a stack

Write the keys into `Pulumi.STACK.yaml`, or use `pulumi config set KEY VALUE`, with `--path` for one
entry of a list or a map. A list may also be one text with commas between the names. The keys
describe the fleet that `Fleet.from_config` creates. A fleet that a program creates with arguments
reads them as well:

- The configuration takes precedence over the argument. The lists and maps of both are merged. A
  kubeconfig or provider that the program gives to a member stays.
- `fleet:source` and `fleet:render` are up to the program: if the configuration has another value, a
  warning says so.
- A program may have several fleets. A key that names members (`kubeconfigs`, `lost`, `renamed`,
  `takesOver`) counts for the fleet that has them; the other fleets name it in a warning.
- A misspelled key is an error for `Fleet.from_config`, and a warning for a program, which may have
  keys of its own. The keys below are reserved: a project with the name `fleet` reads its own
  settings under another namespace.

An editor that knows JSON Schema checks the file with the comment
`# yaml-language-server: $schema=PATH` on its first line, of a copy of
[settings.schema.json](settings.schema.json).

`$NAME` is not replaced in a value; `~` at the beginning of a path is the home directory.

{keys}

## The arguments of a program

Except for kubeconfigs, the values of `FleetArgs` are plain and not outputs, because the plan is
made before any resource is registered. A wrong value is an error with the name of the argument and
the line of the program.

### FleetArgs

{fleet}

### Member

{member}

### Cluster

The properties of a member that the schedulers see. In YAML, this is a `MemberCluster` of KubeFleet
or a `Cluster` of Karmada.

{cluster}

### Taint

{taint}
"""


def page() -> str:
    """The whole page."""
    tables = {"fleet": FleetArgs, "member": Member, "cluster": Cluster, "taint": Taint}
    return PAGE.format(keys=_keys(), **{name: _arguments(kind) for name, kind in tables.items()})


def schema() -> dict[str, Any]:
    """Return the JSON Schema of ``Pulumi.STACK.yaml``, for editors."""
    keys = {f"fleet:{key}": _described(option) for key, option in KEYS.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The configuration of a stack with a fleet",
        "type": "object",
        "properties": {"config": {"type": "object", "properties": keys}},
    }


_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_MAP = {"type": "object", "additionalProperties": _TEXT}
_FORMS: Mapping[Any, Mapping[str, Any]] = {
    str: _TEXT,
    float: {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9.]+$"}]},
    flag_in: {"enum": [True, False, "true", "false"]},
    lists_by_member: {**_MAP, "additionalProperties": {"anyOf": [_TEXT, _TEXTS]}},
    names_in: {"anyOf": [_TEXT, {"type": "array", "items": {"type": ["string", "number"]}}]},
    paths_in: {"anyOf": [{**_TEXT, "minLength": 1}, {**_TEXTS, "minItems": 1}]},
    renames_in: {
        "type": "object",
        "properties": {"fleet": _TEXT, "members": _MAP, "placements": _MAP},
        "additionalProperties": False,
    },
    seconds_in: {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^[0-9]{1,9}$"}]},
    texts_by_member: _MAP,
    time_in: {**_TEXT, "format": "date-time"},
}
"""The form of a value by the function that reads it."""
_SECRET = {"type": "object", "properties": {"secure": _TEXT}, "required": ["secure"]}


def _described(option: FleetOption) -> dict[str, Any]:
    form = {"enum": list(option.choices)} if option.choices else dict(_FORMS[option.read])
    return {"description": _plain(option.key_help), "anyOf": [form, _SECRET]}


def _keys() -> str:
    rows = (
        (
            f"`fleet:{key}`",
            f"`{option.name}`",
            _default(attrs.fields_dict(FleetArgs)[option.name]),
            _plain(option.key_help),
        )
        for key, option in KEYS.items()
    )
    return _table(("key", "argument", "default", "meaning"), rows)


def _arguments(kind: type[Any]) -> str:
    meant = dict(_attributes(inspect.getdoc(kind) or ""))
    written = inspect.get_annotations(kind)
    rows = (
        (f"`{field.name}`", f"`{_type(written[field.name])}`", _default(field), meant[field.name])
        for field in attrs.fields(kind)
    )
    return _table(("argument", "type", "default", "meaning"), rows)


def _attributes(text: str) -> Iterator[tuple[str, str]]:
    """What a docstring says of each attribute."""
    _, _, listed = text.partition("Attributes:\n")
    for name, meaning in re.findall(r"^    (\w+): (.+(?:\n        .+)*)", listed, re.MULTILINE):
        yield name, _plain(" ".join(meaning.split()))


def _plain(text: str) -> str:
    """Return a text of a docstring in Markdown."""
    return re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text).replace("``", "`")


def _type(text: str) -> str:
    return text.replace("pulumi.", "").replace("|", "or").replace("  ", " ")


def _default(field: attrs.Attribute[Any]) -> str:
    if field.default is attrs.NOTHING:
        return "required"
    default: Any = field.default
    value = default.factory() if hasattr(default, "factory") else default
    empty = (
        value is None
        or value == ""
        or (isinstance(value, tuple | Mapping) and not value)
        or attrs.has(type(value))
    )
    return "" if empty else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines)


if __name__ == "__main__":
    sys.stdout.write(to_json(schema()) if sys.argv[1:] == ["--schema"] else page())
