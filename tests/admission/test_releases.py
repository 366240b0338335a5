"""What releases of KubeFleet and of Karmada answer to one object, where they differ."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.admission import Existing, admit
from fleet_components.model.manifest import Manifest
from fleet_components.model.releases import Releases
from fleet_components.systems.kubefleet.model.release import RELEASES, Rule

NEWER = "main-2026-08"
SELECTOR = {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}
CLUSTER, NAMESPACED = "ClusterResourcePlacement", "ResourcePlacement"


def placement(kind: str = CLUSTER, version: str = "v1", **spec: Any) -> dict[str, Any]:
    place = {"namespace": "shop"} if kind == NAMESPACED else {}
    selector = {**SELECTOR, "kind": "ConfigMap"} if kind == NAMESPACED else SELECTOR
    return {
        "apiVersion": f"placement.kubernetes-fleet.io/{version}",
        "kind": kind,
        "metadata": {"name": "shop", **place},
        "spec": {"resourceSelectors": [selector], **spec},
    }


def policy(kind: str = CLUSTER, **fields: Any) -> dict[str, Any]:
    return placement(kind, policy=fields)


def required(*requirements: tuple[str, list[str]]) -> dict[str, Any]:
    found = [
        {"name": "kubernetes-fleet.io/node-count", "operator": operator, "values": values}
        for operator, values in requirements
    ]
    terms = {"clusterSelectorTerms": [{"propertySelector": {"matchExpressions": found}}]}
    affinity = {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return policy(placementType="PickAll", affinity=affinity)


def waiting(time: str, version: str = "v1") -> dict[str, Any]:
    task = {"type": "TimedWait", "waitTime": time}
    return {
        "apiVersion": f"placement.kubernetes-fleet.io/{version}",
        "kind": "ClusterStagedUpdateStrategy",
        "metadata": {"name": "rings"},
        "spec": {"stages": [{"name": "canary", "afterStageTasks": [task]}]},
    }


def selecting(version: str) -> dict[str, Any]:
    scope = {"selectionScope": "NamespaceWithResourceSelectors"}
    return {**placement(version=version), "spec": {"resourceSelectors": [{**SELECTOR, **scope}]}}


SPREAD = [{"topologyKey": "region", "whenUnsatisfiable": "Whatever"}]
TOLERATION = {"operator": "Exists", "key": "a", "value": "b"}
PICK_FIXED = "cluster names cannot be empty for policy type PickFixed"
NO_SPREAD = "topology spread constraints needs to be empty for policy type PickAll"
BY_DEFINITION = "cannot be set when placementType is PickAll"
BOUNDS = "lower bound (10) and upper bound (5) exclude all values"

CASES: list[Any] = [
    # Rule, object, what 0.3.1 says, what the newer one says; empty where it is admitted.
    (Rule.NO_NAMES_PICKED, policy(placementType="PickFixed"), PICK_FIXED, ""),
    (Rule.NO_NAMES_PICKED, policy(NAMESPACED, placementType="PickFixed"), "", ""),
    (Rule.PROPERTY_SELECTORS_STRICT, required(("Gt", ["10"]), ("Lt", ["5"])), "", BOUNDS),
    (
        Rule.PROPERTY_SELECTORS_STRICT,
        required(("Eq", ["1"]), ("Ne", ["1"])),
        "",
        "conflicting Eq and Ne on same value 1",
    ),
    (Rule.PROPERTY_SELECTORS_STRICT, required(("Like", ["1"])), "", "unsupported operator Like"),
    (
        Rule.PROPERTY_SELECTORS_STRICT,
        required(("Eq", [])),
        "operator Eq requires exactly one value, got 0",
        "invalid requirement on property kubernetes-fleet.io/node-count: operator Eq requires exactly one value, got 0",
    ),
    (
        Rule.PROPERTY_SELECTORS_STRICT,
        required(("Eq", ["many"])),
        "invalid values for property kubernetes-fleet.io/node-count: value many is not a valid resource.Quantity",
        'invalid requirement on property kubernetes-fleet.io/node-count: value "many" is not a valid resource.Quantity',
    ),
    (Rule.WAIT_TIMES_STRICT, waiting("0"), "", "should match"),
    (Rule.WAIT_TIMES_STRICT, waiting("0.5m"), "", ""),
    (Rule.WAIT_TIMES_STRICT, waiting("01h"), "", "should match"),
    (Rule.WAIT_TIMES_STRICT, waiting("later 1h"), "", "should match"),
    (Rule.WAIT_TIMES_STRICT, waiting("soon"), "should match", "should match"),
    (Rule.SELECTORS_OF_NAMESPACE_IN_V1, selecting("v1"), "Unsupported value", ""),
    (Rule.SELECTORS_OF_NAMESPACE_IN_V1, selecting("v1beta1"), "", ""),
    (
        Rule.PLACEMENTS_CHECKED_BY_SCHEMA,
        policy(NAMESPACED, topologySpreadConstraints=[]),
        "",
        BY_DEFINITION,
    ),
    (
        Rule.PLACEMENTS_CHECKED_BY_SCHEMA,
        policy(topologySpreadConstraints=[{"topologyKey": "region"}]),
        NO_SPREAD,
        BY_DEFINITION,
    ),
    (
        Rule.PLACEMENTS_CHECKED_BY_SCHEMA,
        policy(placementType="PickN", numberOfClusters=1, topologySpreadConstraints=SPREAD),
        "unknown unsatisfiable type Whatever",
        'Unsupported value: "Whatever"',
    ),
    (
        Rule.PLACEMENTS_CHECKED_BY_SCHEMA,
        policy(tolerations=[TOLERATION]),
        "toleration value needs to be empty",
        "value must be empty when operator is Exists",
    ),
    (
        Rule.PLACEMENTS_CHECKED_BY_SCHEMA,
        placement(strategy={"rollingUpdate": {"unavailablePeriodSeconds": -1}}),
        "unavailablePeriodSeconds must be greater than or equal to 0, got -1",
        "should be greater than or equal to 0",
    ),
]


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].name)
def test_a_release_answers_as_its_code_does(
    case: tuple[Rule, dict[str, Any], str, str], name: str
) -> None:
    rule, data, before, after = case
    release = RELEASES[name]
    wanted = after if release.has(rule) else before
    refusals = admit(Manifest(data), context=Existing((), Releases(release))).refusals
    assert bool(refusals) == bool(wanted)
    assert not wanted or any(wanted in refusal.text for refusal in refusals)


def test_what_the_webhook_defaults_is_defaulted_under_each_release() -> None:
    data = policy(
        placementType="PickN",
        numberOfClusters=1,
        topologySpreadConstraints=[{"topologyKey": "region"}],
    )
    found = [
        admit(Manifest(data), context=Existing((), Releases(release))).defaulted
        for release in RELEASES.values()
    ]
    assert found[0] == found[1]
    (constraint,) = found[0].data["spec"]["policy"]["topologySpreadConstraints"]
    assert constraint == {
        "topologyKey": "region",
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
    }
