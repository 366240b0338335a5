"""Common result of rolling and staged updates for a given situation."""

from __future__ import annotations

from collections.abc import Mapping

import attrs


@attrs.frozen
class Layout:
    """Assignment of clusters to waves, with those that are held or left.

    Attributes:
        waves: the clusters that move, each with its wave.
        held: the clusters that should move or be left but do not, each with the reason.
        removals: the clusters that are left at the end.
        waits: seconds to wait after a wave if anything follows it.
        failure: why an update run did not begin, in KubeFleet's words.
    """

    waves: Mapping[str, int] = attrs.field(factory=dict)
    held: Mapping[str, str] = attrs.field(factory=dict)
    removals: tuple[str, ...] = ()
    waits: Mapping[int, int] = attrs.field(factory=dict)
    failure: str = ""
