"""Kinds of object that can be selected, with their scope.

Source: the kinds that Kubernetes 1.36 stores by default, and KubeFleet's envelopes. A custom kind exists if the context
contains its CustomResourceDefinition or an object of it; without a hub there is no other way to tell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from fleet_components.admission.registry import Existing, Scope
from fleet_components.model.kinds import BUILT_IN, Kind
from fleet_components.model.text import nearest

_NOT_STORED = ("authentication.k8s.io", "authorization.k8s.io")
"""Groups whose kinds are requests to the API server that are not stored."""
_NOT_YET_STABLE = ("ClusterTrustBundle", "DeviceTaintRule", "LeaseCandidate", "PodCertificateRequest")
"""Kinds that are off by default, in groups that have stable kinds too."""
_ENVELOPES = ("ClusterResourceEnvelope", "ResourceEnvelope")


def _versions(kind: Kind) -> tuple[str, ...]:
    """Return the versions in which a hub serves a kind by default: the stable ones, the best one last."""
    if kind.kind in _ENVELOPES:
        return ("v1beta1",)
    if kind.group.endswith(".kubernetes-fleet.io") or kind.group in _NOT_STORED or kind.kind in _NOT_YET_STABLE:
        return ()
    return tuple(sorted(version for version in kind.versions if re.fullmatch("v[0-9]+", version)))


_OFFERED: Mapping[tuple[str, str], tuple[str, ...]] = {
    key: versions for key, kind in BUILT_IN.items() if (versions := _versions(kind))
}


def scope_of(group: str, version: str, kind: str, context: Existing) -> Scope | None:
    """Return the scope of a kind; None if there is no such kind."""
    if versions := served_versions(group, kind):
        return _scope(BUILT_IN[group, kind].namespaced) if version in versions else None
    return context.scopes.get((group, version, kind)) if version else None


def served_versions(group: str, kind: str) -> tuple[str, ...]:
    """Return the versions of a kind that needs no CustomResourceDefinition in the context; empty for other kinds."""
    return _OFFERED.get((group, kind), ())


def meant(group: str, kind: str) -> str:
    """Return the group, version and kind that were probably meant, as YAML; empty if none is similar."""
    same = [known for known in _OFFERED if known[1].casefold() == kind.casefold()]
    near = nearest(kind, [name for at, name in _OFFERED if at == group], 0.8)
    found = same or ([(group, near)] if near else [])
    if not found:
        return ""
    of_group, name = found[0]
    version = served_versions(of_group, name)[-1]
    return f"group: {json.dumps(of_group)}, version: {version}, kind: {name}"


def _scope(namespaced: bool) -> Scope:
    return "Namespaced" if namespaced else "Cluster"
