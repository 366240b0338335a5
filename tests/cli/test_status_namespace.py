"""A placement whose status is to be read in its namespace, and which then chooses another namespace."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.options import Options, Settings
from fleet_components.plan.past import Past
from fleet_components.plan.source import read_source
from fleet_components.plan.subject import Decided
from fleet_components.rollout.rollout import Done
from fleet_components.systems.kubefleet.status.placements import api_objects
from tests.cli.fleets import plan, run, write

MEMBER = "{apiVersion: cluster.kubernetes-fleet.io/v1, kind: MemberCluster, metadata: {name: a}, spec: {identity: {}}}"
FLEET = f"""\
{MEMBER.replace("{}", "{kind: ServiceAccount, name: agent, namespace: fleet-system}")}
---
{{apiVersion: v1, kind: Namespace, metadata: {{name: shop}}}}
---
{{apiVersion: v1, kind: Namespace, metadata: {{name: other}}}}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacement
metadata: {{name: shop}}
spec:
  statusReportingScope: SCOPE
  resourceSelectors: [{{group: "", version: v1, kind: Namespace, name: CHOSEN}}]
"""


def fleet(folder: Path, scope: str, chosen: str) -> Path:
    return write(folder, {"fleet.yaml": FLEET.replace("SCOPE", scope).replace("CHOSEN", chosen)})


@pytest.mark.parametrize(("scope", "status"), [("NamespaceAccessible", 1), ("ClusterScopeOnly", 0)])
def test_the_namespace_of_a_status_stays_as_on_a_hub(
    scope: str, status: int, tmp_path: Path
) -> None:
    state = tmp_path / "state.json"
    run("plan", fleet(tmp_path / "f", scope, "shop"), "--save-state", state)
    changed = run("plan", fleet(tmp_path / "f", scope, "other"), "--state", state)
    assert changed.exit_code == status, changed.output
    assert ("chooses the namespace other instead of shop" in changed.stderr) is bool(status)
    assert not plan(fleet(tmp_path / "f", scope, "shop"), "--state", state)["changes"]


def test_a_hub_that_gets_it_leaves_everything_as_it_is(tmp_path: Path) -> None:
    options = Options(settings=Settings(delivery="kubefleet"))

    def decided(chosen: str, past: Past) -> Decided:
        source = read_source(fleet(tmp_path / "f", "NamespaceAccessible", chosen))
        (found,) = plan_fleet(source, past, options).subjects
        return found

    first = decided("shop", Past())
    past = Past(records={first.name: first.record}, done={first.name: {"a": Done(0)}})
    moved = decided("other", past)
    assert moved.record == first.record
    assert [warning.what for warning in moved.subject.warnings if "instead of shop" in warning.what]
    placement, *_, accessible = api_objects(moved, {})
    assert placement["status"]["conditions"][0]["reason"] == "InvalidResourceSelectors"
    assert accessible["metadata"]["namespace"] == "shop"
    assert accessible["sourceStatus"]["conditions"][0]["status"] == "True"
