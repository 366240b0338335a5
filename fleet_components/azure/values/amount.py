"""Amounts of CPU and memory as canonical Kubernetes quantities: ``11580m``, ``12k``, ``48Gi``.

Source: ``CanonicalizeBytes`` in ``pkg/api/resource/quantity.go`` of k8s.io/apimachinery, which formats every sum of
node capacities.
"""

from __future__ import annotations

_DECIMAL = ("m", "", "k", "M", "G")
_BINARY = ("Mi", "Gi", "Ti", "Pi")


def cpu_quantity(millicores: int) -> str:
    """Format an amount of CPU, given in thousandths of a core."""
    return _shortest(millicores, 1000, _DECIMAL)


def memory_quantity(mebibytes: int) -> str:
    """Format an amount of memory, given in MiB."""
    return _shortest(mebibytes, 1024, _BINARY)


def _shortest(amount: int, step: int, suffixes: tuple[str, ...]) -> str:
    if amount == 0:
        return "0"
    power = 0
    while amount % step == 0 and power < len(suffixes) - 1:
        amount, power = amount // step, power + 1
    return f"{amount}{suffixes[power]}"
