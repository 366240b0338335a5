"""Canonical form of quantities, in which webhooks print them: ``1000m`` as ``1``, ``2048Mi`` as ``2Gi``.

Source: the ``Quantity`` type of the Kubernetes API machinery, ``k8s.io/apimachinery/pkg/api/resource/quantity.go``.
"""

from __future__ import annotations

import re

from fleet_components.model.digits import integer
from fleet_components.model.quantity import parse_quantity

_NANO = 9
_DECIMAL = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_BASE = 1024
_FORM = re.compile(r"[+-]?0*+(?P<whole>[0-9]*+)(?:\.(?P<fraction>[0-9]*+))?(?P<suffix>.*)")
_EXPONENT = re.compile("[eE][-+]?[0-9]")
_FAST_DIGITS = {True: 15, False: 18}


def canonical(text: str) -> str:
    """Return the canonical form, in the same family of suffixes if that loses no precision.

    Raises:
        ValueError: the text is not a quantity.
    """
    nano = parse_quantity(text).nano
    if not nano:
        return "0"
    if _is_kept(text):
        return text
    whole, rest = divmod(abs(nano), 10**_NANO)
    if text.endswith("i") and not rest and whole >= _BASE:
        return ("-" if nano < 0 else "") + _in_binary(whole)
    return _in_decimal(nano, has_exponent=bool(_EXPONENT.search(text)))


def amount_text(nano: int, like: str) -> str:
    """Return the text of an amount that was computed, as of a sum: canonical, in the family of suffixes of a quantity.

    Args:
        nano: the amount in units of 1e-9.
        like: the quantity, the first addend of a sum; a binary one rounds up to whole units.
    """
    whole = -(-abs(nano) // 10**_NANO)
    if like.endswith("i") and whole >= _BASE:
        return ("-" if nano < 0 else "") + _in_binary(whole)
    return _in_decimal(nano, has_exponent=bool(_EXPONENT.search(like))) if nano else "0"


def _is_kept(text: str) -> bool:
    """Return whether the parser considers the text canonical and keeps it unchanged: ``+5``, ``1500``, ``24Mi``."""
    match = _FORM.fullmatch(text)
    assert match
    digits, fraction, suffix = match["whole"] + (match["fraction"] or ""), match["fraction"] or "", match["suffix"]
    if suffix in _BINARY[1:]:
        magnitude = 3 * _BINARY.index(suffix)
        return not fraction and len(digits) + magnitude < _FAST_DIGITS[True] and int(digits or "0") % 8 != 0
    scale = _exponent(suffix) - len(fraction)
    fits = len(digits) <= _FAST_DIGITS[False] and scale >= -_NANO
    return fits and scale % 3 == 0 and not digits.endswith("000") and not digits.startswith("0")


def _exponent(suffix: str) -> int:
    names = {name: power for power, name in _DECIMAL.items()}
    return names[suffix] if suffix in names else integer(suffix[1:])


def _in_binary(amount: int) -> str:
    power = 0
    while amount % _BASE == 0:
        amount, power = amount // _BASE, power + 1
    return f"{amount}{_BINARY[power]}"


def _in_decimal(nano: int, *, has_exponent: bool) -> str:
    amount, exponent = nano, -_NANO
    while amount % 1000 == 0:
        amount, exponent = amount // 1000, exponent + 3
    if has_exponent:
        return f"{amount}e{exponent}" if exponent else str(amount)
    return f"{amount}{_DECIMAL.get(exponent, '')}"
