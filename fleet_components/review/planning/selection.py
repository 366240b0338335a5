"""Members as a command line selects them: by name, by a pattern of names, or by a label."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cached_property

import attrs

from fleet_components.model.cluster import REGION_LABELS, Cluster
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import Vocabulary, count, few, nearest

REGION, MEMBER = "region", "member"
SPEC_REGION, SPEC_PROVIDER = "spec.region", "spec.provider"
_REGIONS = (*REGION_LABELS, SPEC_REGION)
_PATTERN = "*?["
_MOST_NAMED = 10


@attrs.frozen
class Selected:
    """Members that were selected.

    Attributes:
        names: their names, sorted; at least one.
        words: how they were selected, for a sentence: a name, or a label with the members that have
            it.
    """

    names: tuple[str, ...]
    words: str


@attrs.frozen
class Grouping:
    """The members by the value of one label.

    Attributes:
        key: the label, or the labels that are taken for it.
        groups: the names of the members, by value; both sorted.
        without: the members without the label.
    """

    key: str
    groups: Mapping[str, tuple[str, ...]]
    without: tuple[str, ...] = ()


@attrs.frozen
class SelectableMembers:
    """The members of a fleet, of which some are selected.

    Attributes:
        clusters: the members; of each only name, labels, region and provider count.
    """

    clusters: tuple[Cluster, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Their names, sorted."""
        return tuple(sorted(cluster.name for cluster in self.clusters))

    def of(self, names: Iterable[str]) -> SelectableMembers:
        """Return the members with these names alone."""
        kept = frozenset(names)
        return SelectableMembers(
            tuple(cluster for cluster in self.clusters if cluster.name in kept)
        )

    def selected(self, text: str) -> Selected:
        """Return the members that a text selects: ``NAME``, a pattern as ``eu-*``, or
        ``LABEL=VALUE``.

        Raises:
            FleetError: it selects no member, or it is not clear which label is meant.
        """
        if "=" in text:
            return self._labelled(*text.split("=", 1))
        # Likewise a name counts before a pattern.
        if text in self.names:
            return Selected((text,), text)
        found = (
            tuple(name for name in self.names if fnmatchcase(name, text))
            if is_pattern(text)
            else ()
        )
        if found:
            return Selected(found, selection_text(text, found))
        meant = nearest(text, self.names)
        hint = (
            f"did you mean {meant}?"
            if meant
            else f"the members are: {few(self.names, _MOST_NAMED) or 'none'}"
        )
        raise FleetError(
            [Problem(Message("no-member", 'there is no member "{text}"', text=text), hint=hint)]
        )

    def _labelled(self, key: str, value: str) -> Selected:
        by = self.grouped(key)
        found = [
            name
            for group, names in by.groups.items()
            # A value counts as it is, even if it has the characters of a pattern.
            if group == value or _fits(group, value)
            for name in names
        ]
        if found:
            return Selected(tuple(sorted(found)), selection_text(f"{by.key}={value}", found))
        meant = nearest(value, by.groups)
        hint = (
            f"did you mean {meant}?"
            if meant
            else f"its values are: {few(tuple(by.groups), _MOST_NAMED)}"
        )
        raise FleetError(
            [
                Problem(
                    Message(
                        "no-member-with-label-value",
                        "no member has {key}={value}",
                        key=by.key,
                        value=value,
                    ),
                    hint=hint,
                )
            ]
        )

    def grouped(self, key: str) -> Grouping:
        """Return the members by the value of a label, or each by itself under its name for
        ``member``.

        Args:
            key: the label, its last part alone if no other one ends with it, or ``region`` for the
                well-known labels of the region.

        Raises:
            FleetError: no member has such a label, or several labels could be meant.
        """
        # A label of this name counts before the word.
        if key == MEMBER and key not in self._keys:
            return Grouping(MEMBER, {name: (name,) for name in self.names})
        keys = self._meant(key)
        found: dict[str, list[str]] = defaultdict(list)
        for cluster in self.clusters:
            # A set: labels of the region may have the same value, and count once.
            for value in {traits(cluster)[each] for each in keys if each in traits(cluster)}:
                found[value].append(cluster.name)
        groups = {value: tuple(sorted(found[value])) for value in sorted(found)}
        having = {name for names in groups.values() for name in names}
        return Grouping(
            " or ".join(keys), groups, tuple(name for name in self.names if name not in having)
        )

    def meant(self, key: str) -> str:
        """Return the one label that a key is short for.

        Raises:
            FleetError: no member has such a label, or several labels could be meant.
        """
        # Several only for a region, whose labels no member has with two values.
        keys = self._meant(key)
        if len(keys) > 1:
            raise _ambiguous(key, keys)
        return keys[0]

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset(key for cluster in self.clusters for key in traits(cluster))

    def _meant(self, key: str) -> tuple[str, ...]:
        """Return the labels that a key stands for; several for a region only, of which no member
        has two values.
        """
        if key in self._keys:
            return (key,)
        if key == REGION and (
            found := tuple(region for region in _REGIONS if region in self._keys)
        ):
            for cluster in self.clusters:
                if len({traits(cluster)[text] for text in found if text in traits(cluster)}) > 1:
                    raise _ambiguous(key, found, f" on {cluster.name}")
            return found
        ends = sorted(text for text in self._keys if text.endswith((f"/{key}", f".{key}")))
        if len(ends) == 1:
            return (ends[0],)
        if ends:
            raise _ambiguous(key, ends)
        # Only their ends, so that a misspelled end finds the label with its domain.
        last = {re.split("[./](?=[^./]*$)", text)[-1] for text in self._keys}
        meant = Vocabulary({*self._keys, *last, REGION}).near(key)
        known = few(sorted(self._keys), _MOST_NAMED) or "none"
        hint = f"did you mean {meant}?" if meant else f"the labels of the members are: {known}"
        raise FleetError(
            [
                Problem(
                    Message("no-member-label", 'no member has a label "{key}"', key=key), hint=hint
                )
            ]
        )


def traits(cluster: Cluster) -> Mapping[str, str]:
    """Return what a member is selected by: its labels, and the region and the provider that Karmada
    knows.
    """
    # A region may come from a label, which then stands for it.
    labelled = cluster.region in {cluster.labels.get(key) for key in REGION_LABELS}
    own = {SPEC_REGION: "" if labelled else cluster.region, SPEC_PROVIDER: cluster.provider}
    return {**cluster.labels, **{key: value for key, value in own.items() if value}}


def selection_text(what: str, names: Iterable[str]) -> str:
    """Return what was selected, with the members that are: ``region=eu (2 members: a, b)``."""
    found = sorted(names)
    return f"{what} ({count(len(found), 'member')}: {few(found)})"


def is_pattern(text: str) -> bool:
    """Return whether a text is a pattern of names, as ``eu-*``."""
    return any(char in text for char in _PATTERN)


def _fits(value: str, pattern: str) -> bool:
    return is_pattern(pattern) and fnmatchcase(value, pattern)


def _ambiguous(key: str, candidates: Iterable[str], where: str = "") -> FleetError:
    what = Message(
        "could-any-several-labels",
        '"{key}" could be any of several labels{where}',
        key=key,
        where=where,
    )
    return FleetError([Problem(what, hint=f"write one of: {', '.join(candidates)}")])
