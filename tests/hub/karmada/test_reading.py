"""What is read of a control plane depends on what it says alone: not on order, versions, times, or who asks when."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.hub.listing import Listing
from fleet_components.hub.observation import resources_of
from fleet_components.hub.reading import read_hub
from fleet_components.model.problem import FleetError
from fleet_components.plan.stored import Keeper
from tests.delivery.karmada.recording import Recording
from tests.delivery.recording import Data
from tests.hub.karmada.api import Api
from tests.hub.karmada.recorded import ControlPlane
from tests.hub.karmada.settled import source_of
from tests.hub.karmada.world import (
    APPLIED,
    binding,
    claimed,
    deployment,
    fleet,
    joined,
    on,
    policy,
    stored,
    work,
)

PLANTED = "hunter2-was-here"
_UNORDERED = (
    "apiEnablements",
    "resources",
    "conditions",
    "aggregatedStatus",
    "managedFields",
    "finalizers",
)
"""Lists of which the order says nothing."""


def recorded(name: str, number: int) -> list[Data]:
    """The objects of a control plane after a step of a recording."""
    recording = Recording.kept(name)
    hub = ControlPlane(recording)
    objects = [hub.objects(step) for step in recording.steps if step.number <= number]
    return objects[number]


@pytest.mark.parametrize(
    ("name", "number"), [("overrides_kinds", 2), ("member_outage", 3), ("cpp_and_pp", 4)]
)
def test_order_versions_and_times_change_nothing(name: str, number: int) -> None:
    objects = recorded(name, number)
    first = Api(tuple(objects)).listing()
    expected = read_hub(first)
    assert read_hub(first) == expected
    for seed in range(3):
        other = Api(tuple(_otherwise(objects, random.Random(seed)))).listing()
        assert attrs.evolve(read_hub(other), as_of=expected.as_of) == expected
    later = Api(tuple(objects)).listing()
    later = attrs.evolve(later, as_of=later.as_of + timedelta(minutes=5))
    assert attrs.evolve(read_hub(later), as_of=expected.as_of) == expected


def test_an_answer_more_changes_nothing() -> None:
    objects = recorded("divided_static", 3)
    whole = read_hub(
        Api(
            (*objects, stored({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}))
        ).listing()
    )
    assert whole == read_hub(Api(tuple(objects)).listing())


def secretive() -> tuple[Data, ...]:
    """A control plane with something planted wherever a secret may be."""
    hidden = base64.b64encode(PLANTED.encode()).decode()
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "pw", "namespace": "shop"},
        "data": {"p": hidden},
    }
    applied = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(secret)}
    secret["metadata"] = {**_map(secret["metadata"]), "annotations": applied}
    web = deployment(
        2, containers=[{"name": "web", "image": "web", "envFrom": [{"secretRef": {"name": "pw"}}]}]
    )
    owner = policy(placement=on("a"), propagateDeps=True)
    text = json.dumps({**secret, "stringData": {"p": PLANTED}})
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "it", "namespace": "shop"},
        "data": {"x": text},
    }
    every = policy(
        "all",
        resourceSelectors=[{"apiVersion": "v1", "kind": item} for item in ("ConfigMap", "Secret")],
    )
    rule = {
        "overriders": {"plaintext": [{"path": "/data/p", "operator": "replace", "value": PLANTED}]}
    }
    field = {
        "fieldPath": "/stringData/f",
        "json": [{"subPath": "/p", "operator": "add", "value": PLANTED}],
    }
    into = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "into", "namespace": "shop"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "v1", "kind": "Secret", "name": "pw"}],
            "overrideRules": [rule, {"overriders": {"fieldOverrider": [field]}}],
        },
    }
    along = binding(secret, None, {}, reported={"a": APPLIED}, spec={"requiredBy": []})
    released = binding(config, None, {"a": 0}, placement=on("a"))
    return (
        *fleet("a", "b"),
        owner,
        every,
        into,
        claimed(web, owner),
        binding(web, owner, {"a": 2}),
        stored(secret),
        along,
        work("a", along, secret),
        claimed(config, None),
        released,
        work("a", released, {**config, "data": {"x": text + " "}}),
    )


def test_nothing_secret_is_read_or_asked_for() -> None:
    api = Api(secretive())
    listing = api.listing()
    assert all(query.metadata_only for query in api.asked if query.kind == "Secret")
    assert "Secret" in {query.kind for query in api.asked}
    observation = read_hub(listing)
    resources = resources_of(observation, source_of(observation), Keeper("stack", "fleet"))
    contents = [subject.record.contents for subject in observation.subjects]
    shown = repr(
        (
            observation,
            [observation.members, observation.policies, observation.objects],
            resources,
            contents,
        )
    )
    for text in (PLANTED, base64.b64encode(PLANTED.encode()).decode()):
        assert text not in shown


def test_the_works_of_a_secret_are_asked_for_only_with_secrets() -> None:
    asked = {secrets: Api(secretive()) for secrets in (False, True)}
    for secrets, api in asked.items():
        api.listing(secrets=secrets)
    released = "resourcebinding.karmada.io/permanent-id=id-of-it-configmap"
    assert {query.label for query in asked[False].asked if query.kind == "Work"} == {released}
    assert not any(query.metadata_only for query in asked[True].asked)


def test_only_namespaces_of_policies_are_asked_for_however_many_there_are() -> None:
    owners = [policy(f"p{number}", placement=on("a")) for number in range(12)]
    for number, owner in enumerate(owners):
        owner["metadata"]["namespace"] = f"shop-{number}"
    api = Api((*fleet("a"), *owners))
    api.listing()
    asked = {query.namespace for query in api.asked if query.kind == "Deployment"}
    assert asked == {f"shop-{number}" for number in range(12)}


def test_what_could_not_be_asked_for_is_said() -> None:
    listing = Api((*fleet("a"), policy(placement=on("a")))).listing()
    (query,) = (query for query in listing.answers if query.kind == "Deployment")
    answers = {key: found for key, found in listing.answers.items() if key != query}
    refused = attrs.evolve(listing, answers=answers, refused={query: "it is forbidden"})
    assert read_hub(refused).unanswered == {query: "it is forbidden"}


def test_a_member_is_read_without_addresses_and_default_models() -> None:
    models = [{"grade": 0, "ranges": [{"name": "cpu", "min": "0", "max": "1"}]}]
    cluster = joined(
        "a",
        apiEndpoint="https://a",
        secretRef={"name": "a", "namespace": "karmada-cluster"},
        zones=["z"],
    )
    cluster["spec"]["resourceModels"] = models
    (read,) = read_hub(Api((cluster,)).listing()).members
    assert read["spec"] == {"syncMode": "Push", "zones": ["z"], "resourceModels": models}
    assert "lastTransitionTime" not in str(read)


def test_a_job_is_read_without_what_the_api_server_has_made_for_it() -> None:
    made = {
        "job-name": "job",
        "batch.kubernetes.io/job-name": "job",
        "controller-uid": "1",
        "app": "job",
    }
    spec = {
        "parallelism": 2,
        "selector": {"matchLabels": {"controller-uid": "1"}},
        "suspend": False,
    }
    spec |= {
        "template": {
            "metadata": {"labels": made},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        }
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job", "namespace": "shop"},
        "spec": spec,
    }
    owner = policy(resourceSelectors=[{"apiVersion": "batch/v1", "kind": "Job"}], placement=on("a"))
    objects = (owner, claimed(job, owner), binding(job, owner, {"a": 2}, spec={"replicas": 2}))
    (read,) = read_hub(Api((*fleet("a"), *objects)).listing()).objects
    assert "selector" not in read["spec"]
    assert read["spec"]["template"]["metadata"]["labels"] == {"app": "job"}


@given(st.lists(st.sampled_from("abc"), unique=True, min_size=1), st.permutations(range(6)))
def test_bindings_are_read_the_same_in_any_order(members: list[str], order: list[int]) -> None:
    owner = policy(placement=on(*members))
    web = deployment(2)
    objects = [
        *fleet("a", "b", "c"),
        owner,
        claimed(web, owner),
        binding(web, owner, dict.fromkeys(members, 2)),
    ]
    shuffled = [objects[place] for place in order]
    assert read_hub(Api(tuple(shuffled)).listing()) == read_hub(Api(tuple(objects)).listing())


def _otherwise(objects: list[Data], chance: random.Random) -> Iterator[Data]:
    """The same objects in another order, with other versions and times that do not matter."""
    for data in chance.sample(objects, len(objects)):
        changed = _shuffled(json.loads(json.dumps(data)), chance)
        changed["metadata"] |= {
            "resourceVersion": str(chance.random()),
            "managedFields": [{"time": str(chance.random())}],
        }
        yield changed


def _shuffled(value: Any, chance: random.Random, field: str = "") -> Any:
    match value:
        case dict():
            keys = chance.sample(sorted(value), len(value))
            found = {key: _shuffled(value[key], chance, key) for key in keys}
            return found | (
                {"lastTransitionTime": str(chance.random())}
                if {"type", "status"} <= found.keys()
                else {}
            )
        case list():
            items = [_shuffled(item, chance) for item in value]
            return chance.sample(items, len(items)) if field in _UNORDERED else items
    return value


def _map(value: object) -> Mapping[str, Any]:
    assert isinstance(value, Mapping)
    return value


def test_a_listing_without_anything_reads_as_nothing() -> None:
    listing: Listing = Api(()).listing()
    observation = read_hub(listing)
    assert (observation.members, observation.objects, observation.subjects) == ((), (), ())


def test_a_binding_that_cannot_be_read_is_named() -> None:
    owner, web = policy(placement=on("a")), deployment(2)
    bound = binding(web, owner, {"a": 2})
    bound["metadata"]["annotations"]["policy.karmada.io/applied-placement"] = "{"
    with pytest.raises(FleetError, match="Deployment shop/web: its binding cannot be read"):
        Api((*fleet("a"), owner, claimed(web, owner), bound)).listing()


def test_a_policy_that_a_plan_refuses_is_named() -> None:
    strange = policy(placement=on("a"), priority="high")
    notes = read_hub(Api((*fleet("a"), strange)).listing()).notes
    assert any(
        note.startswith("a plan refuses PropagationPolicy shop/web as it is: spec.priority")
        for note in notes
    )
