"""Define the record of a subject, kept between runs: one form for the state, for ``--state`` and
for ``out/``.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, Self, TypeVar

import attrs

from fleet_components.content.header import check_header
from fleet_components.content.overridden import Overridden
from fleet_components.content.replacement import replacement
from fleet_components.content.revision import canonical, compress, decompress
from fleet_components.content.secret import (
    SecretPatch,
    is_hidden,
    redacted_content,
    with_secret_texts,
)
from fleet_components.content.stamp import WRITTEN_AGAIN, annotated
from fleet_components.content.stored import without_texts
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import (
    MOST_INT32,
    MisfitError,
    below,
    decode,
    encode,
    out_of_range,
    ranged,
)
from fleet_components.model.digits import integer
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message, OfMemory, Phrase
from fleet_components.model.problem import FleetError, Problem
from fleet_components.rollout.rollout import Done, Placed

Objects = tuple[Mapping[str, Any], ...]
P = TypeVar("P", bound=Placed)
M = TypeVar("M")
T = TypeVar("T")


FORMAT = 1
"""Version of this form. Adding fields keeps the version; a form that older versions cannot read
gets a new number.
"""

_RULES = "overrides-"
"""Prefix of the keys of override rules, which are kept beside the contents of revisions."""
LACKS_HINT = Phrase(
    "{remedy}",
    remedy=OfMemory(
        "give a state that does: pulumi stack export --show-secrets --file FILE",
        "the hub did not show it, or keeps it no more: fleet observe --update, once these members"
        " have what is wanted now",
    ),
)


@attrs.frozen
class Record(ABC, Generic[P, M]):
    """Persisted state of one subject: its decision, and what the next decision depends on.

    Attributes:
        COMPONENT: name of the component type of its subject: ``Placement`` or ``Template``.
        DECISION: type of a member's decision.
        MEMORY: type of the memory.
        revision: the revision that all members are to run; -1 before the first run.
        decisions: what each member was sent, or keeps: the part that reviewers read.
        memory: what the scheduler remembers.
        contents: the objects of every revision in use; empty if the state is encrypted.
        digests: digests of the same revisions, computed without the data of Secrets, so that this
            data cannot be guessed.
        overrides: the override rules that are in force on members, by the number that decisions and
            bindings refer to; empty if the state is encrypted.
        override_digests: digests of the same rules, computed without the values that they put into
            Secrets.
        secret: patches of rules whose values reach a Secret somewhere in the fleet.
    """

    COMPONENT: ClassVar[str]
    DECISION: ClassVar[Any]
    MEMORY: ClassVar[Any]

    revision: int = -1
    decisions: Mapping[str, P] = attrs.field(factory=dict)
    memory: M = attrs.field(default=attrs.Factory(lambda self: self.MEMORY(), takes_self=True))
    contents: Mapping[int, Objects] = attrs.field(factory=dict)
    digests: Mapping[int, str] = attrs.field(factory=dict)
    overrides: Mapping[int, Objects] = attrs.field(factory=dict)
    override_digests: Mapping[int, str] = attrs.field(factory=dict)
    secret: frozenset[SecretPatch] = attrs.field(default=frozenset(), eq=False, repr=False)
    # A cache, without init: evolve() gives a changed record an empty one.
    _made: dict[Hashable, Objects] = attrs.field(init=False, factory=dict, eq=False, repr=False)

    def to_wire(self) -> dict[str, Any]:
        """Return plain maps, keyed by member and by revision; contents and override rules are
        compressed.
        """
        return {
            "format": FORMAT,
            "revision": self.revision,
            "decisions": {
                cluster: encode(placed) for cluster, placed in sorted(self.decisions.items())
            },
            "memory": self._memory_to_wire(),
            "contents": {
                key: compress(kept) for key, kept in _keyed(self.contents, self.overrides)
            },
            "digests": dict(_keyed(self.digests, self.override_digests)),
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Self:
        """Read a record back from :meth:`to_wire`.

        The engine may hand over numbers as floats, and maps in any order.

        Raises:
            MisfitError: the record is damaged.
            FleetError: a later version has written it.
        """
        check_format(wire)
        # New resources have no old inputs.
        if not wire.get("memory"):
            if any(wire.get(field) for field in ("decisions", "contents", "digests")):
                raise MisfitError(Problem(Message("is-missing", "is missing"), ("memory",)))
            return cls()
        fields = decode(_Fields, wire)
        decisions: Any = Mapping[str, cls.DECISION]  # type: ignore[name-defined]
        with below("decisions"):
            placed = decode(decisions, fields.decisions)
        with below("memory"):
            memory = cls.MEMORY.from_wire(wire["memory"])
        # The contents as a whole are one secret: where the state hides it, a text stands in their
        # place.
        hidden = not isinstance(fields.contents, Mapping)
        with below("contents"):
            kind: Any = Mapping[str, Any]
            # Without contents, the digests still show changes.
            texts: Mapping[str, Any] = {} if hidden else decode(kind, fields.contents)
            revisions, rules = _parted(texts)
        contents = {
            revision: cls.content_of(text, revision) for revision, text in revisions.items()
        }
        known = {number: cls.rules_of(text, number) for number, text in rules.items()}
        # Rules of which a state has left out values make other objects than they made.
        overrides = {number: found for number, found in known.items() if not is_hidden(found)}
        with below("digests"):
            digests = _parted(fields.digests)
        _check_digests(fields, digests[0], contents)
        _check_rules(placed, digests[1], known)
        return cls(
            fields.revision,
            dict(sorted(placed.items())),
            memory,
            contents,
            digests[0],
            overrides,
            digests[1],
        )

    @classmethod
    def content_of(cls, text: Any, revision: int) -> Objects:
        """Return the objects of a revision, from their compressed form.

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
    def rules_of(cls, text: Any, number: int) -> Objects:
        """Return the override rules of a number, from their compressed form.

        Raises:
            MisfitError: they are damaged.
        """
        with below("contents", f"{_RULES}{number}"):
            rules = decompress(text)
            for place, data in enumerate(rules):
                with below(place):
                    cls.check_rules(data)
            return tuple(rules)

    @classmethod
    @abstractmethod
    def check_rules(cls, data: Any) -> None:
        """Check the rules of one override.

        Raises:
            MisfitError: they are not those of an override of this system.
        """

    @classmethod
    def check_content(cls, number: int, data: Any) -> None:
        """Check one part of a content.

        Raises:
            MisfitError: it cannot be part of a content.
        """
        if not isinstance(data, Mapping):
            raise MisfitError(
                Problem(Message("not-kubernetes-object", "is not a Kubernetes object"))
            )
        wrong = check_header(Manifest(data))
        if wrong:
            # Neither hint nor place: nobody edits a state as a file.
            raise MisfitError(*(Problem(problem.message, problem.path) for problem in wrong))

    @property
    def members(self) -> frozenset[str]:
        """The members that it has decided about."""
        return frozenset(self.decisions)

    def knows(self, placed: Placed) -> bool:
        """Return whether the content and the override rules of a decision are known."""
        rules = placed.overrides is None or placed.overrides in self.overrides
        return placed.revision in self.contents and rules

    def rules(self, number: int) -> Objects:
        """Return the override rules of a number; values that reach a Secret are marked as
        secret.
        """
        rules = self.overrides[number]
        return (
            tuple(with_secret_texts(rule, self.secret) for rule in rules) if self.secret else rules
        )

    def objects(self, placed: P, member: Cluster) -> Objects:
        """Return the objects that a member gets, or has, with this decision; empty if they are
        unknown.

        Members with equal decisions share them, unless they are marked to be written again.

        Raises:
            FleetError: the overrides do not apply; those of a decision do.
        """
        if not self.knows(placed):
            return ()
        # Without the mark of a repeated write, which is added to the objects below.
        made = (placed.revision, *particulars(placed).items())
        if made not in self._made:
            objects = self.plain(placed)
            if placed.overrides is not None:
                objects = overridden(self.apply(objects, self.rules(placed.overrides), member))
            self._made[made] = self.opened(objects)
        if placed.again is None:
            return self._made[made]
        again = {WRITTEN_AGAIN: str(placed.again)}
        return tuple(annotated(data, again) for data in self._made[made])

    @abstractmethod
    def plain(self, placed: P) -> Objects:
        """Return the objects of a decision whose content is known, before overrides."""

    @staticmethod
    @abstractmethod
    def apply(objects: Objects, rules: Objects, member: Cluster) -> Sequence[Overridden]:
        """Return each object after kept override rules."""

    @staticmethod
    def opened(objects: Objects) -> Objects:
        """Return the objects that members get of those that overrides apply to."""
        return objects

    @abstractmethod
    def standing(self, done: Done) -> P:
        """Return the decision that leads to what runs on a member."""

    def left_alone(self, revision: int) -> tuple[str, ...]:
        """Return the fields that keep their values on members once the objects exist, such as
        ``spec.replicas``.
        """
        return ()

    def content(self, revision: int) -> Objects | None:
        """Return what members get of a revision, before changes for single ones; None if it is
        unknown.
        """
        content = self.contents.get(revision)
        return None if content is None else self.opened(content)

    @abstractmethod
    def guarded_as(self, name: str) -> str:
        """Return what losses are counted under: its own name, or a policy; empty for what goes
        along with others.
        """

    @abstractmethod
    def steered_by(self, name: str) -> ObjectKey | None:
        """Return the key of the placement or policy that decides; None if no policy does.

        Args:
            name: ``Kind/key`` of the subject.
        """

    @abstractmethod
    def failed_alike(self, now: Self) -> bool:
        """Return whether the policy was not fulfilled already, for the reason of a later record."""

    @property
    def protectable(self) -> Objects:
        """The objects of the revision that an annotation of their own may protect; none if what
        protects them is read with the subject.
        """
        return ()

    def completed(self, objects: Objects) -> Self:
        """Return the record with the given content of its revision, if the state hides it and its
        digest matches.
        """
        if self.contents or not self.holds(self.revision, objects):
            return self
        # Older revisions stay hidden: nothing but the current content is in the source.
        return attrs.evolve(self, contents={self.revision: objects})

    def renamed(self, cluster: Callable[[str], str]) -> Self:
        """Return the record with the members under other names."""
        decisions = {cluster(name): placed for name, placed in self.decisions.items()}
        memory: Any = self.memory
        return attrs.evolve(self, decisions=decisions, memory=memory.renamed(cluster))

    def hidden(self) -> list[int]:
        """Return the revisions that are kept on some members and whose content, or overrides, the
        state hides.
        """
        return sorted(
            {placed.revision for placed in self.decisions.values() if not self.knows(placed)}
        )

    def decided(self) -> str:
        """Return a digest of the decision, to check that program and provider have decided the
        same.
        """
        decisions = {cluster: encode(placed) for cluster, placed in self.decisions.items()}
        return hashlib.sha256(canonical([self.revision, decisions]).encode()).hexdigest()[:16]

    def holds(self, revision: int, objects: Objects) -> bool:
        """Return whether a revision has these objects; if contents are encrypted, data of Secrets
        is not compared.
        """
        # Contents compare more than digests do, which leave out the data of Secrets.
        if self.contents:
            return self.contents.get(revision) == objects
        return self.digests.get(revision) == digest(objects)

    def next_revision(self, objects: Objects) -> int:
        """Return the last revision if the content is the same, else a new one, as KubeFleet counts
        its snapshots.

        Raises:
            FleetError: the last number is taken.
        """
        # The current revision need not be the last one: an earlier one may be wanted again.
        last = max([self.revision, *self.digests])
        if self.holds(last, objects):
            return last
        if last >= MOST_INT32:
            raise FleetError(
                [
                    Problem(
                        Message("no-number-left-new", "has no number left for a new revision"),
                        hint="place the objects by another name",
                    )
                ]
            )
        return last + 1

    def settled(
        self, objects: Objects, form: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    ) -> Objects:
        """Return the content of the last revision if a hub sees no change, else the objects as it
        stores them.

        A hub rolls nothing out where it stores the same, unless the provider recreates an object
        there. The last content has to be known. A hub has no ``stringData``, unless the last
        content was recorded with it.

        Args:
            objects: the objects as they are written now.
            form: returns an object as the hub reads it.
        """
        last = self.contents.get(max([self.revision, *self.digests]), ())
        texts = {Manifest(data).key for data in last if "stringData" in data}
        objects = tuple(
            data if Manifest(data).key in texts else without_texts(data) for data in objects
        )
        if not last or last == objects or len(last) != len(objects):
            return objects
        pairs = zip(last, objects, strict=True)
        return (
            last
            if all(form(old) == form(new) and not replacement(old, new) for old, new in pairs)
            else objects
        )

    def in_use(
        self,
        revision: int,
        objects: Mapping[int, Objects],
        placed: Mapping[str, P],
        done: Iterable[Done],
        history: int = 1,
        later: Collection[int] = (),
    ) -> tuple[Mapping[int, Objects], Mapping[int, str]]:
        """Return contents and digests of the revisions that are sent, or that run and may still be
        held.

        Args:
            revision: the revision that all members are to run.
            objects: objects of revisions that are needed now.
            placed: what is sent.
            done: what runs.
            history: how many of the newest revisions are kept besides.
            later: further revisions, which are for later updates.
        """
        if (
            revision == self.revision
            and self.same(placed)
            and self.digests.keys() >= objects.keys()
        ):
            # Otherwise a run without changes would still drop some.
            return (
                self.contents,
                self.digests,
            )
        runs = {here.revision for here in done if here.revision is not None}
        contents = {**self.contents, **objects}
        digests = {**self.digests, **{number: digest(data) for number, data in objects.items()}}
        # A placement keeps one revision at least, so that -history is never 0.
        newest = sorted(digests)[-history:]
        used = {revision, *runs, *(sent.revision for sent in placed.values()), *newest, *later}
        return _only(used, contents), _only(used, digests)

    def keeping(self, placed: Mapping[str, P], before: Self) -> Self:
        """Return the record with other decisions, and with what an earlier record knows of their
        content.
        """
        revisions = {item.revision for item in placed.values()}
        rules = {item.overrides for item in placed.values() if item.overrides is not None}
        return attrs.evolve(
            self,
            decisions=placed,
            contents={**_only(revisions, before.contents), **self.contents},
            digests={**_only(revisions, before.digests), **self.digests},
            overrides={**_only(rules, before.overrides), **self.overrides},
            override_digests={**_only(rules, before.override_digests), **self.override_digests},
        )

    def same(self, placed: Mapping[str, P]) -> bool:
        """Return whether the same is sent as was decided last; what was written again may lack its
        mark still.
        """
        decided = self.decisions
        return placed.keys() == decided.keys() and all(
            _unmarked(sent) == _unmarked(decided[cluster]) for cluster, sent in placed.items()
        )

    def _memory_to_wire(self) -> Any:
        return self.memory.to_wire()  # type: ignore[attr-defined]


def _unmarked(sent: P) -> P:
    return sent if sent.again is None else attrs.evolve(sent, again=None)


def _keyed(revisions: Mapping[int, T], rules: Mapping[int, T]) -> Iterator[tuple[str, T]]:
    """Yield what is kept of revisions and of override rules under one kind of key."""
    yield from ((str(revision), kept) for revision, kept in sorted(revisions.items()))
    yield from ((f"{_RULES}{number}", kept) for number, kept in sorted(rules.items()))


def _parted(keyed: Mapping[str, T]) -> tuple[dict[int, T], dict[int, T]]:
    """Return what is kept of revisions and of override rules, by number.

    Raises:
        MisfitError: a key is neither.
    """
    revisions, rules = dict[int, T](), dict[int, T]()
    for key, kept in keyed.items():
        # A key without the prefix is that of a revision.
        number = key.removeprefix(_RULES)
        # isdecimal() alone accepts the digits of all scripts.
        if not number.isascii() or not number.isdecimal() or out_of_range(integer(number), 0):
            raise MisfitError(
                Problem(
                    Message(
                        "key-not-int32",
                        "has a key that is not a number from 0 to {most_int32}",
                        most_int32=MOST_INT32,
                    )
                )
            )
        (revisions if number == key else rules)[integer(number)] = kept
    return dict(sorted(revisions.items())), dict(sorted(rules.items()))


@attrs.frozen
class _Fields:
    """Fields of a record in wire form."""

    revision: int = attrs.field(metadata=ranged(-1))
    decisions: Mapping[str, Any]
    contents: Any
    digests: Mapping[str, str]


def _check_digests(
    fields: _Fields, digests: Mapping[int, str], contents: Mapping[int, Objects]
) -> None:
    """Check that every content has its digest, and so has the current revision.

    Raises:
        MisfitError: a digest is missing, or is that of another content.
    """
    if fields.decisions and fields.revision not in digests:
        raise MisfitError(
            Problem(
                Message("no-digest-current-revision", "has no digest of the current revision"),
                ("digests",),
            )
        )
    for revision, objects in contents.items():
        if digests.get(revision) != digest(objects):
            raise MisfitError(
                Problem(
                    Message("not-what-digest-made", "is not what its digest was made of"),
                    ("contents", str(revision)),
                )
            )


def _check_rules(
    decisions: Mapping[str, Placed], digests: Mapping[int, str], overrides: Mapping[int, Objects]
) -> None:
    """Check that the override rules of every member have a digest, and the right one.

    Raises:
        MisfitError: a digest is missing, or is that of other rules.
    """
    for cluster, placed in decisions.items():
        if placed.overrides is not None and placed.overrides not in digests:
            raise MisfitError(
                Problem(
                    Message("no-digest-overrides", "has no digest of its overrides"),
                    ("decisions", cluster, "overrides"),
                )
            )
    for number, rules in overrides.items():
        # The values of a rule that reaches a Secret elsewhere are part of its digest, and may be
        # left out here.
        if not is_hidden(rules) and digests.get(number) != digest(rules):
            raise MisfitError(
                Problem(
                    Message("not-what-digest-made", "is not what its digest was made of"),
                    ("contents", f"{_RULES}{number}"),
                )
            )


def check_format(wire: Mapping[str, Any]) -> None:
    """Check that this version can read a state.

    Raises:
        FleetError: a later version of this package has written it.
        MisfitError: its format is not a number.
    """
    given = wire.get("format")
    if given == FORMAT and given is not True:  # which equals 1
        return
    with below("format"):
        written = FORMAT if given is None else decode(int, given)
        if written < 1:
            raise MisfitError(Problem(Message("not-number-from", "is not a number from 1")))
    if written > FORMAT:
        what = Message(
            "state-format-version-reads",
            "the state is of format {written}, this version reads up to {format}",
            written=written,
            format=FORMAT,
        )
        raise FleetError(
            [Problem(what, subject=str(wire.get("key") or ""), hint="upgrade fleet-components")]
        )


def overridden(results: Iterable[Overridden]) -> Objects:
    """Return what rules have made of objects, without those that they delete.

    Raises:
        FleetError: a rule does not apply.
    """
    done = list(results)
    problems = [result.problem for result in done if result.problem]
    if problems:
        raise FleetError(problems)
    return tuple(result.data for result in done if result.data is not None)


def particulars(placed: Placed | Done) -> dict[str, Any]:
    """Return what a decision sets for its member alone, for the binding: replicas, completions,
    number of overrides.
    """
    # The decisions of each system have only some of these fields.
    found = {
        field: getattr(placed, field, None) for field in ("replicas", "completions", "overrides")
    }
    return {field: number for field, number in found.items() if number is not None}


def digest(objects: Objects) -> str:
    """Return a digest of the objects without what is secret in them."""
    return hashlib.sha256(canonical(redacted_content(objects)).encode()).hexdigest()[:16]


def _only(revisions: set[int], kept: Mapping[int, T]) -> dict[int, T]:
    return {revision: value for revision, value in kept.items() if revision in revisions}
