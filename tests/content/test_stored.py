"""Objects as API servers store them: what is filled in, what is left out, and what patches do to
both forms.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.content.custom_kinds import CustomKind, CustomKinds
from fleet_components.content.dependencies import dependencies_of
from fleet_components.content.difference import differences
from fleet_components.content.patch import (
    Operation,
    PatchError,
    apply_patch,
    apply_to_both,
    carried_over,
)
from fleet_components.content.stored import Shape, normalized, stored
from fleet_components.model.manifest import Manifest, completions_of, replicas_of
from fleet_components.model.problem import FieldPath
from fleet_components.systems.karmada.content.replicas import requirements_of
from fleet_components.systems.karmada.content.template import as_matched, as_read
from tools.defaults.__main__ import objects_of_every_type

EVERY = objects_of_every_type()
WORKLOADS = [
    item
    for item in EVERY
    if item["kind"] in ("Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Pod")
]


def of(kind: str, api: str = "v1", **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": "x", "namespace": "shop"},
        **fields,
    }


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("web", "Always"),
        ("web:latest", "Always"),
        ("web:1", "IfNotPresent"),
        ("reg:5000/web", "Always"),
        ("reg:5000/web:1", "IfNotPresent"),
        ("web@sha256:0", "IfNotPresent"),
        ("web:latest@sha256:0", "Always"),
    ],
)
def test_the_tag_of_an_image_decides_when_it_is_pulled(image: str, policy: str) -> None:
    pod = stored(of("Pod", spec={"containers": [{"name": "c", "image": image}]}))
    assert pod["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_empty_fields_that_count_as_absent_are_left_out() -> None:
    spec: Any = {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"spec": {"hostNetwork": False, "volumes": []}},
    }
    made = stored(
        of("Deployment", "apps/v1", spec=spec) | {"metadata": {"name": "x", "labels": {}}}
    )
    assert made["metadata"] == {"name": "x"}
    assert "hostNetwork" not in made["spec"]["template"]["spec"]
    assert "volumes" not in made["spec"]["template"]["spec"]
    assert stored(of("Deployment", "apps/v1", spec={"replicas": 0}))["spec"]["replicas"] == 0


def test_quantities_have_one_form() -> None:
    limits = {"cpu": "1000m", "memory": "1024Mi", "example.com/a": 1000, "example.com/b": "1u"}
    volume = {"name": "v", "emptyDir": {"sizeLimit": "1u"}}
    spec = {"containers": [{"name": "c", "resources": {"limits": limits}}], "volumes": [volume]}
    pod = stored(of("Pod", spec=spec))["spec"]
    assert pod["containers"][0]["resources"]["limits"] == {
        "cpu": "1",
        "memory": "1Gi",
        "example.com/a": "1k",
        "example.com/b": "1m",  # amounts of resources are rounded up to thousandths
    }
    assert pod["volumes"][0]["emptyDir"]["sizeLimit"] == "1u"
    custom = of("Widget", "example.test/v1", spec={"resources": {"limits": limits}})
    assert stored(custom) == custom


@pytest.mark.parametrize("number", range(5))
def test_what_a_client_sends_is_stored_alike(number: int) -> None:
    rng = random.Random(number)
    for data in EVERY:
        written = thinned(data, rng)
        assert stored(normalized(written)) == stored(written)
        assert normalized(normalized(written)) == normalized(written)


def test_a_job_has_the_labels_of_its_pods_and_a_selector() -> None:
    job = stored(of("Job", "batch/v1", spec={"template": {"metadata": {"labels": {"a": "b"}}}}))
    assert job["metadata"]["labels"]["a"] == "b"
    assert job["metadata"]["labels"]["job-name"] == "x"
    assert (job["spec"]["completions"], job["spec"]["parallelism"]) == (1, 1)
    assert "completions" not in stored(of("Job", "batch/v1", spec={"parallelism": 2}))["spec"]


@pytest.mark.parametrize("number", range(20))
def test_what_is_stored_is_stored_as_it_is(number: int) -> None:
    rng = random.Random(number)
    for data in EVERY:
        once = stored(thinned(data, rng))
        assert stored(once) == once


@pytest.mark.parametrize("number", range(20))
def test_interpreters_read_what_is_written_as_what_is_stored(number: int) -> None:
    rng = random.Random(number)
    for data in WORKLOADS:
        written = Manifest(thinned(data, rng))
        kept = Manifest(stored(written.data))
        assert replicas_of(written) == replicas_of(kept)
        assert completions_of(written) == completions_of(kept)
        # A pod gets tolerations, which no scheduler of either system reads.
        assert requests(written) == requests(kept)
        assert dependencies_of(written) == dependencies_of(kept)


def requests(manifest: Manifest) -> Mapping[str, str]:
    found = requirements_of(manifest)
    return found.requests if found else {}


def thinned(value: Any, rng: random.Random, share: float = 0.2) -> Any:
    """A value without a share of its fields."""
    if isinstance(value, dict):
        needed = ("apiVersion", "kind", "metadata", "name", "template", "spec")
        return {
            key: thinned(item, rng)
            for key, item in value.items()
            if key in needed or rng.random() > share
        }
    return (
        [thinned(item, rng) for item in value if rng.random() > share / 4]
        if isinstance(value, list)
        else value
    )


def paths(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    items = (
        value.items()
        if isinstance(value, Mapping)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, item in items:
        yield from paths(item, (*path, str(step)))


@given(st.randoms(use_true_random=False), st.sampled_from(EVERY))
def test_a_patch_changes_the_written_form_where_it_changes_the_stored_one(
    rng: random.Random, data: Any
) -> None:
    written = thinned(data, rng)
    known = stored(written)
    places = [
        path for path in paths(known) if path and path[0] not in ("apiVersion", "kind", "metadata")
    ]
    if not places:
        return
    way = rng.choice(places)
    path = "".join(f"/{step.replace('~', '~0').replace('/', '~1')}" for step in way)
    operation = Operation(
        rng.choice(["add", "replace", "remove"]), path, rng.choice([5, "x", {"k": "v"}, ["i"]])
    )
    try:
        wanted = apply_patch(known, [operation])
    except PatchError as error:
        with pytest.raises(PatchError, match=re.escape(str(error))):
            apply_to_both(known, written, [operation])
        return
    made, changed = apply_to_both(known, written, [operation])
    assert made == wanted
    touched = list(map(str, way))
    for item in differences(written, changed):
        shared = list(map(str, item.path))[: len(touched)]
        # A list that the patch moves is compared item by item.
        assert shared == touched[: len(shared)] or shared[:-1] == touched[: len(shared) - 1]
    if operation.op != "remove":
        assert at(changed, way) == operation.value


def at(value: Any, way: FieldPath) -> Any:
    for step in way:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


@given(st.randoms(use_true_random=False), st.sampled_from(EVERY))
def test_what_changes_is_carried_over_without_defaults(rng: random.Random, data: Any) -> None:
    written = thinned(data, rng)
    known = stored(written)
    assert carried_over(written, known, known) is written
    changed = {**known, "metadata": {**known["metadata"], "labels": {"new": "x"}}}
    made = carried_over(written, known, changed)
    assert made["metadata"]["labels"] == {"new": "x"}
    assert {key: item for key, item in made.items() if key != "metadata"} == {
        key: item for key, item in written.items() if key != "metadata"
    }


anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.randoms(use_true_random=False), st.sampled_from(EVERY), anything)
def test_odd_values_are_left_alone(rng: random.Random, data: Any, odd: Any) -> None:
    way = rng.choice(
        [path for path in paths(data) if path and path[0] not in ("apiVersion", "kind")]
    )
    *above, last = way
    changed = json.loads(json.dumps(data))
    inner = at(changed, tuple(above))
    inner[int(last) if isinstance(inner, list) else last] = odd
    assert stored(changed)["kind"] == data["kind"]


SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "default": {},
            "properties": {
                "size": {"type": "integer", "default": 1},
                "parts": {"type": "array", "items": {"properties": {"kind": {"default": "bolt"}}}},
                "more": {
                    "type": "object",
                    "additionalProperties": {"properties": {"on": {"default": True}}},
                },
            },
        }
    },
}


def definition(**versions: Any) -> dict[str, Any]:
    served = [
        {"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        for name, schema in versions.items()
    ]
    spec: Any = {
        "group": "example.com",
        "names": {"kind": "Widget", "plural": "widgets"},
        "versions": served,
    }
    return of(
        "CustomResourceDefinition", "apiextensions.k8s.io/v1", spec={**spec, "scope": "Namespaced"}
    )


def kind_of(data: dict[str, Any]) -> CustomKind:
    found = CustomKinds.of([Manifest(data)]).kind(
        Manifest({"apiVersion": "example.com/v1", "kind": "Widget"})
    )
    assert found
    return found


def test_a_custom_kind_has_the_defaults_of_its_schema() -> None:
    shape = kind_of(definition(v1=SCHEMA)).shape("v1")
    assert stored(of("Widget", "example.com/v1"), shape)["spec"] == {"size": 1}
    spec: Any = {"parts": [{}, {"kind": "nut"}], "more": {"a": {}}, "size": None}
    assert stored(of("Widget", "example.com/v1", spec=spec), shape)["spec"] == {
        "parts": [{"kind": "bolt"}, {"kind": "nut"}],
        "more": {"a": {"on": True}},
        "size": 1,
    }
    again = Shape.from_wire(shape.to_wire())
    assert stored(of("Widget", "example.com/v1", spec=spec), again) == stored(
        of("Widget", "example.com/v1", spec=spec), shape
    )


def test_karmada_reads_the_preferred_version_of_a_custom_kind() -> None:
    kind = kind_of(definition(v1beta1={}, v1=SCHEMA, v2alpha1={}, v10={}))
    assert kind.preferred == "v10"
    matched = as_matched(Manifest(of("Widget", "example.com/v1beta1")), kind)
    assert (matched.api_version, matched.kind) == ("example.com/v10", "Widget")
    again = CustomKind.from_wire(kind.to_wire())
    assert as_read(of("Widget", "example.com/v1"), again)["spec"] == {"size": 1}
