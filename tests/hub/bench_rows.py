"""A row for ``tests.bench``: what a large hub has answered is read, and written as a directory."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.listing import Listing
from fleet_components.hub.reading import read_hub
from tests.hub.large_hub import listed

_PLACEMENTS = 200


@cache
def _answers(members: int) -> Listing:
    return listed(members, _PLACEMENTS)


def observe(members: int) -> Callable[[], object]:
    """Set up one observation."""
    listing = _answers(members)
    listing = Listing(
        listing.system, listing.as_of, listing.served, listing.answers
    )  # nothing is cached in it
    folder = TemporaryDirectory(prefix="fleet-bench-")

    def run() -> object:
        with folder:
            return write_observation(Path(folder.name) / "hub", read_hub(listing), update=False)

    return run
