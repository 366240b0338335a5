"""The observation of a hub."""

from __future__ import annotations

from fleet_components.hub.kubefleet.kept import Kept
from fleet_components.hub.kubefleet.kinds import GROUP, MEMBERS
from fleet_components.hub.kubefleet.members import members_of
from fleet_components.hub.kubefleet.objects import objects_on, selected_objects
from fleet_components.hub.kubefleet.policies import policies_of
from fleet_components.hub.kubefleet.refused import refused_policies
from fleet_components.hub.kubefleet.subjects import subjects_of
from fleet_components.hub.listing import Listing
from fleet_components.hub.observation import Observation
from fleet_components.model.inventory import Inventory
from fleet_components.model.kubefleet.member_cluster import read_member_cluster
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.source import Given, gathered


def kubefleet_observation(listing: Listing) -> Observation:
    """Return the observation that complete answers amount to.

    Raises:
        FleetError: the hub does not tell what steers it, or what it remembers.
    """
    if unknown := [query for query in sorted(listing.refused) if query.group in (GROUP, MEMBERS)]:
        raise FleetError(Problem(f"{one.kind} {listing.refused[one]}") for one in unknown)
    notes, kept, members = list[str](), Kept.of(listing), members_of(listing)
    policies, objects = policies_of(listing, notes), tuple(objects_on(listing, kept, notes))
    source = gathered(Given((*map(Manifest, policies), *objects)))
    inventory = Inventory(map(read_member_cluster, members), listing.as_of)
    if refused := refused_policies(source, map(Manifest, policies), kept, inventory):
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
