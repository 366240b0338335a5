"""The observation of a hub."""

from __future__ import annotations

from fleet_components.hub.kubefleet.kept import Kept
from fleet_components.hub.kubefleet.members import members_of
from fleet_components.hub.kubefleet.objects import objects_on, selected_objects
from fleet_components.hub.kubefleet.policies import policies_of
from fleet_components.hub.kubefleet.refused import refused_policies
from fleet_components.hub.kubefleet.subjects import subjects_of
from fleet_components.hub.listing import Listing
from fleet_components.hub.observation import Observation
from fleet_components.model.manifest import Manifest
from fleet_components.plan.source import Given, gathered


def kubefleet_observation(listing: Listing) -> Observation:
    """Return the observation that complete answers amount to."""
    notes, kept, members = list[str](), Kept.of(listing), members_of(listing)
    notes += (
        f"{query.kind} in {query.namespace or 'the hub'}: {why}" for query, why in sorted(listing.refused.items())
    )
    policies, objects = policies_of(listing, notes), tuple(objects_on(listing, kept, notes))
    source = gathered(Given((*map(Manifest, policies), *objects)))
    if refused := refused_policies(source, map(Manifest, policies), kept):
        notes += (f"{key} cannot be carried out, and is left out: {why}" for key, why in sorted(refused.items()))
        policies = tuple(data for data in policies if Manifest(data).key not in refused)
        source = gathered(Given((*map(Manifest, policies), *objects)))
    return Observation(
        system=listing.system,
        as_of=listing.as_of,
        members=members,
        policies=policies,
        objects=selected_objects(source, objects),
        subjects=subjects_of(listing, kept, members, refused, notes),
        notes=tuple(notes),
    )
