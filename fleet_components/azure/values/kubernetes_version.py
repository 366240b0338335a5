"""The order of Kubernetes versions of a cluster, as far as two of them tell it."""

from __future__ import annotations

import re


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version: two of a minor version, three with a patch."""
    return tuple(map(int, re.findall(r"\d+", version)))


def is_older(version: str, standing: str) -> bool:
    """Return whether a request for a version asks for less than what stands; ``1.33`` is not older
    than ``1.33.5``.

    Source: the field ``kubernetesVersion`` of managed clusters at API version 2025-09-01: the same
    minor version without a patch changes nothing.
    """
    asked, stands = numbers(version), numbers(standing)
    return bool(asked) and asked < stands[: len(asked)]


def follows(before: str, after: str, *, skips: bool) -> bool:
    """Return whether Azure takes a cluster from one declared version to another.

    A cluster goes up by one minor version at a time and never back; with long-term support it may
    skip minor versions. A version without a patch is the latest patch of its minor version, so two
    of one minor version are not distinguished.

    Source: "Upgrade the AKS control plane", on version upgrade rules, and "Supported Kubernetes
    versions in AKS", on skipping versions (Microsoft, 2026-08).

    Args:
        before: the declared version so far, as ``1.33`` or ``1.33.2``.
        after: the declared version from now on.
        skips: whether the cluster has long-term support from now on.
    """
    if is_older(after, before):
        return False
    # Both have a minor version: names.KUBERNETES_VERSION requires one.
    old, new = numbers(before), numbers(after)
    return skips or new[:1] != old[:1] or new[1] - old[1] <= 1
