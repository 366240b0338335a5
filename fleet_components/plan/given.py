"""Input that a fleet is read from."""

from __future__ import annotations

import attrs

from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem
from fleet_components.model.releases import Releases


@attrs.frozen
class Given:
    """Input that a source is made from.

    Attributes:
        manifests: all objects, as given.
        warnings: warnings from reading them.
        unread: problems of what could not be read.
        location: the paths that were read; empty for objects made in a program.
        paths: the same, one by one.
        hub: True if a hub carries the fleet out, unless a policy asks otherwise, and a plan is
            its forecast.
        releases: the release of each system by whose rules policies are checked and decided.
        subscription: the subscription of members that guests provision and whose declaration names
            none; empty if it is unknown.
    """

    manifests: tuple[Manifest, ...] = attrs.field(default=(), repr=False)
    warnings: tuple[Problem, ...] = ()
    unread: tuple[Problem, ...] = ()
    location: str = ""
    paths: tuple[str, ...] = ()
    hub: bool = False
    releases: Releases = Releases()
    subscription: str = ""
