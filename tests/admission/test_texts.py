"""Texts that webhooks build from values: quantities, names, selectors, structs."""

from __future__ import annotations

import pytest

from fleet_components.admission import decode as gotext
from fleet_components.admission.decode import canonical
from fleet_components.model.codec import decode
from fleet_components.model.labels import (
    KUBERNETES_1_34,
    KUBERNETES_1_36,
    Words,
    key_errors,
    label_errors,
    subdomain_errors,
)
from fleet_components.model.selector import LabelSelector


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0", "0"),
        ("0.000", "0"),
        ("1000m", "1"),
        ("500m", "500m"),
        (".5", "500m"),
        ("1500", "1500"),
        ("2000", "2k"),
        ("+5", "+5"),
        ("5.", "5."),
        ("007", "007"),
        ("1.50", "1500m"),
        ("1e3", "1e3"),
        ("1000e0", "1e3"),
        ("1E", "1E"),
        ("1Ki", "1Ki"),
        ("1024Ki", "1Mi"),
        ("2048Mi", "2Gi"),
        ("1.5Gi", "1536Mi"),
        ("0.1Ki", "102400m"),
        ("8Ki", "8Ki"),
        ("-8Mi", "-8Mi"),
        ("100n", "100n"),
    ],
)
def test_a_quantity_is_shown_in_its_canonical_form(text: str, shown: str) -> None:
    assert canonical(text) == shown


def test_no_quantity_has_no_canonical_form() -> None:
    with pytest.raises(ValueError, match="regular expression"):
        canonical("lots")


@pytest.mark.parametrize("name", ["gpu", "a", "example.com/gpu", "9-_.9", "A.b_C"])
def test_label_keys_that_are_taken(name: str) -> None:
    assert key_errors(name) == []


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("", ["name part must be non-empty", "name part must consist of"]),
        ("a" * 64, ["name part must be no more than 63 characters"]),
        ("/x", ["prefix part must be non-empty"]),
        ("A_b/x", ["prefix part a lowercase RFC 1123 subdomain must consist of"]),
        ("a/b/c", ["a qualified name must consist of"]),
        ("x/", ["name part must be non-empty", "name part must consist of"]),
    ],
)
def test_label_keys_that_are_refused(name: str, starts: list[str]) -> None:
    errors = key_errors(name, KUBERNETES_1_34)
    assert [error[: len(start)] for error, start in zip(errors, starts, strict=True)] == starts


@pytest.mark.parametrize(
    ("words", "key", "unit"),
    [
        (KUBERNETES_1_34, "a qualified name", "characters"),
        (KUBERNETES_1_36, "a valid label key", "bytes"),
    ],
)
def test_releases_differ_in_two_words(words: Words, key: str, unit: str) -> None:
    assert key_errors("a/b/c", words)[0].startswith(f"{key} must consist of")
    assert key_errors("é" * 32, words)[0] == f"name part must be no more than 63 {unit}"


def test_names_of_objects() -> None:
    assert subdomain_errors("a.b-c") == label_errors("a-b") == []
    assert subdomain_errors("a" * 254) == ["must be no more than 253 bytes"]
    assert label_errors("a.b") == ["must not contain dots"]
    assert subdomain_errors("a\n") != []


@pytest.mark.parametrize(
    ("selector", "error"),
    [
        ({}, ""),
        ({"matchLabels": {"env": ""}}, ""),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, ""),
        (
            {"matchExpressions": [{"key": "a", "operator": "in"}]},
            '"in" is not a valid label selector operator',
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": []}]},
            "values: Invalid value: null: for",
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["-"]}]},
            'values[0][a]: Invalid value: "-"',
        ),
        ({"matchLabels": {"-": "-"}}, '[key: Invalid value: "-": name part must consist of'),
    ],
)
def test_label_selectors(selector: dict[str, object], error: str) -> None:
    found = decode(LabelSelector, selector).error
    assert found.startswith(error)
    assert bool(found) == bool(error)


def test_structs_are_shown_as_go_does() -> None:
    expressions = [{"key": "a", "operator": "In", "values": ["x", "y"]}]
    assert gotext.label_selector(
        {"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": expressions}
    ) == (
        "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{"
        "LabelSelectorRequirement{Key:a,Operator:In,Values:[x y],},},}"
    )
    assert gotext.label_selector(None) == "nil"
    assert gotext.fields({"key": "k"}, {"key": "Key", "value": "Value"}) == "{Key:k Value:}"
    assert gotext.raw_json({"b": "<é>", "a": [1, None]}) == '{"a":[1,null],"b":"\\u003cé\\u003e"}'
