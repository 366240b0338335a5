"""Plain scalars mean what they mean to kubectl; the table was made with sigs.k8s.io/yaml 1.6.0."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.content.load import load_text
from fleet_components.content.scalar import plain

HEAD = "apiVersion: v1\nkind: X\nmetadata: {name: x}\n"
TRUE = "y Y yes Yes YES on On ON true True TRUE"
FALSE = "n N no No NO off Off OFF false False FALSE"
NULL = ["~", "null", "Null", "NULL", ""]
TEXT = """
    yEs oN tRue nUll 0xZZ 0b 0b2 0x 0o8 _1 1:30 190:20:30 1:30.5 2001-01-01 2001-1-1
    2001-12-14t21:59:43.10-05:00 2001-12-14T21:59:43Z 5e 1e999 -1e999 .e5 ... . .iNF inf nan 100m 1Gi = <<
    1,000 --5 +-5 0x-5 1.2.3 0755x 0x1FFFFFFFFFFFFFFFF -0x8000000000000001
"""
NUMBERS: dict[str, int | float] = {
    "0": 0,
    "-0": 0,
    "+5": 5,
    "007": 7,
    "0777": 511,
    "-010": -8,
    "08": 8,
    "0o17": 15,
    "0X1f": 31,
    "-0b101": -5,
    "1_000": 1000,
    "0x_1F": 31,
    "1__0": 10,
    "1e3": 1000,
    "1E-3": 0.001,
    "1.": 1,
    "1.0": 1,
    "-0.0": 0,
    "+.5": 0.5,
    "4_0.5": 40.5,
    "9223372036854775807": 9223372036854775807,
    "9223372036854775808": 9223372036854775808.0,
    "0xFFFFFFFFFFFFFFFF": 18446744073709551615.0,
    "0777777777777777777777777": 777777777777777777777777.0,
    "18446744073709551616": 18446744073709551616.0,
    "1e20": 1e20,
    "1e22": 1e22,
}
EXPECTED: list[tuple[str, Any]] = [
    *((text, True) for text in TRUE.split()),
    *((text, False) for text in FALSE.split()),
    *((text, None) for text in NULL),
    *((text, text) for text in TEXT.split()),
    *NUMBERS.items(),
]


@pytest.mark.parametrize(("text", "value"), EXPECTED)
def test_plain_scalars_mean_what_they_mean_to_kubectl(text: str, value: Any) -> None:
    found = plain(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"yes"', "yes"),
        ("'5'", "5"),
        ("|\n    5", "5\n"),
        ("!!str 123", "123"),
        ("!!str", ""),
        ('!!int "0777"', 511),
        ('!!bool "yes"', True),
        ("!!float 1e3", 1000),
        ('!!null ""', None),
        ("!!timestamp 2001-01-01", "2001-01-01"),
        ("!own bar", "bar"),
        ("! 12", "12"),
        ("!own {b: 1}", {"b": 1}),
        ("!!set {x, z}", {"x": None, "z": None}),
    ],
)
def test_quotes_and_tags(written: str, value: Any) -> None:
    (manifest,) = load_text(f"{HEAD}data:\n  a: {written}\n")
    found = manifest.data["data"]["a"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("key", "text"),
    [("on", "true"), ("n", "false"), ("1", "1"), ("0x10", "16"), ("1.0", "1"), ("2001-01-01",) * 2],
)
def test_keys_become_text(key: str, text: str) -> None:
    (manifest,) = load_text(f"{HEAD}data: {{{key}: v}}")
    assert manifest.data["data"] == {text: "v"}


@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_of_64_bits_are_exact(number: int) -> None:
    assert plain(str(number)) == number
    assert plain(hex(number)) == number
