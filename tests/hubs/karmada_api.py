"""Objects that make an API server into Karmada's, and the kinds that Karmada has."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

Document = dict[str, Any]
SYSTEM = "karmada-system"
WATCHED = (
    *(
        f"/apis/policy.karmada.io/v1alpha1/{kind}"
        for kind in (
            "propagationpolicies",
            "clusterpropagationpolicies",
            "overridepolicies",
            "clusteroverridepolicies",
            "clustertaintpolicies",
            "federatedresourcequotas",
        )
    ),
    "/apis/apps.karmada.io/v1alpha1/workloadrebalancers",
    "/apis/work.karmada.io/v1alpha1/works",
    "/apis/work.karmada.io/v1alpha2/resourcebindings",
    "/apis/work.karmada.io/v1alpha2/clusterresourcebindings",
)
"""What changes when Karmada does something, beside the templates."""
NAMESPACES: Sequence[Document] = [
    {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {"karmada.io/system": "true"}},
    }
    for name in (SYSTEM, "karmada-cluster")
]
_NAME = {"name": "fleet:clusters"}
ROLES: Sequence[Document] = [
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": _NAME,
        "rules": [
            {
                "apiGroups": ["cluster.karmada.io"],
                "resources": ["clusters", "clusters/status"],
                "verbs": ["*"],
            },
        ],
    },
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": _NAME,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", **_NAME},
        "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:anonymous"}
        ],
    },
]
"""Whoever the API server calls for is nobody to the one of Clusters, as the control plane has no proxy's certificate."""

_ACTIVE = {
    "certificate-controller",
    "clusterrole-aggregation-controller",
    "generic-garbage-collector",
    "namespace-controller",
    "service-account-controller",
    "ttl-after-finished-controller",
}
"""The controllers that Karmada's installation runs on the hub, and that of the accounts, without which pods are refused."""


def must_rest(binding: str) -> bool:
    """Whether a ClusterRoleBinding lets somebody in who would run templates on the hub."""
    prefix, name = binding.rpartition(":")[::2]
    return (
        prefix == "system:controller" and name not in _ACTIVE
    ) or binding == "system:kube-scheduler"


_PLACEHOLDERS: Mapping[str, Mapping[str, str]] = {
    "autoscaling.karmada.io/v1alpha1": {
        "FederatedHPA": "Namespaced",
        "CronFederatedHPA": "Namespaced",
    },
    "config.karmada.io/v1alpha1": {
        "ResourceInterpreterCustomization": "Cluster",
        "ResourceInterpreterWebhookConfiguration": "Cluster",
    },
    "multicluster.x-k8s.io/v1alpha1": {
        "ServiceExport": "Namespaced",
        "ServiceImport": "Namespaced",
    },
    "networking.karmada.io/v1alpha1": {
        "MultiClusterIngress": "Namespaced",
        "MultiClusterService": "Namespaced",
    },
    "remedy.karmada.io/v1alpha1": {"Remedy": "Cluster"},
}


def placeholders() -> list[Document]:
    """Definitions that take any content, of the kinds that Karmada watches and no test uses."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return [
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {
                "name": f"{_plural(kind)}.{group}",
                # Names that end in k8s.io are the community's, which says so by a word here.
                "annotations": {"api-approved.kubernetes.io": "unapproved, a placeholder"},
            },
            "spec": {
                "group": group,
                "names": {
                    "kind": kind,
                    "plural": _plural(kind),
                    "singular": kind.lower(),
                    "listKind": f"{kind}List",
                },
                "scope": scope,
                "versions": [
                    {
                        "name": version,
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": anything},
                        "subresources": {"status": {}},
                    }
                ],
            },
        }
        for group, _, version in (api.partition("/") for api in _PLACEHOLDERS)
        for kind, scope in _PLACEHOLDERS[f"{group}/{version}"].items()
    ]


def _plural(kind: str) -> str:
    name = kind.lower()
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith("s") else f"{name}s"


def aggregation(port: int) -> list[Document]:
    """The API server of Clusters, behind Karmada's own."""
    service = {"name": "karmada-aggregated-apiserver", "namespace": SYSTEM}
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": service,
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        },
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": "v1alpha1.cluster.karmada.io"},
            "spec": {
                "group": "cluster.karmada.io",
                "version": "v1alpha1",
                "groupPriorityMinimum": 2000,
                "versionPriority": 10,
                "insecureSkipTLSVerify": True,  # its certificate is for localhost, not for the name of the service
                "service": {**service, "port": port},
            },
        },
    ]


_CHANGED: Mapping[str, Sequence[str]] = {
    "autoscaling.karmada.io": ["FederatedHPA"],
    "networking.karmada.io": ["MultiClusterService"],
    "policy.karmada.io": ["PropagationPolicy", "ClusterPropagationPolicy", "OverridePolicy"],
    "work.karmada.io": ["Work"],
}
_CHANGED_WHEN_MADE = {"work.karmada.io": ["ResourceBinding", "ClusterResourceBinding"]}
_JUDGED: Mapping[str, Sequence[str]] = {
    "autoscaling.karmada.io": ["FederatedHPA", "CronFederatedHPA"],
    "config.karmada.io": [
        "ResourceInterpreterWebhookConfiguration",
        "ResourceInterpreterCustomization",
    ],
    "networking.karmada.io": ["MultiClusterIngress", "MultiClusterService"],
    "policy.karmada.io": [
        "PropagationPolicy",
        "ClusterPropagationPolicy",
        "OverridePolicy",
        "ClusterOverridePolicy",
        "FederatedResourceQuota",
        "ClusterTaintPolicy",
    ],
    "work.karmada.io": ["ResourceBinding"],
}


def webhooks(port: int, authority: bytes) -> list[Document]:
    """The webhooks of Karmada's installation, at a port of this machine.

    Args:
        authority: certificate of who issued that of the webhooks.
    """

    def hook(
        verb: str, group: str, name: str, operations: Sequence[str], resource: str
    ) -> Document:
        return {
            "name": f"{name}.karmada.io",
            "rules": [
                {
                    "operations": operations,
                    "apiGroups": [group],
                    "apiVersions": ["*"],
                    "resources": [resource],
                }
            ],
            "clientConfig": {
                "url": f"https://localhost:{port}/{verb}-{name}",
                "caBundle": b64encode(authority).decode(),
            },
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 10,
        }

    def hooks(verb: str, kinds: Mapping[str, Sequence[str]], *operations: str) -> list[Document]:
        return [
            hook(verb, group, kind.lower(), operations, _plural(kind))
            for group in kinds
            for kind in kinds[group]
        ]

    protection = hook("validate", "*", "resourcedeletionprotection", ["DELETE"], "*")
    label = {"key": "resourcetemplate.karmada.io/deletion-protected", "operator": "Exists"}
    protection["objectSelector"] = {"matchExpressions": [label]}
    told = {
        "Mutating": [
            *hooks("mutate", _CHANGED, "CREATE", "UPDATE"),
            *hooks("mutate", _CHANGED_WHEN_MADE, "CREATE"),
        ],
        "Validating": [*hooks("validate", _JUDGED, "CREATE", "UPDATE"), protection],
    }
    return [
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": f"karmada-{kind.lower()}"},
            "webhooks": found,
        }
        for kind, found in told.items()
    ]
