"""What is told of a selector that finds nothing: the kind, the name, the namespace and the version."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from fleet_components.content.catalogue import Catalogue
from fleet_components.model.manifest import Manifest
from fleet_components.plan.asked_objects import UNSEEN, AskedFor, AskedObjects


def written(kind: str, name: str, namespace: str, api_version: str = "v1") -> Manifest:
    metadata: dict[str, Any] = {"name": name, "namespace": namespace}
    return Manifest({"apiVersion": api_version, "kind": kind, "metadata": metadata})


HERE = (
    written("ConfigMap", "rates", "pay"),
    written("Deployment", "web", "shop", "apps/v1"),
)


def missing(partial: bool = False, /, **wanted: Any) -> tuple[str, str]:
    asked = attrs.evolve(AskedFor(group="", kind="ConfigMap"), **wanted)
    message, hint = AskedObjects(Catalogue(HERE), partial).missing(asked)
    return str(message), hint


@pytest.mark.parametrize(
    ("wanted", "what"),
    [
        ({}, "there is no ConfigMap"),
        ({"namespace": "shop"}, "there is no ConfigMap in namespace shop"),
        ({"name": "x"}, "there is no ConfigMap x"),
        ({"name": "x", "namespace": "shop"}, "there is no ConfigMap shop/x"),
        (
            {"group": "apps", "kind": "Deployment", "version": "v2", "namespace": "shop"},
            "there is no Deployment in namespace shop in version v2",
        ),
    ],
)
def test_it_names_what_there_is_not(wanted: dict[str, str], what: str) -> None:
    assert missing(**wanted)[0] == what


def test_the_hint_says_where_it_is_or_how_it_is_written() -> None:
    assert missing(name="rates", namespace="shop")[1] == "there is one in namespace pay"
    _, hint = missing(group="apps", kind="Deployment", version="v2", namespace="shop")
    assert hint == "written in apps/v1"


def test_of_an_observation_it_says_that_the_hub_may_have_it() -> None:
    asked = AskedFor(group="", kind="ConfigMap", name="x", namespace="shop")
    message, _ = AskedObjects(Catalogue(HERE), partial=True).missing(asked)
    assert message.code in UNSEEN
    assert str(message).startswith("no ConfigMap x of namespace shop is in this observation")
