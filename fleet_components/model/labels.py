"""Validation of names, label keys and label values, with the error texts of Kubernetes.

Source: ``pkg/util/validation`` of k8s.io/apimachinery. Each function returns the error texts, none
if the text is valid. KubeFleet is built with Kubernetes 1.34, Karmada with 1.36: the rules are the
same, but two terms in the texts differ.
"""

from __future__ import annotations

import re

import attrs


@attrs.frozen
class Words:
    """The terms of the error texts that differ between Kubernetes releases.

    Attributes:
        key: the term for a label key, in the error for a key with two slashes.
        unit: the unit of a maximum length.
    """

    key: str
    unit: str


KUBERNETES_1_34 = Words("a qualified name", "characters")
KUBERNETES_1_36 = Words("a valid label key", "bytes")

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_KEY})?"
_MAX_PART, _MAX_SUBDOMAIN = 63, 253
_ENDS = "and must start and end with an alphanumeric character"
_CONSIST = f"consist of alphanumeric characters, '-', '_' or '.', {_ENDS}"


def subdomain_errors(name: str, words: Words = KUBERNETES_1_36) -> list[str]:
    """Validate a name of an object or cluster, such as ``aks-westeurope-1``: an RFC 1123 subdomain,
    up to 253 bytes.
    """
    errors = _too_long(name, _MAX_SUBDOMAIN, words)
    if not re.fullmatch(_SUBDOMAIN, name):
        rule = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters,"
            f" '-' or '.', {_ENDS}"
        )
        errors.append(_unlike(rule, _SUBDOMAIN, "example.com"))
    return errors


def label_errors(name: str, words: Words = KUBERNETES_1_36) -> list[str]:
    """Validate a name without dots (an RFC 1123 label), such as that of a namespace: at most 63
    bytes.
    """
    errors = _too_long(name, _MAX_PART, words)
    if re.fullmatch(_LABEL, name):
        return errors
    # Kubernetes has a text of its own where nothing but the dots is wrong.
    if re.fullmatch(_SUBDOMAIN, name):
        return [*errors, "must not contain dots"]
    rule = (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-',"
        f" {_ENDS}"
    )
    return [*errors, _unlike(rule, _LABEL, "my-name", "123-abc")]


def key_errors(key: str, words: Words = KUBERNETES_1_36) -> list[str]:
    """Validate a label or taint key (a qualified name), such as ``gpu`` or ``example.com/gpu``."""
    # Without a slash, the whole key is the name, and the prefix is empty.
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        domain = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"{words.key} {_unlike_key()}{domain}"]
    errors = [f"prefix part {error}" for error in _prefix_errors(prefix, words)] if slash else []
    errors += [f"name part {error}" for error in _too_long(name, _MAX_PART, words)]
    if not name:
        errors.append("name part must be non-empty")
    if not re.fullmatch(_KEY, name):
        errors.append(f"name part {_unlike_key()}")
    return errors


def value_errors(value: str, words: Words = KUBERNETES_1_36) -> list[str]:
    """Validate a label or taint value: at most 63 letters, digits, ``-``, ``_`` and ``.``; may be
    empty.
    """
    errors = _too_long(value, _MAX_PART, words)
    if not re.fullmatch(_VALUE, value):
        rule = f"a valid label must be an empty string or {_CONSIST}"
        errors.append(_unlike(rule, _VALUE, "MyValue", "my_value", "12345"))
    return errors


def _prefix_errors(prefix: str, words: Words) -> list[str]:
    return subdomain_errors(prefix, words) if prefix else ["must be non-empty"]


def _too_long(text: str, limit: int, words: Words) -> list[str]:
    return (
        [f"must be no more than {limit} {words.unit}"]
        # Bytes in either release, though 1.34 calls them characters in the text.
        if len(text.encode(errors="surrogatepass")) > limit
        else []
    )


def _unlike_key() -> str:
    return _unlike(f"must {_CONSIST}", _KEY, "MyName", "my.name", "123-abc")


def _unlike(rule: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{pattern}')"
