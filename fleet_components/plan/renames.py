"""Find what is called otherwise now: members by the identity of their cluster, and what the options
say.

A rename is under way until its update ends. Until then the state holds resources under both names:
the record of a member, or the decision of a placement, has the new name already, and its objects on
the members of later waves have the old one. The records therefore keep their earlier names
(``formerly``), so that both names lead to one member or placement whatever the
source says next: the same rename again, another one, or the old name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import attrs

from fleet_components.model.message import Message, Phrase
from fleet_components.model.problem import Problem
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past

_EXCHANGED = Message(
    "name-another-state-names",
    "is the name of another {what} in the state: names are not exchanged in one update",
)
_EXCHANGED_HINT = Phrase(
    "free that name first: give the other {what} a name that nothing has, update, then rename"
    " this one"
)
_UNSURE = Message(
    "renamed-update-broke-state",
    "was renamed in an update that broke, and the state does not say to which of: {names}",
)


@attrs.frozen
class Renames:
    """Names that differ between the source and the state.

    Attributes:
        members: current names of members, by each name that the state still has for them.
        placements: the same of placements, by key.
    """

    members: Mapping[str, str] = attrs.field(factory=dict)
    placements: Mapping[str, str] = attrs.field(factory=dict)

    def names_of_member(self, member: str) -> tuple[str, ...]:
        """Return the name of a member, then the names that the state may have for it."""
        return _names(self.members, member)

    def keys_of(self, key: str) -> tuple[str, ...]:
        """Return the key of a subject, then the keys that the state may have for it."""
        return _names(self.placements, key)


@attrs.frozen
class FoundRenames:
    """The renames of an update, and what is wrong with those that the options name."""

    renames: Renames = Renames()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def find_renames(
    declared: Collection[str], members: Collection[str], past: Past, options: Options
) -> FoundRenames:
    """Return the renames of an update.

    Args:
        declared: keys of the declared placements.
        members: names of the members: those that are declared, and lost ones that the state knows.
        past: the past, under the names of the state.
        options: what the options say, and what identifies the clusters of the members.
    """
    renamed = options.renamed
    of_members = _Namesakes(
        "members",
        "member",
        renamed.members,
        declared=frozenset(members),
        recorded={
            name: member.formerly for name, member in past.members.items() if member.recorded
        },
        known=frozenset(past.members),
        # Earlier releases did not record former names: what the roster lacks has come in an update
        # that broke.
        fresh=frozenset(
            name
            for name, member in past.members.items()
            if not (member.enrolled or member.formerly)
        ),
    )
    of_placements = _Namesakes(
        "placements",
        "placement",
        renamed.placements,
        declared=frozenset(declared),
        recorded={name.partition("/")[2]: past.formerly.get(name, ()) for name in past.records},
        known=frozenset(_keys(past)),
    )
    of_members.identify(past, options)
    for namesakes in (of_members, of_placements):
        namesakes.complete()
    problems = (*of_members.problems(), *of_placements.problems())
    if problems:
        return FoundRenames(problems=problems)
    warnings = (*of_members.without_effect(), *of_placements.without_effect())
    return FoundRenames(Renames(of_members.current, of_placements.current), warnings=warnings)


class _Namesakes:
    """The names of members, or of placements, in the state and in the source.

    Args:
        field: the field of the options that names renames of them.
        what: what they are, in words.
        renamed: the renames of the options, from the new name to the old one.
        declared: the current names.
        recorded: the names that have a record of their own in the state, each with its earlier
            names.
        known: all names that the state has.
        fresh: the recorded names that may be new ones, although no former name is recorded.
    """

    def __init__(
        self,
        field: str,
        what: str,
        renamed: Mapping[str, str],
        *,
        declared: frozenset[str],
        recorded: Mapping[str, Sequence[str]],
        known: frozenset[str],
        fresh: frozenset[str] = frozenset(),
    ) -> None:
        self._field, self._what, self._renamed = field, what, renamed
        self._declared, self._recorded, self._known, self._fresh = declared, recorded, known, fresh
        self._unsure: dict[str, list[str]] = {}
        self.current = {old: new for new, old in renamed.items() if self._is_pending(new, old)}

    def _is_pending(self, new: str, old: str) -> bool:
        """Return whether a rename of the options is not carried out yet, or not to its end."""
        if (
            new == old
            or new not in self._declared
            or old not in self._known
            or old in self._declared
        ):
            return False
        # Two records are two members, or placements: the rename was carried out before, and the old
        # name given again.
        return not (new in self._recorded and old in self._recorded)

    def identify(self, past: Past, options: Options) -> None:
        """Find members whose cluster is known under a name that is no longer declared."""
        gone = {
            member.identity: name
            for name, member in past.members.items()
            if member.recorded
            and member.identity
            and name not in self._declared
            and name not in self.current
        }
        for new, old in self._renamed.items():
            if self._is_at(new, old, past, options):
                self.current[old] = new
        taken = set(self.current.values())
        for name in sorted(self._declared - self._recorded.keys() - taken):
            # Without one, nothing says that a new name is an old cluster.
            identity = options.identities.get(name, "")
            if identity in gone:
                self.current[gone[identity]] = name

    def _is_at(self, new: str, old: str, past: Past, options: Options) -> bool:
        """Return whether a member has the cluster that another record names, and not the one that
        its own names.
        """
        identity = options.identities.get(new)
        if not identity or not {new, old} <= self._recorded.keys():
            return False
        return past.members[old].identity == identity != past.members[new].identity

    def complete(self) -> None:
        """Find the names that a rename has left behind which did not come to its end."""
        left = sorted(self._known - self._recorded.keys() - self.current.keys())
        for name in left:
            bearers = self._bearers(name)
            # The names that its bearers have from now on.
            current = {self.current.get(bearer, bearer) for bearer in bearers} - {name}
            if name in self._declared and name not in self.current.values() and len(bearers) == 1:
                # The source has gone back to the old name.
                self.current[bearers[0]] = name
            # All records that may have had the name are one thing by now.
            elif name not in self._declared and len(current) == 1:
                self.current[name] = current.pop()
            elif len(bearers) > 1 and name not in self.current.values():
                self._unsure[name] = bearers

    def _bearers(self, name: str) -> list[str]:
        """Return the records that may have had a name which has no record any more."""
        bearers = [text for text, formerly in self._recorded.items() if name in formerly] or [
            *self._fresh
        ]
        if name in self._declared:
            return sorted(
                bearer
                for bearer in bearers
                if bearer not in self._declared and bearer not in self.current
            )
        return sorted(bearers)

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the renames."""
        for new, old in self._renamed.items():
            path = ("renamed", self._field, new)
            if self._is_mistaken(new, old):
                yield Problem(
                    Message("not-declared", '"{new}" is not declared', new=new),
                    path,
                    "write new: old",
                    follows=True,
                )
            elif (
                new in self._declared
                and new not in self._known
                and old in self._known & self._declared
            ):
                yield from self._still_declared(old, path)
        for name in sorted({*self._exchanged(), *self._in_cycles()}):
            yield Problem(
                _EXCHANGED.filled(what=self._what),
                self._path(name),
                _EXCHANGED_HINT.filled(what=self._what),
            )
        for name, bearers in self._unsure.items():
            hint = f"say it: fleet:renamed with {self._field}: {{NEW: {name}}}"
            yield Problem(
                _UNSURE.filled(names=", ".join(bearers)), (), hint, f"{self._what} {name}"
            )

    def _is_mistaken(self, new: str, old: str) -> bool:
        """Return whether a rename names something that is not declared, and was not carried out
        before.
        """
        if new in self._declared or new in self._known:
            return False
        return not self._known or (old in self._known and new not in self._recorded.get(old, ()))

    def _still_declared(self, old: str, path: tuple[str, ...]) -> Iterator[Problem]:
        if old in self._renamed:
            yield Problem(
                _EXCHANGED.filled(what=self._what),
                ("renamed", self._field, old),
                _EXCHANGED_HINT.filled(what=self._what),
            )
        else:
            yield Problem(
                Message("still-declared", '"{old}" is still declared', old=old),
                path,
                "declare it under one name",
            )

    def _exchanged(self) -> Iterator[str]:
        """Yield the names that something gets while the state has them for something else, which
        stays.
        """
        return (
            new
            for old, new in self.current.items()
            if new in self._recorded and old in self._recorded
        )

    def _in_cycles(self) -> Iterator[str]:
        """Yield the names that the options exchange, unless the records say that this was carried
        out.
        """
        for name in self._renamed:
            cycle = [name]
            while (old := self._renamed.get(cycle[-1], "")) in self._declared and old not in cycle:
                cycle.append(old)
            if (
                self._renamed.get(cycle[-1]) == name
                and len(cycle) > 1
                and not any(map(self._is_done, cycle))
            ):
                yield name

    def _is_done(self, new: str) -> bool:
        # A slice, because a record need not have an earlier name; the last one is at the end.
        return self._recorded.get(new, ())[-1:] == (self._renamed[new],)

    def _path(self, name: str) -> tuple[str, ...]:
        return ("renamed", self._field, name)

    def without_effect(self) -> Iterator[Problem]:
        """Yield a warning for each rename of the options from a name that the state never had."""
        for new, old in self._renamed.items() if self._known else ():
            if new in self._declared and not {old, new} & self._known:
                hint = f"what stands is called: {', '.join(sorted(self._known))}"
                yield Problem(
                    Message("nothing-ever-called", 'nothing was ever called "{old}"', old=old),
                    self._path(new),
                    hint,
                )


def _names(current: Mapping[str, str], name: str) -> tuple[str, ...]:
    return (name, *sorted(old for old, new in current.items() if new == name))


def _keys(past: Past) -> Iterator[str]:
    """Yield the keys of the subjects that a state has, in decisions, bindings and objects."""
    for name in (*past.records, *past.done, *(standing.subject for standing in past.standing)):
        yield name.partition("/")[2]
