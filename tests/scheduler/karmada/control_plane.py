"""A Karmada control plane in small: objects come, change and go one by one, and policies claim them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fleet_components.admission import admit
from fleet_components.model.manifest import Manifest
from fleet_components.systems.karmada.model.policy import (
    CLUSTER_OVERRIDE,
    CLUSTER_PROPAGATION,
    OVERRIDE,
    PROPAGATION,
    PolicyKey,
    PropagationPolicy,
    policy_key,
)
from fleet_components.systems.karmada.model.template import Claims, template_key
from fleet_components.systems.karmada.scheduler import matching
from fleet_components.systems.karmada.scheduler.matching import HubSnapshot, Matched, match_policies


class ControlPlane:
    """Speaks the form of ``matching.json``."""

    def __init__(self, preemption: bool) -> None:
        self.preemption = preemption
        self.templates: dict[str, Manifest] = {}
        self.policies: dict[PolicyKey, PropagationPolicy] = {}
        self.overrides: set[PolicyKey] = set()
        self.revisions: dict[str, int] = {}
        self.claims = Claims()

    def after(self, verb: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """The outcome of one event: ``create``, ``update`` or ``delete``."""
        manifest = Manifest(data)
        refused = self._change(verb, manifest)
        hub = HubSnapshot(
            self.templates, tuple(self.policies.values()), frozenset(self.overrides), self.revisions
        )
        done = self._matched(hub)
        self.claims = Claims.from_wire(done.claims.to_wire())
        outcome: dict[str, Any] = {"resources": [self._row(key) for key in self.templates] or None}
        if done.events:
            outcome["events"] = [str(event) for _, event in done.events]
        if done.errors:
            outcome["errors"] = list(done.errors)
        return {**outcome, **({"validationError": refused} if refused else {})}

    def _matched(self, hub: HubSnapshot) -> Matched:
        with (
            pytest.MonkeyPatch.context() as patched
        ):  # the recorded control plane skips no namespaces
            patched.setattr(matching, "SKIPPED_NAMESPACES", ())
            return match_policies(hub, self.claims, preemption=self.preemption)

    def _change(self, verb: str, manifest: Manifest) -> str:
        if manifest.kind in (PROPAGATION, CLUSTER_PROPAGATION):
            return self._change_policy(verb, manifest)
        if manifest.kind in (OVERRIDE, CLUSTER_OVERRIDE):
            (self.overrides.discard if verb == "delete" else self.overrides.add)(
                policy_key(manifest)
            )
            return ""
        key = template_key(manifest)
        if self.templates.get(key) != manifest:
            self.revisions[key] = self.revisions.get(key, 0) + 1
        if verb == "delete":
            del self.templates[key]
        else:
            self.templates[key] = manifest
        return ""

    def _change_policy(self, verb: str, manifest: Manifest) -> str:
        """Why the policy is refused; empty when it is not."""
        if verb == "delete":
            del self.policies[policy_key(manifest)]
            return ""
        admission = admit(manifest)
        if admission.refusals:
            return admission.refusals[0].text
        policy = PropagationPolicy.from_manifest(admission.defaulted)
        self.policies[policy.key] = policy
        return ""

    def _row(self, key: str) -> dict[str, Any]:
        manifest, claim = self.templates[key], self.claims.of(key)
        row = {
            "resource": str(manifest.key),
            "claimedBy": _key(claim.policy),
            "bindingExists": claim.bound is not None,
        }
        if claim.bound:
            if claim.bound.policy:
                row["bindingClaimedBy"] = _key(claim.bound.policy)
            affinity = claim.bound.placement.cluster_affinity
            row["bindingPlacementOf"] = affinity.cluster_names[0] if affinity else None
        return row


def _key(key: PolicyKey | None) -> dict[str, str] | None:
    if key is None:
        return None
    return {
        "kind": key.kind,
        **({"namespace": key.namespace} if key.namespace else {}),
        "name": key.name,
    }
