"""The observation of a hub."""

from __future__ import annotations

from fleet_components.hub.kubefleet.kept import Kept
from fleet_components.hub.kubefleet.members import members_of
from fleet_components.hub.kubefleet.objects import objects_of
from fleet_components.hub.kubefleet.policies import policies_of
from fleet_components.hub.kubefleet.subjects import subjects_of
from fleet_components.hub.listing import Listing
from fleet_components.hub.observation import Observation


def kubefleet_observation(listing: Listing) -> Observation:
    """Return the observation that complete answers amount to."""
    notes, kept, members = list[str](), Kept.of(listing), members_of(listing)
    notes += (
        f"{query.kind} in {query.namespace or 'the hub'}: {why}" for query, why in sorted(listing.refused.items())
    )
    policies = policies_of(listing, notes)
    return Observation(
        system=listing.system,
        as_of=listing.as_of,
        members=members,
        policies=policies,
        objects=objects_of(listing, kept, policies, notes),
        subjects=subjects_of(listing, kept, members, notes),
        notes=tuple(notes),
    )
