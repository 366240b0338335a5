"""Writes ``docs/settings.md``: the configuration of a stack, and the arguments of a program, from their own texts."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components import Cluster, FleetArgs, Member, Taint
from fleet_components.components.config import KEYS

PAGE = """# Settings

What a fleet is told: by the configuration of its stack, by the arguments of a program, or by both.

## The configuration of a stack

Keys of `Pulumi.STACK.yaml`, or `pulumi config set KEY VALUE`; `--path` for one entry of a list or a map. A list may be
written with commas between its names. They describe a fleet that `Fleet.from_config` makes, and they are heard by a
fleet that a program makes with arguments of its own as well:

- What the configuration sets wins over the argument. The lists and maps of both are put together. A kubeconfig or a
  provider that the program gives a member itself stays.
- `fleet:source` and `fleet:render` are the program's own there: a warning says so where they say otherwise.
- A program may have several fleets. What names members (`kubeconfigs`, `lost`, `renamed`, `takesOver`) is heard by the
  fleet that has them; the others name it in a warning.
- A key that is misspelt is an error for `Fleet.from_config`, and a warning for a program, which may have keys of its
  own. The keys below are taken: a project that is called `fleet` reads settings of its own under another namespace.

`$NAME` is not replaced in a value; `~` at the beginning of a path is the home directory.

{keys}

## The arguments of a program

All of `FleetArgs` but kubeconfigs is plain, since the plan is made before any resource is registered. What an argument
cannot take is an error with its name and the line of the program.

### FleetArgs

{fleet}

### Member

{member}

### Cluster

What the schedulers see of a member. YAML says the same with a `MemberCluster` of KubeFleet or a `Cluster` of Karmada.

{cluster}

### Taint

{taint}
"""


def page() -> str:
    """The whole page."""
    tables = {"fleet": FleetArgs, "member": Member, "cluster": Cluster, "taint": Taint}
    return PAGE.format(keys=_keys(), **{name: _arguments(kind) for name, kind in tables.items()})


def _keys() -> str:
    rows = (
        (
            f"`fleet:{name}`",
            f"`{key.argument}`",
            _default(attrs.fields_dict(FleetArgs)[key.argument]),
            key.meaning,
        )
        for name, key in KEYS.items()
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
        plain = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", " ".join(meaning.split())).replace(
            "``", "`"
        )
        yield name, plain


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
    print(page(), end="")
