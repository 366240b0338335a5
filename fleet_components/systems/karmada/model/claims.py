"""Claims of Karmada policies on objects, and the state of them that is kept between runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.model.codec import decode, encode
from fleet_components.model.manifest import Manifest
from fleet_components.systems.karmada.model.policy import Placement, PolicyKey


@attrs.frozen
class Bound:
    """The policy-derived part of an object's binding. It stays when the policy is deleted.

    Attributes:
        policy: the policy that the binding belongs to; None after it was released.
        spec: the fields that came from the policy, in API form: ``placement``, ``failover`` and so on.
        revision: the revision of the object that the binding was made for; lower than the object's own while the
            binding is frozen.
    """

    policy: PolicyKey | None = None
    spec: Mapping[str, Any] = attrs.field(factory=dict)
    revision: int = 0

    @property
    def placement(self) -> Placement:
        """The placement that the scheduler uses."""
        placement: Placement = decode(Placement, self.spec.get("placement") or {})
        return placement


@attrs.frozen
class Claim:
    """Persisted claim state of one object.

    Attributes:
        policy: the policy that has claimed the object; None while none matches.
        bound: the object's binding; None before the first one.
        revision: the revision of the object that was evaluated last; None if it must be evaluated again.
    """

    policy: PolicyKey | None = None
    bound: Bound | None = None
    revision: int | None = None


@attrs.frozen
class SeenPolicy:
    """Persisted state of a policy.

    Attributes:
        digest: digest of its spec; empty if the policy must be evaluated again.
        priority: its explicit priority.
    """

    digest: str
    priority: int = 0


@attrs.frozen
class Claims:
    """All claims.

    Attributes:
        objects: claims by :func:`template_key`.
        policies: the known policies, by ``kind/namespace/name``.
    """

    objects: Mapping[str, Claim] = attrs.field(factory=dict)
    policies: Mapping[str, SeenPolicy] = attrs.field(factory=dict)

    def of(self, key: str) -> Claim:
        """Return the claim on an object; an empty claim if the object is new."""
        return self.objects.get(key, Claim())

    def to_wire(self) -> dict[str, object]:
        """Return the claims in the form of the state: plain maps and lists."""
        wire: dict[str, object] = encode(self)
        return wire

    @classmethod
    def from_wire(cls, wire: Mapping[str, object] | None) -> Claims:
        """Read claims from the state; None and the empty map mean no claims."""
        return decode(cls, wire or {})


def template_key(manifest: Manifest) -> str:
    """Return ``group/kind/namespace/name`` of an object."""
    return "/".join(manifest.key)
