"""Override policies by the objects that they may select, so that no object is held against every policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping
from functools import cached_property

import attrs

from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.systems.karmada.model.override import OverridePolicy
from fleet_components.systems.karmada.model.policy import CLUSTER_OVERRIDE, PolicyKey


@attrs.frozen(eq=False, slots=False)
class OverrideIndex:
    """Override policies of a hub.

    Attributes:
        policies: the policies.
    """

    policies: tuple[OverridePolicy, ...] = ()

    @cached_property
    def keys(self) -> frozenset[PolicyKey]:
        """The keys of all policies."""
        return frozenset(policy.key for policy in self.policies)

    def concerning(self, manifest: Manifest) -> list[OverridePolicy]:
        """Return the policies that may select an object, also once others have changed its labels or name; by key."""
        # The same object is asked for with the replicas of every member.
        sort = manifest.version, manifest.key
        if sort not in self._concerning:
            renaming = self._selecting(manifest, [manifest.name])
            names = {manifest.name, *(name for policy in renaming for name in policy.spec.new_names)}
            self._concerning[sort] = self._selecting(manifest, names)
        return self._concerning[sort]

    def _selecting(self, manifest: Manifest, names: Collection[str]) -> list[OverridePolicy]:
        found = {position for key in _keys(manifest, names) for position in self._positions.get(key, ())}
        return sorted((self.policies[position] for position in found), key=lambda policy: policy.key)

    @cached_property
    def _concerning(self) -> dict[tuple[str, ObjectKey], list[OverridePolicy]]:
        return {}

    @cached_property
    def _positions(self) -> Mapping[Hashable, list[int]]:
        found: dict[Hashable, list[int]] = defaultdict(list)
        for position, policy in enumerate(self.policies):
            # An OverridePolicy selects in its own namespace only.
            namespace = None if policy.key.kind == CLUSTER_OVERRIDE else policy.key.namespace
            for selector in policy.spec.resource_selectors:
                found[namespace, selector.api_version, selector.kind, selector.name].append(position)
            if not policy.spec.resource_selectors:
                found[namespace].append(position)
        return found


def _keys(manifest: Manifest, names: Collection[str]) -> Iterator[Hashable]:
    for namespace in {manifest.namespace, None}:
        yield namespace
        for name in {"", *names}:
            yield namespace, manifest.api_version, manifest.kind, name
