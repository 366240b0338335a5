"""Applies KubeFleet's overrides to the objects of a placement on their way to a member.

ClusterResourceOverrides are applied first, by name, then ResourceOverrides, by namespace and name: what is applied last
wins. An override that selects a Namespace applies to everything in it as well.

Source: ``pkg/utils/overrider/overrider.go`` and ``pkg/controllers/workgenerator/override.go`` of KubeFleet v0.3.1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.guarded import read_json
from fleet_components.content.overridden import Overridden, OverrideError, Step, patched
from fleet_components.content.patch import Operation
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import decode, encode
from fleet_components.model.kubefleet.override import (
    CLUSTER_OVERRIDE,
    DELETE,
    JSONPatchOverride,
    OverrideRule,
    OverrideTarget,
    ResourceOverride,
)
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.problem import Problem

_NAME = "${MEMBER-CLUSTER-NAME}"
_LABEL = "${MEMBER-CLUSTER-LABEL-KEY-"
_NAMESPACE = ("v1", "Namespace")
RULES = ("spec", "policy", "overrideRules")
"""Path of the rules in an override."""
_HINT = "change the rule, or leave {cluster} out of its clusterSelector"


@attrs.frozen
class RuleInForce:
    """A rule that selects a member, with the member's values for its variables.

    Attributes:
        index: position in the override, from 0.
        deletes: True if it deletes the object.
        json_patch_overrides: its patch.
        fails: why its variables have no value; empty if they have.
    """

    index: int
    deletes: bool = False
    json_patch_overrides: tuple[JSONPatchOverride, ...] = ()
    fails: str = ""


@attrs.frozen
class OverrideInForce:
    """An override that applies on a member, with what its effect depends on.

    Attributes:
        kind: its kind.
        name: its name.
        namespace: its namespace; empty for a ClusterResourceOverride.
        targets: the objects of the placement that it selects, and the namespaces of others.
        rules: its rules that select the member, in order; never empty.
    """

    kind: str
    name: str
    namespace: str = ""
    targets: tuple[OverrideTarget, ...] = ()
    rules: tuple[RuleInForce, ...] = ()

    @property
    def key(self) -> str:
        """``Kind namespace/name``."""
        return str(ObjectKey("", self.kind, self.namespace, self.name))


def in_force(
    objects: Iterable[Mapping[str, Any]], cluster: Cluster, overrides: Iterable[ResourceOverride], placement: str
) -> tuple[OverrideInForce, ...]:
    """Return the overrides that apply to objects on a member, in the order in which they are applied.

    Args:
        objects: the objects of a placement.
        cluster: the member.
        overrides: overrides of both kinds, in any order.
        placement: the placement, as ``name`` or ``namespace/name``.
    """
    known = {target for data in objects for target in targets_of(Manifest(data))}
    found = []
    for override in sorted(overrides, key=_order):
        targets = tuple(target for target in override.targets if target in known)
        if targets and override.is_for(placement):
            manifest = override.manifest
            rules = tuple(
                _in_force(index, rule, cluster)
                for index, rule in enumerate(override.spec.policy.override_rules)
                if rule.applies_to(cluster)
            )
            if rules:
                found.append(OverrideInForce(manifest.kind, manifest.name, manifest.namespace, targets, rules))
    return tuple(found)


def apply_overrides(
    objects: Iterable[Mapping[str, Any]], overrides: Sequence[OverrideInForce], cluster: str
) -> list[Overridden]:
    """Return what overrides make of each object.

    Args:
        objects: the objects.
        overrides: the overrides that apply, in order.
        cluster: name of the member, for messages.
    """
    by_target: dict[OverrideTarget, list[OverrideInForce]] = {}
    for override in overrides:
        for target in override.targets:
            by_target.setdefault(target, []).append(override)
    found = []
    for data in objects:
        # The targets of an object begin with those of ClusterResourceOverrides, which ResourceOverrides win over.
        concerning = [override for target in targets_of(Manifest(data)) for override in by_target.get(target, ())]
        found.append(_overridden(data, concerning, cluster))
    return found


def targets_of(manifest: Manifest) -> tuple[OverrideTarget, ...]:
    """Return the names under which overrides may select an object."""
    own = OverrideTarget(manifest.version, manifest.kind, manifest.name, manifest.group, manifest.namespace)
    if not manifest.namespace:
        return (own,)
    return OverrideTarget(*_NAMESPACE, manifest.namespace), own


def read_in_force(data: Any) -> OverrideInForce:
    """Read an override back from its wire form.

    Raises:
        MisfitError: it is not one.
    """
    return decode(OverrideInForce, data)


def write_in_force(override: OverrideInForce) -> dict[str, Any]:
    """Return the wire form of an override that applies."""
    wire: dict[str, Any] = encode(override)
    return wire


def _order(override: ResourceOverride) -> tuple[bool, str, str]:
    manifest = override.manifest
    return manifest.kind != CLUSTER_OVERRIDE, manifest.namespace, manifest.name


def _in_force(index: int, rule: OverrideRule, cluster: Cluster) -> RuleInForce:
    if rule.override_type == DELETE:
        return RuleInForce(index, deletes=True)
    try:
        patch = tuple(
            attrs.evolve(operation, value=_with_values(operation.value, cluster))
            for operation in rule.json_patch_overrides
        )
    except OverrideError as error:
        return RuleInForce(index, fails=str(error))
    return RuleInForce(index, json_patch_overrides=patch)


def _with_values(value: Any, cluster: Cluster) -> Any:
    """Return the value of a patch with a member's name and labels in place of the variables, in keys too."""
    text = json.dumps(value, ensure_ascii=False)
    if "${" not in text:
        return value
    text = text.replace(_NAME, cluster.name)
    while (start := text.find(_LABEL)) >= 0:
        key, closed, _ = text[start + len(_LABEL) :].partition("}")
        if not closed:
            raise OverrideError(f"input {text} is missing the closing bracket `}}`")
        if key not in cluster.labels:
            raise OverrideError(f"label key {key} not found on cluster {cluster.name}")
        text = text.replace(f"{_LABEL}{key}}}", cluster.labels[key])
    return read_json(text.encode())


def _overridden(data: Mapping[str, Any], overrides: Iterable[OverrideInForce], cluster: str) -> Overridden:
    made, steps = data, list[Step]()
    for override in overrides:
        for rule in override.rules:
            if rule.deletes:
                # The last step of this override; what the others would change is gone.
                return Overridden(None, steps=(*steps, Step(override.key, rule.index, None)))
            try:
                made = _applied(made, rule)
            except OverrideError as error:
                return Overridden(None, _problem(data, override, rule, cluster, error.shown), logged=str(error))
            steps.append(Step(override.key, rule.index, made))
    return Overridden(made, steps=tuple(steps))


def _applied(data: Mapping[str, Any], rule: RuleInForce) -> Mapping[str, Any]:
    if rule.fails:
        raise OverrideError(rule.fails)
    return patched(data, (Operation(one.op, one.path, one.value) for one in rule.json_patch_overrides))


def _problem(data: Mapping[str, Any], override: OverrideInForce, rule: RuleInForce, cluster: str, why: str) -> Problem:
    what = f"fails on {cluster} for {Manifest(data).key}: {why}"
    return Problem(what, (*RULES, rule.index), _HINT.format(cluster=cluster), override.key)
