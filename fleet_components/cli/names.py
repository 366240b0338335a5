"""Names of members and placements for the completion of a shell, read from the files of the line as
far as possible.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from fleet_components.content.load import readable
from fleet_components.model.manifest import Manifest
from fleet_components.review.planning.edit import source_paths
from fleet_components.review.planning.survey import PIPED, CommandLine
from fleet_components.systems.registry import SYSTEMS

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]
_MEMBERS = {system.MEMBER[1] for system in SYSTEMS.values()}
_PLAIN = re.compile(r"[A-Za-z0-9._/-]+")
"""Names that mean themselves in every shell: others may come from a stranger's files."""
_INSTEAD = "name the directory"


def _names(found: Callable[[Sequence[Manifest]], Iterable[str]]) -> Complete:
    def complete(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem[str]]:
        """Return the names with this beginning; what cannot be read is left out silently."""
        names = set[str]()
        with suppress(Exception):  # in the middle of a line there is nobody to tell
            names.update(found(_manifests(ctx)))
        return [
            CompletionItem(name)
            for name in sorted(names)
            if name.startswith(begun) and _PLAIN.fullmatch(name)
        ]

    return complete


def _manifests(ctx: click.Context) -> Sequence[Manifest]:
    """Return the objects in the directories of the line; those of charts and kustomizations are not
    known.
    """
    given = ctx.params
    named = [
        *(given.get("paths") or ()),
        *filter(None, [given.get("path")]),
        *(given.get("others") or ()),
    ]
    # While the value of an option is completed, click does not know which argument is which.
    named = named or [Path(argument) for argument in ctx.args if os.path.exists(argument)]
    paths = [path for path in named if path != PIPED] or _here()
    # Neither a program nor helm runs while somebody presses Tab.
    places = source_paths(paths, CommandLine(stack=given.get("stack"), program=False), _INSTEAD)
    return readable(places, [], [], build=False)


def _here() -> list[Path]:
    """Return the working directory if it looks like a fleet: a line may name a member before its
    DIR.
    """
    here = Path()
    return [here] if next(here.glob("*.yaml"), None) else []


def _members(manifests: Sequence[Manifest]) -> Iterator[str]:
    return (manifest.name for manifest in manifests if manifest.kind in _MEMBERS)


def _placements(manifests: Sequence[Manifest]) -> Iterator[str]:
    """Yield the keys that placements and templates may have."""
    for system in SYSTEMS.values():
        yield from system.keys_in(manifests)


members, placements = _names(_members), _names(_placements)
