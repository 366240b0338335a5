"""What of the recordings does not read as settled, and why."""

from __future__ import annotations

MOVING = "the recording went on while a rolling update was on its way"
UNSETTLED = {("revision-history-policy", step): MOVING for step in range(2, 7)}
"""Steps after which a plan has something to do, with the cause."""
LEFT_OUT: dict[tuple[str, int], str] = {
    **{("envelope-resource", step): "namespaced object other.yaml" for step in range(1, 4)},
    ("pickn-property-k8s-version", 0): "is not a valid quantity",
    **{
        ("select-invalid", step): "namespace kube-system is not allowed to propagate"
        for step in (2, 3)
    },
    ("select-object-twice", 0): "found duplicate resource",
}
"""Steps after which a placement is left out that the hub cannot carry out, with a part of the note."""

_LATER = (
    "whether something becomes ready on a member, or is refused there, shows only once it is sent"
)
_COUNTED = "the hub has counted something that stood there for a while only"
_EARLY = "a run takes what was selected some seconds ago, as a hub collects changes for some time"
_UNTOLD = "where an override fails, the hub does not tell which ones were in force before"
UNFORESEEN: dict[tuple[str, int], str] = {
    **dict.fromkeys(
        [
            ("drift-ifnotdrifted-partial", 4),
            ("drift2-ifnotdrifted-full", 5),
            ("drift2-ifnotdrifted-full", 6),
            ("drift2-ifnotdrifted-partial", 5),
            ("drift2-ifnotdrifted-partial", 6),
            ("member-agent-down", 2),
            ("rollout-apply-fails", 1),
            ("rollout-broken-everywhere", 1),
            ("rollout-one-cluster-never-available", 1),
            ("rollout-one-cluster-never-available", 2),
            ("serversideapply-conflict", 2),
            ("staged-stuck", 3),
            ("staged0-never-available", 3),
        ],
        _LATER,
    ),
    **dict.fromkeys(
        [
            ("envelope-resource", 4),
            ("hub-namespace-deleted", 2),
            ("job-immutable-change", 1),
            ("job-immutable-change", 2),
            ("select-crd-and-cr", 1),
            ("select-crd-and-cr-long", 1),
        ],
        _COUNTED,
    ),
    **dict.fromkeys([("staged-never-available", 3), ("staged-two-stages", 6)], _EARLY),
    ("override-cro-clusterrole", 1): _UNTOLD,
    **UNSETTLED,
}
"""Steps that a plan of the step before does not foresee, with the cause."""
