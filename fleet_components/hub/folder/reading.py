"""Reads an observed directory: what a hub had decided, in the one form of the past, and when that
was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.load import readable
from fleet_components.content.observed import (
    MEMBERS,
    MEMORY,
    MEND,
    is_observed,
    links_in,
    read_part,
)
from fleet_components.content.paths import files_below
from fleet_components.content.three_way import Shape, is_shape
from fleet_components.hub.azure.fleet_resource import AZURE_FILE, FleetResource, read_azure_file
from fleet_components.hub.folder.form import digest, lines
from fleet_components.hub.folder.header import Silence, UnansweredList, read_header
from fleet_components.hub.folder.memory import roster_of, shown_path, subject_of
from fleet_components.hub.folder.paths import FLEET, HEADER, INVENTORY
from fleet_components.model.codec import MisfitError
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.past import Past
from fleet_components.plan.state import StoredResource
from fleet_components.plan.stored import Keeper
from fleet_components.systems.framework import System
from fleet_components.systems.registry import SYSTEMS

# ``MEMBER`` is apiVersion and kind.
_SYSTEMS = {
    (system.MEMBER[0].partition("/")[0], system.MEMBER[1]): system for system in SYSTEMS.values()
}
"""Systems, by group and kind of their members."""
_CHANGED = Message("not-what-fleet-observe", "is not what fleet observe has written")


@attrs.frozen
class Remembered:
    """Memory of an observed directory.

    Attributes:
        folder: the directory.
        system: the system that the hub runs; without one that whose members they are to be.
        as_of: when it was observed.
        hub: False for clusters that no hub has.
        silent: members that did not answer, with since when their record is.
        unanswered: lists that the hub did not answer, with since when the record of their objects
            is.
        unknown: names of subjects that the hub has, and of which nothing else is known.
        notes: what was left out and why.
        resources: what was decided, as the resources of a stack.
        files: the file that a resource was read from, by URN.
        fleet: what the resource API of Azure reported of the fleet; None if it was never asked.
        azure: why that is older than the rest; None if it is not.
        written: paths of the files that the observation has written, in the directory.
    """

    folder: Path
    system: System
    as_of: datetime
    hub: bool = True
    silent: Mapping[str, Silence] = attrs.field(factory=dict)
    unanswered: tuple[UnansweredList, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    resources: tuple[StoredResource, ...] = attrs.field(default=(), repr=False)
    files: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    fleet: FleetResource | None = None
    azure: Silence | None = None
    written: frozenset[str] = attrs.field(default=frozenset(), repr=False)
    # Computing a past takes long, and several readers ask for the same one.
    _pasts: dict[str, Past] = attrs.field(init=False, factory=dict, eq=False, repr=False)

    def past(self, fleet: str) -> Past:
        """Return the past of the fleet.

        Raises:
            FleetError: the memory is damaged; names the files and the fields.
        """
        if fleet not in self._pasts:
            try:
                self._pasts[fleet] = Past.of(
                    self.resources, fleet, file=str(self.folder / MEMORY), mend=MEND
                )
            except FleetError as error:
                raise FleetError(map(self._located, error.problems)) from None
        return self._pasts[fleet]

    def _located(self, problem: Problem) -> Problem:
        urn = problem.subject
        file = self.files.get(urn, problem.file)
        path = shown_path(problem.path, urn)
        return attrs.evolve(problem, path=path, subject="", file=file, hint=problem.hint or MEND)


def read_observation(folder: Path, keeper: Keeper) -> Remembered:
    """Read what an observed directory remembers.

    Args:
        folder: the directory.
        keeper: the stack and the fleet that the resources are to be of.

    Raises:
        FleetError: it is not an observed directory, its memory is damaged or was changed by hand,
            or a later version has written it; carries a problem for every file concerned.
    """
    if not is_observed(folder):
        hint = f"fleet observe --hub KUBECONFIG --out {folder}"
        raise FleetError(
            [
                Problem(
                    Message(
                        "not-observed-directory-no",
                        "is not an observed directory: it has no {header}",
                        header=HEADER,
                    ),
                    hint=hint,
                    file=str(folder),
                )
            ]
        )
    # Before any file is read: a link may lead out of the folder.
    check_links(folder)
    header = read_header(_text(folder, HEADER), str(folder / HEADER))
    inventory = read_inventory(folder)
    resources, files, problems = list[StoredResource](), dict[str, str](), list[Problem]()
    # All files are read before an error is raised, so that it names every damaged one.
    for path in inventory.memory:
        try:
            found = list(_resources(folder, path, keeper))
        except FleetError as error:
            problems += error.problems
            continue
        resources += found
        files |= dict.fromkeys((stored.urn for stored in found), str(folder / path))
    problems += _strays(folder, inventory.memory)
    if problems:
        raise FleetError(problems)
    read = Remembered(
        folder,
        header.system,
        header.as_of,
        header.hub,
        header.silent,
        header.unanswered,
        header.unknown,
        header.notes,
        tuple(resources),
        files,
        _fleet(folder),
        header.azure,
        frozenset(inventory.objects),
    )
    # Before the digests, since its errors name the fields and theirs only the files.
    read.past(keeper.fleet)
    _check_digests(folder, inventory.memory)
    return read


def check_links(folder: Path) -> None:
    """Check that no link is among what an observed directory remembers, wherever it leads.

    Raises:
        FleetError: there are some.
    """
    what = Message(
        "link-observation-never-writes",
        "is a link, which an observation never writes, and which is not followed",
    )
    hint = f"remove it, or go back to the last commit of the folder {MEMORY}/"
    linked = [Problem(what, hint=hint, file=str(path)) for path in links_in(folder)]
    if linked:
        raise FleetError(linked)


def _fleet(folder: Path) -> FleetResource | None:
    file = folder / AZURE_FILE
    return read_azure_file(_text(folder, AZURE_FILE), str(file)) if file.exists() else None


@attrs.frozen
class WrittenFiles:
    """Account of what the last observation has written.

    Attributes:
        objects: shape of each object that it has written or merged, by the path of its file.
        memory: a digest of each file of the memory, by path.
        own: shape of each object that people have in a file of their own, by the path where it
            would be written.
    """

    objects: Mapping[str, Shape] = attrs.field(factory=dict)
    memory: Mapping[str, str] = attrs.field(factory=dict)
    own: Mapping[str, Shape] = attrs.field(factory=dict)

    def text(self) -> str:
        """Return the inventory as JSON."""
        whole = {
            "objects": self.objects,
            **({"own": self.own} if self.own else {}),
            "memory": self.memory,
        }
        return lines(whole, dict.fromkeys(whole, 1))


def read_inventory(folder: Path) -> WrittenFiles:
    """Read the inventory of an observed directory.

    Raises:
        FleetError: it is missing or damaged.
    """
    file = str(folder / INVENTORY)
    try:
        whole = read_json(_text(folder, INVENTORY), unique=True)
    except UnreadableError as error:
        raise FleetError([error.problem(file, MEND)]) from None
    parts = dict(whole) if isinstance(whole, Mapping) else {}
    # Left out of the file if it is empty, see WrittenFiles.text.
    parts.setdefault("own", {})
    for key, is_part in (
        ("objects", _is_shape_of_object),
        ("memory", _is_digest),
        ("own", _is_shape_of_object),
    ):
        part = parts.get(key)
        fine = isinstance(part, Mapping) and all(
            _is_path(path) and is_part(item) for path, item in part.items()
        )
        if not fine:
            raise FleetError(
                [
                    Problem(
                        Message("not-map-files-their", "is not a map of files with their digests"),
                        (key,),
                        MEND,
                        file=file,
                    )
                ]
            )
    return WrittenFiles(parts["objects"], parts["memory"], parts["own"])


def _is_shape_of_object(value: Any) -> bool:
    return isinstance(value, Mapping) and is_shape(value)


def _is_digest(value: Any) -> bool:
    return isinstance(value, str)


def observed_members(folder: Path) -> frozenset[str]:
    """Return the names of the members that an observation has written and nobody has removed; none
    if it is damaged.
    """
    try:
        paths = [path for path in read_inventory(folder).objects if path.startswith(f"{MEMBERS}/")]
    except FleetError:
        return frozenset()
    files = [folder / path for path in paths if (folder / path).is_file()]
    return frozenset(
        manifest.name for file in files for manifest in readable([file], [], [], build=False)
    )


def system_of_members(folder: Path) -> System | None:
    """Return the system of the members in a directory; None if there are none, or of both."""
    files = sorted((folder / MEMBERS).glob("*.yaml"))
    keys = (manifest.key for file in files for manifest in readable([file], [], [], build=False))
    found = {_SYSTEMS[key.group, key.kind] for key in keys if (key.group, key.kind) in _SYSTEMS}
    return found.pop() if len(found) == 1 else None


def _is_path(path: str) -> bool:
    """Return whether a path stays in its folder."""
    return all(
        # Backslashes and colons lead elsewhere on Windows.
        part not in ("", ".", "..") and not set(part) & {"\\", "\0", ":"}
        for part in path.split("/")
    )


def _resources(folder: Path, path: str, keeper: Keeper) -> Iterator[StoredResource]:
    text = _text(folder, path)
    try:
        yield from roster_of(text, keeper) if path == FLEET else subject_of(text, keeper)
    except MisfitError as misfit:
        located = (
            attrs.evolve(problem, hint=MEND, file=str(folder / path)) for problem in misfit.problems
        )
        raise FleetError(located) from None


def _strays(folder: Path, memory: Iterable[str]) -> Iterator[Problem]:
    """Yield a problem for each file of the memory that the inventory does not have."""
    known = {*memory, HEADER, INVENTORY}
    for file in files_below(folder / MEMORY, ".json"):
        if file.relative_to(folder).as_posix() not in known:
            yield Problem(
                Message(
                    "not-in-inventory",
                    "is not in {inventory}: {changed}",
                    inventory=INVENTORY,
                    changed=_CHANGED,
                ),
                hint=MEND,
                file=str(file),
            )


def _check_digests(folder: Path, memory: Mapping[str, str]) -> None:
    changed = [
        path for path, known in memory.items() if digest(_text(folder, path).decode()) != known
    ]
    if changed:
        raise FleetError(Problem(_CHANGED, hint=MEND, file=str(folder / path)) for path in changed)


def _text(folder: Path, path: str) -> bytes:
    try:
        return read_part(folder, path)
    except OSError as error:
        raise FleetError(
            [
                Problem(
                    Message("cannot-read", "cannot be read: {strerror}", strerror=error.strerror),
                    hint=MEND,
                    file=str(folder / path),
                )
            ]
        ) from None
    except UnreadableError as error:
        raise FleetError([error.problem(str(folder / path), MEND)]) from None
