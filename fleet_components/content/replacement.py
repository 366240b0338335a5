"""Predicts which changes of an object make the Pulumi Kubernetes provider replace it, and which an
API server refuses.

Sources: ``provider/pkg/provider/diff.go`` of the Pulumi Kubernetes provider after 4.32, with
mutable ConfigMaps and Secrets; the validation of updates in Kubernetes 1.36. Rules that depend on
the state in a cluster are left out: that an unbound claim cannot grow, for example.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

from fleet_components.content.stored import normalized, stored
from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.problem import FieldPath, show_path
from fleet_components.model.quantity import is_quantity, parse_quantity

GroupKind = tuple[str, str]

HOLDS_DATA: frozenset[GroupKind] = frozenset(
    {
        ("", "Namespace"),
        ("", "PersistentVolume"),
        ("", "PersistentVolumeClaim"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apps", "StatefulSet"),
    }
)
"""Kinds whose deletion, alone or in a replacement, also deletes data or the objects of others."""


def _all(path: str, fields: str) -> str:
    return " ".join(f"{path}.{field}" for field in fields.split())


_VOLUMES = _all(
    "spec",
    "awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker"
    " gcePersistentDisk glusterfs hostPath iscsi local nfs photonPersistentDisk portworxVolume"
    " quobyte rbd scaleIO storageos vsphereVolume",
)
_POD = _all(
    "spec",
    "affinity automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks hostAliases"
    " hostIPC hostNetwork hostPID hostname imagePullSecrets nodeName nodeSelector overhead"
    " preemptionPolicy priority priorityClassName readinessGates restartPolicy runtimeClassName"
    " schedulerName securityContext serviceAccount serviceAccountName shareProcessNamespace"
    " subdomain terminationGracePeriodSeconds volumes",
)
_CONTAINER = (
    "args command env image imagePullPolicy lifecycle livenessProbe ports readinessProbe resources"
    " securityContext stdin stdinOnce terminationMessagePath terminationMessagePolicy tty"
    " volumeDevices volumeMounts workingDir"
)
_POD_REST = _all(
    "spec",
    "ephemeralContainers hostUsers hostnameOverride os resourceClaims resources schedulingGroup"
    " setHostnameAsFQDN topologySpreadConstraints",
)
_CONTAINER_REST = "envFrom name resizePolicy restartPolicy restartPolicyRules startupProbe"
_CONTAINERS = ("spec.containers.*", "spec.initContainers.*")

# API versions, and the fields whose change makes the provider replace. A star stands for each item
# of a list.
_FORCING: Mapping[GroupKind, tuple[str, str]] = {
    ("", "PersistentVolume"): ("v1", _VOLUMES),
    ("", "PersistentVolumeClaim"): (
        "v1",
        _all("spec", "accessModes selector storageClassName volumeName"),
    ),
    ("", "Pod"): ("v1", " ".join([_POD, *(_all(path, _CONTAINER) for path in _CONTAINERS)])),
    ("", "ResourceQuota"): ("v1", "spec.scopes"),
    ("", "Secret"): ("v1", "type"),
    ("", "Service"): ("v1", "spec.clusterIP"),
    ("apps", "DaemonSet"): ("v1 v1beta2", "spec.selector"),
    ("apps", "Deployment"): ("v1 v1beta2", "spec.selector"),
    ("apps", "StatefulSet"): (
        "v1 v1beta2 v1beta1",
        _all(
            "spec",
            "podManagementPolicy revisionHistoryLimit selector serviceName volumeClaimTemplates",
        ),
    ),
    ("batch", "Job"): (
        "v1 v1beta1 v2alpha1",
        _all("spec", "completions parallelism selector template"),
    ),
    ("policy", "PodDisruptionBudget"): ("v1beta1", "spec"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): ("v1 v1beta1 v1alpha1", "roleRef"),
    ("rbac.authorization.k8s.io", "RoleBinding"): ("v1 v1beta1 v1alpha1", "roleRef"),
    ("storage.k8s.io", "StorageClass"): ("v1", "parameters provisioner"),
}
# Further fields for immutable objects.
_FORCING_SEALED: Mapping[GroupKind, str] = {
    ("", "ConfigMap"): "binaryData data",
    ("", "Secret"): "data",
}

# Further fields that API servers refuse to change.
_IMMUTABLE: Mapping[GroupKind, str] = {
    ("", "PersistentVolume"): "spec.volumeMode",
    ("", "PersistentVolumeClaim"): _all(
        "spec", "dataSource dataSourceRef resources.limits volumeMode"
    ),
    ("", "Pod"): " ".join([_POD_REST, *(_all(path, _CONTAINER_REST) for path in _CONTAINERS)]),
    ("", "Service"): "spec.clusterIPs.0",
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _all(
        "spec", "group names.kind names.plural scope"
    ),
    ("apps", "ControllerRevision"): "data",
    ("apps", "ReplicaSet"): "spec.selector",
    ("batch", "Job"): _all(
        "spec", "backoffLimitPerIndex completionMode managedBy podFailurePolicy successPolicy"
    ),
    ("certificates.k8s.io", "ClusterTrustBundle"): "spec.signerName",
    ("certificates.k8s.io", "PodCertificateRequest"): "spec",
    ("coordination.k8s.io", "LeaseCandidate"): "spec.leaseName",
    ("discovery.k8s.io", "EndpointSlice"): "addressType",
    ("networking.k8s.io", "IPAddress"): "spec.parentRef",
    ("networking.k8s.io", "IngressClass"): "spec.controller",
    ("networking.k8s.io", "ServiceCIDR"): "spec.cidrs.0",
    ("node.k8s.io", "RuntimeClass"): "handler",
    ("resource.k8s.io", "ResourceClaim"): "spec",
    ("resource.k8s.io", "ResourceClaimTemplate"): "spec",
    ("resource.k8s.io", "ResourceSlice"): _all("spec", "driver nodeName pool.name"),
    ("scheduling.k8s.io", "PriorityClass"): "preemptionPolicy value",
    ("storage.k8s.io", "CSIDriver"): _all("spec", "attachRequired volumeLifecycleModes"),
    ("storage.k8s.io", "CSIStorageCapacity"): "nodeTopology storageClassName",
    ("storage.k8s.io", "StorageClass"): "reclaimPolicy volumeBindingMode",
    ("storage.k8s.io", "VolumeAttachment"): "spec",
    ("storage.k8s.io", "VolumeAttributesClass"): "driverName parameters",
    ("storagemigration.k8s.io", "StorageVersionMigration"): "spec",
}

_ALLOCATED = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
"""Fields that an API server keeps in a Service that leaves them out (``patchAllocatedValues`` in
``pkg/registry/core/service/storage``)."""


def replacement(
    old: Mapping[str, Any], new: Mapping[str, Any], *, sealed: bool = False
) -> tuple[str, ...]:
    """Return the changed fields for which the provider deletes and recreates the object; empty for
    an update in place.

    Args:
        old: the object as sent before.
        new: the object as sent now; its API version decides which rules apply.
        sealed: the provider treats ConfigMaps and Secrets as immutable, which is its default.
    """
    # The provider compares its inputs, not the live object: adding a value that the API server
    # defaulted is a change. It reads them into the types of the API before, which knows one form of
    # a quantity and drops empty fields.
    versions, fields = _FORCING.get(_kind(new), ("", ""))
    forcing = fields.split() if Manifest(new).version in versions.split() else []
    if sealed or new.get("immutable") is True:
        forcing += _FORCING_SEALED.get(_kind(new), "").split()
    return _changed(normalized(as_sent(old)), normalized(as_sent(new)), forcing)


def immutable(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the changed fields that an API server refuses to change and for which the provider
    does not replace.

    Empty if there are none, and for an object that is replaced: to an API server it is a new
    object.
    """
    # To the API server it is a new object, to which no such rule applies.
    if replacement(old, new):
        return ()
    old, new = _as_stored(old, new)
    return _changed(old, new, _fixed_fields(old, new), removed=True)


def refused(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the changed fields that an API server refuses to change, whatever the provider does
    about it.

    A default that is written out is no change, nor is one that is left out, nor a cluster IP that
    is left out.

    Args:
        old: the object as sent before.
        new: the object as sent now; its API version decides which rules apply.
    """
    kind = _kind(new)
    versions, forcing = _FORCING.get(kind, ("", ""))
    fields = set(forcing.split() if Manifest(new).version in versions.split() else ()) - _mutable(
        kind, old, new
    )
    old, new = _as_stored(old, new)
    return _changed(old, new, (*sorted(fields), *_fixed_fields(old, new)), removed=True)


def _as_stored(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the object as an API server has stored it, and as it stores the update.

    A default that nobody has written stays where it was filled in, also if it depends on a field
    that changes now.
    """
    was, now = (data.get("spec") or {} for data in (old, new))
    if not (was or now) or not all(isinstance(spec, Mapping) for spec in (was, now)):
        return stored(old), stored(new)
    kept = stored({**old, "spec": was})
    # These stay as they were allocated, unless the update writes them.
    written = set(was) - set(_ALLOCATED if _kind(new) == ("", "Service") else ())
    unwritten = {field: value for field, value in kept["spec"].items() if field not in written}
    return kept, stored({**new, "spec": {**unwritten, **now}})


def _fixed_fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields that API servers refuse to change, and that the provider does not know as
    such.
    """
    kind = _kind(new)
    return (*_IMMUTABLE.get(kind, "").split(), *_immutable_here(kind, old, new))


def _mutable(kind: GroupKind, old: Mapping[str, Any], new: Mapping[str, Any]) -> set[str]:
    """Return the fields that API servers change in place, though the provider does not.

    Sources: Kubernetes 1.36, ``validateCompletions`` for elastic indexed Jobs,
    ``validatePodTemplateUpdate`` for suspended ones, of which some fields of the template may
    change, ``ValidateStatefulSetUpdate``.
    """
    was, now = old.get("spec") or {}, new.get("spec") or {}
    match kind:
        case "", "Pod":
            return {f"{path}.image" for path in _CONTAINERS}
        case "", "Service" if not (was.get("clusterIP") and now.get("clusterIP")):
            return {"spec.clusterIP"}
        case "apps", "StatefulSet":
            return {"spec.revisionHistoryLimit"}
        case "batch", "Job":
            elastic = now.get("completionMode") == "Indexed" and now.get("completions") == now.get(
                "parallelism"
            )
            suspended = was.get("suspend") is True
            return {
                "spec.parallelism",
                *(["spec.completions"] if elastic else []),
                *(["spec.template"] if suspended else []),
            }
    return set()


def _immutable_here(
    kind: GroupKind, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the fields that are immutable in some objects only, or in one direction only."""
    was, now = old.get("spec") or {}, new.get("spec") or {}
    match kind:
        case "", "ConfigMap" | "Secret" if old.get("immutable") is True:
            yield from ("binaryData", "data", "immutable")
        case "", "PersistentVolume" if was.get("nodeAffinity"):
            yield "spec.nodeAffinity"
        case "", "PersistentVolumeClaim" if _shrinks(was, now):
            yield "spec.resources.requests.storage"
        case "", "Pod":
            yield from _immutable_in_pod(was, now)
        case "", "Service":
            if was.get("type") == now.get("type") == "LoadBalancer":
                yield "spec.loadBalancerClass"
            if "None" not in (was.get("clusterIP"), now.get("clusterIP")):
                # Only the first family is fixed: a second one may come and go.
                yield "spec.ipFamilies.0"


def _shrinks(was: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    sizes = [str(value_at(spec, ("resources", "requests", "storage"))) for spec in (was, now)]
    # A missing size has become the text None, which is no quantity.
    return all(map(is_quantity, sizes)) and parse_quantity(sizes[1]) < parse_quantity(sizes[0])


def _immutable_in_pod(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield immutable fields of a pod: deadlines can only be shortened, tolerations only added,
    gates only removed.
    """
    before, after = was.get("activeDeadlineSeconds"), now.get("activeDeadlineSeconds")
    if before is not None and (after is None or after > before):
        yield "spec.activeDeadlineSeconds"
    if any(toleration not in _tolerations(now) for toleration in _tolerations(was)):
        yield "spec.tolerations"
    if any(
        gate not in (was.get("schedulingGates") or ()) for gate in now.get("schedulingGates") or ()
    ):
        yield "spec.schedulingGates"


def _tolerations(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    # Kubernetes lets the seconds of an existing toleration change.
    return [
        {**toleration, "tolerationSeconds": None} for toleration in spec.get("tolerations") or ()
    ]


def _changed(
    old: Mapping[str, Any], new: Mapping[str, Any], fields: Iterable[str], *, removed: bool = False
) -> tuple[str, ...]:
    """Return those of the fields that change.

    With ``removed``, fields that disappear together with an enclosing field count as changed as
    well.
    """
    paths = [field.split(".") for field in fields]
    shown = (
        show_path(path[: len(field)] if len(path) >= len(field) or "*" in field else field)
        for path, before, after in _changes(old, new)
        for field in paths
        if _touches(path, after, field) or (removed and _touches(path, before, field))
    )
    return tuple(dict.fromkeys(shown))


def _changes(old: Any, new: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any, Any]]:
    """Yield each difference of two values: path, old value and new value.

    Null and an empty list count as absent; lists are compared item by item.
    """
    old, new = (None if value == [] else value for value in (old, new))
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys()):
            yield from _changes(old.get(key), new.get(key), (*path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index, (before, after) in enumerate(zip_longest(old, new)):
            yield from _changes(before, after, (*path, index))
    # In Python 1 equals True, in JSON it does not.
    elif old != new or isinstance(old, bool) != isinstance(new, bool):
        yield path, old, new


def _touches(path: FieldPath, value: Any, field: list[str]) -> bool:
    """Return whether the path is the field or inside it, or encloses it and the field is in the
    value.
    """
    # Not strict: either of the two may be the longer one.
    if any(wanted not in ("*", str(step)) for wanted, step in zip(field, path, strict=False)):
        return False
    return _holds(value, field[len(path) :])


def _holds(value: Any, field: list[str]) -> bool:
    """Return whether the field is in a value.

    To the provider, a missing list contains whatever its items can contain.
    """
    if not field:
        return True
    step, *rest = field
    if step == "*":
        return not value or (isinstance(value, list) and any(_holds(item, rest) for item in value))
    return value_at(value, (step,)) not in (None, []) and _holds(value[step], rest)


def as_sent(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object as the provider sends it: ``stringData`` of a Secret is encoded into its
    ``data``.
    """
    texts, known = data.get("stringData"), data.get("data") or {}
    if (
        _kind(data) != ("", "Secret")
        or not texts
        or not all(isinstance(item, Mapping) for item in (texts, known))
    ):
        return data
    encoded = {key: base64.b64encode(str(text).encode()).decode() for key, text in texts.items()}
    return {**data, "stringData": None, "data": {**known, **encoded}}


def _kind(data: Mapping[str, Any]) -> GroupKind:
    manifest = Manifest(data)
    return manifest.group, manifest.kind
