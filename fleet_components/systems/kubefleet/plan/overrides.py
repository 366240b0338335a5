"""Overrides of KubeFleet as the rules that are in force on members."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.envelope import is_envelope
from fleet_components.content.overridden import Overridden
from fleet_components.content.secret import INTO_SECRET, is_secret, redacted
from fleet_components.content.stored import Shape
from fleet_components.content.strip import in_snapshot
from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.plan.overriding import Overrides, unseen_default
from fleet_components.plan.record import Objects
from fleet_components.systems.kubefleet.content.override import (
    RULES,
    OverrideInForce,
    apply_overrides,
    in_force,
    read_in_force,
    selected,
    targets_of,
    write_in_force,
)
from fleet_components.systems.kubefleet.model.override import OverrideTarget, ResourceOverride

Shapes = Mapping[str, Shape]
"""Defaults of custom kinds, by ``group/version/kind``."""
_SHAPES = "shapes"
"""Field of kept rules: the shapes of custom kinds that their effect depends on."""


@attrs.frozen
class PlacementOverrides(Overrides):
    """The overrides of a fleet, as they concern one placement.

    Attributes:
        placement: the placement, as ``name`` or ``namespace/name``.
        overrides: the overrides that may concern it.
        shapes: the custom kinds of its objects whose definition is known.
        opens: True if overrides change what is in envelopes, False if they change envelopes.
    """

    placement: str
    overrides: tuple[ResourceOverride, ...] = ()
    shapes: Shapes = attrs.field(factory=dict)
    opens: bool = False

    def in_force(self, objects: Objects, member: Cluster) -> Objects:
        """Return the overrides that select an object and the member, each with those of its rules
        that select it.
        """
        if not self.overrides:
            return ()
        found = in_force(objects, member, self.overrides, self.placement, opens=self.opens)
        secret, shapes = _secret(objects, found, member), self._needed(objects, found, member)
        return tuple(
            {
                **write_in_force(item),
                **({INTO_SECRET: True} if secret.intersection(item.targets) else {}),
                **(
                    {_SHAPES: {kind: shape.to_wire() for kind, shape in shapes.items()}}
                    if shapes
                    else {}
                ),
            }
            for item in found
        )

    def _needed(
        self, objects: Objects, rules: Sequence[OverrideInForce], member: Cluster
    ) -> Shapes:
        """Return the shapes of custom kinds that the effect of rules depends on."""
        wanted = {target for item in rules for target in item.targets}
        concerned = []
        if any(self.shapes.values()):
            concerned = [data for _, data, _ in selected(objects, wanted, opens=self.opens)]
        kinds = {kind: self.shapes[kind] for kind in map(_kind, concerned) if self.shapes.get(kind)}
        # Both ways, since shapes are kept only if they change the outcome.
        without = apply_overrides(concerned, rules, member.name, reader({})) if kinds else []
        with_them = apply_overrides(concerned, rules, member.name, reader(kinds)) if kinds else []
        return kinds if without != with_them else {}

    @property
    def written(self) -> Mapping[str, Manifest]:
        """The overrides, by ``Kind namespace/name``."""
        return {str(item.manifest.key): item.manifest for item in self.overrides}

    def carry_out(self, objects: Objects, rules: Objects, member: Cluster) -> Sequence[Overridden]:
        """Return the objects after the rules."""
        return apply_rules(objects, rules, member)

    def explained(self, problem: Problem, data: Mapping[str, Any], rules: Objects) -> Problem:
        """Return a problem with its place, and with the hint that the hub may know more about a
        custom kind.
        """
        found = _located(problem, self.written)
        return unseen_default(found, Manifest(data), known=_kind(data) in self.shapes)

    @staticmethod
    def rule_path(override: Manifest, position: int) -> FieldPath:
        """Return the path of a rule in its override."""
        return rule_path(override, position)


def rule_path(override: Manifest, position: int) -> FieldPath:
    """Return the path of a rule in its override."""
    return (*RULES, position)


def _secret(
    objects: Objects, rules: Sequence[OverrideInForce], member: Cluster
) -> set[OverrideTarget]:
    """Return the names of Secrets among objects, and of envelopes that hold one before or after
    the rules.
    """
    wanted, found = {target for item in rules for target in item.targets}, set[OverrideTarget]()
    opens = any(item.opens for item in rules)
    for _, data, targets in selected(objects, wanted, opens=opens):
        if is_secret(data) or (is_envelope(Manifest(data)) and _wraps_secret(data, rules, member)):
            found.update(targets)
    return found


def _wraps_secret(
    envelope: Mapping[str, Any], rules: Sequence[OverrideInForce], member: Cluster
) -> bool:
    # One result for each object. `redacted` returns its argument itself if nothing in it is secret.
    (made,) = apply_overrides([envelope], rules, member.name, in_snapshot)
    return any(redacted(data) is not data for data in (envelope, made.data) if data)


def apply_rules(objects: Objects, rules: Objects, member: Cluster) -> Sequence[Overridden]:
    """Return each object after kept rules."""
    shapes = {
        kind: Shape.from_wire(wire)
        for data in rules
        for kind, wire in data.get(_SHAPES, {}).items()
    }
    return apply_overrides(
        objects, [read_in_force(data) for data in rules], member.name, reader(shapes)
    )


def reader(shapes: Shapes) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    """Return the function that reads objects as a snapshot has them."""
    return lambda data: in_snapshot(data, shapes.get(_kind(data)))


def _kind(data: Mapping[str, Any]) -> str:
    return f"{data.get('apiVersion')}/{data.get('kind')}"


def by_target(
    overrides: Iterable[ResourceOverride],
) -> Mapping[OverrideTarget, Sequence[ResourceOverride]]:
    """Return overrides by what they select, so that no placement is held against all of them."""
    found: dict[OverrideTarget, list[ResourceOverride]] = defaultdict(list)
    for override in overrides:
        for target in override.targets:
            found[target].append(override)
    return found


def concerning(
    objects: Objects,
    known: Mapping[OverrideTarget, Sequence[ResourceOverride]],
    placement: str,
    *,
    opens: bool = False,
) -> tuple[ResourceOverride, ...]:
    """Return the overrides that select any of the objects of a placement, whatever the member; by
    name.

    With ``opens`` what is in an envelope counts, and not the envelope.
    """
    if not known:
        return ()
    targets = {target for data in objects for target in targets_of(Manifest(data), opens=opens)}
    found = {
        # By identity, which is cheap; `known` keeps the overrides alive.
        id(item): item
        for target in targets
        for item in known.get(target, ())
        if item.is_for(placement)
    }
    return tuple(sorted(found.values(), key=lambda item: item.manifest.key))


def _located(problem: Problem, written: Mapping[str, Manifest]) -> Problem:
    """Return the problem of a kept rule with the place where the rule is written now."""
    manifest = written.get(problem.subject)
    return manifest.problem(problem.message, problem.path, problem.advice) if manifest else problem


def check_rules(data: Any) -> None:
    """Check the kept rules of one override.

    Raises:
        MisfitError: they are not those of an override.
    """
    read_in_force(data)
