"""Quantities as the Kubernetes API machinery reads them; the tables hold what its parser answers."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.model.quantity import canonical, is_quantity, parse_quantity
from tests.strategies import binary_suffixes, decimal_suffixes, numbers, quantities

NANO = 10**9
MOST = (2**63 - 1) * NANO
POWERS = {"": 0, "n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
POWERS |= {"e3": 3, "E-3": -3, "e+2": 2, "e-9": -9}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
SUFFIX = "unable to parse quantity's suffix"
NUMBER = "unable to parse numeric part of quantity"


@pytest.mark.parametrize(
    ("text", "nano", "approximate"),
    [
        ("0", 0, 0.0),
        ("1", NANO, 1.0),
        ("+1", NANO, 1.0),
        ("-1", -NANO, -1.0),
        ("007", 7 * NANO, 7.0),
        (".5", NANO // 2, 0.5),
        ("5.", 5 * NANO, 5.0),
        ("1k", 10**12, 1e3),
        ("1E", 10**27, 1e18),
        ("1m", 10**6, 0.001),
        ("1u", 10**3, 9.9999999999999995e-07),
        ("1n", 1, 1.0000000000000001e-09),
        ("1500m", 1_500_000_000, 1.5),
        ("1Ki", 1024 * NANO, 1024.0),
        ("1Ei", 2**60 * NANO, float(2**60)),
        ("0.5Ki", 512 * NANO, 512.0),
        ("-1Ki", -1024 * NANO, -1024.0),
        ("0.1Ki", 102_400_000_000, 102.40000000000001),
        ("1e3", 10**12, 1e3),
        ("1E3", 10**12, 1e3),
        ("1e+2", 10**11, 100.0),
        ("1e-1", 10**8, 0.1),
        # What is left of the smallest unit is rounded up, away from zero.
        ("0.5n", 1, 1.0000000000000001e-09),
        ("-0.5n", -1, -1.0000000000000001e-09),
        ("1E-10", 1, 1.0000000000000001e-09),
        ("1.0000000001", NANO + 1, 1.0000000010000001),
        # Binary quantities are capped, decimal ones are not.
        ("8Ei", MOST, float(2**63)),
        ("-8Ei", -MOST, -float(2**63)),
        ("9999999999999999Ki", MOST, float(2**63)),
        ("9223372036854775808", 2**63 * NANO, float(2**63)),
        ("99999999999999999999", 99999999999999999999 * NANO, 1e20),
        ("1e22", 10**31, 1e22),
        # The same amount, but another float: an unscaled value times a power of ten.
        ("0.3", 300_000_000, 0.30000000000000004),
        ("300m", 300_000_000, 0.3),
        # A number that is left out is 0.
        ("m", 0, 0.0),
        ("Gi", 0, 0.0),
        (".", 0, 0.0),
        ("+", 0, 0.0),
        ("-", 0, 0.0),
        ("e-9", 0, 0.0),
    ],
)
def test_what_the_parser_takes(text: str, nano: int, approximate: float) -> None:
    quantity = parse_quantity(text)
    assert (quantity.nano, quantity.approximate) == (nano, approximate)
    assert is_quantity(text)


@pytest.mark.parametrize(
    ("text", "approximate"),
    [
        # The parser's fast path keeps the amount as it is, its slow path counts nanounits: on both sides of its limits.
        ("10030038622Ki", 10270759548928.0),
        ("101405738916Ki", 103839476649984.02),
        ("14957703Mi", 15684288380928.0),
        ("120334435Mi", 126179800514560.02),
        ("14608Gi", 15685220564992.0),
        ("117969Gi", 126668249235456.02),
        ("15Ti", 16492674416640.0),
        ("115Ti", 126443837194240.02),
        ("100591651600057494", 1.0059165160005749e17),
        ("1001086042167332148", 1.0010860421673322e18),
        ("1001130730.95783017", 1001130730.9578303),
        ("10039345160.71277494", 10039345160.712776),
        ("10060.7618610683", 10060.761861069),
    ],
)
def test_floats_near_the_limits_of_the_fast_path(text: str, approximate: float) -> None:
    assert parse_quantity(text).approximate == approximate


@pytest.mark.parametrize(
    ("text", "error"),
    [
        *(
            (text, FORM)
            for text in ("", "abc", "1.2.3", "1 ", " 1", "1KB", "v1.30.2", "1e1.5", "1,5", "0x10")
        ),
        *((text, FORM) for text in ("1_000", "1 Gi", "1e3k", "٣", "1Ki\n")),
        *(
            (text, SUFFIX)
            for text in ("1K", "1mi", "1ki", "1e", "--1", "1Kii", "i", "1e401", "1e-401")
        ),
        *((text, NUMBER) for text in ("Pi", "Ei", "e-10", "-.Ei", "+Pi")),
    ],
)
def test_what_the_parser_refuses(text: str, error: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        parse_quantity(text)
    assert str(refused.value) == error
    assert not is_quantity(text)


def exact(sign: str, number: str, suffix: str) -> Fraction:
    """What a quantity says, in nanounits, rounded away from zero and capped."""
    value = Fraction(f"0{number}") * (
        2 ** BINARY[suffix] if suffix in BINARY else Fraction(10) ** POWERS[suffix]
    )
    nano = math.ceil(value * NANO)
    nano = min(nano, MOST) if suffix in BINARY else nano
    return Fraction(-nano if sign == "-" else nano)


@settings(max_examples=300)
@given(st.sampled_from(["", "-", "+"]), numbers, st.one_of(decimal_suffixes, binary_suffixes))
def test_amounts_are_exact(sign: str, number: str, suffix: str) -> None:
    quantity = parse_quantity(f"{sign}{number}{suffix}")
    wanted = exact(sign, number, suffix)
    assert quantity.nano == wanted
    assert quantity.approximate == pytest.approx(float(wanted / NANO), rel=1e-15)


@given(quantities, quantities)
def test_order_is_that_of_the_amounts(left: str, right: str) -> None:
    item, other = parse_quantity(left), parse_quantity(right)
    assert (item < other, item == other, item > other) == (
        item.nano < other.nano,
        item.nano == other.nano,
        item.nano > other.nano,
    )
    assert (item <= other) is not (item > other)
    if item == other:
        assert hash(item) == hash(other)
    elif item < other:
        assert item.approximate <= other.approximate or math.isclose(
            item.approximate, other.approximate
        )


@given(quantities)
def test_an_amount_written_in_full_is_read_back(text: str) -> None:
    nano = parse_quantity(text).nano
    assert parse_quantity(f"{nano}n").nano == nano
    assert (
        parse_quantity(f"{'-' if nano < 0 else ''}{abs(nano) // NANO}.{abs(nano) % NANO:09}").nano
        == nano
    )


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("1000m", "1"),
        ("1024Mi", "1Gi"),
        ("1e3", "1k"),
        ("0.5", "500m"),
        ("-0", "0"),
        ("0.3", "300m"),
    ],
)
def test_one_amount_in_two_forms_is_equal(text: str, other: str) -> None:
    assert parse_quantity(text) == parse_quantity(other)
    assert len({parse_quantity(text), parse_quantity(other)}) == 1


def test_nearly_equal_amounts_are_not() -> None:
    assert parse_quantity("16Gi") > parse_quantity("16G")
    assert parse_quantity("1.000000001") != parse_quantity("1")
    assert parse_quantity("1") != NANO


@pytest.mark.parametrize(
    ("text", "approximate"),
    [
        (".5e40", 4.9999999999999997e39),
        ("1e308", 1e308),
        ("9e400", math.inf),
        ("-9e400", -math.inf),
        ("0e400", 0.0),
    ],
)
def test_floats_of_large_amounts(text: str, approximate: float) -> None:
    assert parse_quantity(text).approximate == pytest.approx(approximate, rel=1e-15)


def test_large_powers_are_rounded_as_in_go() -> None:
    """1e39 is made of two exact powers of ten, and is not the float nearest to it."""
    assert parse_quantity("2.0e40").approximate == 20 * (1e32 * 1e7) != 20 * 1e39


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("0Ki", "0"),
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1.5k", "1500"),
        ("1000", "1k"),
        ("12e1", "120"),
        ("1.5e6", "1500e3"),
        ("1024Ki", "1Mi"),
        ("1536Mi", "1536Mi"),
        ("0.5Ki", "512"),
        ("1.001Ki", "1025024m"),
        ("8Ei", "9223372036854775807"),
        ("-1024Ki", "-1Mi"),
        ("0.1n", "1n"),
        # What looks canonical stays.
        ("+1", "+1"),
        ("5.", "5."),
        ("1.050", "1.050"),
        ("1E3", "1E3"),
    ],
)
def test_an_api_server_writes_one_form(text: str, written: str) -> None:
    """``tests/clusters/test_stored.py`` asks an API server about these, and more."""
    assert canonical(text) == written


def test_an_amount_is_rounded_up() -> None:
    assert [canonical(text, -3) for text in ("1n", "-1100u", "1500u", "1500m")] == [
        "1m",
        "-2m",
        "2m",
        "1500m",
    ]


@given(quantities)
def test_the_form_has_the_same_amount(text: str) -> None:
    assert parse_quantity(canonical(text)) == parse_quantity(text)
