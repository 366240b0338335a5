"""Delivery through a hub: what goes there, in which order, what is forecast and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleet_components import Fleet, FleetArgs, source_of
from fleet_components.hub.folder.writing import write_observation
from fleet_components.model.manifest import Manifest
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.guard import loss_token
from fleet_components.plan.options import Options, Settings
from fleet_components.plan.past import Past
from fleet_components.systems.framework import System
from fleet_components.systems.registry import SYSTEMS
from fleet_components.testing import ProgramRun, StackState, kubeconfig, run_program
from tests.delivery.driver import InProcess
from tests.delivery.world import KubeFleetWorld
from tests.hub.folder.hubs import KARMADA, kubefleet, later, observed

GROUP = "placement.kubernetes-fleet.io/v1beta1"


@pytest.fixture
def driver() -> InProcess:
    world = KubeFleetWorld(
        members={"a": {"region": "west"}, "b": {"region": "east"}}, tainted={"b"}
    )
    world.policy = {
        "placementType": "PickAll",
        "tolerations": [{"key": "drained", "operator": "Exists"}],
    }
    world.config = {"delivery": "kubefleet", "kubeconfigs": None}
    return InProcess(world)


def on_hub(driver: InProcess) -> list[str]:
    """Type and name of the objects on the hub, in the order of their registration."""
    found = (
        resource
        for resource in driver.state.resources.values()
        if resource.type.startswith("kubernetes:")
    )
    return [
        f"{item.type.rpartition(':')[2]} {item.name.partition('/')[2]}"
        for item in found
        if "@hub/" in item.name
    ]


def override(name: str = "images") -> dict[str, Any]:
    patch = {"op": "add", "path": "/metadata/labels", "value": {"on": "${MEMBER-CLUSTER-NAME}"}}
    rule = {"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [patch]}
    selected = {"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}
    spec = {
        "placement": {"name": "shop"},
        "clusterResourceSelectors": [selected],
        "policy": {"overrideRules": [rule]},
    }
    return {
        "apiVersion": GROUP,
        "kind": "ClusterResourceOverride",
        "metadata": {"name": name},
        "spec": spec,
    }


def test_everything_goes_to_the_hub_in_an_order_that_it_can_take(driver: InProcess) -> None:
    driver.world.extra = [override()]
    done = driver.up()
    assert done.ok, done.text
    sent = on_hub(driver)
    assert [*sent[:2], *sorted(sent[2:4]), *sent[4:]] == [
        "Namespace shop",
        "ClusterResourceOverride images",
        "MemberClusterPatch a",
        "MemberClusterPatch b",
        "Deployment shop/web",
        "ClusterResourcePlacement shop",
    ]
    types = {resource.type for resource in driver.state.resources.values()}
    assert not any(item.endswith(("Target", "Binding")) for item in types)
    patches = [
        resource.inputs
        for resource in driver.state.resources.values()
        if resource.type.endswith("MemberClusterPatch")
    ]
    assert [patch["spec"]["taints"] for patch in patches if "spec" in patch] == [
        [{"key": "drained", "effect": "NoSchedule"}]
    ]
    assert all(patch["spec"].keys() == {"taints"} for patch in patches if "spec" in patch)


def test_what_is_placed_has_no_stamp_but_the_one_that_the_provider_needs(driver: InProcess) -> None:
    assert driver.up().ok
    sent = {
        resource.type: resource.inputs
        for resource in driver.state.resources.values()
        if "@hub/" in resource.name
    }
    assert "annotations" not in sent["kubernetes:core/v1:Namespace"]["metadata"]
    assert sent["kubernetes:apps/v1:Deployment"]["metadata"]["annotations"] == {
        "pulumi.com/skipAwait": "true"
    }


def test_the_decision_is_a_forecast(driver: InProcess) -> None:
    assert "shop (" in (first := driver.up()).text
    assert "forecast of the hub of KubeFleet" in first.text
    assert driver.record()["delivery"] == "kubefleet"
    assert driver.record()["decisions"].keys() == {"a", "b"}
    assert driver.preview().changes == {}
    driver.world.image = "web:2"
    second = driver.preview()
    assert "wave 1: update a (revision 1): Deployment shop/web changes" in second.text
    assert second.changes["Deployment dev@hub/shop/web"] == "update"
    assert driver.up().ok
    assert driver.preview().changes == {}


def test_a_hub_rolls_nothing_out_for_a_default_that_is_written_out(driver: InProcess) -> None:
    """The object on the hub is written, and what its API server stores stays the same."""
    service: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"ports": [{"port": 80}]},
    }
    job: dict[str, Any] = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "once", "namespace": "shop"},
        "spec": {"template": {"spec": {"containers": [{"name": "once", "image": "once:1"}]}}},
    }
    driver.world.extra = [service, job]
    assert driver.up().ok
    service["spec"] |= {
        "type": "ClusterIP",
        "ports": [{"port": 80, "targetPort": 80, "protocol": "TCP"}],
    }
    job["spec"]["suspend"] = False
    seen = driver.preview()
    assert (
        seen.changes["Service dev@hub/shop/web"]
        == seen.changes["Job dev@hub/shop/once"]
        == "update"
    )
    assert "revision 1" not in seen.text
    assert driver.up().ok
    assert driver.record()["revision"] == 0
    assert driver.preview().changes == {}
    service["spec"]["type"] = "NodePort"
    assert "revision 1" in driver.preview().text


def test_a_hub_rolls_nothing_out_for_a_default_of_a_definition(driver: InProcess) -> None:
    fields = {"size": {"type": "integer", "default": 3}, "color": {"type": "string"}}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"}
    definition: dict[str, Any] = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": names,
            "versions": [version],
        },
    }
    widget: dict[str, Any] = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "one", "namespace": "shop"},
        "spec": {"color": "red"},
    }
    driver.world.extra = [definition, widget]
    assert driver.up().ok
    widget["spec"]["size"] = 3
    seen = driver.preview()
    assert seen.changes["Widget dev@hub/shop/one"] == "update"
    assert "revision 1" not in seen.text
    widget["spec"]["size"] = 4
    assert "revision 1" in driver.preview().text


def test_a_default_that_makes_the_provider_replace_is_told(driver: InProcess) -> None:
    job: dict[str, Any] = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "once", "namespace": "shop"},
        "spec": {"template": {"spec": {"containers": [{"name": "once", "image": "once:1"}]}}},
    }
    driver.world.extra = [job]
    assert driver.up().ok
    job["spec"]["parallelism"] = 1
    assert (
        "created anew there, and the hub takes it off its members in between"
        in driver.preview().text
    )


SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key", "namespace": "shop"}}


@pytest.mark.parametrize(
    ("op", "path", "value", "held"),
    [
        ("replace", "/stringData/word", "x", True),
        ("remove", "/stringData/word", None, True),
        ("add", "/stringData/more", "x", True),
        ("add", "/stringData", {"more": "x"}, False),
        ("replace", "/data/word", "eA==", False),
    ],
)
@pytest.mark.parametrize("way", ["kubefleet", "direct"])
def test_a_hub_has_no_string_data_to_patch(
    driver: InProcess, way: str, op: str, path: str, value: Any, held: bool
) -> None:
    """What is delivered directly never was on a hub, and has what was written."""
    patch = {"op": op, "path": path} | ({} if value is None else {"value": value})
    rule = {"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [patch]}
    selected = {"group": "", "version": "v1", "kind": "Secret", "name": "key"}
    spec = {
        "placement": {"name": "shop"},
        "resourceSelectors": [selected],
        "policy": {"overrideRules": [rule]},
    }
    metadata = {"name": "keys", "namespace": "shop"}
    rules = {"apiVersion": GROUP, "kind": "ResourceOverride", "metadata": metadata, "spec": spec}
    driver.world.extra = [SECRET | {"stringData": {"word": "one"}}, rules]
    driver.world.config["delivery"] = way
    if way == "direct":
        driver.world.config["kubeconfigs"] = {
            name: kubeconfig(name) for name in driver.world.members
        }
    done = driver.up()
    assert done.ok, done.text
    assert ("an override fails" in done.text) is (held and way == "kubefleet")
    assert bool(driver.record()["decisions"]) is not (held and way == "kubefleet")


def test_what_the_hub_would_delete_on_members_is_guarded(driver: InProcess) -> None:
    assert driver.up().ok
    driver.world.policy |= affinity("nowhere")
    refused = driver.up()
    assert not refused.ok
    assert "Namespace shop: would be deleted on a, b, with all that is in it" in refused.text
    driver.world.config["confirm"] = ",".join(
        re.findall("fleet:confirm=([0-9a-f]{8})", refused.text)
    )
    assert driver.up().ok
    assert driver.record()["decisions"] == {}
    assert "ClusterResourcePlacement shop" in on_hub(driver)


@pytest.mark.parametrize(
    ("way", "who"), [("kubefleet", "the hub itself"), ("direct", "the next update")]
)
def test_what_is_held_goes_on_by_the_hub_itself(way: str, who: str) -> None:
    world = KubeFleetWorld(
        members={name: {} for name in "abc"}, rolling={"maxUnavailable": 1, "maxSurge": 0}
    )
    world.policy = {"placementType": "PickFixed", "clusterNames": ["a", "b"]}
    world.config = {"delivery": way, "limit": 1}
    driver = InProcess(world)
    assert (first := driver.up()).ok, first.text
    world.policy = {"placementType": "PickFixed", "clusterNames": ["a", "c"]}
    seen = driver.preview()
    if not seen.ok:
        world.config["confirm"] = ",".join(re.findall("fleet:confirm=([0-9a-f]{8})", seen.text))
        seen = driver.preview()
    assert seen.ok, seen.text
    assert f"maxSurge allows 2 clusters at a time, and 2 have it; {who} goes on" in seen.text


def test_what_the_hub_takes_off_its_members_to_be_made_anew_is_guarded(driver: InProcess) -> None:
    """The provider deletes it on the hub: what stands on the members goes with it."""
    claim: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "shop"},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "one"},
    }
    driver.world.extra = [claim]
    assert driver.up().ok
    claim["spec"]["storageClassName"] = "two"
    refused = driver.preview()
    assert not refused.ok
    assert "PersistentVolumeClaim shop/data" in refused.text
    assert "created anew there, and the hub takes it off its members in between" in refused.text
    given = re.findall("fleet:confirm=([0-9a-f]{8})", refused.text)
    driver.world.config["confirm"] = ",".join(given)
    assert (done := driver.up()).ok, done.text
    assert driver.preview().changes == {}


def affinity(region: str) -> dict[str, Any]:
    terms = [{"labelSelector": {"matchLabels": {"region": region}}}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": terms}}
    return {"affinity": {"clusterAffinity": required}}


def test_a_placement_of_one_system_does_not_go_through_the_other(driver: InProcess) -> None:
    driver.world.config["delivery"] = "karmada"
    refused = driver.preview()
    assert not refused.ok
    assert "is a policy of KubeFleet, and this fleet goes through a hub of Karmada" in refused.text


def test_a_placement_may_go_another_way_than_the_rest(driver: InProcess) -> None:
    driver.world.config["kubeconfigs"] = {name: kubeconfig(name) for name in driver.world.members}
    driver.world.extra = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "till"}},
        {
            "apiVersion": GROUP,
            "kind": "ClusterResourcePlacement",
            "metadata": {"name": "till", "annotations": {"fleet-components/delivery": "direct"}},
            "spec": {
                "resourceSelectors": [
                    {"group": "", "version": "v1", "kind": "Namespace", "name": "till"}
                ]
            },
        },
    ]
    done = driver.up()
    assert done.ok, done.text
    assert not [name for name in on_hub(driver) if "till" in name]
    assert "dev/till@a/till" in {resource.name for resource in driver.state.resources.values()}
    assert driver.preview().changes == {}
    # What the hub places is not brought there directly as well.
    driver.world.extra[1]["spec"]["resourceSelectors"][0]["name"] = "shop"
    refused = driver.preview()
    assert not refused.ok
    assert (
        "is brought to a by ClusterResourcePlacement/shop and ClusterResourcePlacement/till"
        in refused.text
    )


def test_a_hub_is_not_rendered_to(driver: InProcess, tmp_path: Path) -> None:
    driver.world.config["render"] = str(tmp_path)
    assert "objects are rendered, and some of them go through a hub" in driver.preview().text


def test_an_unknown_way_is_refused(driver: InProcess) -> None:
    driver.world.config["delivery"] = "hub"
    refused = driver.preview()
    assert not refused.ok
    assert "fleet:delivery" in refused.text
    assert "the ways are: direct, kubefleet, karmada" in refused.text


def test_what_stands_is_not_moved_by_deleting_it(driver: InProcess) -> None:
    driver.world.config |= {"delivery": "direct", "kubeconfigs": {}}
    assert driver.up().ok
    driver.world.config["delivery"] = "kubefleet"
    refused = driver.up()
    assert not refused.ok
    assert (
        "is to go through a hub of KubeFleet, and its objects would be deleted on a, b first"
        in refused.text
    )


def test_what_a_hub_has_placed_is_not_taken_from_it_by_deleting_it(driver: InProcess) -> None:
    assert driver.up().ok
    driver.world.config |= {"delivery": "direct", "kubeconfigs": {}}
    refused = driver.up()
    assert not refused.ok
    assert "leaves its hub of KubeFleet, which would delete its objects on a, b" in refused.text


def on_members(driver: InProcess) -> set[str]:
    """Names of the objects that the state has on members."""
    every = (
        resource.name
        for resource in driver.state.resources.values()
        if resource.type.startswith("kubernetes:")
    )
    return {name for name in every if "@hub/" not in name and "@" in name}


def test_an_update_prepares_a_move_to_a_hub(driver: InProcess) -> None:
    driver.world.config |= {"delivery": "direct", "kubeconfigs": {}}
    assert driver.up().ok
    stood = on_members(driver)
    driver.world.config |= {"delivery": "kubefleet", "moving": "true"}
    prepared = driver.up()
    assert prepared.ok, prepared.text
    assert (on_members(driver), on_hub(driver)) == (stood, [])
    bindings = [
        resource
        for resource in driver.state.resources.values()
        if resource.type.endswith("fleet:Binding")
    ]
    assert [binding.outputs["keeps"] for binding in bindings] == ["all", "all"]
    del driver.world.config["moving"]
    moved = driver.up()
    assert moved.ok, moved.text
    assert on_members(driver) == set()
    assert "ClusterResourcePlacement shop" in on_hub(driver)


def test_a_placement_leaves_its_hub_once_it_was_released(driver: InProcess) -> None:
    assert driver.up().ok
    sent = sorted(on_hub(driver))
    driver.world.config |= {"delivery": "direct", "kubeconfigs": {}, "moving": "true"}
    prepared = driver.up()
    assert prepared.ok, prepared.text
    assert sorted(on_hub(driver)) == sent
    del driver.world.config["moving"]
    refused = driver.up()
    assert not refused.ok
    assert "leaves its hub of KubeFleet" in refused.text
    released = loss_token("ClusterResourcePlacement/shop", ["released", "a", "b"])
    assert released not in refused.text
    others = re.findall("fleet:confirm=([0-9a-f]{8})", refused.text)
    driver.world.config["confirm"] = ",".join(["0badcafe", *others])
    assert "leaves its hub of KubeFleet" in driver.up().text
    driver.world.config["confirm"] = ",".join([released, *others])
    moved = driver.up()
    assert moved.ok, moved.text
    assert on_hub(driver) == []
    assert on_members(driver)


ON_KARMADA: list[dict[str, Any]] = [
    {
        "apiVersion": "fleet-components/v1",
        "kind": "KarmadaSettings",
        "metadata": {"name": "karmada"},
        "spec": {"bringsNamespaces": True},
    },
    *map(dict, KARMADA),
]
"""A Karmada control plane as it is observed."""


def through(folder: Path, way: str, state: StackState | None = None) -> ProgramRun:
    """Run a program whose source is an observed directory."""
    program = lambda: Fleet("dev", FleetArgs(str(folder), delivery=way, hub="apiVersion: v1"))  # noqa: E731
    return run_program(program, state=state, preview=False)


@pytest.mark.parametrize(
    ("system", "objects"), [(SYSTEMS["kubefleet"], kubefleet()), (SYSTEMS["karmada"], ON_KARMADA)]
)
def test_a_forecast_starts_from_the_hub_as_it_was_observed(
    system: System, objects: list[dict[str, Any]], tmp_path: Path
) -> None:
    write_observation(tmp_path, observed(objects, system), update=False)
    run = through(tmp_path, system.NAME)
    assert run.error is None
    text = "\n".join(text for _, text in run.messages)
    assert "wave 1: add" not in text
    (deployment,) = tmp_path.rglob("Deployment.*.yaml")
    data = yaml.safe_load(deployment.read_text())
    data["spec"]["template"]["spec"]["containers"][0]["image"] = "another:2"
    deployment.write_text(yaml.safe_dump(data))
    run = through(tmp_path, system.NAME)
    assert run.error is None
    text = "\n".join(text for _, text in run.messages)
    assert "update" in text
    assert "add" not in text
    assert _AGAIN not in text
    # Once more, as what was decided last is not what the state has, but what was observed.
    again = through(tmp_path, system.NAME, run.state())
    assert again.error is None
    (told,) = (text for _, text in again.messages if _AGAIN in text)
    assert f"fleet observe --hub KUBECONFIG --out {tmp_path} --update" in told
    # The hub has taken it, and was observed: its record is what was sent.
    taken = [data if item["kind"] == "Deployment" else item for item in objects]
    write_observation(tmp_path, later(observed(taken, system)), update=True)
    quiet = through(tmp_path, system.NAME, run.state())
    assert quiet.error is None
    assert not any(_AGAIN in text for _, text in quiet.messages)


_AGAIN = "this forecast tells that once more"


def test_what_an_observation_hides_is_not_sent(tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}}
    write_observation(
        tmp_path,
        observed([*ON_KARMADA, {**secret, "data": {"k": "djE="}}], SYSTEMS["karmada"]),
        update=False,
    )
    policy = next(tmp_path.rglob("policies/PropagationPolicy/*.yaml"))
    data = yaml.safe_load(policy.read_text())
    data["spec"]["resourceSelectors"].append({"apiVersion": "v1", "kind": "Secret", "name": "s"})
    policy.write_text(yaml.safe_dump(data))
    (tmp_path / "objects" / "shop" / "Secret.s.yaml").write_text(
        yaml.safe_dump({**secret, "data": {"k": "[secret]"}})
    )
    run = through(tmp_path, "karmada")
    assert run.error is None
    assert any("Secret shop/s: left on the hub as it is" in text for _, text in run.messages)
    assert not any(registration.type.endswith(":Secret") for registration in run.registrations)


CANARY = "canary-0f3a"
KINDS = {
    "FederatedHPA": "autoscaling.karmada.io/v1alpha1",
    "MultiClusterService": "networking.karmada.io/v1alpha1",
    "OverridePolicy": "policy.karmada.io/v1alpha1",
}


@st.composite
def sources(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A fleet of Karmada with objects that a policy claims, some that none does, and kinds that are passed on."""
    names = draw(st.lists(st.sampled_from("abcdef"), unique=True))
    objects = [
        {
            "apiVersion": "v1",
            "kind": draw(st.sampled_from(["ConfigMap", "Secret"])),
            "metadata": {"name": name, "namespace": draw(st.sampled_from(["shop", "till"]))},
            "data": {"k": CANARY},
        }
        for name in names
    ]
    more = draw(st.lists(st.sampled_from(sorted(KINDS)), unique=True))
    others = [
        {
            "apiVersion": KINDS[kind],
            "kind": kind,
            "metadata": {"name": "x", "namespace": "shop"},
            "spec": RULES[kind],
        }
        for kind in more
    ]
    return [*ON_KARMADA, *objects, *others, *draw(st.sampled_from([[], [CLAIMS]]))]


RULES: dict[str, Any] = {
    "FederatedHPA": {},
    "MultiClusterService": {},
    "OverridePolicy": {"overrideRules": [{"overriders": {}}]},
}
CLAIMS = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "PropagationPolicy",
    "metadata": {"name": "all", "namespace": "shop"},
    "spec": {
        "resourceSelectors": [
            {"apiVersion": "v1", "kind": kind} for kind in ("ConfigMap", "Secret")
        ],
        "placement": {"clusterAffinity": {"clusterNames": ["a"]}},
    },
}


@given(sources())
def test_everything_goes_to_the_hub_once_or_is_named_and_no_secret_is_told(
    objects: list[dict[str, Any]],
) -> None:
    settings = Settings(delivery="karmada")
    plan = plan_fleet(
        source_of(map(Manifest, objects)), Past(settings=settings), Options(settings=settings)
    )
    sent = [data.manifest.key for data in plan.consignment.objects]
    assert len(sent) == len(set(sent))
    left = {Manifest(data).key for data in objects} - set(sent)
    claimed = {
        subject.subject.content and Manifest(subject.subject.content[0]).key
        for subject in plan.subjects
    }
    # A member without labels and taints has nothing that could be set; what no policy claims is counted in a warning.
    assert not {key for key in left if key.kind != "Cluster"} & claimed
    unclaimed = [key for key in left if key.kind in ("ConfigMap", "Secret")]
    warnings = "\n".join(map(str, plan.warnings))
    assert bool(unclaimed) == ("no policy" in warnings), warnings
    assert all(
        kind in warnings
        for kind in ("FederatedHPA", "MultiClusterService")
        if any(o["kind"] == kind for o in objects)
    )
    assert CANARY not in warnings + "\n".join(map(str, plan.refused))
    assert CANARY not in repr(plan.consignment)
