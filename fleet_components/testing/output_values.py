"""Outputs among the properties that a transform sees: secrets, unknown values, and what depends on other resources.

Source: ``RegisterResource``, ``upgradeOutputValues`` and ``downgradeOutputValues`` of the engine (pulumi/pulumi
``pkg/resource/deploy/source_eval.go``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pulumi.runtime.rpc import UNKNOWN

from fleet_components.plan.state import OUTPUT_MARK, SECRET_MARK, is_marked_output, is_marked_secret


def with_outputs(properties: Mapping[str, Any], dependencies: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    """Return properties in which secrets, unknown values and what depends on other resources are outputs.

    Args:
        properties: the properties in wire form.
        dependencies: the URNs that a property depends on, by property.
    """
    found = {key: _raised(value) for key, value in properties.items()}
    return {key: _depending(value, sorted(dependencies.get(key, ()))) for key, value in found.items()}


def without_outputs(value: Any) -> Any:
    """Return a value in wire form in which secrets and unknown values are marked as such, and nothing is an output."""
    if is_marked_output(value):
        plain = without_outputs(value["value"]) if "value" in value else UNKNOWN
        return {**SECRET_MARK, "value": plain} if value.get("secret") and not is_marked_secret(plain) else plain
    if isinstance(value, Mapping):
        return {key: without_outputs(item) for key, item in value.items()}
    return [without_outputs(item) for item in value] if isinstance(value, list) else value


def depended_on(value: Any) -> Iterator[str]:
    """Yield the URNs that the outputs in a value depend on."""
    if is_marked_output(value):
        yield from value.get("dependencies", ())
    if isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from depended_on(item)


def _raised(value: Any) -> Any:
    if value == UNKNOWN:
        return dict(OUTPUT_MARK)
    if is_marked_secret(value):
        known = {} if value["value"] == UNKNOWN else {"value": _raised(value["value"])}
        return {**OUTPUT_MARK, **known, "secret": True}
    if isinstance(value, Mapping):
        return {key: _raised(item) for key, item in value.items()}
    return [_raised(item) for item in value] if isinstance(value, list) else value


def _depending(value: Any, urns: list[str]) -> Any:
    if not urns:
        return value
    output = value if is_marked_output(value) else {**OUTPUT_MARK, "value": value}
    return {**output, "dependencies": urns}
