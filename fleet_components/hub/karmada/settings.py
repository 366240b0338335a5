"""Settings of a control plane, as far as its objects tell them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fleet_components.hub.karmada.binding import Binding
from fleet_components.model.codec import encode
from fleet_components.model.karmada.settings import KIND, CustomWorkload, KarmadaSettings
from fleet_components.model.reader import API_VERSION

TAINT_MANAGER = "TaintManager"
"""Producer of the eviction tasks that taints cause."""
UNTOLD = (
    "the flags and feature gates of a Karmada control plane are not among its objects: KarmadaSettings has the default "
    "ones and what objects show of them; complete it"
)


def settings_of(bindings: Iterable[Binding], workloads: Iterable[CustomWorkload] = ()) -> dict[str, Any]:
    """Return the ``KarmadaSettings`` of a control plane: it decides exactly, and evicts if a task shows it."""
    evicts = any(task.producer == TAINT_MANAGER for binding in bindings for task in binding.tasks.values())
    settings = KarmadaSettings(
        exact=True, brings_namespaces=True, no_execute_eviction=evicts, workloads=tuple(workloads)
    )
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": "karmada"}, "spec": encode(settings)}
