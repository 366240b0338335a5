"""The parts of an override of KubeFleet that may be left out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fleet_components.content.override_parts import Part, whole
from fleet_components.content.patch import pointer_steps
from fleet_components.model.manifest import Manifest
from fleet_components.systems.kubefleet.content.override import RULES

_FOR_NONE: Mapping[str, Any] = MappingProxyType({"jsonPatchOverrides": []})
"""A rule that is for no member."""
_OPERATIONS = "jsonPatchOverrides"


def parts_of(override: Manifest) -> tuple[Part, ...]:
    """Return the rules of an override, each with the operations of its patch."""
    rules = override.data["spec"].get("policy", {}).get("overrideRules") or ()
    return tuple(_rule(str(override.key), index, rule) for index, rule in enumerate(rules))


def _rule(override: str, index: int, rule: Mapping[str, Any]) -> Part:
    part = Part(override, index, (*RULES, index), (*RULES, index), rule, neutral=_FOR_NONE)
    operations = enumerate(rule.get(_OPERATIONS) or ())
    return whole(
        part,
        tuple(
            part.below((_OPERATIONS, place), item, pointer_steps(item["path"]))
            for place, item in operations
        ),
    )
