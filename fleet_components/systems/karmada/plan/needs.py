"""Derive what a template takes over from the templates that need it.

Source: karmada-io/karmada 1.19, pkg/dependenciesdistributor.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import attrs

from fleet_components.model.manifest import Manifest
from fleet_components.systems.karmada.plan.content import CONFLICT_RESOLUTION
from fleet_components.systems.karmada.plan.record import TemplateState


@attrs.frozen
class Needs:
    """Properties that a template takes over from its parents. One parent that overwrites, or that
    preserves, is enough.

    Attributes:
        required_by: the members of each parent.
        overwrite: True if a parent takes over existing objects of others.
        preserve: True if a parent's objects stay on the members when it is removed.
    """

    required_by: Mapping[str, Mapping[str, int]] = attrs.field(factory=dict)
    overwrite: bool = False
    preserve: bool = False

    def overwrites(self, state: TemplateState, manifest: Manifest) -> bool:
        """Return whether the template takes over existing objects of others."""
        return self.overwrite or overwrites(state, manifest)

    def preserves(self, state: TemplateState) -> bool:
        """Return whether the template's objects stay on the members when it is removed."""
        return self.preserve or bool(state.spec.get("preserveResourcesOnDeletion"))


def needs_of(parents: Mapping[str, TemplateState], always: Collection[str]) -> Needs:
    """Return what a template takes over.

    Args:
        parents: what is remembered of the templates that may need it, by key.
        always: keys of those that need it even without ``propagateDeps``, as templates need their
            namespace.
    """
    states = dict(sorted(parents.items()))
    required = {key: passed_on(state, always=key in always) for key, state in states.items()}
    # A namespace takes over neither setting: it follows templates without propagateDeps too.
    needing = [state for key, state in states.items() if required[key] and key not in always]
    return Needs(
        {key: clusters for key, clusters in required.items() if clusters},
        overwrite=any(
            str(state.spec.get("conflictResolution")).lower() == "overwrite" for state in needing
        ),
        preserve=any(state.spec.get("preserveResourcesOnDeletion") for state in needing),
    )


def overwrites(state: TemplateState, manifest: Manifest) -> bool:
    """Return whether existing objects of others are taken over; the object's annotation beats the
    policy.

    Source: karmada-io/karmada 1.19, pkg/controllers/binding/common.go, mergeConflictResolution.
    """
    asked = (manifest.metadata.get("annotations") or {}).get(CONFLICT_RESOLUTION)
    return str(asked or state.spec.get("conflictResolution", "")).lower() == "overwrite"


def passed_on(state: TemplateState, *, always: bool) -> dict[str, int]:
    """Return the members that a template's dependency has to reach.

    Args:
        state: what is remembered of the template.
        always: True if the dependency is needed even without ``propagateDeps``, as the namespace
            is.
    """
    if not always and not state.spec.get("propagateDeps"):
        return {}
    # A namespace goes wherever the template stands, even where that only goes along with others;
    # dependencies follow the template's own members only.
    return dict.fromkeys(sorted({*state.targets, *state.left_later}) if always else state.own, 0)
