"""What a template brings to its members: one content for all, and the object that each of them gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fleet_components.content.karmada.override import override
from fleet_components.content.karmada.replicas import with_replicas
from fleet_components.content.karmada.workload import shape_of, value_at
from fleet_components.content.strip import strip
from fleet_components.model.cluster import Cluster
from fleet_components.model.karmada import CLUSTER_OVERRIDE
from fleet_components.model.karmada_override import OverridePolicy
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.plan.karmada.record import Share
from fleet_components.plan.record import Objects

CONFLICT_RESOLUTION = "work.karmada.io/conflict-resolution"
_FORCE = "pulumi.com/patchForce"


def content_of(manifest: Manifest, overrides: Iterable[OverridePolicy], *, divided: bool) -> Objects:
    """The content of a template: the object, then the override policies that may concern it.

    Args:
        manifest: the template.
        overrides: the override policies of the fleet.
        divided: its replicas are set for each member, and are no part of the content.
    """
    data = strip(manifest).data
    shape = shape_of(manifest)
    if divided and shape and shape.replicas:
        data = _without(data, shape.replicas)
    return data, *map(_plain, _concerning(manifest, overrides))


def emitted(content: Objects, share: Share, cluster: Cluster, *, overwrite: bool = False) -> Mapping[str, Any]:
    """The object that a member gets: with its replicas, then with the overrides applied.

    Args:
        content: the content of the share's revision.
        share: the member's share.
        cluster: the member.
        overwrite: an object of the same name that somebody else made is taken over.

    Raises:
        FleetError: an override does not apply.
    """
    template, *policies = content
    manifest = Manifest(template)
    shape = shape_of(manifest)
    if share.replicas is not None and shape and shape.replicas and value_at(template, shape.replicas) is None:
        manifest = Manifest(with_replicas(manifest, share.replicas, share.completions))
    done = override(manifest, cluster, (OverridePolicy.from_manifest(Manifest(policy)) for policy in policies))
    if done.problem or done.data is None:
        raise FleetError([done.problem] if done.problem else [])
    return _forced(done.data) if overwrite else done.data


def _concerning(manifest: Manifest, overrides: Iterable[OverridePolicy]) -> list[OverridePolicy]:
    """The override policies that may select the object; its labels may yet be changed by one of them."""
    found = [
        policy
        for policy in overrides
        if policy.key.kind == CLUSTER_OVERRIDE or policy.key.namespace == manifest.namespace
        if not policy.spec.resource_selectors
        or any(
            (selector.api_version, selector.kind) == (manifest.api_version, manifest.kind)
            and selector.name in ("", manifest.name)
            for selector in policy.spec.resource_selectors
        )
    ]
    return sorted(found, key=lambda policy: policy.key)


def _plain(policy: OverridePolicy) -> Mapping[str, Any]:
    """What of a policy bears on its effect."""
    data = policy.manifest.data
    named = {"name": policy.key.name, **({"namespace": policy.key.namespace} if policy.key.namespace else {})}
    return {"apiVersion": data["apiVersion"], "kind": data["kind"], "metadata": named, "spec": data["spec"]}


def _forced(data: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = data.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), _FORCE: "true"}
    return {**data, "metadata": {**metadata, "annotations": annotations}}


def _without(data: Any, path: tuple[str, ...]) -> Any:
    first, *rest = path
    if not isinstance(data, Mapping) or first not in data:
        return data
    if not rest:
        return {key: value for key, value in data.items() if key != first}
    return {**data, first: _without(data[first], tuple(rest))}
