"""The observation of a Karmada control plane."""

from __future__ import annotations

from fleet_components.hub.listing import Listing
from fleet_components.hub.observation import Observation
from fleet_components.plan.names import TEMPLATE_KIND
from fleet_components.systems.karmada.hub.notes import notes_of
from fleet_components.systems.karmada.hub.reading import reading_of
from fleet_components.systems.karmada.model.release import TABLE
from fleet_components.systems.karmada.plan.templates import template_name


def karmada_observation(listing: Listing) -> Observation:
    """Return the observation that complete answers amount to.

    Raises:
        FleetError: an object of the control plane cannot be read.
    """
    reading = reading_of(listing)
    subjects = (*(copy.observed for copy in reading.copies.values()), *reading.unbound)
    return Observation(
        system=listing.system,
        as_of=listing.as_of,
        members=reading.members,
        policies=reading.policies,
        objects=reading.objects,
        subjects=tuple(sorted(subjects, key=lambda subject: subject.name)),
        waiting=reading.templates.waiting,
        unanswered=reading.unanswered,
        unknown=tuple(f"{TEMPLATE_KIND}/{template_name(key)}" for key in reading.unknown),
        notes=notes_of(reading),
        release=listing.release,
        no_release="" if listing.release else TABLE.assumed("its components run on another cluster"),
    )
