"""What an observed directory does not show: objects that no policy selected when it was observed, and old contents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.reading import read_hub
from fleet_components.systems.framework import System
from fleet_components.systems.registry import SYSTEMS
from tests.cli.fleets import edit, plan, run
from tests.delivery.karmada.world import on, policy
from tests.hub.folder.hubs import KARMADA, kubefleet, observed
from tests.hub.karmada.api import Api
from tests.hub.karmada.world import APPLIED, binding, claimed, deployment, fleet


def elsewhere(name: str, namespace: str, **spec: Any) -> dict[str, Any]:
    """A policy of another namespace."""
    found = policy(name, placement=on("a"), **spec)
    return {**found, "metadata": {"name": name, "namespace": namespace}}


DEPLOYMENTS = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
CLAIMS_MORE = elsewhere("more", "unclaimed", resourceSelectors=DEPLOYMENTS)
PLACES_MORE: dict[str, Any] = {
    "apiVersion": "placement.kubernetes-fleet.io/v1",
    "kind": "ClusterResourcePlacement",
    "metadata": {"name": "more"},
    "spec": {
        "resourceSelectors": [
            {"group": "", "version": "v1", "kind": "Namespace", "name": "unclaimed"}
        ]
    },
}
OTHERS = [
    elsewhere(f"other-{number}", f"other-{number}", resourceSelectors=DEPLOYMENTS)
    for number in range(5)
]


def folder_of(tmp_path: Path, system: System, *more: Any) -> Path:
    """An observed directory."""
    objects = (*KARMADA, *more) if system is SYSTEMS["karmada"] else kubefleet()
    write_observation(tmp_path / "fleet", observed(objects, system), update=False)
    return tmp_path / "fleet"


@pytest.mark.parametrize(
    ("system", "new"), [(SYSTEMS["karmada"], CLAIMS_MORE), (SYSTEMS["kubefleet"], PLACES_MORE)]
)
def test_a_new_policy_may_select_what_nobody_has_observed(
    tmp_path: Path, system: System, new: dict[str, Any]
) -> None:
    place = folder_of(tmp_path, system)
    (place / "new.yaml").write_text(yaml.safe_dump(new))
    document, text = plan(place), " ".join(run("plan", str(place)).output.split())
    assert (
        "is in this observation, which has only what policies select (the hub may have some, and they are not"
        in text
    )
    assert "there is no" not in text
    assert "there is:" not in text
    assert document["headline"][0].endswith("as far as the observation has what is selected")
    assert document["observed"]["unseen"]


def test_policies_of_other_namespaces_are_only_counted(tmp_path: Path) -> None:
    place = folder_of(tmp_path, SYSTEMS["karmada"], *OTHERS)
    for words in (
        ("plan", str(place), "--only", "shop/Deployment/web"),
        ("explain", str(place), "shop/Deployment/web"),
    ):
        text = run(*words).output
        assert "selects only in its namespace" not in text
        assert "5 more policies of other objects" in text


@pytest.fixture
def suspended(tmp_path: Path) -> Path:
    """An observed directory with an object that has changed while its dispatching was suspended."""
    owner = policy(placement=on("a"), suspension={"dispatching": True})
    now = claimed(deployment(2, "web:2"), owner)
    now["metadata"]["generation"] = 2
    behind = {**APPLIED, "status": {"resourceTemplateGeneration": 1}}
    spec = {"suspension": {"dispatching": True}}
    bound = binding(now, owner, {"a": 2}, reported={"a": behind}, spec=spec)
    observation = read_hub(Api((*fleet("a"), owner, now, bound)).listing())
    write_observation(tmp_path / "fleet", observation, update=False)
    return tmp_path / "fleet"


def test_what_a_hub_does_not_show_has_no_hint_at_a_state(suspended: Path) -> None:
    text = run("plan", str(suspended), "--all").output
    assert "the observation does not show its content" in " ".join(text.split())
    assert "fleet observe --update" in text
    assert "pulumi" not in text


def test_old_objects_that_a_hub_does_not_show_are_not_encrypted_in_a_state(suspended: Path) -> None:
    edit(
        suspended / "policies/PropagationPolicy/shop.web.yaml",
        "dispatching: true",
        "dispatching: false",
    )
    for words in ((), ("-o", "markdown")):
        text = " ".join(run("plan", str(suspended), *words).output.split())
        assert "the hub did not show the old objects" in text
        assert "pulumi" not in text
