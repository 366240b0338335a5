"""Which policy has claimed which object in Karmada, and what is remembered of it from one run to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.model.codec import decode, encode
from fleet_components.model.karmada import Placement, PolicyKey
from fleet_components.model.manifest import Manifest


@attrs.frozen
class Bound:
    """What an object's binding carries. It stays when its policy goes.

    Attributes:
        policy: the policy that the binding belongs to; None when it was released.
        spec: what came from the policy, in API form: ``placement``, ``failover`` and so on.
        revision: the revision of the object that it was made for; older than the object's own when it is frozen.
    """

    policy: PolicyKey | None = None
    spec: Mapping[str, Any] = attrs.field(factory=dict)
    revision: int = 0

    @property
    def placement(self) -> Placement:
        """The placement that counts for the scheduler."""
        placement: Placement = decode(Placement, self.spec.get("placement") or {})
        return placement


@attrs.frozen
class Claim:
    """What is remembered of one object.

    Attributes:
        policy: the policy that has claimed it; None while none matches.
        bound: its binding; None before the first one.
        revision: the revision of the object that was looked at last; None when it has to be looked at again.
    """

    policy: PolicyKey | None = None
    bound: Bound | None = None
    revision: int | None = None


@attrs.frozen
class SeenPolicy:
    """What is remembered of a policy: ``digest`` of its spec (empty when it has to be looked at again)."""

    digest: str
    priority: int = 0


@attrs.frozen
class Claims:
    """All claims, by :func:`template_key`, and the policies seen, as ``kind/namespace/name``."""

    objects: Mapping[str, Claim] = attrs.field(factory=dict)
    policies: Mapping[str, SeenPolicy] = attrs.field(factory=dict)

    def of(self, key: str) -> Claim:
        """The claim on an object; an empty one for an object not seen before."""
        return self.objects.get(key, Claim())

    def to_wire(self) -> dict[str, object]:
        """Their form in the state: plain maps and lists."""
        wire: dict[str, object] = encode(self)
        return wire

    @classmethod
    def from_wire(cls, wire: Mapping[str, object] | None) -> Claims:
        """Read them back; None and the empty map stand for no claims."""
        return decode(cls, wire or {})


def template_key(manifest: Manifest) -> str:
    """``group/kind/namespace/name`` of an object."""
    return "/".join(manifest.key)
