"""What a strategy makes of a situation: the form in which rolling and staged updates answer alike."""

from __future__ import annotations

from collections.abc import Mapping

import attrs


@attrs.frozen
class Layout:
    """Who moves when, and who does not.

    Attributes:
        waves: the clusters that move, each with its wave.
        held: the clusters that should move or be left and do not, each with the reason.
        removals: the clusters that are left at the end.
        waits: seconds to wait after a wave, should anything follow it.
        failure: why an update run did not begin, in KubeFleet's words.
    """

    waves: Mapping[str, int] = attrs.field(factory=dict)
    held: Mapping[str, str] = attrs.field(factory=dict)
    removals: tuple[str, ...] = ()
    waits: Mapping[int, int] = attrs.field(factory=dict)
    failure: str = ""
