"""Objects that wait for a policy, and what is passed over with a warning."""

from __future__ import annotations

import pytest

from tests.delivery.driver import InProcess
from tests.delivery.karmada.world import (
    Driver,
    KarmadaWorld,
    carried_out,
    delivered,
    deployment,
    on,
    policy,
    replicas,
)

NOBODY = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "nobody"}


def lazy() -> dict[str, object]:
    """A policy whose changes wait for those of the object."""
    return policy(placement=on("a"), activationPreference="Lazy")


def test_a_lazy_policy_leaves_what_waited_for_it_until_that_changes(driver: Driver) -> None:
    driver.world.objects = {
        "web": deployment(2),
        "other": policy("other", resourceSelectors=[NOBODY]),
    }
    carried_out(driver)
    driver.world.objects["policy"] = lazy()
    carried_out(driver)
    assert replicas(driver) == {}
    assert driver.record("shop/Deployment/web")["memory"]["claim"]["policy"]["name"] == "web"
    driver.world.objects["web"] = deployment(3)
    carried_out(driver)
    assert replicas(driver) == {"a": 3}


def test_what_comes_with_or_after_a_lazy_policy_is_delivered_at_once(
    in_process: InProcess[KarmadaWorld],
) -> None:
    in_process.world.objects = {"policy": lazy(), "web": deployment(2)}
    carried_out(in_process)
    assert replicas(in_process) == {"a": 2}


def test_any_other_policy_takes_what_waited_at_once(in_process: InProcess[KarmadaWorld]) -> None:
    in_process.world.objects = {"web": deployment(2)}
    carried_out(in_process)
    in_process.world.objects["policy"] = policy(placement=on("a"))
    carried_out(in_process)
    assert replicas(in_process) == {"a": 2}


@pytest.mark.parametrize(
    ("group", "kind", "field", "reference"),
    [
        ("apps.karmada.io/v1alpha1", "WorkloadRebalancer", "workloads", {}),
        ("fleet-components/v1", "ApplicationHealth", "unhealthy", {"cluster": "a"}),
    ],
)
def test_one_shots_outlive_their_object_with_a_warning(
    in_process: InProcess[KarmadaWorld],
    group: str,
    kind: str,
    field: str,
    reference: dict[str, str],
) -> None:
    delivered(in_process, on("a"))
    asked = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "namespace": "shop",
        "name": "web",
        **reference,
    }
    in_process.world.objects["again"] = {
        "apiVersion": group,
        "kind": kind,
        "metadata": {"name": "again"},
        "spec": {field: [asked]},
    }
    carried_out(in_process)
    in_process.world.objects["web"] = deployment(1, name="else")
    in_process.world.config = {"limit": 1}
    seen = carried_out(in_process)
    assert "there is no Deployment shop/web (take it out)" in seen.text
    assert replicas(in_process) == {}
