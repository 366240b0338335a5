"""Label selectors, evaluated as the Kubernetes API machinery does."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import attrs

from fleet_components.model.labels import KUBERNETES_1_34, key_errors, value_errors
from fleet_components.model.text import Vocabulary
from fleet_components.model.typed import TRUSTED, Typed

Labels = Mapping[str, str]


@attrs.frozen
class Requirement(Typed):
    """One ``matchExpressions`` entry.

    Attributes:
        key: the label key.
        operator: ``In``, ``NotIn``, ``Exists`` or ``DoesNotExist``.
        values: the values for ``In`` and ``NotIn``; empty for the others.
    """

    key: str
    operator: str
    values: tuple[str, ...] = ()

    @property
    def error(self) -> str:
        """The API machinery's error for an invalid requirement, in the words of KubeFleet's
        release; empty if none.
        """
        if self.operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            return f"{_quoted(self.operator)} is not a valid label selector operator"
        errors = list(self._errors())
        # An aggregate of apimachinery prints several errors in brackets, and a single one without.
        return errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]" if errors else ""

    def _errors(self) -> Iterator[str]:
        wrong = key_errors(self.key, KUBERNETES_1_34)
        if wrong:
            yield f"key: Invalid value: {_quoted(self.key)}: {'; '.join(wrong)}"
        if self.operator in ("In", "NotIn") and not self.values:
            yield (
                "values: Invalid value: null: for 'in', 'notin' operators, values set can't be"
                " empty"
            )
        if self.operator in ("Exists", "DoesNotExist") and self.values:
            shown = _quoted(self.values)
            yield (
                f"values: Invalid value: {shown}: values set must be empty for exists and does not"
                " exist"
            )
        for index, value in enumerate(self.values):
            wrong = value_errors(value, KUBERNETES_1_34)
            if wrong:
                yield (
                    f"values[{index}][{self.key}]: Invalid value: {_quoted(value)}:"
                    f" {'; '.join(wrong)}"
                )

    @property
    def valid(self) -> bool:
        """True if the API machinery accepts the requirement: operator, number of values, label key
        and label values.
        """
        return not self.error

    def met_by(self, labels: Labels) -> bool:
        """Return whether the requirement is valid and the labels satisfy it."""
        return self.valid and self.matches(labels)

    def matches(self, labels: Labels) -> bool:
        """Return whether the labels satisfy the requirement. ``NotIn`` holds if the label is
        absent.

        Raises:
            ValueError: the operator is unknown.
        """
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
        raise ValueError(f'"{self.operator}" is not a valid label selector operator')


@attrs.frozen
class LabelSelector(Typed):
    """A label selector: all of ``match_labels`` and ``match_expressions`` must hold.

    The empty selector matches everything.
    """

    match_labels: Labels = attrs.field(factory=dict)
    match_expressions: tuple[Requirement, ...] = ()

    def requirements(self) -> tuple[Requirement, ...]:
        """Return all conditions as requirements, those of ``match_labels`` first."""
        return self._requirements

    @cached_property
    @TRUSTED
    def _requirements(self) -> tuple[Requirement, ...]:
        equal = [Requirement(key, "In", (value,)) for key, value in self.match_labels.items()]
        return (*equal, *self.match_expressions)

    @cached_property
    def error(self) -> str:
        """Error of the API machinery for the first invalid requirement; empty if the selector is
        valid.
        """
        return next(
            (requirement.error for requirement in self.requirements() if requirement.error), ""
        )

    def matches(self, labels: Labels) -> bool:
        """Return whether the labels satisfy all requirements."""
        return all(requirement.matches(labels) for requirement in self.requirements())


def _quoted(value: str | Sequence[str]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Labels of many objects or members, so that a selector is held against few of them.


@attrs.frozen(eq=False, slots=False)
class LabelIndex:
    """Labels by their position in a list.

    Attributes:
        labels: the labels of each object.
    """

    labels: Sequence[Labels]

    def matching(self, selector: LabelSelector) -> list[int]:
        """Return the positions that a selector matches, in order."""
        return [
            position
            for position in self._candidates(selector)
            if selector.matches(self.labels[position])
        ]

    def meets(self, requirement: Requirement) -> bool:
        """Return whether any of the objects satisfies a requirement."""
        match requirement.operator:
            case "In":
                return any(
                    (requirement.key, value) in self._with_value for value in requirement.values
                )
            case "NotIn":
                values = set(requirement.values)
                # An object has one value for a key, so that no object is counted twice.
                excluded = sum(
                    len(self._with_value.get((requirement.key, value), ())) for value in values
                )
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
        """Return the positions that meet the requirement which the fewest meet; all, if none names
        what it wants.
        """
        # NotIn and DoesNotExist are left out: nearly every object meets them.
        asked = [
            self._wanted(requirement)
            for requirement in selector.requirements()
            if requirement.operator in ("In", "Exists")
        ]
        fewest = min(
            asked, key=lambda lists: sum(map(len, lists)), default=[range(len(self.labels))]
        )
        # One list is in order already, and its positions are unique.
        return (
            fewest[0]
            if len(fewest) == 1
            else sorted({position for found in fewest for position in found})
        )

    def _wanted(self, requirement: Requirement) -> list[Sequence[int]]:
        if requirement.operator == "Exists":
            return [self._with_key.get(requirement.key, ())]
        return [self._with_value.get((requirement.key, value), ()) for value in requirement.values]


def by_number(counted: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return values with their numbers, the most frequent first."""
    return sorted(counted, key=lambda pair: (-pair[1], pair[0]))
