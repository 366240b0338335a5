"""Objects, placements and random documents for the tests of content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from fleet_components.content.catalogue import Catalogue
from fleet_components.model.manifest import Manifest
from fleet_components.systems.kubefleet.model.placement import Placement

GROUP = "placement.kubernetes-fleet.io"


def obj(kind: str, name: str, namespace: str = "", api: str = "v1", **data: Any) -> Manifest:
    """An object; ``labels=`` and other fields of the metadata may be given with ``metadata=``."""
    metadata = {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        **data.pop("metadata", {}),
    }
    return Manifest({"apiVersion": api, "kind": kind, "metadata": metadata, **data})


def catalogue(*manifests: Manifest) -> Catalogue:
    return Catalogue.of(manifests)


def placement(*selectors: Mapping[str, Any], name: str = "place", namespace: str = "") -> Placement:
    """A ClusterResourcePlacement, or with a namespace a ResourcePlacement."""
    kind = "ResourcePlacement" if namespace else "ClusterResourcePlacement"
    spec = {"resourceSelectors": [{"version": "v1", **selector} for selector in selectors]}
    return Placement.from_manifest(obj(kind, name, namespace, f"{GROUP}/v1", spec=spec))


def names(manifests: Sequence[Manifest]) -> list[str]:
    return [str(manifest.key) for manifest in manifests]


texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff")
)
keys = texts.filter(lambda key: len(key) < 100)  # YAML allows 1024 characters, escapes counted.
scalars = st.one_of(
    texts,
    st.sampled_from(
        [
            "y",
            "no",
            "on",
            "0777",
            "1e3",
            "1:30",
            "2001-01-01",
            "~",
            "<<",
            "null",
            "-",
            "{{ x }}",
            "#",
        ]
    ),
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.none(),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    """A Kubernetes object with anything in it."""
    name = draw(st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True))
    metadata = {"name": name, "labels": draw(st.dictionaries(keys, texts, max_size=3))}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "spec": draw(values)}


_KINDS = st.sampled_from(
    [
        ("v1", "ConfigMap"),
        ("v1", "Secret"),
        ("v1", "Service"),
        ("v1", "Pod"),
        ("apps/v1", "Deployment"),
        ("apps/v1", "StatefulSet"),
        ("networking.k8s.io/v1", "Ingress"),
        ("example.test/v1", "Widget"),
        ("serving.knative.dev/v1", "Service"),
    ]
)


@st.composite
def hubs(draw: st.DrawFn) -> list[Manifest]:
    """What may stand on a hub: two namespaces, things in them, and cluster roles."""
    labels = st.fixed_dictionaries({}, optional={"tier": st.sampled_from(["web", "data"])})
    identities = draw(
        st.sets(
            st.tuples(_KINDS, st.sampled_from("abc"), st.sampled_from(["one", "two"])), max_size=12
        )
    )
    things = [
        obj(kind, name, space, api, metadata={"labels": draw(labels)})
        for (api, kind), name, space in identities
    ]
    roles = [
        obj("ClusterRole", name, "", "rbac.authorization.k8s.io/v1")
        for name in draw(st.sets(st.sampled_from("rs")))
    ]
    return [
        obj("Namespace", "one", metadata={"labels": draw(labels)}),
        obj("Namespace", "two"),
        *things,
        *roles,
    ]
