"""Declarations of what watches a cluster: Container Insights, managed Prometheus, Microsoft
Defender.

Source: ``addonProfiles``, ``azureMonitorProfile`` and ``securityProfile.defender`` of
``managedClusters`` at API version 2025-09-01.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import attrs

from fleet_components.azure.values.arm_id import resource_problems
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Later, Typed

WORKSPACE = "Microsoft.OperationalInsights/workspaces"
_KUBERNETES_KEY = "[A-Za-z0-9_./-]+|\\*"


@attrs.frozen(kw_only=True)
class ContainerInsights(Typed):
    """Logs of containers and nodes, sent to a Log Analytics workspace by the add-on ``omsagent``.

    With ``entra_auth``, the agent sends what a data collection rule names. The rule and its
    association with the cluster are resources of ``Microsoft.Insights`` that this package does not
    create; ``AzureMember.cluster_id`` is the scope of the association. What is ingested costs
    money, which no estimate of this package includes.

    Attributes:
        enabled: on, the default; False switches it off.
        workspace: the resource ID of the Log Analytics workspace; needed when on. A Pulumi output
            is accepted.
        entra_auth: the agent signs in with a managed identity, the default, instead of the
            workspace's key.
    """

    enabled: bool = True
    workspace: str | Later | None = None
    entra_auth: bool = True

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        yield from _workspace_problems(self.enabled, self.workspace, path)


@attrs.frozen(kw_only=True)
class Defender(Typed):
    """Threat detection by Microsoft Defender for Containers.

    The plan of the subscription is a setting of its own (``Microsoft.Security/pricings``) and costs
    money, which no estimate of this package includes.

    Attributes:
        enabled: on, the default; False switches it off.
        workspace: the resource ID of the Log Analytics workspace; needed when on. A Pulumi output
            is accepted.
    """

    enabled: bool = True
    workspace: str | Later | None = None

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        yield from _workspace_problems(self.enabled, self.workspace, path)


@attrs.frozen(kw_only=True)
class Prometheus(Typed):
    """Metrics for Azure Monitor managed service for Prometheus: the agent in the cluster.

    Where metrics go is decided outside the cluster: an Azure Monitor workspace, a data collection
    endpoint and rule, and their association with the cluster, which this package does not create;
    ``AzureMember.cluster_id`` is the scope of the association. Until they exist, nothing is
    collected. What is ingested costs money, which no estimate of this package includes.

    Attributes:
        enabled: on, the default; False switches it off.
        labels: Kubernetes label keys to keep in kube-state-metrics, by kind in the plural, as
            ``pods``; ``*`` for all of that kind. None are kept by default.
        annotations: the same for annotation keys.
    """

    enabled: bool = True
    labels: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    annotations: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        for field, kept in (("labels", self.labels), ("annotations", self.annotations)):
            for kind, keys in kept.items():
                at = (*path, field, kind)
                if not re.fullmatch("[a-z]+", kind):
                    yield Problem(
                        Message(
                            "not-kind-plural", '"{kind}" is not a kind in the plural', kind=kind
                        ),
                        at,
                        "for example pods",
                    )
                if not keys:
                    yield Problem(
                        Message("names-no-key", "names no key"),
                        at,
                        'for example ["team"], or leave the kind out',
                    )
                for position, key in enumerate(keys):
                    if not re.fullmatch(_KUBERNETES_KEY, key):
                        yield Problem(
                            Message("not-key", '"{key}" is not a key', key=key),
                            (*at, position),
                            "for example kubernetes.io/team, or *",
                        )


def _workspace_problems(
    enabled: bool, workspace: str | Later | None, path: FieldPath
) -> Iterator[Problem]:
    at = (*path, "workspace")
    if workspace is not None:
        yield from resource_problems(workspace, WORKSPACE, at)
    elif enabled:
        yield Problem(
            Message("needs-workspace", "needs a workspace"),
            at,
            "the ID of a Log Analytics workspace, or enabled: false",
        )
