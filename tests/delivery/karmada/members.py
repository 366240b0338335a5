"""What a recording tells of the copies of a template on the members."""

from __future__ import annotations

from collections.abc import Mapping

from fleet_components.model.manifest import Manifest
from fleet_components.model.observed import Applied, ObservedMember, ObservedObject
from fleet_components.plan.apply_mode import ABORTS
from fleet_components.plan.subject import Decided, Delivery
from tests.delivery.karmada.recording import SERVED, Step
from tests.delivery.recording import Data

RECORDED = {
    kind for version in ("v1", "apps/v1", "batch/v1") for kind in SERVED[version].split()
} - {"Namespace"}
"""The kinds that are recorded on members."""
TOLD = {
    "Deployment": ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
    "Job": ("active", "succeeded", "failed", "conditions"),
}
"""What recordings tell of the statuses of objects on members; of other kinds nothing."""
_MANAGED = "karmada.io/managed"


def observed(step: Step, template: Decided) -> dict[str, ObservedMember]:
    """What was there of a template after a step, and what members answered when it was written."""
    found = {
        cluster: _copy(step, cluster, delivery) for cluster, delivery in template.deliveries.items()
    }
    return {cluster: ObservedMember({copy.key: copy}) for cluster, copy in found.items() if copy}


def _copy(step: Step, cluster: str, delivery: Delivery) -> ObservedObject | None:
    manifest = Manifest(delivery.objects[0])
    there, stands = _there(step, cluster, manifest), _stands(step, cluster, manifest)
    refused = step.answers.get(
        (manifest.kind, f"{manifest.namespace}/{manifest.name}", cluster), ""
    )
    if not stands and not refused:
        return None
    foreign = there is not None and _MANAGED not in (there.get("labels") or {})
    applied: Applied = "ManifestApplyFailed" if refused else "Applied"
    return ObservedObject(
        manifest.key,
        manifest.api_version,
        applied="NotTakenOver" if foreign and delivery.mode == ABORTS else applied,
        error=refused,
        status=there.get("status", {}) if there and manifest.kind in TOLD else None,
    )


def _stands(step: Step, cluster: str, manifest: Manifest) -> bool:
    """Whether there is a copy: of kinds that are not recorded on members, whether one was sent."""
    if manifest.kind in RECORDED:
        return _there(step, cluster, manifest) is not None
    sent = (item for work in step.after["works"].get(cluster, ()) for item in work["manifests"])
    return any((item["kind"], item["name"]) == (manifest.kind, _path(manifest)) for item in sent)


def _there(step: Step, cluster: str, manifest: Manifest) -> Data | None:
    path = _path(manifest)
    copies: Mapping[str, list[Data]] = step.after["memberObjects"]
    return next(
        (copy for copy in copies[cluster] if (copy["kind"], copy["name"]) == (manifest.kind, path)),
        None,
    )


def _path(manifest: Manifest) -> str:
    return "/".join(filter(None, (manifest.namespace, manifest.name)))
