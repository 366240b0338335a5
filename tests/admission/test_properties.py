"""What holds for any object: admission is a fixpoint, nothing makes it crash, and hints mend what they are about."""

from __future__ import annotations

import re
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.admission import KINDS, Existing, admit
from fleet_components.admission.hint import example, mended
from fleet_components.admission.schema import Schema
from fleet_components.admission.structure import check, filled, mismatches
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FieldPath

_junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 300)
    | st.sampled_from(["", "x", "5", "25%", "PickN", "true"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["key", "name", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)
_kinds = st.sampled_from(sorted(KINDS.values(), key=lambda kind: (kind.name, kind.version)))


@st.composite
def _values(draw: st.DrawFn, schema: Schema, wrong: bool) -> Any:
    """A value that the schema allows; with ``wrong`` now and then one that it does not."""
    if wrong and draw(st.integers(0, 3)) == 0:
        return draw(_junk)
    match schema.type:
        case "object" if schema.items:
            return draw(
                st.dictionaries(
                    st.sampled_from(["env", "tier"]), _values(schema.items, wrong), max_size=2
                )
            )
        case "object":
            optional = [key for key, it in schema.fields.items() if not it.required]
            chosen = (
                draw(st.lists(st.sampled_from(optional), unique=True, max_size=3))
                if optional
                else []
            )
            required = [key for key, it in schema.fields.items() if it.required]
            return {key: draw(_values(schema.fields[key], wrong)) for key in required + chosen}
        case "array" if schema.items:
            return draw(
                st.lists(_values(schema.items, wrong), min_size=schema.min_items or 0, max_size=2)
            )
    return draw(_scalars(schema))


def _scalars(schema: Schema) -> st.SearchStrategy[Any]:
    if schema.enum:
        return st.sampled_from(schema.enum)
    if schema.type in ("integer", "number"):
        return st.integers(schema.minimum or 0, schema.maximum or 5)
    return st.booleans() if schema.type == "boolean" else st.just(example(schema))


@st.composite
def objects(draw: st.DrawFn, wrong: bool = False) -> dict[str, Any]:
    """An object of any kind that is checked; with ``wrong`` its definition need not allow it."""
    kind = draw(_kinds)
    fields = {key: it for key, it in kind.schema.fields.items() if key in ("spec", "data")}
    drawn = draw(_values(kind.schema.but(fields=fields), wrong))
    data = drawn if isinstance(drawn, dict) else {}
    return {**data, "apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": "x"}}


def _schema(data: dict[str, Any]) -> Schema:
    return KINDS[data["apiVersion"], data["kind"]].schema


@given(objects())
@settings(max_examples=150)
def test_admitting_what_was_admitted_changes_nothing(data: dict[str, Any]) -> None:
    first = admit(Manifest(data))
    if not first.refusals:
        assert admit(first.defaulted) == first
        assert admit(first.defaulted, old=first.defaulted) == first


@given(objects(wrong=True), objects(wrong=True))
@settings(max_examples=150)
def test_nothing_makes_it_crash_and_the_object_stays_as_it_was(
    data: dict[str, Any], other: dict[str, Any]
) -> None:
    manifest, before = Manifest(data), yaml.safe_dump(data)
    for refusal in admit(manifest, context=Existing((Manifest(other),))).refusals:
        assert refusal.problem.what in refusal.text
    assert yaml.safe_dump(manifest.data) == before


@given(objects(wrong=True))
@settings(max_examples=150)
def test_mended_values_have_the_right_types(data: dict[str, Any]) -> None:
    assert mismatches(_schema(data), filled(_schema(data), mended(_schema(data), data))) == []


@given(objects(wrong=True))
@settings(max_examples=150)
def test_pasting_the_hint_removes_what_it_is_about(data: dict[str, Any]) -> None:
    schema, stored = _schema(data), filled(_schema(data), data)
    for finding in check(schema, stored):
        pasted = _PASTED.search(finding.hint)
        if pasted and (finding.blocks or "in body" in finding.what):
            better = _with(stored, finding.path, yaml.safe_load(pasted[1]))
            assert finding not in check(schema, filled(schema, better))


_PASTED = re.compile("(?:write|add) (?!one of|at most)(.*)")


def _with(data: Any, path: FieldPath, pasted: Any) -> Any:
    """The data with a pasted hint: ``{key: value}`` for a field, the value itself for an item of a list."""
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        new = _with(data[step], rest, pasted) if rest else pasted
        return [new if index == step else item for index, item in enumerate(data)]
    return {**data, step: _with(data[step], rest, pasted) if rest else pasted[step]}
