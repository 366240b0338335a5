"""Envelopes give out what they hold, or say what KubeFleet says."""

from __future__ import annotations

from typing import Any

import pytest

from fleet_components.content.envelope import is_envelope, unwrap
from fleet_components.content.load import load_text
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError
from tests.content.build import GROUP, names, obj


def config(name: str, namespace: str = "") -> dict[str, Any]:
    return dict(obj("ConfigMap", name, namespace).data)


def resource(**data: Any) -> Manifest:
    return obj("ResourceEnvelope", "env", "shop", f"{GROUP}/v1beta1", data=data)


def cluster(**data: Any) -> Manifest:
    return obj("ClusterResourceEnvelope", "env", "", f"{GROUP}/v1beta1", data=data)


ROLE = dict(obj("ClusterRole", "r", "", "rbac.authorization.k8s.io/v1").data)


def test_envelopes_are_recognised() -> None:
    assert is_envelope(resource(a=config("a")))
    assert is_envelope(cluster(a=ROLE))
    assert not is_envelope(obj("ResourceEnvelope", "env", "shop", "example.test/v1"))
    assert not is_envelope(obj("ConfigMap", "env", "shop"))


def test_contents_come_in_the_order_of_their_work() -> None:
    found = unwrap(resource(z=config("a", "shop"), a=config("b", "shop"), m=config("c", "shop")))
    assert names(found) == ["ConfigMap shop/c", "ConfigMap shop/b", "ConfigMap shop/a"]
    assert names(unwrap(cluster(r=ROLE))) == ["ClusterRole r"]


WRAPPED = "failed to parse the wrapped manifest data to a Kubernetes runtime object"


@pytest.mark.parametrize(
    ("envelope", "text"),
    [
        (resource(x=config("c", "other")),
         "a namespaced object x (other/c) in has been wrapped in a resource envelope from another namespace"
         " (shop/env)"),
        (resource(x=config("c")), "a cluster scope object x (c) has been wrapped in a resource envelope shop/env"),
        (resource(x=ROLE), "a cluster scope object x (r) has been wrapped in a resource envelope shop/env"),
        (cluster(x=config("c", "shop")),
         "a namespaced object x (shop/c) has been wrapped in a cluster resource envelope env"),
        (resource(x={"foo": "bar"}),
         f"{WRAPPED} (manifestKey=x,envelopeObjRef=shop/env): Object 'Kind' is missing"),
        (cluster(x={}), f"{WRAPPED} (manifestKey=x,envelopeObjRef=env): Object 'Kind' is missing"),
        (resource(x="apiVersion: v1"), "must be an object, not str"),
        (resource(x={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "shop"}}), "name is missing"),
        (Manifest({**resource().data, "data": "x"}), "must be a map of manifests"),
    ],
)  # fmt: skip
def test_wrong_contents_are_refused(envelope: Manifest, text: str) -> None:
    with pytest.raises(FleetError) as caught:
        unwrap(envelope)
    assert [problem.what for problem in caught.value.problems] == [text]


def test_all_wrong_contents_are_named_with_their_lines() -> None:
    (envelope,) = load_text(f"""\
apiVersion: {GROUP}/v1beta1
kind: ResourceEnvelope
metadata: {{name: env, namespace: shop}}
data:
  a.yaml:
    apiVersion: v1
    kind: ConfigMap
    metadata: {{name: a, namespace: shop}}
  b.yaml:
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: b
      namespace: other
  c.yaml: {{}}
""")
    with pytest.raises(FleetError) as caught:
        unwrap(envelope)
    assert [problem.line for problem in caught.value.problems] == [14, 15]


def test_contents_know_their_lines() -> None:
    (envelope,) = load_text(f"""\
apiVersion: {GROUP}/v1beta1
kind: ResourceEnvelope
metadata: {{name: env, namespace: shop}}
data:
  a.yaml:
    apiVersion: v1
    kind: ConfigMap
    metadata: {{name: a, namespace: shop}}
    data:
      x: y
""", "env.yaml")  # fmt: skip
    (found,) = unwrap(envelope)
    assert (
        str(found.problem(Message("wrong", "wrong"), ("data", "x")))
        == "env.yaml:10: ConfigMap shop/a in ResourceEnvelope shop/env, a.yaml: data.x: wrong"
    )
    assert found.origin
    assert found.origin.line == 5
