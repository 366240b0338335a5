"""Requests that an observation needs."""

from __future__ import annotations

from fleet_components.hub.listing import Listing, Query


def karmada_queries(listing: Listing) -> tuple[Query, ...]:
    """Return all requests that an observation needs, as far as the answers so far tell."""
    raise NotImplementedError
