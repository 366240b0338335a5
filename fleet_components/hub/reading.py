"""Reads a hub: which requests are still to be made, and the observation that their answers amount to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from fleet_components.hub.karmada.observation import karmada_observation
from fleet_components.hub.karmada.queries import karmada_queries
from fleet_components.hub.kubefleet.observation import kubefleet_observation
from fleet_components.hub.kubefleet.queries import kubefleet_queries
from fleet_components.hub.listing import Listing, Query, System
from fleet_components.hub.observation import Observation


@attrs.frozen
class Reader:
    """Functions that read the hub of one system.

    Attributes:
        queries: returns all requests that an observation needs, as far as the answers so far tell.
        read: returns the observation that complete answers amount to.
    """

    queries: Callable[[Listing], tuple[Query, ...]]
    read: Callable[[Listing], Observation]


_READERS: Mapping[System, Reader] = {
    System.KUBEFLEET: Reader(kubefleet_queries, kubefleet_observation),
    System.KARMADA: Reader(karmada_queries, karmada_observation),
}


def missing(listing: Listing) -> tuple[Query, ...]:
    """Return the requests that are to be made next; empty once the answers are complete."""
    return listing.lacking(_READERS[listing.system].queries(listing))


def read_hub(listing: Listing) -> Observation:
    """Return the observation that complete answers amount to."""
    return _READERS[listing.system].read(listing)
