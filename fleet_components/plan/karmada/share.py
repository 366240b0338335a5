"""Define what one member gets of a template."""

from __future__ import annotations

import attrs

from fleet_components.rollout.plan import Done, Placed


@attrs.frozen(kw_only=True)
class Share(Placed):
    """The revision, replicas and completions that one member was sent of a template. There is one wave and no rank.

    Attributes:
        replicas: its replicas; None if they are not set for each member.
        completions: its completions of a divided Job; None for everything else.
    """

    rank: int = 0
    wave: int = 1
    replicas: int | None = None
    completions: int | None = None

    def stands(self, done: Done) -> bool:
        """Return whether this is what runs on the member."""
        return (self.revision, self.replicas, self.completions) == (done.revision, done.replicas, done.completions)
