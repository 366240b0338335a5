"""Label selectors, as the Kubernetes API machinery evaluates them."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from fleet_components.model.labels import key_errors, value_errors

Labels = Mapping[str, str]


@attrs.frozen
class Requirement:
    """One ``matchExpressions`` entry.

    Attributes:
        key: the label.
        operator: ``In``, ``NotIn``, ``Exists`` or ``DoesNotExist``.
        values: the values of ``In`` and ``NotIn``; empty for the others.
    """

    key: str
    operator: str
    values: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the API machinery takes it: an operator with what it needs, a label key and label values."""
        if key_errors(self.key) or any(map(value_errors, self.values)):
            return False
        if self.operator in ("In", "NotIn"):
            return bool(self.values)
        return self.operator in ("Exists", "DoesNotExist") and not self.values

    def matches(self, labels: Labels) -> bool:
        """Whether the labels satisfy it. ``NotIn`` holds for an absent label.

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
class LabelSelector:
    """A selector: all of ``match_labels`` and all of ``match_expressions``. The empty one matches all."""

    match_labels: Labels = attrs.field(factory=dict)
    match_expressions: tuple[Requirement, ...] = ()

    def requirements(self) -> tuple[Requirement, ...]:
        """All that is asked for, in one form."""
        equal = (Requirement(key, "In", (value,)) for key, value in self.match_labels.items())
        return (*equal, *self.match_expressions)

    def matches(self, labels: Labels) -> bool:
        """Whether the labels satisfy every requirement."""
        return all(requirement.matches(labels) for requirement in self.requirements())
