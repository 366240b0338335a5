"""What Karmada does with fields that nobody has written, with versions, and with what it leaves out: as plans say."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from fleet_components import FleetPlan, Options, Past, plan_fleet, source_of
from fleet_components.content.difference import differences
from fleet_components.content.stored import stored
from fleet_components.model.manifest import Manifest
from fleet_components.systems.karmada.content.prune import pruned
from tests.clusters.documents import Document
from tests.hubs.karmada import KarmadaHub, KarmadaMember, apply, karmada_hub
from tests.hubs.karmada_story import begun
from tests.hubs.placements import config, made, namespace
from tests.hubs.propagation import named, overriding, propagation, weighted
from tests.hubs.test_kubefleet_stored import (
    OBJECTS,
    PATCHES,
    autoscaler,
    without_replicas,
)

pytestmark = pytest.mark.hubs

MEMBERS = [KarmadaMember("a"), KarmadaMember("b")]
CLUSTERS = [
    made("cluster.karmada.io/v1alpha1", "Cluster", member.name) | {"spec": {"syncMode": "Push"}}
    for member in MEMBERS
]
Objects = Mapping[str, Mapping[str, Any]]
"""The objects of a member in a namespace, and that itself, by ``Kind/name``."""
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


def delivered(plan: FleetPlan, member: str, space: str) -> Objects:
    """What a member gets, of a namespace and of that itself."""
    objects = [
        data
        for decided in plan.subjects
        if member in decided.deliveries
        for data in decided.deliveries[member].objects
    ]
    return in_space(objects, space)


def sent(karmada: KarmadaHub, member: str, space: str) -> Objects:
    """What the control plane sends to a member, of a namespace and of that itself."""
    works = karmada.hub.get("works.work.karmada.io", "-n", f"karmada-es-{member}")
    return in_space(
        (data for work in works["items"] for data in work["spec"]["workload"]["manifests"]), space
    )


def in_space(objects: Iterable[Mapping[str, Any]], space: str) -> Objects:
    """The objects of a namespace, and that itself."""
    return {
        f"{data['kind']}/{data['metadata']['name']}": data
        for data in objects
        if space in (data["metadata"].get("namespace"), data["metadata"]["name"])
    }


def read(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """An object without the form in which it was written, and without marks."""
    found = pruned(stored(data))
    return {
        **found,
        "metadata": {key: item for key, item in found["metadata"].items() if key not in LEFT_OUT},
    }


def plaintext(space: str, target: Document, patches: Iterable[Document], *members: str) -> Document:
    """An override policy with patches of fields that an API server has filled in, for all members or some."""
    operations = [
        {
            "path": patch["path"],
            "operator": patch["op"],
            **({"value": patch["value"]} if "value" in patch else {}),
        }
        for patch in patches
    ]
    selector = {
        "apiVersion": target["apiVersion"],
        "kind": target["kind"],
        "name": target["metadata"]["name"],
    }
    name = str(target["kind"]).lower()
    return overriding(
        name, space, {"plaintext": operations}, *members, resourceSelectors=[selector]
    )


def test_overrides_patch_defaults(karmada: KarmadaHub) -> None:
    space = "stored"
    objects = [make(space) for make in OBJECTS]
    selectors = [{"apiVersion": data["apiVersion"], "kind": data["kind"]} for data in objects]
    policy = propagation("all", space, named("a"), resourceSelectors=selectors)
    overrides = [plaintext(space, data, PATCHES[data["kind"]]) for data in objects]
    documents = [namespace(space), *objects, policy, *overrides]
    karmada.apply(documents)
    karmada.settle()
    ours, theirs = delivered(planned(documents), "a", space), sent(karmada, "a", space)
    assert ours.keys() == theirs.keys()
    assert [
        f"{key}: {difference}"
        for key in ours
        for difference in differences(read(ours[key]), read(theirs[key]))
    ] == []
    assert ours["Deployment/web"]["spec"]["replicas"] == 3


@pytest.mark.parametrize(("version", "matches"), [("v1", False), ("v2", True)])
def test_a_template_is_matched_in_the_preferred_version_of_its_kind(
    karmada: KarmadaHub, version: str, matches: bool
) -> None:
    space = f"preferred-{version}"
    written = autoscaler(space) | {"apiVersion": "autoscaling/v1"}
    selector = {"apiVersion": f"autoscaling/{version}", "kind": written["kind"]}
    documents = [
        namespace(space),
        written,
        propagation("all", space, named("a"), resourceSelectors=[selector]),
    ]
    karmada.apply(documents)
    karmada.settle()
    key = f"{written['kind']}/web"
    assert (
        (key in sent(karmada, "a", space))
        is (key in delivered(planned(documents), "a", space))
        is matches
    )


def test_what_karmada_leaves_out(karmada: KarmadaHub) -> None:
    """Leases and events, the namespace default, and a namespace that asks for it."""
    space = "skipped"
    lease = made("coordination.k8s.io/v1", "Lease", "one", space) | {
        "spec": {"holderIdentity": "x"}
    }
    skipped = namespace(space)
    skipped["metadata"]["labels"]["namespace.karmada.io/skip-auto-propagation"] = "true"
    selectors = [
        {"apiVersion": item["apiVersion"], "kind": item["kind"], "namespace": space}
        for item in (lease, config("c", space))
    ]
    policy = propagation("leases", "", named("a"), resourceSelectors=selectors)
    documents = [skipped, lease, config("c", space, a="1"), config("c", "default", a="1"), policy]
    apply(karmada.hub, documents)  # which makes no namespace before the one with the label
    karmada.settle()
    assert (
        sent(karmada, "a", space).keys()
        == delivered(planned(documents), "a", space).keys()
        == {"ConfigMap/c"}
    )
    assert sent(karmada, "b", "default") == {}


def test_a_namespace_comes_to_every_member_by_itself(karmada: KarmadaHub) -> None:
    space = "comes"
    policy = propagation("web", space, named("a"))
    documents = [namespace(space), without_replicas(space), policy]
    karmada.apply(documents)
    karmada.settle()
    assert sent(karmada, "b", space).keys() == {f"Namespace/{space}"}
    assert sent(karmada, "a", space).keys() == delivered(planned(documents), "a", space).keys()


def fleet_of(rng: random.Random, seed: int, number: int) -> list[Document]:
    """A random policy, with what it places and overrides of that."""
    space = f"random-{seed}-{number}"
    objects = [make(space) for make in rng.sample(OBJECTS, 3)]
    selectors = [{"apiVersion": data["apiVersion"], "kind": data["kind"]} for data in objects]
    # Not of the same weight: who gets the last replica then depends on the uid of the binding.
    chosen = rng.choice(
        [named("a"), named("b"), named("a", "b"), {}, weighted(a=2, b=1), weighted(a=1, b=3)]
    )
    found = [
        namespace(space),
        *objects,
        propagation("all", space, chosen, resourceSelectors=selectors),
    ]
    for item in rng.sample(objects, 2):
        members = rng.choice([(), ("a",), ("b",)])
        # Without the default that goes with it, which a hub has and a file has not, a member refuses another type.
        patches = [
            patch
            for patch in PATCHES[item["kind"]]
            if not patch["path"].startswith("/spec/strategy")
        ]
        found.append(plaintext(space, item, [rng.choice(patches)], *members))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_files_and_the_observed_hub_decide_alike(
    karmada: KarmadaHub, seed: int, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    documents = [document for number in range(5) for document in fleet_of(rng, seed, number)]
    spaces = [item["metadata"]["name"] for item in documents if item["kind"] == "Namespace"]
    with begun(karmada, tmp_path / "fleet", ()) as story:
        story.begin(*documents)
        ours, observed = planned(documents), story.quiet()
        wrong: list[str] = []
        for member, space in product("ab", spaces):
            files, seen = (
                without_spaces(delivered(plan, member, space)) for plan in (ours, observed)
            )
            wrong += unlike(
                f"{member}, files and hub", files, without_spaces(sent(karmada, member, space))
            )
            wrong += unlike(
                f"{member}, files and observation", observed_too(files), observed_too(seen)
            )
        assert not wrong, "\n".join(wrong)


def unlike(member: str, ours: Objects, theirs: Objects) -> list[str]:
    """Where the objects of a member differ."""
    found = [
        f"{member}: {key} is {'there' if key in theirs else 'here'} alone"
        for key in ours.keys() ^ theirs.keys()
    ]
    for key in ours.keys() & theirs.keys():
        found += [
            f"{member}: {key}: {difference}"
            for difference in differences(read(ours[key]), read(theirs[key]))
        ]
    return found


def without_spaces(objects: Objects) -> Objects:
    """Objects without the Namespace, which a control plane brings to every member, and files where it is needed."""
    return {key: data for key, data in objects.items() if data["kind"] != "Namespace"}


def observed_too(objects: Objects) -> Objects:
    """Objects that an observation knows of: it asks for no data of Secrets."""
    return {key: data for key, data in objects.items() if data["kind"] != "Secret"}
