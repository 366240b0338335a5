"""What of the recordings does not read as settled, and why."""

from __future__ import annotations

MOVING = "the recording went on while a rolling update was on its way"
UNSETTLED = {("revision-history-policy", step): MOVING for step in range(2, 7)}
"""Steps after which a plan has something to do, with the cause."""
LEFT_OUT: dict[tuple[str, int], str] = {
    **{("envelope-resource", step): "namespaced object other.yaml" for step in range(1, 4)},
    ("pickn-property-k8s-version", 0): "is not a valid quantity",
    **{("select-invalid", step): "namespace kube-system is not allowed to propagate" for step in (2, 3)},
    ("select-object-twice", 0): "found duplicate resource",
}
"""Steps after which a placement is left out that the hub cannot carry out, with a part of the note."""
