"""Propagation policies by the objects that they may match, so that no object is held against every
policy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from functools import cached_property

import attrs

from fleet_components.model.manifest import Manifest
from fleet_components.systems.karmada.model.policy import (
    PROPAGATION,
    PolicyKey,
    PropagationPolicy,
    answers,
)
from fleet_components.systems.karmada.scheduler.matching import precedence


@attrs.frozen(eq=False, slots=False)
class PolicyIndex:
    """Policies of a hub.

    Attributes:
        policies: the policies, in their order.
    """

    policies: tuple[PropagationPolicy, ...] = ()

    def candidates(self, manifest: Manifest) -> list[PropagationPolicy]:
        """Return the policies that may match an object, in their order; all others do not."""
        found = {position for key in _keys(manifest) for position in self._positions.get(key, ())}
        return [self.policies[position] for position in sorted(found)]

    def named(self, key: PolicyKey) -> PropagationPolicy | None:
        """Return the policy with this key; None if there is none."""
        return self._by_key.get(key)

    @cached_property
    def best_first(self) -> tuple[PropagationPolicy, ...]:
        """The policies in the order in which Karmada prefers them for an object that all match
        alike.
        """
        return tuple(sorted(self.policies, key=precedence))

    @cached_property
    def _by_key(self) -> Mapping[PolicyKey, PropagationPolicy]:
        return {policy.key: policy for policy in self.policies}

    @cached_property
    def _positions(self) -> Mapping[Hashable, list[int]]:
        found: dict[Hashable, list[int]] = defaultdict(list)
        for position, policy in enumerate(self.policies):
            # A PropagationPolicy matches in its own namespace only, another where its selectors
            # say, or everywhere.
            own = policy.key.namespace if policy.key.kind == PROPAGATION else None
            for selector in policy.spec.resource_selectors:
                namespace = own or selector.namespace or None
                found[selector.api_version, selector.kind, namespace, selector.asked].append(
                    position
                )
        return found


def _keys(manifest: Manifest) -> Iterator[Hashable]:
    for namespace in (manifest.namespace, None):
        for asked in answers(manifest):
            yield manifest.api_version, manifest.kind, namespace, asked
