"""Common parts of Karmada's policies: the API group, and a namespaced and a cluster-wide kind for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fleet_components.admission.finding import Denial
from fleet_components.admission.registry import Kind, Request, whole
from fleet_components.admission.schema import Schema
from fleet_components.model.problem import FieldPath

GROUP = "policy.karmada.io"

Mutate = Callable[[dict[str, Any]], None]


def policy_kinds(
    name: str,
    spec: Schema,
    validate: Callable[[Request], Denial | None],
    *,
    mutate: Mutate,
    mutate_cluster_wide: Mutate | None,
    held: tuple[FieldPath, ...] = (),
) -> tuple[Kind, Kind]:
    """Return the namespaced kind of a policy and its cluster-wide counterpart, whose name begins with ``Cluster``."""

    def kind(name: str, mutate: Mutate | None, *, namespaced: bool) -> Kind:
        schema = whole({"spec": spec}, go=f"v1alpha1.{name}")
        return Kind(GROUP, "v1alpha1", name, schema, namespaced, mutate, validate, held)

    return kind(name, mutate, namespaced=True), kind(f"Cluster{name}", mutate_cluster_wide, namespaced=False)


def set_selectors_namespace(policy: dict[str, Any]) -> None:
    """Set the namespace of the selectors of a namespaced policy that have none."""
    for selector in policy["spec"].get("resourceSelectors", ()):
        selector.setdefault("namespace", policy.get("metadata", {}).get("namespace") or "default")
