"""Writes an observation as a directory, and brings one up to date: only what has changed is
touched.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import attrs

from fleet_components.content.load import readable
from fleet_components.content.observed import (
    LATER_FORMS,
    MEMBERS,
    MEMORY,
    STAGED,
    is_observed,
    join,
)
from fleet_components.content.paths import alone, create, files_below
from fleet_components.content.three_way import public
from fleet_components.hub.azure.fleet_resource import (
    AZURE_FILE,
    FleetResource,
    azure_file,
    read_azure_file,
)
from fleet_components.hub.folder.form import digest, object_text, settled
from fleet_components.hub.folder.header import (
    Header,
    azure_since,
    read_header,
    silences,
    time_text,
    unanswered_since,
)
from fleet_components.hub.folder.memory import KEEPER, memory_texts
from fleet_components.hub.folder.merge import ObjectUpdate
from fleet_components.hub.folder.paths import (
    ATTRIBUTE,
    ATTRIBUTES,
    FLEET,
    HEADER,
    INVENTORY,
    hidden_apart,
    member_parts,
    memory_files,
    object_files,
    part_of,
)
from fleet_components.hub.folder.reading import (
    WrittenFiles,
    check_links,
    read_inventory,
    system_of_members,
)
from fleet_components.hub.folder.record import OldRecord
from fleet_components.hub.listing import Object
from fleet_components.hub.observation import HubObservation, resources_of
from fleet_components.model.codec import in_reach
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.given import Given
from fleet_components.plan.source import Source, gathered

T = TypeVar("T")
_NO_MEMBER = "no API server has such a member, and no plan could read it: is that the hub?"


@attrs.frozen(kw_only=True)
class Changes:
    """Result of writing an observation; all are paths in it, sorted.

    Attributes:
        added: new files.
        changed: files with another content.
        removed: files that are gone.
        edited: files with something that the hub does not have yet: an edit, a removal, an object
            of their own.
        lost: edits that the hub's truth has replaced, as ``path: field: values``.
        remarks: what else is to be said of them, in sentences.
        private: files with the data of Secrets, which must not be committed.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    private: tuple[str, ...] = ()


def write_observation(
    folder: Path, observation: HubObservation, *, update: bool, secrets: bool = False
) -> Changes:
    """Write an observation into a directory.

    Files that no observation has written stay, and so does what people have changed in the others
    until the hub has it or has changed the same: see :class:`ObjectUpdate`.
    An interrupted run leaves each file whole, and the next one with ``update`` completes it.

    Args:
        folder: the directory; made if it does not exist.
        observation: the observation.
        update: True to bring an observed directory up to date, or to make one where nothing is;
            False to make one.
        secrets: True to write the data of Secrets, in files that only their owner can read.

    Raises:
        FleetError: the directory is one already, or is none, or that of another system; it has
            files in the way, or cannot be written; another run has made it meanwhile.
    """
    check_links(folder)
    _check(folder, observation, update)
    problems = tuple(_unreadable(observation))
    if problems:
        raise FleetError(problems)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with alone(folder):
            _check(folder, observation, update)  # another run may have written it meanwhile
            return _written(folder, observation, update, secrets)
    except OSError as error:
        what = Message("cannot-written", "cannot be written: {strerror}", strerror=error.strerror)
        raise FleetError(
            [Problem(what, file=str(folder), hint="write to another place with --out")]
        ) from error


def header_before(folder: Path, *, update: bool) -> Header | None:
    """Return the header of the directory that is to be written; None if it has none, or a damaged
    one.

    Args:
        folder: the directory.
        update: True if it is to be brought up to date, or made where there is none; False if it is
            to be made.

    Raises:
        FleetError: it is an observed directory without ``update``, or has other files with it; or a
            later version has written it.
    """
    observed = is_observed(folder)
    if update and not observed and _has_files(folder):
        what = Message(
            "not-observed-directory-could",
            "is not an observed directory, which could be brought up to date, and it has files",
        )
        hint = "without --update it is made beside them; or give another --out"
        raise FleetError([Problem(what, hint=hint, file=str(folder))])
    if observed and not update:
        hint = "--update brings it up to date; or give another --out"
        raise FleetError(
            [
                Problem(
                    Message("observed-directory", "is an observed directory"),
                    hint=hint,
                    file=str(folder),
                )
            ]
        )
    return _header(folder) if observed else None


def _has_files(folder: Path) -> bool:
    """Return whether a directory has something that is not hidden; True for a file."""
    try:
        # Hidden files, such as .git, are in the way of nothing.
        return any(not name.startswith(".") for name in os.listdir(folder))
    except FileNotFoundError:
        return False
    except OSError:
        return True  # the attempt to write there reports the cause


def _unreadable(observation: HubObservation) -> Iterable[Problem]:
    """Yield what of an observation no plan would read: its time, and members that no API server
    has.
    """
    if not in_reach(observation.as_of):
        what = Message(
            "says-too-far-away",
            "says that it is {time_text}, too far away for any wait",
            time_text=time_text(observation.as_of),
        )
        yield Problem(what, subject="the hub", hint="set its clock")
    source = gathered(
        Given(tuple(map(Manifest, observation.members)), hub=True, releases=observation.releases)
    )
    for problem in source.problems:
        yield attrs.evolve(
            problem,
            hint=f"{_NO_MEMBER}; a plan says: {problem.hint}" if problem.hint else _NO_MEMBER,
        )


def _check(folder: Path, observation: HubObservation, update: bool) -> None:
    before = header_before(folder, update=update)
    if update:
        # Only for its error: a later version has written it.
        _azure(folder)
    # Without a readable header, the members show the system.
    system = before.system if before else system_of_members(folder) if update else None
    if system and system != observation.system:
        what = Message(
            "observed-not",
            "was observed for {system}, not for {observation_system}",
            system=system,
            observation_system=observation.system,
        )
        raise FleetError(
            [Problem(what, file=str(folder), hint="write to another place with --out")]
        )


def _written(folder: Path, observation: HubObservation, update: bool, secrets: bool) -> Changes:
    # Everything is worked out first; only ``_put``, near the end, touches files.
    before = _header(folder) if update else None
    known = _inventory(folder) if update else WrittenFiles()
    # ``known`` is None for a damaged inventory, after which ``ObjectUpdate`` looks at the files.
    inventory = known or WrittenFiles()
    observation = _with_silent(folder, observation, inventory)
    found, parts = member_parts(
        {
            path: file if secrets else public(file)
            for path, file in object_files(observation).items()
        }
    )
    found = hidden_apart(found, secrets=secrets)
    # Objects in people's own files are among those whose record may stay.
    everywhere = attrs.evolve(inventory, objects={**inventory.own, **inventory.objects})
    old = OldRecord.of(folder, everywhere, observation, found)
    observation = old.with_new(observation)
    plan = ObjectUpdate(folder, known, found, frozenset(old.objects))
    _check_places(folder, [*found, *map(part_of, found), *parts, *inventory.objects])
    # An update merges with files that are there; a first observation takes no file over.
    problems = () if update else tuple(plan.in_the_way())
    if problems:
        raise FleetError(problems)
    plan.run()
    memory = _memory(observation)
    texts = {**old.memory, **{path: digest(text) for path, text in memory.items()}}
    bases, own = dict(plan.bases), dict(plan.own)
    for path, base in old.objects.items():
        # Where it was before: what people have in files of their own stays theirs.
        (bases if path in inventory.objects else own)[path] = base
    header = Header(
        observation.system,
        observation.as_of,
        observation.hub,
        silences(observation.silent, before),
        unanswered_since(observation.unanswered, before),
        observation.unknown,
        observation.notes,
        None if observation.fleet or not _azure(folder) else azure_since(before),
        observation.release,
    )
    last = {INVENTORY: WrittenFiles(bases, texts, own).text(), HEADER: header.text()}
    azure = {AZURE_FILE: azure_file(observation.fleet)} if observation.fleet else {}
    remarks = list(plan.remarks)
    kept = header.azure
    if kept:
        remarks.append(
            f"Azure {kept.why}; its record {f'of {kept.since} ' if kept.since else ''}counts"
        )
    apart = {path: object_text(part) for path, part in parts.items()}
    texts = {**plan.texts, **apart, **_attributes(folder), **memory, **azure, **last}
    changed = {path: text for path, text in texts.items() if _read(folder / path) != text.encode()}
    removed = [*plan.removed, *_stale(folder, {**old.memory, **memory}, parts)]
    if not azure and not header.azure and (folder / AZURE_FILE).exists():
        removed.append(AZURE_FILE)
        remarks.append(f"{AZURE_FILE} is damaged and removed: --azure RESOURCE_ID writes it anew")
    if changed.keys() <= {HEADER} and not removed and header.says_no_more_than(before):
        changed = {}  # a job that commits what has changed has nothing to commit
    # Files that have what the public form hides.
    sealed = [path for path, data in found.items() if secrets and public(data) != data]
    places = (place for path in sealed for place in (path, part_of(path)))
    private = frozenset(
        item
        for item in places
        if item in texts or ((folder / item).exists() and item not in removed)
    )
    there = {path for path in changed if (folder / path).exists()}
    _put(folder, changed, removed, private)
    return Changes(
        added=tuple(sorted(changed.keys() - there)),
        changed=tuple(sorted(there)),
        removed=tuple(sorted(removed)),
        edited=tuple(sorted(plan.edited)),
        lost=tuple(sorted(plan.lost)),
        remarks=tuple(remarks),
        private=tuple(sorted(private)),
    )


def _manifest(file: Path) -> Manifest | None:
    found = readable([file], [], [], build=False)
    return found[0] if len(found) == 1 else None


def _source(observation: HubObservation) -> Source:
    """Return the policies of an observation, as they are read back from its files."""
    policies = tuple(map(Manifest, observation.policies))
    return gathered(Given(policies, hub=True, releases=observation.releases))


def _memory(observation: HubObservation) -> dict[str, str]:
    # Only policies have fields that must not change, and that are remembered.
    resources = resources_of(observation, _source(observation), KEEPER)
    fleet, subjects = memory_texts(resources)
    return {
        FLEET: fleet,
        **{path: subjects[name] for path, name in sorted(memory_files(subjects).items())},
    }


def _with_silent(
    folder: Path, observation: HubObservation, inventory: WrittenFiles
) -> HubObservation:
    """Return the observation with the old records of members that did not answer, and lists without
    order sorted.
    """
    members = {Manifest(member).name: settled(member) for member in observation.members}
    # Files are read only if a silent member is missing in the observation.
    for path in inventory.objects if observation.silent.keys() - members.keys() else ():
        if (
            path.startswith(f"{MEMBERS}/")
            and (manifest := _manifest(folder / path))
            and manifest.name in observation.silent
        ):
            part = _manifest(folder / part_of(path))
            # What the hub has of a silent member counts more than the old record.
            members.setdefault(manifest.name, join(manifest, [part] if part else []).data)
    return attrs.evolve(observation, members=tuple(data for _, data in sorted(members.items())))


def _header(folder: Path) -> Header | None:
    """Return the header of an observed directory; None if it is damaged.

    Raises:
        FleetError: a later version has written it.
    """
    return _unless_later(lambda: read_header(_read(folder / HEADER) or b"", str(folder / HEADER)))


def _azure(folder: Path) -> FleetResource | None:
    """Return what Azure has reported; None if there is nothing, or if it is damaged.

    Raises:
        FleetError: a later version has written it.
    """
    text = _read(folder / AZURE_FILE)
    return (
        None
        if text is None
        else _unless_later(lambda: read_azure_file(text, str(folder / AZURE_FILE)))
    )


def _unless_later(read: Callable[[], T]) -> T | None:
    """Return what is read; None if it is damaged.

    Raises:
        FleetError: a later version has written it.
    """
    try:
        return read()
    except FleetError as error:
        if any(problem.message.code in LATER_FORMS for problem in error.problems):
            raise
        return None


def _inventory(folder: Path) -> WrittenFiles | None:
    try:
        return read_inventory(folder)
    except FleetError:
        return None  # it is written again, and what files have counts


def _attributes(folder: Path) -> dict[str, str]:
    text = (_read(folder / ATTRIBUTES) or b"").decode(errors="replace")
    if ATTRIBUTE in text.splitlines():
        return {}
    return {
        ATTRIBUTES: (
            f"{text}\n{ATTRIBUTE}\n" if text and not text.endswith("\n") else f"{text}{ATTRIBUTE}\n"
        )
    }


def _stale(folder: Path, memory: Mapping[str, str], parts: Mapping[str, Object]) -> list[str]:
    """Return the files of subjects and members that are no more."""
    subjects = files_below(folder / MEMORY, ".json")
    members = sorted((folder / MEMORY / MEMBERS).glob("*.yaml"))
    found = (path.relative_to(folder).as_posix() for path in (*subjects, *members))
    # The inventory lies in the same folder, and is no subject.
    return [
        path for path in found if path not in memory and path not in parts and path != INVENTORY
    ]


def _check_places(folder: Path, paths: Iterable[str]) -> None:
    """Refuse links, which would lead what is written elsewhere."""
    split = (path.split("/") for path in (*paths, HEADER, ATTRIBUTES))
    # The files, and all folders on the way to them.
    places = {
        os.path.join(folder, *parts[:end]) for parts in split for end in range(1, len(parts) + 1)
    }
    problems = [
        Problem(
            Message("link-lead-elsewhere", "is a link, which would lead elsewhere"),
            file=place,
            hint="write the path that it leads to",
        )
        for place in sorted(places)
        if os.path.islink(place)
    ]
    if problems:
        raise FleetError(problems)


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _put(
    folder: Path, texts: Mapping[str, str], removed: Iterable[str], private: frozenset[str]
) -> None:
    """Write files aside, and then move all of them to their places; the inventory and the header
    come last.
    """
    # Left by a run that was interrupted: the lock excludes another one that is still running.
    for left in folder.glob(f"{STAGED}*"):
        shutil.rmtree(left, ignore_errors=True)
    staged = Path(tempfile.mkdtemp(prefix=STAGED, dir=folder))
    try:
        (folder / MEMORY).mkdir(exist_ok=True)  # from now on it is known as an observed directory
        for path, text in texts.items():
            create(staged / path, text, private=path in private)
        for path in texts:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            # Before the new inventory, which no longer names these files.
            if path == INVENTORY:
                _remove(folder, removed)
            # A rename replaces the file at once, so that it is whole at any time.
            os.replace(staged / path, folder / path)
        # Again, because an update may leave the inventory as it is.
        _remove(folder, removed)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
        if not (folder / HEADER).exists():
            staged.mkdir()  # empty: it tells that the first observation is not complete


def _remove(folder: Path, paths: Iterable[str]) -> None:
    for path in paths:
        (folder / path).unlink(missing_ok=True)
        above = (folder / path).parent
        # git has no empty folders either.
        while above != folder and above.is_dir() and not any(above.iterdir()):
            above.rmdir()
            above = above.parent
