"""Removes from an object what Karmada does not send to members, after replicas and overrides were
set.

Source: ``RemoveIrrelevantFields`` and ``RemoveJobTTLSeconds`` in
``pkg/resourceinterpreter/default/native/prune`` of Karmada 1.19. The rules of a kind hold for all
API groups that have one of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from fleet_components.content.strip import Path, without
from fleet_components.model.manifest import value_at

Object = Mapping[str, Any]

_METADATA: tuple[Path, ...] = tuple(
    ("metadata", field)
    for field in (
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    )
)
_UID_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")
JOB_LABELS = (*_UID_LABELS, "job-name", "batch.kubernetes.io/job-name")
"""Labels that an API server puts on the pods of a Job."""
_TOKEN = "kubernetes.io/service-account-token"
ACCOUNT_UID = "kubernetes.io/service-account.uid"
"""Annotation of a token Secret: the uid of its account, which differs by cluster."""
SELECTED_NODE = "volume.kubernetes.io/selected-node"
"""Annotation of a claim: the node for which its volume is made."""


def pruned(data: Object) -> Object:
    """Return an object as Karmada sends it to a member."""
    data = without(data, ("status",), *_METADATA)
    return _OF_KINDS.get(str(data.get("kind")), _unchanged)(data)


def _unchanged(data: Object) -> Object:
    return data


def _annotation(name: str) -> Path:
    return "metadata", "annotations", name


def _deployment(data: Object) -> Object:
    names = ("deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history")
    return without(data, *map(_annotation, names))


def _job(data: Object) -> Object:
    data = without(data, ("spec", "ttlSecondsAfterFinished"))
    # With a manual selector, the labels are the user's own.
    if value_at(data, ("spec", "manualSelector")) is True:
        return data
    selector = (("spec", "selector", "matchLabels", label) for label in _UID_LABELS)
    template = (("spec", "template", "metadata", "labels", label) for label in JOB_LABELS)
    return without(data, *selector, *template)


def _secret(data: Object) -> Object:
    if data.get("type") != _TOKEN:
        return data
    return without(data, ("data",), ("stringData",), _annotation(ACCOUNT_UID))


def _service_account(data: Object) -> Object:
    secrets = data.get("secrets")
    if not isinstance(secrets, list):
        return data
    token, kept, position = f"{value_at(data, ('metadata', 'name'))}-token-", [], 0
    while position < len(secrets):
        generated = str(value_at(secrets[position], ("name",))).startswith(token)
        # Karmada takes a generated one out and goes on behind the next, which it does not look at.
        kept += secrets[position + 1 : position + 2] if generated else [secrets[position]]
        position += 2 if generated else 1
    return data if len(kept) == len(secrets) else {**data, "secrets": kept}


def without_address(data: Object) -> Object:
    """Return a Service without the addresses that its API server has assigned; any other object
    as it is.
    """
    return _service(data) if data.get("kind") == "Service" else data


def _service(data: Object) -> Object:
    address = value_at(data, ("spec", "clusterIP"))
    # "None" makes a Service headless: it is the user's choice, not an address.
    if not isinstance(address, str) or address == "None":
        return data
    return without(data, ("spec", "clusterIP"), ("spec", "clusterIPs"))


def _claim(data: Object) -> Object:
    node = _annotation(SELECTED_NODE)
    return without(data, node) if value_at(data, node) else data


_OF_KINDS: Mapping[str, Callable[[Object], Object]] = MappingProxyType(
    {
        "Deployment": _deployment,
        "Job": _job,
        "PersistentVolumeClaim": _claim,
        "Secret": _secret,
        "Service": _service,
        "ServiceAccount": _service_account,
    }
)
