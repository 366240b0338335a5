"""Webhook checks of property selectors: names, operators, quantities, and contradictions between
requirements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import attrs

from fleet_components.admission.decode import canonical
from fleet_components.admission.finding import Finding
from fleet_components.admission.registry import Object
from fleet_components.model.labels import KUBERNETES_1_34, key_errors, subdomain_errors
from fleet_components.model.quantity import Quantity, is_quantity, parse_quantity

_RESOURCE_PREFIX = "resources.kubernetes-fleet.io/"
_CAPACITIES = ("allocatable", "available", "total")
_OPERATORS = ("Gt", "Ge", "Eq", "Ne", "Lt", "Le")
_SINGLE_VALUE = 'write, for example, values: ["5"]'
_A_QUANTITY = 'write a number or a quantity, such as values: ["16Gi"]'


def check_property_selector(selector: Object) -> Iterator[Finding]:
    """Yield findings on the requirements of a property selector, each alone and those on the same
    property together.
    """
    requirements: Sequence[Object] = selector["matchExpressions"]
    for index, requirement in enumerate(requirements):
        yield from (finding.under(index) for finding in _check_requirement(requirement))
    for name in dict.fromkeys(each["name"] for each in requirements):
        same = [each for each in requirements if each["name"] == name]
        error = _contradiction(same)
        if error:
            what = f"inconsistent requirements on property {name}: {error}"
            yield Finding(
                what,
                (requirements.index(same[-1]),),
                "no cluster can satisfy both; change one of them",
            )


def check_each_property(selector: Object) -> Iterator[Finding]:
    """Yield findings on the requirements of a property selector, each alone, as in releases that
    do not compare them.
    """
    for index, requirement in enumerate(selector["matchExpressions"]):
        yield from (finding.under(index) for finding in _check_alone(requirement))


def property_name_error(name: str) -> str:
    """Return the error of a property's name; empty if it is valid."""
    if name.startswith(_RESOURCE_PREFIX):
        return _resource_name_error(name)
    first, *others = name.split("/")
    if not others:
        errors = key_errors(name, KUBERNETES_1_34)
        return f"property name {name} is not valid: {'; '.join(errors)}" if errors else ""
    subdomain, qualified = (
        subdomain_errors(first, KUBERNETES_1_34),
        key_errors(first, KUBERNETES_1_34),
    )
    # Either form is enough.
    if subdomain and qualified:
        return (
            f"property name first segment {first} is not valid: it is neither a valid DNS subdomain"
            f" ({'; '.join(subdomain)}) nor a valid qualified name ({'; '.join(qualified)})"
        )
    for segment in others:
        errors = key_errors(segment, KUBERNETES_1_34)
        if errors:
            return f"property name segment {segment} is not valid: {'; '.join(errors)}"
    return ""


def _resource_name_error(name: str) -> str:
    capacity, dash, _ = name.removeprefix(_RESOURCE_PREFIX).partition("-")
    if not dash:
        return (
            f"invalid resource property name {name}, expected format is"
            " [PREFIX]/[CAPACITY_TYPE]-[RESOURCE_NAME]"
        )
    if capacity not in _CAPACITIES:
        known = " ".join(_CAPACITIES)
        return (
            f"invalid capacity type in resource property name {name}, supported values are"
            f" [{known}]"
        )
    errors = key_errors(name, KUBERNETES_1_34)
    return f"property name {name} is not valid: {'; '.join(errors)}" if errors else ""


def _check_alone(requirement: Object) -> Iterator[Finding]:
    name, operator, values = requirement["name"], requirement["operator"], requirement["values"]
    yield from _check_name(name)
    if operator in _OPERATORS and len(values) != 1:
        yield Finding(
            f"operator {operator} requires exactly one value, got {len(values)}",
            ("values",),
            _SINGLE_VALUE,
        )
    for place, value in enumerate(values):
        error = _quantity_error(value)
        if error:
            what = (
                f"invalid values for property {name}: value {value} is not a valid"
                f" resource.Quantity: {error}"
            )
            yield Finding(what, ("values", place), _A_QUANTITY)
            return


def _check_name(name: str) -> Iterator[Finding]:
    error = property_name_error(name)
    if error:
        do = "write, for example, name: resources.kubernetes-fleet.io/available-cpu"
        yield Finding(f"invalid property name {name}: {error}", ("name",), do)


def _check_requirement(requirement: Object) -> Iterator[Finding]:
    name, operator, values = requirement["name"], requirement["operator"], requirement["values"]
    yield from _check_name(name)
    prefix = f"invalid requirement on property {name}:"
    if operator not in _OPERATORS:
        yield Finding(
            f"{prefix} unsupported operator {operator}",
            ("operator",),
            f"one of {', '.join(_OPERATORS)}",
        )
    elif len(values) != 1:
        what = f"{prefix} operator {operator} requires exactly one value, got {len(values)}"
        yield Finding(what, ("values",), _SINGLE_VALUE)
    elif error := _quantity_error(values[0]):
        what = f'{prefix} value "{values[0]}" is not a valid resource.Quantity: {error}'
        yield Finding(what, ("values", 0), _A_QUANTITY)


def _quantity_error(value: str) -> str:
    try:
        parse_quantity(value)
    except ValueError as error:
        return str(error)
    return ""


def _contradiction(requirements: Sequence[Object]) -> str:
    """Return why no value satisfies all of these requirements on one property; malformed ones are
    ignored.
    """
    if len(requirements) < 2:
        return ""
    sound = [
        each for each in requirements if len(each["values"]) == 1 and is_quantity(each["values"][0])
    ]
    equal, unequal = _values(sound, "Eq"), _values(sound, "Ne")
    # Neighbours are enough: if each equals the next, all are equal.
    for value, other in pairwise(equal):
        if value.amount != other.amount:
            return f"conflicting Eq values {value} and {other}"
    # All Eq values are the same here, so the last one stands for them.
    if equal and any(equal[-1].amount == other.amount for other in unequal):
        return f"conflicting Eq and Ne on same value {equal[-1]}"
    # Of two bounds with the same amount, the strict one excludes more.
    lower = max(_values(sound, "Gt", "Ge"), key=lambda it: (it.amount, it.strict), default=None)
    upper = min(_values(sound, "Lt", "Le"), key=lambda it: (it.amount, not it.strict), default=None)
    if lower and upper and not lower.admits(upper):
        return f"lower bound ({lower}) and upper bound ({upper}) exclude all values"
    if equal and lower and not lower.admits(equal[-1]):
        return f"eq value {equal[-1]} violates lower bound {lower}"
    if equal and upper and not equal[-1].admits(upper):
        return f"eq value {equal[-1]} violates upper bound {upper}"
    return ""


@attrs.frozen
class _Value:
    """Value of a requirement as a bound; ``strict`` if the bound itself is not allowed."""

    amount: Quantity
    strict: bool
    text: str

    def admits(self, upper: _Value) -> bool:
        """Return whether any value lies between this lower bound and the upper one."""
        return self.amount < upper.amount or (
            self.amount == upper.amount and not self.strict and not upper.strict
        )

    def __str__(self) -> str:
        return canonical(self.text)


def _values(requirements: Sequence[Object], *operators: str) -> list[_Value]:
    chosen = [each for each in requirements if each["operator"] in operators]
    return [
        _Value(
            parse_quantity(each["values"][0]), each["operator"] in ("Gt", "Lt"), each["values"][0]
        )
        for each in chosen
    ]
