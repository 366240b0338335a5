"""The release of KubeFleet that a hub runs, read from the image of its agent.

Source: ``charts/hub-agent`` of kubefleet-dev/kubefleet. The hub of a fleet of Azure runs no agent that can be seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet_components.hub.listing import Listing, Query
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.systems.kubefleet.model.release import RELEASES, TABLE, release_of

AGENT = Query("apps/v1", "Deployment", "fleet-system", label="app.kubernetes.io/name=hub-agent")
"""The request for the agent of a hub."""


def is_agent(key: ObjectKey) -> bool:
    """Return whether an object may be the agent: no placement brings it anywhere."""
    return AGENT.asks_for(key)


def release_shown(listing: Listing) -> tuple[str, str]:
    """Return the release that a hub runs, or is said to run; or an empty text, and why it is not known."""
    if listing.release:
        return listing.release, ""
    images = sorted(set(_images(listing)))
    found = {release_of(image) for image in images}
    if len(found) == 1 and found <= RELEASES.keys():
        return found.pop(), ""
    if images:
        why = f"the image of its agent is {', '.join(images)}"
    elif AGENT in listing.refused:
        why = f"Deployment.apps in namespace fleet-system {listing.refused[AGENT]}"
    else:
        why = "no hub-agent is in fleet-system, as on hubs of Azure"
    return "", TABLE.assumed(why)


def _images(listing: Listing) -> Iterator[str]:
    for data in listing.answers.get(AGENT, ()):
        pod = ((Manifest(data).data.get("spec") or {}).get("template") or {}).get("spec") or {}
        yield from (str(item["image"]) for item in pod.get("containers") or () if item.get("image"))
