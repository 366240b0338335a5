"""Describe requests of policies that match nothing, and what exists instead, for members and for
objects alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, Self

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.cluster import Cluster
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.mask import Mask
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.selector import LabelIndex, LabelSelector, Requirement
from fleet_components.model.text import Vocabulary, count, few
from fleet_components.scheduler.explain import show_requirement

_VALUES_SHOWN = 10
_NEAR = 0.6
"""Similarity at which a name counts as a misspelling: names are short, so two swapped letters must
pass.
"""


class NoMatch(NamedTuple):
    """A request that matches nothing.

    Attributes:
        path: the field.
        message: what is missing.
        hint: what was probably meant, and what exists.
    """

    path: FieldPath
    message: Message
    hint: str = ""


def problems_of(manifest: Manifest, found: Iterable[NoMatch]) -> Iterator[Problem]:
    """Return a problem for each, with file and line of the object that asks for it."""
    return (manifest.problem(item.message, item.path, item.hint) for item in found)


def located(path: FieldPath, selector: LabelSelector) -> Iterator[tuple[FieldPath, Requirement]]:
    """Yield the requirements of a selector, each with its own field path."""
    equal, expressions = (
        # Those of matchLabels come first.
        selector.requirements()[: len(selector.match_labels)],
        selector.match_expressions,
    )
    yield from (((*path, "matchLabels", requirement.key), requirement) for requirement in equal)
    yield from (
        ((*path, "matchExpressions", index), expression)
        for index, expression in enumerate(expressions)
    )


def meant(word: str, known: Vocabulary, there_is: str) -> str:
    """Return a hint such as ``did you mean "web"? there is: db, web``.

    Args:
        word: what was written.
        known: what exists.
        there_is: the words before the list, such as ``there is``.
    """
    near = near_name(word, known)
    return " ".join(
        [
            *([f'did you mean "{near}"?'] if near else []),
            f"{there_is}: {few(known.words) or 'none'}",
        ]
    )


def near_name(word: str, known: Vocabulary) -> str:
    """Return the name that was probably meant: the nearest, or the only one that contains the word;
    empty if none.
    """
    return known.near(word, _NEAR)


def values_of_label(key: str, labels: LabelIndex, whose: str = "the members") -> str:
    """Return the values that exist for a label, the most frequent first; or that none has the
    label.
    """
    counted = labels.values.get(key)
    if counted:
        return values(key, counted, whose)
    near = labels.keys.nearest(key, _NEAR)
    return f"the label {key} is on none of them" + (f"; did you mean {near}?" if near else "")


def values(key: str, counted: Sequence[tuple[str, int]], whose: str = "the members") -> str:
    """Return a hint such as ``for region the members have europe (2), america (1)``."""
    shown = [f"{value} ({number})" for value, number in counted[:_VALUES_SHOWN]]
    more = len(counted) - _VALUES_SHOWN
    return f"for {key} {whose} have {', '.join(shown)}" + (
        f" and {count(more, 'more value')}" if more > 0 else ""
    )


def missing_labels(
    selectors: Iterable[LabelSelector | None], members: Sequence[Cluster]
) -> list[str]:
    """Return a line for each unmet requirement: ``no member has region=asia; the members have
    europe (2)``.

    Args:
        selectors: the selectors, one of which must match; None matches every member.
        members: the members.

    Returns:
        The lines; empty if a selector matches a member.
    """
    asked = [selector.requirements() if selector else () for selector in selectors]
    if not members or any(
        all(requirement.met_by(member.labels) for requirement in every)
        for every in asked
        for member in members
    ):
        return []
    # Each once, in the order in which they are written.
    unmet = dict.fromkeys(
        requirement
        for every in asked
        for requirement in every
        if not any(requirement.met_by(m.labels) for m in members)
    )
    labels = LabelIndex([member.labels for member in members])
    return [
        f"no member has {show_requirement(requirement)}; {values_of_label(requirement.key, labels)}"
        for requirement in unmet
    ]


# Find names and labels in policies that match no member.
#
# Both systems accept such policies without an error. What only one of them asks of members, its
# folder has.


_SHOWN = 3
Asked = tuple[FieldPath, Requirement, Mask]
"""Path of a requirement, the requirement, and the members that meet it."""


@attrs.frozen(slots=False)
class AskedMembers:
    """The members of a fleet, to look up what policies ask of them; each method yields what matches
    no member.

    In a fleet without members only names yield something: that members are missing is reported
    elsewhere.

    Attributes:
        inventory: the members that are scheduled on.
        lost: the members that are marked lost.
    """

    inventory: Inventory
    lost: Inventory

    @classmethod
    def of(cls, declared: Iterable[Cluster], inventory: Inventory) -> Self:
        """Return the declared members; those that are missing in the inventory count as lost."""
        return cls(
            inventory,
            Inventory(cluster for cluster in declared if inventory.position(cluster.name) is None),
        )

    def named(self, path: FieldPath, names: Iterable[str]) -> Iterator[NoMatch]:
        """Check a list of member names."""
        for index, name in enumerate(names):
            yield from self.one((*path, index), name)

    def one(self, path: FieldPath, name: str) -> Iterator[NoMatch]:
        """Check a member name."""
        # A lost member is declared, and is in no inventory that is scheduled on.
        if self.lost.position(name) is not None:
            yield NoMatch(
                path,
                Message("member-marked-lost", 'member "{name}" is marked lost', name=name),
                "nothing goes there until it is back",
            )
        elif self.inventory.position(name) is None:
            yield NoMatch(
                path,
                Message("no-member-declared", 'there is no member "{name}"', name=name),
                meant(name, self._names, "the members are"),
            )

    def labelled(self, path: FieldPath, selector: LabelSelector | None) -> Iterator[NoMatch]:
        """Check a label selector."""
        if selector is None or not self.inventory:
            return
        if selector.error:
            yield NoMatch(
                path,
                Message("selects-no-member", "selects no member: {error}", error=selector.error),
            )
        elif not self.inventory.matching(selector):
            domains = self.inventory.domains
            asked = [
                (at, requirement, self.inventory.meeting(requirement, domains(requirement.key)))
                for at, requirement in located(path, selector)
            ]
            yield from self.unmet(path, asked, self.lost.matching(selector), self._values_of_label)

    def label(self, path: FieldPath, key: str) -> Iterator[NoMatch]:
        """Check the key of a label."""
        if not self.inventory or self.inventory.domains(key):
            return
        what = Message("no-member-has-label-key", 'no member has the label "{key}"', key=key)
        # Lost members may have the label: that is another mistake than a misspelt key.
        gone = self.lost.matching(LabelSelector({}, (Requirement(key, "Exists"),)))
        yield NoMatch(
            path, what, self.only_lost(gone) or meant(key, self._labels.keys, "they have")
        )

    def label_of(self, path: FieldPath, key: str, selected: Sequence[Cluster]) -> Iterator[NoMatch]:
        """Check the key of a label that some of the members which a rule selects should have."""
        found = list(self.label(path, key))
        yield from found
        if not found and not any(key in cluster.labels for cluster in selected):
            theirs = Vocabulary(label for cluster in selected for label in cluster.labels)
            yield NoMatch(
                path,
                Message(
                    "no-member-selects-label",
                    'no member that it selects has the label "{key}"',
                    key=key,
                ),
                meant(key, theirs, "they have"),
            )

    def unmet(
        self, path: FieldPath, asked: Sequence[Asked], gone: Mask, instead: Callable[[str], str]
    ) -> Iterator[NoMatch]:
        """Yield the requirements that no member meets, or the whole selector if each is met by some
        member.

        Args:
            path: the path of the selector.
            asked: its requirements.
            gone: the lost members that it matches.
            instead: returns a hint about what the members have for a key.
        """
        shown = {at: show_requirement(requirement) for at, requirement, _ in asked}
        if gone:
            yield NoMatch(
                path,
                Message(
                    "no-member-has-values",
                    "no member has {values}",
                    values=", ".join(shown.values()),
                ),
                self.only_lost(gone),
            )
            return
        unmet = [(at, requirement) for at, requirement, members in asked if not members]
        yield from (
            NoMatch(
                at,
                Message("no-member-has-labels", "no member has {shown}", shown=shown[at]),
                instead(requirement.key),
            )
            for at, requirement in unmet
        )
        # Each requirement is met by some member, and no member meets all.
        if not unmet:
            whose = [f"{shown[at]}: {self._few(members)}" for at, _, members in asked]
            yield NoMatch(
                path,
                Message(
                    "no-member-all",
                    "no member has all of {values}",
                    values=", ".join(shown.values()),
                ),
                "; ".join(whose),
            )

    @cached_property
    def _labels(self) -> LabelIndex:
        return LabelIndex([cluster.labels for cluster in self.inventory.clusters])

    @cached_property
    def _names(self) -> Vocabulary:
        return Vocabulary((*self.inventory.names, *self.lost.names))

    def _few(self, members: Mask) -> str:
        return few(
            [self.inventory.names[position] for position in masks.positions(members)], _SHOWN
        )

    def only_lost(self, gone: Mask | None) -> str:
        """Return a note that only lost members match; empty if none of those matches either."""
        names = [self.lost.names[position] for position in masks.positions(gone or 0)]
        return f"but for {few(names)}, marked lost" if names else ""

    def _values_of_label(self, key: str) -> str:
        known_values = values_of_label(key, self._labels)
        known = f"they have: {few(self._labels.keys.words) or 'none'}"
        return (
            known_values
            if self.inventory.domains(key)
            else f"{known_values}{' ' if known_values.endswith('?') else '; '}{known}"
        )
