"""What a template takes over from those that need it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import attrs

from fleet_components.model.manifest import Manifest
from fleet_components.plan.karmada.content import CONFLICT_RESOLUTION
from fleet_components.plan.karmada.record import TemplateState


@attrs.frozen
class Needs:
    """What a template takes over; of several parents the one that overwrites or preserves wins.

    Attributes:
        required_by: the members of each parent.
        overwrite: a parent takes over objects that somebody else made.
        preserve: a parent leaves its objects on the members when it goes.
    """

    required_by: Mapping[str, Mapping[str, int]] = attrs.field(factory=dict)
    overwrite: bool = False
    preserve: bool = False

    def overwrites(self, state: TemplateState, manifest: Manifest) -> bool:
        """Whether the template takes over objects that somebody else made."""
        return self.overwrite or overwrites(state, manifest)

    def preserves(self, state: TemplateState) -> bool:
        """Whether the template's objects stay on the members when it goes."""
        return self.preserve or bool(state.spec.get("preserveResourcesOnDeletion"))


def needs_of(parents: Mapping[str, TemplateState], always: Collection[str]) -> Needs:
    """What a template takes over.

    Args:
        parents: what is remembered of the templates that may need it, by key.
        always: those that take it along without ``propagateDeps``, as they do with their namespace.
    """
    states = dict(sorted(parents.items()))
    required = {key: passed_on(state, always=key in always) for key, state in states.items()}
    needing = [state for key, state in states.items() if required[key] and key not in always]
    return Needs(
        {key: clusters for key, clusters in required.items() if clusters},
        overwrite=any(str(state.spec.get("conflictResolution")).lower() == "overwrite" for state in needing),
        preserve=any(state.spec.get("preserveResourcesOnDeletion") for state in needing),
    )


def overwrites(state: TemplateState, manifest: Manifest) -> bool:
    """Whether objects that somebody else made are taken over; the object's own annotation beats the policy."""
    asked = (manifest.metadata.get("annotations") or {}).get(CONFLICT_RESOLUTION)
    return str(asked or state.spec.get("conflictResolution", "")).lower() == "overwrite"


def passed_on(state: TemplateState, *, always: bool) -> dict[str, int]:
    """The members to which a template takes what it needs.

    Args:
        state: what is remembered of the template.
        always: also without ``propagateDeps``, as its namespace is.
    """
    if not always and not state.spec.get("propagateDeps"):
        return {}
    return dict.fromkeys(sorted({*state.targets, *state.left_later}) if always else state.own, 0)
