"""Assignment of templates to policies: Karmada's resource detector, run until nothing changes.

A claim persists. An unclaimed template goes to the best PropagationPolicy of its namespace, or else
to the best ClusterPropagationPolicy; a template that no policy matches waits. Policies are
processed when they are new or have changed, templates when they have changed, were released or were
waiting, so the result depends on the earlier claims. All changes passed to one call are present
before the first one is processed. Source: Karmada 1.19, ``pkg/detector/detector.go``, ``policy.go``
and ``preemption.go``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from fleet_components.model.decision import Event
from fleet_components.model.manifest import Manifest
from fleet_components.systems.karmada.model.policy import (
    CLUSTER_OVERRIDE,
    CLUSTER_PROPAGATION,
    OVERRIDE,
    PROPAGATION,
    PolicyKey,
    PropagationPolicy,
    Rank,
)
from fleet_components.systems.karmada.model.template import (
    BoundPolicy,
    Claims,
    PolicyClaim,
    SeenPolicy,
)

CLAIMED_BY_LABEL = "resourcetemplate.karmada.io/claimed-by"
WAITING_FOR_OVERRIDES = "waiting for dependent overrides"
SKIPPED_NAMESPACES = ("kube-.*",)
"""Patterns of namespaces without propagation: the default of the flag
``--skipped-propagating-namespaces``.
"""
_RESERVED_NAMESPACES = ("karmada-system", "karmada-cluster", "karmada-es-.*")
_UNWATCHED_GROUPS = (
    "authentication.k8s.io",
    "authorization.k8s.io",
    "events.k8s.io",
    "metrics.k8s.io",
)
_UNWATCHED_KINDS = (
    ("", "Binding"),
    ("", "ComponentStatus"),
    ("", "Event"),
    ("coordination.k8s.io", "Lease"),
)
"""Groups and kinds that the detector leaves out: those of the skip list of
``pkg/util/apigroup.go``, and those that no API server lets anybody watch or delete
(``pkg/util/lifted/discovery.go``).
"""
CARRIED = (
    "placement",
    "propagateDeps",
    "schedulerName",
    "failover",
    "conflictResolution",
    "preserveResourcesOnDeletion",
    "suspension",
    "schedulePriority",
)
"""Fields that a binding has from the spec of its policy."""


def propagates(manifest: Manifest) -> bool:
    """Return whether Karmada considers an object: neither its kind nor its namespace is skipped,
    and no other owner claims it.
    """
    watched = watches(manifest.group, manifest.kind)
    return watched and not skips(manifest.namespace) and not manifest.labels.get(CLAIMED_BY_LABEL)


def watches(group: str, kind: str) -> bool:
    """Return whether Karmada looks at the objects of a kind, so that policies may select them."""
    return group not in _UNWATCHED_GROUPS and (group, kind) not in _UNWATCHED_KINDS


def syncs(namespace: str) -> bool:
    """Return whether Karmada brings a namespace of this name to members by itself.

    Source: ``namespaceShouldBeSynced`` in
    ``pkg/controllers/namespace/namespace_sync_controller.go``.
    """
    return namespace != "default" and not skips(namespace)


def skips(namespace: str) -> bool:
    """Return whether Karmada ignores all objects of a namespace."""
    return any(
        re.fullmatch(pattern, namespace) for pattern in (*_RESERVED_NAMESPACES, *SKIPPED_NAMESPACES)
    )


@attrs.frozen
class HubSnapshot:
    """Snapshot of the objects and policies to match.

    Attributes:
        templates: the objects by
            :func:`~fleet_components.systems.karmada.model.template.template_key`; an object without
            a namespace is cluster-scoped.
        policies: the propagation policies.
        overrides: the override policies, for ``dependentOverrides``.
        revisions: a number per object that grows with every change of the object; 0 if absent.
    """

    templates: Mapping[str, Manifest]
    policies: tuple[PropagationPolicy, ...] = ()
    overrides: frozenset[PolicyKey] = frozenset()
    revisions: Mapping[str, int] = attrs.field(factory=dict)


@attrs.frozen
class Matched:
    """Result of matching.

    Attributes:
        claims: the new claims, to be remembered.
        events: the events that Karmada records, each with the key of its object.
        errors: the errors that Karmada logs while it keeps retrying.
    """

    claims: Claims
    events: tuple[tuple[str, Event], ...] = ()
    errors: tuple[str, ...] = ()


def match_policies(
    hub: HubSnapshot, claims: Claims = Claims(), *, preemption: bool = False
) -> Matched:
    """Update the claims to the state of the hub.

    Args:
        hub: the objects and policies.
        claims: the claims before.
        preemption: the feature gate PropagationPolicyPreemption.
    """
    detector = _Detector(hub, claims, preemption)
    detector.look_at_policies()
    detector.look_at_objects()
    seen = {policy.key.path: detector.seen(policy) for policy in hub.policies}
    return Matched(Claims(detector.objects, seen), tuple(detector.events), tuple(detector.errors))


def best_policy(
    manifest: Manifest, policies: Iterable[PropagationPolicy]
) -> PropagationPolicy | None:
    """Return the policy that an unclaimed template goes to; None if no policy matches."""
    ranked = [
        (preference(policy, manifest), policy) for policy in policies if matches(policy, manifest)
    ]
    return min(ranked, key=lambda entry: entry[0])[1] if ranked else None


def matches(policy: PropagationPolicy, manifest: Manifest) -> bool:
    """Return whether the policy selects the object; a PropagationPolicy selects only in its own
    namespace.
    """
    if policy.key.kind == PROPAGATION and policy.key.namespace != manifest.namespace:
        return False
    return policy.spec.rank(manifest) is not Rank.NO_MATCH


def preference(policy: PropagationPolicy, manifest: Manifest) -> tuple[bool, int, int, str]:
    """Return the sort key of a policy that matches an object, best first: kind, priority,
    precision, name.
    """
    return precedence(policy, policy.spec.rank(manifest))


def precedence(policy: PropagationPolicy, rank: Rank = Rank.NO_MATCH) -> tuple[bool, int, int, str]:
    """Return the sort key of a policy that matches an object with this precision."""
    return (policy.key.kind == CLUSTER_PROPAGATION, -policy.spec.priority, -rank, policy.key.name)


def missing_overrides(policy: PropagationPolicy, overrides: frozenset[PolicyKey]) -> list[str]:
    """Return the names of the dependent override policies that do not exist yet."""
    kind = CLUSTER_OVERRIDE if policy.key.kind == CLUSTER_PROPAGATION else OVERRIDE
    names = policy.spec.dependent_overrides
    return [name for name in names if PolicyKey(kind, policy.key.namespace, name) not in overrides]


class _Detector:
    """One pass over everything that has changed, with the queue and the claims as they develop."""

    def __init__(self, hub: HubSnapshot, claims: Claims, preemption: bool) -> None:
        self.hub, self.claims, self.preemption = hub, claims, preemption
        self.policies = {policy.key: policy for policy in hub.policies}
        looked_at = [key for key, manifest in hub.templates.items() if propagates(manifest)]
        known = {key: claim for key, claim in claims.objects.items() if key in looked_at}
        self.objects: dict[str, PolicyClaim] = {
            **known,
            **{key: PolicyClaim() for key in looked_at if key not in known},
        }
        self.named = {_identity(hub.templates[key]): key for key in self.objects}
        # An object without a revision ended in an error: Karmada retries it by itself, and no
        # policy has to find it.
        self.waiting = {
            key
            for key, claim in known.items()
            if claim.policy is None and claim.revision is not None
        }
        # A dict as an ordered set: what is queued twice is processed once, at its first place.
        self.queue: dict[tuple[str, bool], None] = {}
        self.events: list[tuple[str, Event]] = []
        self.errors: list[str] = []
        self.failed: set[PolicyKey] = set()

    def look_at_policies(self) -> None:
        """Process deleted policies first, then new and changed ones."""
        for path in self.claims.policies:
            if PolicyKey(*path.split("/")) not in self.policies:
                self._delete(PolicyKey(*path.split("/")))
        for policy in sorted(self.hub.policies, key=lambda policy: policy.key):
            before = self.claims.policies.get(policy.key.path)
            if before is None or before.digest != policy.digest:
                self._reconcile(policy)
            if before is not None and self.preemption:
                for other in self._between(policy, before.priority):
                    self._reconcile(other)

    def look_at_objects(self) -> None:
        """Process the queued objects, then the new and changed ones, until the queue is empty."""
        for key, claim in self.objects.items():
            if claim.revision != self._revision(key):
                self._enqueue(key)
        while self.queue:
            key, by_policy = next(iter(self.queue))
            del self.queue[key, by_policy]
            self._sync(key, by_policy)

    def seen(self, policy: PropagationPolicy) -> SeenPolicy:
        """Return the record of a policy; without a digest if it failed, so that it is processed
        again next time.
        """
        digest = "" if policy.key in self.failed else policy.digest
        return SeenPolicy(digest, policy.spec.priority)

    def _delete(self, key: PolicyKey) -> None:
        # Releasing changes values only, not the keys that the loop goes over.
        for name, claim in self.objects.items():
            if claim.policy == key:
                self._release(name)

    def _between(self, policy: PropagationPolicy, old_priority: int) -> list[PropagationPolicy]:
        """Return the Always policies that may preempt now that this policy's priority was lowered,
        highest first.
        """
        others = [
            other
            for other in self.hub.policies
            if (other.key.kind, other.key.namespace) == (policy.key.kind, policy.key.namespace)
            and other.spec.preemption == "Always"
            and policy.spec.priority < other.spec.priority < old_priority
        ]
        return sorted(others, key=lambda other: (-other.spec.priority, other.key))

    def _reconcile(self, policy: PropagationPolicy) -> None:
        self._release_unmatched(policy)
        for key, claim in self.objects.items():
            if claim.bound and claim.bound.policy == policy.key:
                self._enqueue(key, policy.lazy)
        matching = [
            key
            for key in self.objects
            if key in self.waiting and matches(policy, self.hub.templates[key])
        ]
        # Only if something waits for the policy: what it has claimed was queued above and is not
        # held back here.
        if matching and missing_overrides(policy, self.hub.overrides):
            self.failed.add(policy.key)
            self.errors.append(WAITING_FOR_OVERRIDES)
            return
        for key in matching:
            self.waiting.discard(key)
            self._enqueue(key, policy.lazy)
        if self.preemption and policy.spec.preemption == "Always":
            self._preempt(policy)

    def _release_unmatched(self, policy: PropagationPolicy) -> None:
        for key, claim in self.objects.items():
            bound = claim.bound
            if (
                bound
                and bound.policy == policy.key
                and not matches(policy, self.hub.templates[key])
            ):
                self._set(key, bound=attrs.evolve(bound, policy=None))
                # Karmada takes the claim labels of the kind away without looking whose they are, so
                # the claim of another policy of that kind goes too (``removeRBsClaimMetadata`` in
                # pkg/detector/policy.go, 1.19).
                if claim.policy and claim.policy.kind == policy.key.kind:
                    self._release(key)

    def _preempt(self, policy: PropagationPolicy) -> None:
        for selector in policy.spec.resource_selectors:
            # A selector of a policy that preempts must have a name. Without a namespace it finds no
            # namespaced object, so it preempts cluster-scoped ones only (``fetchResourceTemplate``
            # in preemption.go).
            key = self.named.get(
                (selector.api_version, selector.kind, selector.namespace, selector.name)
            )
            claimed = self.objects[key].policy if key else None
            if key and claimed and self._may_preempt(policy, claimed):
                self._record(key, "PreemptPolicySucceed", _preempted(policy.key, claimed))
                self._set(key, policy=policy.key)
                self._enqueue(key, policy.lazy)

    def _may_preempt(self, policy: PropagationPolicy, claimed: PolicyKey) -> bool:
        if claimed == policy.key or claimed not in self.policies:
            return False
        if claimed.kind != policy.key.kind:
            # A namespaced policy preempts a cluster-wide one whatever the priorities, and never the
            # other way round.
            return claimed.kind == CLUSTER_PROPAGATION
        return policy.spec.priority > self.policies[claimed].spec.priority

    def _sync(self, key: str, by_policy: bool) -> None:
        """Process an object, either because it changed or because a lazy policy queued it."""
        manifest, claim = self.hub.templates[key], self.objects[key]
        self._set(key, revision=self._revision(key))
        if claim.policy is None:
            policy = best_policy(manifest, self.hub.policies)
            if policy is None:
                return
        elif claim.policy not in self.policies:
            self._release(key)
            return
        else:
            policy = self.policies[claim.policy]
            # The object is frozen: it keeps its claim, and its changes reach nobody until the
            # policy itself changes (``getAndApplyPolicy`` in pkg/detector/policy.go, 1.19).
            if not matches(policy, manifest):
                return
        # Karmada does not fall back to the next best policy: the winner blocks until its overrides
        # exist.
        if missing_overrides(policy, self.hub.overrides):
            # Karmada retries after an error, so the object has to be looked at again next time.
            self._set(key, revision=None)
            self.errors.append(WAITING_FOR_OVERRIDES)
            return
        self._apply(key, policy, by_policy)

    def _apply(self, key: str, policy: PropagationPolicy, by_policy: bool) -> None:
        before = self.objects[key]
        self._set(key, policy=policy.key)
        # Lazy activation: the claim is written at once, the binding only when the object itself
        # changes.
        if by_policy and policy.lazy:
            return
        carried = {part: policy.data[part] for part in CARRIED if part in policy.data}
        bound = BoundPolicy(policy.key, carried, self._revision(key))
        if (before.policy, before.bound) != (policy.key, bound):
            self._set(key, bound=bound)
            scope = "cluster policy" if policy.key.kind == CLUSTER_PROPAGATION else "policy"
            self._record(key, "ApplyPolicySucceed", f"Apply {scope}({policy.key}) succeed")

    def _release(self, key: str) -> None:
        """Remove the claim from an object and its binding and queue the object, so that other
        policies can claim it.
        """
        claim = self.objects[key]
        if claim.bound and claim.bound.policy == claim.policy:
            self._set(key, bound=attrs.evolve(claim.bound, policy=None))
        self._set(key, policy=None)
        self._enqueue(key)

    def _enqueue(self, key: str, by_policy: bool = False) -> None:
        self.queue.setdefault((key, by_policy))

    def _set(self, key: str, **changes: Any) -> None:
        self.objects[key] = attrs.evolve(self.objects[key], **changes)

    def _revision(self, key: str) -> int:
        return self.hub.revisions.get(key, 0)

    def _record(self, key: str, reason: str, message: str) -> None:
        self.events.append((key, Event("Normal", reason, message)))


def _preempted(winner: PolicyKey, loser: PolicyKey) -> str:
    words = {PROPAGATION: "propagation policy", CLUSTER_PROPAGATION: "cluster propagation policy"}
    return (
        f"{words[winner.kind].capitalize()}({winner}) preempted {words[loser.kind]}({loser})"
        " successfully"
    )


def _identity(manifest: Manifest) -> tuple[str, str, str, str]:
    return (manifest.api_version, manifest.kind, manifest.namespace, manifest.name)
