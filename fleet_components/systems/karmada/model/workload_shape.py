"""Paths of the replicas and the pod template in the workloads of a kind."""

from __future__ import annotations

import attrs


@attrs.frozen
class WorkloadShape:
    """Paths of the parts of a workload.

    Attributes:
        api_version: ``group/version`` of the kind.
        kind: the kind.
        replicas: the path of the number of replicas; None for kinds without replicas (a DaemonSet).
        template: the path of the pod template; None if there is none. The empty path means the object itself.
        default: the number of replicas if the field is absent; None if the field is required.
    """

    api_version: str
    kind: str
    replicas: tuple[str, ...] | None = ("spec", "replicas")
    template: tuple[str, ...] | None = ("spec", "template")
    default: int | None = 0
