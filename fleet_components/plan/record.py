"""What is kept of a placement from run to run: one form for the state, for ``--state`` and for ``out/``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.content.revision import canonical, compress, decompress
from fleet_components.content.secret import redacted
from fleet_components.model.codec import decode, encode
from fleet_components.model.memory import PlacementMemory
from fleet_components.rollout.plan import Placed

Objects = tuple[Mapping[str, Any], ...]


@attrs.frozen
class Record:
    """The decisions of one placement, and what they rest on.

    Attributes:
        revision: the revision that all clusters are to run; -1 before the first run.
        decisions: what each cluster was sent, or keeps: the part that reviewers read.
        memory: what the scheduler remembers.
        contents: the objects of every revision that is still in use; empty when the state is encrypted.
        digests: of the same revisions, without the data of Secrets, so that nothing can be guessed from them.
    """

    revision: int = -1
    decisions: Mapping[str, Placed] = attrs.field(factory=dict)
    memory: PlacementMemory = PlacementMemory()
    contents: Mapping[int, Objects] = attrs.field(factory=dict)
    digests: Mapping[int, str] = attrs.field(factory=dict)

    def to_wire(self) -> dict[str, Any]:
        """Plain maps, keyed by cluster and by revision; contents compressed."""
        return {
            "revision": self.revision,
            "decisions": {cluster: attrs.asdict(placed) for cluster, placed in sorted(self.decisions.items())},
            "memory": encode(self.memory),
            "contents": {str(revision): compress(objects) for revision, objects in sorted(self.contents.items())},
            "digests": {str(revision): digest for revision, digest in sorted(self.digests.items())},
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Record:
        """Read it back. Numbers may be floats and maps in any order, as the engine hands them over."""
        if not wire.get("memory"):
            return cls()
        contents = wire["contents"] if isinstance(wire["contents"], Mapping) else {}
        return cls(
            int(wire["revision"]),
            {cluster: decode(Placed, placed) for cluster, placed in sorted(wire["decisions"].items())},
            PlacementMemory.from_wire(wire["memory"]),
            {int(revision): tuple(decompress(text)) for revision, text in sorted(contents.items())},
            {int(revision): digest for revision, digest in sorted(wire["digests"].items())},
        )

    def holds(self, revision: int, objects: Objects) -> bool:
        """Whether a revision has these objects; where the contents are encrypted, all but Secret data decide."""
        if self.contents:
            return self.contents.get(revision) == objects
        return self.digests.get(revision) == digest(objects)


def digest(objects: Objects) -> str:
    """A digest of everything but the data of Secrets."""
    return hashlib.sha256(canonical(tuple(map(redacted, objects))).encode()).hexdigest()[:16]
