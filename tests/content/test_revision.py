"""A content keeps its number until it changes, and comes back whole."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import pytest
from hypothesis import given, settings

from fleet_components.content.revision import canonical, compress, decompress, digest, revision_of
from fleet_components.model.problem import FleetError
from tests.content.build import obj, objects


@pytest.mark.parametrize(
    ("kept", "wanted", "index"),
    [
        ({}, "a", 0),
        ({0: "a"}, "a", 0),
        ({0: "a"}, "b", 1),
        ({3: "a", 7: "b"}, "b", 7),
        ({3: "a", 7: "b"}, "c", 8),
        ({3: "a", 7: "b"}, "a", 8),
    ],
)
def test_the_number_of_a_content(kept: dict[int, str], wanted: str, index: int) -> None:
    assert revision_of(wanted, kept) == index


def test_the_digest_sees_data_and_order_only() -> None:
    a, b = obj("ConfigMap", "a", data={"x": "é", "y": "2"}), obj("ConfigMap", "b")
    same = obj("ConfigMap", "a", data={"y": "2", "x": "é"})
    assert digest([a, b]) == digest([same, b])
    assert len({digest([a, b]), digest([b, a]), digest([a]), digest([]), digest([obj("ConfigMap", "a")])}) == 5
    assert canonical({"b": [1, True, None], "a": "é"}) == '{"a":"é","b":[1,true,null]}'


@settings(max_examples=40)
@given(objects())
def test_kept_contents_come_back(data: dict[str, Any]) -> None:
    assert decompress(compress([data])) == [data]


def test_kept_contents_are_small() -> None:
    content = [obj("Deployment", f"web-{i}", "shop", "apps/v1", spec={"replicas": 2}).data for i in range(500)]
    assert len(compress(content)) < len(canonical(content)) / 10


@pytest.mark.parametrize(
    "text",
    ["é", "not base64!", base64.b64encode(b"no zlib").decode(), base64.b64encode(zlib.compress(b"{")).decode(), ""],
)
def test_a_damaged_revision_is_refused(text: str) -> None:
    with pytest.raises(FleetError, match=r"a kept revision is damaged: .*pulumi stack export"):
        decompress(text)
