"""What objects need of other placements: each kind of need, and each way of delivery."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from fleet_components.testing import ProgramRun
from tests.delivery.driver import InProcess
from tests.precedence import (
    ROLLING,
    Files,
    Object,
    Registered,
    config,
    in_stages,
    named,
    namespace,
    placement,
    select,
)

ADMISSION = "admissionregistration.k8s.io"
COMPARES = {"type": "RollingUpdate", "applyStrategy": {"type": "ReportDiff"}}
SERVICE = {"namespace": "t", "name": "hook"}
PORTS = [{"port": 443}]
POD = {"serviceAccountName": "robot", "priorityClassName": "high", "containers": []}
WEB = {"matchLabels": {"app": "web"}}
CLAIM = {"metadata": {"name": "data"}, "spec": {"storageClassName": "fast"}}
HOOK = {"name": "hook.example.com", "clientConfig": {"service": SERVICE}}
FIRST = [
    named("v1", "ServiceAccount", "robot", "t"),
    named("v1", "Service", "hook", "t", spec={"ports": PORTS}),
]
CLASSES = [
    named("scheduling.k8s.io/v1", "PriorityClass", "high", value=1),
    named("storage.k8s.io/v1", "StorageClass", "fast", provisioner="example.com/disk"),
    named("networking.k8s.io/v1", "IngressClass", "outer", spec={"controller": "example.com/in"}),
]
USERS = [
    named("apps/v1", "Deployment", "web", "t", spec={"selector": WEB, "template": {"spec": POD}}),
    named("apps/v1", "StatefulSet", "db", "t", spec={"volumeClaimTemplates": [CLAIM]}),
    named("v1", "PersistentVolumeClaim", "disk", "t", spec={"storageClassName": "fast"}),
    named("networking.k8s.io/v1", "Ingress", "in", "t", spec={"ingressClassName": "outer"}),
]
HOOKS = [
    named(f"{ADMISSION}/v1", "ValidatingWebhookConfiguration", "v", webhooks=[HOOK]),
    named(f"{ADMISSION}/v1", "MutatingWebhookConfiguration", "m", webhooks=[HOOK]),
    named("apiregistration.k8s.io/v1", "APIService", "v1.example.com", spec={"service": SERVICE}),
]
NEEDS = [
    ("Deployment", "ServiceAccount"),
    ("Deployment", "PriorityClass"),
    ("StatefulSet", "StorageClass"),
    ("PersistentVolumeClaim", "StorageClass"),
    ("Ingress", "IngressClass"),
    ("ValidatingWebhookConfiguration", "Service"),
    ("MutatingWebhookConfiguration", "Service"),
    ("APIService", "Service"),
]


def run_of(objects: Iterable[Object], **config: Any) -> ProgramRun:
    """A first update of a fleet."""
    stack = InProcess(Files(objects=list(objects), config=config))
    run = stack.run(preview=False)
    assert run.error is None, run.error
    return run


def text_of(run: ProgramRun) -> str:
    return "\n".join(text for _, text in run.messages)


def members_of(run: ProgramRun, kind: str) -> str:
    """The members to which objects of a kind are sent, as one text."""
    found = Registered(run.registrations).objects()
    return "".join(sorted(member for member, sent in found if sent.inputs["kind"] == kind))


def brought(name: str, *objects: Object, home: str = "", **spec: Any) -> Object:
    """A placement of objects on all members at once."""
    selectors = [select(data, alone=data["kind"] == "Namespace") for data in objects]
    return placement(name, *selectors, home=home, strategy=spec.get("strategy", ROLLING))


def test_objects_wait_for_the_accounts_classes_and_services_of_other_placements() -> None:
    home = namespace("t")
    placements = [
        brought("users", *USERS, home="t"),
        brought("hooks", *HOOKS),
        brought("first", *FIRST, home="t"),
        brought("classes", home, *CLASSES),
    ]
    run = run_of([home, *FIRST, *CLASSES, *USERS, *HOOKS, *placements])
    registered = Registered(run.registrations)
    found = {(member, sent.inputs["kind"]): sent.urn for member, sent in registered.objects()}
    missing = [
        (member, later, first)
        for member in "abc"
        for later, first in NEEDS
        if not registered.depends(found[member, later], found[member, first])
    ]
    assert missing == []


@pytest.mark.parametrize("compared", ["homes", "r"])
def test_nothing_waits_where_a_placement_only_compares(compared: str) -> None:
    home, inside = namespace("t"), config("c", "t")
    strategies = {"homes": ROLLING, "r": ROLLING, compared: COMPARES}
    homes = brought("homes", home, strategy=strategies["homes"])
    run = run_of([home, inside, homes, brought("r", inside, home="t", strategy=strategies["r"])])
    assert "comes after" not in text_of(run)
    assert "held" not in text_of(run)
    expected = ("", "abc") if compared == "homes" else ("abc", "")
    assert (members_of(run, "Namespace"), members_of(run, "ConfigMap")) == expected


def test_an_override_that_fails_holds_what_lives_in_the_namespace() -> None:
    home, inside = namespace("t"), config("c", "t")
    terms = [{"labelSelector": {"matchLabels": {"num": "b"}}}]
    rule = {
        "clusterSelector": {"clusterSelectorTerms": terms},
        "jsonPatchOverrides": [{"op": "remove", "path": "/metadata/labels/nothing"}],
    }
    spec = {
        "placement": {"name": "homes"},
        "clusterResourceSelectors": [
            {"group": "", "version": "v1", "kind": "Namespace", "name": "t"},
        ],
        "policy": {"overrideRules": [rule]},
    }
    kind = "ClusterResourceOverride"
    override = named("placement.kubernetes-fleet.io/v1beta1", kind, "o", spec=spec)
    homes, inner = brought("homes", home), brought("r", inside, home="t")
    run = run_of([home, inside, override, homes, inner])
    needs = "it needs Namespace t of ClusterResourcePlacement homes, which is held there"
    assert f"held: b not added: {needs}" in text_of(run)
    assert members_of(run, "Namespace") == members_of(run, "ConfigMap") == "ac"


def test_the_contents_of_an_envelope_wait_for_their_namespace() -> None:
    home = namespace("t")
    quota = named("v1", "ResourceQuota", "q", "t", spec={"hard": {"pods": "9"}})
    group = "placement.kubernetes-fleet.io/v1beta1"
    envelope = named(group, "ResourceEnvelope", "e", "t", data={"q": quota})
    placements = [brought("r", envelope, home="t"), brought("homes", home)]
    run = run_of([home, envelope, *placements])
    assert members_of(run, "ResourceQuota") == "abc"
    assert Registered(run.registrations).check() == 3
    assert "comes after Namespace t of ClusterResourcePlacement homes on a, b, c" in text_of(run)


def grown(members: int) -> int:
    """The number of dependencies in an update of so many members, in two stages."""
    stages = {f"m{number}": {"num": "abc"[number % 3]} for number in range(members)}
    stack = InProcess(Files(objects=in_stages(None), members=stages))
    run = stack.run(preview=False)
    assert run.error is None, run.error
    registered = Registered(run.registrations)
    assert registered.check() == members
    return registered.edges


def test_dependencies_grow_with_the_number_of_members() -> None:
    few, some, many = grown(6), grown(12), grown(24)
    assert many - some == 2 * (some - few)


@pytest.mark.long
def test_three_hundred_members_have_no_more_dependencies_each() -> None:
    few, many = grown(30), grown(300)
    assert many <= 10.5 * few


def test_what_a_hub_brings_holds_what_is_brought_directly_for_an_update() -> None:
    home, inside = namespace("t"), config("c", "t")
    homes, inner = brought("homes", home), brought("r", inside, home="t")
    inner["metadata"]["annotations"] = {"fleet-components/delivery": "direct"}
    objects = [home, inside, homes, inner]
    stack = InProcess(Files(objects=objects, config={"delivery": "kubefleet"}))
    needs = "it needs Namespace t of ClusterResourcePlacement homes, which goes through a hub"
    run = stack.run(preview=False)
    assert run.error is None, run.error
    assert f"held: a, b, c not added: {needs}; the next update goes on" in text_of(run)
    assert members_of(run, "ConfigMap") == ""
    stack.state = run.state()
    run = stack.run(preview=False)
    assert members_of(run, "ConfigMap") == "abc"
