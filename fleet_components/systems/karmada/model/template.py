"""Karmada templates as the scheduler sees them, and estimates of how many replicas the members can
take.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.model.codec import checked, decode, encode
from fleet_components.model.manifest import Manifest
from fleet_components.model.typed import Typed
from fleet_components.systems.karmada.model.policy import Placement, PolicyKey, is_policy_path


@attrs.frozen
class Template(Typed):
    """An object to be placed, as the scheduler sees it.

    Attributes:
        api_version: ``group/version``, or the version alone for the core group.
        kind: its kind.
        name: its name.
        namespace: its namespace; empty for a cluster-scoped object.
        replicas: the number of replicas; 0 for an object without replicas.
        requests: the requests of one replica, by resource; None if it states no requirements.
    """

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    replicas: int = 0
    requests: Mapping[str, str] | None = None

    @property
    def workload(self) -> bool:
        """True if the object has replicas, or states requirements of a replica.

        Objects that are not workloads go to every selected member.
        """
        return self.replicas > 0 or self.requests is not None

    @property
    def binding(self) -> str:
        """The binding that Karmada makes for the object, as events name it."""
        name = binding_name(self.kind, self.name)
        return (
            f"ResourceBinding({self.namespace}/{name})"
            if self.namespace
            else f"ClusterResourceBinding({name})"
        )


def binding_name(kind: str, name: str) -> str:
    """Return the name of the binding that Karmada makes for an object.

    Source: karmada-io/karmada 1.19, pkg/util/names/names.go, GenerateBindingName.
    """
    return f"{name.replace(':', '.')}-{kind}".lower()


@attrs.frozen
class Estimates(Typed):
    """Number of replicas of a template that members can take; declared or recorded, never queried
    while scheduling.

    Without estimates, Karmada's general estimator reads the members' resource summaries.

    Attributes:
        available: how many more replicas a member can take; -1 or missing if unknown.
        capacity: how many replicas a member can take in total, including those that it already has.
    """

    available: Mapping[str, int] | None = None
    capacity: Mapping[str, int] | None = None


# Claims of Karmada policies on objects, and the state of them that is kept between runs.


def _no_policy(key: PolicyKey | None) -> str:
    """Return what is wrong with the key of a policy in a state; empty if nothing is."""
    return "" if key is None or is_policy_path(key.path) else "is not the name of a policy"


@attrs.frozen
class BoundPolicy:
    """The policy-derived part of an object's binding. It stays when the policy is deleted.

    Attributes:
        policy: the policy that the binding belongs to; None after it was released.
        spec: the fields that came from the policy, in API form: ``placement``, ``failover`` and so
            on.
        revision: the revision of the object that the binding was made for; lower than the object's
            own while the binding is frozen.
    """

    policy: PolicyKey | None = attrs.field(default=None, metadata=checked(_no_policy))
    spec: Mapping[str, Any] = attrs.field(factory=dict)
    revision: int = 0

    @property
    def placement(self) -> Placement:
        """The placement that the scheduler uses."""
        placement: Placement = decode(Placement, self.spec.get("placement") or {})
        return placement


@attrs.frozen
class PolicyClaim:
    """Persisted claim state of one object.

    Attributes:
        policy: the policy that has claimed the object; None while none matches.
        bound: the object's binding; None before the first one.
        revision: the revision of the object that was evaluated last; None if it must be evaluated
            again.
    """

    policy: PolicyKey | None = attrs.field(default=None, metadata=checked(_no_policy))
    bound: BoundPolicy | None = None
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

    objects: Mapping[str, PolicyClaim] = attrs.field(factory=dict)
    policies: Mapping[str, SeenPolicy] = attrs.field(factory=dict)

    def of(self, key: str) -> PolicyClaim:
        """Return the claim on an object; an empty claim if the object is new."""
        return self.objects.get(key, PolicyClaim())

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
