"""Managers of fields: what the Kubernetes provider does not take over, and that it is as it was afterwards."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fleet_components.live.managed import added, is_parked, parked, unparked

SENT = {
    "metadata": {"labels": {"ours": "1"}},
    "spec": {"containers": [{"name": "web", "ports": [{"containerPort": 80}]}], "args": ["-v"]},
}
PORT = 'k:{"containerPort":80,"protocol":"TCP"}'


def entry(fields: Any, manager: str = "kubectl-patch", operation: str = "Update") -> dict[str, Any]:
    return {"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields}


def labels(*names: str) -> dict[str, Any]:
    return {"f:metadata": {"f:labels": {f"f:{name}": {} for name in names}}}


def test_only_what_was_never_sent_is_parked() -> None:
    ours, theirs = parked([entry(labels("ours", "team"))], [SENT])
    assert (ours["manager"], ours["fieldsV1"]) == ("kubectl-patch", labels("ours"))
    assert (is_parked(ours), is_parked(theirs), theirs["fieldsV1"]) == (False, True, labels("team"))


def test_items_of_lists_are_known_by_their_keys_with_defaults() -> None:
    web, side = ('k:{"name":"web"}', 'k:{"name":"side"}')
    ports: Any = {"f:ports": {PORT: {"f:name": {}, "f:containerPort": {}}}}
    fields = {"f:spec": {"f:containers": {web: ports, side: {".": {}}}, "f:args": {}}}
    ours, theirs = parked([entry(fields)], [SENT])
    kept: Any = {"f:ports": {PORT: {"f:containerPort": {}}}}
    assert ours["fieldsV1"] == {"f:spec": {"f:containers": {web: kept}, "f:args": {}}}
    named = {web: {"f:ports": {PORT: {"f:name": {}}}}, side: {".": {}}}
    assert theirs["fieldsV1"] == {"f:spec": {"f:containers": named}}
    assert added([entry(fields)], SENT, "ours") == [
        'spec.containers[{"name":"side"}]',
        'spec.containers[{"name":"web"}].ports[{"containerPort":80,"protocol":"TCP"}].name',
    ]


def test_others_are_left_alone() -> None:
    status = {**entry(labels("team")), "subresource": "status"}
    entries = [entry(labels("team"), "helm"), status, entry(labels("ours"), "fleet", "Apply")]
    assert parked(entries, [SENT]) == entries == unparked(entries)


NAMES = st.sampled_from(["kubectl", "kubectl-edit", "before-first-apply", "helm", "fleet"])
KEYS = st.sampled_from(["f:labels", "f:ours", "f:team", 'k:{"name":"web"}', 'v:"-v"', "."])
FIELDS: st.SearchStrategy[Any] = st.recursive(
    st.just({}), lambda below: st.dictionaries(KEYS, below, max_size=3)
)
ENTRIES = st.lists(
    st.builds(entry, FIELDS, NAMES, st.sampled_from(["Update", "Apply"])),
    max_size=4,
    unique_by=lambda build: (build["manager"], build["operation"]),
)


@given(ENTRIES)
def test_nothing_is_left_of_it_afterwards(entries: list[dict[str, Any]]) -> None:
    """Also after an update that broke in between: its fields are parked once more."""
    for times in (1, 2):
        found: list[Any] = list(entries)
        for _ in range(times):
            found = parked(found, [SENT])
        assert ordered(unparked(found)) == ordered(entries)


def ordered(entries: Any) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in entries)
