"""Properties of ``fleet simulate`` over random fleets of both systems, and random changes of them."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.review.documents.form import EVERYTHING
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.documents.sweep import sweep_document
from fleet_components.review.documents.wire import as_data
from fleet_components.review.planning.past import StateFile
from fleet_components.review.planning.setting import FieldSetting
from fleet_components.review.planning.simulation import simulate
from fleet_components.review.planning.supposition import Addition, Loss, Supposition
from fleet_components.review.planning.survey import CommandLine, survey
from fleet_components.review.planning.sweep import Sweep
from tests.cli.by_hand import PRICE
from tests.cli.test_simulate import outcome
from tests.delivery.karmada.world import deployment, member, policy

pytestmark = pytest.mark.long

NAMES = ("a", "b", "c", "d", "e")
Objects = list[dict[str, Any]]
numbers = st.integers(1, 4)
values = st.sampled_from(("west", "east"))


@st.composite
def kubefleet(draw: st.DrawFn) -> Objects:
    """Members with prices and resources, and two placements of any type."""
    found: Objects = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"n{n}"}} for n in range(2)
    ]
    for name in NAMES:
        spec: dict[str, Any] = {
            "identity": {"kind": "ServiceAccount", "name": name, "namespace": "fleet-system"}
        }
        if draw(st.booleans()):
            spec["taints"] = [{"key": "k", "effect": "NoSchedule"}]
        usage = {
            field: {"cpu": str(draw(st.integers(0, 20)))}
            for field in ("allocatable", "capacity", "available")
        }
        status = {
            "properties": {PRICE: {"value": f"0.{draw(st.integers(1, 9))}"}},
            "resourceUsage": usage,
        }
        metadata = {"name": name, "labels": {"env": draw(values), "region": draw(values)}}
        version = "cluster.kubernetes-fleet.io/v1"
        found.append(
            {
                "apiVersion": version,
                "kind": "MemberCluster",
                "metadata": metadata,
                "spec": spec,
                "status": status,
            }
        )
    for number in range(2):
        version, selector = (
            "placement.kubernetes-fleet.io/v1",
            {"group": "", "version": "v1", "kind": "Namespace"},
        )
        spec = {"resourceSelectors": [{**selector, "name": f"n{number}"}], "policy": draw(picks())}
        kind = "ClusterResourcePlacement"
        found.append(
            {"apiVersion": version, "kind": kind, "metadata": {"name": f"p{number}"}, "spec": spec}
        )
    return found


@st.composite
def picks(draw: st.DrawFn) -> dict[str, Any]:
    """A policy of KubeFleet."""
    kind = draw(st.sampled_from(("PickAll", "PickN", "PickN", "PickFixed")))
    if kind == "PickFixed":
        return {
            "placementType": kind,
            "clusterNames": draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True)),
        }
    terms = {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"env": draw(values)}}}]}
    affinity: dict[str, Any] = (
        {"requiredDuringSchedulingIgnoredDuringExecution": terms} if draw(st.booleans()) else {}
    )
    found: dict[str, Any] = {"placementType": kind, "affinity": {"clusterAffinity": affinity}}
    if kind == "PickN":
        name = draw(st.sampled_from((PRICE, "resources.kubernetes-fleet.io/available-cpu")))
        sorter = {
            "weight": 60,
            "preference": {"propertySorter": {"name": name, "sortOrder": "Ascending"}},
        }
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [sorter]
        found["numberOfClusters"] = draw(numbers)
    return found


@st.composite
def karmada(draw: st.DrawFn) -> Objects:
    """Members with room, and a Deployment that is divided by it, in one region or two."""
    found: Objects = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}]
    for name in NAMES:
        item = member(name, region=draw(values), labels={"env": draw(values)})
        allocatable = {"cpu": str(draw(st.integers(1, 8))), "pods": "20"}
        apis = [
            {
                "groupVersion": "apps/v1",
                "resources": [{"kind": "Deployment", "name": "deployments"}],
            }
        ]
        summary = {"allocatable": allocatable, "allocated": {"cpu": "500m", "pods": "1"}}
        found.append({**item, "status": {"apiEnablements": apis, "resourceSummary": summary}})
    web = deployment(draw(st.integers(1, 9)))
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    dynamic = {
        "weightPreference": {"dynamicWeight": "AvailableReplicas"},
        "replicaSchedulingType": "Divided",
    }
    groups = draw(st.integers(1, 2))
    spread = [
        {"spreadByField": "region", "minGroups": groups, "maxGroups": groups},
        {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 5},
    ]
    placement = {
        "replicaScheduling": {**dynamic, "replicaDivisionPreference": "Weighted"},
        "spreadConstraints": spread,
    }
    return [*found, web, policy(placement=placement)]


@attrs.frozen
class Change:
    """A change as it is supposed, and as it is written into the objects; members that are lost are named instead."""

    supposed: Supposition
    edit: Callable[[Objects], Any] = lambda objects: None
    lost: frozenset[str] = frozenset()


def found(objects: Objects, name: str) -> dict[str, Any]:
    return next(data for data in objects if data["metadata"]["name"] == name)


@st.composite
def changes(draw: st.DrawFn, *, kubefleet: bool) -> Change:
    """A change of one member or policy."""
    name, value = draw(st.sampled_from(NAMES)), draw(values)
    every = [
        Change(Loss(name), lost=frozenset((name,))),
        Change(
            FieldSetting(name, ("labels", "env"), value),
            lambda objects: found(objects, name)["metadata"]["labels"].update(env=value),
        ),
        Change(
            FieldSetting(name, ("labels", "new"), value),
            lambda objects: found(objects, name)["metadata"]["labels"].update(new=value),
        ),
        added(name, value, kubefleet=kubefleet),
        tainted(name, value),
        resized(name, str(draw(numbers)), kubefleet=kubefleet),
        numbered(draw(numbers), kubefleet=kubefleet),
    ]
    if kubefleet:
        price = f"0.{draw(st.integers(1, 9))}"

        def edit(objects: Objects) -> None:
            found(objects, name)["status"]["properties"][PRICE]["value"] = price

        every.append(Change(FieldSetting(name, ("properties", PRICE), price), edit))
    return draw(st.sampled_from(every))


def added(name: str, region: str, *, kubefleet: bool) -> Change:
    new = f"new-{name}-{region}"

    def edit(objects: Objects) -> None:
        item = copy.deepcopy(found(objects, name))
        item["metadata"]["name"] = new
        if kubefleet:
            item["metadata"]["labels"]["region"] = region
        else:
            item["spec"]["region"] = region
        objects.append(item)

    return Change(Addition(new, name, {"region": region}), edit)


def tainted(name: str, value: str) -> Change:
    def edit(objects: Objects) -> None:
        spec = found(objects, name)["spec"]
        taints = [item for item in spec.get("taints", ()) if item["key"] != "k"]
        spec["taints"] = [*taints, {"key": "k", "value": value, "effect": "NoSchedule"}]

    return Change(FieldSetting(name, ("taints", "k"), f"{value}:NoSchedule"), edit)


def resized(name: str, more: str, *, kubefleet: bool) -> Change:
    def edit(objects: Objects) -> None:
        status = found(objects, name)["status"]
        fields = (
            status["resourceUsage"].values()
            if kubefleet
            else [status["resourceSummary"]["allocatable"]]
        )
        for amounts in fields:
            amounts["cpu"] = str(int(amounts["cpu"]) + int(more))

    return Change(FieldSetting(name, ("capacity", "cpu"), f"+{more}"), edit)


def numbered(number: int, *, kubefleet: bool) -> Change:
    """Another number of the first placement's labels, which changes no decision, or of the replicas, which does."""
    if kubefleet:

        def edit(objects: Objects) -> None:
            found(objects, "p0")["spec"]["strategy"] = {"rollingUpdate": {"maxSurge": number}}

        path = ("spec", "strategy", "rollingUpdate", "maxSurge")
        return Change(FieldSetting("ClusterResourcePlacement/p0", path, str(number)), edit)

    def scale(objects: Objects) -> None:
        next(data for data in objects if data["kind"] == "Deployment")["spec"]["replicas"] = number

    return Change(FieldSetting("Deployment/shop/web", ("spec", "replicas"), str(number)), scale)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Objects, list[Change]]:
    """A fleet and changes of it, in the order in which the command applies them, with no new member twice."""
    of_kubefleet = draw(st.booleans())
    objects = draw(kubefleet() if of_kubefleet else karmada())
    some = draw(st.lists(changes(kubefleet=of_kubefleet), min_size=1, max_size=4))
    names = [item.supposed.name for item in some if isinstance(item.supposed, Addition)]
    kept = [item for at, item in enumerate(some) if not _again(item, some[:at])]
    assert len(names) >= sum(isinstance(item.supposed, Addition) for item in kept)
    return objects, kept


def _again(change: Change, before: list[Change]) -> bool:
    return isinstance(change.supposed, Addition) and change.supposed.name in {
        each.supposed.name for each in before if isinstance(each.supposed, Addition)
    }


def written(folder: str, name: str, objects: Objects) -> Path:
    path = Path(folder, name)
    path.mkdir()
    (path / "fleet.yaml").write_text(yaml.safe_dump_all(objects))
    return path


@given(worlds())
@settings(max_examples=60)
def test_what_is_supposed_comes_out_as_what_is_written(world: tuple[Objects, list[Change]]) -> None:
    objects, some = world
    lost = frozenset[str]().union(*(item.lost for item in some))
    with tempfile.TemporaryDirectory() as folder:
        before = written(folder, "before", objects)
        supposed = simulate([before], CommandLine(), [item.supposed for item in some])
        state = supposed.start.command.state
        changed = copy.deepcopy(objects)
        for item in some:
            item.edit(changed)
        after = written(folder, "after", changed)
        planned = survey([after], CommandLine(state=StateFile(state=state.state), lost=lost))
    by_hand = outcome(as_data(plan_document(planned, EVERYTHING)), str(after / "fleet.yaml"))
    assert (
        outcome(as_data(plan_document(supposed.survey, EVERYTHING)), str(before / "fleet.yaml"))
        == by_hand
    )


@given(worlds(), st.sampled_from(("region", "member", "env")))
@settings(max_examples=30)
def test_each_loss_is_a_simulation_after_what_is_supposed(
    world: tuple[Objects, list[Change]], by: str
) -> None:
    objects, some = world
    some = [item for item in some if not item.lost]
    with tempfile.TemporaryDirectory() as folder:
        found = simulate(
            [written(folder, "before", objects)], CommandLine(), [item.supposed for item in some]
        )
        if found.survey.refused:
            return
        sweep = Sweep.of(found, by)
        losses = list(sweep.losses())
        start = found.carried_out() if some else found.start
        alone = [
            start.supposing([Loss(name) for name in item.members]).survey.plans[0]
            for item in losses
        ]
    assert len(sweep_document(sweep, losses).losses) == len(losses)
    for loss, plan in zip(losses, alone, strict=True):
        assert loss.refused == plan.refused
        assert loss.moved == sum(subject.moves for subject in plan.subjects)
        unfulfilled = {subject.name for subject in plan.subjects if subject.outcome.unfulfilled}
        nowhere = {
            subject.name
            for subject in plan.subjects
            if subject.before.decisions and not subject.record.decisions
        }
        already = {subject.name for subject in sweep.plan.subjects if subject.outcome.unfulfilled}
        short = {item.name for item in loss.short}
        assert unfulfilled - already <= short <= unfulfilled | nowhere
        assert {item.name for item in loss.short if item.nowhere} >= nowhere - already
