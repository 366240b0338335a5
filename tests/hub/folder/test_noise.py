"""What changes by itself on a hub - times, versions, the order of lists - changes nothing in its directory."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest

from fleet_components.hub.folder.writing import Changes, write_observation
from fleet_components.hub.listing import Listing
from fleet_components.hub.reading import read_hub
from tests.delivery.karmada.recording import Recording as KarmadaRecording
from tests.delivery.kubefleet.recording import Recording
from tests.hub.folder.test_unanswered import FEW, NAMES, ended

_HEARD = (
    "lastReceivedHeartbeat",
    "lastProbeTime",
    "lastHeartbeatTime",
    "lastRequestTime",
    "renewTime",
)
_VERSIONS = ("resourceVersion", "managedFields")


def later(listing: Listing, minutes: int) -> Listing:
    """The same hub some time later, with all that moves by itself moved, and its answers in another order."""
    at = listing.as_of + timedelta(minutes=minutes)
    answers = {
        query: tuple(_moved(item, at.isoformat(), str(minutes)) for item in reversed(found))
        for query, found in reversed(list(listing.answers.items()))
    }
    return attrs.evolve(listing, as_of=at, answers=answers)


def _moved(value: Any, time: str, version: str) -> Any:
    match value:
        case Mapping():
            moved = {
                key: _moved(item, time, version) for key, item in reversed(list(value.items()))
            }
            return {
                **moved,
                **{key: time for key in _HEARD if key in value},
                **{v: version for v in _VERSIONS if v in value},
            }
        case list() | tuple():
            return [_moved(item, time, version) for item in value]
    return value


@pytest.mark.parametrize(
    ("of", "name"),
    [pytest.param(*item, marks=() if item in FEW else pytest.mark.long) for item in NAMES],
)
def test_a_hub_that_has_not_changed_leaves_its_directory_alone(
    of: type[Recording | KarmadaRecording], name: str, tmp_path: Path
) -> None:
    listing = later(ended(of, name), 60)  # what counts as ready once its time has passed does so
    write_observation(tmp_path / "hub", read_hub(listing), update=False)
    for minutes in (1, 30, 300):
        found = write_observation(tmp_path / "hub", read_hub(later(listing, minutes)), update=True)
        assert found == Changes(), minutes
