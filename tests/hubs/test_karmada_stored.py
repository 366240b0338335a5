"""What Karmada does with fields that nobody has written, with versions, and with what it leaves out: as plans say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from fleet_components import FleetPlan, Options, Past, plan_fleet, source_of
from fleet_components.content.difference import differences
from fleet_components.content.karmada.prune import pruned
from fleet_components.content.stored import stored
from fleet_components.model.manifest import Manifest
from tests.clusters.documents import Document
from tests.hubs.karmada import KarmadaHub, KarmadaMember, apply, karmada_hub
from tests.hubs.placements import config, made, namespace
from tests.hubs.propagation import named, overriding, propagation
from tests.hubs.test_kubefleet_stored import (
    OBJECTS,
    PATCHES,
    autoscaler,
    without_replicas,
)

pytestmark = pytest.mark.hubs

MEMBERS = [KarmadaMember("a"), KarmadaMember("b")]
CLUSTERS = [
    made("cluster.karmada.io/v1alpha1", "Cluster", one.name) | {"spec": {"syncMode": "Push"}} for one in MEMBERS
]
LEFT_OUT = {"annotations", "labels"}
"""Karmada marks what it sends in these; the marks are not the object's."""


@pytest.fixture(scope="module")
def karmada() -> Iterator[KarmadaHub]:
    with karmada_hub(MEMBERS) as hub:
        yield hub


def planned(documents: Iterable[Document]) -> FleetPlan:
    """The plan of a fleet in files."""
    plan = plan_fleet(source_of(map(Manifest, [*CLUSTERS, *documents])), Past(), Options())
    assert not plan.refused
    return plan


def delivered(plan: FleetPlan, member: str) -> Mapping[str, Mapping[str, Any]]:
    """What a member gets, by ``Kind/name``."""
    return {
        f"{data['kind']}/{data['metadata']['name']}": data
        for decided in plan.subjects
        if member in decided.deliveries
        for data in decided.deliveries[member].objects
    }


def sent(karmada: KarmadaHub, member: str, space: str) -> Mapping[str, Mapping[str, Any]]:
    """What the control plane sends to a member, of a namespace and of that itself."""
    works = karmada.hub.get("works.work.karmada.io", "-n", f"karmada-es-{member}")
    manifests = [data for work in works["items"] for data in work["spec"]["workload"]["manifests"]]
    return {
        f"{data['kind']}/{data['metadata']['name']}": data
        for data in manifests
        if space in (data["metadata"].get("namespace"), data["metadata"]["name"])
    }


def read(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """An object without the form in which it was written, and without marks."""
    found = pruned(stored(data))
    return {**found, "metadata": {key: one for key, one in found["metadata"].items() if key not in LEFT_OUT}}


def plaintext(space: str, target: Document) -> Document:
    """An override policy with patches of fields that an API server has filled in."""
    operations = [
        {"path": one["path"], "operator": one["op"], **({"value": one["value"]} if "value" in one else {})}
        for one in PATCHES[target["kind"]]
    ]
    selector = {"apiVersion": target["apiVersion"], "kind": target["kind"], "name": target["metadata"]["name"]}
    name = str(target["kind"]).lower()
    return overriding(name, space, {"plaintext": operations}, resourceSelectors=[selector])


def test_overrides_patch_defaults(karmada: KarmadaHub) -> None:
    space = "stored"
    objects = [make(space) for make in OBJECTS]
    selectors = [{"apiVersion": one["apiVersion"], "kind": one["kind"]} for one in objects]
    policy = propagation("all", space, named("a"), resourceSelectors=selectors)
    overrides = [plaintext(space, one) for one in objects]
    documents = [namespace(space), *objects, policy, *overrides]
    karmada.apply(documents)
    karmada.settle()
    ours, theirs = delivered(planned(documents), "a"), sent(karmada, "a", space)
    assert ours.keys() == theirs.keys()
    assert [f"{key}: {one}" for key in ours for one in differences(read(ours[key]), read(theirs[key]))] == []
    assert ours["Deployment/web"]["spec"]["replicas"] == 3


@pytest.mark.parametrize(("version", "matches"), [("v1", False), ("v2", True)])
def test_a_template_is_matched_in_the_preferred_version_of_its_kind(
    karmada: KarmadaHub, version: str, matches: bool
) -> None:
    space = f"preferred-{version}"
    written = autoscaler(space) | {"apiVersion": "autoscaling/v1"}
    selector = {"apiVersion": f"autoscaling/{version}", "kind": written["kind"]}
    documents = [namespace(space), written, propagation("all", space, named("a"), resourceSelectors=[selector])]
    karmada.apply(documents)
    karmada.settle()
    key = f"{written['kind']}/web"
    assert (key in sent(karmada, "a", space)) is (key in delivered(planned(documents), "a")) is matches


def test_what_karmada_leaves_out(karmada: KarmadaHub) -> None:
    """Leases and events, the namespace default, and a namespace that asks for it."""
    space = "skipped"
    lease = made("coordination.k8s.io/v1", "Lease", "one", space) | {"spec": {"holderIdentity": "x"}}
    skipped = namespace(space)
    skipped["metadata"]["labels"]["namespace.karmada.io/skip-auto-propagation"] = "true"
    selectors = [
        {"apiVersion": one["apiVersion"], "kind": one["kind"], "namespace": space}
        for one in (lease, config("c", space))
    ]
    policy = propagation("leases", "", named("a"), resourceSelectors=selectors)
    documents = [skipped, lease, config("c", space, a="1"), config("c", "default", a="1"), policy]
    apply(karmada.hub, documents)  # which makes no namespace before the one with the label
    karmada.settle()
    assert sent(karmada, "a", space).keys() == delivered(planned(documents), "a").keys() == {"ConfigMap/c"}
    assert sent(karmada, "b", "default") == {}


def test_a_namespace_comes_to_every_member_by_itself(karmada: KarmadaHub) -> None:
    space = "comes"
    policy = propagation("web", space, named("a"))
    documents = [namespace(space), without_replicas(space), policy]
    karmada.apply(documents)
    karmada.settle()
    assert sent(karmada, "b", space).keys() == {f"Namespace/{space}"}
    assert sent(karmada, "a", space).keys() == delivered(planned(documents), "a").keys()
