"""The observation of a hub."""

from __future__ import annotations

from fleet_components.hub.listing import Listing
from fleet_components.hub.observation import Observation
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.releases import Releases
from fleet_components.plan.given import Given
from fleet_components.plan.source import gathered
from fleet_components.systems.kubefleet.hub.kept import Kept
from fleet_components.systems.kubefleet.hub.members import members_of
from fleet_components.systems.kubefleet.hub.objects import (
    definitions_instead,
    objects_on,
    selected_objects,
    unanswered_lists,
)
from fleet_components.systems.kubefleet.hub.policies import policies_of
from fleet_components.systems.kubefleet.hub.refused import refused_policies
from fleet_components.systems.kubefleet.hub.release import release_shown
from fleet_components.systems.kubefleet.hub.subjects import subjects_of
from fleet_components.systems.kubefleet.model.member_cluster import read_member_cluster


def kubefleet_observation(listing: Listing) -> Observation:
    """Return the observation that complete answers amount to.

    Raises:
        FleetError: the hub does not tell what steers it, or what it remembers.
    """
    notes, kept, members = list[str](), Kept.of(listing), members_of(listing)
    unanswered = unanswered_lists(listing, kept)
    shown, why_not = release_shown(listing)
    releases = Releases.named(kubefleet=shown)
    policies, objects = (
        policies_of(listing, notes),
        tuple(objects_on(listing, kept, unanswered, notes)),
    )
    sent = {item.key for item in objects}
    judged = (*objects, *(manifest for manifest in definitions_instead(listing) if manifest.key not in sent))
    source = gathered(Given((*map(Manifest, policies), *judged), releases=releases))
    inventory = Inventory(map(read_member_cluster, members), listing.as_of)
    if refused := refused_policies(source, map(Manifest, policies), kept, inventory):
        notes += (f"{key} cannot be carried out, and is left out: {why}" for key, why in sorted(refused.items()))
        policies = tuple(data for data in policies if Manifest(data).key not in refused)
        source = gathered(Given((*map(Manifest, policies), *judged), releases=releases))
    return Observation(
        system=listing.system,
        as_of=listing.as_of,
        members=members,
        policies=policies,
        objects=selected_objects(source, objects),
        subjects=subjects_of(listing, kept, members, refused, notes, releases.kubefleet),
        unanswered=unanswered,
        notes=tuple(notes),
        release=shown,
        no_release=why_not,
    )
