"""Label selectors, evaluated as the Kubernetes API machinery does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import attrs

from fleet_components.model.labels import KUBERNETES_1_34, key_errors, value_errors
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
        """The API machinery's error for an invalid requirement, in the words of KubeFleet's release; empty if none."""
        if self.operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            return f"{_quoted(self.operator)} is not a valid label selector operator"
        errors = list(self._errors())
        return errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]" if errors else ""

    def _errors(self) -> Iterator[str]:
        if wrong := key_errors(self.key, KUBERNETES_1_34):
            yield f"key: Invalid value: {_quoted(self.key)}: {'; '.join(wrong)}"
        if self.operator in ("In", "NotIn") and not self.values:
            yield "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
        if self.operator in ("Exists", "DoesNotExist") and self.values:
            shown = _quoted(self.values)
            yield f"values: Invalid value: {shown}: values set must be empty for exists and does not exist"
        for index, value in enumerate(self.values):
            if wrong := value_errors(value, KUBERNETES_1_34):
                yield f"values[{index}][{self.key}]: Invalid value: {_quoted(value)}: {'; '.join(wrong)}"

    @property
    def valid(self) -> bool:
        """True if the API machinery accepts the requirement: operator, number of values, label key and label values."""
        return not self.error

    def met_by(self, labels: Labels) -> bool:
        """Return whether the requirement is valid and the labels satisfy it."""
        return self.valid and self.matches(labels)

    def matches(self, labels: Labels) -> bool:
        """Return whether the labels satisfy the requirement. ``NotIn`` holds if the label is absent.

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
        """Error of the API machinery for the first invalid requirement; empty if the selector is valid."""
        return next((requirement.error for requirement in self.requirements() if requirement.error), "")

    def matches(self, labels: Labels) -> bool:
        """Return whether the labels satisfy all requirements."""
        return all(requirement.matches(labels) for requirement in self.requirements())


def _quoted(value: str | Sequence[str]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
