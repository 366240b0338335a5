"""The old record of what a hub did not answer: not answered is not gone, so the last observation of
it stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Self

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.load import readable
from fleet_components.content.observed import MEMORY, OBJECTS
from fleet_components.content.paths import read_regular
from fleet_components.hub.folder.memory import KEEPER, roster_of
from fleet_components.hub.folder.paths import FLEET, directory_of
from fleet_components.hub.folder.reading import WrittenFiles
from fleet_components.hub.listing import Query
from fleet_components.hub.observation import HubObservation
from fleet_components.model.codec import MisfitError
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import ObjectKey
from fleet_components.plan.names import TEMPLATE_KIND


@attrs.frozen
class OldRecord:
    """Part of the last observation that stays.

    Attributes:
        objects: digests of the parts of each object, by the path of its file.
        memory: a digest of each file of a subject, by path.
        subjects: names of these subjects.
        waiting: digests of the objects that no policy has claimed, by key of the template
            (Karmada).
    """

    objects: Mapping[str, Mapping[str, str]] = attrs.field(factory=dict)
    memory: Mapping[str, str] = attrs.field(factory=dict)
    subjects: frozenset[str] = frozenset()
    waiting: Mapping[str, str] = attrs.field(factory=dict)

    @classmethod
    def of(
        cls,
        folder: Path,
        inventory: WrittenFiles,
        observation: HubObservation,
        found: Collection[str],
    ) -> Self:
        """Find what stays in a directory.

        Args:
            folder: the directory.
            inventory: what the last observation has written.
            observation: the new observation.
            found: paths of the objects that it has.
        """
        lists = tuple(observation.unanswered)
        if not lists:
            return cls()
        objects = {
            path: digests
            for path, digests in inventory.objects.items()
            if path not in found and _falls_under(folder, path, lists)
        }
        known = {subject.name for subject in observation.subjects}
        subjects = {
            path: name
            for path in inventory.memory
            if (name := _subject(folder / path))
            and name not in known
            and _is_asked_for(name, lists)
        }
        waiting = {
            key: text
            for key, text in _waiting(folder)
            if _is_asked_for(f"{TEMPLATE_KIND}/{key}", lists)
        }
        memory = {path: inventory.memory[path] for path in subjects}
        return cls(objects, memory, frozenset(subjects.values()), waiting)

    def with_new(self, observation: HubObservation) -> HubObservation:
        """Return the observation with what stays of the last one."""
        unknown = tuple(name for name in observation.unknown if name not in self.subjects)
        return attrs.evolve(
            observation, waiting={**self.waiting, **observation.waiting}, unknown=unknown
        )


def _falls_under(folder: Path, path: str, lists: Collection[Query]) -> bool:
    """Return whether the object of a file falls under a list; one that people have removed is known
    by its path.
    """
    # An object whose data is hidden has its file below ``observed``, under the same path.
    if not path.removeprefix(f"{MEMORY}/").startswith(f"{OBJECTS}/"):
        return False
    found = readable([folder / path], [], [], build=False)
    if len(found) == 1:
        return any(query.asks_for(found[0].key) for query in lists)
    # The path is objects/NAMESPACE/Kind.name.yaml.
    *_, place, name = path.split("/")
    kind = name.partition(".")[0]
    return any(
        query.kind == kind
        # A list of all namespaces matches any folder.
        and place in ((directory_of(query.namespace),) if query.namespace else (place,))
        for query in lists
    )


def _is_asked_for(subject: str, lists: Collection[Query]) -> bool:
    """Return whether the object of a template falls under a list; placements do not: they are what
    steers a hub.
    """
    kind, _, key = subject.partition("/")
    if kind != TEMPLATE_KIND or "/" not in key:
        return False
    *spaces, called, name = key.split("/")
    named, _, group = called.partition(".")
    keys = [ObjectKey(group, named, "".join(spaces), name)]
    # A kind without a group may be of the core group, or of any other that is built in.
    if not group:
        keys += [
            ObjectKey(text, named, "".join(spaces), name)
            for text, built_in in BUILT_IN
            if built_in == named
        ]
    return any(query.asks_for(item) for query in lists for item in keys)


def _subject(file: Path) -> str:
    """Return the name of the subject of a file; empty if it has none or is damaged."""
    try:
        whole = read_json(read_regular(file))
    except (OSError, UnreadableError):
        return ""
    return str(whole.get("subject") or "") if isinstance(whole, Mapping) else ""


def _waiting(folder: Path) -> Iterator[tuple[str, str]]:
    try:
        # The roster comes first, before the members.
        roster = next(roster_of(read_regular(folder / FLEET), KEEPER))
    except (OSError, UnreadableError, MisfitError):
        return
    waiting = roster.outputs.get("waiting") or {}
    if isinstance(waiting, Mapping):
        yield from ((str(key), str(text)) for key, text in waiting.items())
