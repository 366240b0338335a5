"""Exact Kubernetes quantities: ``1500m``, ``16Gi``, ``0.038``, ``1e-1``.

Source: ``pkg/api/resource/quantity.go`` of k8s.io/apimachinery. Values are exact to 1e-9 and
rounded up (away from zero) beyond that; binary quantities are capped at 2**63-1. Unlike there,
exponents beyond 400 and more than 400 digits are refused.
"""

from __future__ import annotations

import math
import re
from functools import cache, lru_cache, total_ordering

import attrs

from fleet_components.model.digits import integer

# Possessive, so that a long run of digits is read once: Go's regular expressions never go back.
_FORM = re.compile(r"([+-]?)(0*+)([0-9]*+)(?:\.([0-9]*+))?([eEinumkKMGTP]*+[-+]?[0-9]*+)")
_DECIMAL = {"": 0, "n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_KIBI = 1024
_DECIMAL_SUFFIXES, _BINARY_SUFFIXES = (
    {power: suffix for suffix, power in known.items()} for known in (_DECIMAL, {"": 0, **_BINARY})
)
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)")
_NANO = 9
_MAX_INT64 = 2**63 - 1
# Up to this many digits the Kubernetes parser uses an int64, beyond it a big decimal in nano units.
# The amount is the same, but AsApproximateFloat64 may differ in its last bits.
_MAX_FAST_DIGITS = 18
_MAX_FAST_BINARY_DIGITS = 14
_MAX_EXPONENT = _MAX_DIGITS = 400
_WRONG_FORM = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_WRONG_SUFFIX = "unable to parse quantity's suffix"
_WRONG_NUMBER = "unable to parse numeric part of quantity"


@total_ordering
@attrs.frozen(eq=False)
class Quantity:
    """An exact amount.

    Attributes:
        nano: the amount in units of 1e-9.
        approximate: the amount as the float that the real schedulers interpolate with
            (``AsApproximateFloat64``: unscaled value times a power of ten); infinite if it is too
            large for a float.
    """

    nano: int
    approximate: float = attrs.field(repr=False)

    def __eq__(self, other: object) -> bool:
        return self.nano == other.nano if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: Quantity) -> bool:
        return self.nano < other.nano

    def __hash__(self) -> int:
        return hash(self.nano)


@lru_cache(maxsize=65536)
def parse_quantity(text: str) -> Quantity:
    """Parse a quantity as Kubernetes does.

    Raises:
        ValueError: the text is not a quantity; the message is that of Kubernetes.
    """
    match = _FORM.fullmatch(text)
    if not match or not text:
        raise ValueError(_WRONG_FORM)
    sign, zeros, whole, fraction, suffix = match.groups(default="")
    exponent = _BINARY[suffix] if suffix in _BINARY else _decimal_exponent(suffix)
    # Before the digits are read: int() takes a time that grows faster than their number.
    if len(whole) + len(fraction) > _MAX_DIGITS:
        raise ValueError(_WRONG_NUMBER)
    # Without digits the amount is 0, except for the suffixes that take the big decimal path of the
    # real parser.
    if not (zeros or whole or fraction) and (suffix in ("Pi", "Ei") or exponent < -_NANO):
        raise ValueError(_WRONG_NUMBER)
    # The empty suffix is a decimal one.
    read = _binary if suffix in _BINARY else _decimal
    return read(-1 if sign == "-" else 1, whole or "0", fraction, exponent)


def is_quantity(text: str) -> bool:
    """Return whether :func:`parse_quantity` accepts the text."""
    try:
        parse_quantity(text)
    except ValueError:
        return False
    return True


def canonical(text: str, finest: int = -_NANO) -> str:
    """Return a quantity as an API server writes it: ``1000m`` is ``1``, ``1024Mi`` is ``1Gi``.

    A text that looks canonical at first sight stays as it is, such as ``+1``. So does an amount for
    which no suffix is large enough.

    Args:
        text: the quantity.
        finest: the power of ten to whose multiples the amount is rounded up, -9 by default.

    Source: ``ParseQuantity``, ``RoundUp`` and ``CanonicalizeBytes`` in
    ``pkg/api/resource/quantity.go``.

    Raises:
        ValueError: the text is not a quantity.
    """
    nano, match = parse_quantity(text).nano, _FORM.fullmatch(text)
    _, _, whole, fraction, suffix = match.groups(default="") if match else ("",) * 5
    if nano == 0 or _is_kept(whole or "0", fraction, suffix, finest):
        return text if nano else "0"
    unit = int(_ten_to(finest + _NANO))
    # Negated twice, to round away from zero.
    nano = (1 if nano > 0 else -1) * -(-abs(nano) // unit) * unit
    number = int(_ten_to(_NANO))
    if suffix in _BINARY and abs(nano) >= _KIBI * number and nano % number == 0:
        amount, times = _without_factor(nano // number, _KIBI)
        return f"{amount}{_BINARY_SUFFIXES[10 * times]}"
    amount, times = _without_factor(nano, 10)
    # Only every third power of ten has a suffix; the rest of the power stays in the amount.
    extra = (times - _NANO) % 3
    amount, exponent = amount * 10**extra, times - _NANO - extra
    if suffix not in _DECIMAL and suffix not in _BINARY:
        return f"{amount}e{exponent}" if exponent else str(amount)
    return f"{amount}{_DECIMAL_SUFFIXES[exponent]}" if exponent in _DECIMAL_SUFFIXES else text


def _is_kept(whole: str, fraction: str, suffix: str, finest: int) -> bool:
    """Return whether the parser keeps the text of an amount that is not 0, as canonical enough."""
    if suffix in _BINARY:
        fast = not fraction and len(whole) <= _MAX_FAST_BINARY_DIGITS - _BINARY[suffix] * 3 // 10
        return fast and int(whole) % 8 != 0
    digits, scale = whole + fraction, _decimal_exponent(suffix) - len(fraction)
    fast = len(digits) <= _MAX_FAST_DIGITS and scale >= max(-_NANO, finest)
    return fast and scale % 3 == 0 and digits[0] != "0" and not digits.endswith("000")


def _without_factor(amount: int, factor: int) -> tuple[int, int]:
    """Return an amount divided by a factor as often as nothing remains, and how often."""
    times = 0
    while amount % factor == 0:
        amount, times = amount // factor, times + 1
    return amount, times


def _decimal_exponent(suffix: str) -> int:
    if suffix in _DECIMAL:
        return _DECIMAL[suffix]
    exponent = _EXPONENT.fullmatch(suffix)
    if not exponent or abs(integer(exponent[1])) > _MAX_EXPONENT:
        raise ValueError(_WRONG_SUFFIX)
    return integer(exponent[1])


def _decimal(sign: int, whole: str, fraction: str, exponent: int) -> Quantity:
    unscaled, scale = int(whole + fraction), exponent - len(fraction)
    if len(whole) + len(fraction) <= _MAX_FAST_DIGITS and scale >= -_NANO:
        return _of(sign * unscaled, scale)
    return _of(sign * _to_nano(unscaled, scale), -_NANO)


def _binary(sign: int, whole: str, fraction: str, exponent: int) -> Quantity:
    unscaled = int(whole + fraction) << exponent
    # The parser's own estimate of the decimal digits that 2**exponent adds.
    if not fraction and len(whole) <= _MAX_FAST_BINARY_DIGITS - exponent * 3 // 10:
        return _of(sign * unscaled, 0)
    nano = min(_to_nano(unscaled, -len(fraction)), _MAX_INT64 * 10**_NANO)
    return _of(sign * nano, -_NANO)


def _to_nano(unscaled: int, scale: int) -> int:
    shift = scale + _NANO
    return unscaled * _ten_to(shift) if shift >= 0 else -(-unscaled // _ten_to(-shift))


def _of(unscaled: int, scale: int) -> Quantity:
    nano = unscaled * _ten_to(scale + _NANO)
    try:
        return Quantity(nano, float(unscaled) * _power_of_ten(scale))
    # A whole number that is too large for a float.
    except OverflowError:
        return Quantity(nano, math.inf if unscaled > 0 else -math.inf if unscaled else 0.0)


@cache
def _ten_to(exponent: int) -> int:
    return int(10**exponent)


@cache
def _power_of_ten(exponent: int) -> float:
    """Return the float that Go's ``math.Pow10`` gives, which multiplies two exact powers."""
    if exponent < 0:
        return 1 / _ten_to(-exponent)
    return float(_ten_to(exponent - exponent % 32)) * float(_ten_to(exponent % 32))
