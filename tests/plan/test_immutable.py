"""Rules of the API servers that hold for updates only, held against what is remembered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fleet_components.admission import KINDS, Existing, admit
from fleet_components.admission.schema import Schema
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError
from fleet_components.plan.immutable import damaged, held_fields, refused_changes
from fleet_components.plan.names import ROSTER
from fleet_components.plan.past import Past
from fleet_components.plan.record import FORMAT
from fleet_components.plan.state import StoredResource
from tests.plan.stack import Stack
from tests.vectors import vectors

FLEET = "placement.kubernetes-fleet.io/v1beta1"


def recorded() -> Iterator[Any]:
    """Updates that an API server answered, of what is fine as a new object on either side."""
    for name in ("validation", "validation-more"):
        for case in vectors(f"kubefleet/{name}"):
            if "oldObject" in case and (case["object"]["apiVersion"], case["kind"]) in KINDS:
                context = [Manifest(item) for item in case.get("context", ())]
                old, new = (
                    admit(Manifest(case[side]), context=Existing(tuple(context)))
                    for side in ("oldObject", "object")
                )
                if not old.refusals and not new.refusals:
                    yield pytest.param(old.defaulted, new.defaulted, case["valid"], id=case["name"])


@pytest.mark.parametrize(("old", "new", "valid"), list(recorded()))
def test_what_is_remembered_gives_the_verdict_of_a_hub(
    old: Manifest, new: Manifest, valid: bool
) -> None:
    assert (not list(refused_changes([new], held_fields([old])))) is valid


def test_every_kind_with_a_rule_for_updates_is_remembered() -> None:
    for kind in KINDS.values():
        looks_back = any(rule.transition for node in nodes(kind.schema) for rule in node.rules)
        assert kind.held or not looks_back, kind


def test_an_empty_text_that_a_hub_writes_out_is_as_good_as_none() -> None:
    spec = {"placementName": "shop", "stagedRolloutStrategyName": "rings"}
    run = {
        "apiVersion": FLEET,
        "kind": "ClusterStagedUpdateRun",
        "metadata": {"name": "one"},
        "spec": spec,
    }
    written_out = {**run, "spec": {**spec, "resourceSnapshotIndex": ""}}
    assert held_fields([Manifest(run)]) == held_fields([Manifest(written_out)]) != {}


def nodes(schema: Schema) -> Iterator[Schema]:
    yield schema
    for child in (*schema.fields.values(), *([schema.items] if schema.items else ())):
        yield from nodes(child)


def member(name: str) -> dict[str, Any]:
    spec = {"identity": {"kind": "ServiceAccount", "name": name, "namespace": "fleet-system"}}
    return {
        "apiVersion": "cluster.kubernetes-fleet.io/v1",
        "kind": "MemberCluster",
        "metadata": {"name": name, "labels": {"env": "prod"}},
        "spec": spec,
    }


def fleet(
    policy: Any = None, strategy: Any = None, *others: Any, name: str = "shop"
) -> list[dict[str, Any]]:
    namespace = {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}
    spec = {"resourceSelectors": [namespace], "policy": policy, "strategy": strategy}
    return [
        member("a"),
        member("b"),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        {
            "apiVersion": FLEET,
            "kind": "ClusterResourcePlacement",
            "metadata": {"name": name},
            "spec": {field: value for field, value in spec.items() if value is not None},
        },
        *others,
    ]


EXTERNAL = {"type": "External"}
ONE = {"placementType": "PickN", "numberOfClusters": 1}
TOLERANT = {**ONE, "tolerations": [{"key": "spot", "operator": "Exists"}]}
STAGES = {
    "apiVersion": FLEET,
    "kind": "ClusterStagedUpdateStrategy",
    "metadata": {"name": "all"},
    "spec": {"stages": [{"name": "all", "labelSelector": {}}]},
}


def run(**changed: str) -> dict[str, Any]:
    spec = {"placementName": "shop", "stagedRolloutStrategyName": "all", "state": "Run", **changed}
    return {
        "apiVersion": FLEET,
        "kind": "ClusterStagedUpdateRun",
        "metadata": {"name": "now"},
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        (fleet(ONE), fleet(), "spec.policy"),
        (fleet(ONE), fleet({"placementType": "PickFixed", "clusterNames": ["a"]}), "spec.policy"),
        (fleet(), fleet(ONE), "spec.policy"),
        (fleet(ONE), fleet({**ONE, "numberOfClusters": 2}), None),
        (fleet(TOLERANT), fleet(ONE), "spec.policy.tolerations"),
        (fleet(ONE), fleet(TOLERANT), None),
        (fleet(None, EXTERNAL), fleet(), "spec.strategy.type"),
        (fleet(), fleet(None, EXTERNAL), None),
        (fleet(ONE), fleet(name="other"), None),
        (
            fleet(None, EXTERNAL, STAGES, run()),
            fleet(None, EXTERNAL, STAGES, run(state="Initialize")),
            "spec",
        ),
        (
            fleet(None, EXTERNAL, STAGES, run()),
            fleet(None, EXTERNAL, STAGES, run(state="Stop")),
            None,
        ),
    ],
)
def test_an_update_that_a_hub_would_refuse_is_refused_by_both_doors(
    before: Any, after: Any, field: str | None
) -> None:
    stack = Stack()
    first = stack.program(before, {"limit": 1})
    assert first.run.error is None
    stack.carry_out(first.run)
    seen = stack.program(after, {"limit": 1})
    if field is None:
        assert seen.run.error is None
        assert stack.directory(after)
        return
    assert field in str(seen.run.error)
    with pytest.raises(FleetError) as refused:
        stack.directory(after)
    (problem,) = refused.value.problems
    assert ".".join(map(str, problem.path)) == field
    assert problem.line
    assert problem.hint


def test_what_was_deleted_may_come_back_as_anything() -> None:
    stack = Stack()
    for documents in (fleet(ONE), fleet(ONE)[:3], fleet()):
        seen = stack.program(documents, {"limit": 1})
        assert seen.run.error is None
        stack.carry_out(seen.run)


@pytest.mark.parametrize("value", [True, 5, "text", [True], {"a": "b"}])
def test_a_memory_that_is_damaged_is_said(value: Any) -> None:
    """It is said where it is read, with the file and what would mend it."""
    fields = {"spec.policy.placementType": "PickN", "spec.policy.tolerations": value}
    roster = {
        "key": "dev",
        "format": FORMAT,
        "fleet": "dev",
        "held": {"ClusterResourcePlacement/shop": fields},
    }
    urn = f"urn:pulumi:dev::shop::{ROSTER}::dev"
    with pytest.raises(FleetError) as refusal:
        Past.of([StoredResource(urn, ROSTER, {}, roster)], "dev", file="state.json", mend="mend it")
    assert str(refusal.value) == (
        f"state.json: {urn}: outputs.held: says of ClusterResourcePlacement/shop what it cannot have been (mend it)"
    )


def test_what_cannot_be_changed_is_remembered_of_kinds_that_there_are() -> None:
    assert damaged({"Placement/shop": {}})
    assert damaged({"ClusterResourcePlacement/shop": {"spec.other": 1}})
    assert not damaged(
        held_fields([admit(Manifest(item)).defaulted for item in fleet(TOLERANT)[1:2]])
    )
