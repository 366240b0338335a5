"""Requests of pods, added up as Karmada's agent does.

Source: ``pkg/util/resource.go`` and ``pkg/util/lifted/corev1helpers.go`` of Karmada.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.admission.quantity_text import amount_text
from fleet_components.hub.cluster_facts import amounts_at
from fleet_components.hub.listing import Object
from fleet_components.model.labels import key_errors
from fleet_components.model.manifest import value_at
from fleet_components.model.quantity import parse_quantity

_NANO, _MILLI = 10**9, 10**6
_CPU, _MEMORY, _PODS, _STORAGE = "cpu", "memory", "pods", "ephemeral-storage"
_HUGE_PAGES, _VOLUMES, _NATIVE = "hugepages-", "attachable-volumes-", "kubernetes.io/"


@attrs.define
class Requests:
    """A growing sum; CPU in thousandths, all else in whole units, rounded up for each container."""

    _amounts: dict[str, int] = attrs.field(factory=dict)

    def add_pod(self, pod: Object) -> None:
        """Add a pod, and 1 to the number of pods.

        An init container raises the whole sum so far to its own request where that is larger, not that of its pod: so
        does the agent.
        """
        spec = pod.get("spec") or {}
        for container in spec.get("containers") or ():
            self._add(amounts_at(container, "resources", "requests"))
        for container in spec.get("initContainers") or ():
            for name, amount in _counted(amounts_at(container, "resources", "requests")):
                self._amounts[name] = max(self._amounts.get(name, 0), amount)
        self._add(value_at(spec, ("overhead",)) or {})
        self._add({_PODS: "1"})

    def _add(self, requests: Mapping[str, Any]) -> None:
        for name, amount in _counted(requests):
            self._amounts[name] = self._amounts.get(name, 0) + amount

    def texts(self) -> dict[str, str]:
        """Return the sum as quantities by resource, without those of 0."""
        return {name: amount_text(amount, _like(name)) for name, amount in sorted(self.nano().items()) if amount > 0}

    def nano(self) -> dict[str, int]:
        """Return the sum by resource in units of 1e-9."""
        return {name: amount * (_MILLI if name == _CPU else _NANO) for name, amount in self._amounts.items()}


def _counted(requests: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return the requests that count."""
    found = []
    for name, text in requests.items():
        if name in (_CPU, _MEMORY, _PODS, _STORAGE) or _is_scalar(name):
            found.append((name, -(-parse_quantity(str(text)).nano // (_MILLI if name == _CPU else _NANO))))
    return found


def _is_scalar(name: str) -> bool:
    """Return whether a resource is one of those that are counted besides CPU, memory, storage and pods."""
    native = "/" not in name or _NATIVE in name
    extended = not native and not name.startswith("requests.") and not key_errors(f"requests.{name}")
    return extended or _NATIVE in name or name.startswith((_HUGE_PAGES, _VOLUMES))


def _like(name: str) -> str:
    return "1Ki" if name in (_MEMORY, _STORAGE) or name.startswith(_HUGE_PAGES) else "1"
