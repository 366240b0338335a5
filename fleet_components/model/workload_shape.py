"""Where the workloads of a kind keep their replicas and their pod template."""

from __future__ import annotations

import attrs


@attrs.frozen
class WorkloadShape:
    """Where the parts of a workload stand.

    Attributes:
        api_version: ``group/version`` of the kind.
        kind: the kind.
        replicas: the path of the number of replicas; None for kinds without (a DaemonSet).
        template: the path of the pod template; None where there is none. The empty path means the object itself.
        default: the number of replicas where the field is absent; None where it must not be.
    """

    api_version: str
    kind: str
    replicas: tuple[str, ...] | None = ("spec", "replicas")
    template: tuple[str, ...] | None = ("spec", "template")
    default: int | None = 0
