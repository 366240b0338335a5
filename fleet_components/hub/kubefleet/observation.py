"""The observation of a hub."""

from __future__ import annotations

from fleet_components.hub.listing import Listing
from fleet_components.hub.observation import Observation


def kubefleet_observation(listing: Listing) -> Observation:
    """Return the observation that complete answers amount to."""
    raise NotImplementedError
