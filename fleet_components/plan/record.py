"""What is kept of a subject from run to run: one form for the state, for ``--state`` and for ``out/``."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Generic, Self, TypeVar

import attrs

from fleet_components.content.header import check_header
from fleet_components.content.revision import canonical, compress, decompress
from fleet_components.content.secret import redacted
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import MisfitError, below, checked, decode, encode
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError, Problem
from fleet_components.rollout.plan import Done, Placed

Objects = tuple[Mapping[str, Any], ...]
P = TypeVar("P", bound=Placed)
M = TypeVar("M")
T = TypeVar("T")


FORMAT = 1
"""The version of this form. It grows by addition; what an older version cannot read gets a new number."""

LACKS_HINT = "give a state that does: pulumi stack export --show-secrets --file FILE"


@attrs.frozen
class Record(ABC, Generic[P, M]):
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
            "format": FORMAT,
            "revision": self.revision,
            "decisions": {cluster: encode(placed) for cluster, placed in sorted(self.decisions.items())},
            "memory": self._memory_to_wire(),
            "contents": {str(revision): compress(objects) for revision, objects in sorted(self.contents.items())},
            "digests": {str(revision): digest for revision, digest in sorted(self.digests.items())},
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Self:
        """Read it back. Numbers may be floats and maps in any order, as the engine hands them over.

        Raises:
            MisfitError: it is damaged.
            FleetError: a later version has written it.
        """
        check_format(wire)
        if not wire.get("memory"):
            return cls()
        fields = decode(_Fields, wire)
        decisions: Any = Mapping[str, cls.DECISION]  # type: ignore[name-defined]
        with below("decisions"):
            placed = decode(decisions, fields.decisions)
        with below("memory"):
            memory = cls.MEMORY.from_wire(wire["memory"])
        hidden = not isinstance(fields.contents, Mapping)
        with below("contents"):
            texts: Mapping[int, Any] = {} if hidden else decode(Mapping[int, Any], fields.contents)  # type: ignore[type-abstract]
        return cls(
            fields.revision,
            dict(sorted(placed.items())),
            memory,
            {revision: cls.content_of(text, revision) for revision, text in sorted(texts.items())},
            dict(sorted(fields.digests.items())),
        )

    @classmethod
    def content_of(cls, text: Any, revision: int) -> Objects:
        """The objects of a revision, from their compressed form.

        Raises:
            MisfitError: they are damaged.
        """
        with below("contents", str(revision)):
            objects = decompress(text)
            for number, data in enumerate(objects):
                with below(number):
                    cls.check_content(number, data)
            return tuple(objects)

    @classmethod
    def check_content(cls, number: int, data: Any) -> None:
        """Refuse what is no part of a content.

        Raises:
            MisfitError: it is none.
        """
        if not isinstance(data, Mapping):
            raise MisfitError(Problem("is no Kubernetes object"))
        if wrong := check_header(Manifest(data)):
            raise MisfitError(*(Problem(problem.what, problem.path) for problem in wrong))

    @abstractmethod
    def objects(self, placed: P, member: Cluster) -> Objects:
        """The objects that a member gets, or has, with this decision; none where the content is not known."""

    @abstractmethod
    def standing(self, done: Done) -> P:
        """What must have been sent to a member for this to run there."""

    def content(self, revision: int) -> Objects | None:
        """The objects of a revision before anything is done to them for a member; None where they are not known."""
        return self.contents.get(revision)

    @abstractmethod
    def guarded_as(self, name: str) -> str:
        """What its losses are counted under: its own name, or a policy; empty for what goes along with others."""

    def completed(self, objects: Objects) -> Self:
        """The record with the content of its revision, where the state hides it and it is still the same."""
        if self.contents or not self.holds(self.revision, objects):
            return self
        return attrs.evolve(self, contents={self.revision: objects})

    def renamed(self, cluster: Callable[[str], str]) -> Self:
        """The record with the members under other names."""
        decisions = {cluster(name): placed for name, placed in self.decisions.items()}
        return attrs.evolve(self, decisions=decisions, memory=self.memory.renamed(cluster))  # type: ignore[attr-defined]

    def hidden(self) -> list[int]:
        """The revisions that stay on some members and whose content the state hides."""
        return sorted({placed.revision for placed in self.decisions.values()} - self.contents.keys())

    def decided(self) -> str:
        """A digest of what was decided: it tells whether two parts of a run have decided the same."""
        decisions = {cluster: encode(placed) for cluster, placed in self.decisions.items()}
        return hashlib.sha256(canonical([self.revision, decisions]).encode()).hexdigest()[:16]

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
class _Fields:
    """The fields of a record, as they are on the wire."""

    revision: int = attrs.field(metadata=checked(lambda number: "" if number >= -1 else "is no revision"))
    decisions: Mapping[str, Any]
    contents: Any
    digests: Mapping[int, str]


def check_format(wire: Mapping[str, Any]) -> None:
    """Refuse what a later version of this package has written.

    Raises:
        FleetError: it has.
        MisfitError: it does not say in which format it is.
    """
    given = wire.get("format")
    with below("format"):
        written = FORMAT if given is None else decode(int, given)
    if written > FORMAT:
        what = f"the state is of format {written}, this version reads up to {FORMAT}"
        raise FleetError([Problem(what, subject=str(wire.get("key") or ""), hint="upgrade fleet-components")])


def digest(objects: Objects) -> str:
    """A digest of everything but the data of Secrets."""
    return hashlib.sha256(canonical(tuple(map(redacted, objects))).encode()).hexdigest()[:16]


def _only(revisions: set[int], kept: Mapping[int, T]) -> dict[int, T]:
    return {revision: value for revision, value in kept.items() if revision in revisions}
