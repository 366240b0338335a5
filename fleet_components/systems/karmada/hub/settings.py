"""Settings of a control plane, as far as its objects show them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fleet_components.model.codec import encode
from fleet_components.model.reader import API_VERSION
from fleet_components.systems.karmada.hub.binding import Binding
from fleet_components.systems.karmada.model.policy import DIRECTLY, GRACEFULLY
from fleet_components.systems.karmada.model.settings import KIND, CustomWorkload, KarmadaSettings

TAINT_MANAGER = "TaintManager"
"""Producer of the eviction tasks that taints cause."""
UNTOLD = (
    "the flags and feature gates of a Karmada control plane are not among its objects:"
    " KarmadaSettings has the default ones and what objects show of them; complete it"
)


def settings_of(
    bindings: Iterable[Binding], workloads: Iterable[CustomWorkload] = ()
) -> dict[str, Any]:
    """Return the ``KarmadaSettings`` of a control plane: it decides exactly.

    Eviction tasks that taints have caused show that taints evict, and how they do if the policy
    does not say so.
    """
    evicting = [
        (task.purge_mode, bool((binding.spec.get("failover") or {}).get("cluster")))
        for binding in bindings
        for task in binding.tasks.values()
        if task.producer == TAINT_MANAGER
    ]
    # With failover.cluster, the mode is that of the policy and shows nothing about the flag.
    modes = {mode for mode, asked_for in evicting if not asked_for}
    settings = KarmadaSettings(
        exact=True,
        brings_namespaces=True,
        no_execute_eviction=bool(evicting),
        purge_mode=DIRECTLY if modes == {DIRECTLY} else GRACEFULLY,
        workloads=tuple(workloads),
    )
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": "karmada"},
        "spec": encode(settings),
    }
