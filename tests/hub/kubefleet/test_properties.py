"""An observation depends on nothing that only the hub cares about."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.hub.listing import Listing, Object
from fleet_components.hub.observation import resources_of
from fleet_components.hub.reading import read_hub
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.plan.stored import Keeper
from tests.hub.kubefleet.hubs import API, changed, hub_of, member, recorded, rewritten
from tests.hub.kubefleet.planned import changes, planned, source_of

RECORDINGS = [
    ("override-cro-clusterrole", 2),
    ("staged-two-stages", 3),
    ("eviction-budget-minavailable", 2),
]
PLANTED = "hunter2-planted"


@pytest.mark.long
@pytest.mark.parametrize(("name", "step"), RECORDINGS)
@given(seed=st.integers(0, 2**16))
def test_the_order_of_lists_does_not_matter(name: str, step: int, seed: int) -> None:
    listing, shuffle = recorded(name, step), random.Random(seed).sample
    answers = {
        query: tuple(shuffle(objects, len(objects))) for query, objects in listing.answers.items()
    }
    answers = dict(shuffle(list(answers.items()), len(answers)))
    assert read_hub(attrs.evolve(listing, answers=answers)) == read_hub(listing)


@pytest.mark.parametrize(("name", "step"), RECORDINGS)
def test_names_of_bindings_ids_and_versions_do_not_matter(name: str, step: int) -> None:
    listing = recorded(name, step)
    made_anew = rewritten(
        listing, lambda text: re.sub(r"(-cluster\d-)[0-9a-f]{8}", r"\1ffffffff", text)
    )

    def touched(manifest: Manifest) -> Object:
        metadata = {
            **manifest.metadata,
            "uid": "other",
            "resourceVersion": "12345",
            "managedFields": [{"manager": "x"}],
        }
        return {**manifest.data, "metadata": {**metadata, "selfLink": "/apis"}}

    assert read_hub(changed(made_anew, touched)) == read_hub(listing)


@pytest.mark.parametrize(("name", "step"), RECORDINGS)
def test_times_that_do_not_matter_do_not_show(name: str, step: int) -> None:
    listing = recorded(name, step)

    def later(manifest: Manifest) -> Object:
        if manifest.kind.endswith("Run"):  # a run begins at some time, and waits from another
            return manifest.data
        text = json.dumps(manifest.data)
        text = re.sub(r"2025-12-31T\d\d:\d\d:\d\d", "2025-12-30T01:02:03", text)
        metadata = {"creationTimestamp": "2025-01-01T00:00:00Z"}
        data = json.loads(text)
        return {**data, "metadata": {**data["metadata"], **metadata}}

    assert read_hub(changed(listing, later)) == read_hub(listing)


@pytest.mark.parametrize(("name", "step"), RECORDINGS)
def test_reading_twice_gives_the_same(name: str, step: int) -> None:
    assert read_hub(recorded(name, step)) == read_hub(recorded(name, step))


def with_secret() -> list[dict[str, Any]]:
    """A hub that has sent a Secret, one in an envelope, and an override into a Secret."""
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "key", "namespace": "shop"},
        "type": "Opaque",
        "data": {"password": PLANTED},
    }
    envelope = {
        "apiVersion": API,
        "kind": "ResourceEnvelope",
        "metadata": {"name": "wrapped", "namespace": "shop"},
        "data": {"it.yaml": {**secret, "metadata": {"name": "inner", "namespace": "shop"}}},
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    patches = [{"op": "add", "path": "/data/other", "value": PLANTED}]
    rule = {
        "clusterSelector": {"clusterSelectorTerms": []},
        "overrideType": "JSONPatch",
        "jsonPatchOverrides": patches,
    }
    selected = {"group": "", "version": "v1", "kind": "Secret", "name": "key"}
    override = {"resourceSelectors": [selected], "policy": {"overrideRules": [rule]}}
    label = "kubernetes-fleet.io"
    mine = {f"{label}/parent-CRP": "shop"}
    selectors = [{"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}]
    policy = {"placementType": "PickAll"}

    def kept(
        kind: str, name: str, spec: Any, labels: Any = None, **metadata: Any
    ) -> dict[str, Any]:
        metadata = {"name": name, "generation": 1, "labels": labels or mine, **metadata}
        return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec}

    index = {**mine, f"{label}/resource-index": "0"}
    binding = {
        "targetCluster": "cluster1",
        "state": "Bound",
        "resourceSnapshotName": "shop-0-snapshot",
        "schedulingPolicySnapshotName": "shop-0",
        "resourceOverrideSnapshots": [{"name": "into-0", "namespace": "shop"}],
        "clusterDecision": {"clusterScore": {"affinityScore": 0, "priorityScore": 0}},
    }
    available = {
        "conditions": [
            {"type": "Available", "status": "True", "observedGeneration": 1, "reason": "X"}
        ]
    }
    snapshot = {"selectedResources": [namespace, secret, envelope]}
    of_override = {f"{label}/parent-resource-override": "into", f"{label}/override-index": "0"}
    annotations = {"kubernetes.io/service-account.name": "default"}
    token = {
        **secret,
        "metadata": {"name": "token", "namespace": "shop", "annotations": annotations},
    }
    return [
        member(),
        namespace,
        secret,
        {**token, "type": "kubernetes.io/service-account-token"},
        envelope,
        kept(
            "ClusterResourcePlacement",
            "shop",
            {"resourceSelectors": selectors, "policy": policy},
            {"a": "b"},
        ),
        kept("ResourceOverride", "into", override, {"a": "b"}, namespace="shop"),
        kept(
            "ResourceOverrideSnapshot",
            "into-0",
            {"overrideSpec": override},
            of_override,
            namespace="shop",
        ),
        kept("ClusterResourceSnapshot", "shop-0-snapshot", snapshot, index),
        kept(
            "ClusterSchedulingPolicySnapshot",
            "shop-0",
            {"policy": policy},
            {**mine, f"{label}/policy-index": "0"},
        ),
        {**kept("ClusterResourceBinding", "shop-cluster1-0a1b2c3d", binding), "status": available},
    ]


def test_no_secret_is_shown() -> None:
    listing = hub_of(*with_secret())
    observation = read_hub(listing)
    rules = {subject.name: [*subject.record.overrides.values()] for subject in observation.subjects}
    stored = resources_of(observation, source_of(observation), Keeper("o/p/s", "fleet"))
    plain = {subject.name: [*subject.record.contents.values()] for subject in observation.subjects}
    shown = (
        observation.members,
        observation.policies,
        observation.objects,
        observation.notes,
        plain,
        rules,
    )
    assert [
        item
        for item in (*shown, repr(stored), repr(listing), repr(observation))
        if PLANTED in str(item)
    ] == []
    assert any(rules.values())
    assert {Manifest(data).name for data in observation.objects} == {"shop", "key", "wrapped"}
    assert "[secret]" in str(observation.objects)


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("ClusterResourceBinding", ("spec",), {}),
        (
            "ClusterResourceSnapshot",
            ("metadata", "labels", "kubernetes-fleet.io/resource-index"),
            PLANTED,
        ),
        ("ClusterSchedulingPolicySnapshot", ("spec", "policy"), {"placementType": [PLANTED]}),
    ],
)
def test_a_hub_that_lies_is_told_so(kind: str, path: tuple[str, ...], value: Any) -> None:
    objects = with_secret()
    at = next(data for data in objects if data["kind"] == kind)
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    with pytest.raises(
        FleetError, match="the hub: answers with an object that is not as kubefleet has it"
    ) as error:
        read_hub(hub_of(*objects))
    assert PLANTED not in str(error.value)


@pytest.mark.parametrize("secrets", [True, False])
def test_a_hub_with_secrets_is_settled(secrets: bool) -> None:
    assert list(changes(planned(read_hub(hub_of(*with_secret(), secrets=secrets))))) == []


def unanswered(kind: str) -> Listing:
    """A hub that does not answer requests for one kind."""
    listing = hub_of(*with_secret())
    answers = {query: objects for query, objects in listing.answers.items() if query.kind != kind}
    refused = {query: "is forbidden" for query in listing.answers if query.kind == kind}
    return attrs.evolve(listing, answers=answers, refused=refused)


def test_what_may_not_be_read_is_as_it_was_sent() -> None:
    observation = read_hub(unanswered("Secret"))
    assert list(changes(planned(observation))) == []
    assert [(item.kind, item.namespace, why) for item, why in observation.unanswered.items()] == [
        ("Secret", "shop", "is forbidden")
    ]


@pytest.mark.parametrize("kind", ["MemberCluster", "ClusterResourceBinding", "Work"])
def test_a_hub_that_does_not_tell_what_it_remembers_is_not_read(kind: str) -> None:
    with pytest.raises(FleetError) as error:
        read_hub(unanswered(kind))
    (problem,) = error.value.problems
    assert (problem.subject, problem.what.partition(".")[0]) == (
        "the hub",
        f"what steers it is forbidden: {kind}",
    )


def test_data_that_is_asked_for_is_in_the_objects() -> None:
    observation = read_hub(hub_of(*with_secret(), secrets=True))
    assert PLANTED in str(observation.objects)
    assert PLANTED not in str([subject.record.contents for subject in observation.subjects])


def test_the_listing_itself_is_not_changed() -> None:
    listing: Listing = hub_of(*with_secret())
    before = json.dumps([list(objects) for objects in listing.answers.values()])
    read_hub(listing)
    assert json.dumps([list(objects) for objects in listing.answers.values()]) == before
