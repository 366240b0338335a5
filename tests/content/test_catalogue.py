"""A catalogue holds objects where a hub would, and finds them again."""

from __future__ import annotations

import pytest

from fleet_components.content.catalogue import Catalogue
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.problem import FleetError
from fleet_components.model.selector import LabelSelector
from tests.content.build import GROUP, catalogue, names, obj

WIDGETS = "example.test"


def definition(scope: str) -> Manifest:
    names = {"kind": "Widget", "plural": "widgetten"}
    versions = [{"name": "v1", "served": True}, {"name": "v0", "served": False}]
    spec = {"group": WIDGETS, "scope": scope, "names": names, "versions": versions}
    return obj(
        "CustomResourceDefinition",
        "widgetten.example.test",
        "",
        "apiextensions.k8s.io/v1",
        spec=spec,
    )


def widget(name: str, namespace: str = "") -> Manifest:
    return obj("Widget", name, namespace, f"{WIDGETS}/v1")


@pytest.mark.parametrize(
    ("manifests", "expected"),
    [
        ([obj("ConfigMap", "c")], ["ConfigMap default/c"]),
        ([obj("ConfigMap", "c", "shop")], ["ConfigMap shop/c"]),
        ([obj("ClusterRole", "r", "shop", "rbac.authorization.k8s.io/v1")], ["ClusterRole r"]),
        ([obj("ResourcePlacement", "p", "", f"{GROUP}/v1")], ["ResourcePlacement default/p"]),
        ([widget("w")], ["Widget w"]),
        ([widget("w", "shop"), widget("v")], ["Widget default/v", "Widget shop/w"]),
        (
            [definition("Namespaced"), widget("w")],
            ["CustomResourceDefinition widgetten.example.test", "Widget default/w"],
        ),
        (
            [definition("Cluster"), widget("w", "shop")],
            ["CustomResourceDefinition widgetten.example.test", "Widget w"],
        ),
        ([obj("Service", "s", "", "serving.knative.dev/v1")], ["Service s"]),
    ],
)
def test_each_object_is_where_a_hub_keeps_it(
    manifests: list[Manifest], expected: list[str]
) -> None:
    assert names(catalogue(*manifests).manifests) == expected


def test_a_definition_tells_plural_and_versions() -> None:
    kind = catalogue(definition("Namespaced"), widget("w")).kind(WIDGETS, "Widget")
    assert kind
    assert (kind.plural, kind.namespaced, kind.versions) == ("widgetten", True, frozenset({"v1"}))


@pytest.mark.parametrize(
    "spec", [None, {}, [], {"group": "x"}, {"group": "x", "names": "y"}, {"versions": [{}]}]
)
def test_an_incomplete_definition_defines_nothing(spec: object) -> None:
    broken = obj("CustomResourceDefinition", "x", "", "apiextensions.k8s.io/v1", spec=spec)
    assert catalogue(broken).kind("x", "y") is None


@pytest.mark.parametrize(
    ("group", "kind", "namespaced", "plural"),
    [
        ("", "Endpoints", True, "endpoints"),
        ("", "PersistentVolume", False, "persistentvolumes"),
        ("networking.k8s.io", "NetworkPolicy", True, "networkpolicies"),
        ("networking.k8s.io", "IngressClass", False, "ingressclasses"),
        ("storage.k8s.io", "CSIStorageCapacity", True, "csistoragecapacities"),
        ("policy.karmada.io", "OverridePolicy", True, "overridepolicies"),
        (GROUP, "ClusterResourceEnvelope", False, "clusterresourceenvelopes"),
    ],
)
def test_built_in_kinds(group: str, kind: str, namespaced: bool, plural: str) -> None:
    known = catalogue().kind(group, kind)
    assert known
    assert (known.namespaced, known.plural) == (namespaced, plural)


def test_the_same_object_in_two_versions_is_there_twice() -> None:
    first = obj("HorizontalPodAutoscaler", "h", "shop", "autoscaling/v1")
    second = obj("HorizontalPodAutoscaler", "h", "shop", "autoscaling/v2")
    with pytest.raises(
        FleetError, match=r"shop/h: .*given twice, first in an object made in the program"
    ):
        catalogue(first, second)


def test_finding() -> None:
    tier = {"labels": {"tier": "web"}}
    hub = catalogue(
        obj("ConfigMap", "a", "one", metadata=tier),
        obj("ConfigMap", "b", "one"),
        obj("ConfigMap", "a", "two"),
        obj("Secret", "a", "one", metadata=tier),
        obj("Namespace", "one"),
    )
    assert names(hub.find("", "ConfigMap")) == [
        "ConfigMap one/a",
        "ConfigMap one/b",
        "ConfigMap two/a",
    ]
    assert names(hub.find("", "ConfigMap", name="a")) == ["ConfigMap one/a", "ConfigMap two/a"]
    assert names(hub.find("", "ConfigMap", "one", labels=LabelSelector(tier["labels"]))) == [
        "ConfigMap one/a"
    ]
    assert names(hub.find("", "ConfigMap", "three")) == names(hub.find("apps", "ConfigMap")) == []
    assert names(hub.contents("one")) == ["ConfigMap one/a", "ConfigMap one/b", "Secret one/a"]
    assert hub.get(ObjectKey("", "Secret", "one", "a"))
    assert hub.get(ObjectKey("", "Secret", "", "a")) is None
    by_name = LabelSelector({"kubernetes.io/metadata.name": "one"})
    assert names(hub.find("", "Namespace", labels=by_name)) == ["Namespace one"]


def test_members_and_policies_are_taken_apart_from_what_is_placed() -> None:
    everything = catalogue(
        obj("MemberCluster", "m", "", "cluster.kubernetes-fleet.io/v1"),
        obj("Cluster", "k", "", "cluster.karmada.io/v1alpha1"),
        obj("Cluster", "db", "shop", "postgresql.cnpg.io/v1"),
        obj("ClusterResourcePlacement", "p", "", f"{GROUP}/v1"),
        obj("ResourceOverride", "o", "shop", f"{GROUP}/v1"),
        obj("ResourceEnvelope", "e", "shop", f"{GROUP}/v1beta1"),
        obj("PropagationPolicy", "pp", "shop", "policy.karmada.io/v1alpha1"),
        obj("ConfigMap", "c", "shop"),
    )
    parts = everything.split()
    assert names(parts.members) == ["Cluster k", "MemberCluster m"]
    assert names(parts.policies) == [
        "ClusterResourcePlacement p",
        "ResourceOverride shop/o",
        "PropagationPolicy shop/pp",
    ]
    assert names(parts.objects.manifests) == [
        "ConfigMap shop/c",
        "ResourceEnvelope shop/e",
        "Cluster shop/db",
    ]


def test_a_catalogue_does_not_change_what_it_was_given() -> None:
    given = obj("ConfigMap", "c")
    assert Catalogue.of([given]).manifests[0].namespace == "default"
    assert given.namespace == ""
