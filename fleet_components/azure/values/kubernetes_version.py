"""The order of Kubernetes versions of a cluster, as far as two declarations tell it."""

from __future__ import annotations


def follows(before: str, after: str, *, skips: bool) -> bool:
    """Return whether Azure takes a cluster from one declared version to another.

    A cluster goes up by one minor version at a time and never back; with long-term support it may skip minor versions.
    A version without a patch is the latest patch of its minor version, so two of one minor version are not told apart.

    Source: "Upgrade the AKS control plane", on version upgrade rules, and "Supported Kubernetes versions in AKS", on
    skipping versions (Microsoft, 2026-08).

    Args:
        before: the declared version so far, as ``1.33`` or ``1.33.2``.
        after: the declared version from now on.
        skips: whether the cluster has long-term support from now on.
    """
    old, new = (tuple(map(int, version.split("."))) for version in (before, after))
    common = min(len(old), len(new))
    if new[:common] < old[:common]:
        return False
    return skips or new[:1] != old[:1] or new[1] - old[1] <= 1
