"""Policies are found by what they may match: none that matches is missed."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fleet_components.model.manifest import Manifest
from fleet_components.systems.karmada.model.policy import PropagationPolicy
from fleet_components.systems.karmada.scheduler.match_explanation import PolicyIndex
from fleet_components.systems.karmada.scheduler.matching import matches

names, namespaces, kinds = (
    st.sampled_from(words) for words in ("ab", "xy", ("ConfigMap", "Secret"))
)
labels = st.dictionaries(st.sampled_from("pq"), st.sampled_from("12"))
requirements = st.builds(
    lambda key, values: {"key": key, "operator": "In", "values": values},
    st.sampled_from("pq"),
    st.lists(st.sampled_from("12"), min_size=1),
)
selectors = st.fixed_dictionaries(
    {"apiVersion": st.just("v1"), "kind": kinds},
    optional={
        "name": names,
        "namespace": namespaces,
        "labelSelector": st.fixed_dictionaries(
            {},
            optional={
                "matchLabels": labels,
                "matchExpressions": st.lists(requirements, max_size=2),
            },
        ),
    },
)


@st.composite
def policies(draw: st.DrawFn) -> tuple[PropagationPolicy, ...]:
    found = []
    for number in range(draw(st.integers(0, 6))):
        wide = draw(st.booleans())
        metadata: dict[str, Any] = {"name": f"p{number}"} | (
            {} if wide else {"namespace": draw(namespaces)}
        )
        kind = "ClusterPropagationPolicy" if wide else "PropagationPolicy"
        spec = {
            "resourceSelectors": draw(st.lists(selectors, min_size=1, max_size=3)),
            "placement": {},
        }
        data = {
            "apiVersion": "policy.karmada.io/v1alpha1",
            "kind": kind,
            "metadata": metadata,
            "spec": spec,
        }
        found.append(PropagationPolicy.from_manifest(Manifest(data)))
    return tuple(found)


objects = st.builds(
    lambda kind, name, namespace, labels: Manifest(
        {
            "apiVersion": "v1",
            "kind": kind,
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
        }
    ),
    kinds,
    names,
    namespaces,
    labels,
)


@given(policies(), objects)
def test_no_policy_that_matches_is_missed(
    given_policies: tuple[PropagationPolicy, ...], manifest: Manifest
) -> None:
    index = PolicyIndex(given_policies)
    candidates = index.candidates(manifest)
    assert candidates == [policy for policy in given_policies if policy in candidates], (
        "in their order, each once"
    )
    assert [p for p in candidates if matches(p, manifest)] == [
        p for p in given_policies if matches(p, manifest)
    ]
    assert all(index.named(policy.key) is policy for policy in given_policies)
