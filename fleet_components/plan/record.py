"""What is kept of a placement from run to run: one form for the state, for ``--state`` and for ``out/``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Generic, Self, TypeVar

import attrs

from fleet_components.content.revision import canonical, compress, decompress
from fleet_components.content.secret import redacted
from fleet_components.model.codec import decode, encode
from fleet_components.model.memory import PlacementMemory
from fleet_components.rollout.plan import Done, Placed

Objects = tuple[Mapping[str, Any], ...]
P = TypeVar("P", bound=Placed)
M = TypeVar("M")
T = TypeVar("T")


@attrs.frozen
class Kept(Generic[P, M]):
    """Decisions, and what they rest on.

    Attributes:
        revision: the revision that all clusters are to run; -1 before the first run.
        decisions: what each cluster was sent, or keeps: the part that reviewers read.
        memory: what is remembered.
        contents: the objects of every revision that is still in use; empty when the state is encrypted.
        digests: of the same revisions, without the data of Secrets, so that nothing can be guessed from them.
    """

    DECISION: ClassVar[Any]
    MEMORY: ClassVar[Any]

    revision: int = -1
    decisions: Mapping[str, P] = attrs.field(factory=dict)
    memory: M = attrs.field(default=attrs.Factory(lambda self: self.MEMORY(), takes_self=True))
    contents: Mapping[int, Objects] = attrs.field(factory=dict)
    digests: Mapping[int, str] = attrs.field(factory=dict)

    def to_wire(self) -> dict[str, Any]:
        """Plain maps, keyed by cluster and by revision; contents compressed."""
        return {
            "revision": self.revision,
            "decisions": {cluster: encode(placed) for cluster, placed in sorted(self.decisions.items())},
            "memory": self._memory_to_wire(),
            "contents": {str(revision): compress(objects) for revision, objects in sorted(self.contents.items())},
            "digests": {str(revision): digest for revision, digest in sorted(self.digests.items())},
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Self:
        """Read it back. Numbers may be floats and maps in any order, as the engine hands them over."""
        if not wire.get("memory"):
            return cls()
        contents = wire["contents"] if isinstance(wire["contents"], Mapping) else {}
        return cls(
            int(wire["revision"]),
            {cluster: decode(cls.DECISION, placed) for cluster, placed in sorted(wire["decisions"].items())},
            cls.MEMORY.from_wire(wire["memory"]),
            {int(revision): tuple(decompress(text)) for revision, text in sorted(contents.items())},
            {int(revision): digest for revision, digest in sorted(wire["digests"].items())},
        )

    def holds(self, revision: int, objects: Objects) -> bool:
        """Whether a revision has these objects; where the contents are encrypted, all but Secret data decide."""
        if self.contents:
            return self.contents.get(revision) == objects
        return self.digests.get(revision) == digest(objects)

    def next_revision(self, objects: Objects) -> int:
        """The current revision while the content stays the same, else a new one, as KubeFleet's snapshot index."""
        return self.revision if self.holds(self.revision, objects) else max([self.revision, *self.digests]) + 1

    def in_use(
        self, revision: int, objects: Objects, placed: Mapping[str, P], done: Iterable[Done]
    ) -> tuple[Mapping[int, Objects], Mapping[int, str]]:
        """The contents, and their digests, of what is sent, and of what runs and may yet be held."""
        if revision == self.revision and placed == self.decisions:
            return self.contents, self.digests  # else a run that changes nothing would still drop some
        runs = {here.revision for here in done if here.revision is not None}
        used = {revision, *runs, *(sent.revision for sent in placed.values())}
        contents = {**self.contents, revision: objects}
        digests = {**self.digests, revision: digest(objects)}
        return _only(used, contents), _only(used, digests)

    def _memory_to_wire(self) -> Any:
        return self.memory.to_wire()  # type: ignore[attr-defined]


@attrs.frozen
class Record(Kept[Placed, PlacementMemory]):
    """The record of a KubeFleet placement: the scheduler's memory, and a wave for each cluster."""

    DECISION = Placed
    MEMORY = PlacementMemory


def digest(objects: Objects) -> str:
    """A digest of everything but the data of Secrets."""
    return hashlib.sha256(canonical(tuple(map(redacted, objects))).encode()).hexdigest()[:16]


def _only(revisions: set[int], kept: Mapping[int, T]) -> dict[int, T]:
    return {revision: value for revision, value in kept.items() if revision in revisions}
