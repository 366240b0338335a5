"""Brings the files of an observed directory up to date: objects as they were observed, as people
have them, and now.

What people write stays, in the text as they have written it. Objects are merged field by field, as
:func:`fleet_components.content.three_way.three_way` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.files import find
from fleet_components.content.guarded import UnreadableError
from fleet_components.content.insertion import UnwritableError
from fleet_components.content.load import readable
from fleet_components.content.observed import OBJECTS, POLICIES, keys_of
from fleet_components.content.paths import files_below, read_regular
from fleet_components.content.restoration import restored
from fleet_components.content.secret import is_secret
from fleet_components.content.three_way import (
    LostEdit,
    Merge,
    Shape,
    extended,
    public,
    shape,
    shape_of,
    three_way,
    within,
)
from fleet_components.hub.folder.form import edit_text, object_text
from fleet_components.hub.folder.paths import INVENTORY, SETTINGS, is_hidden_place, part_of
from fleet_components.hub.folder.reading import WrittenFiles
from fleet_components.hub.listing import Object
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.reader import API_VERSION

_PARTIAL = (f"{OBJECTS}/", f"{POLICIES}/")
"""Folders of objects that may stand in files with less than the hub has; the rest is kept below
``observed``.
"""
_REMOVED_HERE = "was removed here, and the hub has changed it"


@attrs.frozen
class _File:
    """A file with objects.

    Attributes:
        path: its path in the directory.
        text: its text.
        manifest: the object.
    """

    path: str
    text: str = attrs.field(repr=False)
    manifest: Manifest

    @property
    def data(self) -> Object:
        return self.manifest.data

    @property
    def is_ours(self) -> bool:
        """True if it is written as an observation writes, so that nothing is lost if it is written
        again.
        """
        return self.text == object_text(self.data)


@attrs.define
class ObjectUpdate:
    """Update of the objects of a directory.

    Attributes:
        folder: the directory.
        inventory: what the last observation has written; None if that is not known.
        found: what the hub has, by path.
        kept: paths of objects that the hub may still have, because it did not answer for them.
        texts: the texts of the files that are to be there.
        removed: the files that go.
        edited: files with something that the hub does not have.
        lost: what the hub has replaced, as ``path: field: values``.
        remarks: what else is to be said.
        bases: shape of each object in a file of the observation, by path: see
            :class:`WrittenFiles`.
        own: the same of those in files of people.
    """

    folder: Path
    inventory: WrittenFiles | None
    found: Mapping[str, Object]
    kept: frozenset[str] = frozenset()
    texts: dict[str, str] = attrs.field(factory=dict)
    removed: list[str] = attrs.field(factory=list)
    edited: set[str] = attrs.field(factory=set)
    lost: list[str] = attrs.field(factory=list)
    remarks: list[str] = attrs.field(factory=list)
    bases: dict[str, Shape] = attrs.field(factory=dict)
    own: dict[str, Shape] = attrs.field(factory=dict)
    _here: dict[str, _File] = attrs.field(factory=dict, init=False)
    _foreign: dict[str, bool] = attrs.field(factory=dict, init=False)
    _theirs: dict[ObjectKey, _File] = attrs.field(factory=dict, init=False)
    _moved: dict[ObjectKey, _File] = attrs.field(factory=dict, init=False)

    @property
    def _before(self) -> WrittenFiles:
        return self.inventory or WrittenFiles()

    def in_the_way(self) -> Iterator[Problem]:
        """Yield a problem for each file that is no observation's, and would be replaced."""
        for path, data in self.found.items():
            file = self.folder / path
            if file.exists() and [manifest.data for manifest in _manifests(file, [])] != [data]:
                what = Message(
                    "way-no-observation-written", "is in the way, and no observation has written it"
                )
                yield Problem(
                    what, file=str(file), hint="move it away, or write to another place with --out"
                )

    def run(self) -> None:
        """Find what becomes of every file."""
        self._look()
        for path, data in self.found.items():
            self._bring(path, data)
        # Files whose objects went to no new path are judged at their old one.
        self._here |= {file.path: file for file in self._moved.values()}
        for path in sorted(self._before.objects.keys() - self.found.keys()):
            self._without(path)
        self._say_of_own()
        self._tidy()
        if self.inventory is None:
            self.remarks.append(
                f"{INVENTORY} was missing or damaged, so that nobody knows who has changed what:"
                " where a file differs from the hub, the file counts and is named as edited. To"
                " tell edits from changes of the hub, take both back from git and observe again;"
                " to have all as the hub has it, remove the directory and observe it without"
                " --update"
            )

    def _look(self) -> None:
        """Read the files: which have an object of the observation, and which others people have."""
        keys = {Manifest(data).key: path for path, data in self.found.items()}
        for path, data in self.found.items():
            text = _read(self.folder / path)
            # A file that has what the hub has needs no merge.
            if text is not None and text != object_text(data):
                self._look_at(path, text, Manifest(data).key)
        for path in self._before.objects.keys() - self.found.keys():
            text = _read(self.folder / path)
            if text is not None:
                # By what was written there last: the hub has no object for this path any more.
                self._look_at(path, text, None)
                moved = self._here.get(path)
                # The hub has the object under another path now, for example since a second group
                # has its kind: the text of the file moves there.
                if (
                    moved
                    and (place := keys.get(moved.manifest.key))
                    and not (self.folder / place).exists()
                ):
                    self._moved[moved.manifest.key] = self._here.pop(path)
        ours = {self.folder / path for path in (*self.found, *self._before.objects)}
        # All other files of the directory are people's own.
        for entry in find(self.folder, []):
            if entry.kind == "file" and not entry.part and entry.path not in ours:
                self._note(entry.path.relative_to(self.folder).as_posix(), None)

    def _look_at(self, path: str, text: str, key: ObjectKey | None) -> None:
        problems: list[Problem] = []
        found = _manifests(self.folder / path, problems)
        before = self._before.objects.get(path, {})
        same = len(found) == 1 and (
            _names(before, found[0]) if key is None else key == found[0].key
        )
        if same and not problems:
            self._here[path] = _File(path, text, found[0])
        else:
            # True if it cannot be read, False if it has other objects than the expected one.
            self._foreign[path] = bool(problems)
            self._note(path, found)

    def _note(self, path: str, found: Iterable[Manifest] | None) -> None:
        """Note the objects of a file of people."""
        for manifest in _manifests(self.folder / path, []) if found is None else found:
            for key in keys_of(manifest):
                # If several files have the object, the first one counts.
                self._theirs.setdefault(key, _File(path, "", manifest))

    def _bring(self, path: str, data: Object) -> None:
        """Find what becomes of one object that the hub has."""
        key = Manifest(data).key
        file, mine, own = self.folder / path, self._here.get(path), self._theirs.get(key)
        # Nothing has the object at its place: it was removed, or something else is there.
        absent = mine is None and (path in self._foreign or not file.exists())
        # A file of people counts if the observation has none, and always if that one hides the
        # data.
        if own and (absent or is_hidden_place(path)):
            self._counts_for(
                path, own, data, self._before.own.get(path) or self._before.objects.get(path)
            )
        # Damaged, where an observation alone writes.
        elif path in self._foreign and is_hidden_place(path):
            self.texts[path], self.bases[path] = object_text(data), shape_of(data)
        elif self._foreign.get(path):  # unreadable: it may say anything
            self.edited.add(path)
            self.bases[path] = self._before.objects.get(path, shape_of(data))
        elif mine := mine or self._moved.pop(key, None):
            self._merge(path, mine, data)
        elif absent:
            self._add(path, data)
        else:  # it has what the hub has
            self.bases[path] = shape_of(data)

    def _add(self, path: str, data: Object) -> None:
        now = shape_of(data)
        base = self._before.objects.get(path) or self._before.own.get(path)
        self.bases[path] = now
        # The file was removed here and the hub has changed nothing since: the removal stays, as an
        # edit.
        if base is not None and within(base, now):
            self.edited.add(path)
            self.bases[path] = base
            return
        # The hub has changed it since: it comes back, and the removal is named as lost.
        if base is not None:
            self.lost.append(f"{path}: {_REMOVED_HERE}")
        # Only objects and policies may be divided between two files.
        if path in self._foreign and not path.startswith(_PARTIAL):
            self.edited.add(path)
        elif path in self._foreign:
            self.edited.add(path)
            self._keep_apart(path, data)
        else:
            self.texts[path] = object_text(data)

    def _counts_for(self, path: str, own: _File, data: Object, base: Shape) -> None:
        """Let the object of people count, wherever they have it; what it leaves out is the
        hub's.
        """
        first = three_way(self._extended(path, base, own), own.data, data)
        self.own[path] = first.base
        then = three_way(first.base, own.data, data)
        if then.edited:
            self.edited.add(own.path)
        if path.startswith(_PARTIAL) and shape(then.whole) != shape(own.data):
            self._keep_apart(path, data)

    def _merge(self, path: str, mine: _File, data: Object) -> None:
        settings = path.startswith(f"{SETTINGS}/")
        stated = self._before.objects.get(mine.path)
        base = (
            _shown_once(stated, shape(data))
            if settings
            else self._extended(mine.path, stated, mine)
        )
        merge = three_way(base, mine.data, data)
        if is_hidden_place(path) and mine.path != path:
            # With the data of a Secret, which only its file has: a text that people have touched
            # stays.
            if merge.edited or merge.lost or not mine.is_ours:
                self._counts_for(path, mine, data, base)
                return
            merge = attrs.evolve(merge, whole=data, stated=data)
        # A file says only a part if the rest is kept already, or if people have written it on their
        # own.
        partial = path.startswith(_PARTIAL) and (
            (self.folder / part_of(path)).exists() or (base is None and not mine.is_ours)
        )
        meant = merge.stated if partial else merge.whole
        if merge.edited and not settings:  # no hub has them
            self.edited.add(path)
        self.lost += (f"{path}: {edit_text(lost_edit)}" for lost_edit in merge.lost)
        self.bases[path] = merge.base if partial else shape_of(data)
        if mine.path != path:
            self.removed.append(mine.path)
        # A file is written only if it has to say something else: the text of people stays.
        if shape(meant) != shape(mine.data) or mine.path != path:
            self.texts[path], meant = self._text(mine, merge, meant)
        if partial and shape(meant) != shape(merge.whole):
            self._keep_apart(path, data)

    def _extended(self, path: str, stated: Shape, file: _File) -> Shape:
        """Return what a file has said, with what the hub had then of the fields that it says only
        now.
        """
        kept = _manifests(self.folder / part_of(path), []) if path.startswith(_PARTIAL) else []
        same = next((manifest for manifest in kept if manifest.key in keys_of(file.manifest)), None)
        return (
            extended(stated, shape_of(same.data), shape_of(file.data))
            if stated is not None and same
            else stated
        )

    def _keep_apart(self, path: str, data: Object) -> None:
        """Keep what the hub has of an object that a file has in part; a Secret completes
        nothing.
        """
        if not is_secret(data):
            self.texts[part_of(path)] = object_text(data)

    def _text(self, mine: _File, merge: Merge, meant: Any) -> tuple[str, Any]:
        """Return the text of a file that is to say something else, and what it says."""
        if mine.is_ours:
            return object_text(meant), meant
        try:
            return restored(mine.text, mine.manifest, meant), meant
        except UnwritableError as error:
            self.remarks.append(
                f"{mine.path} was written anew, its comments are gone (git diff shows them):"
                f" {error}"
            )
            return object_text(merge.whole), merge.whole

    def _without(self, path: str) -> None:
        """Find what becomes of a file whose object the hub no longer has."""
        mine, base = self._here.get(path), self._before.objects[path]
        edits = list(_edits(base, mine.data)) if mine else []
        if path in self.kept:
            self.edited |= {path} if edits or mine is None else set()
        elif path in self._foreign:
            self.edited.add(path)
        elif mine:
            self.removed.append(path)
            self.lost += (f"{path}: {edit_text(edit)}" for edit in edits)

    def _say_of_own(self) -> None:
        """Name the files of people with objects that the hub does not have."""
        keys = {Manifest(data).key for data in self.found.values()}
        for their in self._theirs.values():
            if (
                # Settings are not objects of a hub.
                keys.isdisjoint(keys_of(their.manifest))
                and their.manifest.api_version != API_VERSION
            ):
                self.edited.add(their.path)

    def _tidy(self) -> None:
        """Remove what is kept below ``observed`` of objects that no longer need it."""
        stay = {*self.texts, *self.bases, *self.kept, *map(part_of, self.kept)}
        for place in _PARTIAL:
            for file in files_below(self.folder / part_of(place), ".yaml"):
                path = file.relative_to(self.folder).as_posix()
                if path not in stay and path not in self.removed:
                    self.removed.append(path)


def _edits(base: Shape, mine: Object) -> Iterator[LostEdit]:
    """Yield the fields in which a file differs from the object as it was observed."""
    yield from _differing((), base, shape_of(mine), public(mine))


def _differing(path: tuple[Any, ...], base: Shape, here: Shape, shown: Any) -> Iterator[LostEdit]:
    if base == here:
        return
    if isinstance(base, dict) and isinstance(here, dict):
        for key in sorted({*base, *here}):
            yield from _differing((*path, key), base.get(key), here.get(key), shown.get(key))
    elif isinstance(base, list) and isinstance(here, list) and len(base) == len(here):
        for at, (old, new) in enumerate(zip(base, here, strict=True)):
            yield from _differing((*path, at), old, new, shown[at])
    else:
        yield LostEdit(path, shown, None)


def _names(base: Shape, manifest: Manifest) -> bool:
    """Return whether an object has the kind and the name of one that was observed."""
    was, now = (
        (item.get("kind"), item.get("metadata")) for item in (base, shape_of(manifest.data))
    )
    return was[0] == now[0] and all(
        _field(was[1], key) == _field(now[1], key) for key in ("name", "namespace")
    )


def _field(metadata: Shape, key: str) -> Shape:
    return metadata.get(key) if isinstance(metadata, dict) else None


def _shown_once(stated: Shape, now: Shape) -> Shape:
    """Return what settings said without what objects no longer show: a flag does not go with the
    object that has shown it.
    """
    if not isinstance(stated, dict) or not isinstance(now, dict):
        return stated
    return {key: _shown_once(item, now[key]) for key, item in stated.items() if key in now}


def _manifests(file: Path, problems: list[Problem]) -> tuple[Manifest, ...]:
    return readable([file], problems, [], build=False)


def _read(file: Path) -> str | None:
    """Return the text of a file; None if there is none, and an empty one if it is not UTF-8."""
    try:
        return read_regular(file).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (UnreadableError, UnicodeDecodeError):
        return ""
