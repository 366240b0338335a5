"""What cannot be carried out is refused before anything is done, with its reason."""

from __future__ import annotations

from typing import Any

from tests.delivery.driver import InProcess
from tests.delivery.karmada.world import POLICY, KarmadaWorld, deployment, on, policy

Object = dict[str, Any]


def refusal(
    in_process: InProcess[KarmadaWorld], web: Object | None = None, *more: Object, **spec: Any
) -> str:
    """What a preview of the Deployment and further objects says."""
    documents = (web or deployment(4), policy(placement=on("a"), **spec), *more)
    in_process.world.objects = {str(number): document for number, document in enumerate(documents)}
    seen = in_process.preview()
    assert not seen.ok
    return seen.text


def test_an_object_of_both_systems_is_refused_with_both_names(
    in_process: InProcess[KarmadaWorld],
) -> None:
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}
    placement = {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterResourcePlacement",
        "metadata": {"name": "everything"},
        "spec": {"resourceSelectors": [selector], "policy": {"placementType": "PickAll"}},
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    text = refusal(in_process, None, namespace, placement)
    assert (
        "is claimed by ClusterResourcePlacement everything and by PropagationPolicy shop/web"
        in text
    )


def test_a_scheduler_of_ones_own_is_refused(in_process: InProcess[KarmadaWorld]) -> None:
    text = refusal(in_process, schedulerName="mine")
    assert (
        'spec.schedulerName: "mine" is not carried out by this version: there is no scheduler but'
        in text
    )


def test_a_script_that_interprets_a_kind_is_refused(in_process: InProcess[KarmadaWorld]) -> None:
    script = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "mine"},
        "spec": {
            "target": {"apiVersion": "example.com/v1", "kind": "Widget"},
            "customizations": {},
        },
    }
    text = refusal(in_process, None, script)
    assert "ResourceInterpreterCustomization is not carried out by this version" in text


def test_a_kind_that_karmada_knows_and_we_do_not_is_refused(
    in_process: InProcess[KarmadaWorld],
) -> None:
    taints = {
        "apiVersion": POLICY,
        "kind": "ClusterTaintPolicy",
        "metadata": {"name": "sick"},
        "spec": {"taints": [{"key": "sick", "effect": "NoSchedule"}]},
    }
    text = refusal(in_process, None, taints)
    assert "ClusterTaintPolicy is not carried out by this version" in text
