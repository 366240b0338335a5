"""Labels of many objects or members, so that a selector is held against few of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

import attrs

from fleet_components.model.selector import Labels, LabelSelector, Requirement
from fleet_components.model.text import Vocabulary


@attrs.frozen(eq=False, slots=False)
class LabelIndex:
    """Labels by their position in a list.

    Attributes:
        labels: the labels of each object.
    """

    labels: Sequence[Labels]

    def matching(self, selector: LabelSelector) -> list[int]:
        """Return the positions that a selector matches, in order."""
        return [position for position in self._candidates(selector) if selector.matches(self.labels[position])]

    def meets(self, requirement: Requirement) -> bool:
        """Return whether any of the objects satisfies a requirement."""
        match requirement.operator:
            case "In":
                return any((requirement.key, value) in self._with_value for value in requirement.values)
            case "NotIn":
                values = set(requirement.values)
                excluded = sum(len(self._with_value.get((requirement.key, value), ())) for value in values)
                return excluded < len(self.labels)
            case "DoesNotExist":
                return len(self._with_key.get(requirement.key, ())) < len(self.labels)
        return requirement.key in self._with_key

    @cached_property
    def values(self) -> dict[str, list[tuple[str, int]]]:
        """The values of each label with their number, the most frequent first."""
        found = defaultdict(list)
        for (key, value), positions in self._with_value.items():
            found[key].append((value, len(positions)))
        return {key: by_number(counted) for key, counted in found.items()}

    @cached_property
    def keys(self) -> Vocabulary:
        """The keys of all labels."""
        return Vocabulary(self.values)

    @cached_property
    def _with_key(self) -> dict[str, list[int]]:
        found = defaultdict(list)
        for position, labels in enumerate(self.labels):
            for key in labels:
                found[key].append(position)
        return dict(found)

    @cached_property
    def _with_value(self) -> dict[tuple[str, str], list[int]]:
        found = defaultdict(list)
        for position, labels in enumerate(self.labels):
            for pair in labels.items():
                found[pair].append(position)
        return dict(found)

    def _candidates(self, selector: LabelSelector) -> Iterable[int]:
        """Return the positions that meet the requirement which the fewest meet; all, if none names what it wants."""
        asked = [
            self._wanted(requirement)
            for requirement in selector.requirements()
            if requirement.operator in ("In", "Exists")
        ]
        fewest = min(asked, key=lambda lists: sum(map(len, lists)), default=[range(len(self.labels))])
        return fewest[0] if len(fewest) == 1 else sorted({position for found in fewest for position in found})

    def _wanted(self, requirement: Requirement) -> list[Sequence[int]]:
        if requirement.operator == "Exists":
            return [self._with_key.get(requirement.key, ())]
        return [self._with_value.get((requirement.key, value), ()) for value in requirement.values]


def by_number(counted: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return values with their numbers, the most frequent first."""
    return sorted(counted, key=lambda pair: (-pair[1], pair[0]))
