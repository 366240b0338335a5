"""A content keeps its number until it changes, and comes back whole."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import pytest
from hypothesis import given, settings

from fleet_components.content.revision import canonical, compress, decompress
from fleet_components.content.secret import redacted_content
from fleet_components.model.codec import MisfitError
from fleet_components.model.problem import FleetError
from fleet_components.plan.record import Objects, digest
from fleet_components.systems.kubefleet.plan.record import PlacementRecord
from tests.content.build import obj, objects

A, B, C = ((obj("ConfigMap", name).data,) for name in "abc")


@pytest.mark.parametrize(
    ("kept", "wanted", "index"),
    [
        ({}, A, 0),
        ({0: A}, A, 0),
        ({0: A}, B, 1),
        ({3: A, 7: B}, B, 7),
        ({3: A, 7: B}, C, 8),
        ({3: A, 7: B}, A, 8),
    ],
)
@pytest.mark.parametrize("encrypted", [False, True])
def test_the_number_of_a_content(
    kept: dict[int, Objects], wanted: Objects, index: int, encrypted: bool
) -> None:
    digests = {revision: digest(objects) for revision, objects in kept.items()}
    record = PlacementRecord(
        max(kept, default=-1), contents={} if encrypted else kept, digests=digests
    )
    assert record.next_revision(wanted) == index


def test_a_number_is_not_given_again_to_another_content() -> None:
    assert PlacementRecord(3, digests={3: digest(A), 7: digest(B)}).next_revision(C) == 8


def test_after_the_last_number_there_is_none() -> None:
    last = PlacementRecord(2**31 - 1, contents={2**31 - 1: A}, digests={2**31 - 1: digest(A)})
    assert last.next_revision(A) == 2**31 - 1
    with pytest.raises(FleetError, match="has no number left"):
        last.next_revision(B)


def test_the_digest_sees_data_and_order_only() -> None:
    a, b = ({"kind": "ConfigMap", "data": {"x": "é", "y": "2"}}, {"kind": "ConfigMap"})
    same = {"data": {"y": "2", "x": "é"}, "kind": "ConfigMap"}
    assert digest((a, b)) == digest((same, b))
    assert len({digest(objects) for objects in ((a, b), (b, a), (a,), (), (b,))}) == 5
    assert canonical({"b": [1, True, None], "a": "é"}) == '{"a":"é","b":[1,true,null]}'


def test_the_digest_lets_nothing_be_guessed_of_a_secret() -> None:
    item, other = (obj("Secret", "s", data={"password": value}).data for value in ("MQ==", "Mg=="))
    assert digest((item,)) == digest((other,))


def test_a_text_that_stands_for_gigabytes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_MAX_FILE_MIB", "4")
    bomb = base64.b64encode(zlib.compress(b"[" + b" " * 5 * 2**20 + b"]")).decode()
    assert len(bomb) < 2**14
    with pytest.raises(
        MisfitError, match="stands for more than 4 MiB; FLEET_MAX_FILE_MIB sets the limit"
    ):
        decompress(bomb)


def test_a_text_that_stands_for_millions_of_values_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FLEET_MAX_FILE_MIB", "4")
    for many in (b"[],", b"{},", b"1,"):
        bomb = base64.b64encode(zlib.compress(b"[" + many * 300_000 + b"1]")).decode()
        with pytest.raises(MisfitError, match="stands for more than 262,144 values"):
            decompress(bomb)


@pytest.mark.parametrize("secret", [True, False])
def test_a_digest_outlives_redaction(secret: bool) -> None:
    """A render keeps contents without what is secret; they are checked by the same digest."""
    item = obj("Secret" if secret else "ConfigMap", "s", data={"password": "MQ=="}).data
    assert digest(redacted_content((item,))) == digest((item,))


@settings(max_examples=40)
@given(objects())
def test_kept_contents_come_back(data: dict[str, Any]) -> None:
    assert decompress(compress([data])) == [data]


def test_kept_contents_are_small() -> None:
    content = [
        obj("Deployment", f"web-{i}", "shop", "apps/v1", spec={"replicas": 2}).data
        for i in range(500)
    ]
    assert len(compress(content)) < len(canonical(content)) / 10


@pytest.mark.parametrize(
    "text",
    [
        "é",
        "not base64!",
        base64.b64encode(b"no zlib").decode(),
        base64.b64encode(zlib.compress(b"{")).decode(),
        "",
    ],
)
def test_a_damaged_revision_is_refused(text: str) -> None:
    with pytest.raises(MisfitError, match="is not a kept revision"):
        decompress(text)
